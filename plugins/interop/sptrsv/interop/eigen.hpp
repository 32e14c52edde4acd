// SPDX-License-Identifier: Apache-2.0
// Eigen: views of its matrices and vectors, and preconditioners for its iterative solvers.
//
// The umbrella does not include this header: a program that includes it has Eigen 3.4 on its include path
// (CMake: Eigen3::Eigen).
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy/host_parallel.hpp"

namespace sptrsv::SPTRSV_ABI::interop {

/// Returns a view of a compressed sparse matrix: a SparseMatrix, or a Map or Ref of one. It is a csr_view if
/// the matrix is row-major, otherwise a csc_view. Nothing is copied; the matrix must outlive the view.
///
/// @throws error errc::invalid_argument if the matrix is not compressed.
template <class Derived>
auto as_view(const Eigen::SparseCompressedBase<Derived>& a) {
  using value = typename Derived::Scalar;
  using index = typename Derived::StorageIndex;
  using view = std::conditional_t<bool(Derived::IsRowMajor), csr_view<value, index>, csc_view<value, index>>;
  SPTRSV_EXPECTS(a.isCompressed(), errc::invalid_argument,
                 "the matrix of Eigen is not compressed: call makeCompressed()");
  return view{a.rows(),
              a.cols(),
              a.nonZeros(),
              a.derived().outerIndexPtr(),
              a.derived().innerIndexPtr(),
              a.derived().valuePtr()};
}

/// Returns a view of a dense matrix or vector, of a Map, or of a Block, to read from. The elements must
/// outlive the view.
template <class Derived>
dense_view<const typename Derived::Scalar> as_view(const Eigen::MatrixBase<Derived>& m) {
  return {m.derived().data(), m.rows(), m.cols(), m.derived().rowStride(), m.derived().colStride()};
}
/// Returns a view of a dense matrix or vector, of a Map, or of a Block, to write to. The elements must
/// outlive the view.
template <class Derived>
dense_view<typename Derived::Scalar> as_view(Eigen::MatrixBase<Derived>& m) {
  return {m.derived().data(), m.rows(), m.cols(), m.derived().rowStride(), m.derived().colStride()};
}

/// A preconditioner for Eigen's iterative solvers: an incomplete factorisation without fill-in, on the host.
/// Use the aliases eigen_incomplete_lu and eigen_incomplete_cholesky, for example
/// `Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, eigen_incomplete_cholesky<double>>`.
///
/// The functions are those of Eigen's own preconditioners. `analyzePattern` analyses and factorises,
/// `factorize` takes the values of another matrix with the same pattern, `compute` is `analyzePattern`. They
/// throw what analyze_incomplete_lu throws. One thread may use a preconditioner at a time.
///
/// @tparam Method LU or Cholesky.
/// @tparam Scalar float, double, or std::complex of one of them.
/// @tparam Index type of the indices that the preconditioner stores.
template <incomplete_method Method, class Scalar, class Index = std::int32_t>
class eigen_incomplete_factors
    : public Eigen::SparseSolverBase<eigen_incomplete_factors<Method, Scalar, Index>> {
  using matrix = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, Index>;
  static constexpr bool is_lu = Method == incomplete_method::lu;

 public:
  using StorageIndex = Index;  ///< type of indices, as Eigen names it
  /// Sizes that Eigen asks for.
  enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic };

  /// Constructs a preconditioner without a matrix.
  eigen_incomplete_factors() = default;
  /// Constructs the preconditioner of a matrix.
  template <class Matrix>
  explicit eigen_incomplete_factors(const Matrix& a) {
    compute(a);
  }

  /// Returns the number of rows of the matrix.
  [[nodiscard]] Eigen::Index rows() const { return a_.rows(); }
  /// Returns the number of columns of the matrix.
  [[nodiscard]] Eigen::Index cols() const { return a_.cols(); }

  /// Analyses the pattern of a matrix and factorises it.
  template <class Matrix>
  eigen_incomplete_factors& analyzePattern(const Matrix& a) {
    a_ = a;
    a_.makeCompressed();
    held_.reset();
    held_.emplace(as_view(a_));
    this->m_isInitialized = true;
    return *this;
  }
  /// Factorises a matrix with the pattern of the last analysis.
  template <class Matrix>
  eigen_incomplete_factors& factorize(const Matrix& a) {
    SPTRSV_EXPECTS(held_.has_value(), errc::invalid_argument, "factorize needs an analysis: call compute()");
    a_ = a;
    a_.makeCompressed();
    held_->computed.factorize(span<const Scalar>(a_.valuePtr(), static_cast<std::size_t>(a_.nonZeros())));
    held_->both.update_values(held_->computed.values());
    return *this;
  }
  /// Analyses and factorises a matrix.
  template <class Matrix>
  eigen_incomplete_factors& compute(const Matrix& a) {
    return analyzePattern(a);
  }

  /// Returns Eigen::NumericalIssue if the factorisation met a zero pivot or a value that is not finite.
  [[nodiscard]] Eigen::ComputationInfo info() const {
    SPTRSV_EXPECTS(held_.has_value(), errc::invalid_argument, "the preconditioner has no matrix");
    return held_->computed.status().ok() ? Eigen::Success : Eigen::NumericalIssue;
  }

  /// Solves for `solve(b)`, which Eigen's base class provides.
  template <class Rhs, class Dest>
  void _solve_impl(const Rhs& b, Dest& x) const {
    x = b;
    for (Eigen::Index column = 0; column < x.cols(); ++column) {
      auto one = x.col(column);
      held_->both.apply(as_view(std::as_const(one)), as_view(one));
    }
  }

 private:
  struct computed_factors {
    explicit computed_factors(const csr_view<Scalar, Index>& a)
        : computed(a, pivot_options{}, host_stream{}, nullptr),
          both(policy::host_parallel{}, computed.view(a), options(), host_stream{}, nullptr) {}

    static factors_options<Scalar, Index> options() {
      return is_lu ? factors_options<Scalar, Index>::lu() : factors_options<Scalar, Index>::cholesky();
    }

    incomplete_factorization<Method, Scalar, Index, Index, host_stream> computed;
    factors<policy::host_parallel, Scalar, Index> both;
  };

  matrix a_;
  mutable std::optional<computed_factors> held_;  ///< a solve uses its own workspace
};

/// Preconditioner by ILU(0), for general matrices.
template <class Scalar, class Index = std::int32_t>
using eigen_incomplete_lu = eigen_incomplete_factors<incomplete_method::lu, Scalar, Index>;
/// Preconditioner by IC(0), for Hermitian positive definite matrices; it reads the lower triangle.
template <class Scalar, class Index = std::int32_t>
using eigen_incomplete_cholesky = eigen_incomplete_factors<incomplete_method::cholesky, Scalar, Index>;

}  // namespace sptrsv::SPTRSV_ABI::interop
