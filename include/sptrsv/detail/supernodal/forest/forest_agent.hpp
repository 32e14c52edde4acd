// How a thread block solves a forest, in both directions.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"
#include "sptrsv/detail/supernodal/solve/team.hpp"

namespace sptrsv::detail::supernodal {

/// Forward, for each right-hand side:
///
///   1. Copy panels and products to shared memory; load the right-hand side. Components that no product is
///      added to are divided by their pivots.
///   2. For each level: for each row that has products in it, add them to the component. The last one divides
///      the component by its pivot. A barrier.
///   3. Hand over the outside rows, as contributions of the roots.
///   4. Last level: store each component plus the product of its row of the diagonal block.
///
/// Backward:
///
///   1. Copy panels, columns and lists of rows to shared memory; load the right-hand side.
///   2. For each column: multiply the column of the diagonal block with the right-hand side.
///   3. Wait for the components of the outside rows.
///   4. For each level, from the roots: for each column, add its products with the rows below, divide by the
///      pivot, store. A barrier.
///
/// Groups of lanes share the entries of a product, as many as keep all threads busy. No other block needs the
/// components of a forest.
template <class Tuning, class Scalar, class Index, class Offset, bool Backward>
class forest_solver {
  static constexpr int threads = Tuning::block_threads;
  using params = solve_params<Scalar, Index, Offset>;
  using item = std::conditional_t<Backward, forest_column, forest_product>;

 public:
  /// Words for copy_bulk.
  static constexpr int arrivals = 3;

