// The kernel of a distributed solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/distributed/inbox.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::detail::distributed {

enum class task_kind : std::int32_t {
  send_b,  ///< sends b of rows that were handed in here to the PE that solves them
  sum,     ///< sums for the rows of a supernode, over all or some columns of this PE
  solve,   ///< sums for the rows of a supernode and solves them
  hand_on  ///< receives x of a supernode, hands it on, and stores it where its rows were handed in
};

/// What a warp does for a supernode.
struct task {
  task_kind kind;
  std::int32_t columns;  ///< of the supernode
  std::int64_t first;    ///< its first column
  std::int64_t panel;    ///< sum, solve: where the panel begins in `values`, and its sources in `sources`
  std::int64_t sources;
  std::int32_t source_count;  ///< columns of the panel
  std::int32_t partial_count;
  std::int64_t partials;  ///< sum, solve: where the indices of the children's sums begin in `partials`
  std::int64_t diagonal;  ///< solve: where the diagonal block begins in `values`
  std::int64_t slot;      ///< sum: index of the sums in the inbox of the target
  std::int64_t targets;   ///< where the PEs that it sends to begin in `targets`
  std::int32_t target_count;
  std::int32_t own_begin;  ///< columns [own_begin, own_end) of the supernode were handed in here
  std::int32_t own_end;
};

template <class Scalar, class Index>
struct solve_params {
  inboxes<Scalar> in;
  const task* tasks;  ///< in the order of tickets: a task waits for earlier ones, or for those of other PEs
                      ///< that come earlier in the order that all PEs share
  std::int64_t task_count;
  const Index* sources;  ///< by column of a panel: which x it is multiplied with
  const Scalar* values;  ///< panels and diagonal blocks, column by column
  const std::int64_t* partials;
  const int* targets;
  std::int64_t size;
  std::int64_t first_row;  ///< first row of b and x, in the numbering of the user
  bool reversed;
  Scalar alpha;
  dense_view<const Scalar> b;  ///< of the rows that were handed in here
  dense_view<Scalar> x;

  [[nodiscard]] SPTRSV_DEVICE std::int64_t local_row(std::int64_t index) const {
    return (reversed ? size - 1 - index : index) - first_row;
  }
  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, std::int64_t index, std::int64_t rhs) const {
    return alpha * ctx.load(b.data + local_row(index) * b.row_stride + rhs * b.column_stride);
  }
  template <class Context>
  SPTRSV_DEVICE void store_x(Context& ctx, std::int64_t index, std::int64_t rhs, Scalar v) const {
    ctx.store(x.data + local_row(index) * x.row_stride + rhs * x.column_stride, v);
  }
};

/// Returns the number of tickets of a solve. Each task has one, and each warp ends with a further one.
template <class Agent>
SPTRSV_HOST_DEVICE unsigned long long tickets_of_solve(std::int64_t tasks, std::uint32_t blocks) {
  return static_cast<unsigned long long>(tasks + std::int64_t{blocks} * Agent::warps);
}

