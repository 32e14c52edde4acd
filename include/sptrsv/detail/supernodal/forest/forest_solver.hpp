// SPDX-License-Identifier: Apache-2.0
// How a thread block solves a forest.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/supernodal/forest/forest_memory.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Forward. For each right-hand side:
///
///   1. Copy panels and products to shared memory; load the right-hand side. Components that no product is
///      added to are divided by their pivots.
///   2. For each level: for each row that has products in it, add them to the component. The last one divides
///      the component by its pivot. A barrier.
///   3. Hand over the outside rows, as contributions of the roots.
///   4. Last level: store each component plus the product of its row of the diagonal block.
template <class Context, class Tuning, class Scalar, class Params>
struct forward_forest {
  static constexpr int threads = Tuning::block_threads;
  using memory = forest_memory<Context, Tuning, Scalar, Params, false>;

  const memory& at;
  Context& ctx;
  const Params& p;

  SPTRSV_DEVICE void solve(std::uint32_t half, std::int64_t rhs, const std::uint64_t* arrival) const {
    const forest& f = at.f;
    for (int i = ctx.thread_rank(); i < f.columns + f.outside_count; i += threads) {
      at.x[i] = i < f.columns ? p.load_b(ctx, f.first + i, rhs) : Scalar{};
    }
    at.wait_copies(arrival);
    const int diagonal = at.level_begin[f.level_count - 1];
    for (int i = ctx.thread_rank(); i < f.columns; i += threads) {
      if ((at.items[diagonal + i].count & forest_product::is_last) != 0) {
        at.x[i] = at.divide_by_pivot(i, at.x[i]);
      }
    }
    ctx.barrier();
    for (int level = 0; level + 1 < f.level_count; ++level) {
      add_products(level, [&](const forest_product& product, Scalar sum) {
        const Scalar v = at.x[product.row] + sum;
        at.x[product.row] =
            (product.count & forest_product::is_last) != 0 ? at.divide_by_pivot(product.row, v) : v;
      });
      ctx.barrier();
    }
    for (int q = ctx.thread_rank(); q < f.outside_count; q += threads) {
      p.publish(ctx, half, rhs, at.outside_row(q), at.x[f.columns + q]);
    }
    add_products(f.level_count - 1, [&](const forest_product& product, Scalar sum) {
      const std::int64_t column = f.first + product.row;
      p.store_x(ctx, column, rhs, half, column, at.x[product.row] + sum);
    });
  }

 private:
  /// Calls finish(last product, sum) in one lane for each row with products in a level.
  template <class Finish>
  SPTRSV_DEVICE void add_products(int level, const Finish& finish) const {
    const auto warp = ctx.template group<32>();
    const int begin = at.level_begin[level];
    const int end = at.level_begin[level + 1];
    const int log = memory::log_lanes_for(end - begin);
    const int lanes = 1 << log;
    const int lane = warp.rank() & (lanes - 1);
    for (int first = begin + (warp.index() * 32 >> log); first < end; first += threads >> log) {
      int i = first + (warp.rank() >> log);
      forest_product product{};
      bool begins_row = false;
      Scalar sum{};
      if (i < end) {
        product = at.items[i];
        begins_row = i == begin || at.items[i - 1].row != product.row;
        while (begins_row) {
          const bool has_next = i + 1 < end;
          const forest_product next = at.items[has_next ? i + 1 : i];
          sum = sum + multiply(product, lane, lanes);
          if (!has_next || next.row != product.row) {
            break;
          }
          product = next;
          ++i;
        }
      }
      sum = simt::reduce(warp, sum, lanes, simt::plus{});
      if (begins_row && lane == 0) {
        finish(product, sum);
      }
    }
  }

  SPTRSV_DEVICE Scalar multiply(const forest_product& product, int lane, int lanes) const {
    const int count = product.count & forest_product::count_mask;
    const Scalar* const entries = at.panels + product.entry;
    const Scalar* const x = at.x + product.column;
    Scalar sum = memory::multiply(entries, 1, count, lane, lanes, [&](int i) { return x[i]; });
    // Where a component is not finite, zeros by structure must be left out.
    if (!is_finite(sum) && (product.count & forest_product::is_guarded) != 0) {
      sum = Scalar{};
      for (int j = lane; j < count; j += lanes) {
        if (at.depends(product.row, product.column + j)) {
          sum = sum + entries[j] * x[j];
        }
      }
    }
    return sum;
  }
};

/// Backward. For each right-hand side:
///
///   1. Copy panels, columns and lists of rows to shared memory; load the right-hand side.
///   2. For each column: multiply the column of the diagonal block with the right-hand side.
///   3. Wait for the components of the outside rows.
///   4. For each level, from the roots: for each column, add its products with the rows below, divide by the
///      pivot, store. A barrier.
template <class Context, class Tuning, class Scalar, class Params>
struct backward_forest {
  static constexpr int threads = Tuning::block_threads;
  using memory = forest_memory<Context, Tuning, Scalar, Params, true>;

  const memory& at;
  Context& ctx;
  const Params& p;

