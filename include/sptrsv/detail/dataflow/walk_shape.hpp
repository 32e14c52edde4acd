// The step of a walk: what one thread block solves between two barriers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::dataflow {

/// A step holds `Rows` rows with `Lanes` lanes each, every lane with `Entries` entries; one warp does it. The
/// rows of a step depend on earlier steps, and on the `Reach` rows of the same step that stand before them:
/// on all (Rows - 1) or on the nearest.
template <int Rows, int Lanes, int Entries, int Reach>
struct walk_shape {
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
  static constexpr int chunk_steps = 4;
  /// Chunks that shared memory holds; a power of two.
  static constexpr int chunks = 8;
  /// Entries of a step between its rows, with room for a multiple of four.
  static constexpr int inner_entries =
      ((Reach == Rows - 1 ? Rows * (Rows - 1) / 2 : Rows * Reach) + 3) / 4 * 4;
};

/// The same as values.
struct walk_shape_values {
  int rows;
  int lanes;
  int entries;
  int reach;
  int chunk_steps;
  int chunks;
  int inner_entries;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int threads() const { return rows * lanes; }
  /// Entries that a row can take from earlier steps.
  [[nodiscard]] int row_capacity() const { return lanes * entries; }
  /// Where entry k of a row of the program stands: first entries are spread over the lanes; a lane's entries
  /// stand in pairs, the first pairs of all lanes of the step before the second ones.
  [[nodiscard]] constexpr std::uint32_t slot(std::uint32_t row, std::uint32_t k) const {
    const auto l = static_cast<std::uint32_t>(lanes);
    const auto in_step = static_cast<std::uint32_t>(threads());
    const std::uint32_t step = row / static_cast<std::uint32_t>(rows);
    const std::uint32_t thread = row % static_cast<std::uint32_t>(rows) * l + k % l;
    const std::uint32_t entry = k / l;
    return (step * static_cast<std::uint32_t>(entries / 2) + entry / 2) * 2 * in_step + 2 * thread +
           entry % 2;
  }
  /// A component that is solved in step s may be read from x for a row of step s + `fetch_distance()`.
  [[nodiscard]] int fetch_distance() const { return (chunks + 2) * chunk_steps; }
};

template <class Shape>
SPTRSV_HOST_DEVICE constexpr walk_shape_values values_of() {
  return {Shape::rows,        Shape::lanes,  Shape::entries,      Shape::reach,
          Shape::chunk_steps, Shape::chunks, Shape::inner_entries};
}

/// Where the entry of row r for row q < r of a step stands among the step's inner entries: a packed
/// lower triangle by columns, or a band by rows.
template <class Integer>
SPTRSV_HOST_DEVICE constexpr Integer inner_place(Integer rows, Integer reach, Integer q, Integer r) {
  return reach == rows - 1 ? q * (2 * rows - q - 1) / 2 + r - q - 1 : r * reach + r - q - 1;
}

/// Where a row of a step takes its right-hand side from and where its solution goes.
struct alignas(8) walk_row {
  std::int32_t source;  ///< row of b; `no_row`: zero; below that: see `fetched`
  std::int32_t target;  ///< row of x, or `no_row`
};
inline constexpr std::int32_t no_row = -1;
/// The source of a row which repeats component `row` of x, solved long ago, for its successors.
SPTRSV_HOST_DEVICE constexpr std::int32_t fetched(std::int32_t row) { return -2 - row; }

/// The dynamic shared memory of a walk: rings of steps, and the window; bytes from its start. Every piece of
/// a step is a multiple of 16 bytes.
template <class Scalar>
struct walk_layout {
  std::size_t values, operands, inner, reciprocals, sides, rows, window, bytes;

  static SPTRSV_HOST_DEVICE constexpr walk_layout of(const walk_shape_values& s, std::int64_t window) {
    walk_layout l{};
    const auto steps = static_cast<std::size_t>(s.chunks * s.chunk_steps);
    const auto rows = static_cast<std::size_t>(s.rows);
    const auto slots = static_cast<std::size_t>(s.threads() * s.entries);
    l.values = 0;
    l.operands = l.values + steps * slots * sizeof(Scalar);
    l.inner = l.operands + steps * slots * sizeof(std::uint16_t);
    l.reciprocals = l.inner + steps * static_cast<std::size_t>(s.inner_entries) * sizeof(Scalar);
    l.sides = l.reciprocals + steps * rows * sizeof(Scalar);
    l.rows = l.sides + steps * rows * sizeof(Scalar);
    l.window = l.rows + 2 * steps * rows * sizeof(walk_row);
    l.bytes = l.window + static_cast<std::size_t>(window + 1) * sizeof(Scalar);
    return l;
  }
};

}  // namespace sptrsv::detail::dataflow
