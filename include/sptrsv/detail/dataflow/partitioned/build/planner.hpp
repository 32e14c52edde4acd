// The packed form of the relay path, made on the device.
//
// Rows are dealt to parts in the order of substitution, or by boxes of a grid, so that a part needs parts
// before it only; in a part they stand level by level. A level of a part is cut into steps of equal shape, a
// step into slices, one for each warp of a team. Of a row's entries those of its own part that lie in the
// window are late: read from shared memory when the team's turn has come; at most so many as the shape has
// room for, the latest ones. The others are early: read from memory, polled until they come, before the turn.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/device_levels.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/pack.hpp"
#include "sptrsv/detail/dataflow/partitioned/plan.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Makes a plan of a triangle with fewer than 2^31 rows and entries; synchronises.
template <class Scalar, class Index, class Offset, class Executor>
class planner {
 public:
  /// `teams`: of a block. `boxes`: how rows are dealt to parts, if not in the order of substitution.
  planner(const shape_values& shape, int warp_groups, std::int64_t partitions, const block_partition& boxes,
          std::int64_t x_ring_size, const Executor& on, const analysis_memory& memory)
      : shape_(shape), warp_groups_(warp_groups), on_(on), memory_(memory) {
    plan_.shape = shape;
    plan_.boxes = boxes;
    plan_.partitions = static_cast<std::int32_t>(partitions);
    plan_.x_ring_size = static_cast<std::int32_t>(x_ring_size);
  }

  /// `size`, `stored_entries`: of the stored matrix. Nothing where the records would take more than
  /// `max_bytes`. Columns past the last row of the triangle are places that are solved before.
  std::optional<plan> build(const split_triangle<Index, Offset>& split, const device_levels<Index>& levels,
                            std::int64_t size, std::int64_t stored_entries, bool reversed,
                            std::int64_t max_bytes = max_packed_bytes<Scalar>) {
    using namespace kernels;
    const device_triangle<Index, Offset>& triangle = split.triangle;
    plan_.solve_size = triangle.size;
    device_levels<Index> order;
    order.rows = order_partitions(triangle, levels);
    device_triangle<Index, Offset> ordered = in_level_order(triangle, order, on_, memory_.all_scratch());
    const row_reader<Index, Offset> reader{shape_,
                                           plan_.x_ring_size,
                                           triangle.size,
                                           ordered.row_offsets.data(),
                                           ordered.columns.data(),
                                           partition_of_.data(),
                                           plan_.partition_begins.data(),
                                           tiles_before_.data(),
                                           tile_begins_.data()};
    if (!lay_out(reader, max_bytes)) {
      return {};
    }
    value_sources& from = plan_.sources;
    // See split_long_rows for the longest row that it leaves.
    const std::int64_t longest_row = split.has_partial_rows ? 2 * triangle.longest_row : triangle.longest_row;
    if (triangle.rows_are_stored_runs && longest_row <= value_sources::max_row_entries &&
        stored_entries < (std::int64_t{1} << 32)) {
      from.diagonals = make_buffer<std::uint32_t>(plan_.solve_size, on_, memory_.kept);
      from.row_entries = make_buffer<std::uint8_t>(plan_.solve_size, on_, memory_.kept);
      from.row_links =
          make_buffer<std::uint16_t>(split.has_partial_rows ? plan_.solve_size : 0, on_, memory_.kept);
      from.shared_entries = make_buffer<std::uint32_t>(simt::ceil_div(stored_entries, 32), on_, memory_.kept);
      on_.fill_bytes(from.shared_entries.data(), 0, from.shared_entries.bytes());
    } else {
      from.targets = make_buffer<std::uint32_t>(stored_entries, on_, memory_.kept);
      on_.fill_bytes(from.targets.data(), 0xff, from.targets.bytes());
    }
    simt::for_each(on_, plan_.solve_size,
                   pack_rows<Scalar, Index, Offset>{
                       reader, format_, size, reversed, split.substitution_indices.data(), order.rows.data(),
                       ordered.sources.data(), ordered.diagonal_sources.data(), plan_.slice_begins.data(),
                       plan_.packed_slices.data(), from.targets.data(), stored_entries, from.diagonals.data(),
                       from.row_entries.data(), from.row_links.data(), from.shared_entries.data()});
    return std::move(plan_);
  }

 private:
  /// Turns counts, with a 0 past the end, into sums of those before; returns their total.
  template <class Count>
  std::int64_t sum(buffer<Count>& counts) const {
    on_.exclusive_scan(counts.data(), counts.data(), static_cast<std::int64_t>(counts.size()),
                       memory_.scratch);
    Count total = 0;
    on_.download(&total, counts.data() + counts.size() - 1, sizeof(total));
    return total;
  }

