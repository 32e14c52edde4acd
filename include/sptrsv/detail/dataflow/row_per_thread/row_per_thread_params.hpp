// SPDX-License-Identifier: Apache-2.0
// What is known of a launch of the row_per_thread kernels: its parameters; which threads solve the same row
// for different right-hand sides; copies of right-hand sides by rows, and of solutions back; and what it
// costs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/double_buffer.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

/// The right-hand sides of rewritten rows: instead of b_i, row i has b_i - sum_j w_ij b_j.
template <class Scalar, class Index, class Offset>
struct rewritten_rhs {
  const Offset* row_offsets;  ///< by substitution index
  const Index* columns;       ///< substitution indices j
  const Scalar* values;       ///< w_ij
};

template <class Scalar, class Index, class Offset, class Stored>
struct kernel_params {
  std::int64_t size;        ///< rows of the system
  std::int64_t solve_size;  ///< rows with the partial rows
  int rhs_blocks;           ///< blocks that have the same rows; they share the right-hand sides
  bool sweep_by_sweep;      ///< tickets take all rows for one sweep before the rows for the next sweep
  bool reversed;
  std::uint8_t lane_bits;  ///< 2 to this power lanes have the same row, for different right-hand sides
  const Offset* offsets;
  const Index* columns;
  const Stored* values;
  const Stored* diagonal;             ///< by solve index; null if it is unit
  const Index* substitution_indices;  ///< by solve index, -1: partial row; null: the two indices are the same
  const Index* gates;  ///< by slice: a solve index some levels before, -1 if there is none; null: no gates
  launch_share share;
  double_buffer<Scalar> buffers;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
  rewritten_rhs<Scalar, Index, Offset> rhs;  ///< for kernels that combine right-hand sides
};

/// How a solve with max_rhs right-hand sides divides them, by the constants of the tuning.
template <class Tuning>
struct rhs_sharing {
  std::int64_t together;     ///< right-hand sides that a thread takes together if no lanes share long rows
  bool shares_rows = false;  ///< several lanes have the same row
  bool shares_long_rows = false;  ///< the same, and more entries are polled together
  int lanes = 1;                  ///< lanes that have the same row; a power of two
  int blocks = 1;                 ///< blocks that have the same rows then
  bool copies = false;            ///< right-hand sides that are stored by columns are copied by rows first
  bool sweep_by_sweep = false;    ///< all rows are solved for one sweep before the next sweep

  /// Decides for rows in `levels` levels, or in the order of substitution if that is 0.
  static rhs_sharing of(std::int64_t max_rhs, std::int64_t together, std::int64_t rows, std::int64_t entries,
                        std::int64_t levels, bool are_long) {
    rhs_sharing made{together};
    const bool is_wide =
        levels > 0 && rows >= Tuning::wide_level * levels && entries > Tuning::wide_gathers / max_rhs;
    made.shares_rows = max_rhs > 1 && entries >= Tuning::rhs_lane_entries * rows &&
                       (is_wide || rows <= Tuning::rhs_lane_rows);
    made.shares_long_rows = made.shares_rows && are_long && levels > 0 && Tuning::max_rhs_lanes > 1 &&
                            rows <= Tuning::narrow_level_scalars * levels / max_rhs;
    made.lanes = made.lanes_for(max_rhs);
    made.blocks = static_cast<int>(std::clamp<std::int64_t>(
        simt::ceil_div(simt::ceil_div(max_rhs, made.of_lane()), made.lanes), 1, Tuning::max_rhs_blocks));
    made.copies = is_wide && made.lanes > 1;
    made.sweep_by_sweep = is_wide && made.blocks > 1;
    return made;
  }

  /// Returns how many right-hand sides a thread takes together if the solve is one launch.
  [[nodiscard]] std::int64_t of_lane() const { return shares_long_rows ? 1 : together; }
  /// Returns how many lanes of a warp have the same row, each for a pack of right-hand sides: a power of two.
  [[nodiscard]] int lanes_for(std::int64_t rhs) const {
    int count = 1;
    while (shares_rows && count < Tuning::max_rhs_lanes && count * of_lane() < rhs) {
      count *= 2;
    }
    return count;
  }
  /// Returns how many threads have the same row, each for a pack of right-hand sides.
  [[nodiscard]] int threads_of_row() const { return lanes * blocks; }
};

/// Copies a dense matrix. Neighbouring threads have neighbouring columns of a row, and a warp has rows enough
/// to fill the memory sectors of a matrix that is stored by columns, too.
template <class Scalar>
struct copy_rows {
  static constexpr int max_column_bits = 3;
  dense_view<const Scalar> from;
  dense_view<Scalar> to;
  int column_bits;  ///< 2 to this power threads have the same row

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t thread) const {
    const std::int64_t row = thread >> column_bits;
    for (std::int64_t column = thread & ((1 << column_bits) - 1); column < from.columns;
         column += 1 << column_bits) {
      ctx.store(to.data + row * to.row_stride + column * to.column_stride,
                ctx.load(from.data + row * from.row_stride + column * from.column_stride));
    }
  }
};

/// Copies a dense matrix with rows.
template <class Scalar, class Executor>
void copy_by_rows(const dense_view<const Scalar>& from, const dense_view<Scalar>& to, const Executor& on) {
  int bits = 0;
  while (bits < copy_rows<Scalar>::max_column_bits && std::int64_t{1} << bits < from.columns) {
    ++bits;
  }
  simt::for_each(on, from.rows << bits, copy_rows<Scalar>{from, to, bits});
}

/// The nanoseconds of the parts of a solve: launch, level, bytes of a row and of an entry (not the diagonal).
struct solve_costs {
  double launch;
  double level;
  double row;
  double entry;

  /// Returns the costs of a solve with `max_rhs` right-hand sides. The scalars of further right-hand sides,
  /// which are stored by columns, mostly lie in memory sectors of their own.
  template <class Tuning>
  static solve_costs of(std::size_t scalar_bytes, std::size_t index_bytes, std::int64_t max_rhs) {
    const auto further = static_cast<double>(max_rhs - 1);
    const double row_scalars = 4 + Tuning::row_per_thread_further_rhs_scalars * further;
    return {Tuning::row_per_thread_launch_ns,
            Tuning::row_per_thread_level_ns * (1 + Tuning::row_per_thread_further_rhs_level * further),
            row_scalars * static_cast<double>(scalar_bytes) * Tuning::row_per_thread_byte_ns,
            static_cast<double>(scalar_bytes + index_bytes) * Tuning::row_per_thread_byte_ns};
  }

  /// Returns the predicted time of a solve.
  [[nodiscard]] SPTRSV_HOST_DEVICE double nanoseconds(double rows, double entries, double levels) const {
    return launch + levels * level + rows * row + entries * entry;
  }
  /// Returns the predicted time for a system that was rewritten by levels. Most components that its rows need
  /// are recent, so each batch of a row takes a trip to the L2 cache behind the last level.
  template <class Tuning>
  [[nodiscard]] double rewritten_nanoseconds(double rows, double entries, double levels) const {
    const double batches = std::max(1.0, entries / (rows * 2 * Tuning::entries_at_once));
    return nanoseconds(rows, entries, batches * levels);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
