// SPDX-License-Identifier: Apache-2.0
// Gates. A gate is one component some levels before the rows of a warp. The warp polls its gate alone before
// it polls the components that it needs. Without gates thousands of warps poll components that are far from
// ready and slow down the memory accesses of the warps that could go on.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

/// Finds the gate of each warp: a solve index `distance` levels before the level of the warp's first row, at
/// about the same relative offset within its level. The gate is -1 if there is no such level.
template <class Index>
struct find_gates {
  const Index* level_offsets;  ///< levels + 1 solve indices: where each level begins
  std::int64_t levels;
  int distance;
  /// Solve index of each warp's first row. Null: warp w begins with row 32 w.
  const Index* first_solve_index;
  Index* gates;  ///< output by warp: the solve index of the gate, or -1

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

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
