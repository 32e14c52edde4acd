// The kernels of level_set: unknowns of one level, and a run of narrow levels inside one block; by rows
// (LEVR) and by columns (LEVC), algorithms 1 and 2 of Li and Zhang, Efficient Parallel Implementations of
// Sparse Triangular Solves for GPU Architectures, 2020.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/nonfinite.hpp"
#include "sptrsv/detail/base/scalar_words.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/policy/orientation.hpp"

namespace sptrsv::detail::level_set {

struct solve_state {
  std::int64_t columns;          ///< right-hand sides of the solve under way
  std::int64_t first_nonfinite;  ///< the first position of substitution whose x is not finite
};

/// Rows and columns stand in level order, and so do the components of x: `x` holds alpha b before, the
/// solution after.
template <class Scalar, class Index, class Offset>
struct system_params {
  std::int64_t size;
  const Offset* offsets;  ///< of the entries of each row or, by columns, of each column
  const Index* indices;   ///< of the entries: their columns or, by columns, their rows
  const Scalar* values;
  const Scalar* diagonal;             ///< null if it is unit
  const Index* substitution_indices;  ///< place in level order -> position of substitution
  Scalar* x;                          ///< column-major, `size` components a right-hand side
  solve_state* state;
};

/// Stores component `r` of a right-hand side.
template <class Context, class Scalar, class Index, class Offset>
SPTRSV_DEVICE void finish(Context& ctx, const system_params<Scalar, Index, Offset>& p, std::int64_t r,
                          Scalar* component, Scalar solved) {
  ctx.store(component, solved);
  if (!is_finite(solved)) {
    ctx.atomic_min(&p.state->first_nonfinite,
                   static_cast<std::int64_t>(ctx.load_constant(p.substitution_indices + r)));
  }
}

/// LEVR: solves row `r` with the lanes of `tile`. `Columns` == 1: the solve has one right-hand side;
/// otherwise the state says how many, and `Columns` of them are solved in one sweep over the row.
template <int Columns, class Context, class Tile, class Scalar, class Index, class Offset>
SPTRSV_DEVICE void solve_row(Context& ctx, const Tile& tile, const system_params<Scalar, Index, Offset>& p,
                             std::int64_t r, std::int64_t column_count) {
  const Offset begin = ctx.load_constant(p.offsets + r);
  const Offset end = ctx.load_constant(p.offsets + r + 1);
  const Scalar pivot =
      p.diagonal != nullptr ? ctx.load_constant(p.diagonal + r) : pivot_divisor<Scalar>::one();
  for (std::int64_t first = 0; first < column_count; first += Columns) {
    Scalar sums[Columns] = {};
    for (Offset e = begin + static_cast<Offset>(tile.rank()); e < end;
         e += static_cast<Offset>(Tile::lanes)) {
      const std::int64_t column = ctx.load_constant(p.indices + e);
      const Scalar value = ctx.load_constant(p.values + e);
      for (int k = 0; k < Columns; ++k) {
        if (first + k < column_count) {
          sums[k] = sums[k] + value * ctx.load(p.x + (first + k) * p.size + column);
        }
      }
    }
    for (int k = 0; k < Columns; ++k) {
      const Scalar sum = simt::tile_sum(tile, sums[k], Tile::lanes);
      if (tile.rank() == k % Tile::lanes && first + k < column_count) {
        Scalar* const component = p.x + (first + k) * p.size + r;
        finish(ctx, p, r, component, divide(ctx.load(component) - sum, pivot));
      }
    }
  }
}

/// LEVC: solves component `c` with the lanes of `tile`, of which one divides for all, and takes its column,
/// scaled by the solution, off the components that depend on it. Others may do so at the same time: hence the
/// atomics.
template <int Columns, class Context, class Tile, class Scalar, class Index, class Offset>
SPTRSV_DEVICE void solve_column(Context& ctx, const Tile& tile, const system_params<Scalar, Index, Offset>& p,
                                std::int64_t c, std::int64_t column_count) {
  const Offset begin = ctx.load_constant(p.offsets + c);
  const Offset end = ctx.load_constant(p.offsets + c + 1);
  const Scalar pivot =
      p.diagonal != nullptr ? ctx.load_constant(p.diagonal + c) : pivot_divisor<Scalar>::one();
  for (std::int64_t first = 0; first < column_count; first += Columns) {
    Scalar solved[Columns];
    for (int k = 0; k < Columns; ++k) {
      Scalar x{};
      if (tile.rank() == k % Tile::lanes && first + k < column_count) {
        Scalar* const component = p.x + (first + k) * p.size + c;
        x = divide(load_words_relaxed(ctx, component), pivot);
        finish(ctx, p, c, component, x);
      }
      solved[k] = tile.shuffle(x, k % Tile::lanes);
    }
    for (Offset e = begin + static_cast<Offset>(tile.rank()); e < end;
         e += static_cast<Offset>(Tile::lanes)) {
      const std::int64_t row = ctx.load_constant(p.indices + e);
      const Scalar value = ctx.load_constant(p.values + e);
      for (int k = 0; k < Columns; ++k) {
        if (first + k < column_count) {
          add_words(ctx, p.x + (first + k) * p.size + row, Scalar{} - value * solved[k]);
        }
      }
    }
  }
}

template <policy::orientation By, int Columns, class Context, class Tile, class Scalar, class Index,
          class Offset>
SPTRSV_DEVICE void solve_unknown(Context& ctx, const Tile& tile,
                                 const system_params<Scalar, Index, Offset>& p, std::int64_t r,
                                 std::int64_t column_count) {
  if constexpr (By == policy::orientation::rows) {
    solve_row<Columns>(ctx, tile, p, r, column_count);
  } else {
    solve_column<Columns>(ctx, tile, p, r, column_count);
  }
}

/// A tile of `Lanes` lanes per unknown of one level.
template <class Tuning, class Scalar, class Index, class Offset, policy::orientation By, int Lanes,
          int Columns>
struct wide_agent {
  static constexpr int block_threads = Tuning::wide_block_threads;
  static constexpr int rows_per_block = block_threads / Lanes;
  struct shared_storage {};
  struct params {
    system_params<Scalar, Index, Offset> system;
    std::int64_t first_row;
    std::int64_t last_row;  ///< one past the end
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    const std::int64_t row =
        p.first_row + static_cast<std::int64_t>(ctx.block_rank()) * rows_per_block + tile.index();
    if (row < p.last_row) {
      solve_unknown<By, Columns>(ctx, tile, p.system, row,
                                 Columns == 1 ? 1 : ctx.load_constant(&p.system.state->columns));
    }
  }
};

/// One block walks the levels [first_level, last_level) with a barrier after each.
template <class Tuning, class Scalar, class Index, class Offset, policy::orientation By, int Columns>
struct narrow_agent {
  static constexpr int block_threads = Tuning::narrow_block_threads;
  struct shared_storage {};
  struct params {
    system_params<Scalar, Index, Offset> system;
    const Index* level_offsets;
    const std::int32_t* level_lanes;  ///< lanes that a row of the level gets: 1, 8 or 32
    std::int64_t first_level;
    std::int64_t last_level;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t columns = Columns == 1 ? 1 : ctx.load_constant(&p.system.state->columns);
    std::int64_t begin = ctx.load_constant(p.level_offsets + p.first_level);
    std::int64_t end = ctx.load_constant(p.level_offsets + p.first_level + 1);
    std::int32_t lanes = ctx.load_constant(p.level_lanes + p.first_level);
    for (std::int64_t level = p.first_level; level < p.last_level; ++level) {
      // The bounds of the next level are on the way while this one is solved.
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
  SPTRSV_DEVICE static void solve_rows(Context& ctx, const system_params<Scalar, Index, Offset>& system,
                                       std::int64_t begin, std::int64_t end, std::int64_t columns) {
    const auto tile = ctx.template group<Lanes>();
    for (std::int64_t row = begin + tile.index(); row < end; row += block_threads / Lanes) {
      solve_unknown<By, Columns>(ctx, tile, system, row, columns);
    }
  }
};

/// Per row (column) in level order: the longest of its level.
template <class Index, class Offset>
struct measure_levels {
  const Offset* row_offsets;
  const Index* level_offsets;
  std::int64_t levels;
  std::int64_t* longest;  ///< by level; start at 0

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const std::int64_t level = triangle_kernels::major_of(ctx, level_offsets, levels, row);
    const auto length = static_cast<std::int64_t>(ctx.load_constant(row_offsets + row + 1) -
                                                  ctx.load_constant(row_offsets + row));
    if (length > ctx.load_relaxed(longest + level)) {  // most rows need no atomic
      ctx.atomic_max(longest + level, length);
    }
  }
};

/// Per component: alpha b into level order.
template <class Scalar, class Index>
struct gather_rhs {
  std::int64_t size;
  bool reversed;
  const Index* substitution_indices;
  Scalar alpha;
  dense_view<const Scalar> b;
  Scalar* x;
  solve_state* state;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t k = i / size;
    const std::int64_t substitution_index = ctx.load_constant(substitution_indices + (i - k * size));
    const std::int64_t row = reversed ? size - 1 - substitution_index : substitution_index;
    ctx.store(x + i, alpha * ctx.load_constant(b.data + row * b.row_stride + k * b.column_stride));
    if (i == 0) {
      ctx.store(&state->columns, b.columns);
      ctx.store(&state->first_nonfinite, all_finite);
    }
  }
};

/// Per component: the solution out of level order.
template <class Scalar, class Index>
struct scatter_solution {
  std::int64_t size;
  bool reversed;
  const Index* substitution_indices;
  const Scalar* solved;
  dense_view<Scalar> x;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t k = i / size;
    const std::int64_t substitution_index = ctx.load_constant(substitution_indices + (i - k * size));
    const std::int64_t row = reversed ? size - 1 - substitution_index : substitution_index;
    ctx.store(x.data + row * x.row_stride + k * x.column_stride, ctx.load_constant(solved + i));
  }
};

}  // namespace sptrsv::detail::level_set
