// What the threads of a walk share: the launch's parameters, and rings and window in shared memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/nonfinite.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/single_block/schedule.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::dataflow::single_block {

template <class Scalar>
struct kernel_params {
  std::int32_t tiles;  ///< a multiple of the shape's chunk
  std::int32_t x_ring_size;
  std::int32_t size;
  bool reversed;
  const Scalar* values;           ///< by slot
  const std::uint16_t* operands;  ///< by slot
  const Scalar* in_tile;      ///< by step: entries between its rows, times the reciprocal of the row's pivot
  const Scalar* reciprocals;  ///< by row: of the pivot; NaN where it must not stand for the division
  const Scalar* pivots;       ///< by row; null if the diagonal is unit
  const tile_row* rows;
  const Scalar* zero;
  Scalar* sink;                   ///< takes what is of no use
  std::int64_t* used_rhs;         ///< of the last solve
  std::int64_t* first_nonfinite;  ///< by right-hand side: the first position whose x is not finite
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// The rings and the window in shared memory.
template <class Scalar, class Shape>
struct shared_memory {
  static constexpr int slots = Shape::threads * Shape::entries;
  static constexpr int pipeline_tiles = Shape::chunks * Shape::chunk_tiles;

  Scalar* values;
  std::uint16_t* operands;
  Scalar* in_tile;
  Scalar* reciprocals;
  Scalar* rhs;     ///< right-hand sides of the rows
  tile_row* rows;  ///< a ring of twice as many steps: they say where the sides come from
  Scalar* x_ring_size;

  SPTRSV_DEVICE explicit shared_memory(void* begin) {
    constexpr shared_layout<Scalar> layout = shared_layout<Scalar>::of(values_of<Shape>(), 0);
    auto* const bytes = static_cast<unsigned char*>(begin);
    values = reinterpret_cast<Scalar*>(bytes + layout.values);
    operands = reinterpret_cast<std::uint16_t*>(bytes + layout.operands);
    in_tile = reinterpret_cast<Scalar*>(bytes + layout.in_tile);
    reciprocals = reinterpret_cast<Scalar*>(bytes + layout.reciprocals);
    rhs = reinterpret_cast<Scalar*>(bytes + layout.rhs);
    rows = reinterpret_cast<tile_row*>(bytes + layout.rows);
    x_ring_size = reinterpret_cast<Scalar*>(bytes + layout.x_ring_size);
  }
};

}  // namespace sptrsv::detail::dataflow::single_block
