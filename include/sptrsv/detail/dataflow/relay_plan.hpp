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
#include "sptrsv/detail/dataflow/relay_order.hpp"
#include "sptrsv/detail/dataflow/relay_records.hpp"

namespace sptrsv::detail::dataflow {

/// Device memory throughout; see relay_params for the arrays.
struct relay_plan {
  relay_shape_values shape{};
  relay_boxes boxes;
  std::int32_t parts = 0;
  std::int32_t window = 0;
  std::int64_t places = 0;
  std::int64_t steps = 0;
  buffer<std::int32_t> part_places;
  buffer<relay_warp_start> starts;
  buffer<std::uint32_t> record_begins;
  buffer<unsigned char> records;
  relay_sources sources;
};

/// Makes a plan of a triangle with fewer than 2^31 rows and entries; synchronises.
template <class Scalar, class Index, class Offset, class Executor>
class relay_planner {
 public:
  /// `teams`: of a block. `boxes`: how rows are dealt to parts, if not in the order of substitution.
  relay_planner(const relay_shape_values& shape, int teams, std::int64_t parts, const relay_boxes& boxes,
                std::int64_t window, const Executor& on, const analysis_memory& memory)
      : shape_(shape), teams_(teams), on_(on), memory_(memory) {
    plan_.shape = shape;
    plan_.boxes = boxes;
    plan_.parts = static_cast<std::int32_t>(parts);
    plan_.window = static_cast<std::int32_t>(window);
  }

  /// `size`, `stored_entries`: of the stored matrix. Nothing where the records would take more than
  /// `most_bytes`. Columns past the last row of the triangle are places that are solved before.
  std::optional<relay_plan> build(const split_triangle<Index, Offset>& split,
                                  const device_levels<Index>& levels, std::int64_t size,
                                  std::int64_t stored_entries, bool reversed,
                                  std::int64_t most_bytes = most_record_bytes<Scalar>) {
    using namespace relay_kernels;
    const device_triangle<Index, Offset>& triangle = split.triangle;
    plan_.places = triangle.size;
    device_levels<Index> order;
    order.rows = order_parts(triangle, levels);
    device_triangle<Index, Offset> ordered = in_level_order(triangle, order, on_, memory_.all_scratch());
    const row_reader<Index, Offset> reader{shape_,
                                           plan_.window,
                                           triangle.size,
                                           ordered.row_offsets.data(),
                                           ordered.columns.data(),
                                           part_of_place_.data(),
                                           plan_.part_places.data(),
                                           steps_before_.data(),
                                           step_places_.data()};
    if (!lay_out(reader, most_bytes)) {
      return {};
    }
    relay_sources& from = plan_.sources;
    // See split_long_rows for the longest row that it leaves.
    const std::int64_t longest_row = split.has_partial_rows ? 2 * triangle.longest_row : triangle.longest_row;
    if (triangle.rows_are_stored_runs && longest_row <= relay_sources::most_row_entries &&
        stored_entries < (std::int64_t{1} << 32)) {
      from.diagonals = make_kept<std::uint32_t>(plan_.places);
      from.row_entries = make_kept<std::uint8_t>(plan_.places);
      from.row_links = make_kept<std::uint16_t>(split.has_partial_rows ? plan_.places : 0);
      from.late_entries = make_kept<std::uint32_t>(simt::ceil_div(stored_entries, 32));
      on_.fill_bytes(from.late_entries.data(), 0, from.late_entries.bytes());
    } else {
      from.targets = make_kept<std::uint32_t>(stored_entries);
      on_.fill_bytes(from.targets.data(), 0xff, from.targets.bytes());
    }
    simt::for_each(on_, plan_.places,
                   fill_records<Scalar, Index, Offset>{
                       reader, form_, size, reversed, split.positions.data(), order.rows.data(),
                       ordered.sources.data(), ordered.diagonal_sources.data(), plan_.record_begins.data(),
                       plan_.records.data(), from.targets.data(), stored_entries, from.diagonals.data(),
                       from.row_entries.data(), from.row_links.data(), from.late_entries.data()});
    return std::move(plan_);
  }

