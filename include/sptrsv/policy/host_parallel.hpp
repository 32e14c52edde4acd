// The policy host_parallel: substitution on the cores of the host.
#pragma once

#include "sptrsv/host/executor.hpp"

namespace sptrsv::policy {

/// Substitution on the cores of the host, by one or several OpenMP threads that wait for one another point to
/// point. In a translation unit that is built without OpenMP, one thread does the work of all workers.
///
/// The analysis predicts the time of four paths by a model of a core and takes the fastest one; info().path
/// names it, and info().predictions has the times:
///
/// - natural: one worker solves the rows in the order of substitution.
/// - windows: one worker solves the rows in level order inside windows of up to 4096 consecutive rows.
///   Consecutive rows are then independent, so that the core does not wait for each component.
/// - pipeline: the same windows, which the workers take round-robin.
/// - levels: level order; all workers share each level.
///
/// The solution has the bits of host_serial, with any path and number of workers.
struct host_parallel {
  /// Name of the policy in solver_info and in messages.
  static constexpr const char* name = "host_parallel";
  /// Stream type of the solver: calls are complete when they return.
  using default_stream = host_stream;

  /// Number of workers. 0: as many as the analysis predicts to be busy, at most as many as OpenMP would
  /// start; one if several are not predicted to be clearly faster. Negative: analyze throws
  /// errc::invalid_argument.
  int workers = 0;
};

}  // namespace sptrsv::policy

#include "sptrsv/detail/host_parallel/engine.hpp"
