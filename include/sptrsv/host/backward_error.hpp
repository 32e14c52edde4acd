// SPDX-License-Identifier: Apache-2.0
// The componentwise backward error of a solution, on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "sptrsv/conversions.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Componentwise backward error of a solution of op(T) x = alpha b (Oettli and Prager 1964; Higham, Accuracy
/// and Stability of Numerical Algorithms, section 7.2), and its bound.
struct backward_error_result {
  /// The largest |alpha b - op(T) x|_i / (|op(T)| |x| + |alpha b|)_i over all rows i and all right-hand
  /// sides; 0/0 counts as 0. Infinite if x is not finite.
  double error = 0;
  /// Upper bound of `error` for substitution with any order of additions: 4 (k + 2) eps, where k is the
  /// number of entries of the longest row of op(T) without the diagonal, and eps is the machine epsilon of
  /// the real type.
  double bound = 0;

  /// Returns whether the error is at most the bound.
  [[nodiscard]] bool ok() const noexcept { return error <= bound; }
};

namespace detail {

/// Wider type for a real type: twice the digits of float; the widest type of the host for double.
template <class Real>
using wide_t = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

/// Returns a real or complex number in a wider type.
template <class Real>
std::complex<wide_t<Real>> widened(Real v) {
  return {v};
}
template <class Real>
std::complex<wide_t<Real>> widened(cplx<Real> v) {
  return {v.re, v.im};
}

}  // namespace detail

/// Computes the backward error of the solution `x`. All arrays are in host memory. The residual is computed
/// in a wider type: double for float, long double for double.
///
/// @param a csr_view, csc_view, bsr_view or owning matrix.
/// @param options the system; `max_rhs` is not used.
/// @param b right-hand sides.
/// @param x solutions, as many as right-hand sides.
/// @param alpha factor of b.
/// @throws error For the matrix, the errors of structure_of. For b and x, the errors of solver::solve, except
///   that a stride may be 0, which repeats elements.
template <class Matrix, class Value = typename Matrix::view_type::value_type>
backward_error_result backward_error(const Matrix& a, const system_options& options,
                                     dense_view<const detail::identity_t<Value>> b,
                                     dense_view<const detail::identity_t<Value>> x,
                                     detail::identity_t<Value> alpha = Value(1)) {
  using real = detail::real_t<Value>;
  using wide = std::complex<detail::wide_t<real>>;
  const auto rows = detail::by_single_rows(a);
  const auto view = detail::view_of(rows);
  const auto pattern = detail::pattern_of(view);
  const auto taker = "backward_error";
  detail::check_shape<Value>(view.rows, view.columns, pattern,
                             {options.part, options.diagonal, options.operation, 1});
  detail::check_on_host(view, taker);
  detail::check_operands<detail::host_executor>(b, x, view.rows, x.columns, taker, true);
  const detail::triangle_form form(options, pattern.by_columns);
  const auto scalar = [](const Value& v) { return detail::load_scalar(detail::as_scalar(&v)); };
  const auto row_of = [&](std::int64_t substitution_index) {
    return form.reversed ? view.rows - 1 - substitution_index : substitution_index;
  };

  std::vector<wide> residual;
  std::vector<detail::wide_t<real>> size;
  std::vector<std::int64_t> length(detail::at(view.rows), 0);
  backward_error_result result;
  for (std::int64_t k = 0; k < x.columns; ++k) {
    residual.clear();
    size.clear();
    const auto x_at = [&](std::int64_t row) {
      return detail::widened(scalar(x.data[row * x.row_stride + k * x.column_stride]));
    };
    for (std::int64_t i = 0; i < view.rows; ++i) {
      residual.push_back(detail::widened(scalar(alpha)) *
                         detail::widened(scalar(b.data[i * b.row_stride + k * b.column_stride])));
      size.push_back(std::abs(residual.back()));
    }
    const auto add = [&](std::int64_t row, const wide& entry, std::int64_t column) {
      residual[detail::at(row)] -= entry * x_at(column);
      size[detail::at(row)] += std::abs(entry) * std::abs(x_at(column));
    };
    detail::for_each_triangle_entry(
        pattern, form, [&](auto row, auto column, auto e) {  // both by substitution index
          if (row != column || !form.unit) {
            const auto value = scalar(view.values[e]);
            add(row_of(row), detail::widened(form.conjugated ? detail::conjugate(value) : value),
                row_of(column));
          }
          length[detail::at(row)] += k == 0 && row != column ? 1 : 0;
        });
    for (std::int64_t i = 0; form.unit && i < view.rows; ++i) {
      add(i, wide(1), i);
    }
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const auto missed = std::abs(residual[i]);
      const double error = missed == 0 ? 0.0 : static_cast<double>(missed / size[i]);
      result.error =
          std::isfinite(error) ? std::max(result.error, error) : std::numeric_limits<double>::infinity();
    }
  }
  const std::int64_t longest = length.empty() ? 0 : *std::max_element(length.begin(), length.end());
  result.bound =
      4.0 * static_cast<double>(longest + 2) * static_cast<double>(std::numeric_limits<real>::epsilon());
  return result;
}

}  // namespace sptrsv::SPTRSV_ABI
