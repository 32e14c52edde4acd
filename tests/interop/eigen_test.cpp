// The adapters for Eigen, against Eigen's own solves.
#include "sptrsv/interop/eigen.hpp"

#include <gtest/gtest.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <complex>
#include <vector>

#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::testing {
namespace {

using interop::as_view;

/// Returns the matrix of a five-point stencil on a grid of size x size points; `skew` makes it non-symmetric.
template <class Matrix>
Matrix grid(int size, double skew = 0) {
  std::vector<Eigen::Triplet<typename Matrix::Scalar>> entries;
  for (int row = 0; row < size * size; ++row) {
    entries.emplace_back(row, row, 4.5);
    if (row % size != 0) {
      entries.emplace_back(row, row - 1, -1 - skew);
      entries.emplace_back(row - 1, row, -1 + skew);
    }
    if (row >= size) {
      entries.emplace_back(row, row - size, -1 - skew);
      entries.emplace_back(row - size, row, -1 + skew);
    }
  }
  Matrix a(size * size, size * size);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

template <class Matrix>
class EigenMatrices : public ::testing::Test {};
using matrix_types =
    ::testing::Types<Eigen::SparseMatrix<double>, Eigen::SparseMatrix<double, Eigen::RowMajor>,
                     Eigen::SparseMatrix<std::complex<float>, Eigen::RowMajor, std::int64_t>>;
TYPED_TEST_SUITE(EigenMatrices, matrix_types);

TYPED_TEST(EigenMatrices, AreSolvedAsEigenSolvesThem) {
  using scalar = typename TypeParam::Scalar;
  using dense = Eigen::Matrix<scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const auto a = grid<TypeParam>(7);
  const dense b = dense::Random(a.rows(), 3);
  const dense expected = a.template triangularView<Eigen::Lower>().solve(b);
  auto solver = analyze(policy::host_serial{}, as_view(a), {uplo::lower, diag::non_unit, op::none, 3});
  dense x = dense::Zero(a.rows(), 3);
  solver.solve(as_view(b), as_view(x));
  EXPECT_LT((x - expected).norm(), 1e-4F * expected.norm());

  // A map of the arrays, a row-major matrix, and a block of a larger one.
  const Eigen::Map<const TypeParam> map(a.rows(), a.cols(), a.nonZeros(), a.outerIndexPtr(),
                                        a.innerIndexPtr(), a.valuePtr());
  auto of_map = analyze(policy::host_serial{}, as_view(map), {uplo::lower, diag::non_unit, op::none, 3});
  Eigen::Matrix<scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = b;
  dense larger = dense::Zero(a.rows() + 5, 4);
  auto block = larger.block(2, 1, a.rows(), 3);
  of_map.solve(as_view(rows), as_view(block));
  EXPECT_EQ(block, x);
  EXPECT_EQ(larger.topRows(2).norm() + larger.leftCols(1).norm() + larger.bottomRows(3).norm(), 0);
  Eigen::Matrix<scalar, Eigen::Dynamic, 1> column = b.col(1);
  of_map.solve(as_view(column), as_view(column));
  EXPECT_EQ(column, x.col(1));
}

TEST(Eigen, MatricesThatAreNotCompressedAreRefused) {
  Eigen::SparseMatrix<double> a(2, 2);
  a.insert(0, 0) = 1;
  EXPECT_THROW(static_cast<void>(as_view(a)), error);
  a.insert(1, 1) = 1;
  a.makeCompressed();
  EXPECT_EQ(as_view(a).entries, 2);
}

/// Solves with an iterative solver, with and without the preconditioner.
template <class Plain, class Preconditioned, class Matrix>
void expect_fewer_steps(const Matrix& a) {
  const Eigen::VectorXd b = Eigen::VectorXd::Random(a.rows());
  Plain plain(a);
  const Eigen::VectorXd slow = plain.solve(b);
  Preconditioned preconditioned;
  preconditioned.compute(a);
  ASSERT_EQ(preconditioned.info(), Eigen::Success);
  const Eigen::VectorXd x = preconditioned.solve(b);
  EXPECT_LT((a * x - b).norm(), 1e-10 * b.norm());
  EXPECT_LT(2 * preconditioned.iterations(), plain.iterations());

  // Compute again, with the same pattern and new values.
  const Matrix scaled = 3 * a;
  preconditioned.factorize(scaled);
  const Eigen::VectorXd third = preconditioned.solve(b);
  EXPECT_LT((3 * third - x).norm(), 1e-9 * x.norm());
}

TEST(Eigen, ConjugateGradientTakesIncompleteCholesky) {
  using matrix = Eigen::SparseMatrix<double>;
  constexpr int both = Eigen::Lower | Eigen::Upper;
  expect_fewer_steps<Eigen::ConjugateGradient<matrix, both, Eigen::IdentityPreconditioner>,
                     Eigen::ConjugateGradient<matrix, both, interop::eigen_incomplete_cholesky<double>>>(
      grid<matrix>(30));
}

TEST(Eigen, BiCgStabTakesIncompleteLu) {
  using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  expect_fewer_steps<Eigen::BiCGSTAB<matrix, Eigen::IdentityPreconditioner>,
                     Eigen::BiCGSTAB<matrix, interop::eigen_incomplete_lu<double>>>(grid<matrix>(30, 0.4));
}

TEST(Eigen, ThePreconditionerTellsOfBreakdown) {
  Eigen::SparseMatrix<double> a(2, 2);
  a.insert(0, 0) = 0;
  a.insert(1, 1) = 1;
  EXPECT_EQ(interop::eigen_incomplete_lu<double>(a).info(), Eigen::NumericalIssue);
  a.coeffRef(0, 0) = 2;
  interop::eigen_incomplete_lu<double> lu;
  EXPECT_THROW(static_cast<void>(lu.info()), error);
  EXPECT_THROW(lu.factorize(a), error);
  EXPECT_EQ(lu.compute(a).info(), Eigen::Success);
  EXPECT_EQ(Eigen::VectorXd(lu.solve(Eigen::Vector2d(2, 3))), Eigen::Vector2d(1, 3));
}

}  // namespace
}  // namespace sptrsv::testing
