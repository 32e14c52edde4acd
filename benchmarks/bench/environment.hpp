// The machine on which the benchmark runs, with its measured limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>

#include <benchmark/benchmark.h>

#include "benchmarks/shared/json.hpp"
#include "common/command_line/command_line.hpp"

namespace sptrsv_benchmarks {

/// The machine and the program. Values of the GPU are empty on the host.
struct environment {
  std::string program = "sptrsv_bench";
  std::string command;
  std::optional<std::string> device;
  std::optional<int> sm_count;
  std::optional<std::string> driver;
  std::optional<std::string> cuda_runtime;
  std::optional<std::string> cusparse;
  double copy_bandwidth_gb_s = 0;
  std::optional<double> hop_ns;  ///< time in which a value passes from one SM to another
  std::optional<std::int64_t> l2_bytes;
  std::string host;

  [[nodiscard]] json_text json() const;
};

inline json_text environment::json() const {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return json_object()
      .add("program", program)
      .add("version", sptrsv_common::version_text())
      .add("date_utc", date)
      .add("command", command)
      .add("device", device)
      .add("sm_count", sm_count)
      .add("driver", driver)
      .add("cuda_runtime", cuda_runtime)
      .add("cusparse", cusparse)
      .add("copy_bandwidth_gb_s", copy_bandwidth_gb_s)
      .add("hop_ns", hop_ns)
      .add("l2_bytes", l2_bytes)
      .add("host", host)
      .text();
}

/// Returns the text after the colon in the first line of a file that contains `key`; empty if there is no
/// such line.
inline std::string line_with(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.find(key) != std::string::npos) {
      const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return "";
}

/// Returns the model and the number of cores of the CPU.
inline std::string host_description() {
  const std::string model = line_with("/proc/cpuinfo", "model name");
  return (model.empty() ? "unknown CPU" : model) + ", " + std::to_string(benchmark::CPUInfo::Get().num_cpus) +
         " cores";
}

/// Returns the bytes of the largest cache of the host.
inline std::size_t host_cache_bytes() {
  int bytes = 1 << 20;
  for (const auto& cache : benchmark::CPUInfo::Get().caches) {
    bytes = std::max(bytes, cache.size);
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace sptrsv_benchmarks
