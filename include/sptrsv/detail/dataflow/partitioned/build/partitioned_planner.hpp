// SPDX-License-Identifier: Apache-2.0
// Builds the plan of a partitioned solve on the device.
//
// 1. Order (order.hpp): rows are divided into partitions in the order of substitution, or by boxes of a
//    grid, so that a partition needs earlier partitions only. In a partition rows stand level by level. A
//    level is cut into tiles, and a tile into slices, one for each warp of a warp group.
// 2. Slices (slices.hpp): each entry of a row is shared or global. An entry is shared if its column belongs
//    to the same partition and is still in the x ring buffer when the row is solved; if a row has more such
//    entries than the shape has room for, the latest ones are shared. All other entries are global.
// 3. Packing (pack.hpp): columns of entries, and for each stored value the place where update_values puts it
//    (values.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_pack.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/start_slices_agent.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_cost.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/partitioned_shared_memory.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_plan.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// The shape of the kernel and the partitions of the rows. The planner gets them from the choice among shapes
/// and then lays out the rows.
struct plan_settings {
  shape_values shape;
  int warp_groups;  ///< of a block
  std::int64_t partitions;
  block_partition boxes;  ///< the partitions, if they are boxes of a grid
  std::int64_t x_ring_size;
  std::int64_t tiles;      ///< of all partitions, see prediction
  std::int64_t max_bytes;  ///< of the packed slices

  /// Returns the settings of a choice among the shapes of the tuning.
  template <class Tuning, class Scalar>
  static plan_settings of(const shape_choice& chosen) {
    plan_settings made{{},
                       0,
                       chosen.partitions,
                       chosen.boxes,
                       0,
                       chosen.tiles,
                       std::min(Tuning::partitioned_max_bytes, max_packed_bytes<Scalar>)};
    shapes_of<Tuning>::type::for_each([&](auto of, int index) {
      if (index == chosen.shape_index) {
        using layout = shared_layout<Scalar, decltype(of)>;
        made.shape = values_of<decltype(of)>();
        made.warp_groups = layout::warp_groups;
        made.x_ring_size = layout::x_ring_size(Tuning::partitioned_x_ring_size);
      }
    });
    return made;
  }
};

/// Plans one triangle with fewer than 2^31 rows and entries, and with less than 2^32 levels times partitions.
template <class Scalar, class Index, class Offset, class Executor>
class planner {
 public:
  planner(const plan_settings& settings, const Executor& on, const analysis_memory& memory)
      : settings_(settings), on_(on), memory_(memory) {
    plan_.shape = settings.shape;
    plan_.boxes = settings.boxes;
    plan_.partitions = static_cast<std::int32_t>(settings.partitions);
    plan_.x_ring_size = static_cast<std::int32_t>(settings.x_ring_size);
    plan_.tiles = settings.tiles;
  }

  /// Orders the rows and measures their packed slices; returns whether these are small enough. `split` must
  /// not change until pack(), but its columns may be freed. Columns past the last row of the triangle are
  /// solve indices of an earlier launch. Synchronises.
  bool lay_out(const split_triangle<Index, Offset>& split, const row_levels<Index>& levels) {
    const auto units = make_buffer<std::uint64_t>(1, on_, memory_.scratch);
    if (!begin_layout(split, levels, units.data())) {
      return false;
    }
    return end_layout(download_value(units.data(), on_));
  }

  /// Enqueues what lay_out() does before it waits, for work between this and end_layout(): stores the size of
  /// the packed slices to `units`. Returns false, and enqueues nothing, if there are too many slices.
  bool begin_layout(const split_triangle<Index, Offset>& split, const row_levels<Index>& levels,
                    std::uint64_t* units) {
    plan_.solve_size = split.triangle.size;
    has_partial_rows_ = split.has_partial_rows;
    slices_ = plan_.tiles * settings_.shape.tile_slices();
    if (slices_ > max_slices) {
      return false;
    }
    order(split.triangle, levels);
    measure(split.triangle, units);
    return true;
  }
  /// Takes the size that begin_layout() has stored; returns whether the packed slices are small enough.
  bool end_layout(std::uint64_t units) {
    packed_bytes_ = 16 * static_cast<std::int64_t>(units);
    return packed_bytes_ <= settings_.max_bytes;
  }

  /// Returns the columns of the triangle's entries, as solve indices.
  [[nodiscard]] const buffer<Index>& columns() const { return columns_; }

