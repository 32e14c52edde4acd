// SPDX-License-Identifier: Apache-2.0
// The columns of a lower triangle that is given in supernodal panels: the check of the panels, and where each
// column has its rows and its values.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/panel_pattern.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

struct panel_bounds {
  std::int64_t first;
  std::int64_t end;  ///< of its columns
  std::int64_t rows_begin;
  std::int64_t rows_end;
  std::int64_t values_begin;
  std::int64_t values_end;

  template <class Context, class Index, class Offset>
  SPTRSV_DEVICE static panel_bounds open(Context& ctx, const panel_pattern<Index, Offset>& a,
                                         std::int64_t s) {
    const auto load = [&](const auto* from) { return load_index(ctx, from); };
    return {load(a.first_columns + s),   load(a.first_columns + s + 1), load(a.row_offsets + s),
            load(a.row_offsets + s + 1), load(a.value_offsets + s),     load(a.value_offsets + s + 1)};
  }
  SPTRSV_DEVICE std::int64_t columns() const { return end - first; }
  SPTRSV_DEVICE std::int64_t height() const { return rows_end - rows_begin; }
};

/// Finds the first supernode with a fault. Runs once per supernode, by a warp.
template <class Index, class Offset>
struct check_panels {
  static constexpr std::int64_t faults = 8;  ///< more than there are

  panel_pattern<Index, Offset> a;
  std::int64_t* first_fault;  ///< supernode * `faults` + fault; starts beyond all of them

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t s) const {
    const panel_bounds p = panel_bounds::open(ctx, a, s);
    if (p.first < 0 || p.end <= p.first || p.end > a.size || (s == 0 && p.first != 0) ||
        (s == a.supernodes - 1 && p.end != a.size)) {
      report(ctx, tile, s, panel_fault::columns);
    } else if (p.rows_begin < 0 || p.rows_end > a.panel_rows || p.height() < p.columns()) {
      report(ctx, tile, s, panel_fault::rows);
    } else if (p.values_begin < 0 || p.values_end > a.entries ||
               (p.values_end - p.values_begin) / p.columns() < p.height()) {
      report(ctx, tile, s, panel_fault::values);
    } else {
      check_rows(ctx, tile, s, p);
    }
  }

 private:
  template <class Context, class Tile>
  SPTRSV_DEVICE void check_rows(Context& ctx, const Tile& tile, std::int64_t s, const panel_bounds& p) const {
    bool outside = false;
    bool unordered = false;
    for (std::int64_t k = tile.rank(); k < p.height(); k += Tile::lanes) {
      const auto row = load_index(ctx, a.row_indices + p.rows_begin + k);
      outside = outside || row < 0 || row >= a.size;
      if (k < p.columns()) {
        unordered = unordered || row != p.first + k;
      } else {
        unordered = unordered || row <= load_index(ctx, a.row_indices + p.rows_begin + k - 1);
      }
    }
    if (tile.any(outside)) {
      report(ctx, tile, s, panel_fault::index);
    } else if (tile.any(unordered)) {
      report(ctx, tile, s, panel_fault::order);
    }
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE void report(Context& ctx, const Tile& tile, std::int64_t s, panel_fault fault) const {
    if (tile.rank() == 0) {
      ctx.atomic_min(first_fault, s * faults + static_cast<std::int64_t>(fault));
    }
  }
};

/// Counts the strictly lower entries of each column, and finds the first. Once per supernode, by a warp.
template <class Index, class Offset>
struct find_panel_columns {
  panel_pattern<Index, Offset> a;
  Offset* counts;       ///< by column
  Offset* first_row;    ///< by column: index of its first strictly lower row in a.row_indices
  Offset* first_value;  ///< by column: index of the value in that row

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t s) const {
    const panel_bounds p = panel_bounds::open(ctx, a, s);
    for (std::int64_t k = tile.rank(); k < p.columns(); k += Tile::lanes) {
      ctx.store(counts + p.first + k, static_cast<Offset>(p.height() - k - 1));
      ctx.store(first_row + p.first + k, static_cast<Offset>(p.rows_begin + k + 1));
      ctx.store(first_value + p.first + k, static_cast<Offset>(p.values_begin + k * p.height() + k + 1));
    }
  }
};

/// Throws for the first supernode with a fault. Synchronises.
template <class Index, class Offset, class Executor>
void expect_sound_panels(const panel_pattern<Index, Offset>& a, const Executor& on,
                         memory_resource& resource) {
  using check = check_panels<Index, Offset>;
  const auto first_fault = make_buffer<std::int64_t>(1, on, resource);
  on.fill_bytes(first_fault.data(), 0x7f, first_fault.bytes());
  simt::for_each_by_tile<32>(on, a.supernodes, check{a, first_fault.data()});
  const std::int64_t found = download_value(first_fault.data(), on);
  const std::int64_t supernode = found / check::faults;
  if (supernode < a.supernodes) {
    throw_panel_fault(static_cast<panel_fault>(found % check::faults), supernode,
                      download_value(a.first_columns + supernode, on));
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
