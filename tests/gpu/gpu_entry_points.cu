// Every public analysis with every policy of the device that takes it: that all of them compile with nvcc,
// and solve a small system.
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "sptrsv/detail/any_solver/policy_list.hpp"
#include "sptrsv/sptrsv.hpp"

namespace sptrsv::testing {
namespace {

/// L U = (4 1; 2 2) in one matrix: L = (1 0; 2 1), U = (4 1; 0 2).
template <class Value>
const csr_matrix<Value> both_factors{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 2, 2}};

/// Solves with one policy through each analysis that takes a policy.
template <class Value, class Policy>
void expect_solved(const Policy& policy) {
  const auto a = to_device(both_factors<Value>);
  const auto b = to_device(std::vector<Value>{4, 10});
  auto x = to_device(std::vector<Value>(2));

  auto lower = analyze(policy, a);  // 4 x0 = 4; 2 x0 + 2 x1 = 10
  lower.solve(b, x);
  EXPECT_EQ(to_host(x), (std::vector<Value>{1, 4})) << Policy::name;

  auto factors = analyze_factors(policy, a);  // L y = b: (4, 2); U x = y
  factors.apply(b, x);
  EXPECT_EQ(to_host(x), (std::vector<Value>{Value(0.75), 1})) << Policy::name;

  auto sweeps = analyze_sweeps(policy, a);  // (4 0; 2 2) x = b
  x = to_device(std::vector<Value>(2));
  sweeps.relax(sweep_direction::forward, b, x);
  EXPECT_EQ(to_host(x), (std::vector<Value>{1, 4})) << Policy::name;
}

TEST(GpuEntryPoints, TakeEveryPolicy) {
  detail::for_each_policy(detail::device_policies{}, [](auto policy) { expect_solved<double>(policy); });
  expect_solved<double>(policy::automatic<policy::dataflow, policy::supernodal>{});
}

TEST(GpuEntryPoints, TakeTheDefaultPolicyInEachType) {
  expect_solved<float>(policy::automatic<>{});
  expect_solved<std::complex<double>>(policy::automatic<>{});
}

}  // namespace
}  // namespace sptrsv::testing
