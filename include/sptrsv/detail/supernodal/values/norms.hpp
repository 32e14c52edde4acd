// SPDX-License-Identifier: Apache-2.0
// The growth of the inverses of diagonal blocks.
#pragma once

#include <cstdint>
#include <limits>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The maximum norms of I + N and V = inv(I + N) of a supernode (panels.hpp), as the bits of a float, which
/// compare as the numbers do. A finite norm beyond the range of float counts as the largest one. If a value
/// is not finite, all bits are set: this is NaN.
template <class Real>
struct block_norms {
  using word = std::uint32_t;
  static constexpr Real largest = std::numeric_limits<float>::max();

  word of_block;
  word of_inverse;

  /// Returns the word for the sum of a row.
  static SPTRSV_HOST_DEVICE word of_sum(Real sum) {
    return is_finite(sum) ? bit_cast<word>(static_cast<float>(sum < largest ? sum : largest)) : ~word{0};
  }
  static SPTRSV_HOST_DEVICE block_norms of_one() { return {of_sum(Real{1}), of_sum(Real{1})}; }
  /// Returns the condition number; NaN if a value is not finite.
  [[nodiscard]] SPTRSV_HOST_DEVICE Real growth() const {
    return static_cast<Real>(bit_cast<float>(of_block)) * static_cast<Real>(bit_cast<float>(of_inverse));
  }
};

/// Takes the largest of the sums that the lanes of a warp have into a norm.
template <class Real, class Context, class Warp>
SPTRSV_DEVICE void raise_norm(Context& ctx, const Warp& warp, typename block_norms<Real>::word* norm,
                              Real sum) {
  const auto largest = simt::reduce(warp, block_norms<Real>::of_sum(sum), 32, simt::maximum{});
  if (warp.rank() == 0) {
    ctx.atomic_max(norm, largest);
  }
}

/// Finds the first supernode whose growth is too large. Runs once per supernode.
template <class Real, class Index>
struct find_grown {
  const block_norms<Real>* norms;
  const Index* first;  ///< by supernode: its first column
  Real max_growth;
  std::int64_t last;          ///< the largest substitution index if substitution goes backward; otherwise -1
  std::int64_t* first_grown;  ///< substitution index

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t s) const {
    if (!(ctx.load_constant(norms + s).growth() <= max_growth)) {
      // Backward, the last column of the supernode comes first.
      ctx.atomic_min(first_grown,
                     last < 0 ? static_cast<std::int64_t>(ctx.load_constant(first + s))
                              : last - static_cast<std::int64_t>(ctx.load_constant(first + s + 1)) + 1);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
