// SPDX-License-Identifier: Apache-2.0
// The parameters of a launch of the single_block kernel, and its shared memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

template <class Scalar>
struct kernel_params {
  std::int32_t tiles;        ///< a multiple of the tiles of a stage
  std::int32_t x_ring_size;  ///< components in the x ring buffer
  std::int32_t size;         ///< rows of the system
  bool reversed;
  Scalar* values;                     ///< by slot
  const std::uint16_t* operands;      ///< by slot
  Scalar* in_tile;                    ///< by tile: in-tile entries times the reciprocal of the row's pivot
  Scalar* reciprocals;                ///< by row of the schedule: 1 / pivot; NaN if the row must divide
  Scalar* pivots;                     ///< by row of the schedule; null if the diagonal is unit
  const tile_row* rows;               ///< by row of the schedule
  const std::uint32_t* in_tile_rows;  ///< by row of the schedule, see schedule
  const Scalar* zero;                 ///< a zero, the right-hand side of partial rows
  Scalar* sink;                       ///< takes the solutions of rows that have no row of x
  std::int64_t* used_rhs;             ///< number of right-hand sides of the last solve
  std::int64_t* first_nonfinite;  ///< by right-hand side: the first substitution index with a non-finite x
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// The dynamic shared memory of a block: the stages of the pipeline, array by array, and the x ring buffer.
/// Every array of a tile is a multiple of 16 bytes long.
template <class Scalar, class Shape>
struct shared_memory {
  static constexpr int slots = Shape::threads * Shape::entries;
  static constexpr int pipeline_tiles = Shape::stages * Shape::stage_tiles;

  Scalar* values;
  std::uint16_t* operands;
  Scalar* in_tile;
  Scalar* reciprocals;
  Scalar* rhs;     ///< right-hand sides of the rows
  tile_row* rows;  ///< of twice as many stages, since they say where the right-hand sides are copied from
  Scalar* x_ring;

  SPTRSV_DEVICE explicit shared_memory(void* begin)
      : values(static_cast<Scalar*>(begin)),
        operands(reinterpret_cast<std::uint16_t*>(values + pipeline_tiles * slots)),
        in_tile(reinterpret_cast<Scalar*>(operands + pipeline_tiles * slots)),
        reciprocals(in_tile + pipeline_tiles * Shape::in_tile_entries),
        rhs(reciprocals + pipeline_tiles * Shape::rows),
        rows(reinterpret_cast<tile_row*>(rhs + pipeline_tiles * Shape::rows)),
        x_ring(reinterpret_cast<Scalar*>(rows + 2 * pipeline_tiles * Shape::rows)) {}

  /// Returns its size with an x ring buffer of so many components and a zero.
  static constexpr std::size_t bytes(std::int64_t x_ring_size) {
    constexpr std::size_t of_tile = at(slots) * (sizeof(Scalar) + sizeof(std::uint16_t)) +
                                    at(Shape::in_tile_entries + 2 * Shape::rows) * sizeof(Scalar) +
                                    at(2 * Shape::rows) * sizeof(tile_row);
    return at(pipeline_tiles) * of_tile + at(x_ring_size + 1) * sizeof(Scalar);
  }
};

/// Named barriers between the producers and the consumer. Each has one place where threads wait, because
/// bar.sync is undefined if the threads of a block wait at different ones (PTX ISA, barrier, .aligned). The
/// lanes of a warp call the functions together, after a collective of the warp.
template <class Shape, class Context>
struct stage_barriers {
  Context& ctx;

  /// Producers: say that the first stages are complete.
  SPTRSV_DEVICE void complete_first() const { ctx.template barrier_arrive<Shape::block_threads>(first); }
  /// Consumer: waits until the first stages are complete.
  SPTRSV_DEVICE void wait_for_first() const { ctx.template barrier_wait<Shape::block_threads>(first); }
  /// Producers: say that another stage is complete, and wait until the consumer has handed back a stage.
  SPTRSV_DEVICE void complete() const {
    ctx.template barrier_arrive<Shape::block_threads>(filled);
    ctx.template barrier_wait<Shape::block_threads>(emptied);
  }
  /// Consumer: waits until another stage is complete, then hands back the stage before. In this order
  /// producers do not arrive a second time before the consumer has passed.
  SPTRSV_DEVICE void hand_back() const {
    ctx.template barrier_wait<Shape::block_threads>(filled);
    ctx.template barrier_arrive<Shape::block_threads>(emptied);
  }

 private:
  static constexpr int first = 1;
  static constexpr int filled = 2;
  static constexpr int emptied = 3;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
