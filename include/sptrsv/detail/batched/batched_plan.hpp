// SPDX-License-Identifier: Apache-2.0
// The plan of a batched solve, which all systems share: the rows in level order, cut into steps that the
// lanes of a system do together, and the order of the values in the stream of a system.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/batched/checks.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::batched {

/// Entries that a lane multiplies in one step.
inline constexpr int step_entries = 4;
/// Steps whose records are held in registers.
inline constexpr int steps_ahead = 4;
/// A record announces the values of so many steps later, which are loaded then.
inline constexpr int values_ahead = steps_ahead - 1;

/// What one lane does in one step: it multiplies entries of a row with components of x. A row may take
/// several lanes, and several steps. In its last step the sums of its lanes are added up, and one lane writes
/// the component. And which values are loaded for the step that is values_ahead later.
///
/// A step takes from the stream of values of each system first the reciprocals of the pivots, one for each
/// row, unless the diagonal is unit; then the first entries of lanes 0, 1, ..., then their second ones, and
/// so on. Where a lane has no such entry, but one after it has, the slot is unused.
struct alignas(16) lane_step {
  std::uint16_t columns[step_entries];  ///< substitution indices
  std::uint32_t own;                    ///< bits for the functions from row() to writes()
  std::uint32_t next_counts;            ///< bits for next_count()

  /// The substitution index of the row.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::uint32_t row() const { return own & 0xffff; }
  /// The number of entries, at most step_entries.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::uint32_t entries() const { return own >> entries_bit & 7; }
  /// Lanes whose sums are to be added up in this step; the same for all lanes.
  [[nodiscard]] SPTRSV_HOST_DEVICE int row_lanes() const { return 1 << (own >> shift_bit & 7); }
  /// The logarithm of the lanes of a row in the later step; the same for all lanes.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::uint32_t next_shift() const { return own >> next_shift_bit & 7; }
  /// Returns whether the step is the last one of its rows; all lanes get the same answer.
  [[nodiscard]] SPTRSV_HOST_DEVICE bool is_last() const { return (own & last_flag) != 0; }
  /// Returns whether this lane writes the component.
  [[nodiscard]] SPTRSV_HOST_DEVICE bool writes() const { return (own & writes_flag) != 0; }
  /// The number of lanes of the later step that have an entry k, or with k = step_entries its number of
  /// pivots; the same for all lanes.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::uint32_t next_count(int k) const {
    return next_counts >> (count_bits * k) & ((1u << count_bits) - 1);
  }

  static constexpr int entries_bit = 16;
  static constexpr int shift_bit = 19;
  static constexpr int next_shift_bit = 22;
  static constexpr std::uint32_t last_flag = 1u << 25;
  static constexpr std::uint32_t writes_flag = 1u << 26;
  static constexpr int count_bits = 6;
};
static_assert(step_entries <= 7 && lane_step::count_bits * (step_entries + 1) <= 32);

/// The largest number of rows: columns are held in 16 bits.
inline constexpr std::int64_t max_rows = 65535;

/// Streams of values begin at multiples of so many bytes.
inline constexpr int stream_align = 32;

/// Returns the bytes of shared memory of a group, which holds x. `row_bytes`: of a row of all its systems.
inline std::size_t shared_bytes(int lanes, std::int64_t rows, std::size_t row_bytes) {
  const std::size_t bytes = at(rows) * row_bytes;
  // The groups of a warp use different banks of shared memory when they are at the same place of the plan.
  return (bytes + 127) / 128 * 128 + at(lanes) * row_bytes % 128;
}

/// Sorts the rows of each level by length, the longest first. Rows of equal length keep their order.
template <class Index, class Offset>
void sort_levels_by_length(host_levels<Index>& levels, const host_triangle<Index, Offset>& t) {
  for (std::size_t level = 0; level + 1 < levels.level_offsets.size(); ++level) {
    std::stable_sort(levels.rows.begin() + static_cast<std::ptrdiff_t>(levels.level_offsets[level]),
                     levels.rows.begin() + static_cast<std::ptrdiff_t>(levels.level_offsets[level + 1]),
                     [&](Index a, Index b) { return t.length(a) > t.length(b); });
  }
}

/// Rows of one level that are solved in the same steps.
struct slice {
  std::size_t first_row;  ///< in level order
  int rows;
  int shift;  ///< logarithm of the lanes of a row
  std::int64_t steps;
};

