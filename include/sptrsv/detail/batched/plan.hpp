// The plan of a batched solve, which all systems share: the rows in level order, cut into slices that the
// lanes of a system solve at once, and the order of the values in the stream of a system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail::batched {

/// Rows of one level that the lanes of a system solve at once, 2^shift lanes for each row.
struct alignas(8) slice {
  std::uint32_t slot_end;   ///< one past the last slot of the values
  std::uint16_t first_row;  ///< in level order
  std::uint8_t rows;
  std::uint8_t shift;
};

/// A row in level order. Its entries are consecutive in the stream of values; the reciprocal of the pivot
/// follows them unless the diagonal is unit.
struct alignas(8) row {
  std::uint32_t begin;    ///< slot of the first entry
  std::uint16_t index;    ///< substitution index
  std::uint16_t entries;  ///< without the diagonal
};

/// The largest number of rows: columns are held in 16 bits.
inline constexpr std::int64_t max_rows = 65535;

/// The values of a system pass through a ring buffer in shared memory, which is filled stage by stage.
inline constexpr int ring_stages = 8;    ///< a power of two
inline constexpr int stages_ahead = 4;   ///< stages that are being copied
inline constexpr int slice_stages = 3;   ///< a slice has at most as many slots as so many stages
inline constexpr int copy_bytes = 16;    ///< that a lane copies at once
inline constexpr int stream_align = 32;  ///< streams of values begin at multiples of so many bytes
static_assert(slice_stages + stages_ahead < ring_stages,
              "a slice may begin within a stage: one stage more is in use");

/// The layout of shared memory: for each system of the block a ring buffer, and then x.
struct shared_layout {
  int lanes;               ///< of a system
  int copies_per_stage;    ///< that a lane makes, a power of two
  std::size_t ring_bytes;  ///< a power of two
  std::size_t bytes_of_system;

  static shared_layout of(int lanes, int copies_per_stage, std::int64_t rows, std::size_t scalar_bytes) {
    shared_layout l{};
    l.lanes = lanes;
    l.copies_per_stage = copies_per_stage;
    l.ring_bytes = static_cast<std::size_t>(ring_stages * copies_per_stage * lanes * copy_bytes);
    const std::size_t bytes = l.ring_bytes + static_cast<std::size_t>(rows) * scalar_bytes;
    // The systems of a warp use different banks of shared memory when they are at the same place of the plan.
    l.bytes_of_system = (bytes + 127) / 128 * 128 + static_cast<std::size_t>(lanes) * scalar_bytes % 128;
    return l;
  }
  [[nodiscard]] std::size_t block_bytes() const {
    return bytes_of_system * static_cast<std::size_t>(32 / lanes);
  }
  /// Returns the slots of a stage.
  [[nodiscard]] std::int64_t stage_slots(std::size_t scalar_bytes) const {
    return static_cast<std::int64_t>(ring_bytes / ring_stages / scalar_bytes);
  }
};

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

  [[nodiscard]] std::int64_t entries_of(std::size_t r) const {
    return static_cast<std::int64_t>(row_offsets[r + 1] - row_offsets[r]);
  }
  /// Returns how many slots a row has.
  [[nodiscard]] std::int64_t slots_of(std::size_t r) const { return entries_of(r) + (unit ? 0 : 1); }
};

/// Sorts the rows of each level by length, the longest first. Rows of equal length keep their order.
template <class Index, class Offset>
void sort_levels_by_length(host_system<Index, Offset>& of) {
  for (std::size_t level = 0; level + 1 < of.level_offsets.size(); ++level) {
    std::stable_sort(of.level_rows.begin() + static_cast<std::ptrdiff_t>(of.level_offsets[level]),
                     of.level_rows.begin() + static_cast<std::ptrdiff_t>(of.level_offsets[level + 1]),
                     [&](Index a, Index b) {
                       return of.entries_of(static_cast<std::size_t>(a)) >
                              of.entries_of(static_cast<std::size_t>(b));
                     });
  }
}

/// Slices, and an estimate of what they take, in clock cycles.
struct cut_rows {
  std::vector<slice> slices;
  double latency = 0;  ///< of all slices, one after the other
  double issue = 0;    ///< time in which the schedulers of an SM issue the instructions of one warp
};

