// An error of the user's own launch that nobody has asked for is still there after each call of the library.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/batched.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/distributed.hpp"
#include "sptrsv/distributed/thread_team.cuh"
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
#include "support/pending_error.cuh"

namespace sptrsv::testing {
namespace {

class PendingErrors : public ::testing::Test {
 protected:
  PendingErrors() {
    matrix = matrix_with_descending_rows(size);
    there = to_device(matrix);
    b = to_device(std::vector<double>(size, 1));
    x = to_device(std::vector<double>(size, 0));
  }
  void TearDown() override { static_cast<void>(cudaGetLastError()); }

  template <class Call>
  static void keeps(const std::string& name, const Call& call) {
    keeps_pending_error(name, call);
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

/// The runtime has an error for each thread: here in the thread that makes a team, and in those of its PEs.
/// All make their calls together, because most are collective.
TEST_F(PendingErrors, StayInCallsOfTeamsAndDistributedSolvers) {
  std::optional<thread_team> team;
  keeps("thread_team", [&] { team.emplace(std::vector<int>{0, 0}); });
  const auto pe_calls = [&](thread_team::member& pe) {
    const owned_stream stream;
    const std::string name = "PE " + std::to_string(pe.rank()) + ": ";
    void* own = nullptr;
    keeps(name + "allocate", [&] { own = pe.allocate(256)[static_cast<std::size_t>(pe.rank())]; });
    keeps(name + "exchange", [&] { pe.exchange(std::vector<std::vector<std::byte>>(2)); });
    keeps(name + "meet", [&] { pe.meet(); });
    keeps(name + "release", [&] { pe.release(own, 256); });
    const std::int32_t first = pe.rank() * (size / 2);
    const std::int32_t* const offsets = matrix.row_offsets.data() + first;
    std::vector<std::int32_t> own_offsets;
    for (std::int32_t row = 0; row <= size / 2; ++row) {
      own_offsets.push_back(offsets[row] - offsets[0]);
    }
    const row_part<double> part{first,
                                size / 2,
                                size,
                                own_offsets.data(),
                                matrix.column_indices.data() + offsets[0],
                                matrix.values.data() + offsets[0]};
    const policy::distributed how{2};
    keeps(name + "analyze", [&] { analyze(how, part, {}, pe, stream.get()); });
    auto solver = analyze(how, part, {}, pe, stream.get());
    const span<const double> values(part.values, static_cast<std::size_t>(own_offsets.back()));
    keeps(name + "update_values", [&] { solver.update_values(values, stream.get()); });
    const dense_view<double> own_x(x.data() + first, size / 2, 1, 1, size / 2);
    keeps(name + "solve", [&] { solver.solve(own_x, own_x, 1.0, stream.get()); });
    keeps(name + "status", [&] { EXPECT_TRUE(solver.status(stream.get()).ok()); });
    keeps(name + "facts and plan", [&] {
      EXPECT_EQ(solver.facts().pes, 2);
      EXPECT_FALSE(solver.plan().empty());
    });
    keeps(name + "refused solve", [&] {
      std::vector<double> host(size / 2);
      const dense_view<double> on_host(host.data(), size / 2, 1, 1, size / 2);
      EXPECT_THROW(solver.solve(on_host, on_host, 1.0, stream.get()), error);
    });
    keeps(name + "destructor", [&] { const auto moved = std::move(solver); });
  };
  keeps("run", [&] { team->run(pe_calls); });
  keeps("destructor", [&] { team.reset(); });
}

/// A request that fails is the library's own; the error of the user is kept where CUDA lets it be kept.
TEST_F(PendingErrors, StayWhereMemoryRunsOut) {
  keeps("out of memory",
        [&] { EXPECT_THROW(buffer<char>(std::size_t{1} << 50, default_device_resource(), nullptr), error); });
}

}  // namespace
}  // namespace sptrsv::testing
