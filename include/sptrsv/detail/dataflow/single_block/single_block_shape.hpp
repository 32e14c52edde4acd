// SPDX-License-Identifier: Apache-2.0
// The shape of a single_block solve, which is the tile that the consumer warp solves at once, the parameters
// of a launch of the kernel, and its shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// A shape of the tuning (sptrsv::single_block_shape) as a type, for which the kernel is compiled. A tile has
/// `Rows` rows with `Lanes` lanes each, every lane with `Entries` entries; one warp solves it. A row may need
/// rows of earlier tiles, and of its own tile the `Reach` rows before it: all (Rows - 1) or the nearest.
template <int Rows, int Lanes, int Entries, int Reach>
struct kernel_shape {
  static_assert(Rows * Lanes == 32, "single_block_shape: rows * lanes must be 32");
  static_assert(Rows % 4 == 0, "single_block_shape: rows must be a multiple of 4");
  static_assert(Entries >= 2 && Entries % 2 == 0, "single_block_shape: entries must be an even number");
  static_assert(Reach >= 1 && Reach < Rows, "single_block_shape: reach must be 1 to rows - 1");
  static constexpr int rows = Rows;
  static constexpr int lanes = Lanes;
  static constexpr int entries = Entries;
  static constexpr int reach = Reach;
  /// Threads of the consumer warp, and of the producer warps beside it.
  static constexpr int threads = Rows * Lanes;
  static constexpr int copy_threads = 128;
  static constexpr int block_threads = threads + copy_threads;
  /// Tiles of a pipeline stage, between two barriers of the whole block.
  static constexpr int stage_tiles = 4;
  /// Pipeline stages in shared memory: a power of two.
  static constexpr int stages = 8;
  /// Entries between the rows of a tile, rounded up to a multiple of four.
  static constexpr int in_tile_entries =
      ((Reach == Rows - 1 ? Rows * (Rows - 1) / 2 : Rows * Reach) + 3) / 4 * 4;
};

/// The members of a kernel_shape as run-time values.
struct shape_values {
  int rows;
  int lanes;
  int entries;
  int reach;
  int stage_tiles;
  int stages;
  int in_tile_entries;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int threads() const { return rows * lanes; }
  /// Returns how many entries a row may have whose columns are in earlier tiles.
  [[nodiscard]] int row_capacity() const { return lanes * entries; }
  /// Returns after how many tiles a component may be reloaded from x: producers then see its store to x.
  [[nodiscard]] int reload_distance() const { return (stages + 2) * stage_tiles; }
};

/// The slots of the entries of a row of the schedule, from the first one on. The entries of a row are dealt
/// to its lanes one by one. A lane reads its entries in pairs; the first pairs of all lanes of a tile stand
/// before the second pairs.
class entry_slots {
 public:
  entry_slots(const shape_values& shape, std::uint32_t row)
      : lanes_(static_cast<std::uint32_t>(shape.lanes)),
        pair_stride_(2 * static_cast<std::uint32_t>(shape.threads())) {
    const auto rows = static_cast<std::uint32_t>(shape.rows);
    first_ =
        row / rows * static_cast<std::uint32_t>(shape.entries / 2) * pair_stride_ + 2 * (row % rows * lanes_);
  }

  std::uint32_t take() {
    const std::uint32_t slot = first_ + 2 * lane_ + in_pair_;
    if (++lane_ == lanes_) {
      lane_ = 0;
      first_ += in_pair_ * pair_stride_;
      in_pair_ ^= 1;
    }
    return slot;
  }

 private:
  std::uint32_t lanes_;
  std::uint32_t pair_stride_;  ///< slots of the pairs of all lanes of a tile
  std::uint32_t first_;        ///< slot of the first lane's pair
  std::uint32_t lane_ = 0;
  std::uint32_t in_pair_ = 0;
};

template <class Shape>
SPTRSV_HOST_DEVICE constexpr shape_values values_of() {
  return {Shape::rows,        Shape::lanes,  Shape::entries,        Shape::reach,
          Shape::stage_tiles, Shape::stages, Shape::in_tile_entries};
}

/// The shapes of a tuning as types, in the order of its records.
template <class Tuning>
struct shapes_of {
 private:
  template <std::size_t I>
  using shape = kernel_shape<Tuning::single_block_shapes[I].rows, Tuning::single_block_shapes[I].lanes,
                             Tuning::single_block_shapes[I].entries, Tuning::single_block_shapes[I].reach>;

 public:
  using type =
      decltype(shapes_by_index<shape>(std::make_index_sequence<std::size(Tuning::single_block_shapes)>{}));
};

/// Returns the index of the entry (r, q), q < r, in a tile: a packed lower triangle by columns, or a band by
/// rows.
template <class Integer>
SPTRSV_HOST_DEVICE constexpr Integer in_tile_index(Integer rows, Integer reach, Integer q, Integer r) {
  return reach == rows - 1 ? q * (2 * rows - q - 1) / 2 + r - q - 1 : r * reach + r - q - 1;
}

/// Where the entries between the rows of a tile stand.
struct in_tile_layout {
  int rows;     ///< of a tile
  int reach;    ///< see kernel_shape
  int entries;  ///< for which a tile has room
};

/// Where a row of the schedule takes its right-hand side from, and where its solution goes.
struct alignas(8) tile_row {
  std::int32_t source;  ///< row of b; no_row: zero; below that: see reload_source
  std::int32_t target;  ///< row of x, or no_row
};
inline constexpr std::int32_t no_row = -1;
/// Returns the source of a row that only reloads component `row` of x into the x ring buffer.
SPTRSV_HOST_DEVICE constexpr std::int32_t reload_source(std::int32_t row) { return -2 - row; }

/// The arrays `places` and `present` belong to the path natural_blocks. There `tiles` is the number of steps,
/// `x_ring_size` counts blocks, and `operands` has the place of each tile's components.
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
  const std::uint16_t* places;        ///< by block: its place in the x ring buffer
  const std::uint64_t* present;       ///< by tile: a bit for each entry that the matrix has
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
