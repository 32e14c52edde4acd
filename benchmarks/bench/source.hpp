// Which matrices are measured, and how a triangular system is made of each.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "benchmarks/generators/registry.hpp"
#include "examples/support/triangular_system.hpp"
#include "options.hpp"
#include "row.hpp"
#include "sptrsv/host/structure.hpp"
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
        throw support::usage_error("no generated matrix is called '" + name + "': see --list");
      }
      sources.push_back({name, "", g});
    }
  }
  return sources;
}

template <class Value>
constexpr const char* value_name() {
  return std::is_same_v<Value, float>                 ? "f32"
         : std::is_same_v<Value, double>              ? "f64"
         : std::is_same_v<Value, std::complex<float>> ? "c64"
                                                      : "c128";
}

/// A matrix with what is to be solved with it.
template <class Value, class Index>
struct stored_triangle {
  sptrsv::csr_matrix<Value, Index> matrix;
  sptrsv::system_options options;  ///< for one right-hand side
};

/// A system in host memory, ready to be solved.
template <class Value, class Index>
struct bench_system {
  case_description description;  ///< for one right-hand side
  stored_triangle<Value, Index> by_rows;
  /// The same system stored by columns, which are the rows of the transposed matrix; empty if nobody asks.
  stored_triangle<Value, Index> by_columns;
  std::vector<Value> b;  ///< of the largest number of right-hand sides, column by column

  [[nodiscard]] std::int64_t rows() const { return by_rows.matrix.rows; }
  /// The right-hand sides of a case.
  [[nodiscard]] std::vector<Value> right_hand_sides(std::int64_t count) const {
    return {b.begin(), b.begin() + static_cast<std::ptrdiff_t>(rows() * count)};
  }
  [[nodiscard]] case_description describe(std::int64_t rhs) const {
    case_description made = description;
    made.rhs = rhs;
    made.bytes_moved += static_cast<double>(rhs - 1) * 3 * sizeof(Value) * static_cast<double>(rows());
    return made;
  }
};

/// Whether a policy gets the matrix stored by columns. "own" stores the columns of op(T) for policies that
/// work on columns, and its rows for the others.
inline bool takes_columns(const bench_options& options, bool works_by_columns) {
  return options.storage == "csc" ||
         (options.storage == "own" && works_by_columns != (options.operation == sptrsv::op::transpose));
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

template <class Value>
support::triangular_system<Value> generate_triangle(const generator& g, sptrsv::uplo part) {
  pattern p = g.build();
  support::triangular_system<Value> system;
  system.matrix.rows = system.matrix.columns = p.rows();
  system.matrix.values.resize(p.columns.size());
  system.matrix.row_offsets = std::move(p.row_offsets);
  system.matrix.column_indices = std::move(p.columns);
  support::seed_values(system);
  return part == sptrsv::uplo::lower ? std::move(system) : support::transposed(system);
}

template <class Index, class Value>
sptrsv::csr_matrix<Value, Index> with_indices_as(sptrsv::csr_matrix<Value>&& a) {
  if constexpr (std::is_same_v<Index, std::int32_t>) {
    return std::move(a);
  } else {
    return {a.rows,
            a.columns,
            {a.row_offsets.begin(), a.row_offsets.end()},
            {a.column_indices.begin(), a.column_indices.end()},
            std::move(a.values)};
  }
}

/// The system with its columns in the place of rows.
template <class Value, class Index>
stored_triangle<Value, Index> stored_by_columns(const stored_triangle<Value, Index>& by_rows) {
  auto columns = sptrsv::to_csc(by_rows.matrix);
  stored_triangle<Value, Index> made{{columns.columns, columns.rows, std::move(columns.column_offsets),
                                      std::move(columns.row_indices), std::move(columns.values)},
                                     by_rows.options};
  const bool was_lower = by_rows.options.part == sptrsv::uplo::lower;
  const bool was_plain = by_rows.options.operation == sptrsv::op::none;
  made.options.part = was_lower ? sptrsv::uplo::upper : sptrsv::uplo::lower;
  made.options.operation = was_plain ? sptrsv::op::transpose : sptrsv::op::none;
  return made;
}

template <class Value, class Index>
bench_system<Value, Index> make_bench_system(const matrix_source& source, sptrsv::uplo part,
                                             const bench_options& options) {
  bench_system<Value, Index> made;
  auto& [matrix, system_options] = made.by_rows;
  matrix = with_indices_as<Index>(source.made != nullptr ? generate_triangle<Value>(*source.made, part).matrix
                                                         : read_triangle<Value>(source.path, part).matrix);
  system_options.part = part;
  system_options.operation = options.operation;
  if (takes_columns(options, true) || takes_columns(options, false)) {
    made.by_columns = stored_by_columns(made.by_rows);
  }
  made.b = support::seeded_vector<Value>(matrix.rows * options.most_rhs(), 3);

  case_description& d = made.description;
  d.matrix = source.name;
  d.source = source.made != nullptr ? "generated" : "file";
  d.kind = source.made != nullptr ? source.made->kind : "";
  d.value = value_name<Value>();
  d.index = sizeof(Index) == 4 ? "i32" : "i64";
  d.part = part == sptrsv::uplo::lower ? "lower" : "upper";
  d.operation = options.operation == sptrsv::op::none ? "none" : "transpose";
  d.structure = sptrsv::structure_of(matrix, system_options);
  const auto entries = static_cast<double>(d.structure.entries);
  const auto rows = static_cast<double>(d.structure.rows);
  d.matrix_bytes = entries * (sizeof(Value) + sizeof(Index)) + (rows + 1) * sizeof(Index);
  d.bytes_moved = entries * (sizeof(Value) + sizeof(Index)) + rows * (sizeof(Index) + 3 * sizeof(Value));
  return made;
}

}  // namespace sptrsv_benchmarks
