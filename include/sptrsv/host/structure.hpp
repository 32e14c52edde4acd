// SPDX-License-Identifier: Apache-2.0
// The structure of a triangle that determines the time of a solve: levels and lengths, on the host.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/conversions.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Sizes of a triangular system op(T) x = alpha b.
struct triangle_structure {
  std::int64_t rows = 0;            ///< rows of T
  std::int64_t entries = 0;         ///< entries of T, with the diagonal
  std::int64_t levels = 0;          ///< rows on the longest chain of dependent rows
  std::int64_t widest_level = 0;    ///< rows of the widest level
  std::int64_t longest_row = 0;     ///< entries of the longest row of op(T), without the diagonal
  std::int64_t longest_column = 0;  ///< entries of the longest column of op(T), without the diagonal
};

/// Returns the structure of a system, computed on one core of the host.
///
/// @param a csr_view, csc_view, bsr_view or owning matrix in host memory.
/// @param options the system.
/// @throws error as analyze, for an invalid pattern.
template <class Matrix>
triangle_structure structure_of(const Matrix& a, const system_options& options = {}) {
  const auto rows = detail::by_single_rows(a);
  const auto view = detail::view_of(rows);
  const auto pattern = detail::pattern_of(view);
  using index = typename decltype(view)::index_type;
  detail::check_shape<typename decltype(view)::value_type>(view.rows, view.columns, pattern, options);
  detail::check_on_host(view, "structure_of");
  const detail::triangle_form form(options, pattern.by_columns);
  detail::validate_on_host(pattern, form);
  const auto triangle = detail::build_on_host(pattern, form);
  const auto levels = detail::levels_on_host<index>(triangle.row_offsets, triangle.columns);

  triangle_structure result;
  result.rows = view.rows;
  result.entries = static_cast<std::int64_t>(triangle.columns.size()) + view.rows;
  result.levels = levels.count();
  result.longest_row = triangle.longest_row();
  result.longest_column = triangle.longest_column();
  for (std::int64_t l = 0; l < levels.count(); ++l) {
    const auto first = levels.level_offsets.begin() + l;
    result.widest_level = std::max<std::int64_t>(result.widest_level, first[1] - first[0]);
  }
  return result;
}

}  // namespace sptrsv::SPTRSV_ABI
