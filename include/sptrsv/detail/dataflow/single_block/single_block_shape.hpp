// SPDX-License-Identifier: Apache-2.0
// The shape of a single_block solve: the tile that the consumer warp solves at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "sptrsv/detail/dataflow/shape_list.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// A shape of the tuning (sptrsv::single_block_shape) as a type, for which the kernel is compiled. A tile has
/// `Rows` rows with `Lanes` lanes each, every lane with `Entries` entries; one warp solves it. A row may need
/// rows of earlier tiles, and of its own tile the `Reach` rows before it: all of them (Rows - 1) or the
/// nearest ones.
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
  /// Returns after how many tiles a component may be reloaded from x: by then its store to x is visible to
  /// producers.
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

/// Returns the index of the entry (r, q), q < r, among the in-tile entries of a tile: a packed lower triangle
/// by columns, or a band by rows.
template <class Integer>
SPTRSV_HOST_DEVICE constexpr Integer in_tile_index(Integer rows, Integer reach, Integer q, Integer r) {
  return reach == rows - 1 ? q * (2 * rows - q - 1) / 2 + r - q - 1 : r * reach + r - q - 1;
}

/// Where a row of the schedule takes its right-hand side from, and where its solution goes.
struct alignas(8) tile_row {
  std::int32_t source;  ///< row of b; no_row: zero; below that: see reload_source
  std::int32_t target;  ///< row of x, or no_row
};
inline constexpr std::int32_t no_row = -1;
/// Returns the source of a row that only reloads component `row` of x into the x ring buffer.
SPTRSV_HOST_DEVICE constexpr std::int32_t reload_source(std::int32_t row) { return -2 - row; }

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
