// SPDX-License-Identifier: Apache-2.0
// The kernels of level_set: one launch per wide level, and one block for a run of consecutive narrow levels;
// by rows (LEVR, Algorithm 1) and by columns (LEVC, Algorithm 2) of Li and Zhang, Efficient Parallel
// Implementations of Sparse Triangular Solves for GPU Architectures, 2020, section 4.1.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar_words.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/policy/shared_options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::level_set {

/// Written by gather_rhs, read by the kernels of the same solve and by status().
struct solve_state {
  std::int64_t columns;          ///< right-hand sides of the current solve
  std::int64_t first_nonfinite;  ///< the smallest substitution index with a non-finite x
  std::uint32_t status_flag;     ///< for questions of status(), see simt::any_of
};

/// The arrays through which the kernels of a solve pass values to later kernels.
template <class Scalar>
struct level_buffers {
  Scalar* x;  ///< alpha b, then the solution; by solve index; column-major, size x right-hand sides
  solve_state* state;
};

/// Rows (LEVR) or columns (LEVC) in level order. Only gather_rhs and scatter_solution use b and x.
template <class Scalar, class Index, class Offset>
using level_system = paper_system<Scalar, Index, Offset, level_buffers<Scalar>>;

/// Stores component `r` of one right-hand side and records it if it is not finite.
template <class Context, class Scalar, class Index, class Offset>
SPTRSV_DEVICE void finish(Context& ctx, const level_system<Scalar, Index, Offset>& p, std::int64_t r,
                          Scalar* component, Scalar solved) {
  ctx.store(component, solved);
  if (!is_finite(solved)) {
    ctx.atomic_min(&p.buffers.state->first_nonfinite, load_index(ctx, p.substitution_indices + r));
  }
}

/// Solves unknown `r` with the lanes of `tile`. One sweep over its row or column solves `Columns` right-hand
/// sides of `column_count`. A lane takes every Lanes-th entry.
///
/// LEVR:
///   1. Multiply the entries of the row with the solved components.
///   2. Add the lanes' sums in a butterfly of fixed order.
///   3. Lane k % Lanes computes x = (alpha b - sum) / pivot of right-hand side first + k.
///
/// LEVC:
///   1. Lane k % Lanes divides right-hand side first + k by the pivot and shuffles the solution to the tile.
///   2. Subtract value * x from the component of each row that the column has an entry in. Other tiles may
///      update the same component at the same time, so updates are atomic.
template <policy::orientation By, int Columns, class Context, class Tile, class Scalar, class Index,
          class Offset>
SPTRSV_DEVICE void solve_unknown(Context& ctx, const Tile& tile, const level_system<Scalar, Index, Offset>& p,
                                 std::int64_t r, std::int64_t column_count) {
  const Offset begin = ctx.load_constant(p.offsets + r);
  const Offset end = ctx.load_constant(p.offsets + r + 1);
  const Scalar pivot = p.pivot(ctx, r);
  for (std::int64_t first = 0; first < column_count; first += Columns) {
    const auto is_finished_here = [&](int k) {
      return tile.rank() == k % Tile::lanes && first + k < column_count;
    };
    const auto for_each_entry = [&](const auto& visit) {
      for (Offset e = begin + static_cast<Offset>(tile.rank()); e < end;
           e += static_cast<Offset>(Tile::lanes)) {
        const std::int64_t index = ctx.load_constant(p.indices + e);
        const Scalar value = ctx.load_constant(p.values + e);
        for (int k = 0; k < Columns; ++k) {
          if (first + k < column_count) {
            visit(k, p.buffers.x + (first + k) * p.size + index, value);
          }
        }
      }
    };
    if constexpr (By == policy::orientation::rows) {
      array_of<Scalar, Columns> sums = {};
      for_each_entry([&](int k, const Scalar* x, Scalar value) { sums[k] = sums[k] + value * ctx.load(x); });
      for (int k = 0; k < Columns; ++k) {
        const Scalar sum = simt::reduce(tile, sums[k], Tile::lanes, simt::plus{});
        if (is_finished_here(k)) {
          Scalar* const component = p.buffers.x + (first + k) * p.size + r;
          finish(ctx, p, r, component, divide(ctx.load(component) - sum, pivot));
        }
      }
    } else {
      array_of<Scalar, Columns> solved;
      for (int k = 0; k < Columns; ++k) {
        Scalar x{};
        if (is_finished_here(k)) {
          Scalar* const component = p.buffers.x + (first + k) * p.size + r;
          x = divide(load_words_relaxed(ctx, component), pivot);
          finish(ctx, p, r, component, x);
        }
        solved[k] = tile.shuffle(x, k % Tile::lanes);
      }
      for_each_entry(
          [&](int k, Scalar* sum, Scalar value) { add_words(ctx, sum, Scalar{} - value * solved[k]); });
    }
  }
}

/// Solves one level: one tile of `Lanes` lanes per unknown. The launch boundary orders it after earlier
/// levels. `OneRhs`: the solve has a single right-hand side.
template <class Tuning, class Scalar, class Index, class Offset, policy::orientation By, int Lanes,
          bool OneRhs>
