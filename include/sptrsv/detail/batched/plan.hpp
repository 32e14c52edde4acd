// The plan of a batched solve, which all systems share: the rows in level order, cut into steps that the
// lanes of a system do together, and the order of the values in the stream of a system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail::batched {

/// Entries that a lane multiplies in one step.
inline constexpr int step_entries = 4;

/// What one lane does in one step: it multiplies entries of a row, which are adjacent in the ring buffer,
/// with components of x. A row may take several lanes, and several steps. In its last step the sums of its
/// lanes are added up, and one lane writes the component; the reciprocal of the pivot, unless the diagonal is
/// unit, follows the entries of this lane.
struct alignas(16) lane_step {
  std::uint16_t place;   ///< of the first entry in the ring buffer, in bytes
  std::uint8_t entries;  ///< at most step_entries
  std::uint8_t flags;    ///< see below
  std::uint16_t row;     ///< substitution index
  std::uint16_t padding;
  std::uint16_t columns[step_entries];  ///< substitution indices

  // The flags that all lanes have in common: stages to wait for, the logarithm of the lanes whose sums are to
  // be added up, and whether the step is the last one of its rows. And whether this lane writes the
  // component.
  static constexpr int advance_mask = 3;
  static constexpr int shift_bit = 2;
  static constexpr int shift_mask = 7;
  static constexpr int is_last = 1 << 5;
  static constexpr int writes = 1 << 6;
};

/// The largest number of rows: columns are held in 16 bits.
inline constexpr std::int64_t max_rows = 65535;

// The values of a system pass through a ring buffer in shared memory, which is filled stage by stage.
inline constexpr int ring_stages = 8;   ///< a power of two
inline constexpr int stages_ahead = 4;  ///< stages that are being copied
inline constexpr int copy_bytes = 16;   ///< that a lane copies at once
/// A step has at most the values of so many stages, and begins within a stage. lane_step counts up to 3.
inline constexpr int step_stages = 3;
static_assert(step_stages + stages_ahead < ring_stages, "the ring buffer is too small");

/// Streams of values begin at multiples of so many bytes.
inline constexpr int stream_align = 32;

/// Copies that each lane makes for a stage: enough for the entries and the reciprocal of each lane in a step,
/// and for what is left out where the ring buffer begins anew.
SPTRSV_HOST_DEVICE constexpr int copies_per_stage(std::size_t scalar_bytes) {
  return scalar_bytes > 8 ? 2 : 1;
}
SPTRSV_HOST_DEVICE constexpr int stage_bytes(int lanes, std::size_t scalar_bytes) {
  return lanes * copy_bytes * copies_per_stage(scalar_bytes);
}
SPTRSV_HOST_DEVICE constexpr int ring_bytes(int lanes, std::size_t scalar_bytes) {
  return ring_stages * stage_bytes(lanes, scalar_bytes);
}

/// Returns the bytes of shared memory of a system: a ring buffer, and then x.
inline std::size_t shared_bytes(int lanes, std::int64_t rows, std::size_t scalar_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(ring_bytes(lanes, scalar_bytes)) +
                            static_cast<std::size_t>(rows) * scalar_bytes;
  // The systems of a warp use different banks of shared memory when they are at the same place of the plan.
  return (bytes + 127) / 128 * 128 + static_cast<std::size_t>(lanes) * scalar_bytes % 128;
}

/// A triangle in host memory, see device_triangle, and its levels, see device_levels.
template <class Index, class Offset>
struct host_system {
  std::int64_t size = 0;
  bool unit = false;
  std::vector<Offset> row_offsets;
  std::vector<Index> columns;
  std::vector<Offset> sources;
  std::vector<Offset> diagonal_sources;
  std::vector<Index> level_offsets;
  std::vector<Index> level_rows;

  [[nodiscard]] std::int64_t entries_of(Index row) const {
    const auto r = static_cast<std::size_t>(row);
    return static_cast<std::int64_t>(row_offsets[r + 1] - row_offsets[r]);
  }
};

