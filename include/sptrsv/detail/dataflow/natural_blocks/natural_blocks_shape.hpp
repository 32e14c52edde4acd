// SPDX-License-Identifier: Apache-2.0
// The shape of a natural_blocks solve, and the parameters of a launch of its kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_shape.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

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
  /// Returns the entries of the triangle inside a block.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int in_block_entries() const { return rows * (rows - 1) / 2; }
  /// Returns how many tiles all lanes of a step have.
  [[nodiscard]] constexpr int step_tiles() const { return warps * tiles * 32; }
};

/// Returns the slot of the k-th value, by columns, of a tile. The values of 32 tiles stand side by side.
SPTRSV_HOST_DEVICE constexpr std::uint32_t value_slot(std::int64_t tile, int k, int tile_entries) {
  return static_cast<std::uint32_t>((tile / 32 * tile_entries + k) * 32 + tile % 32);
}

/// A shape of the tuning (sptrsv::natural_block_shape) as a type, for which the kernel is compiled.
template <int Rows, int Lanes, int Tiles, int Warps, int Groups>
struct kernel_shape {
  static_assert(Rows >= 2 && Rows <= 8, "natural_block_shape: rows must be 2 to 8");
  static_assert(Lanes == 1 || Lanes == 2 || Lanes == 4 || Lanes == 8 || Lanes == 16 || Lanes == 32,
                "natural_block_shape: lanes must be a power of two, at most 32");
  static_assert(Tiles >= 1 && Warps >= 1 && Lanes * Tiles >= 2, "natural_block_shape: lanes * tiles >= 2");
  static_assert(Groups >= 2 && Groups <= 15 && Warps * Groups <= 32,
                "natural_block_shape: groups must be 2 to 15, and a thread block has at most 32 warps");
  static constexpr shape_values values{Rows, Lanes, Tiles, Warps, Groups};
  static constexpr int group_threads = 32 * Warps;
  static constexpr int block_threads = group_threads * Groups;
  /// Whether the values of a lane's tiles are in registers. Otherwise the kernel is not compiled.
  template <class Scalar>
  static constexpr bool fits_registers = Tiles* Rows* Rows* static_cast<int>(sizeof(Scalar)) <= 384;
};

/// The shapes of a tuning as types, in the order of its records.
template <class Tuning>
struct shapes_of {
 private:
  template <std::size_t I>
  using shape = kernel_shape<Tuning::natural_block_shapes[I].rows, Tuning::natural_block_shapes[I].lanes,
                             Tuning::natural_block_shapes[I].tiles, Tuning::natural_block_shapes[I].warps,
                             Tuning::natural_block_shapes[I].groups>;

 public:
  using type =
      decltype(shapes_by_index<shape>(std::make_index_sequence<std::size(Tuning::natural_block_shapes)>{}));
};

using single_block::kernel_params;

/// Returns the bytes of dynamic shared memory: the blocks of the x ring buffer and a zero.
template <class Scalar>
std::size_t shared_bytes(std::int64_t ring_blocks, int rows) {
  return at((ring_blocks + 1) * rows) * sizeof(Scalar);
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