/// Cuts the levels into slices of at most `lanes` rows. A row gets several lanes if there are few rows and if
/// it takes fewer steps then.
template <class Index, class Offset>
std::vector<slice> cut(const host_levels<Index>& levels, const host_triangle<Index, Offset>& t, int lanes) {
  std::vector<slice> made;
  for (std::size_t level = 0; level + 1 < levels.level_offsets.size(); ++level) {
    const auto end = at(levels.level_offsets[level + 1]);
    for (auto first = at(levels.level_offsets[level]); first < end;) {
      const std::int64_t longest = t.length(levels.rows[first]);
      const auto rows = static_cast<int>(std::min(end - first, at(lanes)));
      const auto steps = [&](int shift) {
        return std::max(std::int64_t{1}, simt::ceil_div(longest, std::int64_t{step_entries} << shift));
      };
      int shift = 0;
      while ((simt::ceil_power_of_two(rows) << (shift + 1)) <= lanes && steps(shift + 1) < steps(shift)) {
        ++shift;
      }
      made.push_back({first, rows, shift, steps(shift)});
      first += at(rows);
    }
  }
  return made;
}

/// The plan that all systems of a batch share, in host memory; the engine copies it to the device.
template <class Offset>
struct plan {
  int lanes = 0;          ///< of a group
  int group_systems = 1;  ///< systems of a group
  std::int64_t steps = 0;
  /// By step and lane. values_ahead records for each lane come before the first step, which only announce
  /// values, and steps_ahead ones after the last step, which are only loaded.
  std::vector<lane_step> lane_steps;
  /// By slot of the stream: the index in the stored matrix; -2 minus the index for a pivot; -1: unused.
  std::vector<Offset> sources;
  std::vector<std::uint16_t> rows;  ///< by slot: the substitution index of a pivot
};

/// Writes the steps and the stream of a plan.
template <class Index, class Offset>
struct plan_writer {
  const host_levels<Index>& levels;
  const host_triangle<Index, Offset>& t;
  plan<Offset>& to;

  void write(const std::vector<slice>& slices) {
    to.lane_steps.resize(values_ahead * lanes());
    for (const slice& s : slices) {
      for (std::int64_t step = 0; step < s.steps; ++step) {
        write(s, step);
        ++to.steps;
      }
    }
    to.lane_steps.resize(to.lane_steps.size() + steps_ahead * lanes());
  }

 private:
  [[nodiscard]] std::size_t lanes() const { return at(to.lanes); }

  /// Writes one step. The lanes of a row take its entries in turn.
  void write(const slice& s, std::int64_t step) {
    const std::size_t first_lane = to.lane_steps.size();
    to.lane_steps.resize(first_lane + lanes());
    lane_step* const of_lanes = to.lane_steps.data() + first_lane;
    const bool is_last = step + 1 == s.steps;
    const int row_lanes = 1 << s.shift;
    const std::int64_t begin = step * step_entries * row_lanes;
    const auto row_of = [&](int lane) { return levels.rows[s.first_row + at(lane / row_lanes)]; };
    const auto entry_of = [&](int lane, std::uint32_t k) {
      return begin + lane % row_lanes + std::int64_t{k} * row_lanes;
    };
    std::uint32_t counts = 0;
    if (is_last && !t.diagonal_sources.empty()) {
      counts = static_cast<std::uint32_t>(s.rows) << (lane_step::count_bits * step_entries);
      for (int r = 0; r < s.rows; ++r) {
        const Index row = row_of(r * row_lanes);
        put(static_cast<Offset>(-2 - t.diagonal_sources[at(row)]), row);
      }
    }
    for (int lane = 0; lane < s.rows * row_lanes; ++lane) {
      const Index row = row_of(lane);
      std::uint32_t entries = 0;
      for (; entries < step_entries && entry_of(lane, entries) < t.length(row); ++entries) {
        const auto column = t.columns[stored(row, entry_of(lane, entries))];
        of_lanes[lane].columns[entries] = static_cast<std::uint16_t>(column);
      }
      of_lanes[lane].own |= static_cast<std::uint32_t>(row) | entries << lane_step::entries_bit |
                            (is_last && lane % row_lanes == 0 ? lane_step::writes_flag : 0);
    }
    for (std::uint32_t k = 0; k < step_entries; ++k) {
      int count = s.rows * row_lanes;
      while (count > 0 && of_lanes[count - 1].entries() <= k) {
        --count;
      }
      counts |= static_cast<std::uint32_t>(count) << (lane_step::count_bits * k);
      for (int lane = 0; lane < count; ++lane) {
        const Index row = row_of(lane);
        put(k < of_lanes[lane].entries() ? t.sources[stored(row, entry_of(lane, k))] : Offset{-1}, row);
      }
    }
    const auto shift = static_cast<std::uint32_t>(s.shift);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      if (is_last) {
        of_lanes[lane].own |= lane_step::last_flag | shift << lane_step::shift_bit;
      }
      lane_step& earlier = to.lane_steps[first_lane + lane - values_ahead * lanes()];
      earlier.own |= shift << lane_step::next_shift_bit;
      earlier.next_counts = counts;
    }
  }

  [[nodiscard]] std::size_t stored(Index row, std::int64_t entry) const {
    return at(t.row_offsets[at(row)]) + at(entry);
  }
  void put(Offset source, Index row) {
    to.sources.push_back(source);
    to.rows.push_back(static_cast<std::uint16_t>(row));
  }
};

