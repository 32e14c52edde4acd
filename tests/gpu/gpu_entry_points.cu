// Every public analysis with every policy of the device that takes it: that all of them compile with nvcc,
// and solve a small system.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
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

TEST(GpuEntryPoints, TakeSupernodalForACompleteFactor) {
  const std::int32_t size = 200;
  csr_matrix<double> dense;  // ones below the diagonal: x = (1, 0, 0, ...)
  dense.rows = dense.columns = size;
  dense.row_offsets = {0};
  for (std::int32_t i = 0; i < size; ++i) {
    for (std::int32_t j = 0; j <= i; ++j) {
      dense.column_indices.push_back(j);
      dense.values.push_back(1);
    }
    dense.row_offsets.push_back(static_cast<std::int32_t>(dense.values.size()));
  }
  const auto a = to_device(dense);
  auto solver = analyze(policy::automatic<policy::dataflow, policy::supernodal>{}, a);
  EXPECT_EQ(solver.info().chosen, "supernodal");
  const auto b = to_device(std::vector<double>(size, 1));
  auto x = to_device(std::vector<double>(size));
  solver.solve(b, x);
  std::vector<double> expected(size);
  expected[0] = 1;
  EXPECT_EQ(to_host(x), expected);
}

TEST(GpuEntryPoints, TakeTheDefaultPolicyInEachType) {
  expect_solved<float>(policy::automatic<>{});
  expect_solved<std::complex<double>>(policy::automatic<>{});
}

}  // namespace
}  // namespace sptrsv::testing
