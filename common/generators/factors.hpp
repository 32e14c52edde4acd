// Complete factors of grid matrices by SuiteSparse, with the values of the factorisation. A program has them
// if it is compiled with SPTRSV_WITH_SUITESPARSE and linked with CHOLMOD and UMFPACK.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/systems/lower_triangle.hpp"
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

/// The complete factors: L of CHOLMOD, with the ordering AMD or METIS, of the Laplacian; L and U of UMFPACK
/// of convection_diffusion().
enum class complete_factor { cholesky_amd, cholesky_metis, lu_lower, lu_upper };

/// Returns a complete factor of the 5-point or 7-point matrix of a grid. An upper factor is renumbered by
/// as_pattern_from_the_end(). Throws sptrsv::error where has_suitesparse is false.
inline pattern complete_factor_of_grid(const grid& g, complete_factor which) {
#ifdef SPTRSV_WITH_SUITESPARSE
  constexpr double peclet = 2;
  switch (which) {
    case complete_factor::cholesky_amd:
    case complete_factor::cholesky_metis:
      return as_pattern(cholmod_factorize(lower_triangle(convection_diffusion(g, 0)),
                                          which == complete_factor::cholesky_amd ? cholmod_ordering::amd
                                                                                 : cholmod_ordering::metis)
                            .lower);
    case complete_factor::lu_lower:
      return as_pattern(umfpack_factorize(convection_diffusion(g, peclet)).lower);
    case complete_factor::lu_upper:
      return as_pattern_from_the_end(umfpack_factorize(convection_diffusion(g, peclet)).upper);
  }
#endif
  static_cast<void>(g);
  static_cast<void>(which);
  throw sptrsv::error(sptrsv::errc::unsupported, "built without SuiteSparse (CHOLMOD and UMFPACK)");
}

}  // namespace sptrsv_common
