// The Krylov methods with the preconditioners of the example programs, held against textbook loops in a wide
// type: they converge in as many iterations, to within one.
#include "sptrsv/krylov.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "common/generators/factors.hpp"
#include "common/systems/seeded_values.hpp"
#include "examples/krylov/preconditioner.hpp"
#include "examples/krylov/problems.hpp"
#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::testing {
namespace {

using sptrsv_examples::on_host;
using sptrsv_examples::preconditioner_choice;
using sptrsv_examples::preconditioning;
using matrix = csr_matrix<double>;
using wide_vector = std::vector<long double>;
using operation = std::function<wide_vector(const wide_vector&)>;

constexpr long double tolerance = 1e-8L;

matrix system_of(std::int32_t n, double peclet) {
  return sptrsv_common::convection_diffusion({n, n, n}, peclet);
}

long double dot(const wide_vector& x, const wide_vector& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0L);
}
void add(wide_vector& y, long double a, const wide_vector& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] += a * x[i];
  }
}
wide_vector scaled(wide_vector x, long double a) {
  for (long double& v : x) {
    v *= a;
  }
  return x;
}

operation product_with(const matrix& a) {
  return [&a](const wide_vector& x) {
    wide_vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[i]);
           e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
        y[i] += a.values[e] * x[static_cast<std::size_t>(a.column_indices[e])];
      }
    }
    return y;
  };
}

/// Solves with the lower or upper triangle of a CSR matrix whose columns ascend.
wide_vector substitute(const matrix& a, bool lower, bool unit, wide_vector x) {
  for (std::size_t step = 0; step < x.size(); ++step) {
    const std::size_t i = lower ? step : x.size() - 1 - step;
    long double pivot = 1;
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]);
         e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      const auto j = static_cast<std::size_t>(a.column_indices[e]);
      if (lower ? j < i : j > i) {
        x[i] -= a.values[e] * x[j];
      } else if (j == i && !unit) {
        pivot = a.values[e];
      }
    }
    x[i] /= pivot;
  }
  return x;
}

/// ILU(0) by the loops of the textbook; that of a symmetric matrix is L D L^T, as IC(0).
operation ilu(const matrix& a) {
  matrix f = a;
  const auto find = [&](std::size_t i, std::int32_t j) -> double* {
    for (auto e = static_cast<std::size_t>(f.row_offsets[i]);
         e < static_cast<std::size_t>(f.row_offsets[i + 1]); ++e) {
      if (f.column_indices[e] == j) {
        return &f.values[e];
      }
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(f.rows); ++i) {
    for (auto e = static_cast<std::size_t>(f.row_offsets[i]);
         e < static_cast<std::size_t>(f.row_offsets[i + 1]); ++e) {
      const auto k = static_cast<std::size_t>(f.column_indices[e]);
      if (k >= i) {
        continue;
      }
      f.values[e] /= *find(k, static_cast<std::int32_t>(k));
      for (auto g = static_cast<std::size_t>(f.row_offsets[k]);
           g < static_cast<std::size_t>(f.row_offsets[k + 1]); ++g) {
        double* const target = find(i, f.column_indices[g]);
        if (static_cast<std::size_t>(f.column_indices[g]) > k && target != nullptr) {
          *target -= f.values[e] * f.values[g];
        }
      }
    }
  }
  return [f](const wide_vector& r) { return substitute(f, false, false, substitute(f, true, true, r)); };
}

operation ssor(const matrix& a) {
  return [&a](const wide_vector& r) {
    wide_vector y = substitute(a, true, false, r);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[i]);
           e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
        if (static_cast<std::size_t>(a.column_indices[e]) == i) {
          y[i] *= a.values[e];
          break;
        }
      }
    }
    return substitute(a, false, false, y);
  };
}

/// Returns A with zeros where its factors have fill-in.
matrix filled(const matrix& a, std::int64_t fill_level) {
  const auto found =
      detail::incomplete::fill_in<detail::incomplete::method::lu, std::int32_t, std::int32_t>::of(
          detail::pattern_of(a.view()), fill_level);
  matrix made{a.rows, a.columns, found.offsets, found.indices, {}};
  for (const auto source : found.sources) {
    made.values.push_back(source >= 0 ? a.values[static_cast<std::size_t>(source)] : 0);
  }
  return made;
}

operation of(const preconditioner_choice& choice, const matrix& a) {
  switch (choice.kind) {
    case preconditioning::ilu0:
    case preconditioning::ic0:
      return ilu(filled(a, choice.fill_level));
    case preconditioning::ssor:
      return ssor(a);
    default:
      return [](const wide_vector& r) { return r; };
  }
}

