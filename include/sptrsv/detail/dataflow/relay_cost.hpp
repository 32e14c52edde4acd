// How long a relay takes: its turns, with what a step and a hand-off cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sptrsv/detail/dataflow/relay_counts.hpp"
#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

/// In which a row waits for entries that it does not poll with its first.
inline int further_rounds(const relay_turn& turn, const relay_shape_values& shape) {
  return std::max(0, turn.rounds - shape.early_pairs);
}

/// What a part takes for a turn, when all that it needs has come.
template <class Tuning>
double turn_nanoseconds(const relay_turn& turn, const relay_shape_values& shape, double step, int columns) {
  const std::int32_t rows = shape.step_rows();
  return (turn.rows <= rows ? step : (turn.rows + rows - 1) / rows * (step * Tuning::relay_full_step)) +
         further_rounds(turn, shape) * (Tuning::relay_round_ns * columns);
}

/// From the turn of another part, which solves what this one needs, to its own.
template <class Tuning>
double hand_off_nanoseconds(const relay_turn& turn, const relay_shape_values& shape) {
  return Tuning::relay_hop_ns + further_rounds(turn, shape) * Tuning::relay_late_round_ns;
}

/// What the entries of a part take that come through memory.
template <class Tuning>
double early_nanoseconds(const std::int32_t* early, std::int64_t parts, const relay_shape_values& shape) {
  return static_cast<double>(*std::max_element(early, early + parts)) *
         (shape.early_pairs > 1 ? Tuning::relay_early_together_ns : Tuning::relay_early_ns);
}

/// Nanoseconds of a solve. A part begins a level when it is done with the one before and what it needs has
/// come; it goes through the levels `rounds` times, each for `columns` right-hand sides. `early`: by part.
/// Infinity where it takes more than `limit`, which is mostly seen before the end.
template <class Tuning>
double relay_nanoseconds(const relay_turn* turns, std::size_t count, const std::int32_t* early,
                         std::int64_t parts, const relay_shape_values& shape, double step, int columns,
                         std::int64_t rounds, double limit) {
  const double beside =
      Tuning::relay_launch_ns + static_cast<double>(rounds) * early_nanoseconds<Tuning>(early, parts, shape);
  std::vector<double> clock(static_cast<std::size_t>(parts), 0.0);
  const std::unique_ptr<float[]> end(new float[count]);
  // Every round after the third takes as much longer as the third.
  constexpr std::int64_t different_rounds = 3;
  double first = 0;
  double last[2] = {};
  for (std::int64_t round = 0; round < std::min(rounds, different_rounds); ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const relay_turn turn = turns[i];
      double now = clock[static_cast<std::size_t>(turn.part)];
      if (turn.need >= 0) {
        now = std::max(now, static_cast<double>(end[static_cast<std::size_t>(turn.need)]) +
                                hand_off_nanoseconds<Tuning>(turn, shape));
      }
      now += turn_nanoseconds<Tuning>(turn, shape, step, columns);
      if (round == 0 && beside + now > limit) {
        return std::numeric_limits<double>::infinity();
      }
      clock[static_cast<std::size_t>(turn.part)] = now;
      end[i] = static_cast<float>(now);
    }
    last[0] = last[1];
    last[1] = *std::max_element(clock.begin(), clock.end());
    first = round == 0 ? last[1] : first;
  }
  const double further =
      last[1] - first +
      static_cast<double>(std::max<std::int64_t>(0, rounds - different_rounds)) * (last[1] - last[0]);
  return beside + first + Tuning::relay_further_rhs * further;
}

}  // namespace sptrsv::detail::dataflow
