// SPDX-License-Identifier: Apache-2.0
// The kernel for natural blocks. One thread block solves one right-hand side, step by step. The latest
// components of x stand in a ring buffer in shared memory. A step solves blocks of rows that do not need each
// other. The file is long because it is the body of one kernel.
//
// The warp groups of the thread block take the steps in turns. While other groups solve, a group loads all
// that its next step needs except components of x into registers. A lane has whole tiles, so that a tile of
// 36 values takes one index and a few instructions besides its multiply-adds:
//
//   for each step of the group, in order:
//     1. wait until the group before has solved its step
//     2. load the components of x that the tiles need, and subtract the products from the right-hand sides
//     3. sum over the lanes of each block
//     4. substitute among the rows of the block, all lanes in the same way
//     5. store the components to the ring buffer, and let the next group go on
//     6. store the components to x, and load the next step
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_shape.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

/// One thread.
template <class Scalar, class Shape, class Context>
class block_solver {
 public:
  SPTRSV_DEVICE block_solver(Context& ctx, const kernel_params<Scalar>& p)
      : ctx_(ctx),
        p_(p),
        warp_(ctx.template group<32>()),
        // The shuffles keep these values in registers: special registers are slow to read in each step.
        x_ring_(warp_.shuffle(ctx.shared_address(ctx.dynamic_shared()), warp_.rank())),
        thread_(warp_.shuffle(ctx.thread_rank(), warp_.rank())),
        group_(thread_ / Shape::group_threads),
        warp_of_group_(thread_ % Shape::group_threads / 32),
        lane_(thread_ % 32),
        part_(lane_ % lanes),
        b_(p.b.data + static_cast<std::int64_t>(ctx.block_rank()) * p.b.column_stride),
        x_(p.x.data + static_cast<std::int64_t>(ctx.block_rank()) * p.x.column_stride) {}

  SPTRSV_DEVICE void run() {
    if (thread_ == 0) {
      ctx_.store(p_.first_nonfinite + ctx_.block_rank(), all_finite);
      if (ctx_.block_rank() == 0) {
        ctx_.store(p_.used_rhs, p_.x.columns);
      }
    }
    if (thread_ < rows) {
      static_cast<Scalar*>(ctx_.dynamic_shared())[thread_] = Scalar{};
    }
    ctx_.barrier();
    if (group_ >= p_.tiles) {
      return;
    }
    row_data rows_of_next = read_rows(group_);
    step_data now = read_step(group_, rows_of_next);
    rows_of_next = read_rows(group_ + groups);
    for (std::int32_t s = group_; s < p_.tiles; s += groups) {
      // All that does not depend on other steps is computed before the wait.
      array_of<Scalar, rows> rest;
      begin(now, rest);
      array_of<int, tiles> components;
      SPTRSV_UNROLL
      for (int t = 0; t < tiles; ++t) {
        components[t] = address(now.operand[t]);
        ctx_.compute_now(components[t]);
      }
      if (s > 0) {
        warp_.sync();
        ctx_.template barrier_wait<2 * Shape::group_threads>(1 + group_);
      }
      array_of<Scalar, own_rows> x;
      solve<false>(now, s, components, rest, x);
      store_to_ring(now, x);
      if (!warp_.all(are_finite(x))) {  // scaled entries and absent ones may have met infinities
        begin(now, rest);
        solve<true>(now, s, components, rest, x);
        store_to_ring(now, x);
        record_nonfinite(now, x);
      }
      if (s + 1 < p_.tiles) {
        warp_.sync();
        ctx_.template barrier_arrive<2 * Shape::group_threads>(1 + (group_ + 1) % groups);
      }
      store_to_x(now, x);
      if (s + groups < p_.tiles) {
        now = read_step(s + groups, rows_of_next);
      }
      rows_of_next = read_rows(s + 2 * groups);
    }
  }

 private:
  static constexpr int rows = Shape::values.rows;
  static constexpr int lanes = Shape::values.lanes;
  static constexpr int tiles = Shape::values.tiles;
  static constexpr int groups = Shape::values.groups;
  static constexpr int tile_entries = Shape::values.tile_entries();
  static constexpr int in_block_entries = Shape::values.in_block_entries();
  /// Components that are loaded at a time.
  static constexpr int piece = sizeof(Scalar) == 8 && rows % 2 == 0 ? 2 : 1;
  static constexpr int own_rows = (rows + lanes - 1) / lanes;  ///< rows part, part + lanes, ... of the block

  /// The rows of b and x that a lane has in a step. They are read a turn before b.
  struct row_data {
    array_of<single_block::tile_row, own_rows> of;
  };
  /// What a lane has of a step before it reads x. Nothing here depends on what was loaded just before, so
  /// that the loads are still under way when the group waits for its turn.
  struct step_data {
    array_of<Scalar, tiles, tile_entries> value;  ///< by columns
    array_of<std::int32_t, tiles> operand;        ///< place in the ring buffer
    array_of<Scalar, in_block_entries> in_block;
    array_of<Scalar, rows> reciprocal;
    array_of<Scalar, own_rows> rhs;  ///< of b: not yet multiplied by alpha
    row_data row;
    std::int32_t place;  ///< of the block in the ring buffer; 0: there is no block
  };