/// The batch and the properties of the GPU that the plan depends on.
struct plan_request {
  batch_options batch;
  std::size_t scalar_bytes;  ///< size of a value
  std::size_t shared_limit;  ///< shared memory of a block, and about that of an SM
};

/// Returns an estimate of the time of a solve, in clock cycles. The constants are fitted to solves of 10 000
/// systems of six patterns on an H200 (docs/lab_log/batched.md).
inline double time_of(const std::vector<slice>& slices, std::int64_t rows, int lanes, int group_systems,
                      const plan_request& request) {
  constexpr double processors = 132;
  constexpr std::size_t max_blocks = 32;     // on an SM
  constexpr std::size_t reserved = 1 << 10;  // bytes of shared memory that the runtime takes of each block
  double steps = 0;
  double shifts = 0;
  for (const slice& s : slices) {
    steps += static_cast<double>(s.steps);
    shifts += s.shift;
  }
  const double passes = static_cast<double>(rows) * group_systems / lanes;  // over b and x
  // The latency of the work of one warp, and the time in which an SM issues its instructions.
  const double latency = 2000 + 30 * passes + (group_systems > 1 ? 1.25 : 1) * (550 * steps + 33 * shifts);
  const double issue = 23 * passes + (group_systems > 1 ? 1.2 : 1) * (21 * steps + 3.5 * shifts);

  const double groups = std::ceil(static_cast<double>(request.batch.systems) / group_systems);
  const double warps = groups * lanes / 32 / processors;  // for each SM
  // Registers and shared memory limit the blocks on an SM. `words`: registers of a value of all systems of a
  // group.
  const auto row_bytes = at(group_systems) * request.scalar_bytes;
  const std::size_t words = row_bytes / 4;
  const std::size_t block_bytes = at(32 / lanes) * shared_bytes(lanes, rows, row_bytes);
  const std::size_t resident =
      std::max(std::size_t{1}, std::min({max_blocks, (std::size_t{1} << 16) / 32 / (50 + 28 * words),
                                         request.shared_limit / (block_bytes + reserved)}));
  return std::max(latency, warps * latency / static_cast<double>(resident)) + warps * issue;
}

/// Plans the solve of systems with the triangle `t`, for the numbers of lanes and of systems in a group with
/// the smallest estimated time. Returns a plan without lanes if no block has enough shared memory.
template <class Index, class Offset>
plan<Offset> make_plan(host_levels<Index> levels, const host_triangle<Index, Offset>& t,
                       const plan_request& request) {
  plan<Offset> best;
  std::vector<slice> slices;
  double best_time = 0;
  sort_levels_by_length(levels, t);
  for (const int lanes : {32, 16, 8, 4}) {
    if (request.batch.lanes != 0 && request.batch.lanes != lanes) {
      continue;
    }
    std::vector<slice> of_lanes = cut(levels, t, lanes);
    for (int systems = 1; systems <= max_group_systems(request.scalar_bytes); ++systems) {
      const std::size_t row_bytes = at(systems) * request.scalar_bytes;
      if ((request.batch.together != 0 && request.batch.together != systems) ||
          at(32 / lanes) * shared_bytes(lanes, t.size(), row_bytes) > request.shared_limit) {
        continue;
      }
      const double time = time_of(of_lanes, t.size(), lanes, systems, request);
      if (best.lanes == 0 || time < best_time) {
        best.lanes = lanes;
        best.group_systems = systems;
        best_time = time;
        slices = of_lanes;
      }
    }
  }
  if (best.lanes != 0) {
    plan_writer<Index, Offset>{levels, t, best}.write(slices);
  }
  return best;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
