// The shape of a triangle: how long its rows are, and how many rows its levels have.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/shared/json.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv_benchmarks {

/// Order statistics of counts; zeros without counts.
struct distribution {
  std::int64_t min = 0;
  std::int64_t median = 0;
  std::int64_t p90 = 0;
  std::int64_t max = 0;

  [[nodiscard]] json_text json() const {
    return json_object().add("min", min).add("median", median).add("p90", p90).add("max", max).text();
  }
};

/// Returns for each share the smallest count that at least this share of all counts does not exceed.
inline distribution distribution_of(std::vector<std::int64_t> counts) {
  if (counts.empty()) {
    return {};
  }
  std::sort(counts.begin(), counts.end());
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(counts.size()));
    return counts[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  return {counts.front(), at(0.5), at(0.9), counts.back()};
}

/// Returns the differences of neighbouring offsets.
template <class Offset>
std::vector<std::int64_t> lengths_between(const std::vector<Offset>& offsets) {
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 1; k < offsets.size(); ++k) {
    lengths.push_back(static_cast<std::int64_t>(offsets[k] - offsets[k - 1]));
  }
  return lengths;
}

/// The distributions of two counts of a triangle. sptrsv::triangle_structure has its other properties.
struct triangle_shape {
  distribution row_lengths;  ///< entries of a row of op(T), without the diagonal
  distribution level_rows;   ///< rows of a level
};

/// Returns the shape of a system, computed on one core of the host. The pattern must be valid.
template <class Value, class Index>
triangle_shape shape_of(const sptrsv::csr_matrix<Value, Index>& a, const sptrsv::system_options& options) {
  const auto pattern = sptrsv::detail::pattern_of(a.view());
  const auto triangle =
      sptrsv::detail::build_on_host(pattern, sptrsv::detail::triangle_form(options, pattern.by_columns));
  const auto levels = sptrsv::detail::levels_on_host<Index>(triangle.row_offsets, triangle.columns);
  return {distribution_of(lengths_between(triangle.row_offsets)),
          distribution_of(lengths_between(levels.level_offsets))};
}

}  // namespace sptrsv_benchmarks