 private:
  template <class T>
  buffer<T> make(std::int64_t count) const {
    return buffer<T>(static_cast<std::size_t>(count), memory_.scratch, on_.stream());
  }
  template <class T>
  buffer<T> make_kept(std::int64_t count) const {
    return buffer<T>(static_cast<std::size_t>(count), memory_.kept, on_.stream());
  }
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
  buffer<Index> order_parts(const device_triangle<Index, Offset>& t, const device_levels<Index>& levels) {
    using namespace relay_kernels;
    const std::int64_t n = t.size;
    const auto parts = make<std::uint32_t>(n);
    const auto numbers = make<Index>(n);
    const auto level_places = make<Index>(n);
    part_of_place_ = make<std::uint32_t>(n);
    simt::for_each(
        on_, n,
        find_parts<Index, Offset>{{t.row_offsets.data(), n, t.entries() + n, plan_.parts, plan_.boxes},
                                  levels.rows.data(),
                                  parts.data(),
                                  numbers.data()});
    on_.sort_pairs(parts.data(), part_of_place_.data(), numbers.data(), level_places.data(), n,
                   bits_for(static_cast<std::uint64_t>(plan_.parts) + 1), memory_.scratch);
    auto rows = make<Index>(n);
    auto runs = make<std::int32_t>(n + 1);
    simt::for_each(on_, n + 1,
                   find_runs<Index>{n, levels.rows.data(), levels.level_offsets.data(), levels.count,
                                    level_places.data(), part_of_place_.data(), rows.data(), runs.data()});
    const auto run_begins = make<std::int32_t>(sum(runs));
    simt::for_each(on_, n, find_run_begins{runs.data(), run_begins.data()});
    steps_before_ = make<std::int32_t>(n + 1);
    simt::for_each(on_, n + 1,
                   find_steps{n, runs.data(), run_begins.data(), shape_.step_rows(), steps_before_.data()});
    plan_.steps = sum(steps_before_);
    step_places_ = make<std::int32_t>(plan_.steps + 1);
    part_steps_ = make<std::int32_t>(plan_.parts + 1);
    plan_.part_places = make_kept<std::int32_t>(plan_.parts + 1);
    simt::for_each(on_, n,
                   find_begins{n, plan_.parts, part_of_place_.data(), steps_before_.data(),
                               step_places_.data(), part_steps_.data(), plan_.part_places.data()});
    const auto is_early = make<std::int32_t>(n);
    simt::for_each(
        on_, n,
        find_early_rows<Index, Offset>{{t.row_offsets.data(), n, t.entries() + n, plan_.parts, plan_.boxes},
                                       rows.data(),
                                       t.columns.data(),
                                       is_early.data()});
    auto ordered = make<Index>(n);
    simt::for_each(on_, n,
                   order_slices<Index>{shape_, steps_before_.data(), step_places_.data(), is_early.data(),
                                       rows.data(), ordered.data()});
    return ordered;
  }

  /// Slices, and records without rows and entries. Whether they fit.
  bool lay_out(const relay_kernels::row_reader<Index, Offset>& reader, std::int64_t most_bytes) {
    using namespace relay_kernels;
    const std::int64_t slices = plan_.steps * shape_.step_slices();
    const std::int32_t turn = teams_ * shape_.step_slices();
    if (slices > most_slices) {
      return false;
    }
    const auto counts = make<std::int32_t>(4 * slices);
    on_.fill_bytes(counts.data(), 0, counts.bytes());
    std::int32_t* const rows = counts.data();
    std::int32_t* const late = rows + slices;
    std::int32_t* const early = late + slices;
    std::int32_t* const early_rows = early + slices;
    simt::for_each(on_, plan_.places, measure_slices<Index, Offset>{reader, rows, late, early, early_rows});
    auto records = make<std::uint64_t>(slices + 1);
    on_.fill_bytes(records.data(), 0, records.bytes());
    simt::for_each(on_, slices, measure_records{form_, rows, late, early, early_rows, records.data()});
    const std::int64_t bytes = 16 * sum(records);
    if (bytes > most_bytes) {
      return false;
    }
    plan_.record_begins = make_kept<std::uint32_t>(slices);
    plan_.records = make_kept<unsigned char>(bytes);
    on_.fill_bytes(plan_.records.data(), 0, plan_.records.bytes());
    simt::for_each(
        on_, slices,
        make_slices{form_, turn, step_places_.data(), part_of_place_.data(), part_steps_.data(), rows, late,
                    early, early_rows, records.data(), plan_.record_begins.data(), plan_.records.data()});
    plan_.starts = make_kept<relay_warp_start>(std::int64_t{plan_.parts} * turn);
    simt::for_each(on_, static_cast<std::int64_t>(plan_.starts.size()),
                   make_starts{form_, turn, part_steps_.data(), plan_.record_begins.data(),
                               plan_.records.data(), plan_.starts.data()});
    simt::for_each(on_, 32 * slices,
                   clear_records{form_, plan_.window, plan_.record_begins.data(), plan_.records.data()});
    return true;
  }

  relay_shape_values shape_;
  int teams_;
  const Executor& on_;
  analysis_memory memory_;
  relay_record_form form_ = relay_record_form::of<Scalar>(shape_);
  relay_plan plan_;
  buffer<std::uint32_t> part_of_place_;
  buffer<std::int32_t> steps_before_;
  buffer<std::int32_t> step_places_;
  buffer<std::int32_t> part_steps_;  ///< parts + 1: the first step of each
};

}  // namespace sptrsv::detail::dataflow
