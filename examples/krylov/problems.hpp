// The systems of the Krylov programs: problems on grids, and matrices from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/generators/elasticity.hpp"
#include "common/generators/factors.hpp"
#include "common/generators/grids.hpp"
#include "common/matrix_market/matrix_market.hpp"
#include "common/systems/triangular_system.hpp"
#include "sptrsv/conversions.hpp"

namespace sptrsv_examples {

namespace common = sptrsv_common;

/// The problems on grids.
enum class problem {
  star,         ///< the Laplacian with 5 or 7 points, with convection if the Peclet number is not 0
  box,          ///< the Laplacian with 9 or 27 points
  anisotropic,  ///< 5 or 7 points; the couplings along x are 1, the others 0.01
  elasticity    ///< three unknowns per node, each coupled with all of up to 27 nodes
};

/// Returns a symmetric matrix, given by its lower triangle.
inline sptrsv::csr_matrix<double> symmetric_matrix(const sptrsv::csr_matrix<double>& lower) {
  sptrsv_common::coordinate_matrix<double> all{lower.rows, lower.rows, {}, {}, {}};
  const auto add = [&](std::int32_t row, std::int32_t column, double value) {
    all.row_indices.push_back(row);
    all.column_indices.push_back(column);
    all.values.push_back(value);
  };
  for (std::int32_t i = 0; i < lower.rows; ++i) {
    for (auto e = static_cast<std::size_t>(lower.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(lower.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const std::int32_t j = lower.column_indices[e];
      add(i, j, lower.values[e]);
      if (j != i) {
        add(j, i, lower.values[e]);
      }
    }
  }
  auto a =
      sptrsv::make_csr<std::int32_t>(all.rows, all.cols, all.row_indices, all.column_indices, all.values);
  common::sort_and_merge_rows(a);
  return a;
}
/// Returns a symmetric matrix without values, given by the pattern of its lower triangle.
inline sptrsv::csr_matrix<double> symmetric_matrix(const common::pattern& lower) {
  return symmetric_matrix({lower.rows(), lower.rows(), lower.row_offsets, lower.columns,
                           std::vector<double>(lower.columns.size())});
}

/// Sets the entries beside the diagonal to -weight(row, column), and those on it to `diagonal(sum of the
/// weights of the row)`.
template <class Weight, class Diagonal>
void set_laplacian(sptrsv::csr_matrix<double>& a, const Weight& weight, const Diagonal& diagonal) {
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    std::size_t pivot = 0;
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      if (a.column_indices[e] == i) {
        pivot = e;
      } else {
        a.values[e] = -weight(i, a.column_indices[e]);
        sum -= a.values[e];
      }
    }
    a.values[pivot] = diagonal(sum);
  }
}

/// Returns the matrix of a problem on a grid.
inline sptrsv::csr_matrix<double> grid_matrix(problem what, const common::grid& g, double peclet) {
  const double neighbours = g.z > 1 ? 26 : 8;
  const double coupling = 0.01;
  switch (what) {
    case problem::box: {
      auto a = symmetric_matrix(common::box_stencil(g));
      set_laplacian(
          a, [](auto, auto) { return 1.0; }, [=](double) { return neighbours; });
      return a;
    }
    case problem::anisotropic: {
      auto a = symmetric_matrix(common::star_stencil(g));
      set_laplacian(
          a, [=](auto i, auto j) { return i - j == 1 || j - i == 1 ? 1.0 : coupling; },
          [=](double) { return 2 + (g.z > 1 ? 4 : 2) * coupling; });
      return a;
    }
    case problem::elasticity:
      return symmetric_matrix(common::elasticity_matrix(g));
    default:
      return common::convection_diffusion(g, peclet);
  }
}

/// Reads the matrix of a file. `laplacian`: take the pattern only, which must be symmetric, and set the
/// values to -1 beside the diagonal and to 1.001 times the number of these entries on it.
inline sptrsv::csr_matrix<double> read_matrix(const std::string& path, bool laplacian) {
  auto file = sptrsv_common::read_matrix_market<double>(path);
  SPTRSV_EXPECTS(file.rows == file.cols, sptrsv::errc::not_square, "the matrix is not square");
  if (laplacian) {
    common::add_missing_pivots(file);
  }
  auto a = sptrsv::make_csr<std::int32_t>(file.rows, file.cols, file.row_indices, file.column_indices,
                                          file.values);
  common::sort_and_merge_rows(a);
  if (laplacian) {
    set_laplacian(
        a, [](auto, auto) { return 1.0; }, [](double sum) { return sum > 0 ? 1.001 * sum : 1; });
  }
  return a;
}

}  // namespace sptrsv_examples
