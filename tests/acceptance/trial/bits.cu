// Mode `bits`: repeated solves under changing load have the same bits in every component.
#include <memory>
#include <vector>

#include "background.hpp"
#include "check_bits.hpp"
#include "run_case.cuh"

namespace sptrsv_trial {
namespace {

template <class Types>
using cases = std::vector<std::unique_ptr<prepared_case<Types>>>;

/// Prepares a case of each chosen form on the quiet device.
template <class Types>
cases<Types> prepare_all(const trial_options& options, std::uint64_t seed, mode_log& log,
                         watchdog::watched& watch) {
  cases<Types> made;
  for (const policy_pointer<Types> policy : chosen_policies<Types>(options)) {
    const case_id id{seed, policy->case_name, "analysis and first solves"};
    run_case(*policy, id, log, watch, [&] {
      const system_size size = seed % 2 == 1 ? system_size::large : system_size::small;
      if (auto prepared = prepare(*policy, seed, size, log)) {
        made.push_back(std::move(prepared));
      }
    });
  }
  return made;
}

template <class Types>
void check_all(cases<Types>& all, background_work work, mode_log& log, watchdog::watched& watch) {
  for (const auto& prepared : all) {
    run_case(prepared->policy(), prepared->id(), log, watch,
             [&] { check_bits(*prepared, 2, name_of(work), log); });
  }
}

}  // namespace

mode_result run_bits(const trial_options& options) {
  mode_log log("bits");
  watchdog dog(options);
  auto& watch = dog.watch_thread("main thread");
  for_each_round(options, [&](std::uint64_t seed) {
    auto real = prepare_all<f64>(options, seed, log, watch);
    auto complex = prepare_all<c64>(options, seed, log, watch);
    for (const background_work work :
         {background_work::none, background_work::solves, background_work::blocks, background_work::both}) {
      background others(work);
      check_all(real, work, log, watch);
      check_all(complex, work, log, watch);
      watch.begin("the other work ends");
      log.expect(others.finish(), case_id{seed, "", name_of(work)},
                 "solutions of the other streams are wrong");
      watch.end();
    }
  });
  return log.result();
}

}  // namespace sptrsv_trial
