// Complete factors by SuiteSparse: they are triangles, their product is the permuted matrix, and the systems
// of the benchmark have their values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <future>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/generators/factors.hpp"
#include "common/generators/registry.hpp"
#include "common/generators/suitesparse.hpp"
#include "common/systems/matrix_source.hpp"

namespace sptrsv_common {
namespace {

using matrix = sptrsv::csr_matrix<double>;

class dense {
 public:
  explicit dense(std::int64_t n) : n_(static_cast<std::size_t>(n)), values_(n_ * n_, 0) {}
  explicit dense(const matrix& a) : dense(a.rows) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (auto e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
        const auto k = static_cast<std::size_t>(e);
        (*this)(i, static_cast<std::size_t>(a.column_indices[k])) += a.values[k];
      }
    }
  }
  double& operator()(std::size_t i, std::size_t j) { return values_[i * n_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * n_ + j]; }
  [[nodiscard]] std::size_t size() const { return n_; }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

/// Returns the permuted matrix: its row k is row rows[k] of `a`, its column k is column columns[k].
dense permuted(const dense& a, const std::vector<std::int32_t>& rows,
               const std::vector<std::int32_t>& columns) {
  dense made(static_cast<std::int64_t>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      made(i, j) = a(static_cast<std::size_t>(rows[i]), static_cast<std::size_t>(columns[j]));
    }
  }
  return made;
}

dense transposed(const dense& a) {
  dense made(static_cast<std::int64_t>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      made(i, j) = a(j, i);
    }
  }
  return made;
}

/// Returns the symmetric matrix with this lower triangle.
dense symmetric(const matrix& lower) {
  dense made(lower);
  for (std::size_t i = 0; i < made.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      made(j, i) = made(i, j);
    }
  }
  return made;
}

/// Returns the largest quotient, over the entries, of |A - LU| and n eps |L||U|, which is the bound of
/// Gaussian elimination in any order (Higham 2002, Theorem 9.3).
double backward_error_of_factors(const dense& a, const dense& lower, const dense& upper) {
  const double rounding = static_cast<double>(a.size()) * std::numeric_limits<double>::epsilon();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      double difference = a(i, j);
      double magnitude = std::numeric_limits<double>::min();
      for (std::size_t k = 0; k < a.size(); ++k) {
        difference -= lower(i, k) * upper(k, j);
        magnitude += std::abs(lower(i, k) * upper(k, j));
      }
      worst = std::max(worst, std::abs(difference) / (rounding * magnitude));
    }
  }
  return worst;
}

bool is_permutation_of_rows(std::vector<std::int32_t> permutation, std::int64_t n) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  std::sort(permutation.begin(), permutation.end());
  return permutation == all;
}

/// Expects the invariants of a lower triangle.
void expect_lower_triangle(const std::vector<vertex>& offsets, const std::vector<vertex>& columns) {
  ASSERT_EQ(offsets.front(), 0);
  ASSERT_EQ(static_cast<std::size_t>(offsets.back()), columns.size());
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    ASSERT_LT(offsets[i], offsets[i + 1]) << "row " << i;
    const auto begin = columns.begin() + offsets[i];
    const auto end = columns.begin() + offsets[i + 1];
    EXPECT_TRUE(std::adjacent_find(begin, end, std::greater_equal<>()) == end) << "row " << i;
    EXPECT_EQ(static_cast<std::size_t>(*(end - 1)), i);
    EXPECT_GE(*begin, 0) << "row " << i;
  }
}

/// Returns a matrix of full rows without diagonal entries whose rows have values of very different size, so
/// that rows must be exchanged and scaled.
matrix needs_pivoting(vertex n) {
  random_stream random(5);
  matrix made{n, n, {0}, {}, {}};
  for (vertex i = 0; i < n; ++i) {
    const double size = std::pow(10.0, random.below(9));
    for (vertex j = 0; j < n; ++j) {
      if (j == (i + 1) % n || (j != i && random.below(4) == 0)) {
        made.column_indices.push_back(j);
        made.values.push_back(size * (random.uniform() - 0.5));
      }
    }
    made.row_offsets.push_back(static_cast<vertex>(made.values.size()));
  }
  return made;
}

