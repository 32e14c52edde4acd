// SPDX-License-Identifier: Apache-2.0
// The kernels of multicolouring on the device (Jones and Plassmann 1993), one thread per row or entry.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::orderings {

/// What the kernels find. Rows that are not below the size mean no fault.
struct colour_report {
  triangle_kernels::report storage;
  std::int64_t conflict = INT64_MAX;  ///< the first row with the colour of a neighbour
  std::int64_t colours = 0;
  std::uint64_t pending = 0;  ///< not 0: the last round has left rows without a colour
};

/// Returns true if row v is coloured before row w. Each row has a random but fixed priority.
SPTRSV_HOST_DEVICE bool is_before(std::int64_t v, std::int64_t w) {
  const auto hash = [](std::int64_t row) {  // SplitMix64
    auto state = (static_cast<std::uint64_t>(row) + 1) * 0x9e3779b97f4a7c15u;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
    return state ^ (state >> 31);
  };
  return hash(v) > hash(w);  // the function is a bijection: no two rows have the same number
}

/// One round: a row whose neighbours of higher priority have their colours takes the smallest colour that
/// none of them has. The colours are the same whichever round gives them. Runs once per row.
template <class Index, class Offset>
struct colour_rows {
  pattern_view<Index, Offset> a;
  Index* colours;  ///< by row; -1: none yet
  colour_report* found;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    if (ctx.load_relaxed(colours + row) >= 0) {
      return;
    }
    const Offset begin = ctx.load_constant(a.offsets + row);
    const Offset end = ctx.load_constant(a.offsets + row + 1);
    for (std::int64_t first = 0;; first += 64) {  // looks for a free colour among 64
      std::uint64_t used = 0;
      for (Offset e = begin; e < end; ++e) {
        const auto other = static_cast<std::int64_t>(ctx.load_constant(a.indices + e));
        if (other == row || !is_before(other, row)) {
          continue;
        }
        const auto colour = static_cast<std::int64_t>(ctx.load_relaxed(colours + other));
        if (colour < 0) {
          ctx.store_relaxed(&found->pending, std::uint64_t{1});
          return;
        }
        if (colour >= first && colour < first + 64) {
          used |= std::uint64_t{1} << (colour - first);
        }
      }
      if (~used != 0) {
        const std::int64_t colour = first + simt::lowest_bit(~used);
        ctx.store_relaxed(colours + row, static_cast<Index>(colour));
        ctx.atomic_max(&found->colours, colour + 1);
        return;
      }
    }
  }
};

/// Finds rows with the colour of a neighbour: the pattern is not symmetric there. Runs once per entry.
template <class Index, class Offset>
struct check_colours {
  pattern_view<Index, Offset> a;
  const Index* colours;
  colour_report* found;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t row = triangle_kernels::major_of(ctx, a.offsets, a.size, e);
    const Index other = ctx.load_constant(a.indices + e);
    if (static_cast<std::int64_t>(other) != row &&
        ctx.load_constant(colours + row) == ctx.load_constant(colours + other)) {
      ctx.atomic_min(&found->conflict, row);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::orderings