/// The warps draw tasks until none is left. A warp does a task, for one right-hand side after the other:
///
///   send_b    each lane sends a component of alpha b
///   sum       1. Load columns of the panel.
///             2. Add the sums of the children in the tree of the row, as they arrive.
///             3. Multiply the columns with x, as x arrives. Each lane has a row and every n-th column.
///             4. Send the sums to the parent.
///   solve     1. to 3. as above
///             4. Subtract the sums from b, and substitute in the diagonal block.
///             5. Send x to the children in the tree of the column, and publish and store it here.
///   hand_on   1. Wait for x.
///             2. Send it to the children in the tree of the column, and store it.
///
/// Then it resets what it has received in the solve before.
///
/// Progress: all PEs have their tasks in one common order. A task waits for tasks that come before it in this
/// order, and a warp draws tickets in this order. So the first task that is not done can be done, on
/// whichever PE, if one block is resident there.
template <class Scalar, class Index>
struct solve_agent {
  static constexpr int block_threads = 128;
  static constexpr int warps = block_threads / 32;
  static constexpr int max_width = 32;
  struct shared_storage {};
  using params = solve_params<Scalar, Index>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const unsigned long long tickets = tickets_of_solve<solve_agent>(p.task_count, ctx.grid_blocks());
    const pe_solve now = begin_solve(ctx, warp, p.in, tickets, p.x.columns);
    for (std::int64_t index = now.task; index < p.task_count;) {
      const unsigned long long next = draw_ticket(ctx, warp, p.in.state);
      do_task(ctx, warp, p, ctx.load_constant(p.tasks + index), now);
      index = static_cast<std::int64_t>(warp.shuffle(next, 0) - now.number * tickets);
    }
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static void do_task(Context& ctx, const Warp& warp, const params& p, const task& work,
                                    const pe_solve& now) {
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      switch (work.kind) {
        case task_kind::send_b:
          send_b(ctx, warp, p, work, now.buffer, rhs);
          break;
        case task_kind::hand_on:
          hand_on(ctx, warp, p, work, now.buffer, rhs);
          break;
        default:
          sum_and_solve(ctx, warp, p, work, now.buffer, rhs);
      }
    }
    reset(ctx, warp, p, work, now);
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void send_b(Context& ctx, const Warp& warp, const params& p, const task& work,
                                   int buffer, std::int64_t rhs) {
    const int lane = warp.rank();
    if (lane >= work.own_begin && lane < work.own_end) {
      p.in.send(ctx, ctx.load_constant(p.targets + work.targets), buffer, rhs, p.size + work.first + lane,
                p.load_b(ctx, work.first + lane, rhs));
    }
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void hand_on(Context& ctx, const Warp& warp, const params& p, const task& work,
                                    int buffer, std::int64_t rhs) {
    const int lane = warp.rank();
    if (lane < work.columns) {
      deliver(ctx, p, work, buffer, rhs, lane, p.in.wait(ctx, buffer, rhs, work.first + lane));
    }
  }

  /// Sends a component of x to the children in the tree, and stores it if its row was handed in here.
  template <class Context>
  SPTRSV_DEVICE static void deliver(Context& ctx, const params& p, const task& work, int buffer,
                                    std::int64_t rhs, int lane, Scalar x) {
    const std::int64_t index = work.first + lane;
    for (int t = 0; t < work.target_count; ++t) {
      p.in.send(ctx, ctx.load_constant(p.targets + work.targets + t), buffer, rhs, index, x);
    }
    if (lane >= work.own_begin && lane < work.own_end) {
      p.store_x(ctx, index, rhs, x);
    }
  }

  /// 32 columns of a panel. Lane l has row l mod n of every 32 / n-th column from l / n on, where n is the
  /// number of rows, rounded up to a power of two.
  struct panel_columns {
    int width;
    int count;  ///< columns of this lane
    Scalar of[32];

    template <class Context>
    SPTRSV_DEVICE panel_columns(Context& ctx, const params& p, const task& work, int lane, int begin)
        : width(simt::ceil_power_of_two(work.columns)) {
      const int row = lane & (width - 1);
      const int step = 32 / width;
      const int left = work.source_count - begin < 32 ? work.source_count - begin : 32;
      const int first = lane / width;
      count = (left + step - 1) / step;
      const Scalar* const at = p.values + work.panel + std::int64_t{begin + first} * work.columns + row;
      SPTRSV_UNROLL
      for (int j = 0; j < 32; ++j) {
        const bool has = row < work.columns && first + j * step < left;
        of[j] = has ? ctx.load_constant(at + j * step * work.columns) : Scalar{};
      }
    }
    /// Returns the sum over the columns of this lane. `x`: of column `lane`.
    template <class Warp>
    SPTRSV_DEVICE Scalar times(const Warp& warp, Scalar x) const {
      Scalar sum{};
      SPTRSV_UNROLL
      for (int j = 0; j < 32; ++j) {
        if (j < count) {
          sum = sum + of[j] * warp.shuffle(x, j * (32 / width) + warp.rank() / width);
        }
      }
      return sum;
    }
  };

  /// Returns the sums of the children for the row of the lane.
  template <class Context>
  SPTRSV_DEVICE static Scalar add_partials(Context& ctx, const params& p, const task& work, int buffer,
                                           std::int64_t rhs, int lane) {
    constexpr int at_once = 4;
    Scalar sum{};
    for (int begin = 0; begin < work.partial_count; begin += at_once) {
      std::int64_t index[at_once];
      typename inboxes<Scalar>::flag::reading seen[at_once];
      SPTRSV_UNROLL
      for (int c = 0; c < at_once; ++c) {
        if (begin + c < work.partial_count) {
          index[c] = ctx.load_constant(p.partials + work.partials + begin + c) + lane;
          seen[c] = p.in.try_load(ctx, buffer, rhs, index[c]);
        }
      }
      SPTRSV_UNROLL
      for (int c = 0; c < at_once; ++c) {
        if (begin + c < work.partial_count) {
          sum = sum + p.in.wait(ctx, buffer, rhs, index[c], seen[c]);
        }
      }
    }
    return sum;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void sum_and_solve(Context& ctx, const Warp& warp, const params& p, const task& work,
                                          int buffer, std::int64_t rhs) {
    const int lane = warp.rank();
    const bool has_row = lane < work.columns;
    Scalar sum{};  // of the row of this lane
    for (int begin = 0; begin == 0 || begin < work.source_count; begin += 32) {
      const panel_columns columns(ctx, p, work, lane, begin);
      if (begin == 0 && has_row) {
        sum = add_partials(ctx, p, work, buffer, rhs, lane);
      }
      Scalar x{};
      if (begin + lane < work.source_count) {
        x = p.in.wait(ctx, buffer, rhs, ctx.load_constant(p.sources + work.sources + begin + lane));
      }
      sum = sum + columns.times(warp, x);
    }
    for (int mask = simt::ceil_power_of_two(work.columns); mask < 32; mask *= 2) {
      sum = sum + warp.shuffle_xor(sum, mask);
    }
    if (work.kind == task_kind::solve) {
      substitute(ctx, warp, p, work, buffer, rhs, sum);
    } else if (has_row) {
      p.in.send(ctx, ctx.load_constant(p.targets + work.targets), buffer, rhs, work.slot + lane, sum);
    }
  }

  /// Solves the rows of a supernode; `sum`: of the row of the lane.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void substitute(Context& ctx, const Warp& warp, const params& p, const task& work,
                                       int buffer, std::int64_t rhs, Scalar sum) {
    const int lane = warp.rank();
    const bool has_row = lane < work.columns;
    const std::int64_t index = work.first + lane;
    Scalar x{};
    if (has_row) {
      const bool is_own = lane >= work.own_begin && lane < work.own_end;
      x = (is_own ? p.load_b(ctx, index, rhs) : p.in.wait(ctx, buffer, rhs, p.size + index)) - sum;
    }
    const Scalar* const row = p.values + work.diagonal + (has_row ? lane : 0);
    const pivot_divisor<Scalar> pivot(ctx.load_constant(row + (has_row ? lane : 0) * work.columns));
    for (int j = 0; j < work.columns; ++j) {
      const Scalar entry = ctx.load_constant(row + j * work.columns);
      if (lane == j) {
        x = pivot(x);
      }
      const Scalar solved = warp.shuffle(x, j);
      if (has_row && lane > j) {
        x = x - entry * solved;
      }
    }
    if (has_row) {
      p.in.send(ctx, p.in.rank, buffer, rhs, index, x);
      deliver(ctx, p, work, buffer, rhs, lane, x);
      if (!is_finite(x)) {
        ctx.atomic_min(&p.in.state->first_nonfinite[buffer], index);
      }
    }
  }

  /// Marks what the task has received in the solve before as pending.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void reset(Context& ctx, const Warp& warp, const params& p, const task& work,
                                  const pe_solve& now) {
    const int lane = warp.rank();
    if (lane >= work.columns || work.kind == task_kind::send_b) {
      return;
    }
    const auto reset_at = [&](std::int64_t index) {
      p.in.reset(ctx, now.buffer_to_reset, now.rhs_to_reset, index);
    };
    for (int c = 0; c < work.partial_count; ++c) {
      reset_at(ctx.load_constant(p.partials + work.partials + c) + lane);
    }
    if (work.kind != task_kind::sum) {
      reset_at(work.first + lane);
    }
    if (work.kind == task_kind::solve && (lane < work.own_begin || lane >= work.own_end)) {
      reset_at(p.size + work.first + lane);
    }
  }
};

}  // namespace sptrsv::detail::distributed