int reference_cg(const operation& a, const operation& m, const wide_vector& b) {
  wide_vector r = b;
  wide_vector z = m(r);
  wide_vector p = z;
  long double rho = dot(r, z);
  int iterations = 0;
  for (; std::sqrt(dot(r, r) / dot(b, b)) > tolerance; ++iterations) {
    const wide_vector q = a(p);
    add(r, -rho / dot(p, q), q);
    z = m(r);
    const long double next = dot(r, z);
    p = scaled(p, next / rho);
    add(p, 1, z);
    rho = next;
  }
  return iterations;
}

int reference_bicgstab(const operation& a, const operation& m, const wide_vector& b) {
  wide_vector r = b;
  wide_vector p = b;
  long double rho = dot(b, r);
  int iterations = 0;
  for (; std::sqrt(dot(r, r) / dot(b, b)) > tolerance; ++iterations) {
    const wide_vector v = a(m(p));
    const long double alpha = rho / dot(b, v);
    add(r, -alpha, v);
    const wide_vector t = a(m(r));
    const long double omega = dot(t, r) / dot(t, t);
    add(r, -omega, t);
    const long double next = dot(b, r);
    add(p, -omega, v);
    p = scaled(p, next / rho * (alpha / omega));
    add(p, 1, r);
    rho = next;
  }
  return iterations;
}

/// The residual of each step is that of the best correction in the span of A M^-1 v_j, by an orthonormal
/// basis of this span (the simpler GMRES of Walker and Zhou 1994).
int reference_gmres(const operation& a, const operation& m, const wide_vector& b, int restart) {
  wide_vector r = b;
  int iterations = 0;
  while (true) {
    std::vector<wide_vector> basis;
    wide_vector direction = r;
    for (int j = 0; j < restart; ++j, ++iterations) {
      if (std::sqrt(dot(r, r) / dot(b, b)) <= tolerance) {
        return iterations;
      }
      wide_vector w = a(m(direction));
      for (int twice = 0; twice < 2; ++twice) {
        for (const wide_vector& v : basis) {
          add(w, -dot(v, w), v);
        }
      }
      w = scaled(w, 1 / std::sqrt(dot(w, w)));
      add(r, -dot(r, w), w);
      basis.push_back(w);
      direction = w;
    }
  }
}

/// Expects that the method needs as many iterations as the reference, to within one, and solves the system.
/// Returns the iterations.
template <class Method, class Reference>
int check(const matrix& a, const preconditioner_choice& kind, const Method& method,
          const Reference& reference) {
  const auto b = sptrsv_common::seeded_vector<double>(a.rows, 1);
  const wide_vector wide_b(b.begin(), b.end());
  const on_host on(a);
  sptrsv_examples::preconditioner<on_host> m(kind, on);
  std::vector<double> x(b.size());
  krylov::workspace<double, host_stream> scratch;
  const krylov::csr_operator product(a, host_stream{});
  const krylov::result found = m.visit([&](auto&& of) { return method(product, of, b, x, scratch); });
  EXPECT_TRUE(found.converged());
  const int expected = reference(product_with(a), of(kind, a), wide_b);
  EXPECT_LE(std::abs(found.iterations - expected), 1) << found.iterations << " and " << expected;
  EXPECT_GT(expected, 3);
  wide_vector residual = product_with(a)(wide_vector(x.begin(), x.end()));
  add(residual, -1, wide_b);
  EXPECT_LE(std::sqrt(dot(residual, residual) / dot(wide_b, wide_b)), 1.01L * tolerance);
  return found.iterations;
}

constexpr auto cg = [](auto&&... of) { return krylov::conjugate_gradients(of...); };
auto gmres_with(int restart) {
  return [restart](auto&&... of) {
    krylov::options o;
    o.restart = restart;
    return krylov::gmres(of..., o);
  };
}

TEST(Krylov, ConjugateGradientsConvergeAsTheReference) {
  for (const auto kind : {preconditioning::none, preconditioning::ssor, preconditioning::ic0}) {
    check(system_of(10, 0), kind, cg, reference_cg);
  }
}

TEST(Krylov, BicgstabConvergesAsTheReference) {
  for (const auto kind : {preconditioning::ssor, preconditioning::ilu0}) {
    check(
        system_of(8, 2), kind, [](auto&&... of) { return krylov::bicgstab(of...); }, reference_bicgstab);
  }
}

