// The slices of the partitioned path: which entries of a row are shared and which are global, and the kernels
// that measure slices and write the heads of packed slices.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::detail::dataflow::partitioned {

namespace kernels {

/// Reads the rows of the triangle in solve order. Arrays are by solve index unless they say otherwise.
template <class Index, class Offset>
struct row_reader {
  shape_values shape;
  std::int32_t x_ring_size;
  std::int64_t solve_size;  ///< columns from here on are solve indices of an earlier launch
  const Offset* row_offsets;
  const Index* columns;
  const std::uint32_t* partition_of;
  const std::int32_t* partition_begins;
  const std::int32_t* tiles_before;
  const std::int32_t* tile_begins;

  /// A row's place in its slice, and its entries.
  struct tile_slot {
    std::int64_t slice;
    int row;                     ///< its number in the slice
    std::int64_t oldest_shared;  ///< the first solve index whose component may be read from shared memory
    Offset begin;
    Offset end;
  };

  template <class Context>
  SPTRSV_DEVICE tile_slot find(Context& ctx, std::int64_t solve_index) const {
    const std::int64_t tile = ctx.load_constant(tiles_before + solve_index + 1) - 1;
    const std::int64_t first = ctx.load_constant(tile_begins + tile);
    const int in_tile = static_cast<int>(solve_index - first);
    const std::int64_t partition_begin =
        ctx.load_constant(partition_begins + ctx.load_constant(partition_of + solve_index));
    // By then the rows of the tile itself may have overwritten the oldest slots of the x ring buffer.
    const std::int64_t in_x_ring = first + shape.tile_rows() - x_ring_size;
    return {tile * shape.tile_slices() + in_tile / shape.slice_rows(), in_tile % shape.slice_rows(),
            partition_begin > in_x_ring ? partition_begin : in_x_ring,
            ctx.load_constant(row_offsets + solve_index), ctx.load_constant(row_offsets + solve_index + 1)};
  }

  /// Calls visit(entry, column, is_shared) for each entry of the row.
  template <class Context, class Visit>
  SPTRSV_DEVICE void for_each_entry(Context& ctx, const tile_slot& at, Visit&& visit) const {
    int candidates = 0;
    for (Offset e = at.begin; e < at.end; ++e) {
      candidates += may_be_shared(at, ctx.load_constant(columns + e)) ? 1 : 0;
    }
    const bool all_fit = candidates <= shape.shared_entries();
    for (Offset e = at.begin; e < at.end; ++e) {
      const Index column = ctx.load_constant(columns + e);
      const bool shared =
          may_be_shared(at, column) && (all_fit || later(ctx, at, column) < shape.shared_entries());
      visit(e, column, shared);
    }
  }

 private:
  SPTRSV_DEVICE bool may_be_shared(const tile_slot& at, Index column) const {
    const auto solve_index = static_cast<std::int64_t>(column);
    return solve_index >= at.oldest_shared && solve_index < solve_size;
  }
  /// Returns how many of the row's entries that may be shared have a later column.
  template <class Context>
  SPTRSV_DEVICE int later(Context& ctx, const tile_slot& at, Index column) const {
    int count = 0;
    for (Offset e = at.begin; e < at.end; ++e) {
      const Index other = ctx.load_constant(columns + e);
      count += other > column && static_cast<std::int64_t>(other) < solve_size ? 1 : 0;
    }
    return count;
  }
};

/// Raises, for each row, the widths of its slice to those that the row needs.
template <class Index, class Offset>
struct measure_slices {
  row_reader<Index, Offset> reader;
  std::int32_t* rows;
  std::int32_t* shared_width;
  std::int32_t* global_width;
  std::int32_t* global_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const auto at = reader.find(ctx, solve_index);
    int shared = 0;
    int global = 0;
    reader.for_each_entry(ctx, at, [&](Offset, Index, bool is_shared) {
      shared += is_shared ? 1 : 0;
      global += is_shared ? 0 : 1;
    });
    const int lanes = reader.shape.lanes;
    ctx.atomic_max(rows + at.slice, at.row + 1);
    if (shared > 0) {
      ctx.atomic_max(shared_width + at.slice, (shared + lanes - 1) / lanes);
    }
    if (global > 0) {
      ctx.atomic_max(global_width + at.slice, (global + lanes - 1) / lanes);
      ctx.atomic_max(global_rows + at.slice, at.row + 1);
    }
  }
};

