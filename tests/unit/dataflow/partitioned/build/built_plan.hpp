// Plans of partitioned solves, built in the emulator and read on the host.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

/// How a plan divides the rows among partitions, warp groups and lanes.
struct plan_settings {
  detail::dataflow::partitioned::shape_values shape;
  int warp_groups;
  std::int64_t partitions;
  std::int64_t x_ring_size;
  std::int64_t longest_row = 32;  ///< longer rows are split
  detail::dataflow::partitioned::block_partition boxes{};

  [[nodiscard]] std::string name() const {
    return std::to_string(partitions) + (boxes.are_used() ? " boxes, " : " partitions, ") +
           std::to_string(shape.lanes) + " lanes, tiles of " + std::to_string(shape.tile_rows()) + " rows, " +
           std::to_string(warp_groups) + " warp groups, x ring buffer of " + std::to_string(x_ring_size);
  }
};

/// A plan in host memory.
struct built_plan {
  using slice_head = detail::dataflow::partitioned::slice_head;
  using slice_offsets = detail::dataflow::partitioned::slice_offsets;
  using warp_start = detail::dataflow::partitioned::warp_start;

  plan_settings settings{};
  detail::dataflow::partitioned::slice_format format{};
  std::int64_t solve_size = 0;
  std::int64_t tiles = 0;
  bool are_runs = false;  ///< whether the values were scattered by runs, and not by targets
  std::vector<std::int32_t> partition_begins;
  std::vector<warp_start> starts;
  std::vector<std::uint32_t> slice_begins;
  std::vector<unsigned char> packed_slices;

  [[nodiscard]] int tile_slices() const { return settings.shape.tile_slices(); }
  [[nodiscard]] int warps() const { return settings.warp_groups * tile_slices(); }
  [[nodiscard]] std::size_t slices() const { return slice_begins.size(); }

  /// Returns element `index` of an array in a packed slice. `slice`: its offset in units of 16 bytes.
  template <class T>
  [[nodiscard]] T read(std::uint32_t slice, int array, int index = 0) const {
    const std::size_t at = std::size_t{slice} * 16 + static_cast<std::size_t>(array) +
                           static_cast<std::size_t>(index) * sizeof(T);
    T value{};
    if (at + sizeof(T) > packed_slices.size()) {
      ADD_FAILURE() << "byte " << at << " is past the packed slices";
      return value;
    }
    std::memcpy(static_cast<void*>(&value), packed_slices.data() + at, sizeof(T));
    return value;
  }
  [[nodiscard]] slice_head head(std::uint32_t slice) const { return read<slice_head>(slice, 0); }
  [[nodiscard]] int staged_bytes(std::uint32_t slice) const {
    return format.staged_bytes(format.offsets(head(slice)), head(slice).global_width());
  }
};

/// Builds plans as the path does.
class partitioned_planning
    : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  /// Returns nothing if the packed slices would take more than `max_bytes`.
  std::optional<built_plan> build(const matrix& a, const form& f, const plan_settings& s,
                                  std::int64_t max_bytes = std::int64_t{1} << 30) {
    namespace partitioned = detail::dataflow::partitioned;
    const detail::triangle_form triangle_form(f.options(), false);
    const auto there = where.upload(a.by_rows);
    auto triangle = detail::build_on_device(detail::pattern_of(detail::view_of(there)), triangle_form,
                                            where.on(), where.resource());
    auto split =
        detail::split_long_rows(triangle, {s.longest_row, s.longest_row}, where.on(), where.resource());
    const auto levels = detail::levels_of_rows(split.triangle, where.on(), where.resource());
    partitioned::table_batch batch{{{{s.partitions, s.boxes}, s.shape, 0, 0}}, s.partitions * levels.count};
    partitioned::count_level_tables(
        std::vector{partitioned::counting_job<std::int32_t, std::int32_t>{batch, split.triangle, levels}},
        where.on(), where.resource());
    auto cells = where.download(batch.counted);
    cells.resize(static_cast<std::size_t>(batch.cells));  // without the rows of the levels
    std::int64_t tiles = 0;
    for (const partitioned::level_counts& cell : cells) {
      tiles += (cell.rows + s.shape.tile_rows() - 1) / s.shape.tile_rows();
    }
    const auto entries = static_cast<std::int64_t>(a.by_rows.values.size());
    const emulator::executor on = where.on();
    partitioned::planner<double, std::int32_t, std::int32_t, emulator::executor> planner(
        {s.shape, s.warp_groups, s.partitions, s.boxes, s.x_ring_size, tiles, max_bytes}, on,
        where.resource());
    if (!planner.lay_out(split, levels)) {
      return {};
    }
    split.triangle.columns = {};
    auto made = planner.pack(split, a.size(), entries, triangle_form.reversed, where.resource());
    made.update_values(there.values.data(), entries, triangle_form, where.on());
    built_plan plan;
    plan.settings = s;
    plan.format = partitioned::slice_format::of<double>(s.shape);
    plan.solve_size = made.solve_size;
    plan.tiles = made.settings.tiles;
    plan.are_runs = made.sources.are_runs();
    plan.partition_begins = where.download(made.partition_begins);
    plan.starts = where.download(made.starts);
    plan.slice_begins = where.download(made.slice_begins);
    plan.packed_slices = where.download(made.packed_slices);
    return plan;
  }
};

}  // namespace sptrsv::testing
