// Prints the results on the terminal: one line per result, and the totals.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/measurement/statistics.hpp"
#include "common/terminal/table.hpp"
#include "environment.hpp"
#include "row.hpp"

namespace sptrsv_benchmarks {

inline void print_environment(const environment& e) {
  if (e.device) {
    std::printf("%s, %d SMs, %.0f MB L2, driver %s, CUDA %s, cuSPARSE %s\n", e.device->c_str(), *e.sm_count,
                static_cast<double>(*e.l2_bytes) * 1e-6, e.driver->c_str(), e.cuda_runtime->c_str(),
                e.cusparse.value_or("none").c_str());
  }
  std::printf("%s\n", e.host.c_str());
  std::printf("bandwidth of a copy %.0f GB/s", e.copy_bandwidth_gb_s);
  if (e.hop_ns) {
    std::printf(", hop between two SMs %.0f ns", *e.hop_ns);
  }
  std::printf("\n");
}

/// Prints the meaning and the names of the columns.
inline void print_heading(const std::string& baseline) {
  std::printf(
      "\nMedian times in ms. solve: solves back to back; call: one solve between two events; alone: one\n"
      "solve on an idle machine; graph: a captured solve that is replayed; cold: one solve after the cache\n"
      "was flushed. All other times are with a warm cache: on a GPU, L2 is emptied, then only this policy\n"
      "solves. floor: solve over the larger of the bandwidth floor and the inter-block latency model\n"
      "(levels x hop). x: speed-up over %s; even: number of solves after which analysis and solves together\n"
      "take less time than with it. err: backward error over its bound.\n\n",
      baseline.c_str());
  std::printf(
      "%-34s %8s %9s %7s | %-26s %8s %8s | %9s %9s %9s %9s %9s | %6s %8s %7s | %6s %6s %7s | %7s %6s\n",
      "matrix", "n", "nnz", "levels", "policy", "analysis", "update", "solve", "call", "alone", "graph",
      "cold", "GB/s", "ns/level", "floor", "x", "x cold", "even", "MB", "err");
}

/// Returns the median as text, or "-" without samples.
inline std::string median_cell(const std::vector<double>& samples) {
  return samples.empty() ? "-" : common::formatted("%.4f", common::median(samples));
}

/// Prints a row; the first row of a system has the name of the system.
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
  std::printf(" %8.3f %8.4f | %9.4f %9.4f %9s %9s %9s | %6.1f %8.1f %7.2f | %6s %6s %7s | %7.1f %6.2g%s\n",
              row.analysis_ms(), common::median(row.update), row.solve_ms(), common::median(row.warm.single),
              median_cell(row.warm.alone).c_str(), median_cell(row.warm.graph).c_str(),
              median_cell(row.cold.empty() ? std::vector<double>{} : row.cold.single).c_str(), row.gb_s(),
              row.ns_per_level(), row.ratio_to_floor(where), common::cell(row.speedup, "%.2f").c_str(),
              common::cell(row.speedup_cold, "%.2f").c_str(), common::cell(row.break_even, "%.0f").c_str(),
              static_cast<double>(row.solver_bytes + row.workspace_bytes) * 1e-6,
              row.error_bound > 0 ? row.backward_error / row.error_bound : 0.0,
              row.status == row_status::wrong ? "  WRONG" : "");
}

/// Prints geometric means of each policy by rows per level, the parallelism of a matrix, and the number of
/// results of each status.
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
      common::ratio_summary warm;
      common::ratio_summary cold;
      common::ratio_summary floor;
      std::string baseline;
      for (const result_row& row : rows) {
        const double width = row.system.rows_per_level();
        if (row.policy != policy || row.status != row_status::ok || !row.is_timed() ||
            width < g.min_rows_per_level || width >= g.rows_per_level_below) {
          continue;
        }
        baseline = row.baseline;
        floor.add(row.ratio_to_floor(where), row.system.matrix);
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
      std::printf("%-26s %-23s %4d systems, %6s x floor", policy.c_str(), g.name, floor.count(),
                  common::cell(floor.mean(), "%.2f").c_str());
      if (warm.count() > 0 && policy != baseline) {
        std::printf(", speed-up over %s %5.2f (worst %.2f: %s)", baseline.c_str(), *warm.mean(),
                    *warm.worst(), warm.worst_name().c_str());
      }
      if (cold.count() > 0 && policy != baseline) {
        std::printf(", cold %5.2f (worst %.2f)", *cold.mean(), *cold.worst());
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