const grid grids[] = {{9, 12}, {5, 4, 6}};

TEST(ConvectionDiffusion, IsTheLaplacianWithoutWind) {
  for (const grid& g : grids) {
    const dense a(convection_diffusion(g, 0));
    const pattern lower = star_stencil(g);
    const matrix triangle = lower_triangle(convection_diffusion(g, 0));
    EXPECT_EQ(triangle.row_offsets, lower.row_offsets);
    EXPECT_EQ(triangle.column_indices, lower.columns);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < a.size(); ++j) {
        EXPECT_EQ(a(i, j), a(j, i));
        EXPECT_TRUE(i == j ? a(i, j) == (g.z > 1 ? 6 : 4) : a(i, j) == 0 || a(i, j) == -1);
      }
    }
  }
}

TEST(ConvectionDiffusion, IsUnsymmetricAndDominatedByItsDiagonalWithWind) {
  for (const grid& g : grids) {
    const dense a(convection_diffusion(g, 2));
    int different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      double others = 0;
      for (std::size_t j = 0; j < a.size(); ++j) {
        others += i == j ? 0 : std::abs(a(i, j));
        different += a(i, j) != a(j, i) ? 1 : 0;
        EXPECT_EQ(a(i, j) == 0, a(j, i) == 0);
      }
      EXPECT_GE(a(i, i), others * (1 - 1e-14)) << "row " << i;
    }
    EXPECT_GT(different, g.points());
  }
}

TEST(CompleteCholesky, FactorIsALowerTriangleWhoseSquareIsThePermutedMatrix) {
  for (const grid& g : grids) {
    for (const cholmod_ordering ordering : {cholmod_ordering::amd, cholmod_ordering::metis}) {
      const matrix a = convection_diffusion(g, 0);
      const cholesky_factor f = cholmod_factorize(lower_triangle(a), ordering);
      expect_lower_triangle(f.lower.row_offsets, f.lower.column_indices);
      ASSERT_TRUE(is_permutation_of_rows(f.permutation, a.rows));
      const dense lower(f.lower);
      EXPECT_LE(backward_error_of_factors(permuted(dense(a), f.permutation, f.permutation), lower,
                                          transposed(lower)),
                1);
      for (std::size_t i = 0; i < lower.size(); ++i) {
        EXPECT_GT(lower(i, i), 0);
      }
    }
  }
}

TEST(CompleteCholesky, GeneratedFactorsAreThoseOfTheirMatrices) {
  const generator_registry registry;
  for (const char* name : {"cholesky_amd_24x24", "cholesky_metis_8x8x8", "elasticity_4x5x6"}) {
    const generator* const g = registry.find(name);
    ASSERT_NE(g, nullptr) << name;
    const factored_matrix f = g->factorize();
    const pattern factor = g->build();
    EXPECT_EQ(f.factor.columns, factor.columns) << name;
    EXPECT_EQ(f.factor.values, factor.values) << name;
    const dense a = symmetric(f.lower);
    const dense lower(matrix{f.lower.rows, f.lower.rows, factor.row_offsets, factor.columns, factor.values});
    ASSERT_TRUE(is_permutation_of_rows(f.permutation, f.lower.rows)) << name;
    EXPECT_LE(backward_error_of_factors(permuted(a, f.permutation, f.permutation), lower, transposed(lower)),
              1)
        << name;
  }
}

TEST(CompleteCholesky, TheOrderingsDiffer) {
  const matrix a = lower_triangle(convection_diffusion({24, 24}, 0));
  EXPECT_NE(cholmod_factorize(a, cholmod_ordering::amd).permutation,
            cholmod_factorize(a, cholmod_ordering::metis).permutation);
}

TEST(CompleteCholesky, ThreadsMakeTheSameFactor) {
  const matrix a = lower_triangle(convection_diffusion({12, 12, 12}, 0));
  const cholesky_factor alone = cholmod_factorize(a, cholmod_ordering::metis);
  std::vector<std::future<cholesky_factor>> together;
  for (int k = 0; k < 4; ++k) {
    together.push_back(
        std::async(std::launch::async, [&] { return cholmod_factorize(a, cholmod_ordering::metis); }));
  }
  for (auto& one : together) {
    EXPECT_EQ(one.get().permutation, alone.permutation);
  }
}

