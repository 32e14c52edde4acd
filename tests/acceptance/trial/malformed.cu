// Mode `malformed`: analyze gets matrices in device memory that are malformed in drawn ways.
#include "check_malformed.hpp"
#include "run_case.cuh"

namespace sptrsv_trial {

mode_result run_malformed(const trial_options& options) {
  mode_log log("malformed");
  watchdog dog(options);
  auto& watch = dog.watch_thread("main thread");
  for_each_round(options, [&](std::uint64_t seed) {
    for_each_policy(options, [&](const auto& policy) {
      run_case(policy, case_id{seed, policy.case_name, "a malformed matrix"}, log, watch,
               [&] { check_malformed(policy, seed, log); });
    });
  });
  return log.result();
}

}  // namespace sptrsv_trial
