// SPDX-License-Identifier: Apache-2.0
// The supernodes of a system, how their panels lie in memory, and the growth of the inverses in them.
//
// The system is C x = alpha b (forward) or C^T x = alpha b (backward), where C is lower triangular. Supernode
// s has the columns first[s] ... first[s + 1] - 1 of C, named J, k of them, and the rows of the list
// rows[rows_begin[s]] ... rows[rows_begin[s + 1] - 1] below them, named R, r of them. With C_JJ = D (I + N),
// where D is the diagonal, and V = inv(I + N), its panel holds, row by row,
//
//   the strictly lower triangle of V   k rows of 0, 1, ..., k - 1 entries
//   -C_RJ V                            r rows of k entries
//
// Forward, C_JJ x_J = f_J, where f is alpha b and the sum of the contributions -C_RJ x_J of other supernodes:
//
//   g = inv(D) f_J      x_J = V g      contribution to the rows R = -C_RJ V g
//
// Backward, C_JJ^T x_J = alpha b_J - C_RJ^T x_R. With z, which is alpha b_J and below it x_R, and P, which is
// V and below it -C_RJ V:
//
//   x_J = inv(D) P^T z
#pragma once

#include <cstdint>
#include <limits>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Returns where row `i` of a panel of `k` columns begins.
SPTRSV_HOST_DEVICE constexpr std::int64_t panel_row(std::int64_t i, std::int64_t k) {
  return i < k ? i * (i - 1) / 2 : k * (k - 1) / 2 + (i - k) * k;
}

/// Returns the number of entries of row `i` of a panel of `k` columns.
SPTRSV_HOST_DEVICE constexpr std::int64_t panel_row_entries(std::int64_t i, std::int64_t k) {
  return i < k ? i : k;
}

/// Where a supernode stands.
struct supernode {
  std::int64_t first;       ///< first column
  std::int64_t columns;     ///< k
  std::int64_t rows_begin;  ///< where its list of rows begins
  std::int64_t rows;        ///< r
  std::int64_t panel;       ///< where its panel begins
  /// The first rows of the panel are columns of the merged range that the supernode was cut from: its own
  /// columns, and those of the supernodes after it. Their number.
  std::int64_t range_columns;
  /// Forward, in tasks: number of the sum of its first column. Each row of its panel has a sum.
  std::int64_t sums;

  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t height() const { return columns + rows; }
};

/// The supernodes in device memory.
template <class Index>
struct supernodes {
  std::int64_t count;               ///< number of supernodes
  const Index* first;               ///< by supernode, count + 1: its first column
  const Index* range_end;           ///< by supernode: one past the last column of its merged range
  const std::int64_t* rows_begin;   ///< by supernode, count + 1: where its list of rows begins
  const std::int64_t* panel_begin;  ///< by supernode, count + 1: where its panel begins
  const Index* rows;                ///< the lists of rows, each ascending
  /// By column i: the first column j of the descendants of i in the tree of columns, as far as they are next
  /// to i and merged with it. V_ij is zero by structure if j < first_descendant[i].
  const Index* first_descendant;

