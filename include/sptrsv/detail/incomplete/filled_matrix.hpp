// SPDX-License-Identifier: Apache-2.0
// The matrix that an incomplete factorisation with fill-in factorises: A with the zeros that fill in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/detail/incomplete/fill_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// The pattern of the factors, and the values of A on it, where the executor computes. Both are stored as A
/// is.
template <method Method, class Scalar, class Index, class Offset, class Executor>
class filled_matrix {
 public:
  /// Finds the pattern of the factors of `a`; at level 0 it is that of `a`. Synchronises. Throws as
  /// fill_in::of.
  filled_matrix(const pattern_view<Index, Offset>& a, std::int64_t fill_level, const Executor& on,
                memory_resource& resource)
      : pattern_(a) {
    if (fill_level == 0) {
      return;
    }
    const auto found = [&] {
      if constexpr (factors::has_kernels<Executor>) {
        return fill_in<Method, Index, Offset>::of(pattern_copy(a, on).view(), fill_level);
      } else {
        return fill_in<Method, Index, Offset>::of(a, fill_level);
      }
    }();
    pattern_.entries = static_cast<std::int64_t>(found.indices.size());
    pattern_.offsets = arrays_.add(found.offsets, on, resource);
    pattern_.indices = arrays_.add(found.indices, on, resource);
    sources_ = arrays_.add(found.sources, on, resource);
    values_ = arrays_.make<Scalar>(pattern_.entries, on, resource);
  }

  /// Returns whether the pattern may have entries that `a` has not: then its arrays are those of this object.
  /// Otherwise they are those of `a`.
  [[nodiscard]] bool has_fill() const { return arrays_.bytes() > 0; }
  [[nodiscard]] const pattern_view<Index, Offset>& pattern() const { return pattern_; }
  [[nodiscard]] std::size_t bytes() const { return arrays_.bytes(); }

  /// Enqueues the copy of the values of A and returns where they are, by entry of the factors.
  const Scalar* take_values(const Scalar* a, const Executor& on) const {
    if (!has_fill()) {
      return a;
    }
    factors::for_each(on, pattern_.entries,
                      triangle_kernels::gather_values<Scalar, Offset>{a, sources_, values_, false});
    return values_;
  }

 private:
  pattern_view<Index, Offset> pattern_;
  device_arrays arrays_;
  const Offset* sources_ = nullptr;  ///< by entry, see filled_pattern
  Scalar* values_ = nullptr;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
