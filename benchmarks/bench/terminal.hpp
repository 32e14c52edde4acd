// What is shown on the terminal: a line per result, and the totals.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "environment.hpp"
#include "examples/support/table.hpp"
#include "row.hpp"
#include "statistics.hpp"

namespace sptrsv_benchmarks {

inline void print_environment(const environment& e) {
  if (e.device) {
    std::printf("%s, %d SMs, %.0f MB L2, driver %s, CUDA %s, cuSPARSE %s\n", e.device->c_str(), *e.sm_count,
                static_cast<double>(*e.l2_bytes) * 1e-6, e.driver->c_str(), e.cuda_runtime->c_str(),
                e.cusparse.value_or("none").c_str());
  }
  std::printf("%s\n", e.host.c_str());
  std::printf("floors: copy %.0f GB/s", e.copy_bandwidth_gb_s);
  if (e.hop_ns) {
    std::printf(", hop %.0f ns per level", *e.hop_ns);
  }
  std::printf("\n");
}

inline void print_heading(const std::string& baseline) {
  std::printf(
      "\nTimes in ms, medians. solve: back to back; call: one between two events; alone: one on an idle\n"
      "machine; graph: captured and replayed; cold: the cache flushed before. All others are warm: on a\n"
      "GPU, L2 emptied, then solves of this policy only. floor: solve over the larger floor. x: speed-up\n"
      "over %s; even: solves after which analysis and solves together cost less than with it. err:\n"
      "backward error over its bound.\n\n",
      baseline.c_str());
  std::printf(
      "%-34s %8s %9s %7s | %-26s %8s %8s | %9s %9s %9s %9s %9s | %6s %8s %7s | %6s %6s %7s | %7s %6s\n",
      "matrix", "n", "nnz", "levels", "policy", "analysis", "update", "solve", "call", "alone", "graph",
      "cold", "GB/s", "ns/level", "floor", "x", "x cold", "even", "MB", "err");
}

/// With a blank where there is nothing.
inline std::string cell(bool is_there, const char* format, double value) {
  return is_there ? support::formatted(format, value) : "-";
}

inline void print_row(const result_row& row, const environment& where, bool is_first) {
  const auto& s = row.system.structure;
  if (is_first) {
    std::printf("%-34s %8lld %9lld %7lld", row.system.label().c_str(), static_cast<long long>(s.rows),
                static_cast<long long>(s.entries), static_cast<long long>(s.levels));
  } else {
    std::printf("%61s", "");
  }
  std::printf(" | %-26s", row.policy.c_str());
  if (!row.is_timed()) {
    std::printf(" %s: %s\n", name_of(row.status), row.message.c_str());
    return;
  }
  const bool has_graph = !row.warm.graph.empty();
  std::printf(" %8.3f %8.4f | %9.4f %9.4f %9s %9s %9s | %6.1f %8.1f %7.2f | %6s %6s %7s | %7.1f %6.2g%s\n",
              row.analysis_ms(), median(row.update), row.solve_ms(), median(row.warm.single),
              cell(!row.warm.alone.empty(), "%.4f", median(row.warm.alone)).c_str(),
              cell(has_graph, "%.4f", median(row.warm.graph)).c_str(),
              cell(!row.cold.empty(), "%.4f", median(row.cold.single)).c_str(), row.gb_s(),
              row.ns_per_level(), row.ratio_to_floor(where),
              cell(row.speedup.has_value(), "%.2f", row.speedup.value_or(0)).c_str(),
              cell(row.speedup_cold.has_value(), "%.2f", row.speedup_cold.value_or(0)).c_str(),
              cell(row.break_even.has_value(), "%.0f", row.break_even.value_or(0)).c_str(),
              static_cast<double>(row.solver_bytes + row.workspace_bytes) * 1e-6,
              row.error_bound > 0 ? row.backward_error / row.error_bound : 0.0,
              row.status == row_status::wrong ? "  WRONG" : "");
}

/// Geometric means over the baseline, by the parallelism that a matrix offers.
inline void print_totals(const std::vector<result_row>& rows, const environment& where) {
  struct group {
    const char* name;
    double min_rows_per_level;
    double rows_per_level_below;
  };
  constexpr double all = 1e300;
  constexpr group groups[] = {{"all", 0, all},
                              {"under 4 rows per level", 0, 4},
                              {"4 to 100", 4, 100},
                              {"100 to 10000", 100, 10000},
                              {"above 10000", 10000, all}};
  std::map<std::string, int> count_of_status;
  std::vector<std::string> policies;
  for (const result_row& row : rows) {
    ++count_of_status[name_of(row.status)];
    if (std::find(policies.begin(), policies.end(), row.policy) == policies.end()) {
      policies.push_back(row.policy);
    }
  }
  for (const std::string& policy : policies) {
    for (const group& g : groups) {
      ratio_summary warm;
      ratio_summary cold;
      ratio_summary floor;
      std::string baseline;
      for (const result_row& row : rows) {
        const double width = row.system.rows_per_level();
        if (row.policy != policy || row.status != row_status::ok || !row.is_timed() ||
            width < g.min_rows_per_level || width >= g.rows_per_level_below) {
          continue;
        }
        baseline = row.baseline;
        floor.add(1 / row.ratio_to_floor(where), row.system.matrix);
        if (row.speedup) {
          warm.add(*row.speedup, row.system.label());
        }
        if (row.speedup_cold) {
          cold.add(*row.speedup_cold, row.system.label());
        }
      }
      if (floor.count() == 0) {
        continue;
      }
      std::printf("%-26s %-23s %4d systems, %6.2f floors", policy.c_str(), g.name, floor.count(),
                  1 / floor.mean());
      if (warm.count() > 0 && policy != baseline) {
        std::printf(", %5.2fx %s (worst %.2fx: %s)", warm.mean(), baseline.c_str(), warm.worst(),
                    warm.worst_name().c_str());
      }
      if (cold.count() > 0 && policy != baseline) {
        std::printf(", cold %5.2fx (worst %.2fx)", cold.mean(), cold.worst());
      }
      std::printf("\n");
    }
  }
  for (const auto& [status, count] : count_of_status) {
    std::printf("%d %s  ", count, status.c_str());
  }
  std::printf("\n");
}

}  // namespace sptrsv_benchmarks
