// How long a relay takes: its turns, with what a step and a hand-off cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sptrsv/detail/dataflow/relay_counts.hpp"
#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

/// Nanoseconds of a solve. A part begins a level when it is done with the one before and what it needs has
/// come. `early`: by part.
template <class Tuning>
double relay_nanoseconds(const relay_turn* turns, std::size_t count, const std::int32_t* early,
                         std::int64_t parts, const relay_shape_values& shape, double step) {
  std::vector<double> clock(static_cast<std::size_t>(parts), 0.0);
  const std::unique_ptr<float[]> end(new float[count]);
  const double full_step = step * Tuning::relay_full_step;
  const std::int32_t rows = shape.step_rows();
  for (std::size_t i = 0; i < count; ++i) {
    const relay_turn turn = turns[i];
    double now = clock[static_cast<std::size_t>(turn.part)];
    if (turn.need >= 0) {
      now =
          std::max(now, static_cast<double>(end[static_cast<std::size_t>(turn.need)]) + Tuning::relay_hop_ns);
    }
    now += turn.rows <= rows ? step : (turn.rows + rows - 1) / rows * full_step;
    now += std::max(0, turn.rounds - shape.early_pairs) * Tuning::relay_round_ns;
    clock[static_cast<std::size_t>(turn.part)] = now;
    end[i] = static_cast<float>(now);
  }
  return Tuning::relay_launch_ns + *std::max_element(clock.begin(), clock.end()) +
         static_cast<double>(*std::max_element(early, early + parts)) *
             (shape.early_pairs > 1 ? Tuning::relay_early_together_ns : Tuning::relay_early_ns);
}

}  // namespace sptrsv::detail::dataflow
