// Where levels are cut into two segments, the first ones for the grid path and the others for a relay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sptrsv/detail/dataflow/grid_cost.hpp"
#include "sptrsv/detail/dataflow/relay_cost.hpp"

namespace sptrsv::detail::dataflow {

struct segment_cut {
  std::int64_t levels = 0;  ///< of the first segment; 0: there is no cut
  std::int64_t rows = 0;    ///< of the first segment
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// A relay of the whole system, as far as a cut depends on it: its turns, by level and part.
struct counted_relay {
  const relay_turn* turns;
  std::size_t count;
  std::int64_t parts;
  relay_shape_values shape;
  double step;
  double early;        ///< what the entries take that come through memory
  double nanoseconds;  ///< of a solve with all right-hand sides
};

/// By level: what the relay takes from there on, if all levels before are solved, without its launch: the
/// longest way through the turns that are left. `level_offsets`: rows before each level, and all of them.
template <class Tuning, class Index>
std::vector<double> relay_tails(const counted_relay& r, const std::vector<Index>& level_offsets) {
  std::vector<double> tails(level_offsets.size(), 0.0);
  std::vector<double> rest_of_part(static_cast<std::size_t>(r.parts), 0.0);
  std::vector<float> behind(r.count, 0.0f);  // by turn: from its end, what waits for it
  double longest = 0;
  auto level = level_offsets.size() - 1;
  auto rows = static_cast<std::int64_t>(level_offsets.back());
  for (std::size_t i = r.count; i-- > 0;) {
    const relay_turn& turn = r.turns[i];
    double& part = rest_of_part[static_cast<std::size_t>(turn.part)];
    part =
        turn_nanoseconds<Tuning>(turn, r.shape, r.step, 1) + std::max(part, static_cast<double>(behind[i]));
    if (turn.need >= 0) {
      float& needed = behind[static_cast<std::size_t>(turn.need)];
      needed = std::max(needed, static_cast<float>(part + hand_off_nanoseconds<Tuning>(turn, r.shape)));
    }
    longest = std::max(longest, part);
    rows -= turn.rows;
    for (; level > 0 && rows <= static_cast<std::int64_t>(level_offsets[level - 1]); --level) {
      tails[level - 1] = longest;
    }
  }
  return tails;
}

/// The same of a relay of one part: level after level, without hand-offs. `entries`: of the whole system.
template <class Tuning, class Index>
std::vector<double> tails_of_one_part(const counted_relay& r, const std::vector<Index>& level_offsets,
                                      std::int64_t entries) {
  std::vector<double> tails(level_offsets.size(), 0.0);
  const double row = Tuning::relay_early_together_ns * static_cast<double>(entries) /
                     static_cast<double>(level_offsets.back());
  for (std::size_t level = level_offsets.size() - 1; level-- > 0;) {
    const auto rows = static_cast<std::int32_t>(level_offsets[level + 1] - level_offsets[level]);
    tails[level] = tails[level + 1] + row * rows +
                   turn_nanoseconds<Tuning>(relay_turn{-1, rows, 0, 0}, r.shape, r.step, 1);
  }
  return tails;
}

/// The cut that promises most, if there are two levels, whether or not it is worth while.
template <class Tuning, class Index>
segment_cut best_cut(const counted_relay& r, const std::vector<Index>& level_offsets, std::int64_t entries,
                     std::size_t scalar_bytes, std::size_t index_bytes, std::int64_t max_rhs) {
  const std::vector<double> tails = relay_tails<Tuning>(r, level_offsets);
  const std::vector<double> of_one_part = tails_of_one_part<Tuning>(r, level_offsets, entries);
  const double all_columns = (r.nanoseconds - Tuning::relay_launch_ns) / (tails[0] + r.early);
  const auto size = static_cast<double>(level_offsets.back());
  segment_cut best;
  for (std::size_t level = 1; level + 1 < level_offsets.size(); ++level) {
    const auto rows = static_cast<std::int64_t>(level_offsets[level]);
    const double share = static_cast<double>(rows) / size;
    const double on_grid =
        grid_nanoseconds<Tuning>(rows, static_cast<std::int64_t>(share * static_cast<double>(entries)),
                                 static_cast<std::int64_t>(level), scalar_bytes, index_bytes, max_rhs);
    const double tail = std::min(all_columns * (tails[level] + (1 - share) * r.early), of_one_part[level]);
    const double time = on_grid + Tuning::relay_launch_ns + tail;
    if (time < best.nanoseconds) {
      best = {static_cast<std::int64_t>(level), rows, time};
    }
  }
  return best;
}

}  // namespace sptrsv::detail::dataflow
