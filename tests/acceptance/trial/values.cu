// Mode `values`: NaN, infinities, zeros and subnormal numbers in the matrix, in b, and as alpha.
#include "check_values.hpp"
#include "run_case.cuh"

namespace sptrsv_trial {
namespace {

template <class Types>
void check_values(const support::tested_policy<Types>& policy, std::uint64_t seed, mode_log& log,
                  watchdog::watched& watch) {
  values_case<Types> drawn(policy, seed, log);
  run_case(policy, drawn.id(), log, watch, [&] { drawn.run(); });
}

}  // namespace

mode_result run_values(const trial_options& options) {
  mode_log log("values");
  watchdog dog(options);
  auto& watch = dog.watch_thread("main thread");
  for_each_round(options, [&](std::uint64_t seed) {
    for_each_policy(options, [&](const auto& policy) { check_values(policy, seed, log, watch); });
  });
  return log.result();
}

}  // namespace sptrsv_trial
