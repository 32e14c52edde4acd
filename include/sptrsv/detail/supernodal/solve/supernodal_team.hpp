// SPDX-License-Identifier: Apache-2.0
// The threads of a supernode, a warp or a block; and solve_params, the parameters of the kernels of both
// directions, with their accesses to b and x.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"
#include "sptrsv/detail/supernodal/solve/tasks.hpp"
#include "sptrsv/detail/sync/double_buffer.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The threads that work on one supernode: a block of `Threads`, or a warp by itself if these are 32.
template <class Context, int Threads>
class supernode_team {
 public:
  static constexpr int size = Threads;

  SPTRSV_DEVICE explicit supernode_team(Context& ctx) : ctx_(ctx), warp_(ctx.template group<32>()) {}

  [[nodiscard]] SPTRSV_DEVICE int rank() const { return size == 32 ? warp_.rank() : ctx_.thread_rank(); }
  SPTRSV_DEVICE const auto& warp() const { return warp_; }
  /// Returns the number of the team in its block.
  [[nodiscard]] SPTRSV_DEVICE int index() const { return size == 32 ? warp_.index() : 0; }
  /// Returns the number of the warp in its team.
  [[nodiscard]] SPTRSV_DEVICE int warp_index() const { return size == 32 ? 0 : warp_.index(); }
  SPTRSV_DEVICE void sync() {
    if constexpr (size == 32) {
      warp_.sync();
    } else {
      ctx_.barrier();
    }
  }

 private:
  Context& ctx_;
  decltype(std::declval<Context&>().template group<32>()) warp_;
};

/// Returns whether `v` is true in any thread of the team, and orders memory among them. All of them call it.
/// A sync must lie between two calls. `votes`: shared memory, one element per warp of the block.
template <class Team>
// NOLINTNEXTLINE(readability-non-const-parameter): blocks write the votes
SPTRSV_DEVICE bool any_in_team(Team& team, bool* votes, bool v) {
  bool found = team.warp().any(v);
  if constexpr (Team::size > 32) {
    if (team.warp().rank() == 0) {
      votes[team.warp().index()] = found;
    }
  }
  team.sync();
  if constexpr (Team::size > 32) {
    for (int w = 0; w < Team::size / 32; ++w) {
      found = found || votes[w];
    }
  }
  return found;
}

/// Prepares words of shared memory for bulk copies, a word by a thread.
template <class Context, class Arrivals>
SPTRSV_DEVICE void begin_arrivals(Context& ctx, Arrivals& arrivals) {
  if (ctx.thread_rank() < length_of<Arrivals>) {
    ctx.begin_bulk(&arrivals[ctx.thread_rank()]);
  }
}

/// The dynamic shared memory of a block, which holds parts of panels: for the block, or in equal parts for
/// its warps. Copies begin and end at multiples of 16 bytes, which takes up to `slack` bytes more.
template <class Tuning, class Scalar>
struct panel_space {
  static constexpr int slack = 32;
  static constexpr int warps = Tuning::block_threads / 32;
  static_assert(Tuning::tile_bytes % (16 * warps) == 0 && Tuning::tile_bytes / warps > slack,
                "supernodal_tuning: tile_bytes must be a multiple of 16 for each warp, and more than 32");
  static_assert(Tuning::tile_bytes - slack >= Tuning::max_width * static_cast<int>(sizeof(Scalar)),
                "supernodal_tuning: tile_bytes must hold a row of max_width entries");

  int warp_bytes;  ///< for a warp

  /// Returns the memory for a GPU that leaves `available` bytes to a block.
  static panel_space of(std::int64_t available) {
    return {static_cast<int>(std::min<std::int64_t>(available, Tuning::tile_bytes) / (16 * warps) * 16)};
  }
  [[nodiscard]] int bytes() const { return warps * warp_bytes; }
  /// Returns what a task may have. Strips are copied without slack.
  [[nodiscard]] task_limits limits() const {
    constexpr int scalar = static_cast<int>(sizeof(Scalar));
    return {Tuning::block_threads,
            (warp_bytes - slack) / scalar,
            (bytes() - slack) / scalar,
            Tuning::block_threads,
            strip_columns,
            bytes() / (strip_columns * scalar)};
  }
};

