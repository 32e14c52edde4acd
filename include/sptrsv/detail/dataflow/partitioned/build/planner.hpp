// Builds the plan of a partitioned solve on the device.
//
// 1. Order (order.hpp): rows are divided into partitions in the order of substitution, or by boxes of a grid,
// so
//    that a partition needs earlier partitions only. In a partition rows stand level by level. A level is cut
//    into tiles, and a tile into slices, one for each warp of a warp group.
// 2. Slices (slices.hpp): each entry of a row is shared or global. An entry is shared if its column belongs
// to the
//    same partition and is still in the x ring buffer when the row is solved; if a row has more such entries
//    than the shape has room for, the latest ones are shared. All other entries are global.
// 3. Packing (pack.hpp): columns of entries, and for each stored value the place where update_values puts it
//    (values.hpp).
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_levels.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/pack.hpp"
#include "sptrsv/detail/dataflow/partitioned/plan.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Plans one triangle with fewer than 2^31 rows and entries.
template <class Scalar, class Index, class Offset, class Executor>
class planner {
 public:
  /// `warp_groups`: of a block. `boxes`: the partitions, if they are boxes of a grid.
  planner(const shape_values& shape, int warp_groups, std::int64_t partitions, const block_partition& boxes,
          std::int64_t x_ring_size, const Executor& on, const analysis_memory& memory)
      : shape_(shape), warp_groups_(warp_groups), on_(on), memory_(memory) {
    plan_.shape = shape;
    plan_.boxes = boxes;
    plan_.partitions = static_cast<std::int32_t>(partitions);
    plan_.x_ring_size = static_cast<std::int32_t>(x_ring_size);
  }

  /// Orders the rows and measures their packed slices; returns whether these take at most `max_bytes`.
  /// `split` may be freed afterwards. Columns past the last row of the triangle are solve indices of an
  /// earlier launch. Synchronises.
  bool lay_out(const split_triangle<Index, Offset>& split, const device_levels<Index>& levels,
               std::int64_t max_bytes) {
    const device_triangle<Index, Offset>& triangle = split.triangle;
    plan_.solve_size = triangle.size;
    has_partial_rows_ = split.has_partial_rows;
    device_levels<Index> order;
    order.rows = order_partitions(triangle, levels);
    ordered_ = in_level_order(triangle, order, on_, memory_.all_scratch());
    rows_ = std::move(order.rows);
    return measure(max_bytes);
  }

  /// Returns the triangle in solve order.
  [[nodiscard]] const device_triangle<Index, Offset>& ordered() const { return ordered_; }

  /// Returns the plan of the rows that lay_out() has laid out. `substitution_indices`: of the rows of the
  /// triangle, see split_triangle. `size`, `stored_entries`: of the stored matrix.
  plan pack(const buffer<Index>& substitution_indices, std::int64_t size, std::int64_t stored_entries,
            bool reversed) {
    write_heads();
    value_sources& from = plan_.sources;
    // A row that was split may have twice as many entries, see split_long_rows.
    const std::int64_t longest_row = has_partial_rows_ ? 2 * ordered_.longest_row : ordered_.longest_row;
    if (ordered_.rows_are_stored_runs && longest_row <= value_sources::max_row_entries &&
        stored_entries < (std::int64_t{1} << 32)) {
      from.diagonals = make_buffer<std::uint32_t>(plan_.solve_size, on_, memory_.kept);
      from.row_entries = make_buffer<std::uint8_t>(plan_.solve_size, on_, memory_.kept);
      from.row_links =
          make_buffer<std::uint16_t>(has_partial_rows_ ? plan_.solve_size : 0, on_, memory_.kept);
      from.shared_entries = make_buffer<std::uint32_t>(simt::ceil_div(stored_entries, 32), on_, memory_.kept);
      on_.fill_bytes(from.shared_entries.data(), 0, from.shared_entries.bytes());
    } else {
      from.targets = make_buffer<std::uint32_t>(stored_entries, on_, memory_.kept);
      on_.fill_bytes(from.targets.data(), 0xff, from.targets.bytes());
    }
    kernels::pack_rows<Scalar, Index, Offset> pack{};
    pack.reader = reader();
    pack.format = format_;
    pack.size = size;
    pack.reversed = reversed;
    pack.substitution_indices = substitution_indices.data();
    pack.rows = rows_.data();
    pack.sources = ordered_.sources.data();
    pack.diagonal_sources = ordered_.diagonal_sources.data();
    pack.slice_begins = plan_.slice_begins.data();
    pack.packed_slices = plan_.packed_slices.data();
    pack.targets = from.targets.data();
    pack.stored_entries = stored_entries;
    pack.diagonals = from.diagonals.data();
    pack.row_entries = from.row_entries.data();
    pack.row_links = from.row_links.data();
    pack.shared_entries = from.shared_entries.data();
    simt::for_each(on_, plan_.solve_size, pack);
    return std::move(plan_);
  }

