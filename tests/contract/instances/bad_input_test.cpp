// Bad input for the host policies.
#include "contract/bad_input_suite.hpp"
#include "support/subjects/host.hpp"

namespace sptrsv::testing {

SPTRSV_TEST_POLICIES(host, bad_input, host_policies<double>);

using negative_workers = suite_case<host_target, host_parallel, double, std::int32_t, std::int32_t>;

TEST(HostParallel, RefusesANegativeNumberOfWorkers) {
  const auto a = make_matrix<double>(patterns::chain(3), {});
  const auto seen = failure::of([&] { analyze(policy::host_parallel{-1}, a.by_rows); });
  bad_input<negative_workers::types>::expect(seen, errc::invalid_argument, "workers", "-1 workers");
}

TEST(HostParallel, RefusesMoreWorkersThanItsTablesHold) {
  const auto a = make_matrix<double>(patterns::chain(3), {});
  const auto seen = failure::of([&] { analyze(policy::host_parallel{100000}, a.by_rows); });
  bad_input<negative_workers::types>::expect(seen, errc::invalid_argument, "100000 workers",
                                             "100000 workers");
}

}  // namespace sptrsv::testing