  /// The words at `arrival` are prepared.
  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, const params& p, const block_start& start, std::int64_t number,
                                std::uint64_t* arrival) {
    const memory at = prepare(ctx, p, ctx.load_constant(p.forests.forests + number), arrival);
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      if (rhs > 0) {
        ctx.barrier();
      }
      if constexpr (Backward) {
        solve_backward(ctx, p, start.half, rhs, at, rhs == 0 ? arrival : nullptr);
      } else {
        solve_forward(ctx, p, start.half, rhs, at, rhs == 0 ? arrival : nullptr);
      }
    }
    for (int q = ctx.thread_rank(); !Backward && q < at.f.outside_count; q += threads) {
      p.buffers.reset(ctx, start.half ^ 1u, outside_row(ctx, p, at, q), start.rhs_to_reset, 0, 1);
    }
  }

 private:
  /// The forest in shared memory.
  struct memory {
    forest f;
    const Scalar* panels;
    const item* items;
    const std::uint16_t* lists;
    Scalar* x;        ///< by local number
    Scalar* factors;  ///< by column: the reciprocal of the pivot, or must_divide()
    Scalar* b;        ///< by column, backward
    std::int32_t* level_begin;
  };

  /// Divides the memory, and begins to fill it.
  template <class Context>
  SPTRSV_DEVICE static memory prepare(Context& ctx, const params& p, const forest& f,
                                      std::uint64_t* arrival) {
    constexpr forest_space space{sizeof(Scalar), Backward};
    memory at{};
    at.f = f;
    auto* const panels = static_cast<unsigned char*>(ctx.dynamic_shared());
    unsigned char* const items = panels + space.panels(f.entries);
    unsigned char* const lists = items + space.items(f.columns, f.rows);
    unsigned char* const next = lists + space.lists(f.rows);
    at.panels = copied_panel<Scalar>(f.panels, panels);
    at.items = copied_panel<item>(f.items, items);
    at.lists = copied_panel<std::uint16_t>(f.rows_begin, lists);
    at.x = reinterpret_cast<Scalar*>(next);
    at.factors = at.x + f.columns + f.outside_count;
    at.b = at.factors + f.columns;
    at.level_begin = reinterpret_cast<std::int32_t*>(next + space.components(f.columns, f.outside_count));
    const auto warp = ctx.template group<32>();
    if (warp.index() == 0) {
      copy_panel(ctx, p.panels, f.panels, f.panels + f.entries, panels, &arrival[0], warp.rank());
      if constexpr (Backward) {
        copy_panel(ctx, p.forests.columns, f.items, f.items + f.columns, items, &arrival[1], warp.rank());
        copy_panel(ctx, p.forests.local_rows, f.rows_begin, f.rows_begin + f.rows, lists, &arrival[2],
                   warp.rank());
      } else {
        copy_panel(ctx, p.forests.products, f.items, f.items + f.columns + f.rows, items, &arrival[1],
                   warp.rank());
      }
    }
    for (int i = ctx.thread_rank(); i <= f.level_count; i += threads) {
      at.level_begin[i] = ctx.load_constant(p.forests.level_begin + f.levels + i);
    }
    for (int i = ctx.thread_rank(); i < f.columns; i += threads) {
      const auto pivot = p.pivot(ctx, f.first + i);
      at.factors[i] = pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>();
    }
    return at;
  }

  /// Waits for the copies. All threads of the block see them, and what the others have stored.
  template <class Context>
  SPTRSV_DEVICE static void wait_copies(Context& ctx, const std::uint64_t* arrival) {
    if (arrival != nullptr && ctx.thread_rank() < 32) {
      for (int i = 0; i < (Backward ? 3 : 2); ++i) {
        ctx.wait_bulk(&arrival[i], false);
      }
    }
    ctx.barrier();
  }

  template <class Context>
  SPTRSV_DEVICE static void solve_forward(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                                          const memory& at, const std::uint64_t* arrival) {
    const forest& f = at.f;
    for (int i = ctx.thread_rank(); i < f.columns + f.outside_count; i += threads) {
      at.x[i] = i < f.columns ? p.load_b(ctx, f.first + i, rhs) : Scalar{};
    }
    wait_copies(ctx, arrival);
    const int diagonal = at.level_begin[f.level_count - 1];
    for (int i = ctx.thread_rank(); i < f.columns; i += threads) {
      if ((at.items[diagonal + i].count & forest_product::is_last) != 0) {
        at.x[i] = divide_by_pivot(ctx, p, at, i, at.x[i]);
      }
    }
    ctx.barrier();
    for (int level = 0; level + 1 < f.level_count; ++level) {
      add_products(ctx, p, at, level, [&](const forest_product& product, Scalar sum) {
        const Scalar v = at.x[product.row] + sum;
        at.x[product.row] =
            (product.count & forest_product::is_last) != 0 ? divide_by_pivot(ctx, p, at, product.row, v) : v;
      });
      ctx.barrier();
    }
    for (int q = ctx.thread_rank(); q < f.outside_count; q += threads) {
      p.publish(ctx, half, rhs, outside_row(ctx, p, at, q), at.x[f.columns + q]);
    }
    add_products(ctx, p, at, f.level_count - 1, [&](const forest_product& product, Scalar sum) {
      const std::int64_t column = f.first + product.row;
      p.store_x(ctx, column, rhs, half, column, at.x[product.row] + sum);
    });
  }

  /// Calls finish(product, sum) in one lane for each row with products in a level. `product`: the last one of
  /// the row.
  template <class Context, class Finish>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, const memory& at, int level,
                                         const Finish& finish) {
    const auto warp = ctx.template group<32>();
    const int begin = at.level_begin[level];
    const int end = at.level_begin[level + 1];
    const int log = log_lanes_for(end - begin);
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
          sum = sum + multiply(ctx, p, at, product, lane, lanes);
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

  /// Returns the logarithm of the number of lanes for each of `count` products. Shifts by it replace
  /// divisions, which take longer than a product.
  SPTRSV_DEVICE static int log_lanes_for(int count) {
    return 16 * count <= threads  ? 4
           : 8 * count <= threads ? 3
           : 4 * count <= threads ? 2
           : 2 * count <= threads ? 1
                                  : 0;
  }

  /// Returns the share of a lane in the sum over i < count of entries[i * stride] times x[i], or x[lists[i]].
  template <class Component>
  SPTRSV_DEVICE static Scalar multiply(const Scalar* entries, int stride, int count, int lane, int lanes,
                                       const Component& component) {
    constexpr int at_once = 4;
    Scalar sum{};
    int i = lane;
    for (; i + (at_once - 1) * lanes < count; i += at_once * lanes) {
      Scalar factors[at_once];
      Scalar components[at_once];
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        factors[r] = entries[(i + r * lanes) * stride];
        components[r] = component(i + r * lanes);
      }
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        sum = sum + factors[r] * components[r];
      }
    }
    for (; i < count; i += lanes) {
      sum = sum + entries[i * stride] * component(i);
    }
    return sum;
  }
  /// Returns the share of a lane in a product.
  template <class Context>
  SPTRSV_DEVICE static Scalar multiply(Context& ctx, const params& p, const memory& at,
                                       const forest_product& product, int lane, int lanes) {
    const int count = product.count & forest_product::count_mask;
    const Scalar* const entries = at.panels + product.entry;
    const Scalar* const x = at.x + product.column;
    Scalar sum = multiply(entries, 1, count, lane, lanes, [&](int i) { return x[i]; });
    // Where a component is not finite, zeros by structure must be left out.
    if (!is_finite(sum) && (product.count & forest_product::is_guarded) != 0) {
      sum = Scalar{};
      for (int j = lane; j < count; j += lanes) {
        if (depends(ctx, p, at, product.row, product.column + j)) {
          sum = sum + entries[j] * x[j];
        }
      }
    }
    return sum;
  }

  template <class Context>
  SPTRSV_DEVICE static void solve_backward(Context& ctx, const params& p, std::uint32_t half,
                                           std::int64_t rhs, const memory& at, const std::uint64_t* arrival) {
    const forest& f = at.f;
    for (int i = ctx.thread_rank(); i < f.columns; i += threads) {
      at.b[i] = p.load_b(ctx, f.first + i, rhs);
    }
    wait_copies(ctx, arrival);
    for_columns(
        ctx, at, 0, f.columns,
        [&](const forest_column& c, int lane, int lanes) {
          return multiply_diagonal(ctx, p, at, c, lane, lanes);
        },
        [&](const forest_column& c, Scalar sum) { at.x[c.column] = at.b[c.column] + sum; });
    for (int q = ctx.thread_rank(); q < f.outside_count; q += threads) {
      at.x[f.columns + q] = p.wait(ctx, half, rhs, ctx.load_constant(p.of.rows + outside_row(ctx, p, at, q)));
    }
    ctx.barrier();
    for (int level = 0; level < f.level_count; ++level) {
      for_columns(
          ctx, at, at.level_begin[level], at.level_begin[level + 1],
          [&](const forest_column& c, int lane, int lanes) {
            return multiply_rows(ctx, p, at, c, lane, lanes);
          },
          [&](const forest_column& c, Scalar sum) {
            const Scalar solved = divide_by_pivot(ctx, p, at, c.column, at.x[c.column] + sum);
            at.x[c.column] = solved;
            p.store_x(ctx, f.first + c.column, rhs, half, p.size - 1 - f.first - c.column, solved);
          });
      ctx.barrier();
    }
  }

  /// Calls finish(column, sum) in one lane for each column [begin, end) in the order of levels. Its lanes get
  /// their shares of the sum from share(column, lane, lanes).
  template <class Context, class Share, class Finish>
  SPTRSV_DEVICE static void for_columns(Context& ctx, const memory& at, int begin, int end,
                                        const Share& share, const Finish& finish) {
    const auto warp = ctx.template group<32>();
    const int log = log_lanes_for(end - begin);
    const int lanes = 1 << log;
    const int lane = warp.rank() & (lanes - 1);
    for (int first = begin + (warp.index() * 32 >> log); first < end; first += threads >> log) {
      const int i = first + (warp.rank() >> log);
      const forest_column column = at.items[i < end ? i : begin];
      Scalar sum = i < end ? share(column, lane, lanes) : Scalar{};
      sum = simt::reduce(warp, sum, lanes, simt::plus{});
      if (i < end && lane == 0) {
        finish(column, sum);
      }
    }
  }

  /// Returns the share of a lane in the product of a column of the diagonal block and the right-hand side.
  template <class Context>
  SPTRSV_DEVICE static Scalar multiply_diagonal(Context& ctx, const params& p, const memory& at,
                                                const forest_column& c, int lane, int lanes) {
    const int j = c.column - c.first;
    const auto entry = [&](int i) { return c.panel + i * (i - 1) / 2 + j; };
    Scalar sum{};
    for (int i = j + 1 + lane; i < c.columns; i += lanes) {
      sum = sum + at.panels[entry(i)] * at.b[c.first + i];
    }
    if (!is_finite(sum)) {  // zeros by structure must be left out
      sum = Scalar{};
      for (int i = j + 1 + lane; i < c.columns; i += lanes) {
        if (depends(ctx, p, at, c.first + i, c.column)) {
          sum = sum + at.panels[entry(i)] * at.b[c.first + i];
        }
      }
    }
    return sum;
  }
  /// Returns the share of a lane in the product of a column and the components below.
  template <class Context>
  SPTRSV_DEVICE static Scalar multiply_rows(Context& ctx, const params& p, const memory& at,
                                            const forest_column& c, int lane, int lanes) {
    const Scalar* const entries = at.panels + c.panel + c.columns * (c.columns - 1) / 2 + c.column - c.first;
    const std::uint16_t* const rows = at.lists + c.list;
    Scalar sum = multiply(entries, c.columns, c.rows, lane, lanes, [&](int i) { return at.x[rows[i]]; });
    if (!is_finite(sum) && c.guarded > 0) {  // zeros by structure must be left out
      sum = Scalar{};
      for (int i = lane; i < c.rows; i += lanes) {
        if (i >= c.guarded || depends(ctx, p, at, rows[i], c.column)) {
          sum = sum + entries[i * c.columns] * at.x[rows[i]];
        }
      }
    }
    return sum;
  }

  /// Returns the number of an outside row in the lists of rows.
  template <class Context>
  SPTRSV_DEVICE static std::int64_t outside_row(Context& ctx, const params& p, const memory& at, int q) {
    return ctx.load_constant(p.forests.outside_rows + at.f.outside + q);
  }

  template <class Context>
  SPTRSV_DEVICE static Scalar divide_by_pivot(Context& ctx, const params& p, const memory& at, int column,
                                              Scalar v) {
    const Scalar quotient = v * at.factors[column];
    return is_finite(quotient) ? quotient : p.pivot(ctx, at.f.first + column)(v);
  }

  /// Returns whether a local row depends by structure on a local column of the same merged range.
  template <class Context>
  SPTRSV_DEVICE static bool depends(Context& ctx, const params& p, const memory& at, int row, int column) {
    const std::int64_t global_row =
        row < at.f.columns ? at.f.first + row
                           : static_cast<std::int64_t>(
                                 ctx.load_constant(p.of.rows + outside_row(ctx, p, at, row - at.f.columns)));
    return at.f.first + column >=
           static_cast<std::int64_t>(ctx.load_constant(p.of.first_descendant + global_row));
  }
};

}  // namespace sptrsv::detail::supernodal
