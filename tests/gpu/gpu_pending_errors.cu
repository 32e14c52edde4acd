// An error of the user's own launch that nobody has asked for is still there after each call of the library.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sptrsv/batched.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/policy/level_set.hpp"
#include "sptrsv/policy/scheme.hpp"
#include "sptrsv/policy/self_scheduled.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/policy/sync_free_column.hpp"
#include "sptrsv/sweeps.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {
namespace {

__global__ void do_nothing() {}

class PendingErrors : public ::testing::Test {
 protected:
  PendingErrors() {
    matrix = {size, size, {0}, {}, {}};
    for (std::int32_t row = 0; row < size; ++row) {
      for (const std::int32_t column : {row + 1, row, row - 20}) {  // descending: entries have to be sorted
        if (column >= 0 && column < size) {
          matrix.column_indices.push_back(column);
          matrix.values.push_back(column == row ? 4 : -1);
        }
      }
      matrix.row_offsets.push_back(static_cast<std::int32_t>(matrix.column_indices.size()));
    }
    there = to_device(matrix);
    b = to_device(std::vector<double>(size, 1));
    x = to_device(std::vector<double>(size, 0));
  }
  void TearDown() override { static_cast<void>(cudaGetLastError()); }

  /// Plants an error that does not stay in the device, calls `call`, and expects the error.
  template <class Call>
  static void keeps(const std::string& name, const Call& call) {
    static_cast<void>(cudaGetLastError());
    do_nothing<<<1, 100000>>>();
    const cudaError_t planted = cudaPeekAtLastError();
    ASSERT_NE(planted, cudaSuccess);
    try {
      call();
    } catch (const error& e) {
      ADD_FAILURE() << name << ": " << e.what();
    }
    EXPECT_EQ(cudaPeekAtLastError(), planted) << name;
    static_cast<void>(cudaGetLastError());
  }

  template <class Policy>
  void try_policy(const Policy& policy) {
    const std::string name = Policy::name;
    keeps(name + " analyze", [&] { analyze(policy, there); });
    auto solver = analyze(policy, there);
    keeps(name + " update_values", [&] { solver.update_values(there.values); });
    keeps(name + " solve", [&] { solver.solve(b, x); });
    keeps(name + " status", [&] { EXPECT_TRUE(solver.status().ok()); });
    keeps(name + " info", [&] { static_cast<void>(solver.info()); });
    keeps(name + " make_workspace", [&] {
      auto workspace = solver.make_workspace();
      solver.solve(b, x, 1.0, workspace);
    });
    keeps(name + " refused solve", [&] {
      std::vector<double> host(size);
      EXPECT_THROW(solver.solve(host, x), error);
    });
    keeps(name + " destructor", [&] { const auto moved = std::move(solver); });
  }

  static constexpr std::int32_t size = 3000;
  csr_matrix<double> matrix;
  device_csr_matrix<double> there;
  buffer<double> b;
  buffer<double> x;
};

TEST_F(PendingErrors, StayInCallsOfSolvers) {
  try_policy(policy::automatic<>{});
  try_policy(policy::level_set{});
  try_policy(policy::scheme{});
  try_policy(policy::self_scheduled{});
  try_policy(policy::sync_free_column{});
  try_policy(policy::supernodal{});
}

TEST_F(PendingErrors, StayInCallsOfOtherObjects) {
  keeps("to_device and to_host", [&] { EXPECT_EQ(to_host(to_device(matrix.values)), matrix.values); });
  keeps("analyze_factors", [&] { analyze_factors(policy::level_set{}, there); });
  auto both = analyze_factors(policy::level_set{}, there);
  keeps("factors::update_values", [&] { both.update_values(there.values); });
  keeps("factors::apply", [&] { both.apply(b, x); });
  keeps("factors::status", [&] { EXPECT_TRUE(both.status().ok()); });
  keeps("analyze_sweeps", [&] { analyze_sweeps(policy::level_set{}, there); });
  auto smoother = analyze_sweeps(policy::level_set{}, there);
  keeps("sweeps::update_values", [&] { smoother.update_values(there.values); });
  keeps("sweeps::relax", [&] { smoother.relax(sweep_direction::symmetric, b, x, 2); });
  keeps("sweeps::apply", [&] { smoother.apply(b, x); });
  keeps("sweeps::status", [&] { EXPECT_TRUE(smoother.status().ok()); });
  for (const std::int64_t level : {0, 1}) {
    const auto options = incomplete_options::fill(level);
    keeps("analyze_incomplete_lu", [&] { analyze_incomplete_lu(there, options); });
    keeps("analyze_incomplete_cholesky", [&] { analyze_incomplete_cholesky(there, options); });
    auto lu = analyze_incomplete_lu(there, options);
    keeps("factorize", [&] { lu.factorize(there.values); });
    keeps("factorisation status", [&] { EXPECT_TRUE(lu.status().ok()); });
  }
  batch_options one;
  one.systems = 1;
  keeps("analyze_batch", [&] { analyze_batch(there, there.values, one); });
  auto batch = analyze_batch(there, there.values, one);
  keeps("batched update_values", [&] { batch.update_values(there.values); });
  keeps("batched solve", [&] {
    batch.solve(batch_view<const double>::contiguous(b.data(), 1, size, 1),
                batch_view<double>::contiguous(x.data(), 1, size, 1));
  });
  keeps("batched status", [&] { EXPECT_TRUE(batch.status().ok()); });
}

TEST_F(PendingErrors, StayInCallsOfHostPolicies) {
  std::vector<double> from(size, 1);
  std::vector<double> to(size);
  keeps("host_serial", [&] { analyze(policy::host_serial{}, matrix).solve(from, to); });
  keeps("host_serial with device memory",
        [&] { EXPECT_THROW(analyze(policy::host_serial{}, there), error); });
}

/// A request that fails is the library's own; the error of the user is kept where CUDA lets it be kept.
TEST_F(PendingErrors, StayWhereMemoryRunsOut) {
  keeps("out of memory",
        [&] { EXPECT_THROW(buffer<char>(std::size_t{1} << 50, default_device_resource(), nullptr), error); });
}

}  // namespace
}  // namespace sptrsv::testing
