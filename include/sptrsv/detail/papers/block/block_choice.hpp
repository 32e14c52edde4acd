// SPDX-License-Identifier: Apache-2.0
// Chooses the kernel of each part: by the decision tree of Lu, Niu, Liu 2020 (Algorithm 7), or by one with
// thresholds that were fitted to this library's kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// The numbers of a diagonal block (triangle) by which its kernel is chosen.
struct triangle_facts {
  std::int64_t rows;
  std::int64_t entries;  ///< entries without the diagonal
  std::int64_t levels;
};

/// The numbers of a block below the diagonal (square) by which its kernel is chosen.
struct square_facts {
  std::int64_t rows;
  std::int64_t rows_with_entries;  ///< rows that have entries, at least 1
  std::int64_t entries;
};

/// Returns the paper's kernel for a triangle. The paper counts the diagonal among the entries of a row and
/// rounds the length down to a whole number.
inline policy::triangle_kernel paper_triangle(const triangle_facts& t) {
  const std::int64_t row_length = t.entries / t.rows + 1;
  if (t.levels == 1) {
    return policy::triangle_kernel::by_levels;
  }
  if (t.levels > 20000) {
    return policy::triangle_kernel::serial;
  }
  return (row_length == 1 && t.levels <= 100) || (row_length <= 15 && t.levels <= 20)
             ? policy::triangle_kernel::by_levels
             : policy::triangle_kernel::sync_free;
}

/// Returns this library's choice of a kernel for a triangle.
template <class Tuning>
policy::triangle_kernel fitted_triangle(const triangle_facts& t) {
  const double rows_per_level = static_cast<double>(t.rows) / static_cast<double>(t.levels);
  if (t.levels == 1 || (t.levels <= Tuning::level_set_levels && rows_per_level >= Tuning::level_set_rows)) {
    return policy::triangle_kernel::by_levels;
  }
  return t.levels >= Tuning::serial_levels && rows_per_level <= Tuning::serial_rows
             ? policy::triangle_kernel::serial
             : policy::triangle_kernel::sync_free;
}

/// Returns the average number of entries of the rows with entries.
inline double entries_per_row(const square_facts& s) {
  return static_cast<double>(s.entries) / static_cast<double>(s.rows_with_entries);
}

/// The paper's thresholds for squares, named as in block_tuning.
struct paper_thresholds {
  static constexpr double scalar_entries = 12;
  static constexpr double scalar_empty_ratio = 0.5;
  static constexpr double vector_empty_ratio = 0.15;
};

/// Returns the choice of a kernel for a square by the thresholds of Tuning.
template <class Tuning>
policy::square_kernel square_by_thresholds(const square_facts& s) {
  const double empty = static_cast<double>(s.rows - s.rows_with_entries) / static_cast<double>(s.rows);
  if (static_cast<double>(s.entries) <= Tuning::scalar_entries * static_cast<double>(s.rows)) {
    return empty > Tuning::scalar_empty_ratio ? policy::square_kernel::scalar_dcsr
                                              : policy::square_kernel::scalar_csr;
  }
  return empty > Tuning::vector_empty_ratio ? policy::square_kernel::vector_dcsr
                                            : policy::square_kernel::vector_csr;
}

/// Returns the number of diagonal blocks if the user asks for none. `entries` does not count the diagonal;
/// `resident` is the number of thread blocks that the device holds at once.
template <class Tuning>
std::int64_t blocks_by_default(std::int64_t rows, std::int64_t entries, std::int64_t resident) {
  const std::int64_t warps = resident * (Tuning::block_threads / 32);
  const bool is_long = entries >= Tuning::entries_for_a_cut * rows;
  return is_long && rows >= Tuning::default_blocks * Tuning::rows_per_warp * warps ? Tuning::default_blocks
                                                                                   : 1;
}

/// Returns the kernel that the policy asks for, or the selector's choice.
template <class Tuning>
policy::triangle_kernel choose_triangle(const policy::block_kernels& kernels, const triangle_facts& t) {
  if (kernels.triangle != policy::triangle_kernel::chosen) {
    return kernels.triangle;
  }
  return kernels.selector == policy::block_selector::paper ? paper_triangle(t) : fitted_triangle<Tuning>(t);
}

/// Returns the kernel that the policy asks for, or the selector's choice.
template <class Tuning>
policy::square_kernel choose_square(const policy::block_kernels& kernels, const square_facts& s) {
  if (kernels.square != policy::square_kernel::chosen) {
    return kernels.square;
  }
  return kernels.selector == policy::block_selector::paper ? square_by_thresholds<paper_thresholds>(s)
                                                           : square_by_thresholds<Tuning>(s);
}

/// Returns true if the kernel stores only rows with entries (DCSR).
inline bool is_compressed(policy::square_kernel kernel) {
  return kernel == policy::square_kernel::scalar_dcsr || kernel == policy::square_kernel::vector_dcsr;
}
/// Returns true if one lane takes a row.
inline bool is_scalar(policy::square_kernel kernel) {
  return kernel == policy::square_kernel::scalar_csr || kernel == policy::square_kernel::scalar_dcsr;
}

/// Returns the lanes for a row of `entries` entries that several lanes share, a power of two. The paper uses
/// a warp.
template <class Tuning>
int shared_row_lanes(policy::block_selector selector, double entries) {
  if (selector == policy::block_selector::paper) {
    return 32;
  }
  const double wanted = entries / Tuning::entries_per_lane;
  return wanted >= 32 ? 32 : std::max(2, simt::ceil_power_of_two(static_cast<int>(wanted)));
}

}  // namespace sptrsv::SPTRSV_ABI::detail::block
