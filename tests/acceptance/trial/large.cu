// Mode `large`: more than 2^31 entries, and too little memory.
#include "large.cuh"

namespace sptrsv_trial {

mode_result run_large(const trial_options& options) {
  mode_log log("large");
  watchdog dog(options);
  auto& watch = dog.watch_thread("main thread");
  refuse_allocations(options, log, watch);
  fill_the_device(options, log, watch);
  solve_large_system(options, log, watch);
  return log.result();
}

}  // namespace sptrsv_trial
