// Mode `sanitize`: one small case of each form, short enough for every tool of compute-sanitizer.
#include "prepared_case.hpp"
#include "run_case.cuh"

namespace sptrsv_trial {

mode_result run_sanitize(const trial_options& options) {
  mode_log log("sanitize");
  watchdog dog(options);
  auto& watch = dog.watch_thread("main thread");
  for (const policy_pointer<f64> policy : chosen_policies<f64>(options)) {
    run_case(*policy, case_id{options.seed, policy->case_name, "a small system"}, log, watch, [&] {
      const auto prepared = prepare(*policy, options.seed, system_size::small, log);
      if (prepared != nullptr) {
        auto& where = prepared->where();
        auto workspace = prepared->solver().make_workspace(where.stream());
        auto x = where.upload(prepared->host_b(0));
        prepared->solver().solve(prepared->b(0), prepared->shape(0).view(x.data()), 1.0, workspace,
                                 where.stream());
        prepared->check(log, 0, 0, where.download(x), "on a further workspace");
      }
    });
  }
  return log.result();
}

}  // namespace sptrsv_trial