  /// Rows of the triangle by place, and where parts and steps begin.
  buffer<Index> order_partitions(const device_triangle<Index, Offset>& t,
                                 const device_levels<Index>& levels) {
    using namespace kernels;
    const std::int64_t n = t.size;
    const auto partitions = make_buffer<std::uint32_t>(n, on_, memory_.scratch);
    const auto row_codes = make_buffer<Index>(n, on_, memory_.scratch);
    const auto level_order_indices = make_buffer<Index>(n, on_, memory_.scratch);
    partition_of_ = make_buffer<std::uint32_t>(n, on_, memory_.scratch);
    simt::for_each(on_, n,
                   find_partitions<Index, Offset>{
                       {t.row_offsets.data(), n, t.entries() + n, plan_.partitions, plan_.boxes},
                       levels.rows.data(),
                       partitions.data(),
                       row_codes.data()});
    on_.sort_pairs(partitions.data(), partition_of_.data(), row_codes.data(), level_order_indices.data(), n,
                   bits_for(static_cast<std::uint64_t>(plan_.partitions) + 1), memory_.scratch);
    auto rows = make_buffer<Index>(n, on_, memory_.scratch);
    auto runs = make_buffer<std::int32_t>(n + 1, on_, memory_.scratch);
    simt::for_each(on_, n + 1,
                   find_partition_levels<Index>{n, levels.rows.data(), levels.level_offsets.data(),
                                                levels.count, level_order_indices.data(),
                                                partition_of_.data(), rows.data(), runs.data()});
    const auto partition_level_begins = make_buffer<std::int32_t>(sum(runs), on_, memory_.scratch);
    simt::for_each(on_, n, find_partition_level_begins{runs.data(), partition_level_begins.data()});
    tiles_before_ = make_buffer<std::int32_t>(n + 1, on_, memory_.scratch);
    simt::for_each(
        on_, n + 1,
        find_tiles{n, runs.data(), partition_level_begins.data(), shape_.tile_rows(), tiles_before_.data()});
    plan_.tiles = sum(tiles_before_);
    tile_begins_ = make_buffer<std::int32_t>(plan_.tiles + 1, on_, memory_.scratch);
    partition_tiles_ = make_buffer<std::int32_t>(plan_.partitions + 1, on_, memory_.scratch);
    plan_.partition_begins = make_buffer<std::int32_t>(plan_.partitions + 1, on_, memory_.kept);
    simt::for_each(on_, n,
                   find_begins{n, plan_.partitions, partition_of_.data(), tiles_before_.data(),
                               tile_begins_.data(), partition_tiles_.data(), plan_.partition_begins.data()});
    const auto has_global = make_buffer<std::int32_t>(n, on_, memory_.scratch);
    simt::for_each(on_, n,
                   find_global_rows<Index, Offset>{
                       {t.row_offsets.data(), n, t.entries() + n, plan_.partitions, plan_.boxes},
                       rows.data(),
                       t.columns.data(),
                       has_global.data()});
    auto ordered = make_buffer<Index>(n, on_, memory_.scratch);
    simt::for_each(on_, n,
                   order_slices<Index>{shape_, tiles_before_.data(), tile_begins_.data(), has_global.data(),
                                       rows.data(), ordered.data()});
    return ordered;
  }

  /// Slices, and records without rows and entries. Whether they fit.
  bool lay_out(const kernels::row_reader<Index, Offset>& reader, std::int64_t max_bytes) {
    using namespace kernels;
    const std::int64_t slices = plan_.tiles * shape_.tile_slices();
    const std::int32_t tile_stride = warp_groups_ * shape_.tile_slices();
    if (slices > max_slices) {
      return false;
    }
    const auto counts = make_buffer<std::int32_t>(4 * slices, on_, memory_.scratch);
    on_.fill_bytes(counts.data(), 0, counts.bytes());
    std::int32_t* const rows = counts.data();
    std::int32_t* const shared = rows + slices;
    std::int32_t* const global = shared + slices;
    std::int32_t* const global_rows = global + slices;
    simt::for_each(on_, plan_.solve_size,
                   measure_slices<Index, Offset>{reader, rows, shared, global, global_rows});
    auto packed_slices = make_buffer<std::uint64_t>(slices + 1, on_, memory_.scratch);
    on_.fill_bytes(packed_slices.data(), 0, packed_slices.bytes());
    simt::for_each(on_, slices,
                   measure_packed_slices{format_, rows, shared, global, global_rows, packed_slices.data()});
    const std::int64_t bytes = 16 * sum(packed_slices);
    if (bytes > max_bytes) {
      return false;
    }
    plan_.slice_begins = make_buffer<std::uint32_t>(slices, on_, memory_.kept);
    plan_.packed_slices = make_buffer<unsigned char>(bytes, on_, memory_.kept);
    on_.fill_bytes(plan_.packed_slices.data(), 0, plan_.packed_slices.bytes());
    simt::for_each(
        on_, slices,
        write_slice_heads{format_, tile_stride, tile_begins_.data(), partition_of_.data(),
                          partition_tiles_.data(), rows, shared, global, global_rows, packed_slices.data(),
                          plan_.slice_begins.data(), plan_.packed_slices.data()});
    plan_.starts = make_buffer<warp_start>(std::int64_t{plan_.partitions} * tile_stride, on_, memory_.kept);
    simt::for_each(on_, static_cast<std::int64_t>(plan_.starts.size()),
                   write_warp_starts{format_, tile_stride, partition_tiles_.data(), plan_.slice_begins.data(),
                                     plan_.packed_slices.data(), plan_.starts.data()});
    simt::for_each(
        on_, 32 * slices,
        clear_slices{format_, plan_.x_ring_size, plan_.slice_begins.data(), plan_.packed_slices.data()});
    return true;
  }

  shape_values shape_;
  int warp_groups_;
  const Executor& on_;
  analysis_memory memory_;
  slice_format format_ = slice_format::of<Scalar>(shape_);
  plan plan_;
  buffer<std::uint32_t> partition_of_;
  buffer<std::int32_t> tiles_before_;
  buffer<std::int32_t> tile_begins_;
  buffer<std::int32_t> partition_tiles_;  ///< parts + 1: the first step of each
};

}  // namespace sptrsv::detail::dataflow::partitioned
