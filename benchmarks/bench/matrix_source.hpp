// Which matrices are measured: files and generated ones.
#pragma once

#include <algorithm>
#include <complex>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "benchmarks/generators/registry.hpp"
#include "examples/support/triangular_system.hpp"
#include "options.hpp"
#include "sptrsv/io/matrix_market.hpp"

namespace sptrsv_benchmarks {

struct matrix_source {
  std::string name;
  std::string path;                 ///< of a file, or empty
  const generator* made = nullptr;  ///< otherwise
};

/// The files of the directory by name, then the generated ones.
inline std::vector<matrix_source> choose_sources(const bench_options& options,
                                                 const generator_registry& registry, bool has_gpu) {
  std::vector<matrix_source> sources;
  if (!options.directory.empty()) {
    for (const auto& file : std::filesystem::directory_iterator(options.directory)) {
      const std::string name = file.path().filename().string();
      const std::size_t end = name.find(".mtx");
      if (end != std::string::npos && (name.substr(end) == ".mtx" || name.substr(end) == ".mtx.gz")) {
        sources.push_back({name.substr(0, end), file.path().string(), nullptr});
      }
    }
    std::sort(sources.begin(), sources.end(),
              [](const matrix_source& a, const matrix_source& b) { return a.name < b.name; });
  }
  const std::string which = options.generated.empty() ? (has_gpu ? "all" : "small") : options.generated;
  if (which == "all" || which == "small") {
    for (const generator& g : registry.all()) {
      if ((g.size == size_class::normal) == (which == "all")) {
        sources.push_back({g.name, "", &g});
      }
    }
  } else if (which == "grids") {
    for (const generator& g : registry.all()) {
      if (g.is_of_li_zhang) {
        sources.push_back({g.name, "", &g});
      }
    }
  } else if (which != "none") {
    for (const std::string& name : split_list(which)) {
      const generator* const g = registry.find(name);
      if (g == nullptr) {
        throw support::usage_error(registry.why_absent(name));
      }
      sources.push_back({name, "", g});
    }
  }
  return sources;
}

/// The triangle of a file, with its values where they serve in this type: those of a real file leave half of
/// complex arithmetic untested.
template <class Value>
support::triangular_system<Value> read_triangle(const std::string& path, sptrsv::uplo part) {
  sptrsv::matrix_market_header header = sptrsv::read_matrix_market_header(path);
  const auto read = [&](auto type) {
    using file_value = decltype(type);
    const auto file = sptrsv::read_matrix_market<file_value>(path, &header);
    const auto read_system = support::make_triangular_system(file, header, part);
    auto system = support::with_values_as<Value>(read_system);
    if (system.seeded || (!std::is_floating_point_v<Value> && std::is_floating_point_v<file_value>) ||
        !support::has_finite_solution(system)) {
      support::seed_values(system);
    }
    return system;
  };
  return header.field == sptrsv::mm_field::complex ? read(std::complex<double>{}) : read(double{});
}

/// With its own values where it has any that serve in this type, else with seeded ones.
template <class Value>
support::triangular_system<Value> generate_triangle(const generator& g, sptrsv::uplo part) {
  pattern p = g.build();
  support::triangular_system<Value> system;
  system.matrix.rows = system.matrix.columns = p.rows();
  system.matrix.row_offsets = std::move(p.row_offsets);
  system.matrix.column_indices = std::move(p.columns);
  if (std::is_floating_point_v<Value> && !p.values.empty()) {
    system.matrix.values = {p.values.begin(), p.values.end()};
  } else {
    system.matrix.values.resize(system.matrix.column_indices.size());
    support::seed_values(system);
  }
  return part == sptrsv::uplo::lower ? std::move(system) : support::transposed(system);
}

}  // namespace sptrsv_benchmarks
