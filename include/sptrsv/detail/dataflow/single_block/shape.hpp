// The step of a walk: what one thread block solves between two barriers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "sptrsv/detail/dataflow/shape_list.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::dataflow::single_block {

/// A step holds `Rows` rows with `Lanes` lanes each, every lane with `Entries` entries; one warp does it. The
/// rows of a step depend on earlier steps, and on the `Reach` rows of the same step that stand before them:
/// on all (Rows - 1) or on the nearest.
template <int Rows, int Lanes, int Entries, int Reach>
struct kernel_shape {
  static_assert(Rows * Lanes == 32, "a step is one warp's");
  static_assert(Rows % 4 == 0 && Entries % 2 == 0 && Reach >= 1 && Reach < Rows);
  static constexpr int rows = Rows;
  static constexpr int lanes = Lanes;
  static constexpr int entries = Entries;
  static constexpr int reach = Reach;
  /// Threads that compute, and threads beside them that copy what later steps need to shared memory.
  static constexpr int threads = Rows * Lanes;
  static constexpr int copy_threads = 128;
  static constexpr int block_threads = threads + copy_threads;
  /// Steps between two barriers of the whole block.
  static constexpr int chunk_tiles = 4;
  /// Chunks that shared memory holds; a power of two.
  static constexpr int chunks = 8;
  /// Entries of a step between its rows, with room for a multiple of four.
  static constexpr int in_tile_entries =
      ((Reach == Rows - 1 ? Rows * (Rows - 1) / 2 : Rows * Reach) + 3) / 4 * 4;
};

/// The same as values.
struct shape_values {
  int rows;
  int lanes;
  int entries;
  int reach;
  int chunk_tiles;
  int chunks;
  int in_tile_entries;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int threads() const { return rows * lanes; }
  /// Entries that a row can take from earlier steps.
  [[nodiscard]] int row_capacity() const { return lanes * entries; }
  /// Where entry k of a row of the program stands: first entries are spread over the lanes; a lane's entries
  /// stand in pairs, the first pairs of all lanes of the step before the second ones.
  [[nodiscard]] constexpr std::uint32_t slot(std::uint32_t row, std::uint32_t k) const {
    const auto l = static_cast<std::uint32_t>(lanes);
    const auto in_tile = static_cast<std::uint32_t>(threads());
    const std::uint32_t tile = row / static_cast<std::uint32_t>(rows);
    const std::uint32_t thread = row % static_cast<std::uint32_t>(rows) * l + k % l;
    const std::uint32_t entry = k / l;
    return (tile * static_cast<std::uint32_t>(entries / 2) + entry / 2) * 2 * in_tile + 2 * thread +
           entry % 2;
  }
  /// A component that is solved in step s may be read from x for a row of step s + `reload_distance()`.
  [[nodiscard]] int reload_distance() const { return (chunks + 2) * chunk_tiles; }
};

template <class Shape>
SPTRSV_HOST_DEVICE constexpr shape_values values_of() {
  return {Shape::rows,        Shape::lanes,  Shape::entries,        Shape::reach,
          Shape::chunk_tiles, Shape::chunks, Shape::in_tile_entries};
}

/// The shapes of a tuning as types, in the order of its records.
template <class Tuning>
struct shapes_of {
 private:
  template <std::size_t I>
  using shape = kernel_shape<Tuning::single_block_shapes[I].rows, Tuning::single_block_shapes[I].lanes,
                             Tuning::single_block_shapes[I].entries, Tuning::single_block_shapes[I].reach>;
  template <std::size_t... I>
  static shape_list<shape<I>...> list(std::index_sequence<I...>);

 public:
  using type = decltype(list(std::make_index_sequence<std::size(Tuning::single_block_shapes)>{}));
};

/// Where the entry of row r for row q < r of a step stands among the step's inner entries: a packed
/// lower triangle by columns, or a band by rows.
template <class Integer>
SPTRSV_HOST_DEVICE constexpr Integer in_tile_index(Integer rows, Integer reach, Integer q, Integer r) {
  return reach == rows - 1 ? q * (2 * rows - q - 1) / 2 + r - q - 1 : r * reach + r - q - 1;
}

/// Where a row of a step takes its right-hand side from and where its solution goes.
struct alignas(8) tile_row {
  std::int32_t source;  ///< row of b; `no_row`: zero; below that: see `reload_source`
  std::int32_t target;  ///< row of x, or `no_row`
};
inline constexpr std::int32_t no_row = -1;
/// The source of a row which repeats component `row` of x, solved long ago, for its successors.
SPTRSV_HOST_DEVICE constexpr std::int32_t reload_source(std::int32_t row) { return -2 - row; }

/// The dynamic shared memory of a walk: rings of steps, and the window; bytes from its start. Every piece of
/// a step is a multiple of 16 bytes.
template <class Scalar>
struct shared_layout {
  std::size_t values, operands, in_tile, reciprocals, rhs, rows, x_ring_size, bytes;

  static SPTRSV_HOST_DEVICE constexpr shared_layout of(const shape_values& s, std::int64_t x_ring_size) {
    shared_layout l{};
    const auto tiles = static_cast<std::size_t>(s.chunks * s.chunk_tiles);
    const auto rows = static_cast<std::size_t>(s.rows);
    const auto slots = static_cast<std::size_t>(s.threads() * s.entries);
    l.values = 0;
    l.operands = l.values + tiles * slots * sizeof(Scalar);
    l.in_tile = l.operands + tiles * slots * sizeof(std::uint16_t);
    l.reciprocals = l.in_tile + tiles * static_cast<std::size_t>(s.in_tile_entries) * sizeof(Scalar);
    l.rhs = l.reciprocals + tiles * rows * sizeof(Scalar);
    l.rows = l.rhs + tiles * rows * sizeof(Scalar);
    l.x_ring_size = l.rows + 2 * tiles * rows * sizeof(tile_row);
    l.bytes = l.x_ring_size + static_cast<std::size_t>(x_ring_size + 1) * sizeof(Scalar);
    return l;
  }
};

}  // namespace sptrsv::detail::dataflow::single_block
