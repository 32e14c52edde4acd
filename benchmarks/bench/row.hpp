// One row of the results: the measurements of a policy on a system, and the values that follow from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/shared/json.hpp"
#include "common/measurement/statistics.hpp"
#include "environment.hpp"
#include "shape.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/host/structure.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv_benchmarks {

namespace common = sptrsv_common;

/// A system, independent of the policy.
struct case_description {
  std::string matrix;
  std::string source;  ///< "file" or "generated"
  std::string kind;    ///< family of a generated matrix; empty for a file
  std::string value;
  std::string index;
  std::string part;
  std::string operation;
  std::int64_t rhs = 1;
  sptrsv::triangle_structure structure;
  triangle_shape shape;
  double matrix_bytes = 0;
  /// Bytes that every solve moves: each entry with its column index, the row offsets, and three vectors for
  /// each right-hand side (the right-hand side is read, the solution is written and read).
  double bytes_moved = 0;

  /// Returns the name of the matrix with the properties of the system that differ from the defaults.
  [[nodiscard]] std::string label() const {
    std::string words;
    const auto add = [&](bool unusual, const std::string& word) {
      words += unusual ? (words.empty() ? "" : ", ") + word : "";
    };
    add(value != "f64", value);
    add(index != "i32", index);
    add(part != "lower", part);
    add(operation != "none", operation);
    add(rhs > 1, std::to_string(rhs) + " rhs");
    return words.empty() ? matrix : matrix + " (" + words + ")";
  }
  [[nodiscard]] double rows_per_level() const {
    return static_cast<double>(structure.rows) /
           static_cast<double>(std::max<std::int64_t>(structure.levels, 1));
  }
  [[nodiscard]] double bandwidth_floor_ms(const environment& where) const {
    return bytes_moved / where.copy_bandwidth_gb_s * 1e-6;
  }
  /// Returns the time of the inter-block latency model: levels times hop. It is no lower bound. The name is
  /// that of the column in the results.
  [[nodiscard]] std::optional<double> hop_floor_ms(const environment& where) const {
    return where.hop_ns ? std::optional(static_cast<double>(structure.levels) * *where.hop_ns * 1e-6)
                        : std::nullopt;
  }
};

/// Samples of the time of one solve in milliseconds.
struct solve_times {
  std::vector<double> single;  ///< each solve between two events
  std::vector<double> alone;   ///< each solve on an idle machine; empty if not measured
  std::vector<double> batch;   ///< solves back to back, divided by their number; empty with a cold cache
  std::vector<double> graph;   ///< the same with a captured graph; empty if not measured

  [[nodiscard]] bool empty() const { return single.empty(); }
  /// Returns the time of a solve back to back, or of a single solve if there are no batches, as with a cold
  /// cache.
  [[nodiscard]] double batch_ms() const { return common::median(batch.empty() ? single : batch); }

  [[nodiscard]] std::optional<json_text> json() const {
    if (empty()) {
      return std::nullopt;
    }
    return json_object()
        .add("median_ms", common::median(single))
        .add("p5_ms", common::quantile(single, 0.05))
        .add("p95_ms", common::quantile(single, 0.95))
        .add("batch_ms", batch_ms())
        .add("graph_ms", graph.empty() ? std::nullopt : std::optional(common::median(graph)))
        .add("alone_ms", alone.empty() ? std::nullopt : std::optional(common::median(alone)))
        .add("samples", single.size())
        .text();
  }
};

enum class row_status { ok, wrong, unsupported, failed };

inline const char* name_of(row_status status) {
  constexpr const char* names[] = {"ok", "wrong", "unsupported", "failed"};
  return names[static_cast<int>(status)];
}

/// The result of a policy on a system.
struct result_row {
  case_description system;
  std::string policy;   ///< name of its form
  std::string storage;  ///< of the matrix: "csr" or "csc"
  row_status status = row_status::ok;
  std::string message;
  std::string path;                                 ///< solver_info::path
  std::string plan;                                 ///< solver_info::plan
  std::vector<sptrsv::predicted_time> predictions;  ///< solver_info::predictions
  std::vector<std::string> kernels;
  std::vector<std::int64_t> kernel_levels;      ///< by kernel: kernel_info::levels
  std::vector<std::int64_t> kernel_partitions;  ///< by kernel: kernel_info::partitions
  std::vector<double> analysis;                 ///< the first one finds no memory in the pools, the others do
  std::vector<double> update;
  solve_times warm;
  solve_times cold;
  std::size_t solver_bytes = 0;
  std::size_t workspace_bytes = 0;
  double backward_error = 0;
  double error_bound = 0;

  std::string baseline;
  std::optional<double> speedup;
  std::optional<double> speedup_cold;
  std::optional<double> break_even;

  [[nodiscard]] bool is_timed() const { return !warm.empty(); }
  /// Returns the time that all comparisons use.
  [[nodiscard]] double solve_ms() const { return warm.batch_ms(); }
  [[nodiscard]] double first_analysis_ms() const { return analysis.empty() ? 0 : analysis.front(); }
  /// Returns the time of a repeated analysis, or of the only one.
  [[nodiscard]] double analysis_ms() const {
    return common::median(analysis.size() > 1 ? std::vector<double>(analysis.begin() + 1, analysis.end())
                                              : analysis);
  }

