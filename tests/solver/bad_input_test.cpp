// Bad input on the host and in the emulator.
#include "solver/bad_input_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using host_cases = every_index<host_target, double, host_serial, host_parallel_3>;
using emulator_cases =
    every_index<emulator_target, double, sync_free_warp, sync_free_warp_natural, sync_free_column, level_set>;
INSTANTIATE_TYPED_TEST_SUITE_P(host, bad_input, host_cases, case_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, bad_input, emulator_cases, case_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, host_memory_for_a_device_policy, emulator_cases, case_names);

using negative_workers_case = suite_case<host_target, host_parallel, double, std::int32_t, std::int32_t>;

TEST(HostParallel, RefusesANegativeNumberOfWorkers) {
  const auto a = make_matrix<double>(patterns::chain(3), {});
  const auto seen = failure::of([&] { analyze(policy::host_parallel{-1}, a.by_rows); });
  bad_input<negative_workers_case>::expect(seen, errc::invalid_argument, "workers", "-1 workers");
}

}  // namespace sptrsv::testing