 private:
  /// Replaces counts, with a 0 past the end, by the sums of the counts before; returns the total.
  /// Synchronises.
  template <class Count>
  std::int64_t sum(buffer<Count>& counts) const {
    on_.exclusive_scan(counts.data(), counts.data(), static_cast<std::int64_t>(counts.size()),
                       memory_.scratch);
    Count total = 0;
    on_.download(&total, counts.data() + counts.size() - 1, sizeof(total));
    return total;
  }

  /// Returns the rows of the triangle by solve index, and finds where partitions and tiles begin.
  buffer<Index> order_partitions(const device_triangle<Index, Offset>& t,
                                 const device_levels<Index>& levels) {
    using namespace kernels;
    const std::int64_t n = t.size;
    const auto partitions = make_buffer<std::uint32_t>(n, on_, memory_.scratch);
    const auto level_order = make_buffer<Index>(n, on_, memory_.scratch);
    const auto sorted_level_order = make_buffer<Index>(n, on_, memory_.scratch);
    partition_of_ = make_buffer<std::uint32_t>(n, on_, memory_.scratch);
    simt::for_each(on_, n,
                   find_partitions<Index, Offset>{
                       {t.row_offsets.data(), n, t.entries() + n, plan_.partitions, plan_.boxes},
                       levels.rows.data(),
                       partitions.data(),
                       level_order.data()});
    on_.sort_pairs(partitions.data(), partition_of_.data(), level_order.data(), sorted_level_order.data(), n,
                   bits_for(static_cast<std::uint64_t>(plan_.partitions) + 1), memory_.scratch);
    auto rows = make_buffer<Index>(n, on_, memory_.scratch);
    auto levels_before = make_buffer<std::int32_t>(n + 1, on_, memory_.scratch);
    simt::for_each(on_, n + 1,
                   find_partition_levels<Index>{n, levels.rows.data(), levels.level_offsets.data(),
                                                levels.count, sorted_level_order.data(), partition_of_.data(),
                                                rows.data(), levels_before.data()});
    const auto level_begins = make_buffer<std::int32_t>(sum(levels_before), on_, memory_.scratch);
    simt::for_each(on_, n, find_partition_level_begins{levels_before.data(), level_begins.data()});
    tiles_before_ = make_buffer<std::int32_t>(n + 1, on_, memory_.scratch);
    simt::for_each(
        on_, n + 1,
        find_tiles{n, levels_before.data(), level_begins.data(), shape_.tile_rows(), tiles_before_.data()});
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

  [[nodiscard]] kernels::row_reader<Index, Offset> reader() const {
    kernels::row_reader<Index, Offset> reader{};
    reader.shape = shape_;
    reader.x_ring_size = plan_.x_ring_size;
    reader.solve_size = plan_.solve_size;
    reader.row_offsets = ordered_.row_offsets.data();
    reader.columns = ordered_.columns.data();
    reader.partition_of = partition_of_.data();
    reader.partition_begins = plan_.partition_begins.data();
    reader.tiles_before = tiles_before_.data();
    reader.tile_begins = tile_begins_.data();
    return reader;
  }

  /// Measures the slices; returns whether they fit.
  bool measure(std::int64_t max_bytes) {
    using namespace kernels;
    slices_ = plan_.tiles * shape_.tile_slices();
    if (slices_ > max_slices) {
      return false;
    }
    counts_ = make_buffer<std::int32_t>(4 * slices_, on_, memory_.scratch);
    on_.fill_bytes(counts_.data(), 0, counts_.bytes());
    simt::for_each(on_, plan_.solve_size,
                   measure_slices<Index, Offset>{reader(), rows_of_slices(), shared_widths(), global_widths(),
                                                 global_rows()});
    offsets_ = make_buffer<std::uint64_t>(slices_ + 1, on_, memory_.scratch);
    on_.fill_bytes(offsets_.data(), 0, offsets_.bytes());
    simt::for_each(on_, slices_,
                   measure_packed_slices{format_, rows_of_slices(), shared_widths(), global_widths(),
                                         global_rows(), offsets_.data()});
    packed_bytes_ = 16 * sum(offsets_);
    return packed_bytes_ <= max_bytes;
  }

  // By slice: its rows, its widths in entry columns, and its rows with global entries.
  [[nodiscard]] std::int32_t* rows_of_slices() const { return counts_.data(); }
  [[nodiscard]] std::int32_t* shared_widths() const { return counts_.data() + slices_; }
  [[nodiscard]] std::int32_t* global_widths() const { return counts_.data() + 2 * slices_; }
  [[nodiscard]] std::int32_t* global_rows() const { return counts_.data() + 3 * slices_; }

  /// Allocates the packed slices and writes their heads, and where each warp begins.
  void write_heads() {
    using namespace kernels;
    const std::int32_t tile_stride = warp_groups_ * shape_.tile_slices();
    plan_.slice_begins = make_buffer<std::uint32_t>(slices_, on_, memory_.kept);
    plan_.packed_slices = make_buffer<unsigned char>(packed_bytes_, on_, memory_.kept);
    on_.fill_bytes(plan_.packed_slices.data(), 0, plan_.packed_slices.bytes());
    write_slice_heads heads{};
    heads.format = format_;
    heads.tile_stride = tile_stride;
    heads.tile_begins = tile_begins_.data();
    heads.partition_of = partition_of_.data();
    heads.partition_tiles = partition_tiles_.data();
    heads.rows = rows_of_slices();
    heads.shared_width = shared_widths();
    heads.global_width = global_widths();
    heads.global_rows = global_rows();
    heads.offsets = offsets_.data();
    heads.slice_begins = plan_.slice_begins.data();
    heads.packed_slices = plan_.packed_slices.data();
    simt::for_each(on_, slices_, heads);
    plan_.starts = make_buffer<warp_start>(std::int64_t{plan_.partitions} * tile_stride, on_, memory_.kept);
    simt::for_each(on_, static_cast<std::int64_t>(plan_.starts.size()),
                   write_warp_starts{format_, tile_stride, partition_tiles_.data(), plan_.slice_begins.data(),
                                     plan_.packed_slices.data(), plan_.starts.data()});
    simt::for_each(
        on_, 32 * slices_,
        clear_slices{format_, plan_.x_ring_size, plan_.slice_begins.data(), plan_.packed_slices.data()});
  }

  shape_values shape_;
  int warp_groups_;
  const Executor& on_;
  analysis_memory memory_;
  slice_format format_ = slice_format::of<Scalar>(shape_);
  plan plan_;
  bool has_partial_rows_ = false;
  device_triangle<Index, Offset> ordered_;  ///< the triangle in solve order
  buffer<Index> rows_;                      ///< by solve index: the row of the triangle
  std::int64_t slices_ = 0;
  std::int64_t packed_bytes_ = 0;         ///< of all packed slices
  buffer<std::int32_t> counts_;           ///< 4 x slices, see rows_of_slices()
  buffer<std::uint64_t> offsets_;         ///< slices + 1: of packed slices, in units of 16 bytes
  buffer<std::uint32_t> partition_of_;    ///< by solve index
  buffer<std::int32_t> tiles_before_;     ///< solve_size + 1: the number of tiles that begin before
  buffer<std::int32_t> tile_begins_;      ///< tiles + 1: the first solve index of each tile
  buffer<std::int32_t> partition_tiles_;  ///< partitions + 1: the first tile of each partition
};

}  // namespace sptrsv::detail::dataflow::partitioned
