// How a thread block solves a forest forward.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/detail/supernodal/forest/forest_memory.hpp"

namespace sptrsv::detail::supernodal {

/// For each right-hand side:
///
///   1. Copy panels and products to shared memory; load the right-hand side. Components that no product is
///      added to are divided by their pivots.
///   2. For each level: for each row that has products in it, add them to the component. The last one divides
///      the component by its pivot. A barrier.
///   3. Hand over the outside rows, as contributions of the roots.
///   4. Last level: store each component plus the product of its row of the diagonal block.
template <class Tuning, class Scalar, class Index, class Offset, class Params>
class forward_forest {
  static constexpr int threads = Tuning::block_threads;
  using params = Params;

 public:
  using memory = forest_memory<Tuning, Scalar, Index, Offset, false>;

  template <class Context>
  SPTRSV_DEVICE static void solve(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                                  const memory& at, const std::uint64_t* arrival) {
    const forest& f = at.f;
    for (int i = ctx.thread_rank(); i < f.columns + f.outside_count; i += threads) {
      at.x[i] = i < f.columns ? p.load_b(ctx, f.first + i, rhs) : Scalar{};
    }
    memory::wait_copies(ctx, arrival);
    const int diagonal = at.level_begin[f.level_count - 1];
    for (int i = ctx.thread_rank(); i < f.columns; i += threads) {
      if ((at.items[diagonal + i].count & forest_product::is_last) != 0) {
        at.x[i] = at.divide_by_pivot(ctx, p, i, at.x[i]);
      }
    }
    ctx.barrier();
    for (int level = 0; level + 1 < f.level_count; ++level) {
      add_products(ctx, p, at, level, [&](const forest_product& product, Scalar sum) {
        const Scalar v = at.x[product.row] + sum;
        at.x[product.row] =
            (product.count & forest_product::is_last) != 0 ? at.divide_by_pivot(ctx, p, product.row, v) : v;
      });
      ctx.barrier();
    }
    for (int q = ctx.thread_rank(); q < f.outside_count; q += threads) {
      p.publish(ctx, half, rhs, at.outside_row(ctx, p, q), at.x[f.columns + q]);
    }
    add_products(ctx, p, at, f.level_count - 1, [&](const forest_product& product, Scalar sum) {
      const std::int64_t column = f.first + product.row;
      p.store_x(ctx, column, rhs, half, column, at.x[product.row] + sum);
    });
  }

 private:
  /// Calls finish(product, sum) in one lane for each row with products in a level. `product`: the last one of
  /// the row.
  template <class Context, class Finish>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, const memory& at, int level,
                                         const Finish& finish) {
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

  /// Returns the share of a lane in a product.
  template <class Context>
  SPTRSV_DEVICE static Scalar multiply(Context& ctx, const params& p, const memory& at,
                                       const forest_product& product, int lane, int lanes) {
    const int count = product.count & forest_product::count_mask;
    const Scalar* const entries = at.panels + product.entry;
    const Scalar* const x = at.x + product.column;
    Scalar sum = memory::multiply(entries, 1, count, lane, lanes, [&](int i) { return x[i]; });
    // Where a component is not finite, zeros by structure must be left out.
    if (!is_finite(sum) && (product.count & forest_product::is_guarded) != 0) {
      sum = Scalar{};
      for (int j = lane; j < count; j += lanes) {
        if (at.depends(ctx, p, product.row, product.column + j)) {
          sum = sum + entries[j] * x[j];
        }
      }
    }
    return sum;
  }
};

}  // namespace sptrsv::detail::supernodal