TEST(CompleteCholesky, MatrixThatIsNotPositiveDefiniteIsRefused) {
  matrix a = lower_triangle(convection_diffusion({6, 6}, 0));
  a.values.back() = -1;
  EXPECT_THROW(cholmod_factorize(a, cholmod_ordering::amd), sptrsv::error);
}

TEST(CompleteLu, FactorsAreTrianglesWhoseProductIsThePermutedScaledMatrix) {
  for (const matrix& a :
       {convection_diffusion(grids[0], 2), convection_diffusion(grids[1], 2), needs_pivoting(60)}) {
    const lu_factors f = umfpack_factorize(a);
    expect_lower_triangle(f.lower.row_offsets, f.lower.column_indices);
    const pattern upper = as_pattern_from_the_end(f.upper);
    expect_lower_triangle(upper.row_offsets, upper.columns);
    ASSERT_TRUE(is_permutation_of_rows(f.row_permutation, a.rows));
    ASSERT_TRUE(is_permutation_of_rows(f.column_permutation, a.rows));
    dense scaled(a);
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      for (std::size_t j = 0; j < scaled.size(); ++j) {
        scaled(i, j) *= f.row_scaling[i];
      }
    }
    const dense lower(f.lower);
    EXPECT_LE(backward_error_of_factors(permuted(scaled, f.row_permutation, f.column_permutation), lower,
                                        dense(f.upper)),
              1);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      EXPECT_EQ(lower(i, i), 1);
    }
  }
}

TEST(CompleteLu, SingularMatrixIsRefused) {
  matrix a = convection_diffusion({6, 6}, 2);
  std::fill(a.values.end() - 3, a.values.end(), 0.0);  // the last row
  EXPECT_THROW(umfpack_factorize(a), sptrsv::error);
}

TEST(CompleteLu, UpperFactorIsTheSameSubstitutionCountedFromTheEnd) {
  const grid g{7, 8};
  const matrix upper = umfpack_factorize(convection_diffusion(g, 2)).upper;
  const pattern p = lu_factor_of_grid(g, lu_factor::upper);
  const dense there(upper);
  const dense here(matrix{upper.rows, upper.rows, p.row_offsets, p.columns, p.values});
  const std::size_t last = there.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    for (std::size_t j = 0; j <= last; ++j) {
      EXPECT_EQ(here(i, j), there(last - i, last - j));
    }
  }
}

TEST(CompleteFactors, AreAmongTheGeneratedSystems) {
  const generator_registry registry;
  for (const char* name : {"cholesky_amd_24x24", "cholesky_metis_8x8x8", "lu_lower_24x24", "lu_upper_24x24",
                           "lu_lower_8x8x8", "lu_upper_8x8x8"}) {
    const generator* const g = registry.find(name);
    ASSERT_NE(g, nullptr) << name;
    const pattern p = g->build();
    expect_lower_triangle(p.row_offsets, p.columns);
    EXPECT_EQ(p.values.size(), p.columns.size()) << name;
  }
}

TEST(CompleteFactors, SystemsHaveTheirValues) {
  const generator_registry registry;
  const generator& g = *registry.find("lu_upper_8x8x8");
  const pattern p = g.build();
  const auto same = generate_triangle<double>(g, sptrsv::uplo::lower);
  EXPECT_EQ(same.matrix.values, p.values);
  EXPECT_FALSE(same.seeded);
  const auto rounded = generate_triangle<float>(g, sptrsv::uplo::lower);
  EXPECT_EQ(rounded.matrix.values, std::vector<float>(p.values.begin(), p.values.end()));
  // Real values would leave half of complex arithmetic untested.
  const auto complex = generate_triangle<std::complex<double>>(g, sptrsv::uplo::lower);
  EXPECT_TRUE(complex.seeded);
  EXPECT_TRUE(std::any_of(complex.matrix.values.begin(), complex.matrix.values.end(),
                          [](std::complex<double> v) { return v.imag() != 0; }));
}

}  // namespace
}  // namespace sptrsv_common
