// Sweeps on the host and in the emulator.
#include "contract/sweeps_suite.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using sweeps_host_cases = ::testing::Types<sweeps_case<policy::host_parallel, host_target, double>>;
using sweeps_emulator_cases = ::testing::Types<
    sweeps_case<policy::automatic<>, emulator_target, double>,
    sweeps_case<policy::sync_free_thread, emulator_target, double>,
    sweeps_case<policy::sync_free_thread, emulator_target, std::complex<float>, std::int32_t, std::int64_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(host, sweeps_suite, sweeps_host_cases, sweeps_case_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, sweeps_suite, sweeps_emulator_cases, sweeps_case_names);

TEST(Sweeps, NeitherAllocateNorSynchronise) {
  using suite = sweeps_suite<sweeps_case<policy::sync_free_thread, emulator_target, double>>;
  emulator_target where;
  const auto a = suite::make_stored(patterns::stencil_2d(6, 5), false, 2);
  const auto there = where.upload(a.by_rows);
  auto s = analyze_sweeps(policy::sync_free_thread{}, there, {1.5}, where.stream());
  const auto b = where.upload(random_vector<double>(30, 1));
  auto x = where.upload(random_vector<double>(30, 2));
  const auto before = where.device().counters;
  where.device().capturing = true;
  s.update_values(there.values, where.stream());
  s.relax(sweep_direction::symmetric, b, x, 2, where.stream());
  s.apply(b, x, where.stream());
  where.device().capturing = false;
  EXPECT_EQ(where.device().counters.allocations, before.allocations);
  EXPECT_EQ(where.device().counters.synchronizations, before.synchronizations);
}

}  // namespace sptrsv::testing
