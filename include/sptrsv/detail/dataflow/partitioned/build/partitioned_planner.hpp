// SPDX-License-Identifier: Apache-2.0
// Builds the plan of a partitioned solve on the device.
//
// 1. Order (order.hpp): rows are divided into partitions in the order of substitution, or by boxes of a
//    grid, so that a partition needs earlier partitions only. In a partition rows stand level by level. A
//    level is cut into tiles, and a tile into slices, one for each warp of a warp group.
// 2. Slices (slices.hpp): each entry of a row is shared or global. An entry is shared if its column belongs
//    to the same partition and is still in the x ring buffer when the row is solved; if a row has more such
//    entries than the shape has room for, the latest ones are shared. All other entries are global.
// 3. Packing (partitioned_pack.hpp): columns of entries, and for each stored value the place where
//    update_values puts it (partitioned_values.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_pack.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_cost.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// The shape of the kernel and the partitions of the rows.
struct plan_settings {
  shape_values shape;
  int warp_groups;  ///< of a block
  std::int64_t partitions;
  block_partition boxes;     ///< the partitions, if they are boxes of a grid
  std::int64_t x_ring_size;  ///< components in the x ring buffer
  std::int64_t tiles;        ///< of all partitions, see prediction
  std::int64_t max_bytes;    ///< of the packed slices

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
    shapes_of<Tuning>::type::with(chosen.shape_index, [&](auto of) {
      using layout = shared_layout<Scalar, decltype(of)>;
      made.shape = values_of<decltype(of)>();
      made.warp_groups = layout::warp_groups;
      made.x_ring_size = layout::x_ring_size(Tuning::partitioned_x_ring_size);
    });
    return made;
  }
};

/// The plan of a partitioned solve. Arrays are in device memory; kernel_params describes those of the kernel.
struct plan {
  plan_settings settings;
  std::int64_t solve_size = 0;  ///< rows, with the partial rows
  buffer<std::int32_t> partition_begins{};
  buffer<warp_start> starts{};
  buffer<std::uint32_t> slice_begins{};  ///< by slice: offset of its packed slice, in units of 16 bytes
  buffer<unsigned char> packed_slices{};
  value_sources sources{};

  template <class Scalar>
  [[nodiscard]] packed_slices_view slices() const {
    return {slice_begins.data(), packed_slices.data(), slice_format::of<Scalar>(settings.shape)};
  }
  /// Puts the values of the stored matrix to the packed slices.
  template <class Scalar, class Executor>
  void update_values(const Scalar* stored, std::int64_t stored_entries, const triangle_form& form,
                     const Executor& on) {
    if (sources.are_runs()) {
      simt::for_each(on, 32 * count_of(slice_begins),
                     scatter_run_values<Scalar>{stored, stored_entries, sources.runs, slices<Scalar>(),
                                                form.unit, form.reversed, form.conjugated});
    } else {
      simt::for_each(on, stored_entries,
                     scatter_values<Scalar>{stored, sources.targets, slices<Scalar>(), form.conjugated});
    }
  }
};

