// SPDX-License-Identifier: Apache-2.0
// The slices of the partitioned path: which entries of a row are shared and which are global, and the kernels
// that measure slices and place them in memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/detail/simt/scan.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// Returns how many lanes measure or pack one row together, a power of two. In a small system the longest row
/// decides, because one lane would still be at work when all others are done. In a large one all lanes are
/// busy anyway, and several of them take a row only if rows are long on average.
inline int lanes_of_row(std::int64_t rows, std::int64_t entries, std::int64_t longest_row) {
  constexpr std::int64_t resident_threads = std::int64_t{1} << 18;  // about those of a GPU
  std::int64_t lanes = 1;
  while (lanes < 32 &&
         2 * lanes <= (2 * lanes * rows <= resident_threads ? longest_row : entries / (2 * rows))) {
    lanes *= 2;
  }
  return static_cast<int>(lanes);
}

/// Reads the rows of the triangle in solve order.
template <class Index, class Offset>
struct row_reader {
  shape_values shape;
  std::int32_t x_ring_size;
  solve_order order;  ///< columns from its size on are solve indices of an earlier launch
  const Index* rows;  ///< by solve index: the row of the triangle
  triangle_view<Index, Offset> triangle;
  Index* solve_columns;  ///< by entry of the triangle: the solve index of its column

  /// A row's place in its slice, and its entries.
  struct tile_slot {
    std::int64_t triangle_row;
    std::int64_t slice;
    int row;                     ///< its number in the slice
    std::int64_t oldest_shared;  ///< the first solve index whose component may be read from shared memory
    Offset begin;
    Offset end;

    [[nodiscard]] SPTRSV_DEVICE std::int64_t length() const { return static_cast<std::int64_t>(end - begin); }
  };

  /// Returns a row without entries if `solve_index` is not below order.size.
  template <class Context>
  SPTRSV_DEVICE tile_slot find(Context& ctx, std::int64_t solve_index) const {
    if (solve_index >= order.size) {
      return {0, 0, 0, 0, 0, 0};
    }
    const std::int64_t tile = ctx.load_constant(order.tile_of + solve_index);
    const auto triangle_row = static_cast<std::int64_t>(ctx.load_constant(rows + solve_index));
    const std::int64_t first = ctx.load_constant(order.tile_begins + tile);
    const int in_tile = static_cast<int>(solve_index - first);
    const std::int64_t partition_begin =
        ctx.load_constant(order.partition_begins + order.partition_of(ctx, solve_index));
    // By then the rows of the tile itself may have overwritten the oldest slots of the x ring buffer.
    const std::int64_t in_x_ring = first + shape.tile_rows() - x_ring_size;
    return {triangle_row,
            tile * shape.tile_slices() + in_tile / shape.slice_rows(),
            in_tile % shape.slice_rows(),
            partition_begin > in_x_ring ? partition_begin : in_x_ring,
            ctx.load_constant(triangle.row_offsets + triangle_row),
            ctx.load_constant(triangle.row_offsets + triangle_row + 1)};
  }

  /// Calls visit(entry, column, is_shared, k) for each entry of the row, in one lane of the group: the k-th
  /// shared entry, or the k-th global entry, in the order of the entries.
  template <class Context, class Group, class Visit>
  SPTRSV_DEVICE void for_each_entry(Context& ctx, const Group& group, const tile_slot& at,
                                    Visit&& visit) const {
    int candidates = 0;
    for (std::int64_t i = group.rank(); i < at.length(); i += group.lanes) {
      candidates += may_be_shared(at, ctx.load_constant(solve_columns + at.begin + i)) ? 1 : 0;
    }
    const bool all_fit = group.sum(candidates) <= shape.shared_entries();
    const std::uint32_t lanes_before = (1u << group.rank()) - 1u;
    int shared_before = 0;
    int global_before = 0;
    for (std::int64_t i = group.rank(); group.any_of_warp(i - group.rank() < at.length()); i += group.lanes) {
      const bool is_entry = i < at.length();
      const Index column = is_entry ? ctx.load_constant(solve_columns + at.begin + i) : Index{0};
      const bool is_shared = is_entry && may_be_shared(at, column) &&
                             (all_fit || later(ctx, at, column) < shape.shared_entries());
      const std::uint32_t shared = group.ballot(is_shared);
      const std::uint32_t global = group.ballot(is_entry && !is_shared);
      if (is_entry) {
        visit(static_cast<Offset>(at.begin + i), column, is_shared,
              is_shared ? shared_before + simt::bit_count(shared & lanes_before)
                        : global_before + simt::bit_count(global & lanes_before));
      }
      shared_before += simt::bit_count(shared);
      global_before += simt::bit_count(global);
    }
  }

