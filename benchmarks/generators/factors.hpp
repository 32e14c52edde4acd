// Complete factors of grid matrices with the values of the factorisation, by SuiteSparse. A program has them
// if it is compiled with SPTRSV_BENCHMARKS_WITH_SUITESPARSE and linked with CHOLMOD and UMFPACK.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "grids.hpp"
#include "pattern.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"

#ifdef SPTRSV_BENCHMARKS_WITH_SUITESPARSE
#include "suitesparse.hpp"
#endif

namespace sptrsv_benchmarks {

#ifdef SPTRSV_BENCHMARKS_WITH_SUITESPARSE
inline constexpr bool has_suitesparse = true;
#else
inline constexpr bool has_suitesparse = false;
#endif

/// -laplace(u) + w grad(u) = f with zero boundary values, in upwind differences on the 5-point or 7-point
/// stencil, points in lexicographic order, columns ascending. The wind w turns around the middle of each
/// plane and blows along z; `peclet` is what it carries over the distance of two points, in units of the
/// diffusion, where it is strongest. The Laplacian for 0; else unsymmetric. All rows are diagonally dominant.
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
        const double weight = 1 + std::max(0.0, -side * wind[d]);  // more on the side where it comes from
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

/// The lower triangle, the diagonal included.
inline sptrsv::csr_matrix<double> lower_triangle(const sptrsv::csr_matrix<double>& a) {
  sptrsv::csr_matrix<double> made{a.rows, a.columns, {0}, {}, {}};
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]);
         e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      if (static_cast<std::size_t>(a.column_indices[e]) <= i) {
        made.column_indices.push_back(a.column_indices[e]);
        made.values.push_back(a.values[e]);
      }
    }
    made.row_offsets.push_back(static_cast<vertex>(made.values.size()));
  }
  return made;
}

/// A lower triangle whose columns ascend.
inline pattern as_pattern(sptrsv::csr_matrix<double> lower) {
  return {std::move(lower.row_offsets), std::move(lower.column_indices), std::move(lower.values)};
}

/// An upper triangle whose columns ascend, with its rows and columns counted from the last: the same
/// substitution as a lower triangle.
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

/// L of CHOLMOD (with the ordering AMD or METIS) of the Laplacian, and L and U of UMFPACK of
/// convection_diffusion.
enum class complete_factor { cholesky_amd, cholesky_metis, lu_lower, lu_upper };

/// A complete factor of the 5-point or 7-point matrix of a grid; an upper one as in as_pattern_from_the_end.
/// Throws sptrsv::error where has_suitesparse is false.
inline pattern complete_factor_of_grid(const grid& g, complete_factor which) {
#ifdef SPTRSV_BENCHMARKS_WITH_SUITESPARSE
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

}  // namespace sptrsv_benchmarks