/// Begins to copy the entries [begin, end) of the panels to shared memory at `space`, where the first of them
/// is at copied_panel(). The lanes of a warp call it together, and wait for the copy with wait_bulk.
template <class Context, class Scalar>
SPTRSV_DEVICE void copy_panel(Context& ctx, const Scalar* panels, std::int64_t begin, std::int64_t end,
                              unsigned char* space, std::uint64_t* arrival, int lane) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Scalar));
  const std::int64_t from = begin * size / 16 * 16;
  const std::int64_t to = (end * size + 15) / 16 * 16;
  ctx.copy_bulk(space, reinterpret_cast<const unsigned char*>(panels) + from, static_cast<int>(to - from),
                arrival, lane);
}

/// Returns the address of entry `begin` after copy_panel().
template <class Scalar>
SPTRSV_DEVICE const Scalar* copied_panel(std::int64_t begin, const unsigned char* space) {
  return reinterpret_cast<const Scalar*>(space + begin * static_cast<std::int64_t>(sizeof(Scalar)) % 16);
}

/// Begins to copy the rows [begin, end) of the panel of a supernode to the dynamic shared memory of the team.
/// Returns where row 0 of the panel would begin there. The first warp of the team waits for the copy with
/// wait_bulk.
template <class Context, class Team, class Params>
SPTRSV_DEVICE auto copy_rows(Context& ctx, const Team& team, const Params& p, const supernode& node,
                             std::int64_t begin, std::int64_t end, std::uint64_t* arrival) {
  using scalar = std::decay_t<decltype(*p.panels)>;
  auto* const memory = static_cast<unsigned char*>(ctx.dynamic_shared()) + team.index() * p.warp_bytes;
  const int k = static_cast<int>(node.columns);  // with 64 bits nvcc 13 makes forward solves 10 % slower
  const std::int64_t before = panel_row(begin, k);
  const std::int64_t first = node.panel + before;
  if (team.warp_index() == 0) {
    copy_panel(ctx, p.panels, first, node.panel + panel_row(end, k), memory, arrival, team.warp().rank());
  }
  return copied_panel<scalar>(first, memory) - before;
}

/// Returns the sum for a column over the tiles first, first + step, ... of a task, which hand over their
/// sums. `component(i)`: the address of value number i that is handed over. `AtOnce` of them are loaded
/// before the first of them is waited for.
template <int AtOnce, class Value, class Context, class Params, class Component>
SPTRSV_DEVICE Value sum_of_tiles(Context& ctx, const Params& p, const task& work, std::int64_t column,
                                 int first, int step, const Component& component) {
  using flag = value_flag<Value>;
  const auto address = [&](int t) {
    return component(p.size + work.partials + t * work.node.columns + column);
  };
  Value total{};
  for (int t = first; t < work.tiles; t += AtOnce * step) {
    array_of<typename flag::reading, AtOnce> seen;
    SPTRSV_UNROLL
    for (int i = 0; i < AtOnce; ++i) {
      seen[i] = t + i * step < work.tiles ? flag::try_load(ctx, address(t + i * step)) : flag::zero();
    }
    SPTRSV_UNROLL
    for (int i = 0; i < AtOnce; ++i) {
      if (t + i * step < work.tiles) {
        total = total + flag::wait(ctx, address(t + i * step), seen[i]);
      }
    }
  }
  return total;
}

template <class Scalar, class Index, class Offset>
struct solve_params {
  using flag = value_flag<Scalar>;

