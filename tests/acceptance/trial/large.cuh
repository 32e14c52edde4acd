// The parts of the mode `large`.
#pragma once

#include "policies.cuh"
#include "watchdog.hpp"

namespace sptrsv_trial {

/// Solves a system with more entries than 32 bits count, if the memory of the GPU suffices.
void solve_large_system(const trial_options& options, mode_log& log, watchdog::watched& watch);

/// Refuses each allocation of small solvers in turn.
void refuse_allocations(const trial_options& options, mode_log& log, watchdog::watched& watch);

/// Analyses and solves while nearly all memory of the GPU is allocated.
void fill_the_device(const trial_options& options, mode_log& log, watchdog::watched& watch);

}  // namespace sptrsv_trial
