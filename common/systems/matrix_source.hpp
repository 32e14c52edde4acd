// The matrices that a program works on: Matrix Market files and generated matrices.
#pragma once

#include <algorithm>
#include <complex>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/command_line/arguments.hpp"
#include "common/generators/registry.hpp"
#include "common/matrix_market/matrix_market.hpp"
#include "common/systems/triangular_system.hpp"

namespace sptrsv_common {

/// The matrices that a user asks for.
struct matrix_selection {
  std::string directories;  ///< with Matrix Market files, separated by commas; empty: no files
  /// "all", "small", "grids", "factors", "none", or names separated by commas
  std::string generated;
};

/// Where a matrix comes from.
struct matrix_source {
  std::string name;
  std::string path;                      ///< of a file; empty for a generated matrix
  const generator* generated = nullptr;  ///< null for a file
};

/// Returns the name of a Matrix Market file without its folder and ending; empty for the path of another
/// file.
inline std::string matrix_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::size_t end = name.find(".mtx");
  const bool is_matrix =
      end != std::string::npos && (name.substr(end) == ".mtx" || name.substr(end) == ".mtx.gz");
  return is_matrix ? name.substr(0, end) : "";
}

/// Returns the Matrix Market files (.mtx, .mtx.gz) of a directory, sorted by name. Throws usage_error if
/// there is no such directory.
inline std::vector<matrix_source> files_of(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) {
    throw usage_error("'" + directory + "' is not a directory");
  }
  std::vector<matrix_source> files;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    const std::string name = matrix_name(file.path());
    if (file.is_regular_file() && !name.empty()) {
      files.push_back({name, file.path().string(), nullptr});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const matrix_source& a, const matrix_source& b) { return a.name < b.name; });
  return files;
}

/// Returns the files of the directories, each sorted by name, then the generated matrices. Throws usage_error
/// for two files of one name, and for a name that no generated matrix has.
inline std::vector<matrix_source> choose_sources(const matrix_selection& selection,
                                                 const generator_registry& registry) {
  std::vector<matrix_source> sources;
  for (const std::string& directory :
       selection.directories.empty() ? std::vector<std::string>{} : split_list(selection.directories)) {
    for (matrix_source& file : files_of(directory)) {
      for (const matrix_source& other : sources) {
        if (other.name == file.name) {
          throw usage_error("'" + other.path + "' and '" + file.path + "' have one name");
        }
      }
      sources.push_back(std::move(file));
    }
  }
  const std::string& which = selection.generated;
  if (which == "all" || which == "small" || which == "grids" || which == "factors") {
    for (const generator& g : registry.all()) {
      const bool chosen = which == "grids" ? g.is_of_li_zhang
                          : which == "factors"
                              ? g.is_complete_factor()
                              : g.size == (which == "all" ? size_class::normal : size_class::small);
      if (chosen) {
        sources.push_back({g.name, "", &g});
      }
    }
  } else if (which != "none") {
    for (const std::string& name : split_list(which)) {
      const generator* const g = registry.find(name);
      if (g == nullptr) {
        throw usage_error(registry.why_absent(name));
      }
      sources.push_back({name, "", g});
    }
  }
  return sources;
}

/// Reads one triangle of a file. Its values are seeded where the file has no values, where substitution with
/// them does not stay finite in this type, and where the file is real and the type complex: real values would
/// leave half of complex arithmetic untested.
template <class Value>
triangular_system<Value> read_triangle(const std::string& path, sptrsv::uplo part) {
  sptrsv_common::matrix_market_header header = sptrsv_common::read_matrix_market_header(path);
  const auto read = [&](auto type) {
    using file_value = decltype(type);
    const auto file = sptrsv_common::read_matrix_market<file_value>(path, &header);
    const auto read_system = make_triangular_system(file, header, part);
    auto system = with_values_as<Value>(read_system);
    if (system.seeded || (!std::is_floating_point_v<Value> && std::is_floating_point_v<file_value>) ||
        !has_finite_solution(system)) {
      seed_values(system);
    }
    return system;
  };
  return header.field == sptrsv_common::mm_field::complex ? read(std::complex<double>{}) : read(double{});
}

/// Makes a system of a generated lower triangle. Its values are those of the generator if there are any and
/// the type is real, otherwise they are seeded.
template <class Value>
triangular_system<Value> system_of(pattern p) {
  triangular_system<Value> system;
  system.matrix.rows = system.matrix.columns = p.rows();
  system.matrix.row_offsets = std::move(p.row_offsets);
  system.matrix.column_indices = std::move(p.columns);
  if (std::is_floating_point_v<Value> && !p.values.empty()) {
    system.matrix.values = {p.values.begin(), p.values.end()};
  } else {
    system.matrix.values.resize(system.matrix.column_indices.size());
    seed_values(system);
  }
  return system;
}

/// Generates one triangle: the generated lower triangle or its transpose.
template <class Value>
triangular_system<Value> generate_triangle(const generator& g, sptrsv::uplo part) {
  auto system = system_of<Value>(g.build());
  return part == sptrsv::uplo::lower ? std::move(system) : transposed(system);
}

/// Reads or generates one triangle of a matrix.
template <class Value>
triangular_system<Value> make_triangle(const matrix_source& source, sptrsv::uplo part) {
  return source.generated != nullptr ? generate_triangle<Value>(*source.generated, part)
                                     : read_triangle<Value>(source.path, part);
}

}  // namespace sptrsv_common
