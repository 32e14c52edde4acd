// SPDX-License-Identifier: Apache-2.0
// The policy host_parallel: substitution on the cores of the host.
#pragma once

#include "sptrsv/host/executor.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// Substitution on the cores of the host, by the calling thread and by threads of the library that help it.
/// There are as many as OpenMP would start: OMP_NUM_THREADS, omp_set_num_threads and OMP_THREAD_LIMIT hold.
/// One thread does the work of all workers in a translation unit that is built without OpenMP, in a child
/// process of fork, and while the helpers serve another caller.
///
/// The analysis predicts the times of up to four paths and takes the fastest one; info().path names it, and
/// info().predictions has the times:
///
/// - natural: one worker solves the rows in the order of substitution.
/// - windows: one worker solves the rows in level order inside windows of up to 4096 consecutive rows.
///   Consecutive rows are then independent, so that the core does not wait for each component.
/// - pipeline: the same windows, which the workers take round-robin.
/// - levels: level order; all workers share each level.
///
/// Several workers must also gain in a trial of a few solves at the end of the analysis. If they take longer
/// than one worker in later solves, because other processes use the cores, one worker solves for a while.
///
/// The solution has the bits of host_serial, with any path and number of workers.
struct host_parallel {
  static constexpr const char* name = "host_parallel";  ///< in solver_info and in messages
  using default_stream = host_stream;  ///< of the solver: calls are complete when they return

  /// Number of workers. 0: as many as the analysis predicts to be busy, at most as many as threads are
  /// allowed; one if several are not clearly faster. Another number is taken without a trial, and its workers
  /// share the threads that are allowed. Negative or above 1024: analyze throws errc::invalid_argument.
  int workers = 0;
};

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/host_parallel/host_parallel_engine.hpp"
