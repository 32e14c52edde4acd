// Gates: what a warp looks at while the solve is still some levels away. Otherwise thousands of warps would
// ask for all that they need again and again, and slow down those whose turn it is.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"

namespace sptrsv::detail::row_wise {

/// Per warp: a place `distance` levels before that of its first row, about as far from the beginning of its
/// level; -1 if there is none.
template <class Index>
struct find_gates {
  const Index* level_offsets;
  std::int64_t levels;
  int distance;
  const Index* first_solve_index;  ///< of each warp; null: each has 32 rows
  Index* gates;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t warp) const {
    const std::int64_t solve_index =
        first_solve_index == nullptr ? 32 * warp
                                     : static_cast<std::int64_t>(ctx.load_constant(first_solve_index + warp));
    const std::int64_t level = triangle_kernels::major_of(ctx, level_offsets, levels, solve_index);
    if (level < distance) {
      ctx.store(gates + warp, Index{-1});
      return;
    }
    const auto begin_of = [&](std::int64_t l) {
      return static_cast<std::int64_t>(ctx.load_constant(level_offsets + l));
    };
    const std::int64_t begin = begin_of(level);
    const std::int64_t gate_begin = begin_of(level - distance);
    const std::int64_t gate_size = begin_of(level - distance + 1) - gate_begin;
    ctx.store(gates + warp, static_cast<Index>(gate_begin + (solve_index - begin) * gate_size /
                                                                (begin_of(level + 1) - begin)));
  }
};

}  // namespace sptrsv::detail::row_wise
