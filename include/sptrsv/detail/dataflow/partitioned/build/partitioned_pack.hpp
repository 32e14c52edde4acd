// SPDX-License-Identifier: Apache-2.0
// The kernels that fill packed slices with everything but the values of the stored matrix.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_values.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/slices.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

namespace kernels {

/// Writes, for each solve index, the row code and the columns of the entries to where the lanes of the row
/// read them, and records where the values of the stored matrix go. The entries of a row are dealt to the
/// lanes that solve it one by one. Runs once per solve index, by a group of lanes.
template <class Scalar, class Index, class Offset>
struct pack_rows {
  row_reader<Index, Offset> reader;
  slice_format format;
  std::int64_t size;  ///< rows of the system
  bool reversed;
  const Index*
      substitution_indices;  ///< by row of the triangle, -1 for partial rows; null if they are the rows
  const Offset* sources;     ///< by entry: the stored entry; negative for the link to a partial row
  const Offset*
      diagonal_sources;  ///< by row of the triangle, -1 for partial rows; null if the diagonal is unit
  const std::uint32_t* slice_begins;
  unsigned char* packed_slices;
  // The arrays of value_sources.
  std::uint32_t* targets;
  std::int64_t stored_entries;
  std::uint32_t* diagonals;  ///< null if rows are not runs of the stored matrix
  std::uint8_t* row_entries;
  std::uint16_t* row_links;  ///< null if no row is split
  std::uint32_t* shared_entries;

  template <class Context, class Group>
  SPTRSV_DEVICE void operator()(Context& ctx, const Group& group, std::int64_t solve_index) const {
    const auto at = reader.find(ctx, solve_index);
    const bool is_first = group.rank() == 0 && solve_index < reader.solve_size;
    const std::int64_t begin = std::int64_t{ctx.load_constant(slice_begins + at.slice)} * 16;
    const slice_head slice = ctx.load(reinterpret_cast<const slice_head*>(packed_slices + begin));
    const slice_offsets offsets = format.offsets(slice);
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
        ctx.store(reinterpret_cast<std::uint16_t*>(packed_slices + begin + entry_column) + entry.lane,
                  static_cast<std::uint16_t>(slot));
      } else {
        const int entry_column = offsets.global_columns + entry.column * offsets.global_column_bytes;
        ctx.store(reinterpret_cast<std::int32_t*>(packed_slices + begin + entry_column) + entry.lane,
                  static_cast<std::int32_t>(column));
      }
      const std::int64_t value = entry.template value<Scalar>(begin, offsets, is_shared);
      const Offset source = ctx.load_constant(sources + e);
      if (source < 0) {
        ctx.store(reinterpret_cast<Scalar*>(packed_slices) + value, Scalar{} - pivot_divisor<Scalar>::one());
        links += is_shared ? 1u : 1u << 8;
        return;
      }
      ++stored;
      if (diagonals == nullptr) {
        ctx.store(targets + source, static_cast<std::uint32_t>(value));
      } else if (is_shared) {
        const auto bit = static_cast<std::uint64_t>(reversed ? stored_entries - 1 - source : source);
        static_cast<void>(ctx.atomic_add(shared_entries + bit / 32, std::uint32_t{1} << bit % 32));
      }
    });
    stored = group.sum(stored);
    links = group.sum(links);
    if (!is_first) {
      return;
    }
    if (diagonals != nullptr) {
      const stored_run_reader<Offset> run_of{reader.row_offsets, sources, diagonal_sources, reversed};
      ctx.store(diagonals + solve_index, static_cast<std::uint32_t>(run_of(ctx, at.triangle_row).diagonal));
      ctx.store(row_entries + solve_index, static_cast<std::uint8_t>(stored));
    }
    if (row_links != nullptr) {
      ctx.store(row_links + solve_index, static_cast<std::uint16_t>(links));
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
    ctx.store(reinterpret_cast<Scalar*>(packed_slices + begin + slice_offsets::factors) + at.row,
              pivot_divisor<Scalar>::one());
    ctx.store(reinterpret_cast<std::int32_t*>(packed_slices + begin + offsets.row_codes) + at.row, row_of_x);
    const Offset source =
        diagonal_sources == nullptr ? Offset{-1} : ctx.load_constant(diagonal_sources + at.triangle_row);
    if (diagonals == nullptr && source >= 0) {
      ctx.store(targets + source, pivot_target | static_cast<std::uint32_t>(at.slice * 32 + at.row));
    }
  }
};

}  // namespace kernels

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