  SPTRSV_DEVICE std::int64_t block_of(std::int32_t step) const {
    return static_cast<std::int64_t>(step) * Shape::values.step_blocks() +
           warp_of_group_ * Shape::values.warp_blocks() + lane_ / lanes;
  }
  /// Returns the number of the lane's t-th tile.
  SPTRSV_DEVICE std::int64_t tile_of(std::int32_t step, int t) const {
    return ((static_cast<std::int64_t>(step) * Shape::values.warps + warp_of_group_) * tiles + t) * 32 +
           lane_;
  }

  SPTRSV_DEVICE row_data read_rows(std::int32_t step) const {
    row_data d;
    SPTRSV_UNROLL
    for (int j = 0; j < own_rows; ++j) {
      const int row = j * lanes + part_;
      d.of[j] = step < p_.tiles && row < rows
                    ? ctx_.load_constant(p_.rows + block_of(step) * rows + row)
                    : single_block::tile_row{single_block::no_row, single_block::no_row};
    }
    return d;
  }
  SPTRSV_DEVICE step_data read_step(std::int32_t step, const row_data& row) const {
    step_data d;
    const std::int64_t block = block_of(step);
    d.row = row;
    SPTRSV_UNROLL
    for (int j = 0; j < own_rows; ++j) {
      const std::int32_t source = row.of[j].source;
      d.rhs[j] = source >= 0 ? ctx_.load(b_ + source * p_.b.row_stride) : Scalar{};
    }
    SPTRSV_UNROLL
    for (int t = 0; t < tiles; ++t) {
      const std::int64_t tile = tile_of(step, t);
      d.operand[t] = ctx_.load_constant(p_.operands + tile);
      const Scalar* const values = p_.values + (tile - lane_) * tile_entries + lane_;
      SPTRSV_UNROLL
      for (int k = 0; k < tile_entries; ++k) {
        d.value[t][k] = ctx_.load_constant(values + 32 * k);
      }
    }
    SPTRSV_UNROLL
    for (int i = 0; i < in_block_entries; ++i) {
      d.in_block[i] = ctx_.load_constant(p_.in_tile + block * in_block_entries + i);
    }
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      d.reciprocal[r] = ctx_.load_constant(p_.reciprocals + block * rows + r);
    }
    d.place = ctx_.load_constant(p_.places + block);
    return d;
  }

  /// Returns the entry (r, q), q < r, of the triangle inside the block.
  SPTRSV_DEVICE static Scalar in_block(const step_data& now, int q, int r) {
    return now.in_block[single_block::in_tile_index(rows, rows - 1, q, r)];
  }
  /// Sets rest[r] to the lane's part of the right-hand side.
  SPTRSV_DEVICE void begin(const step_data& now, array_of<Scalar, rows>& rest) const {
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      // alpha times zero may be NaN
      rest[r] =
          r % lanes == part_ && now.row.of[r / lanes].source >= 0 ? p_.alpha * now.rhs[r / lanes] : Scalar{};
    }
  }
  /// Sums over the lanes of the block: all get the same bits.
  SPTRSV_DEVICE void sum(array_of<Scalar, rows>& rest) const {
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      rest[r] = simt::reduce(warp_, rest[r], lanes, simt::plus{});
    }
  }
  /// Picks the components of the lane's own rows.
  SPTRSV_DEVICE void take_own(const array_of<Scalar, rows>& all, array_of<Scalar, own_rows>& x) const {
    SPTRSV_UNROLL
    for (int j = 0; j < own_rows; ++j) {
      x[j] = Scalar{};
    }
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      x[r / lanes] = r % lanes == part_ ? all[r] : x[r / lanes];
    }
  }

  /// Returns the address of a place of the ring buffer.
  SPTRSV_DEVICE int address(int place) const {
    return x_ring_ + place * rows * static_cast<int>(sizeof(Scalar));
  }
  /// Loads the components of a place: several at a time where they are aligned to it.
  SPTRSV_DEVICE void load_components(int at, array_of<Scalar, rows>& to) const {
    struct alignas(piece * sizeof(Scalar)) pieces {
      array_of<Scalar, piece> of;
    };
    SPTRSV_UNROLL
    for (int c = 0; c < rows; c += piece) {
      const auto loaded = ctx_.template load_shared_at<pieces>(at + c * static_cast<int>(sizeof(Scalar)));
      SPTRSV_UNROLL
      for (int k = 0; k < piece; ++k) {
        to[c + k] = loaded.of[k];
      }
    }
  }
  /// Sets x to the components of the lane's own rows. `rest`: see begin. `Exact`: without absent entries,
  /// with unscaled entries and divisions, as serial substitution does.
  template <bool Exact>
  SPTRSV_DEVICE void solve(const step_data& now, std::int32_t step, const array_of<int, tiles>& components,
                           array_of<Scalar, rows>& rest, array_of<Scalar, own_rows>& x) const {
    array_of<Scalar, tiles, rows> component;
    SPTRSV_UNROLL
    for (int t = 0; t < tiles; ++t) {
      load_components(components[t], component[t]);
    }
    SPTRSV_UNROLL
    for (int t = 0; t < tiles; ++t) {
      const std::uint64_t present = Exact ? ctx_.load_constant(p_.present + tile_of(step, t)) : 0;
      SPTRSV_UNROLL
      for (int c = 0; c < rows; ++c) {
        SPTRSV_UNROLL
        for (int r = 0; r < rows; ++r) {
          const int k = c * rows + r;
          const Scalar left = rest[r] - now.value[t][k] * component[t][c];
          rest[r] = !Exact || (present >> k & 1u) != 0 ? left : rest[r];
        }
      }
    }
    sum(rest);
    if constexpr (Exact) {
      substitute_exactly(now, block_of(step) * rows, rest);
    } else {
      substitute(now, rest);
    }
    take_own(rest, x);
  }
  /// Substitutes among the rows of the block, all lanes in the same way.
  SPTRSV_DEVICE static void substitute(const step_data& now, array_of<Scalar, rows>& rest) {
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      rest[r] = rest[r] * now.reciprocal[r];
    }
    SPTRSV_UNROLL
    for (int q = 0; q < rows - 1; ++q) {
      SPTRSV_UNROLL
      for (int r = q + 1; r < rows; ++r) {
        rest[r] = rest[r] - in_block(now, q, r) * rest[q];
      }
    }
  }
  SPTRSV_DEVICE void substitute_exactly(const step_data& now, std::int64_t first,
                                        array_of<Scalar, rows>& rest) const {
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      const Scalar pivot =
          p_.pivots == nullptr ? pivot_divisor<Scalar>::one() : ctx_.load_constant(p_.pivots + first + r);
      const bool scaled = is_finite(now.reciprocal[r]);
      const std::uint32_t needed = ctx_.load_constant(p_.in_tile_rows + first + r);
      SPTRSV_UNROLL
      for (int q = 0; q < r; ++q) {
        const Scalar entry = in_block(now, q, r);
        rest[r] = (needed >> q & 1u) != 0 ? rest[r] - (scaled ? entry * pivot : entry) * rest[q] : rest[r];
      }
      rest[r] = divide(rest[r], pivot);
    }
  }

  SPTRSV_DEVICE static bool are_finite(const array_of<Scalar, own_rows>& x) {
    bool finite = true;
    SPTRSV_UNROLL
    for (int j = 0; j < own_rows; ++j) {
      finite = finite && is_finite(x[j]);
    }
    return finite;
  }
  SPTRSV_DEVICE void store_to_ring(const step_data& now, const array_of<Scalar, own_rows>& x) const {
    SPTRSV_UNROLL
    for (int j = 0; j < own_rows; ++j) {
      const int row = j * lanes + part_;
      if (now.place > 0 && row < rows) {
        ctx_.store_shared_at(address(now.place) + row * static_cast<int>(sizeof(Scalar)), x[j]);
      }
    }
  }
  /// Stores to x, without a branch: rows that are not rows of x are stored to the sink.
  SPTRSV_DEVICE void store_to_x(const step_data& now, const array_of<Scalar, own_rows>& x) const {
    SPTRSV_UNROLL
    for (int j = 0; j < own_rows; ++j) {
      const bool is_row = now.row.of[j].target != single_block::no_row;
      ctx_.store((is_row ? x_ : p_.sink) + (is_row ? now.row.of[j].target : 0) * p_.x.row_stride, x[j]);
    }
  }
  SPTRSV_DEVICE void record_nonfinite(const step_data& now, const array_of<Scalar, own_rows>& x) const {
    for (int j = 0; j < own_rows; ++j) {
      const std::int64_t row = now.row.of[j].target;
      if (row != single_block::no_row && !is_finite(x[j])) {
        ctx_.atomic_min(p_.first_nonfinite + ctx_.block_rank(), p_.reversed ? p_.size - 1 - row : row);
      }
    }
  }

  Context& ctx_;
  const kernel_params<Scalar>& p_;
  decltype(std::declval<Context&>().template group<32>()) warp_;
  int x_ring_;  ///< its address in shared memory
  int thread_;
  int group_;
  int warp_of_group_;
  int lane_;
  int part_;  ///< number of the lane among those of its block
  const Scalar* b_;
  Scalar* x_;
};

template <class Scalar, class Shape>
struct agent {
  static constexpr int block_threads = Shape::block_threads;
  using params = kernel_params<Scalar>;
  struct shared_storage {};

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    block_solver<Scalar, Shape, Context>(ctx, p).run();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
