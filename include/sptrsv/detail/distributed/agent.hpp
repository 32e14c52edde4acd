// The kernel of a distributed solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/distributed/inbox.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::detail::distributed {

enum class task_kind : std::int32_t {
  send_b,  ///< sends b of rows that were handed in here to the PE that solves them
  sum,     ///< sums for the rows of a supernode that another PE solves
  solve,   ///< sums for the rows of a supernode and solves them
  hand_on  ///< receives x of a supernode, hands it on, and stores it where its rows were handed in
};

/// The kinds of work that a warp does for a supernode.
struct task {
  task_kind kind;
  std::int32_t columns;    ///< of the supernode
  std::int64_t first;      ///< its first column
  std::int64_t rows;       ///< sum, solve: index of its first row in `row_begin`
  std::int64_t diagonal;   ///< solve: where its diagonal block begins
  std::int64_t own_begin;  ///< columns [own_begin, own_end) of the supernode were handed in here
  std::int64_t own_end;
  std::int64_t partials;  ///< sum, solve: where the indices of the children's sums begin in `partials`
  std::int32_t partial_count;
  std::int32_t target_count;  ///< number of PEs that it sends to
  std::int64_t targets;       ///< where they begin in `targets`
  std::int64_t slot;          ///< sum: index of the sums in the inbox of the target
};

template <class Scalar>
struct solve_params {
  inboxes<Scalar> in;
  const task* tasks;  ///< in the order of tickets: a task waits for earlier ones, or for those of other PEs
                      ///< that come earlier in the order that all PEs share
  std::int64_t task_count;
  const std::int64_t* row_begin;  ///< by row of a task: its first entry; the next one: the end
  const std::int64_t* columns;    ///< by entry
  const Scalar* values;           ///< by entry
  const Scalar* diagonals;        ///< diagonal blocks, row by row, k x k each
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

/// A warp does a task, for one right-hand side after the other:
///
///   send_b    each lane sends a component of alpha b
///   sum       1. For each row: the lanes multiply its entries with x, as x arrives, and add the products.
///             2. Add the sums of the children in the tree of the row, as they arrive.
///             3. Send the sums to the parent.
///   solve     1. and 2. as above
///             3. Subtract the sums from b, and substitute in the diagonal block.
///             4. Send x to the children in the tree of the column, and publish and store it here.
///   hand_on   1. Wait for x.
///             2. Send it to the children in the tree of the column, and store it.
///
/// Then it resets what it has received in the solve before.
///
/// Progress: all PEs have their tasks in one common order. A task waits for tasks that come before it in this
/// order. So the first task that is not done can be done, on whichever PE, if one block is resident there.
template <class Scalar>
struct solve_agent {
  static constexpr int block_threads = 128;
  static constexpr int warps = block_threads / 32;
  static constexpr int max_width = 32;
  struct shared_storage {
    pe_start start;
  };
  using params = solve_params<Scalar>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    start_block(ctx, shared.start, p.in, p.x.columns);
    const auto warp = ctx.template group<32>();
    const std::int64_t index = shared.start.block * warps + warp.index();
    if (index >= p.task_count) {
      return;
    }
    const task work = ctx.load_constant(p.tasks + index);
    const int buffer = shared.start.buffer;
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      switch (work.kind) {
        case task_kind::send_b:
          send_b(ctx, warp, p, work, buffer, rhs);
          break;
        case task_kind::hand_on:
          hand_on(ctx, warp, p, work, buffer, rhs);
          break;
        default:
          solve(ctx, warp, p, work, buffer, rhs);
      }
    }
    reset(ctx, warp, p, work, shared.start);
  }

 private:
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

  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const params& p, const task& work,
                                  int buffer, std::int64_t rhs) {
    const int lane = warp.rank();
    const bool has_row = lane < work.columns;
    const std::int64_t index = work.first + lane;
    Scalar sum{};  // of the row of this lane
    for (int r = 0; r < work.columns; ++r) {
      const std::int64_t begin = ctx.load_constant(p.row_begin + work.rows + r);
      const std::int64_t end = ctx.load_constant(p.row_begin + work.rows + r + 1);
      Scalar mine{};
      for (std::int64_t e = begin + lane; e < end; e += 32) {
        mine = mine + ctx.load_constant(p.values + e) *
                          p.in.wait(ctx, buffer, rhs, ctx.load_constant(p.columns + e));
      }
      const Scalar total = simt::reduce(warp, mine, 32, simt::plus{});
      sum = lane == r ? total : sum;
    }
    for (int c = 0; c < work.partial_count && has_row; ++c) {
      sum = sum + p.in.wait(ctx, buffer, rhs, ctx.load_constant(p.partials + work.partials + c) + lane);
    }
    if (work.kind == task_kind::sum) {
      if (has_row) {
        p.in.send(ctx, ctx.load_constant(p.targets + work.targets), buffer, rhs, work.slot + lane, sum);
      }
      return;
    }
    Scalar x{};
    if (has_row) {
      const bool is_own = lane >= work.own_begin && lane < work.own_end;
      x = (is_own ? p.load_b(ctx, index, rhs) : p.in.wait(ctx, buffer, rhs, p.size + index)) - sum;
    }
    const Scalar* const row = p.diagonals + work.diagonal + (has_row ? lane : 0) * work.columns;
    const pivot_divisor<Scalar> pivot(ctx.load_constant(row + (has_row ? lane : 0)));
    for (int j = 0; j < work.columns; ++j) {
      if (lane == j) {
        x = pivot(x);
      }
      const Scalar solved = warp.shuffle(x, j);
      if (has_row && lane > j) {
        x = x - ctx.load_constant(row + j) * solved;
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
                                  const pe_start& start) {
    const int lane = warp.rank();
    if (lane >= work.columns || work.kind == task_kind::send_b) {
      return;
    }
    const auto reset_at = [&](std::int64_t index) {
      p.in.reset(ctx, start.buffer_to_reset, start.rhs_to_reset, index);
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