  /// Returns whether the component of this column is in shared memory when the row is solved.
  SPTRSV_DEVICE bool may_be_shared(const tile_slot& at, Index column) const {
    const auto solve_index = static_cast<std::int64_t>(column);
    return solve_index >= at.oldest_shared && solve_index < order.size;
  }

 private:
  /// Returns how many of the row's entries that may be shared have a later column.
  template <class Context>
  SPTRSV_DEVICE int later(Context& ctx, const tile_slot& at, Index column) const {
    int count = 0;
    for (Offset e = at.begin; e < at.end; ++e) {
      const Index other = ctx.load_constant(solve_columns + e);
      count += other > column && static_cast<std::int64_t>(other) < order.size ? 1 : 0;
    }
    return count;
  }
};

/// The sizes of the slices, by slice.
struct slice_counts {
  std::int32_t* rows;
  std::int32_t* shared_width;  ///< in entry columns
  std::int32_t* global_width;
  std::int32_t* global_rows;  ///< rows up to the last one with global entries

  template <class Context>
  SPTRSV_DEVICE slice_head head(Context& ctx, std::int64_t slice, const slice_format& format) const {
    const auto count = [&](const std::int32_t* of) {
      return static_cast<std::uint32_t>(ctx.load_constant(of + slice));
    };
    return {
        0, slice_head::pack_counts(count(rows), count(shared_width), count(global_width), count(global_rows)),
        format.sizes(ctx.load_constant(rows + slice)), 0};
  }
};

/// Translates the columns of each row to solve indices, and raises the sizes of its slice to those that the
/// row needs. Runs once per solve index, by a group of lanes.
template <class Index, class Offset>
struct measure_slices {
  row_reader<Index, Offset> reader;  ///< its solve_columns are output
  const Index* solve_index_of_row;   ///< by row of the triangle
  slice_counts counts;

  template <class Context, class Group>
  SPTRSV_DEVICE void operator()(Context& ctx, const Group& group, std::int64_t solve_index) const {
    const auto at = reader.find(ctx, solve_index);
    int candidates = 0;
    for (std::int64_t i = group.rank(); i < at.length(); i += group.lanes) {
      Index column = ctx.load_constant(reader.triangle.columns + at.begin + i);
      if (static_cast<std::int64_t>(column) < reader.order.size) {
        column = ctx.load_constant(solve_index_of_row + column);
      }
      ctx.store(reader.solve_columns + at.begin + i, column);
      candidates += reader.may_be_shared(at, column) ? 1 : 0;
    }
    candidates = group.sum(candidates);
    if (group.rank() != 0 || solve_index >= reader.order.size) {
      return;
    }
    const int most = reader.shape.shared_entries();
    const int shared = candidates < most ? candidates : most;
    const int global = static_cast<int>(at.length()) - shared;
    const int lanes = reader.shape.lanes;
    ctx.atomic_max(counts.rows + at.slice, at.row + 1);
    if (shared > 0) {
      ctx.atomic_max(counts.shared_width + at.slice, (shared + lanes - 1) / lanes);
    }
    if (global > 0) {
      ctx.atomic_max(counts.global_width + at.slice, (global + lanes - 1) / lanes);
      ctx.atomic_max(counts.global_rows + at.slice, at.row + 1);
    }
  }
};

/// The body of a scan over the slices: writes where each packed slice begins, in units of 16 bytes.
struct place_slices {
  std::int64_t slices;
  slice_format format;
  slice_counts counts;
  std::uint64_t* offsets;  ///< slices + 1
  std::uint64_t* total;    ///< gets the last offset, too

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t slice) const {
    const slice_head head = counts.head(ctx, slice, format);
    return {format.offsets(head).bytes(head.global_width()) / 16};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t slice, const simt::counted& own,
                           std::int64_t before) const {
    ctx.store(offsets + slice, static_cast<std::uint64_t>(before));
    if (slice == slices - 1) {
      ctx.store(offsets + slices, static_cast<std::uint64_t>(before + own.count));
      ctx.store(total, static_cast<std::uint64_t>(before + own.count));
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
