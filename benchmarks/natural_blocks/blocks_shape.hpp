// The shape of a solve with natural blocks, which are runs of rows with the same columns, and the parameters
// of a launch of its kernel.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_shape.hpp"

namespace sptrsv_benchmarks::natural_blocks {

using sptrsv::detail::at;
namespace single_block = sptrsv::detail::dataflow::single_block;

/// The members of a kernel_shape as run-time values.
struct shape_values {
  int rows;
  int lanes;
  int tiles;
  int warps;
  int groups;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int warp_blocks() const { return 32 / lanes; }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int step_blocks() const { return warps * warp_blocks(); }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int capacity() const { return lanes * tiles; }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int tile_entries() const { return rows * rows; }
  /// Returns the entries of the triangle inside a block, rounded up to an even number.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int in_block_entries() const {
    return (rows * (rows - 1) / 2 + 1) / 2 * 2;
  }
};

/// A shape for which the kernel is compiled. A block has at most `Rows` rows; `Lanes` lanes multiply its
/// tiles of `Rows` x `Rows` values, each lane at most `Tiles`. A step solves the blocks of `Warps` warps,
/// which are a group; `Groups` groups of a thread block take the steps in turns.
template <int Rows, int Lanes, int Tiles, int Warps, int Groups>
struct kernel_shape {
  static_assert(Rows >= 2 && Rows <= 8, "a tile has at most 64 entries");
  static_assert(Lanes == 2 || Lanes == 4 || Lanes == 8, "whole blocks in a warp");
  static_assert(Groups >= 2 && Groups <= 15, "a named barrier for each group");
  static constexpr shape_values values{Rows, Lanes, Tiles, Warps, Groups};
  static constexpr int group_threads = 32 * Warps;
  static constexpr int block_threads = group_threads * Groups;
};

/// What the arrays of a single_block solve mean here: `tiles` is the number of steps, `x_ring_size` the
/// number of blocks in the x ring buffer; `operands` has the place in it of each tile's components.
template <class Scalar>
struct kernel_params : single_block::kernel_params<Scalar> {
  const std::uint16_t* places;   ///< by block of the schedule: its place in the x ring buffer
  const std::uint64_t* present;  ///< by tile: a bit for each entry that the matrix has
};

/// Returns the bytes of dynamic shared memory: the blocks of the x ring buffer and a zero.
template <class Scalar>
std::size_t shared_bytes(std::int64_t ring_blocks, int rows) {
  return at((ring_blocks + 1) * rows) * sizeof(Scalar);
}

}  // namespace sptrsv_benchmarks::natural_blocks
