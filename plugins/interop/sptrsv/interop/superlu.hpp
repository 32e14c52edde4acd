// SPDX-License-Identifier: Apache-2.0
// LU factors of SuperLU (sequential, versions 5 to 7), as matrices that `analyze` takes. Not part of
// sptrsv.hpp; needs SuperLU's headers, and no function of its library.
//
// SuperLU factorises Pr A Pc = L U. The factors `l` and `u` are in host memory, and so are `perm_r` and
// `perm_c`, the permutations that dgssv or dgstrf gives back:
//
//   const auto L = sptrsv::interop::supernodal_of<double>(l);         // for analyze with diag::unit
//   const auto U = sptrsv::interop::upper_of<double>(l, u);
//   const auto rows = sptrsv::interop::permutation_of(perm_r, n);     // row k of L is row rows[k] of A
//   const auto columns = sptrsv::interop::permutation_of(perm_c, n);  // row k of U: columns[k] of x
//
// If SuperLU has equilibrated A (dgssvx), the factors are those of the scaled matrix.
#pragma once

#if __has_include(<superlu/slu_ddefs.h>)
#include <superlu/slu_ddefs.h>
#else
#include <slu_ddefs.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/orderings.hpp"
#include "sptrsv/supernodal_matrix.hpp"

namespace sptrsv::SPTRSV_ABI::interop {
namespace detail {

/// SuperLU's type of matrices with the values Value.
template <class Value>
constexpr Dtype_t superlu_type() {
  using scalar = sptrsv::detail::scalar_t<Value>;
  using real = sptrsv::detail::real_t<scalar>;
  constexpr bool is_double = std::is_same_v<real, double>;
  static_assert(is_double || std::is_same_v<real, float>,
                "SuperLU's factors are of float, double, or the complex numbers of these");
  return sptrsv::detail::is_complex_v<scalar> ? (is_double ? SLU_Z : SLU_C) : (is_double ? SLU_D : SLU_S);
}

/// Throws unless `m` is a square matrix in the storage `type` with values of type Value.
template <class Value>
void expect_superlu(const SuperMatrix& m, Stype_t type, const char* what) {
  SPTRSV_EXPECTS(m.Stype == type && m.Store != nullptr, errc::invalid_argument,
                 "the matrix is not the factor ", what, " of SuperLU");
  SPTRSV_EXPECTS(m.Dtype == superlu_type<Value>(), errc::invalid_argument, "the factor ", what,
                 " of SuperLU has values of another type");
  SPTRSV_EXPECTS(m.nrow == m.ncol, errc::not_square, "the factor ", what, " of SuperLU has ", m.nrow,
                 " rows and ", m.ncol, " columns");
}

/// Throws unless Index can count to `count`.
template <class Index>
void expect_countable(std::int64_t count) {
  SPTRSV_EXPECTS(count <= sptrsv::detail::max_count<Index>, errc::unsupported, "the factor of SuperLU has ",
                 count, " entries, too many for the index type");
}

/// The panel of a supernode as SuperLU stores it. Its own columns are the first of its rows; the others are
/// in no order. The part above its diagonal belongs to U.
struct superlu_panel {
  std::int64_t first;   ///< first column
  std::int64_t end;     ///< one past the last column
  std::int64_t rows;    ///< where its rows begin in `rowind`
  std::int64_t height;  ///< number of these rows
  std::int64_t values;  ///< where its values begin in `nzval`

