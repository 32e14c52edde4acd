// SPDX-License-Identifier: Apache-2.0
// A forest in shared memory: what both directions of a solve share.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// A forest in the shared memory of its block. Groups of lanes share the entries of a product, as many as
/// keep all threads busy. No other block needs the components of a forest.
template <class Context, class Tuning, class Scalar, class Params, bool Backward>
struct forest_memory {
  static constexpr int threads = Tuning::block_threads;
  using item = std::conditional_t<Backward, forest_column, forest_product>;

  Context& ctx;
  const Params& p;
  forest f;
  const Scalar* panels;
  const item* items;
  const forest_node* nodes;
  const std::uint16_t* lists;
  Scalar* x;        ///< by local number
  Scalar* factors;  ///< by column: the reciprocal of the pivot, or must_divide()
  Scalar* b;        ///< by column, backward
  std::int32_t* level_begin;

  /// Divides the memory, and begins to fill it.
  SPTRSV_DEVICE static forest_memory prepare(Context& ctx, const Params& p, const forest& of,
                                             std::uint64_t* arrival) {
    constexpr forest_space space{sizeof(Scalar), Backward};
    forest_memory at{ctx, p, of, {}, {}, {}, {}, {}, {}, {}, {}};
    auto* const panel_memory = static_cast<unsigned char*>(ctx.dynamic_shared());
    unsigned char* const item_memory = panel_memory + space.panels(of.entries);
    unsigned char* const node_memory = item_memory + space.items(of.columns, of.rows);
    unsigned char* const list_memory = node_memory + space.nodes(of.node_count);
    unsigned char* const next = list_memory + space.lists(of.rows);
    at.panels = copied_panel<Scalar>(of.panels, panel_memory);
    at.items = copied_panel<item>(of.items, item_memory);
    at.nodes = copied_panel<forest_node>(of.nodes, node_memory);
    at.lists = copied_panel<std::uint16_t>(of.local_rows, list_memory);
    at.x = reinterpret_cast<Scalar*>(next);
    at.factors = at.x + of.columns + of.outside_count;
    at.b = at.factors + of.columns;
    at.level_begin = reinterpret_cast<std::int32_t*>(next + space.components(of.columns, of.outside_count));
    const auto warp = ctx.template group<32>();
    const auto copy = [&](int number, const auto* from, std::int64_t begin, std::int64_t end, auto* to) {
      copy_panel(ctx, from, begin, end, to, &arrival[number], warp.rank());
    };
    if (warp.index() == 0) {
      copy(0, p.panels, of.panels, of.panels + of.entries, panel_memory);
      if constexpr (Backward) {
        copy(1, p.forests.columns, of.items, of.items + of.columns, item_memory);
        copy(2, p.forests.local_rows, of.local_rows, of.local_rows + of.rows, list_memory);
        copy(3, p.forests.nodes, of.nodes, of.nodes + of.node_count, node_memory);
      } else {
        copy(1, p.forests.products, of.items, of.items + of.columns + of.rows, item_memory);
      }
    }
    for (int i = ctx.thread_rank(); i <= of.level_count; i += threads) {
      at.level_begin[i] = ctx.load_constant(p.forests.level_begin + of.levels + i);
    }
    for (int i = ctx.thread_rank(); i < of.columns; i += threads) {
      const auto pivot = p.pivot(ctx, of.first + i);
      at.factors[i] = pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>();
    }
    return at;
  }

  /// Waits for the copies. All threads of the block see them, and what the others have stored.
  SPTRSV_DEVICE void wait_copies(const std::uint64_t* arrival) const {
    if (arrival != nullptr && ctx.thread_rank() < 32) {
      for (int i = 0; i < forest_space::arrivals(Backward); ++i) {
        ctx.wait_bulk(&arrival[i], false);
      }
    }
    ctx.barrier();
  }

  /// Returns the number of an outside row in the lists of rows.
  SPTRSV_DEVICE std::int64_t outside_row(int q) const {
    return ctx.load_constant(p.forests.outside_rows + f.outside + q);
  }

  SPTRSV_DEVICE Scalar divide_by_pivot(int column, Scalar v) const {
    const Scalar quotient = v * factors[column];
    return is_finite(quotient) ? quotient : p.pivot(ctx, f.first + column)(v);
  }

  /// Returns whether a local row depends by structure on a local column of the same merged range.
  SPTRSV_DEVICE bool depends(int row, int column) const {
    const std::int64_t global_row =
        row < f.columns ? f.first + row : load_index(ctx, p.of.rows + outside_row(row - f.columns));
    return f.first + column >= load_index(ctx, p.of.first_descendant + global_row);
  }

  /// Returns log2 of the lanes for each of `count` products: shifts take less time than divisions.
  SPTRSV_DEVICE static int log_lanes_for(int count) {
    return 16 * count <= threads  ? 4
           : 8 * count <= threads ? 3
           : 4 * count <= threads ? 2
           : 2 * count <= threads ? 1
                                  : 0;
  }

  /// Returns the share of a lane in the sum over i < count of entries[i * stride] times component(i).
  template <class Component>
  SPTRSV_DEVICE static Scalar multiply(const Scalar* entries, int stride, int count, int lane, int lanes,
                                       const Component& component) {
    constexpr int at_once = 4;
    Scalar sum{};
    int i = lane;
    for (; i + (at_once - 1) * lanes < count; i += at_once * lanes) {
      Scalar loaded[at_once];
      Scalar components[at_once];
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        loaded[r] = entries[(i + r * lanes) * stride];
        components[r] = component(i + r * lanes);
      }
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        sum = sum + loaded[r] * components[r];
      }
    }
    for (; i < count; i += lanes) {
      sum = sum + entries[i * stride] * component(i);
    }
    return sum;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