/// Cuts the levels into slices of at most `lanes` rows and `max_slots` slots. A row of few neighbours in its
/// level gets several lanes if it has at least four entries for each.
template <class Index, class Offset>
cut_rows cut(const host_system<Index, Offset>& of, int lanes, std::int64_t max_slots) {
  cut_rows made;
  std::int64_t slot = 0;
  for (std::size_t level = 0; level + 1 < of.level_offsets.size(); ++level) {
    auto next = static_cast<std::size_t>(of.level_offsets[level]);
    const auto end = static_cast<std::size_t>(of.level_offsets[level + 1]);
    while (next < end) {
      const std::int64_t longest = of.entries_of(static_cast<std::size_t>(of.level_rows[next]));
      const std::size_t first = next;
      std::int64_t slots = 0;
      while (next < end && next - first < static_cast<std::size_t>(lanes)) {
        const std::int64_t more = of.slots_of(static_cast<std::size_t>(of.level_rows[next]));
        if (slots + more > max_slots) {
          break;
        }
        slots += more;
        ++next;
      }
      const auto rows = static_cast<int>(next - first);
      int shift = 0;
      while ((simt::ceil_power_of_two(rows) << (shift + 1)) <= lanes && longest >= std::int64_t{4}
                                                                                       << (shift + 1)) {
        ++shift;
      }
      slot += slots;
      made.slices.push_back({static_cast<std::uint32_t>(slot), static_cast<std::uint16_t>(first),
                             static_cast<std::uint8_t>(rows), static_cast<std::uint8_t>(shift)});
      const auto steps = static_cast<double>(simt::ceil_div(longest, std::int64_t{1} << shift));
      made.latency += 110 + 16 * steps + 25 * shift;
      made.issue += (60 + 12 * steps + 8 * shift) / 4;
    }
  }
  return made;
}

/// What the kernels read, by slice, by row in level order and by slot.
template <class Offset>
struct plan {
  shared_layout shared{};
  std::vector<slice> slices;
  std::vector<row> rows;
  std::vector<std::uint16_t> columns;  ///< substitution index of the column; of the row itself for a pivot
  std::vector<Offset> sources;         ///< index in the stored matrix; -1 minus the index for a pivot
};

/// Writes rows, columns and sources.
template <class Index, class Offset>
void fill_rows(const host_system<Index, Offset>& of, plan<Offset>& p) {
  for (const Index of_level : of.level_rows) {
    const auto r = static_cast<std::size_t>(of_level);
    p.rows.push_back({static_cast<std::uint32_t>(p.columns.size()), static_cast<std::uint16_t>(r),
                      static_cast<std::uint16_t>(of.entries_of(r))});
    for (auto e = static_cast<std::size_t>(of.row_offsets[r]);
         e < static_cast<std::size_t>(of.row_offsets[r + 1]); ++e) {
      p.columns.push_back(static_cast<std::uint16_t>(of.columns[e]));
      p.sources.push_back(of.sources[e]);
    }
    if (!of.unit) {
      p.columns.push_back(static_cast<std::uint16_t>(r));
      p.sources.push_back(static_cast<Offset>(-1 - of.diagonal_sources[r]));
    }
  }
}

/// The properties of a batch and of the GPU that the plan depends on.
struct plan_request {
  std::int64_t systems;
  int lanes;                 ///< of a system: 4, 8, 16 or 32; 0: the plan chooses
  std::size_t scalar_bytes;  ///< size of a value
  std::size_t shared_limit;  ///< shared memory of a block, and about that of an SM
};

/// Plans the solve of systems with the pattern `of`: tries the numbers of lanes and the sizes of stages, and
/// takes the one with the smallest estimated time. Returns a plan without lanes if no block has enough shared
/// memory.
template <class Index, class Offset>
plan<Offset> make_plan(host_system<Index, Offset>& of, const plan_request& request) {
  constexpr double processors = 128;         // of a large GPU
  constexpr std::size_t reserved = 1 << 10;  // bytes of shared memory that the runtime takes of each block
  constexpr double max_blocks = 32;          // on an SM
  plan<Offset> best;
  double best_time = 0;
  sort_levels_by_length(of);
  std::int64_t longest = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(of.size); ++r) {
    longest = std::max(longest, of.slots_of(r));
  }
  for (const int lanes : {4, 8, 16, 32}) {
    for (int copies = 1; request.lanes == 0 || request.lanes == lanes; copies *= 2) {
      const shared_layout shared = shared_layout::of(lanes, copies, of.size, request.scalar_bytes);
      if (shared.block_bytes() > request.shared_limit) {
        break;
      }
      const std::int64_t max_slots = slice_stages * shared.stage_slots(request.scalar_bytes);
      if (longest > max_slots) {
        continue;
      }
      cut_rows slices = cut(of, lanes, max_slots);
      const double warps_of_system = lanes / 32.0;
      const double resident =
          std::min({max_blocks, static_cast<double>(request.shared_limit / (shared.block_bytes() + reserved)),
                    std::max(1.0, static_cast<double>(request.systems) * warps_of_system / processors)});
      const double time = warps_of_system * std::max(slices.latency / std::max(1.0, resident), slices.issue);
      if (best.shared.lanes == 0 || time < best_time) {
        best.shared = shared;
        best.slices = std::move(slices.slices);
        best_time = time;
      }
      if (max_slots >= 8 * longest && max_slots >= 8 * lanes) {
        break;  // a larger ring does not help
      }
    }
  }
  if (best.shared.lanes != 0) {
    fill_rows(of, best);
  }
  return best;
}

}  // namespace sptrsv::detail::batched
