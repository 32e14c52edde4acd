// Whose levels are looked for: the pattern of a strictly lower triangle.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/generators/registry.hpp"
#include "examples/support/triangular_system.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/io/matrix_market.hpp"

namespace sptrsv_benchmarks::setup_phases {

using triangle = sptrsv::detail::host_triangle<std::int32_t, std::int32_t>;

struct system_source {
  std::string name;
  std::function<triangle()> make;
};

/// `offsets` and `indices` are those of a lower triangle by rows.
inline triangle strictly_lower(const std::vector<std::int32_t>& offsets,
                               const std::vector<std::int32_t>& indices) {
  const auto size = static_cast<std::int64_t>(offsets.size()) - 1;
  const sptrsv::detail::pattern_view<std::int32_t, std::int32_t> pattern{
      size, static_cast<std::int64_t>(indices.size()), offsets.data(), indices.data(), false};
  return sptrsv::detail::build_on_host(pattern, {sptrsv::system_options{}, false});
}

inline system_source generated_system(const generator& g) {
  return {g.name, [build = g.build] {
            const pattern p = build();
            return strictly_lower(p.row_offsets, p.columns);
          }};
}

/// The grids of Li and Zhang, 2020, Table 5.1, with the stencils of their section 5.1.
inline std::vector<system_source> laplacian_grids(const generator_registry& registry) {
  std::vector<system_source> found;
  for (const generator& g : registry.all()) {
    if (g.size == size_class::normal && g.name.rfind("laplace", 0) == 0) {
      found.push_back(generated_system(g));
    }
  }
  return found;
}

/// The lower triangles of the .mtx files of a directory, by name.
inline std::vector<system_source> files_of(const std::string& directory) {
  std::vector<system_source> found;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    const std::string path = file.path().string();
    const std::string name = file.path().filename().string();
    const std::size_t end = name.find(".mtx");
    if (end == std::string::npos || (name.substr(end) != ".mtx" && name.substr(end) != ".mtx.gz")) {
      continue;
    }
    found.push_back({name.substr(0, end), [path] {
                       sptrsv::matrix_market_header header = sptrsv::read_matrix_market_header(path);
                       const auto lower = [&](const auto& file_matrix) {
                         const auto system = sptrsv_examples::make_triangular_system(file_matrix, header,
                                                                                     sptrsv::uplo::lower);
                         return strictly_lower(system.matrix.row_offsets, system.matrix.column_indices);
                       };
                       return header.field == sptrsv::mm_field::complex
                                  ? lower(sptrsv::read_matrix_market<std::complex<double>>(path, &header))
                                  : lower(sptrsv::read_matrix_market<double>(path, &header));
                     }});
  }
  std::sort(found.begin(), found.end(),
            [](const system_source& a, const system_source& b) { return a.name < b.name; });
  return found;
}

}  // namespace sptrsv_benchmarks::setup_phases
