// What the threads of a walk share: the launch's parameters, and rings and window in shared memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/walk_program.hpp"
#include "sptrsv/detail/scalar.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::dataflow {

inline constexpr std::int64_t walk_all_finite = INT64_MAX;

template <class Scalar>
struct walk_params {
  std::int32_t steps;  ///< a multiple of the shape's chunk
  std::int32_t window;
  std::int32_t size;
  bool reversed;
  const Scalar* values;           ///< by slot
  const std::uint16_t* operands;  ///< by slot
  const Scalar* inner;        ///< by step: entries between its rows, times the reciprocal of the row's pivot
  const Scalar* reciprocals;  ///< by row: of the pivot; NaN where it must not stand for the division
  const Scalar* pivots;       ///< by row; null if the diagonal is unit
  const walk_row* rows;
  const Scalar* zero;
  Scalar* sink;                ///< takes what is of no use
  std::int64_t* used_columns;  ///< of the last solve
  std::int64_t* first_bad;     ///< by right-hand side: the first position whose x is not finite
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// The rings and the window in shared memory.
template <class Scalar, class Shape>
struct walk_shared {
  static constexpr int slots = Shape::threads * Shape::entries;
  static constexpr int ring_steps = Shape::chunks * Shape::chunk_steps;

  Scalar* values;
  std::uint16_t* operands;
  Scalar* inner;
  Scalar* reciprocals;
  Scalar* sides;   ///< right-hand sides of the rows
  walk_row* rows;  ///< a ring of twice as many steps: they say where the sides come from
  Scalar* window;

  SPTRSV_DEVICE explicit walk_shared(void* begin) {
    constexpr walk_layout<Scalar> layout = walk_layout<Scalar>::of(values_of<Shape>(), 0);
    auto* const bytes = static_cast<unsigned char*>(begin);
    values = reinterpret_cast<Scalar*>(bytes + layout.values);
    operands = reinterpret_cast<std::uint16_t*>(bytes + layout.operands);
    inner = reinterpret_cast<Scalar*>(bytes + layout.inner);
    reciprocals = reinterpret_cast<Scalar*>(bytes + layout.reciprocals);
    sides = reinterpret_cast<Scalar*>(bytes + layout.sides);
    rows = reinterpret_cast<walk_row*>(bytes + layout.rows);
    window = reinterpret_cast<Scalar*>(bytes + layout.window);
  }
};

}  // namespace sptrsv::detail::dataflow