  SPTRSV_DEVICE void solve(std::uint32_t half, std::int64_t rhs, const std::uint64_t* arrival) const {
    const forest& f = at.f;
    for (int i = ctx.thread_rank(); i < f.columns; i += threads) {
      at.b[i] = p.load_b(ctx, f.first + i, rhs);
    }
    at.wait_copies(arrival);
    for_columns(
        0, f.columns, [&](const column& c, int lane, int lanes) { return multiply_diagonal(c, lane, lanes); },
        [&](const column& c, Scalar sum) { at.x[c.number] = at.b[c.number] + sum; });
    for (int q = ctx.thread_rank(); q < f.outside_count; q += threads) {
      at.x[f.columns + q] = p.wait(ctx, half, rhs, ctx.load_constant(p.of.rows + at.outside_row(q)));
    }
    ctx.barrier();
    for (int level = 0; level < f.level_count; ++level) {
      for_columns(
          at.level_begin[level], at.level_begin[level + 1],
          [&](const column& c, int lane, int lanes) { return multiply_rows(c, lane, lanes); },
          [&](const column& c, Scalar sum) {
            const Scalar solved = at.divide_by_pivot(c.number, at.x[c.number] + sum);
            at.x[c.number] = solved;
            p.store_x(ctx, f.first + c.number, rhs, half, p.size - 1 - f.first - c.number, solved);
          });
      ctx.barrier();
    }
  }

 private:
  struct column {
    int number;
    forest_node of;
  };

  /// Calls finish(column, sum) in one lane for each column; its lanes sum up share(column, lane, lanes).
  template <class Share, class Finish>
  SPTRSV_DEVICE void for_columns(int begin, int end, const Share& share, const Finish& finish) const {
    const auto warp = ctx.template group<32>();
    const int log = memory::log_lanes_for(end - begin);
    const int lanes = 1 << log;
    const int lane = warp.rank() & (lanes - 1);
    for (int first = begin + (warp.index() * 32 >> log); first < end; first += threads >> log) {
      const int i = first + (warp.rank() >> log);
      const forest_column item = at.items[i < end ? i : begin];
      const column found{item.column, at.nodes[item.node]};
      Scalar sum = i < end ? share(found, lane, lanes) : Scalar{};
      sum = simt::reduce(warp, sum, lanes, simt::plus{});
      if (i < end && lane == 0) {
        finish(found, sum);
      }
    }
  }

  /// Returns the share of a lane in the product of a column of the diagonal block and the right-hand side.
  SPTRSV_DEVICE Scalar multiply_diagonal(const column& c, int lane, int lanes) const {
    const int j = c.number - c.of.first;
    const auto entry = [&](int i) { return c.of.panel + i * (i - 1) / 2 + j; };
    Scalar sum{};
    for (int i = j + 1 + lane; i < c.of.columns; i += lanes) {
      sum = sum + at.panels[entry(i)] * at.b[c.of.first + i];
    }
    if (!is_finite(sum)) {  // zeros by structure must be left out
      sum = Scalar{};
      for (int i = j + 1 + lane; i < c.of.columns; i += lanes) {
        if (at.depends(c.of.first + i, c.number)) {
          sum = sum + at.panels[entry(i)] * at.b[c.of.first + i];
        }
      }
    }
    return sum;
  }

  /// Returns the share of a lane in the product of a column and the components below.
  SPTRSV_DEVICE Scalar multiply_rows(const column& c, int lane, int lanes) const {
    const Scalar* const entries =
        at.panels + c.of.panel + c.of.columns * (c.of.columns - 1) / 2 + c.number - c.of.first;
    const std::uint16_t* const rows = at.lists + c.of.list;
    Scalar sum =
        memory::multiply(entries, c.of.columns, c.of.rows, lane, lanes, [&](int i) { return at.x[rows[i]]; });
    if (!is_finite(sum) && c.of.guarded > 0) {  // zeros by structure must be left out
      sum = Scalar{};
      for (int i = lane; i < c.of.rows; i += lanes) {
        if (i >= c.of.guarded || at.depends(rows[i], c.number)) {
          sum = sum + entries[i * c.of.columns] * at.x[rows[i]];
        }
      }
    }
    return sum;
  }
};

/// Solves forest `number`, by forward_forest or backward_forest. The words at `arrival` are prepared.
template <class Direction, bool Backward, class Context, class Params>
SPTRSV_DEVICE void solve_forest(Context& ctx, const Params& p, const block_start& start, std::int64_t number,
                                std::uint64_t* arrival) {
  using memory = typename Direction::memory;
  const memory at = memory::prepare(ctx, p, ctx.load_constant(p.forests.forests + number), arrival);
  for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
    if (rhs > 0) {
      ctx.barrier();
    }
    Direction{at, ctx, p}.solve(start.half, rhs, rhs == 0 ? arrival : nullptr);
  }
  for (int q = ctx.thread_rank(); !Backward && q < at.f.outside_count; q += memory::threads) {
    p.buffers.reset(ctx, start.half ^ 1u, at.outside_row(q), start.rhs_to_reset, 0, 1);
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
