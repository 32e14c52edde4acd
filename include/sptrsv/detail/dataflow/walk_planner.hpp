// Chooses the shape of a walk by what a step of each shape costs and how many steps it would take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/dataflow/walk_program.hpp"

namespace sptrsv::detail::dataflow {

/// Rows of the program that a row of `length` entries takes: itself and its partial rows.
constexpr std::int64_t program_rows(std::int64_t length, std::int64_t capacity) {
  return length <= capacity ? 1 : 1 + (length - capacity + capacity - 2) / (capacity - 1);
}

/// Steps that a program of the given shape will take but for components that are fetched back.
template <class Index, class Offset>
std::int64_t steps_of_walk(const host_rows<Index, Offset>& t, const host_levels<Index>& levels,
                           const walk_shape_values& shape) {
  std::int64_t place = 0;  // counted in rows of the program
  std::vector<std::int64_t> places(static_cast<std::size_t>(t.size()));
  for (const Index next : levels.rows) {
    const auto row = static_cast<std::size_t>(next);
    const std::int64_t begin = place - place % shape.rows;  // of the step
    std::int64_t outer = 0;
    bool too_far = false;
    for (auto e = static_cast<std::size_t>(t.row_offsets[row]);
         e < static_cast<std::size_t>(t.row_offsets[row + 1]); ++e) {
      const std::int64_t other = places[static_cast<std::size_t>(t.columns[e])];
      outer += other < begin ? 1 : 0;
      too_far = too_far || (other >= begin && place - other > shape.reach);
    }
    if (too_far) {
      place = begin + shape.rows;
      outer = t.length(static_cast<std::int64_t>(next));
    }
    place += program_rows(outer, shape.row_capacity()) - 1;
    places[row] = place++;
  }
  return (place + shape.rows - 1) / shape.rows;
}

/// The cheapest of the tuning's shapes.
struct walk_choice {
  int index = 0;
  walk_shape_values shape{};
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// `wanted`: a shape's number, or -1.
template <class Tuning, class Index, class Offset>
walk_choice choose_walk(const host_rows<Index, Offset>& rows, const host_levels<Index>& levels, int wanted) {
  using shapes = typename Tuning::walk_shapes;
  static_assert(std::size(Tuning::walk_step_ns) == shapes::count, "a time for each shape");
  walk_choice best;
  shapes::for_each([&](auto shape, int index) {
    const walk_shape_values values = values_of<decltype(shape)>();
    const double time = Tuning::walk_launch_ns + static_cast<double>(steps_of_walk(rows, levels, values)) *
                                                     Tuning::walk_step_ns[index];
    if (time < best.nanoseconds && (wanted < 0 || wanted == index)) {
      best = {index, values, time};
    }
  });
  return best;
}

/// Steps that the window may hold.
template <class Tuning, class Scalar>
std::int64_t window_steps(const walk_shape_values& shape, std::size_t shared_limit) {
  constexpr std::size_t reserved = 64;  // static shared memory
  const std::size_t rings = walk_layout<Scalar>::of(shape, 0).bytes + reserved;
  const auto components =
      shared_limit < rings ? 0 : static_cast<std::int64_t>((shared_limit - rings) / sizeof(Scalar));
  return std::min<std::int64_t>({components, Tuning::walk_window, 65534}) / shape.rows;
}

/// Synchronises.
template <class Index, class Offset, class Executor>
host_rows<Index, Offset> download_rows(const device_triangle<Index, Offset>& t, const Executor& on) {
  host_rows<Index, Offset> rows;
  rows.row_offsets.resize(t.row_offsets.size());
  rows.columns.resize(t.columns.size());
  on.download(rows.row_offsets.data(), t.row_offsets.data(), t.row_offsets.bytes());
  on.download(rows.columns.data(), t.columns.data(), t.columns.bytes());
  return rows;
}

}  // namespace sptrsv::detail::dataflow
