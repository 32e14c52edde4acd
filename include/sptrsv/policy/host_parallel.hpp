// The policy host_parallel: level-scheduled substitution on the cores of the host.
#pragma once

#include <cstdint>

#include "sptrsv/host/executor.hpp"

namespace sptrsv::policy {

/// Level-scheduled substitution with OpenMP; workers wait for one another point to point. In a translation
/// unit that is built without OpenMP, one thread does the work of all workers.
///
/// Rows are solved with a fixed order of additions: the result is the same in every bit from solve to solve.
struct host_parallel {
  /// Name of the policy in solver_info and in messages.
  static constexpr const char* name = "host_parallel";
  /// Stream type of the solver: calls are complete when they return.
  using default_stream = host_stream;

  /// Number of workers. 0: as many as OpenMP would start, but not more than the levels of the matrix have
  /// work for. Negative: analyze throws errc::invalid_argument.
  int workers = 0;
  /// Work of one worker if `workers` is 0: entries and rows of a level, on average.
  static constexpr std::int64_t entries_per_worker = 2000;
};

}  // namespace sptrsv::policy

#include "sptrsv/detail/host_parallel/engine.hpp"