  /// Returns the plan of the rows that were laid out, in memory of `kept`. `split`: as it was laid out, or
  /// moved since; its columns may have been freed. `size`, `stored_entries`: of the stored matrix.
  plan pack(const split_triangle<Index, Offset>& split, std::int64_t size, std::int64_t stored_entries,
            bool reversed, memory_resource& kept) {
    const device_triangle<Index, Offset>& t = split.triangle;
    value_sources& from = plan_.sources;
    // A row that was split may have twice as many entries, see split_long_rows.
    const std::int64_t longest_row = has_partial_rows_ ? 2 * t.longest_row : t.longest_row;
    if (t.rows_are_stored_runs && longest_row <= value_sources::max_row_entries &&
        stored_entries < (std::int64_t{1} << 32)) {
      from.diagonals = make_buffer<std::uint32_t>(plan_.solve_size, on_, kept);
      from.row_entries = make_buffer<std::uint8_t>(plan_.solve_size, on_, kept);
      from.row_links = make_buffer<std::uint16_t>(has_partial_rows_ ? plan_.solve_size : 0, on_, kept);
      from.shared_entries = make_buffer<std::uint32_t>(simt::ceil_div(stored_entries, 32), on_, kept);
    } else {
      from.targets = make_buffer<std::uint32_t>(stored_entries, on_, kept);
      on_.fill_bytes(from.targets.data(), 0xff, from.targets.bytes());
    }
    start_slices(kept);
    kernels::pack_rows<Scalar, Index, Offset> pack{};
    pack.reader = reader(t);
    pack.format = format_;
    pack.size = size;
    pack.reversed = reversed;
    pack.substitution_indices = split.substitution_indices.data();
    pack.sources = t.sources.data();
    pack.diagonal_sources = t.diagonal_sources.data();
    pack.slice_begins = plan_.slice_begins.data();
    pack.packed_slices = plan_.packed_slices.data();
    pack.targets = from.targets.data();
    pack.stored_entries = stored_entries;
    pack.diagonals = from.diagonals.data();
    pack.row_entries = from.row_entries.data();
    pack.row_links = from.row_links.data();
    pack.shared_entries = from.shared_entries.data();
    simt::for_each_by_groups(on_, lanes_of_row(t), plan_.solve_size, pack);
    return std::move(plan_);
  }

 private:
  /// Finds the solve order, and where partitions and tiles begin.
  void order(const device_triangle<Index, Offset>& t, const row_levels<Index>& levels) {
    using namespace kernels;
    levels_ = static_cast<std::uint32_t>(levels.count);
    counts_ = make_buffer<std::int32_t>(4 * slices_, on_, memory_.scratch);
    sorted_keys_ = make_buffer<std::uint32_t>(t.size, on_, memory_.scratch);
    tile_of_ = make_buffer<std::int32_t>(t.size, on_, memory_.scratch);
    tile_begins_ = make_buffer<std::int32_t>(plan_.tiles + 1, on_, memory_.scratch);
    partition_tiles_ = make_buffer<std::int32_t>(plan_.partitions + 1, on_, memory_.scratch);
    plan_.partition_begins = make_buffer<std::int32_t>(plan_.partitions + 1, on_, memory_.kept);
    rows_ = make_buffer<Index>(t.size, on_, memory_.scratch);
    solve_index_of_row_ = make_buffer<Index>(t.size, on_, memory_.scratch);
    const auto has_global = make_buffer<std::uint8_t>(t.size, on_, memory_.scratch);
    const auto sorted_rows = make_buffer<Index>(t.size, on_, memory_.scratch);
    const auto keys = make_buffer<std::uint32_t>(t.size, on_, memory_.scratch);
    simt::for_each(on_, std::max(t.size, 4 * slices_),
                   find_partition_levels_of_rows<Index, Offset>{
                       {t.row_offsets.data(), t.size, t.entries() + t.size, plan_.partitions, plan_.boxes},
                       t.columns.data(),
                       levels.of_row.data(),
                       levels.count,
                       keys.data(),
                       has_global.data(),
                       4 * slices_,
                       counts_.data()});
    on_.sort_pairs(keys.data(), sorted_keys_.data(), levels.numbers.data(), sorted_rows.data(), t.size,
                   bits_for(static_cast<std::uint64_t>(plan_.partitions * levels.count)), memory_.scratch);
    order_rows<Index> body{};
    body.shape = settings_.shape;
    body.partitions = plan_.partitions;
    body.sorted = sorted();
    body.rows = sorted_rows.data();
    body.has_global = has_global.data();
    body.tile_of = tile_of_.data();
    body.tile_begins = tile_begins_.data();
    body.partition_tiles = partition_tiles_.data();
    body.partition_begins = plan_.partition_begins.data();
    body.ordered = rows_.data();
    body.solve_index_of_row = solve_index_of_row_.data();
    scan(on_, t.size, body, memory_);
  }

  [[nodiscard]] kernels::sorted_partition_levels sorted() const {
    return {plan_.solve_size, sorted_keys_.data(), levels_};
  }

