// SPDX-License-Identifier: Apache-2.0
// The entries of panels where the stored matrix has them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/supernodal/analysis/stored_values.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::detail::supernodal {

/// What kernels need that bring the values of the stored matrix into panels.
template <class Scalar, class Index, class Offset>
struct stored_panels {
  supernodes<Index> of;
  row_masks<Index> masks;
  stored_values<Scalar, Index, Offset> stored;
  const Scalar* diagonal;  ///< by column; null if the diagonal is unit

  /// Returns an entry of the diagonal block, whose row is `column`, divided by the pivot. Zeros stay zeros:
  /// the pattern may not have them.
  template <class Context>
  SPTRSV_DEVICE Scalar scaled(Context& ctx, Scalar v, std::int64_t column) const {
    return diagonal == nullptr || v == Scalar{} ? v : divide(v, ctx.load_constant(diagonal + column));
  }
};

/// The masks of one supernode; see row_masks.
struct panel_masks {
  std::int64_t begin;
  std::int64_t words;  ///< words of each

  template <class Context, class Index>
  static SPTRSV_DEVICE panel_masks open(Context& ctx, const row_masks<Index>& masks, std::int64_t s,
                                        const supernode& node) {
    return {ctx.load_constant(masks.begin + s), mask_words(node.height())};
  }
  /// Returns where mask `number` begins.
  template <class Index>
  [[nodiscard]] SPTRSV_DEVICE std::int64_t mask(Index number) const {
    return begin + static_cast<std::int64_t>(number) * words;
  }
};

/// A column of a panel in the stored matrix.
template <class Index, class Offset>
struct stored_column {
  Offset begin;  ///< its first entry
  Index shift;   ///< what is added to an index in the sources, see stored_values::column
  Index mask;    ///< number of its mask among those of the supernode
  Index rank;    ///< number of its entries before a word of the mask

  /// Returns the entry in the row of one bit of the word; zero if the pattern has none. `bits`: the word.
  template <class Context, class Scalar>
  SPTRSV_DEVICE Scalar entry(Context& ctx, const stored_values<Scalar, Index, Offset>& stored,
                             std::uint32_t bits, int bit) const {
    const std::int64_t t = static_cast<std::int64_t>(rank) + simt::bit_count(bits & ((1u << bit) - 1u));
    return (bits >> bit & 1u) != 0 ? stored.value(ctx, {begin, shift}, t) : Scalar{};
  }
};

}  // namespace sptrsv::detail::supernodal