/// Writes, for each slice, the head of its packed slice.
struct write_slice_heads {
  slice_format format;
  std::int32_t tile_stride;  ///< slices from a warp's slice to its next one: the warps of a block
  const std::int32_t* tile_begins;
  const std::uint32_t* partition_of;
  const std::int32_t* partition_tiles;
  const std::int32_t* rows;
  const std::int32_t* shared_width;
  const std::int32_t* global_width;
  const std::int32_t* global_rows;
  const std::uint64_t* offsets;  ///< of packed slices, in units of 16 bytes
  std::uint32_t* slice_begins;
  unsigned char* packed_slices;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t slice) const {
    const std::int64_t tile = slice / format.shape.tile_slices();
    const auto in_tile = static_cast<std::int32_t>(slice % format.shape.tile_slices());
    const std::int32_t first = ctx.load_constant(tile_begins + tile);
    const auto count = [&](const std::int32_t* of) {
      return static_cast<std::uint32_t>(ctx.load_constant(of + slice));
    };
    slice_head head{
        first + in_tile * format.shape.slice_rows(),
        slice_head::pack_counts(count(rows), count(shared_width), count(global_width), count(global_rows)),
        format.sizes(ctx.load_constant(rows + slice)), 0};
    const std::uint32_t partition = ctx.load_constant(partition_of + first);
    const std::int64_t next = slice + 2 * tile_stride;
    if (next <
        std::int64_t{ctx.load_constant(partition_tiles + partition + 1)} * format.shape.tile_slices()) {
      head.set_next(static_cast<std::uint32_t>(ctx.load_constant(offsets + next)), staged_bytes(ctx, next));
    }
    const std::uint64_t begin = ctx.load_constant(offsets + slice);
    ctx.store(slice_begins + slice, static_cast<std::uint32_t>(begin));
    ctx.store(reinterpret_cast<slice_head*>(packed_slices + 16 * begin), head);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE int staged_bytes(Context& ctx, std::int64_t slice) const {
    const std::int32_t count = ctx.load_constant(rows + slice);
    return format.staged_bytes(
        format.offsets(count, format.sizes(count), ctx.load_constant(shared_width + slice),
                       ctx.load_constant(global_rows + slice)),
        ctx.load_constant(global_width + slice));
  }
};

/// Writes, for each slice, the size of its packed slice in units of 16 bytes.
struct measure_packed_slices {
  slice_format format;
  const std::int32_t* rows;
  const std::int32_t* shared_width;
  const std::int32_t* global_width;
  const std::int32_t* global_rows;
  std::uint64_t* lengths;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t slice) const {
    const std::int32_t count = ctx.load_constant(rows + slice);
    const int bytes = format
                          .offsets(count, format.sizes(count), ctx.load_constant(shared_width + slice),
                                   ctx.load_constant(global_rows + slice))
                          .bytes(ctx.load_constant(global_width + slice));
    ctx.store(lengths + slice, static_cast<std::uint64_t>(bytes / 16));
  }
};

/// Writes, for each partition and each warp of a block, where the warp begins.
struct write_warp_starts {
  slice_format format;
  std::int32_t tile_stride;  ///< the warps of a block
  const std::int32_t* partition_tiles;
  const std::uint32_t* slice_begins;
  const unsigned char* packed_slices;
  warp_start* starts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t partition = i / tile_stride;
    const std::int32_t tile = ctx.load_constant(partition_tiles + partition);
    const std::int32_t end = ctx.load_constant(partition_tiles + partition + 1);
    const std::int64_t first = std::int64_t{tile} * format.shape.tile_slices() + i % tile_stride;
    const std::int64_t behind = std::int64_t{end} * format.shape.tile_slices();
    warp_start start{end - tile, 0, 0, 0};
    if (first < behind) {
      const std::uint32_t slice = ctx.load_constant(slice_begins + first);
      start.set_first(slice, staged_bytes(ctx, slice));
    }
    if (first + tile_stride < behind) {
      const std::uint32_t slice = ctx.load_constant(slice_begins + first + tile_stride);
      start.set_second(slice, staged_bytes(ctx, slice));
    }
    ctx.store(starts + i, start);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE int staged_bytes(Context& ctx, std::uint32_t begin) const {
    const auto slice =
        ctx.load_constant(reinterpret_cast<const slice_head*>(packed_slices + std::int64_t{begin} * 16));
    return format.staged_bytes(format.offsets(slice), slice.global_width());
  }
};

}  // namespace kernels

}  // namespace sptrsv::detail::dataflow::partitioned