/// Plans one triangle with fewer than 2^31 rows and entries, and with less than 2^32 levels times partitions.
template <class Scalar, class Index, class Offset, class Executor>
class planner {
 public:
  planner(const plan_settings& settings, const Executor& on, const analysis_memory& memory)
      : on_(on), memory_(memory), plan_{settings} {}

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
    slices_ = plan_.settings.tiles * plan_.settings.shape.tile_slices();
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
    return packed_bytes_ <= plan_.settings.max_bytes;
  }

  /// Returns the columns of the triangle's entries, as solve indices.
  [[nodiscard]] const buffer<Index>& columns() const { return columns_; }

  /// Returns the plan of the rows that were laid out, in memory of `kept`. `split`: as it was laid out, or
  /// moved since; its columns may have been freed. `size`, `stored_entries`: of the stored matrix.
  plan pack(const split_triangle<Index, Offset>& split, std::int64_t size, std::int64_t stored_entries,
            bool reversed, memory_resource& kept) {
    const device_triangle<Index, Offset>& t = split.triangle;
    value_sources& from = plan_.sources;
    std::int64_t shared_words = 0;  // of value_sources
    if (t.rows_are_stored_runs && t.longest_row <= run_arrays::max_row_entries &&
        stored_entries < (std::int64_t{1} << 32)) {
      shared_words = simt::ceil_div(stored_entries, 32);
      from.runs = {from.arrays.make<std::uint32_t>(plan_.solve_size, on_, kept),
                   from.arrays.make<std::uint8_t>(plan_.solve_size, on_, kept),
                   from.arrays.make<std::uint16_t>(has_partial_rows_ ? plan_.solve_size : 0, on_, kept),
                   from.arrays.make<std::uint32_t>(shared_words, on_, kept)};
    } else {
      from.targets = from.arrays.make<std::uint32_t>(stored_entries, on_, kept);
      on_.fill_bytes(from.targets, 0xff, from.arrays.bytes());
    }
    start_slices(shared_words, kept);
    simt::for_each_by_groups(on_, lanes_of_row(t.size, count_of(columns_), t.longest_row), plan_.solve_size,
                             pack_rows<Scalar, Index, Offset>{reader(t), plan_.slices<Scalar>(), size,
                                                              reversed, split.substitution_indices.data(),
                                                              from.targets, stored_entries, from.runs});
    return std::move(plan_);
  }

 private:
  /// Finds the solve order, and where partitions and tiles begin.
  void order(const device_triangle<Index, Offset>& t, const row_levels<Index>& levels) {
    std::int32_t* const counts = scratch<std::int32_t>(4 * slices_);
    counts_ = {counts, counts + slices_, counts + 2 * slices_, counts + 3 * slices_};
    std::uint32_t* const sorted_keys = scratch<std::uint32_t>(t.size);
    plan_.partition_begins = make_buffer<std::int32_t>(plan_.settings.partitions + 1, on_, memory_.kept);
    order_ = {t.size,
              sorted_keys,
              static_cast<std::uint32_t>(levels.count),
              scratch<std::int32_t>(t.size),
              scratch<std::int32_t>(plan_.settings.tiles + 1),
              scratch<std::int32_t>(plan_.settings.partitions + 1),
              plan_.partition_begins.data()};
    rows_ = scratch<Index>(t.size);
    solve_index_of_row_ = make_buffer<Index>(t.size, on_, memory_.scratch);
    const auto has_global = make_buffer<std::uint8_t>(t.size, on_, memory_.scratch);
    const auto sorted_rows = make_buffer<Index>(t.size, on_, memory_.scratch);
    const auto keys = make_buffer<std::uint32_t>(t.size, on_, memory_.scratch);
    simt::for_each(on_, std::max(t.size, 4 * slices_),
                   find_partition_levels_of_rows<Index, Offset>{
                       {t.view(), t.entries() + t.size, plan_.settings.partitions, plan_.settings.boxes},
                       levels.of_row.data(),
                       levels.count,
                       keys.data(),
                       has_global.data(),
                       4 * slices_,
                       counts});
    on_.sort_pairs(keys.data(), sorted_keys, levels.numbers.data(), sorted_rows.data(), t.size,
                   bits_for(static_cast<std::uint64_t>(plan_.settings.partitions * levels.count)),
                   memory_.scratch);
    scan(on_, t.size,
         order_rows<Index>{plan_.settings.shape, plan_.settings.partitions, order_, sorted_rows.data(),
                           has_global.data(), rows_, solve_index_of_row_.data()},
         memory_);
  }

  /// Returns an array of scratch memory that ends with the planner.
  template <class T>
  T* scratch(std::int64_t count) {
    return arrays_.make<T>(count, on_, memory_.scratch);
  }

  [[nodiscard]] row_reader<Index, Offset> reader(const device_triangle<Index, Offset>& t) const {
    return {
        plan_.settings.shape, static_cast<std::int32_t>(plan_.settings.x_ring_size), order_, rows_, t.view(),
        columns_.data()};
  }

  /// Translates the columns to solve indices and measures the slices.
  void measure(const device_triangle<Index, Offset>& t,
               std::uint64_t* units) {  // NOLINT(readability-non-const-parameter): the scan writes it
    columns_ = make_buffer<Index>(t.entries(), on_, memory_.scratch);
    simt::for_each_by_groups(on_, lanes_of_row(t.size, count_of(columns_), t.longest_row), t.size,
                             measure_slices<Index, Offset>{reader(t), solve_index_of_row_.data(), counts_});
    solve_index_of_row_ = {};
    offsets_ = scratch<std::uint64_t>(slices_ + 1);
    scan(on_, slices_, place_slices{slices_, format_, counts_, offsets_, units}, memory_);
  }

  /// Allocates the packed slices, writes all but their rows, and writes where each warp begins.
  void start_slices(std::int64_t shared_words, memory_resource& kept) {
    const std::int32_t tile_stride = plan_.settings.warp_groups * plan_.settings.shape.tile_slices();
    plan_.slice_begins = make_buffer<std::uint32_t>(slices_, on_, kept);
    plan_.packed_slices = make_buffer<unsigned char>(packed_bytes_, on_, kept);
    plan_.starts = make_buffer<warp_start>(plan_.settings.partitions * tile_stride, on_, kept);
    const auto starts = static_cast<std::int64_t>(plan_.starts.size());
    on_.template launch<start_slices_agent>(
        simt::block_count(std::max({32 * slices_, starts, shared_words}), start_slices_agent::block_threads),
        {slices_, format_, static_cast<std::int32_t>(plan_.settings.x_ring_size), tile_stride, order_,
         counts_, offsets_, plan_.slice_begins.data(), plan_.packed_slices.data(), starts,
         plan_.starts.data(), shared_words, plan_.sources.runs.shared_entries});
  }

  const Executor& on_;
  analysis_memory memory_;
  plan plan_;
  slice_format format_ = slice_format::of<Scalar>(plan_.settings.shape);
  bool has_partial_rows_ = false;
  std::int64_t slices_ = 0;
  std::int64_t packed_bytes_ = 0;     ///< of all packed slices
  buffer<Index> columns_;             ///< by entry of the triangle: the solve index of its column
  buffer<Index> solve_index_of_row_;  ///< by row of the triangle; until the slices are measured
  device_arrays arrays_;              ///< the following ones
  solve_order order_{};
  Index* rows_ = nullptr;  ///< by solve index: the row of the triangle
  slice_counts counts_{};
  std::uint64_t* offsets_ = nullptr;  ///< slices + 1: of packed slices, in units of 16 bytes
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