TEST(Krylov, GmresConvergesAsTheReference) {
  for (const int restart : {6, 50}) {
    for (const auto kind : {preconditioning::none, preconditioning::ilu0}) {
      check(system_of(8, 2), kind, gmres_with(restart),
            [&](const operation& a, const operation& m, const wide_vector& b) {
              return reference_gmres(a, m, b, restart);
            });
    }
  }
}

/// With each level of fill the reference and the method need fewer iterations.
TEST(Krylov, NeedFewerIterationsWithFill) {
  const auto reference = [](const operation& a, const operation& m, const wide_vector& b) {
    return reference_gmres(a, m, b, 50);
  };
  int cg_before = 1000;
  int gmres_before = 1000;
  for (std::int64_t level = 0; level <= 2; ++level) {
    const int of_cg = check(system_of(10, 0), {preconditioning::ic0, level}, cg, reference_cg);
    const int of_gmres = check(system_of(10, 2), {preconditioning::ilu0, level}, gmres_with(50), reference);
    EXPECT_LT(of_cg, cg_before) << "level " << level;
    EXPECT_LT(of_gmres, gmres_before) << "level " << level;
    cg_before = of_cg;
    gmres_before = of_gmres;
  }
}

TEST(Krylov, SayWhereAFactorisationBreaksDown) {
  matrix a = system_of(3, 0);
  a.values[0] = 0;
  const on_host on(a);
  for (const auto kind : {preconditioning::ilu0, preconditioning::ilu_sweeps, preconditioning::isai}) {
    try {
      const sptrsv_examples::preconditioner<on_host> m(kind, on);
      FAIL() << "accepted";
    } catch (const error& e) {
      EXPECT_STREQ(e.what(), "ILU(0) breaks down in row 0");
    }
  }
}

/// Returns M^-1 r.
std::vector<double> applied(const matrix& a, preconditioner_choice kind, int steps,
                            const std::vector<double>& r) {
  const on_host on(a);
  kind.steps = steps;
  sptrsv_examples::preconditioner<on_host> m(kind, on);
  std::vector<double> z(r.size());
  m.apply(r, z, {});
  return z;
}
/// Expects M^-1 r = z, to rounding errors.
void expect_applied(const matrix& a, preconditioning kind, int steps, const std::vector<double>& r,
                    const std::vector<double>& expected) {
  const std::vector<double> z = applied(a, kind, steps, r);
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_NEAR(z[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << name_of(kind) << ", row " << i;
  }
}

TEST(Alternatives, OfADiagonalHaveItsWeights) {
  const matrix a{3, 3, {0, 2, 4, 5}, {0, 2, 0, 1, 2}, {4, 3, 2, -1, 5}};
  const std::vector<double> r{8, 10, 15};
  expect_applied(a, preconditioning::jacobi, 1, r, {2, -10, 3});
  expect_applied(a, preconditioning::spai0, 1, r, {8 * 4 / 25.0, -10 / 5.0, 3});
}

/// A block is inverted, and so is a dense triangle by ISAI: what is applied solves the system.
TEST(Alternatives, AreExactWhereNothingIsLeftOut) {
  matrix dense{11, 11, {0}, {}, {}};
  for (std::int32_t i = 0; i < 11; ++i) {
    for (std::int32_t j = 0; j < 11; ++j) {
      dense.column_indices.push_back(j);
      dense.values.push_back(i == j ? 12 + i : 1.0 / (1 + i + 2 * j));
    }
    dense.row_offsets.push_back(11 * (i + 1));
  }
  const auto x = sptrsv_common::seeded_vector<double>(11, 5);
  const wide_vector product = product_with(dense)(wide_vector(x.begin(), x.end()));
  const std::vector<double> r(product.begin(), product.end());
  expect_applied(dense, preconditioning::block_jacobi, 1, r, x);
  expect_applied(dense, preconditioning::isai, 1, r, x);
  expect_applied(dense, preconditioning::ilu_sweeps, 10, r, x);
  expect_applied(dense, preconditioning::chebyshev, 200, r, x);
}

/// (D + L) D^-1 (D + U) of DILU has the diagonal of A, by hand for D = (2, 3/2, 5/6). ILU(0) of a star
/// stencil changes nothing but the diagonal, so that it is DILU.
TEST(Alternatives, OfTheDiagonalAreDilu) {
  const matrix a{3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {2, 1, 1, 1, 2, 1, 1, 1, 2}};
  expect_applied(a, preconditioning::dilu, 1, {4, 4.5, 4.5}, {1, 1, 1});
  const matrix star = system_of(6, 2);
  const auto r = sptrsv_common::seeded_vector<double>(star.rows, 5);
  expect_applied(star, preconditioning::dilu, 1, r, applied(star, preconditioning::ilu0, 1, r));
}

/// The steps multiply the residual of an eigenvector of D^-1 A by the Chebyshev polynomial T for the interval
/// from a thirtieth of 1.1 times the largest eigenvalue on: T(eigenvalue) / T(0).
TEST(Alternatives, AreChebyshevPolynomials) {
  const matrix a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 2}};  // eigenvalues of D^-1 A: 1.5 and 0.5
  const double high = 1.1 * 1.5;
  const double low = high / 30;
  for (const int steps : {1, 2, 3, 6}) {
    const double at_eigenvalue = std::cos(steps * std::acos((high + low - 2 * 1.5) / (high - low)));
    const double left = at_eigenvalue / std::cosh(steps * std::acosh((high + low) / (high - low)));
    const std::vector<double> z = applied(a, preconditioning::chebyshev, steps, {3, 3});
    EXPECT_NEAR(z[0], 1 - left, 1e-5) << steps;
    EXPECT_NEAR(z[1], 1 - left, 1e-5) << steps;
  }
}

