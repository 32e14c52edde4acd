// SPDX-License-Identifier: Apache-2.0
// The kernels that fill packed slices with everything but the values of the stored matrix: start_slices_agent
// with what does not belong to single rows, pack_rows with the rest.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_values.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/slices.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// Starts the packed slices, one warp for each:
///
///   1. Clear the packed slice.
///   2. Lane 0 writes the head. All lanes mark their entries as absent: an absent shared entry reads the slot
///      that holds zero, and an absent global entry has the solve index -1.
///
/// Besides, threads write where the warps of each block begin, and clear the bits of shared entries.
struct start_slices_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    std::int64_t slices;
    slice_format format;
    std::int32_t x_ring_size;
    std::int32_t tile_stride;  ///< slices from a warp's slice to its next one: the warps of a block
    solve_order order;
    slice_counts counts;
    const std::uint64_t* offsets;  ///< of packed slices, in units of 16 bytes; slices + 1
    std::uint32_t* slice_begins;
    unsigned char* packed_slices;
    std::int64_t start_count;
    warp_start* starts;  ///< by partition, then by warp
    std::int64_t cleared_words;
    std::uint32_t* cleared;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t i = static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    if (i < p.start_count) {
      write_start(ctx, p, i);
    }
    if (i < p.cleared_words) {
      ctx.store(p.cleared + i, std::uint32_t{0});
    }
    const auto warp = ctx.template group<32>();
    const std::int64_t slice = i / 32;
    if (slice >= p.slices) {
      return;
    }
    const std::uint64_t offset = ctx.load_constant(p.offsets + slice);
    const std::uint64_t end = ctx.load_constant(p.offsets + slice + 1);
    for (std::uint64_t unit = offset + static_cast<std::uint64_t>(warp.rank()); unit < end; unit += 32) {
      ctx.store(reinterpret_cast<slice_head*>(p.packed_slices) + unit, slice_head{0, 0, 0, 0});
    }
    warp.sync();
    const slice_head counts = p.counts.head(ctx, slice, p.format);
    if (warp.rank() == 0) {
      ctx.store(p.slice_begins + slice, static_cast<std::uint32_t>(offset));
      ctx.store(reinterpret_cast<slice_head*>(p.packed_slices) + offset, complete(ctx, p, slice, counts));
    }
    mark_absent(ctx, p, p.packed_slices + 16 * offset, counts, warp.rank());
  }

 private:
  /// Returns the head with its first solve index and the slice that the warp solves two tiles later.
  template <class Context>
  SPTRSV_DEVICE static slice_head complete(Context& ctx, const params& p, std::int64_t slice,
                                           slice_head head) {
    const shape_values& shape = p.format.shape;
    const std::int32_t first = ctx.load_constant(p.order.tile_begins + slice / shape.tile_slices());
    head.first_solve_index =
        first + static_cast<std::int32_t>(slice % shape.tile_slices()) * shape.slice_rows();
    const std::int64_t partition = p.order.partition_of(ctx, first);
    const std::int64_t next = slice + 2 * p.tile_stride;
    if (next <
        std::int64_t{ctx.load_constant(p.order.partition_tiles + partition + 1)} * shape.tile_slices()) {
      head.set_next(begin_of(ctx, p, next), staged_bytes(ctx, p, next));
    }
    return head;
  }

  template <class Context>
  SPTRSV_DEVICE static void mark_absent(Context& ctx, const params& p, unsigned char* begin,
                                        const slice_head& counts, int lane) {
    const int lanes = p.format.shape.lanes;
    if (lane >= counts.rows() * lanes) {
      return;
    }
    const slice_offsets offsets = p.format.offsets(counts);
    for (int column = 0; column < counts.shared_width(); ++column) {
      ctx.store(reinterpret_cast<std::uint16_t*>(begin + offsets.shared_slots +
                                                 column * offsets.slot_column_bytes) +
                    lane,
                static_cast<std::uint16_t>(p.x_ring_size));
    }
    const bool has_global = lane < counts.global_rows() * lanes;
    for (int column = 0; has_global && column < counts.global_width(); ++column) {
      ctx.store(reinterpret_cast<std::int32_t*>(begin + offsets.global_columns +
                                                column * offsets.global_column_bytes) +
                    lane,
                std::int32_t{-1});
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void write_start(Context& ctx, const params& p, std::int64_t i) {
    const std::int64_t partition = i / p.tile_stride;
    const std::int32_t tile = ctx.load_constant(p.order.partition_tiles + partition);
    const std::int32_t end = ctx.load_constant(p.order.partition_tiles + partition + 1);
    const int tile_slices = p.format.shape.tile_slices();
    const std::int64_t first = std::int64_t{tile} * tile_slices + i % p.tile_stride;
    const std::int64_t behind = std::int64_t{end} * tile_slices;
    warp_start start{end - tile, 0, 0, 0};
    if (first < behind) {
      start.set_first(begin_of(ctx, p, first), staged_bytes(ctx, p, first));
    }
    if (first + p.tile_stride < behind) {
      start.set_second(begin_of(ctx, p, first + p.tile_stride), staged_bytes(ctx, p, first + p.tile_stride));
    }
    ctx.store(p.starts + i, start);
  }

  template <class Context>
  SPTRSV_DEVICE static std::uint32_t begin_of(Context& ctx, const params& p, std::int64_t slice) {
    return static_cast<std::uint32_t>(ctx.load_constant(p.offsets + slice));
  }
  template <class Context>
  SPTRSV_DEVICE static int staged_bytes(Context& ctx, const params& p, std::int64_t slice) {
    const slice_head head = p.counts.head(ctx, slice, p.format);
    return p.format.staged_bytes(p.format.offsets(head), head.global_width());
  }
};

/// Writes, for each solve index, the row code and the columns of the entries to where the lanes of the row
/// read them, and records where the values of the stored matrix go. The entries of a row are dealt to the
/// lanes that solve it one by one. Runs once per solve index, by a group of lanes.
template <class Scalar, class Index, class Offset>
struct pack_rows {
  row_reader<Index, Offset> reader;
  packed_slices_view slices;
  std::int64_t size;  ///< rows of the system
  bool reversed;
  /// By row of the triangle, -1: partial row, whose diagonal source is -1, too; null: they are the rows. The
  /// link to a partial row has a negative source.
  const Index* substitution_indices;
  std::uint32_t* targets;  ///< see value_sources
  std::int64_t stored_entries;
  run_arrays runs;

  template <class Context, class Group>
  SPTRSV_DEVICE void operator()(Context& ctx, const Group& group, std::int64_t solve_index) const {
    const auto at = reader.find(ctx, solve_index);
    const bool is_first = group.rank() == 0 && solve_index < reader.order.size;
    const std::int64_t begin = slices.offset(ctx, at.slice);
    const slice_head slice = ctx.load(reinterpret_cast<const slice_head*>(slices.bytes + begin));
    const slice_offsets offsets = slices.format.offsets(slice);
    if (is_first) {
      store_row(ctx, at, begin, offsets);
    }
    const int lanes = reader.shape.lanes;
    int stored = 0;
    std::uint32_t links = 0;
    reader.for_each_entry(ctx, group, at, [&](Offset e, Index column, bool is_shared, int k) {
      const entry_slot entry = entry_slot::of(at.row, lanes, k);
      if (is_shared) {
        const auto slot = static_cast<std::int64_t>(column) & (reader.x_ring_size - 1);
        const int entry_column = offsets.shared_slots + entry.column * offsets.slot_column_bytes;
        ctx.store(reinterpret_cast<std::uint16_t*>(slices.bytes + begin + entry_column) + entry.lane,
                  static_cast<std::uint16_t>(slot));
      } else {
        const int entry_column = offsets.global_columns + entry.column * offsets.global_column_bytes;
        ctx.store(reinterpret_cast<std::int32_t*>(slices.bytes + begin + entry_column) + entry.lane,
                  static_cast<std::int32_t>(column));
      }
      const std::int64_t value = entry.template value<Scalar>(begin, offsets, is_shared);
      const Offset source = ctx.load_constant(reader.triangle.sources + e);
      if (source < 0) {
        ctx.store(reinterpret_cast<Scalar*>(slices.bytes) + value, Scalar{} - pivot_divisor<Scalar>::one());
        links += is_shared ? 1u : 1u << 8;
        return;
      }
      ++stored;
      if (runs.diagonals == nullptr) {
        ctx.store(targets + source, static_cast<std::uint32_t>(value));
      } else if (is_shared) {
        const auto bit = static_cast<std::uint64_t>(reversed ? stored_entries - 1 - source : source);
        static_cast<void>(ctx.atomic_add(runs.shared_entries + bit / 32, std::uint32_t{1} << bit % 32));
      }
    });
    stored = group.sum(stored);
    links = group.sum(links);
    if (!is_first) {
      return;
    }
    if (runs.diagonals != nullptr) {
      const auto run = run_of_row(ctx, reader.triangle, at.triangle_row, reversed);
      ctx.store(runs.diagonals + solve_index, static_cast<std::uint32_t>(run.diagonal));
      ctx.store(runs.row_entries + solve_index, static_cast<std::uint8_t>(stored));
    }
    if (runs.row_links != nullptr) {
      ctx.store(runs.row_links + solve_index, static_cast<std::uint16_t>(links));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void store_row(Context& ctx, const typename row_reader<Index, Offset>::tile_slot& at,
                               std::int64_t begin, const slice_offsets& offsets) const {
    const Index substitution_index = substitution_indices == nullptr
                                         ? static_cast<Index>(at.triangle_row)
                                         : ctx.load_constant(substitution_indices + at.triangle_row);
    const auto row_of_x = static_cast<std::int32_t>(substitution_index < 0 || !reversed
                                                        ? static_cast<std::int64_t>(substitution_index)
                                                        : size - 1 - substitution_index);
    ctx.store(reinterpret_cast<Scalar*>(slices.bytes + begin + slice_offsets::factors) + at.row,
              pivot_divisor<Scalar>::one());
    ctx.store(reinterpret_cast<std::int32_t*>(slices.bytes + begin + offsets.row_codes) + at.row, row_of_x);
    const Offset* const pivots = reader.triangle.diagonal_sources;
    const Offset source = pivots == nullptr ? Offset{-1} : ctx.load_constant(pivots + at.triangle_row);
    if (runs.diagonals == nullptr && source >= 0) {
      ctx.store(targets + source, pivot_target | static_cast<std::uint32_t>(at.slice * 32 + at.row));
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
