// SPDX-License-Identifier: Apache-2.0
// The triangle of host_parallel in the order in which its rows are solved, and the substitution.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::detail {

/// Rows of a triangle with their values, by solve index.
template <class Scalar, class Index, class Offset>
class host_rows {
 public:
  static constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

  explicit host_rows(const triangle_form& form) : form_(form) {}
  /// Stores `t` in the order of `rows`, by solve index the row of `t`. The values are those of the identity.
  host_rows(const triangle_form& form, const host_triangle<Index, Offset>& t, std::vector<Index> rows)
      : form_(form),
        rows_(std::move(rows)),
        row_offsets_(rows_.size() + 1),
        columns_(t.columns.size()),
        sources_(t.sources.size()),
        diagonal_sources_(t.diagonal_sources.size()),
        values_(t.columns.size()),
        diagonal_(t.diagonal_sources.size(), pivot_divisor<Scalar>::one()) {
    std::size_t next = 0;
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      const auto row = static_cast<std::size_t>(rows_[p]);
      for (auto e = static_cast<std::size_t>(t.row_offsets[row]);
           e < static_cast<std::size_t>(t.row_offsets[row + 1]); ++e, ++next) {
        columns_[next] = static_cast<Index>(stored_row(t.columns[e]));
        sources_[next] = t.sources[e];
      }
      row_offsets_[p + 1] = static_cast<Offset>(next);
      if (!form_.unit) {
        diagonal_sources_[p] = t.diagonal_sources[row];
      }
      rows_[p] = static_cast<Index>(stored_row(rows_[p]));
    }
  }

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  [[nodiscard]] std::int64_t entries() const {
    return static_cast<std::int64_t>(values_.size() + diagonal_.size());
  }
  [[nodiscard]] std::size_t bytes() const {
    return (rows_.size() + columns_.size()) * sizeof(Index) +
           (row_offsets_.size() + sources_.size() + diagonal_sources_.size()) * sizeof(Offset) +
           (values_.size() + diagonal_.size()) * sizeof(Scalar);
  }

  void update_values(const Scalar* values) {
    const auto gather = [&](const std::vector<Offset>& sources, std::vector<Scalar>& to) {
      for (std::size_t e = 0; e < sources.size(); ++e) {
        const Scalar v = load_scalar(values + sources[e]);
        to[e] = form_.conjugated ? conjugate(v) : v;
      }
    };
    gather(sources_, values_);
    gather(diagonal_sources_, diagonal_);
  }

  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index) const {
    if (form_.unit) {
      return false;
    }
    const auto row = static_cast<Index>(stored_row(substitution_index));
    return diagonal_[at(std::find(rows_.begin(), rows_.end(), row) - rows_.begin())] == Scalar{};
  }

  /// Solves the rows with solve indices first ... end - 1 for all right-hand sides. Returns the smallest
  /// substitution index of a row whose component is not finite, or no_row.
  std::int64_t solve_rows(Index first, Index end, Scalar alpha, const dense_view<const Scalar>& b,
                          const dense_view<Scalar>& x) const {
    const bool unit_stride = b.row_stride == 1 && x.row_stride == 1;
    if (form_.unit) {
      return unit_stride ? solve_rows<true, true>(first, end, alpha, b, x)
                         : solve_rows<false, true>(first, end, alpha, b, x);
    }
    return unit_stride ? solve_rows<true, false>(first, end, alpha, b, x)
                       : solve_rows<false, false>(first, end, alpha, b, x);
  }

 private:
  /// Returns the row (column) of the stored matrix with a substitution index, and the other way round.
  [[nodiscard]] std::int64_t stored_row(std::int64_t substitution_index) const {
    return form_.reversed ? size() - 1 - substitution_index : substitution_index;
  }

  /// Does the same for these strides and this diagonal, four right-hand sides at a time.
  template <bool UnitStride, bool UnitDiagonal>
  std::int64_t solve_rows(Index first, Index end, Scalar alpha, const dense_view<const Scalar>& b,
                          const dense_view<Scalar>& x) const {
    bool is_finite_so_far = true;
    std::int64_t column = 0;
    for (; column + 4 <= x.columns; column += 4) {
      is_finite_so_far &= solve_columns<UnitStride, UnitDiagonal, 4>(first, end, column, alpha, b, x);
    }
    for (; column < x.columns; ++column) {
      is_finite_so_far &= solve_columns<UnitStride, UnitDiagonal, 1>(first, end, column, alpha, b, x);
    }
    return is_finite_so_far ? no_row : first_nonfinite(first, end, x);
  }

  /// Does the same for right-hand sides column ... column + Columns - 1. Returns whether all components are
  /// finite. The loop over the rows is short, so that a core works on many rows at once.
  template <bool UnitStride, bool UnitDiagonal, int Columns>
  bool solve_columns(Index first, Index end, std::int64_t column, Scalar alpha,
                     const dense_view<const Scalar>& b, const dense_view<Scalar>& x) const {
    const Index* const rows = rows_.data();
    const Offset* const row_offsets = row_offsets_.data();
    const Index* const columns = columns_.data();
    const Scalar* const values = values_.data();
    const Scalar* const diagonal = diagonal_.data();
    const std::int64_t b_stride = UnitStride ? 1 : b.row_stride;
    const std::int64_t x_stride = UnitStride ? 1 : x.row_stride;
    const std::int64_t b_column_stride = b.column_stride;
    const std::int64_t x_column_stride = x.column_stride;
    const Scalar* const from = b.data + column * b_column_stride;
    Scalar* const to = x.data + column * x_column_stride;
    bool is_finite_so_far = true;
    auto e = static_cast<std::int64_t>(row_offsets[first]);
    for (auto p = static_cast<std::int64_t>(first); p < static_cast<std::int64_t>(end); ++p) {
      const auto row = static_cast<std::int64_t>(rows[p]);
      Scalar sum[at(Columns)];
      for (int k = 0; k < Columns; ++k) {
        sum[k] = alpha * load_scalar(from + row * b_stride + k * b_column_stride);
      }
      for (const auto row_end = static_cast<std::int64_t>(row_offsets[p + 1]); e < row_end; ++e) {
        const Scalar value = values[e];
        const Scalar* const solved = to + columns[e] * x_stride;
        for (int k = 0; k < Columns; ++k) {
          sum[k] = sum[k] - value * load_scalar(solved + k * x_column_stride);
        }
      }
      for (int k = 0; k < Columns; ++k) {
        const Scalar solved = UnitDiagonal ? sum[k] : divide(sum[k], diagonal[p]);
        store_scalar(to + row * x_stride + k * x_column_stride, solved);
        if (!is_finite(solved)) {
          is_finite_so_far = false;
        }
      }
    }
    return is_finite_so_far;
  }

  /// Returns the smallest substitution index of the rows with solve indices first ... end - 1 that have a
  /// component which is not finite, or no_row.
  std::int64_t first_nonfinite(Index first, Index end, const dense_view<Scalar>& x) const {
    std::int64_t found = no_row;
    for (Index p = first; p < end; ++p) {
      const auto row = static_cast<std::int64_t>(rows_[at(p)]);
      for (std::int64_t k = 0; k < x.columns; ++k) {
        if (!is_finite(load_scalar(x.data + row * x.row_stride + k * x.column_stride))) {
          found = std::min(found, stored_row(row));
        }
      }
    }
    return found;
  }

  triangle_form form_;
  std::vector<Index> rows_;               ///< by solve index: the row of x
  std::vector<Offset> row_offsets_;       ///< by solve index, size + 1
  std::vector<Index> columns_;            ///< by entry: the row of x that it multiplies
  std::vector<Offset> sources_;           ///< by entry: its index in the stored matrix
  std::vector<Offset> diagonal_sources_;  ///< by solve index; empty if the diagonal is unit
  std::vector<Scalar> values_;            ///< by entry
  std::vector<Scalar> diagonal_;          ///< by solve index; empty if the diagonal is unit
};

}  // namespace sptrsv::detail