  template <class Context>
  SPTRSV_DEVICE supernode open(Context& ctx, std::int64_t s) const {
    supernode found{};
    found.first = ctx.load_constant(first + s);
    found.columns = ctx.load_constant(first + s + 1) - found.first;
    found.rows_begin = ctx.load_constant(rows_begin + s);
    found.rows = ctx.load_constant(rows_begin + s + 1) - found.rows_begin;
    found.panel = ctx.load_constant(panel_begin + s);
    found.range_columns = ctx.load_constant(range_end + s) - found.first;
    return found;
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t of_column(Context& ctx, std::int64_t column) const {
    return triangle_kernels::major_of(ctx, first, count, column);
  }
  /// Returns the row of C that row `i` of a panel stands for.
  template <class Context>
  SPTRSV_DEVICE std::int64_t row_of(Context& ctx, const supernode& node, std::int64_t i) const {
    return i < node.columns ? node.first + i : load_index(ctx, rows + node.rows_begin + i - node.columns);
  }
  /// Returns whether row `i` of a panel depends on its column `j` <= i by structure.
  template <class Context>
  SPTRSV_DEVICE bool depends(Context& ctx, const supernode& node, std::int64_t i, std::int64_t j) const {
    return i >= node.range_columns || node.first + j >= load_index(ctx, first_descendant + node.first + i);
  }
};

/// Returns the number of words of the mask of a panel of `height` rows; see row_masks.
SPTRSV_HOST_DEVICE constexpr std::int64_t mask_words(std::int64_t height) {
  const std::int64_t words = (height + 31) / 32;
  return words + (words - 1) / 8;
}

/// Which rows of the panels the pattern has, in device memory. Columns of one fundamental supernode have the
/// same rows. So each pair of a supernode and a fundamental supernode with columns in it has a mask: bit i is
/// set if row i of the panel is a column of the fundamental supernode or a row below it. An entry of column j
/// stands in row i > j if bit i is set.
///
/// A mask has one word for 32 rows. Before word 8, 16, ... stands a word with the number of bits that are set
/// before it. The masks of a supernode follow each other, in the order of columns.
template <class Index>
struct row_masks {
  const std::uint32_t* words;
  const std::int64_t* begin;  ///< by supernode: where its masks begin
  const Index* fundamental;   ///< by supernode: the fundamental supernode of its first column
  const Index* first;         ///< by fundamental supernode, fundamental_count + 1: its first column
  std::int64_t fundamental_count;

  /// Returns where word `w` of the mask that begins at `mask` stands.
  static SPTRSV_HOST_DEVICE constexpr std::int64_t word_index(std::int64_t mask, std::int64_t w) {
    return mask + w + w / 8;
  }
  template <class Context>
  SPTRSV_DEVICE std::uint32_t word(Context& ctx, std::int64_t mask, std::int64_t w) const {
    return ctx.load_constant(words + word_index(mask, w));
  }
  /// Returns the number of bits that are set in the words before word `w`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t count_before(Context& ctx, std::int64_t mask, std::int64_t w) const {
    const std::int64_t group = w / 8 * 8;
    std::int64_t count = group > 0 ? ctx.load_constant(words + word_index(mask, group) - 1) : 0;
    for (std::int64_t v = group; v < w; ++v) {
      count += simt::bit_count(word(ctx, mask, v));
    }
    return count;
  }
};

/// The maximum norms of I + N and V = inv(I + N) of a supernode, as the bits of a float, which
/// compare as the numbers do. A finite norm beyond the range of float counts as the largest one. If a value
/// is not finite, all bits are set: this is NaN.
template <class Real>
struct block_norms {
  using word = std::uint32_t;
  static constexpr Real largest = std::numeric_limits<float>::max();

  word of_block;
  word of_inverse;

  /// Returns the word for the sum of a row.
  static SPTRSV_HOST_DEVICE word of_sum(Real sum) {
    return is_finite(sum) ? bit_cast<word>(static_cast<float>(sum < largest ? sum : largest)) : ~word{0};
  }
  static SPTRSV_HOST_DEVICE block_norms of_one() { return {of_sum(Real{1}), of_sum(Real{1})}; }
  /// Returns the condition number; NaN if a value is not finite.
  [[nodiscard]] SPTRSV_HOST_DEVICE Real growth() const {
    return static_cast<Real>(bit_cast<float>(of_block)) * static_cast<Real>(bit_cast<float>(of_inverse));
  }
};

/// Takes the largest of the sums that the lanes of a warp have into a norm.
template <class Real, class Context, class Warp>
SPTRSV_DEVICE void raise_norm(Context& ctx, const Warp& warp, typename block_norms<Real>::word* norm,
                              Real sum) {
  const auto largest = simt::reduce(warp, block_norms<Real>::of_sum(sum), 32, simt::maximum{});
  if (warp.rank() == 0) {
    ctx.atomic_max(norm, largest);
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