/// Sorts the rows of each level by length, the longest first. Rows of equal length keep their order.
template <class Index, class Offset>
void sort_levels_by_length(host_system<Index, Offset>& of) {
  for (std::size_t level = 0; level + 1 < of.level_offsets.size(); ++level) {
    std::stable_sort(of.level_rows.begin() + static_cast<std::ptrdiff_t>(of.level_offsets[level]),
                     of.level_rows.begin() + static_cast<std::ptrdiff_t>(of.level_offsets[level + 1]),
                     [&](Index a, Index b) { return of.entries_of(a) > of.entries_of(b); });
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
std::vector<slice> cut(const host_system<Index, Offset>& of, int lanes) {
  std::vector<slice> made;
  for (std::size_t level = 0; level + 1 < of.level_offsets.size(); ++level) {
    const auto end = static_cast<std::size_t>(of.level_offsets[level + 1]);
    for (auto first = static_cast<std::size_t>(of.level_offsets[level]); first < end;) {
      const std::int64_t longest = of.entries_of(of.level_rows[first]);
      const auto rows = static_cast<int>(std::min(end - first, static_cast<std::size_t>(lanes)));
      const auto steps = [&](int shift) {
        return std::max(std::int64_t{1}, simt::ceil_div(longest, std::int64_t{step_entries} << shift));
      };
      int shift = 0;
      while ((simt::ceil_power_of_two(rows) << (shift + 1)) <= lanes && steps(shift + 1) < steps(shift)) {
        ++shift;
      }
      made.push_back({first, rows, shift, steps(shift)});
      first += static_cast<std::size_t>(rows);
    }
  }
  return made;
}

/// The plan that all systems of a batch share, in host memory; the engine copies it to the device.
template <class Offset>
struct plan {
  int lanes = 0;  ///< of a system
  std::int64_t steps = 0;
  std::vector<lane_step> lane_steps;  ///< by step and lane; two steps more, which are only loaded
  /// By slot of the stream: the index in the stored matrix; -2 minus the index for a pivot; -1: unused.
  std::vector<Offset> sources;
  std::vector<std::uint16_t> rows;  ///< by slot: the substitution index of a pivot
};

/// Writes the steps and the stream of a plan.
template <class Index, class Offset>
class plan_writer {
 public:
  plan_writer(const host_system<Index, Offset>& of, std::size_t scalar_bytes, plan<Offset>& to)
      : of_(of), scalar_bytes_(scalar_bytes), to_(to) {}

  void write(const std::vector<slice>& slices) {
    for (const slice& s : slices) {
      for (std::int64_t step = 0; step < s.steps; ++step) {
        write(s, step);
      }
    }
    to_.lane_steps.resize(static_cast<std::size_t>(to_.steps + 2) * lanes());
  }

 private:
  [[nodiscard]] std::size_t lanes() const { return static_cast<std::size_t>(to_.lanes); }

  void write(const slice& s, std::int64_t step) {
    const std::size_t first = to_.lane_steps.size();
    to_.lane_steps.resize(first + lanes());
    const bool is_last = step + 1 == s.steps;
    for (int r = 0; r < s.rows; ++r) {
      const Index row = of_.level_rows[s.first_row + static_cast<std::size_t>(r)];
      const std::int64_t before = step * (std::int64_t{step_entries} << s.shift);
      const std::int64_t left = std::max(std::int64_t{0}, of_.entries_of(row) - before);
      const std::int64_t entries = std::min(left, std::int64_t{step_entries} << s.shift);
      const std::int64_t of_lane = simt::ceil_div(entries, std::int64_t{1} << s.shift);
      for (int part = 0; part < 1 << s.shift; ++part) {
        const std::int64_t begin = std::min(part * of_lane, entries);
        lane_step& lane = to_.lane_steps[first + static_cast<std::size_t>((r << s.shift) + part)];
        write(lane, row, before + begin, std::min(of_lane, entries - begin), is_last && part == 0);
      }
    }
    const int stage = stage_bytes(to_.lanes, scalar_bytes_);
    int advance = 0;
    while (ready_ == 0 || ready_ * stage < static_cast<std::int64_t>(to_.sources.size() * scalar_bytes_)) {
      ++ready_;
      ++advance;
    }
    const int common = advance | (is_last ? lane_step::is_last | s.shift << lane_step::shift_bit : 0);
    for (std::size_t lane = first; lane < to_.lane_steps.size(); ++lane) {
      to_.lane_steps[lane].flags = static_cast<std::uint8_t>(to_.lane_steps[lane].flags | common);
    }
    ++to_.steps;
  }

  void write(lane_step& lane, Index row, std::int64_t first, std::int64_t entries, bool writes) {
    const bool with_pivot = writes && !of_.unit;
    const auto ring = static_cast<std::size_t>(ring_bytes(to_.lanes, scalar_bytes_)) / scalar_bytes_;
    const auto slots = static_cast<std::size_t>(entries + (with_pivot ? 1 : 0));
    if (to_.sources.size() % ring + slots > ring) {
      put(Offset{-1}, 0, ring - to_.sources.size() % ring);
    }
    lane.place = static_cast<std::uint16_t>(to_.sources.size() % ring * scalar_bytes_);
    lane.entries = static_cast<std::uint8_t>(entries);
    lane.flags = writes ? lane_step::writes : 0;
    lane.row = static_cast<std::uint16_t>(row);
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = 0; k < entries; ++k) {
      const auto e = static_cast<std::size_t>(of_.row_offsets[r]) + static_cast<std::size_t>(first + k);
      lane.columns[k] = static_cast<std::uint16_t>(of_.columns[e]);
      put(of_.sources[e], 0, 1);
    }
    if (with_pivot) {
      put(static_cast<Offset>(-2 - of_.diagonal_sources[r]), lane.row, 1);
    }
  }

  void put(Offset source, std::uint16_t row, std::size_t count) {
    to_.sources.insert(to_.sources.end(), count, source);
    to_.rows.insert(to_.rows.end(), count, row);
  }

  const host_system<Index, Offset>& of_;
  std::size_t scalar_bytes_;
  plan<Offset>& to_;
  std::int64_t ready_ = 0;  ///< stages
};

/// The properties of a batch and of the GPU that the plan depends on.
struct plan_request {
  std::int64_t systems;
  int lanes;                 ///< of a system: 4, 8, 16 or 32; 0: the plan chooses
  std::size_t scalar_bytes;  ///< size of a value
  std::size_t shared_limit;  ///< shared memory of a block, and about that of an SM
};

/// Returns an estimate of the time of a solve, in clock cycles, with some constants of a large GPU.
inline double time_of(const std::vector<slice>& slices, std::int64_t rows, int lanes,
                      const plan_request& request) {
  constexpr double processors = 128;
  constexpr double max_blocks = 32;          // on an SM
  constexpr std::size_t reserved = 1 << 10;  // bytes of shared memory that the runtime takes of each block
  const double passes = static_cast<double>(rows) / lanes;  // over b and x
  double latency = 3000 + 50 * passes;                      // of the work of one warp
  double issue = 8 * passes;  // time in which the schedulers of an SM issue its instructions
  for (const slice& s : slices) {
    latency += 700 * static_cast<double>(s.steps) + 50 * s.shift;
    issue += 30 * static_cast<double>(s.steps) + 2 * s.shift;
  }
  const double warps = static_cast<double>(request.systems) * lanes / 32 / processors;  // for each SM
  const std::size_t block_bytes =
      static_cast<std::size_t>(32 / lanes) * shared_bytes(lanes, rows, request.scalar_bytes);
  const double resident = std::max(
      1.0, std::min(max_blocks, static_cast<double>(request.shared_limit / (block_bytes + reserved))));
  return std::max(latency, warps * latency / resident) + warps * issue;
}

/// Plans the solve of systems with the pattern `of`, for the number of lanes with the smallest estimated
/// time. Returns a plan without lanes if no block has enough shared memory.
template <class Index, class Offset>
plan<Offset> make_plan(host_system<Index, Offset>& of, const plan_request& request) {
  plan<Offset> best;
  std::vector<slice> slices;
  double best_time = 0;
  sort_levels_by_length(of);
  for (const int lanes : {32, 16, 8, 4}) {
    const std::size_t block_bytes =
        static_cast<std::size_t>(32 / lanes) * shared_bytes(lanes, of.size, request.scalar_bytes);
    if ((request.lanes != 0 && request.lanes != lanes) || block_bytes > request.shared_limit) {
      continue;
    }
    std::vector<slice> of_lanes = cut(of, lanes);
    const double time = time_of(of_lanes, of.size, lanes, request);
    if (best.lanes == 0 || time < best_time) {
      best.lanes = lanes;
      best_time = time;
      slices = std::move(of_lanes);
    }
  }
  if (best.lanes != 0) {
    plan_writer<Index, Offset>(of, request.scalar_bytes, best).write(slices);
  }
  return best;
}

}  // namespace sptrsv::detail::batched
