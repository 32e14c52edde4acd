// SPDX-License-Identifier: Apache-2.0
// The plan of level_set: the lanes per row of each level, and which levels share a launch.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::detail::level_set {

/// A launch: one wide level, or a run of consecutive narrow levels.
struct segment {
  std::int64_t first_level;
  std::int64_t last_level;  ///< one past the last level
  std::int64_t first_row;
  std::int64_t last_row;  ///< one past the last row
  int lanes;              ///< lanes per row of a wide level
  bool narrow;            ///< true for a run of narrow levels
};

/// The launches in order, and the lanes per row of each level.
struct level_plan {
  std::vector<segment> segments;
  std::vector<std::int32_t> level_lanes;
};

/// Returns the number of steps of a level of `rows` rows if `lanes` lanes share a row and `available` lanes
/// work at once. The lanes of a row take its entries one after the other and then add their sums.
inline std::int64_t level_steps(std::int64_t rows, std::int64_t longest_row, int lanes,
                                std::int64_t available) {
  const std::int64_t rounds = (rows * lanes + available - 1) / available;
  const std::int64_t addition = lanes == 1 ? 0 : lanes == 8 ? 1 : 2;
  return rounds * ((longest_row + lanes - 1) / lanes + addition + 1);
}

/// Returns the lanes per row, 1, 8 or 32, with the fewest steps.
inline int best_lanes(std::int64_t rows, std::int64_t longest_row, std::int64_t available) {
  int best = 1;
  for (const int lanes : {8, 32}) {
    if (level_steps(rows, longest_row, lanes, available) < level_steps(rows, longest_row, best, available)) {
      best = lanes;
    }
  }
  return best;
}

/// Makes the plan. `level_offsets` has one element more than there are levels; `longest` holds the longest
/// row of each level. If not `fused`, each level is a launch and each row gets one warp.
template <class Tuning, class Index>
level_plan make_plan(const std::vector<Index>& level_offsets, const std::vector<std::int64_t>& longest,
                     bool fused) {
  level_plan plan;
  for (std::size_t level = 0; level < longest.size(); ++level) {
    const std::int64_t first_row = level_offsets[level];
    const std::int64_t last_row = level_offsets[level + 1];
    const std::int64_t rows = last_row - first_row;
    const int narrow_lanes = best_lanes(rows, longest[level], Tuning::narrow_block_threads);
    const bool narrow = fused && rows * narrow_lanes <= Tuning::narrow_lanes;
    const int lanes = !fused   ? 32
                      : narrow ? narrow_lanes
                               : best_lanes(rows, longest[level], Tuning::device_lanes);
    const auto at = static_cast<std::int64_t>(level);
    plan.level_lanes.push_back(lanes);
    if (narrow && !plan.segments.empty() && plan.segments.back().narrow) {
      plan.segments.back().last_level = at + 1;
      plan.segments.back().last_row = last_row;
    } else {
      plan.segments.push_back({at, at + 1, first_row, last_row, lanes, narrow});
    }
  }
  return plan;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::level_set