  supernodes<Index> of;
  const Scalar* panels;
  const Scalar* diagonal;  ///< by column; null if the diagonal is unit
  const task* tasks;       ///< in the order of tickets; forward after the forests, backward before them
  std::int64_t task_count;
  forests_view<Offset> forests;
  const supernode* small;  ///< supernodes that warps solve, in the order of tasks
  std::int64_t size;       ///< rows of the system
  int warp_bytes;          ///< of dynamic shared memory
  bool mirrored;           ///< column j of C stands for row size - 1 - j of b and x, instead of row j
  bool conjugated;         ///< b and x are conjugated: the system is that of the conjugate of C
  const named_sources<Offset>* named;  ///< forward: by sum; see sum_numbers
  const Offset* sources;
  std::int64_t rows;  ///< rows in all lists
  /// Values that blocks hand to each other. Forward: by row of the lists, the contribution of a supernode to
  /// this row; then by column, the sum as far as a task of kind `sums` has it. Backward: by column, x; then
  /// partial sums.
  double_buffer<Scalar> buffers;
  Scalar alpha;  ///< conjugated if b is
  dense_view<const Scalar> b;
  dense_view<Scalar> x;

  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, std::int64_t column, std::int64_t rhs) const {
    return alpha * of_vector(ctx.load(b.data + row_of(column) * b.row_stride + rhs * b.column_stride));
  }
  template <class Context>
  SPTRSV_DEVICE pivot_divisor<Scalar> pivot(Context& ctx, std::int64_t column) const {
    return pivot_divisor<Scalar>(diagonal != nullptr ? ctx.load_constant(diagonal + column)
                                                     : pivot_divisor<Scalar>::one());
  }
  template <class Context>
  SPTRSV_DEVICE void store_x(Context& ctx, std::int64_t column, std::int64_t rhs, std::uint32_t half,
                             std::int64_t substitution_index, Scalar v) const {
    ctx.store(x.data + row_of(column) * x.row_stride + rhs * x.column_stride, of_vector(v));
    if (!is_finite(v)) {
      buffers.record_nonfinite(ctx, half, substitution_index);
    }
  }
  /// Loads a value that another block hands over, if it is pending in `seen`.
  template <class Context>
  SPTRSV_DEVICE void poll(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index,
                          typename flag::reading& seen) const {
    flag::poll(ctx, buffers.component(half, rhs, index), seen);
  }
  /// Waits for a value that another block hands over. `seen`: what poll() has loaded.
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index,
                            const typename flag::reading& seen) const {
    return flag::wait(ctx, buffers.component(half, rhs, index), seen);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index) const {
    const auto* const at = buffers.component(half, rhs, index);
    return flag::wait(ctx, at, flag::try_load(ctx, at));
  }
  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index,
                             Scalar v) const {
    flag::publish(ctx, buffers.component(half, rhs, index), v);
  }

  /// Forward: is told the sum for a column, before it is divided by the pivot.
  template <class Context>
  SPTRSV_DEVICE void pass_sum(Context& /*ctx*/, std::int64_t /*rhs*/, std::int64_t /*column*/,
                              const Scalar& /*sum*/) const {}
  template <class Context>
  SPTRSV_DEVICE void pass(Context& /*ctx*/, std::int64_t /*begin*/, std::int64_t /*end*/) const {}
  /// Backward: returns x of a column, where the product with the panel is `v`, divided by the pivot.
  template <class Context>
  SPTRSV_DEVICE Scalar complete(Context& /*ctx*/, std::uint32_t /*half*/, std::int64_t /*rhs*/,
                                std::int64_t /*column*/, const Scalar& v) const {
    return v;
  }

  /// Converts a component of b to one of the right-hand side of C, or one of the solution to one of x.
  [[nodiscard]] SPTRSV_DEVICE Scalar of_vector(const Scalar& v) const {
    if constexpr (is_complex_v<Scalar>) {
      return conjugated ? conjugate(v) : v;
    } else {
      return v;
    }
  }
  [[nodiscard]] SPTRSV_DEVICE std::int64_t row_of(std::int64_t column) const {
    return mirrored ? size - 1 - column : column;
  }

  [[nodiscard]] SPTRSV_DEVICE std::int64_t sum_number(const supernode& node, std::int64_t i) const {
    return node.sums + i;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
