// The patterns whose levels are computed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/systems/matrix_source.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"

namespace sptrsv_benchmarks::setup_phases {

namespace common = sptrsv_common;
using triangle = sptrsv::detail::host_triangle<std::int32_t, std::int32_t>;

/// Returns the pattern of a strictly lower triangle. `offsets` and `indices`: of a lower triangle stored by
/// rows.
inline triangle strictly_lower(const std::vector<std::int32_t>& offsets,
                               const std::vector<std::int32_t>& indices) {
  const auto size = static_cast<std::int64_t>(offsets.size()) - 1;
  const sptrsv::detail::pattern_view<std::int32_t, std::int32_t> pattern{
      size, static_cast<std::int64_t>(indices.size()), offsets.data(), indices.data(), false};
  return sptrsv::detail::build_on_host(pattern, {sptrsv::system_options{}, false});
}

/// Reads or generates the lower triangle of a matrix and returns its strictly lower pattern.
inline triangle make_pattern(const common::matrix_source& source) {
  if (source.generated != nullptr) {
    const common::pattern p = source.generated->build();
    return strictly_lower(p.row_offsets, p.columns);
  }
  const auto matrix = common::read_triangle<double>(source.path, sptrsv::uplo::lower).matrix;
  return strictly_lower(matrix.row_offsets, matrix.column_indices);
}

}  // namespace sptrsv_benchmarks::setup_phases