struct wide_agent {
  static constexpr int block_threads = Tuning::wide_block_threads;
  static constexpr int rows_per_block = block_threads / Lanes;
  struct shared_storage {};
  struct params {
    level_system<Scalar, Index, Offset> system;
    std::int64_t first_row;  ///< first row of the level
    std::int64_t last_row;   ///< one past the last row of the level
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    const std::int64_t row =
        p.first_row + static_cast<std::int64_t>(ctx.block_rank()) * rows_per_block + tile.index();
    if (row < p.last_row) {
      solve_unknown<By, OneRhs ? 1 : Tuning::rhs_per_sweep>(
          ctx, tile, p.system, row, OneRhs ? 1 : ctx.load_constant(&p.system.buffers.state->columns));
    }
  }
};

/// Solves the levels [first_level, last_level) with one block and a barrier after each level. The barrier
/// makes the components of a level visible to the next one. `OneRhs`: the solve has a single right-hand side.
template <class Tuning, class Scalar, class Index, class Offset, policy::orientation By, bool OneRhs>
struct narrow_agent {
  static constexpr int block_threads = Tuning::narrow_block_threads;
  struct shared_storage {};
  struct params {
    level_system<Scalar, Index, Offset> system;
    const Index* level_offsets;       ///< by level: solve index of the first row; levels + 1
    const std::int32_t* level_lanes;  ///< by level: lanes per row, 1, 8 or 32
    std::int64_t first_level;
    std::int64_t last_level;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t columns = OneRhs ? 1 : ctx.load_constant(&p.system.buffers.state->columns);
    std::int64_t begin = ctx.load_constant(p.level_offsets + p.first_level);
    std::int64_t end = ctx.load_constant(p.level_offsets + p.first_level + 1);
    std::int32_t lanes = ctx.load_constant(p.level_lanes + p.first_level);
    for (std::int64_t level = p.first_level; level < p.last_level; ++level) {
      // Load the bounds of the next level while this level is solved.
      const std::int64_t next = level + 1 < p.last_level ? level + 1 : level;
      const std::int64_t next_end = ctx.load_constant(p.level_offsets + next + 1);
      const std::int32_t next_lanes = ctx.load_constant(p.level_lanes + next);
      if (lanes == 1) {
        solve_rows<1>(ctx, p.system, begin, end, columns);
      } else if (lanes == 8) {
        solve_rows<8>(ctx, p.system, begin, end, columns);
      } else {
        solve_rows<32>(ctx, p.system, begin, end, columns);
      }
      ctx.barrier();
      begin = end;
      end = next_end;
      lanes = next_lanes;
    }
  }

 private:
  template <int Lanes, class Context>
  SPTRSV_DEVICE static void solve_rows(Context& ctx, const level_system<Scalar, Index, Offset>& system,
                                       std::int64_t begin, std::int64_t end, std::int64_t columns) {
    const auto tile = ctx.template group<Lanes>();
    for (std::int64_t row = begin + tile.index(); row < end; row += block_threads / Lanes) {
      solve_unknown<By, OneRhs ? 1 : Tuning::rhs_per_sweep>(ctx, tile, system, row, columns);
    }
  }
};

/// Finds the length of the longest row (column) of each level. Runs once per level and row in level order,
/// see for_each_entry().
template <class Offset>
struct measure_levels {
  const Offset* row_offsets;  ///< by solve index, size + 1
  std::int64_t* longest;      ///< by level; must be 0 before

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t level, std::int64_t row) const {
    const std::int64_t length = triangle_kernels::row_length(ctx, row_offsets, row);
    if (length > ctx.load_relaxed(longest + level)) {  // most rows need no atomic
      ctx.atomic_max(longest + level, length);
    }
  }
};

/// Copies alpha b into level order (`Gathers`), or the solution from level order to the user's x. Runs once
/// per component and right-hand side.
template <bool Gathers, class Scalar, class Index, class Offset>
struct copy_components {
  level_system<Scalar, Index, Offset> p;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t k = i / p.size;
    const std::int64_t row = p.mirrored(ctx.load_constant(p.substitution_indices + (i - k * p.size)));
    if constexpr (Gathers) {
      ctx.store(p.buffers.x + i,
                p.alpha * ctx.load_constant(p.b.data + row * p.b.row_stride + k * p.b.column_stride));
      if (i == 0) {
        ctx.store(&p.buffers.state->columns, p.b.columns);
        ctx.store(&p.buffers.state->first_nonfinite, all_finite);
      }
    } else {
      ctx.store(p.x.data + row * p.x.row_stride + k * p.x.column_stride, ctx.load_constant(p.buffers.x + i));
    }
  }
};
template <class Scalar, class Index, class Offset>
using gather_rhs = copy_components<true, Scalar, Index, Offset>;
template <class Scalar, class Index, class Offset>
using scatter_solution = copy_components<false, Scalar, Index, Offset>;

}  // namespace sptrsv::SPTRSV_ABI::detail::level_set
