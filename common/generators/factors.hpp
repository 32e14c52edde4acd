// Complete factors of grid matrices: by the symbolic factorisation of cholesky.hpp, and by SuiteSparse, with
// the values of the factorisation. A program has the latter if it is compiled with SPTRSV_WITH_SUITESPARSE
// and linked with CHOLMOD and UMFPACK.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "bands.hpp"
#include "cholesky.hpp"
#include "common/systems/lower_triangle.hpp"
#include "elasticity.hpp"
#include "grids.hpp"
#include "pattern.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"

#ifdef SPTRSV_WITH_SUITESPARSE
#include "suitesparse.hpp"
#endif

namespace sptrsv_common {

#ifdef SPTRSV_WITH_SUITESPARSE
inline constexpr bool has_suitesparse = true;
#else
inline constexpr bool has_suitesparse = false;
#endif

/// Returns the matrix of -laplace(u) + w grad(u) = f with zero boundary values, by upwind differences on the
/// 5-point or 7-point stencil. Points are in lexicographic order, columns ascend, and all rows are diagonally
/// dominant. The wind w turns around the middle of each plane and blows along z. `peclet`: the Peclet number
/// of a grid cell where the wind is strongest. The matrix is the Laplacian for 0, otherwise it is
/// unsymmetric.
inline sptrsv::csr_matrix<double> convection_diffusion(const grid& g, double peclet) {
  sptrsv::csr_matrix<double> made{g.points(), g.points(), {0}, {}, {}};
  const vertex lengths[] = {g.x, g.y, g.z};
  const vertex steps[] = {1, g.x, g.x * g.y};
  std::vector<std::pair<vertex, double>> row;
  for (vertex i = 0; i < g.points(); ++i) {
    const vertex at[] = {i % g.x, i / g.x % g.y, i / (g.x * g.y)};
    const auto from_middle = [&](int d) { return (2.0 * at[d] + 1) / lengths[d] - 1; };
    const double wind[] = {peclet * from_middle(1), -peclet * from_middle(0), peclet};
    double pivot = 0;
    row.clear();
    for (int d = 0; d < (g.z > 1 ? 3 : 2); ++d) {
      for (const int side : {-1, 1}) {
        const double weight =
            1 + std::max(0.0, -side * wind[d]);  // larger on the side from which the wind comes
        pivot += weight;
        if (at[d] + side >= 0 && at[d] + side < lengths[d]) {
          row.emplace_back(i + side * steps[d], -weight);
        }
      }
    }
    row.emplace_back(i, pivot);
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      made.column_indices.push_back(column);
      made.values.push_back(value);
    }
    made.row_offsets.push_back(static_cast<vertex>(made.values.size()));
  }
  return made;
}

/// Returns a lower triangle, whose columns ascend, as a pattern.
inline pattern as_pattern(sptrsv::csr_matrix<double> lower) {
  return {std::move(lower.row_offsets), std::move(lower.column_indices), std::move(lower.values)};
}

/// Returns an upper triangle, whose columns ascend, with its rows and columns numbered from the last to the
/// first. This lower triangle has the same substitution.
inline pattern as_pattern_from_the_end(sptrsv::csr_matrix<double> upper) {
  const auto last = static_cast<vertex>(upper.rows - 1);
  const auto entries = static_cast<vertex>(upper.values.size());
  pattern made = as_pattern(std::move(upper));
  std::reverse(made.row_offsets.begin(), made.row_offsets.end());
  std::reverse(made.columns.begin(), made.columns.end());
  std::reverse(made.values.begin(), made.values.end());
  for (vertex& offset : made.row_offsets) {
    offset = entries - offset;
  }
  for (vertex& column : made.columns) {
    column = last - column;
  }
  return made;
}

/// A symmetric positive definite matrix A and its complete factor: P A P^T = L L^T.
struct factored_matrix {
  sptrsv::csr_matrix<double> lower;  ///< the lower triangle of A; columns ascend
  std::vector<vertex> permutation;   ///< row k of P A is row permutation[k] of A
  pattern factor;                    ///< L; without values if only the pattern was computed
};

/// The fill-reducing orderings of complete Cholesky factors: the nested dissection of regular grids in
/// cholesky.hpp; approximate minimum degree and METIS by CHOLMOD, see cholmod_ordering.
enum class fill_reducing { dissection, amd, metis };

[[noreturn]] inline void throw_without_suitesparse() {
  throw sptrsv::error(sptrsv::errc::unsupported, "built without SuiteSparse (CHOLMOD and UMFPACK)");
}

/// Returns a matrix, given by its lower triangle, with its factor by CHOLMOD. Throws sptrsv::error where
/// has_suitesparse is false.
inline factored_matrix factored_by_cholmod(sptrsv::csr_matrix<double> lower, fill_reducing ordering) {
#ifdef SPTRSV_WITH_SUITESPARSE
  cholesky_factor f = cholmod_factorize(
      lower, ordering == fill_reducing::amd ? cholmod_ordering::amd : cholmod_ordering::metis);
  return {std::move(lower), std::move(f.permutation), as_pattern(std::move(f.lower))};
#else
  static_cast<void>(lower);
  static_cast<void>(ordering);
  throw_without_suitesparse();
#endif
}

/// Returns the Laplacian of a grid, the 5-point or 7-point matrix, with its factor.
inline factored_matrix factored_laplacian(const grid& g, fill_reducing ordering) {
  sptrsv::csr_matrix<double> lower = lower_triangle(convection_diffusion(g, 0));
  if (ordering != fill_reducing::dissection) {
    return factored_by_cholmod(std::move(lower), ordering);
  }
  const std::vector<vertex> new_number = nested_dissection(g).new_number();
  std::vector<vertex> permutation(new_number.size());
  for (std::size_t point = 0; point < new_number.size(); ++point) {
    permutation[static_cast<std::size_t>(new_number[point])] = static_cast<vertex>(point);
  }
  return {std::move(lower), std::move(permutation), complete_cholesky_of_grid(g)};
}

/// Returns a full matrix with its factor, one supernode.
inline factored_matrix factored_dense_matrix(vertex n) {
  factored_matrix made;
  made.factor = dense_band(n, n - 1);
  made.lower = {n, n, made.factor.row_offsets, made.factor.columns, {}};
  made.lower.values.reserve(made.factor.columns.size());
  for (vertex i = 0; i < n; ++i) {
    made.lower.values.insert(made.lower.values.end(), static_cast<std::size_t>(i), -1.0);
    made.lower.values.push_back(n);
  }
  made.permutation.resize(static_cast<std::size_t>(n));
  std::iota(made.permutation.begin(), made.permutation.end(), 0);
  return made;
}

/// The triangle of an LU factorisation by UMFPACK.
enum class lu_factor { lower, upper };

/// Returns a factor of the 5-point or 7-point matrix of convection_diffusion(). An upper factor is renumbered
/// by as_pattern_from_the_end(). Throws sptrsv::error where has_suitesparse is false.
inline pattern lu_factor_of_grid(const grid& g, lu_factor which) {
#ifdef SPTRSV_WITH_SUITESPARSE
  constexpr double peclet = 2;
  lu_factors f = umfpack_factorize(convection_diffusion(g, peclet));
  return which == lu_factor::lower ? as_pattern(std::move(f.lower))
                                   : as_pattern_from_the_end(std::move(f.upper));
#else
  static_cast<void>(g);
  static_cast<void>(which);
  throw_without_suitesparse();
#endif
}

}  // namespace sptrsv_common
