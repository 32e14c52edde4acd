// Runs one case of a mode: watched, and with exceptions as failures.
#pragma once

#include <exception>
#include <string>

#include "policies.cuh"
#include "watchdog.hpp"

namespace sptrsv_trial {

/// Calls `action`. An exception is a failure of the case, unless the policy refuses a system that it may
/// refuse, or the GPU is lost: then the exception goes on.
template <class Types, class Action>
void run_case(const support::tested_policy<Types>& policy, const case_id& id, mode_log& log,
              watchdog::watched& watch, const Action& action) {
  watch.begin(id.policy + ": " + id.system + ", seed " + std::to_string(id.seed));
  try {
    action();
  } catch (const device_lost&) {
    throw;
  } catch (const sptrsv::error& e) {
    if (!policy.may_refuse || e.code() != sptrsv::errc::unsupported) {
      log.fail(id, e.what());
    }
  } catch (const std::exception& e) {
    log.fail(id, e.what());
  }
  watch.end();
}

}  // namespace sptrsv_trial