  [[nodiscard]] double gb_s() const { return system.bytes_moved / solve_ms() * 1e-6; }
  [[nodiscard]] double ns_per_level() const {
    return solve_ms() * 1e6 / static_cast<double>(std::max<std::int64_t>(system.structure.levels, 1));
  }
  [[nodiscard]] double ratio_to_floor(const environment& where) const {
    return solve_ms() / std::max(system.bandwidth_floor_ms(where), system.hop_floor_ms(where).value_or(0));
  }

  /// Sets the values relative to the baseline. `other`: the row of the baseline in the same run; null if it
  /// was not measured.
  void compare_with(const result_row* other) {
    if (other == nullptr || other->status != row_status::ok || status != row_status::ok) {
      return;
    }
    speedup = common::ratio_of(other->solve_ms(), solve_ms());
    if (!cold.empty() && !other->cold.empty()) {
      speedup_cold = common::ratio_of(other->cold.batch_ms(), cold.batch_ms());
    }
    // The number of solves after which the first analysis and solves together are faster than the baseline: 0
    // if the analysis is not slower, none if the solve is not faster (then the lead of a faster analysis is
    // lost after some solves).
    const double extra = first_analysis_ms() - other->first_analysis_ms();
    const double gain = other->solve_ms() - solve_ms();
    if (other != this && gain > 0) {
      break_even = std::max(0.0, std::ceil(extra / gain));
    }
  }

  [[nodiscard]] json_text json(const environment& where) const;
};

/// Returns an array of the paths with the times that a cost model predicts for them, where it does.
inline json_text predictions_json(const std::vector<sptrsv::predicted_time>& predictions) {
  std::vector<json_text> texts;
  for (const sptrsv::predicted_time& one : predictions) {
    if (std::isfinite(one.nanoseconds)) {
      texts.push_back(json_object().add("path", one.name).add("ms", one.nanoseconds * 1e-6).text());
    }
  }
  return {to_json(texts)};
}

inline json_text result_row::json(const environment& where) const {
  const auto& s = system.structure;
  const auto if_timed = [&](double value) { return is_timed() ? std::optional(value) : std::nullopt; };
  const auto if_ready = [&](auto value) { return analysis.empty() ? std::nullopt : std::optional(value); };
  const auto first_analysis = analysis.empty() ? std::nullopt : std::optional(first_analysis_ms());
  return json_object()
      .add("matrix", system.matrix)
      .add("source", system.source)
      .add("kind", system.kind)
      .add("n", s.rows)
      .add("nnz", s.entries)
      .add("levels", s.levels)
      .add("rows_per_level", system.rows_per_level())
      .add("longest_row", s.longest_row)
      .add("longest_column", s.longest_column)
      .add("row_lengths", system.shape.row_lengths.json())
      .add("level_rows", system.shape.level_rows.json())
      .add("value", system.value)
      .add("index", system.index)
      .add("part", system.part)
      .add("operation", system.operation)
      .add("rhs", system.rhs)
      .add("policy", policy)
      .add("storage", storage)
      .add("status", name_of(status))
      .add("message", message)
      .add("path", if_ready(path))
      .add("plan", if_ready(plan))
      .add("predictions", if_ready(predictions_json(predictions)))
      .add("kernels", if_ready(kernels))
      .add("kernel_levels", if_ready(kernel_levels))
      .add("kernel_partitions", if_ready(kernel_partitions))
      .add("first_analysis_ms", first_analysis)
      .add("analysis_ms", if_ready(analysis_ms()))
      .add("update_ms", if_ready(common::median(update)))
      .add("warm", warm.json())
      .add("cold", cold.json())
      .add("bytes_moved", system.bytes_moved)
      .add("gb_s", if_timed(gb_s()))
      .add("ns_per_level", if_timed(ns_per_level()))
      .add("bandwidth_floor_ms", system.bandwidth_floor_ms(where))
      .add("hop_floor_ms", system.hop_floor_ms(where))
      .add("ratio_to_floor", if_timed(ratio_to_floor(where)))
      .add("baseline", baseline)
      .add("speedup", speedup)
      .add("speedup_cold", speedup_cold)
      .add("break_even_solves", break_even)
      .add("solver_bytes", if_ready(solver_bytes))
      .add("workspace_bytes", if_ready(workspace_bytes))
      .add("matrix_bytes", system.matrix_bytes)
      .add("backward_error", if_timed(backward_error))
      .add("error_bound", if_timed(error_bound))
      .text();
}

/// Writes a file of results. Throws sptrsv::error if that fails.
inline void write_results(const std::string& path, const environment& where,
                          const std::vector<result_row>& rows) {
  std::vector<json_text> texts;
  texts.reserve(rows.size());
  for (const result_row& row : rows) {
    texts.push_back(row.json(where));
  }
  std::ofstream out(path);
  out << "{\"context\": " << to_json(where.json()) << ",\n\"rows\": " << to_json(texts, ",\n") << "}\n";
  out.close();
  SPTRSV_EXPECTS(out.good(), sptrsv::errc::io_error, "cannot write '" + path + "'");
}

}  // namespace sptrsv_benchmarks
