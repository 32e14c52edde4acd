// SPDX-License-Identifier: Apache-2.0
// Where the entries of a row are, by column: found by one load, and not by a search.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/operands.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// The entries of a row in 32 columns that follow each other.
struct entry_cell {
  std::uint32_t columns;  ///< one bit for each entry
  std::uint32_t first;    ///< the first of them, in level order
};

/// Tells where the entries of rows are that other rows need: for LU those above the diagonal, for Cholesky
/// those below. Row k has one cell for each 32 columns from its diagonal on, or up to it, so that an entry is
/// found by one load.
template <method Method>
struct entry_cells {
  std::int64_t row_cells;  ///< cells of a whole row
  entry_cell* cells;       ///< null: there are none

  explicit entry_cells(std::int64_t size, entry_cell* at = nullptr)
      : row_cells(simt::ceil_div(size, std::int64_t{32})), cells(at) {}

  /// Returns the cells of column 0 of row `k`, or where they would be.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t begin(std::int64_t k) const {
    const std::int64_t own = k / 32;
    const std::int64_t of_diagonals = 16 * own * (own - 1) + k % 32 * own;  // sum of i / 32 for i < k
    return Method == method::lu ? k * row_cells - of_diagonals - own : of_diagonals + k;
  }
  /// Returns the number of cells of all rows.
  [[nodiscard]] std::int64_t count(std::int64_t size) const {
    return Method == method::lu ? begin(size) + size / 32 : begin(size);
  }
};

/// Writes the cells that have entries. Runs once per entry, see for_each_entry().
template <method Method, class Index, class Offset>
struct write_cells {
  searched_rows<Method, Index, Offset> rows;
  entry_cells<Method> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    const auto row_begin = static_cast<std::int64_t>(ctx.load_constant(rows.row_offsets + r));
    const auto diagonal = row_begin + static_cast<std::int64_t>(ctx.load_constant(rows.diagonal_slots + r));
    const std::int64_t begin = Method == method::lu ? diagonal + 1 : row_begin;
    const std::int64_t end = Method == method::lu
                                 ? static_cast<std::int64_t>(ctx.load_constant(rows.row_offsets + r + 1))
                                 : diagonal;
    const auto cell_of = [&](std::int64_t entry) {
      return static_cast<std::int64_t>(ctx.load_constant(rows.columns + entry)) / 32;
    };
    if (e < begin || e >= end) {
      return;
    }
    const std::int64_t cell = cell_of(e);
    if (e > begin && cell_of(e - 1) == cell) {
      return;
    }
    entry_cell made{0, static_cast<std::uint32_t>(e)};
    for (std::int64_t next = e; next < end && cell_of(next) == cell; ++next) {
      made.columns |= 1u << (ctx.load_constant(rows.columns + next) & 31);
    }
    ctx.store(to.cells + to.begin(ctx.load_constant(rows.columns + diagonal)) + cell, made);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
