// SPDX-License-Identifier: Apache-2.0
// Times of partitioned solves, estimated without tables of partition levels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "sptrsv/detail/dataflow/partitioned/layout/partitioned_shape.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Returns a lower bound of the predicted time of the partitioned path: a tile on each level.
template <class Tuning>
double least_nanoseconds(std::int64_t levels) {
  const auto* const fastest =
      std::min_element(std::begin(Tuning::partitioned_shapes), std::end(Tuning::partitioned_shapes),
                       [](const auto& a, const auto& b) { return a.tile_ns < b.tile_ns; });
  return Tuning::partitioned_launch_ns + fastest->tile_ns * static_cast<double>(levels);
}

/// Returns the predicted time of a single partition with narrow levels.
template <class Tuning>
double narrow_nanoseconds(std::int64_t rows, std::int64_t entries, std::int64_t levels) {
  const double length = static_cast<double>(entries) / static_cast<double>(rows);
  double tile_ns = 0;
  int lanes = 0;
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    // Takes the shape with enough lanes for a row among the shapes with few threads, which come first.
    constexpr shape_values values = values_of<decltype(shape)>();
    if (tile_ns == 0 || (values.shared_entries() < 2 * length && values.lanes > lanes)) {
      tile_ns = std::begin(Tuning::partitioned_shapes)[index].tile_ns;
      lanes = values.lanes;
    }
  });
  return Tuning::partitioned_launch_ns + 1.15 * tile_ns * static_cast<double>(levels);
}

}  // namespace sptrsv::detail::dataflow::partitioned