  static superlu_panel open(const SCformat& l, std::int64_t s) {
    const std::int64_t first = l.sup_to_col[s];
    return {first, l.sup_to_col[s + 1], l.rowind_colptr[first],
            l.rowind_colptr[first + 1] - l.rowind_colptr[first], l.nzval_colptr[first]};
  }
  [[nodiscard]] std::int64_t columns() const { return end - first; }
};

}  // namespace detail

/// Returns a copy of the factor L, in host memory. Its diagonal is one and not stored: analyze it with
/// diag::unit. (The diagonal of the panels is that of U.)
///
/// @tparam Value float, double, or the complex numbers of these, as in the factor.
/// @tparam Index a signed integer type that can count the entries of the panels.
/// @throws error errc::invalid_argument if `l` is no factor L with such values or its panels are not those of
///   a factorisation (with the column), errc::not_square, errc::unsupported if there are too many entries.
template <class Value, class Index = std::int32_t>
supernodal_matrix<Value, Index> supernodal_of(const SuperMatrix& l) {
  detail::expect_superlu<Value>(l, SLU_SC, "L");
  const auto& from = *static_cast<const SCformat*>(l.Store);
  const auto* const values = static_cast<const Value*>(from.nzval);
  supernodal_matrix<Value, Index> made;
  made.rows = l.nrow;
  made.first_columns.push_back(0);
  made.row_offsets.push_back(0);
  made.value_offsets.push_back(0);
  std::vector<std::int64_t> order;  // by row of the panel made: the row of SuperLU's panel
  for (std::int64_t s = 0; made.rows > 0 && s <= from.nsuper; ++s) {
    const auto panel = detail::superlu_panel::open(from, s);
    const auto* const rows = from.rowind + panel.rows;
    for (std::int64_t k = 0; k < panel.columns(); ++k) {
      sptrsv::detail::expect_of_row(
          panel.height >= panel.columns() && rows[k] == panel.first + k, errc::invalid_argument, panel.first,
          "the rows of SuperLU's supernode of column ", panel.first, " do not begin with its columns");
    }
    order.resize(static_cast<std::size_t>(panel.height));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::sort(order.begin() + panel.columns(), order.end(),
              [rows](std::int64_t a, std::int64_t b) { return rows[a] < rows[b]; });
    for (const std::int64_t i : order) {
      made.row_indices.push_back(static_cast<Index>(rows[i]));
    }
    for (std::int64_t k = 0; k < panel.columns(); ++k) {
      for (const std::int64_t i : order) {
        made.values.push_back(values[panel.values + k * panel.height + i]);
      }
    }
    detail::expect_countable<Index>(static_cast<std::int64_t>(made.values.size()));
    made.first_columns.push_back(static_cast<Index>(panel.end));
    made.row_offsets.push_back(static_cast<Index>(made.row_indices.size()));
    made.value_offsets.push_back(static_cast<Index>(made.values.size()));
  }
  return made;
}

/// Returns a copy of the factor U, in host memory, rows ascending. SuperLU stores the part of U that lies in
/// the diagonal blocks of its supernodes with L, so both are needed.
///
/// @tparam Value float, double, or the complex numbers of these, as in the factors.
/// @tparam Index a signed integer type that can count the entries.
/// @throws error errc::invalid_argument if `l` and `u` are no factors L and U with such values,
///   errc::not_square, errc::size_mismatch if they have different sizes, errc::unsupported if there are too
///   many entries.
template <class Value, class Index = std::int32_t>
csc_matrix<Value, Index> upper_of(const SuperMatrix& l, const SuperMatrix& u) {
  detail::expect_superlu<Value>(l, SLU_SC, "L");
  detail::expect_superlu<Value>(u, SLU_NC, "U");
  SPTRSV_EXPECTS(l.nrow == u.nrow, errc::size_mismatch, "the factors L and U of SuperLU have ", l.nrow,
                 " and ", u.nrow, " rows");
  const auto& blocks = *static_cast<const SCformat*>(l.Store);
  const auto& above = *static_cast<const NCformat*>(u.Store);
  const auto* const block_values = static_cast<const Value*>(blocks.nzval);
  const auto* const above_values = static_cast<const Value*>(above.nzval);
  csc_matrix<Value, Index> made{u.nrow, u.nrow, {0}, {}, {}};
  std::vector<std::pair<Index, Value>> column;
  for (std::int64_t s = 0; made.rows > 0 && s <= blocks.nsuper; ++s) {
    const auto panel = detail::superlu_panel::open(blocks, s);
    for (std::int64_t j = panel.first; j < panel.end; ++j) {
      column.clear();
      for (std::int64_t e = above.colptr[j]; e < above.colptr[j + 1]; ++e) {
        column.emplace_back(static_cast<Index>(above.rowind[e]), above_values[e]);
      }
      std::sort(column.begin(), column.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::int64_t i = panel.first; i <= j; ++i) {
        column.emplace_back(static_cast<Index>(i),
                            block_values[panel.values + (j - panel.first) * panel.height + i - panel.first]);
      }
      for (const auto& [row, value] : column) {
        made.row_indices.push_back(row);
        made.values.push_back(value);
      }
      detail::expect_countable<Index>(static_cast<std::int64_t>(made.values.size()));
      made.column_offsets.push_back(static_cast<Index>(made.values.size()));
    }
  }
  return made;
}

/// Returns a permutation of SuperLU in the form of permutation_of(cholmod_factor): row k of the factor (L for
/// perm_r, U for perm_c) belongs to row (column) `permutation[k]` of A. Row i of A is row perm_r[i] of Pr A,
/// and column j of A is column perm_c[j] of A Pc.
///
/// @tparam Index a signed integer type.
/// @param permutation perm_r or perm_c, in host memory.
/// @param size number of its elements.
/// @throws error as inverse_order, if it is no permutation.
template <class Index = std::int32_t>
std::vector<Index> permutation_of(const int* permutation, std::int64_t size) {
  return inverse_order(std::vector<Index>(permutation, permutation + size));
}

}  // namespace sptrsv::SPTRSV_ABI::interop