/// The rows of the last block are fewer, and blocks do not meet.
TEST(Alternatives, InvertTheBlocksOfLargerSystems) {
  const matrix a = system_of(3, 2);
  matrix blocks{a.rows, a.rows, {0}, {}, {}};
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (auto e = a.row_offsets[static_cast<std::size_t>(i)];
         e < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
      const std::int32_t j = a.column_indices[static_cast<std::size_t>(e)];
      if (j / sptrsv_examples::invert_blocks::size == i / sptrsv_examples::invert_blocks::size) {
        blocks.column_indices.push_back(j);
        blocks.values.push_back(a.values[static_cast<std::size_t>(e)]);
      }
    }
    blocks.row_offsets.push_back(static_cast<std::int32_t>(blocks.values.size()));
  }
  const auto x = sptrsv_common::seeded_vector<double>(a.rows, 7);
  const wide_vector product = product_with(blocks)(wide_vector(x.begin(), x.end()));
  expect_applied(a, preconditioning::block_jacobi, 1, {product.begin(), product.end()}, x);
}

/// A sweep brings the components of one level more.
TEST(Alternatives, SweepsOfAllLevelsAreTheSolves) {
  const matrix a = system_of(4, 2);  // 10 levels
  const auto r = sptrsv_common::seeded_vector<double>(a.rows, 9);
  const wide_vector solved = ilu(a)(wide_vector(r.begin(), r.end()));
  const std::vector<double> expected(solved.begin(), solved.end());
  expect_applied(a, preconditioning::ilu_sweeps, 9, r, expected);
  double difference = 0;
  const std::vector<double> early = applied(a, preconditioning::ilu_sweeps, 2, r);
  for (std::size_t i = 0; i < r.size(); ++i) {
    difference = std::max(difference, std::abs(early[i] - expected[i]));
  }
  EXPECT_GT(difference, 1e-6);
}

/// Row sums and symmetry tell wrong couplings apart.
TEST(KrylovProblems, HaveTheRowsOfTheirStencils) {
  using sptrsv_examples::problem;
  const auto row_of_middle = [](problem what) {  // the point in the middle of 3 x 3 x 3
    const matrix a = sptrsv_examples::grid_matrix(what, {3, 3, 3}, 0);
    const auto first = a.values.begin() + a.row_offsets[13];
    return std::vector<double>(first, a.values.begin() + a.row_offsets[14]);
  };
  EXPECT_EQ(row_of_middle(problem::star), (std::vector<double>{-1, -1, -1, 6, -1, -1, -1}));
  std::vector<double> box(27, -1.0);
  box[13] = 26;
  EXPECT_EQ(row_of_middle(problem::box), box);
  EXPECT_EQ(row_of_middle(problem::anisotropic),
            (std::vector<double>{-0.01, -0.01, -1, 2.04, -1, -0.01, -0.01}));
  const matrix elastic = sptrsv_examples::grid_matrix(problem::elasticity, {3, 3, 3}, 0);
  EXPECT_EQ(elastic.rows, 81);
  EXPECT_EQ(elastic.row_offsets[40] - elastic.row_offsets[39], 81);
}

}  // namespace
}  // namespace sptrsv::testing
