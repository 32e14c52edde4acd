// SPDX-License-Identifier: Apache-2.0
// The policy host_serial: substitution on one core of the host, the reference of all tests.
#pragma once

#include "sptrsv/host/executor.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// Forward or backward substitution on one core of the host. The solver stores a copy of the matrix and
/// nothing else. The result is the same in every bit from solve to solve.
struct host_serial {
  static constexpr const char* name = "host_serial";  ///< in solver_info and in messages
  using default_stream = host_stream;                 ///< of the solver: calls are complete when they return
};

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/host_serial/host_serial_engine.hpp"
