// SPDX-License-Identifier: Apache-2.0
// The parameters of a launch of the row_per_thread kernels.
#pragma once

#include <cstdint>

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

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