  [[nodiscard]] kernels::row_reader<Index, Offset> reader(const device_triangle<Index, Offset>& t) const {
    kernels::row_reader<Index, Offset> reader{};
    reader.shape = settings_.shape;
    reader.x_ring_size = plan_.x_ring_size;
    reader.solve_size = plan_.solve_size;
    reader.rows = rows_.data();
    reader.row_offsets = t.row_offsets.data();
    reader.solve_columns = columns_.data();
    reader.order = sorted();
    reader.partition_begins = plan_.partition_begins.data();
    reader.tile_of = tile_of_.data();
    reader.tile_begins = tile_begins_.data();
    return reader;
  }

  /// Translates the columns to solve indices and measures the slices.
  void measure(const device_triangle<Index, Offset>& t,
               std::uint64_t* units) {  // NOLINT(readability-non-const-parameter): the scan writes it
    using namespace kernels;
    columns_ = make_buffer<Index>(t.entries(), on_, memory_.scratch);
    simt::for_each_by_groups(
        on_, lanes_of_row(t), t.size,
        measure_slices<Index, Offset>{reader(t), t.columns.data(), solve_index_of_row_.data(),
                                      columns_.data(), counts()});
    solve_index_of_row_ = {};
    offsets_ = make_buffer<std::uint64_t>(slices_ + 1, on_, memory_.scratch);
    scan(on_, slices_, place_slices{slices_, format_, counts(), offsets_.data(), units}, memory_);
  }

  /// Returns how many lanes measure and pack one row. Rows are at most twice as long as the triangle says.
  [[nodiscard]] int lanes_of_row(const device_triangle<Index, Offset>& t) const {
    return kernels::lanes_of_row(plan_.solve_size, static_cast<std::int64_t>(columns_.size()), t.longest_row);
  }

  [[nodiscard]] kernels::slice_counts counts() const {
    std::int32_t* const begin = counts_.data();
    return {begin, begin + slices_, begin + 2 * slices_, begin + 3 * slices_};
  }

  /// Allocates the packed slices, writes all but their rows, and writes where each warp begins.
  void start_slices(memory_resource& kept) {
    const std::int32_t tile_stride = settings_.warp_groups * settings_.shape.tile_slices();
    plan_.slice_begins = make_buffer<std::uint32_t>(slices_, on_, kept);
    plan_.packed_slices = make_buffer<unsigned char>(packed_bytes_, on_, kept);
    plan_.starts = make_buffer<warp_start>(std::int64_t{plan_.partitions} * tile_stride, on_, kept);
    using agent = kernels::start_slices_agent;
    agent::params p{};
    p.slices = slices_;
    p.format = format_;
    p.x_ring_size = plan_.x_ring_size;
    p.tile_stride = tile_stride;
    p.order = sorted();
    p.tile_begins = tile_begins_.data();
    p.partition_tiles = partition_tiles_.data();
    p.counts = counts();
    p.offsets = offsets_.data();
    p.slice_begins = plan_.slice_begins.data();
    p.packed_slices = plan_.packed_slices.data();
    p.start_count = static_cast<std::int64_t>(plan_.starts.size());
    p.starts = plan_.starts.data();
    p.cleared_words = static_cast<std::int64_t>(plan_.sources.shared_entries.size());
    p.cleared = plan_.sources.shared_entries.data();
    on_.template launch<agent>(
        simt::block_count(std::max({32 * slices_, p.start_count, p.cleared_words}), agent::block_threads), p);
  }

  plan_settings settings_;
  const Executor& on_;
  analysis_memory memory_;
  slice_format format_ = slice_format::of<Scalar>(settings_.shape);
  plan plan_;
  bool has_partial_rows_ = false;
  buffer<Index> columns_;             ///< by entry of the triangle: the solve index of its column
  buffer<Index> rows_;                ///< by solve index: the row of the triangle
  buffer<Index> solve_index_of_row_;  ///< its inverse
  std::int64_t slices_ = 0;
  std::int64_t packed_bytes_ = 0;         ///< of all packed slices
  buffer<std::int32_t> counts_;           ///< 4 x slices, see counts()
  buffer<std::uint64_t> offsets_;         ///< slices + 1: of packed slices, in units of 16 bytes
  std::uint32_t levels_ = 0;              ///< number of levels
  buffer<std::uint32_t> sorted_keys_;     ///< by solve index: partition times levels plus level
  buffer<std::int32_t> tile_of_;          ///< by solve index
  buffer<std::int32_t> tile_begins_;      ///< tiles + 1: the first solve index of each tile
  buffer<std::int32_t> partition_tiles_;  ///< partitions + 1: the first tile of each partition
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
