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
#include "sptrsv/detail/base/with_constant.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The operands of a solve of op(T) x = alpha b, apart from the matrix.
template <class Scalar>
struct host_operands {
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// Rows of a triangle with their values, by solve index.
template <class Scalar, class Index, class Offset>
class host_rows {
 public:
  using operands = host_operands<Scalar>;
  static constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

  explicit host_rows(const triangle_form& form) : form_(form) {}
  /// Stores `t` in the order of `rows`, by solve index the row of `t`. The values are those of the identity.
  host_rows(const triangle_form& form, const host_triangle<Index, Offset>& t, std::vector<Index> rows)
      : form_(form),
        rows_(std::move(rows)),
        values_(t.columns.size()),
        diagonal_(t.diagonal_sources.size(), pivot_divisor<Scalar>::one()) {
    t_.row_offsets.reserve(t.row_offsets.size());
    t_.columns.reserve(t.columns.size());
    t_.sources.reserve(t.sources.size());
    t_.diagonal_sources.reserve(t.diagonal_sources.size());
    t_.row_offsets.push_back(0);
    for (Index& row : rows_) {
      for (auto e = at(t.row_offsets[at(row)]); e < at(t.row_offsets[at(row) + 1]); ++e) {
        t_.columns.push_back(static_cast<Index>(stored_row(t.columns[e])));
        t_.sources.push_back(t.sources[e]);
      }
      t_.row_offsets.push_back(static_cast<Offset>(t_.columns.size()));
      if (!form_.unit) {
        t_.diagonal_sources.push_back(t.diagonal_sources[at(row)]);
      }
      row = static_cast<Index>(stored_row(row));
    }
  }

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  [[nodiscard]] std::int64_t entries() const {
    return static_cast<std::int64_t>(values_.size() + diagonal_.size());
  }
  [[nodiscard]] std::size_t bytes() const {
    return (rows_.size() + t_.columns.size()) * sizeof(Index) +
           (t_.row_offsets.size() + values_.size() + diagonal_.size()) * sizeof(Offset) +
           (values_.size() + diagonal_.size()) * sizeof(Scalar);
  }

  void update_values(const Scalar* values) {
    const auto gather = [&](const std::vector<Offset>& sources, std::vector<Scalar>& to) {
      for (std::size_t e = 0; e < sources.size(); ++e) {
        const Scalar v = load_scalar(values + sources[e]);
        to[e] = form_.conjugated ? conjugate(v) : v;
      }
    };
    gather(t_.sources, values_);
    gather(t_.diagonal_sources, diagonal_);
  }

  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index) const {
    if (form_.unit) {
      return false;
    }
    const auto row = static_cast<Index>(stored_row(substitution_index));
    return diagonal_[at(std::find(rows_.begin(), rows_.end(), row) - rows_.begin())] == Scalar{};
  }

  /// Solves the rows with solve indices first ... end - 1 for all right-hand sides, four at a time. Returns
  /// the smallest substitution index of a row whose component is not finite, or no_row.
  std::int64_t solve_rows(Index first, Index end, const operands& with) const {
    std::int64_t first_nonfinite = no_row;
    with_constant(with.b.row_stride == 1 && with.x.row_stride == 1, [&](auto unit_stride) {
      with_constant(form_.unit, [&](auto unit_diagonal) {
        constexpr bool strides = decltype(unit_stride)::value;
        constexpr bool diagonal = decltype(unit_diagonal)::value;
        std::int64_t column = 0;
        for (; column + 4 <= with.x.columns; column += 4) {
          first_nonfinite =
              std::min(first_nonfinite, solve_columns<strides, diagonal, 4>(first, end, column, with));
        }
        for (; column < with.x.columns; ++column) {
          first_nonfinite =
              std::min(first_nonfinite, solve_columns<strides, diagonal, 1>(first, end, column, with));
        }
      });
    });
    return first_nonfinite;
  }

 private:
  /// Returns the row (column) of the stored matrix with a substitution index, and the other way round.
  [[nodiscard]] std::int64_t stored_row(std::int64_t substitution_index) const {
    return form_.reversed ? size() - 1 - substitution_index : substitution_index;
  }

  /// Does the same for right-hand sides column ... column + Columns - 1. The loop over the rows is short, so
  /// that a core works on many rows at once.
  template <bool UnitStride, bool UnitDiagonal, int Columns>
  std::int64_t solve_columns(Index first, Index end, std::int64_t column, const operands& with) const {
    const Index* const rows = rows_.data();
    const Offset* const row_offsets = t_.row_offsets.data();
    const Index* const columns = t_.columns.data();
    const Scalar* const values = values_.data();
    const Scalar* const diagonal = diagonal_.data();
    const Scalar alpha = with.alpha;
    const std::int64_t b_stride = UnitStride ? 1 : with.b.row_stride;
    const std::int64_t x_stride = UnitStride ? 1 : with.x.row_stride;
    const std::int64_t b_column_stride = with.b.column_stride;
    const std::int64_t x_column_stride = with.x.column_stride;
    const Scalar* const from = with.b.data + column * b_column_stride;
    Scalar* const to = with.x.data + column * x_column_stride;
    std::int64_t first_nonfinite = no_row;
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
          first_nonfinite = std::min(first_nonfinite, stored_row(row));
        }
      }
    }
    return first_nonfinite;
  }

  triangle_form form_;
  std::vector<Index> rows_;         ///< by solve index: the row of x
  host_triangle<Index, Offset> t_;  ///< by solve index; its columns are the rows of x
  std::vector<Scalar> values_;      ///< by entry
  std::vector<Scalar> diagonal_;    ///< by solve index; empty if the diagonal is unit
};

}  // namespace sptrsv::SPTRSV_ABI::detail
