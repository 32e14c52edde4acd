// Kills one of two processes that solve a system together. The kernels of the other process must end, and
// later processes must be able to use the GPU.
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "common/processes/processes.hpp"
#include "distributed/distributed_solve.hpp"
#include "sptrsv/distributed/process_team.cuh"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {
namespace {

/// Solves with a chain of 100 rows on two processes. PE 1 kills itself after `solves` of five solves.
sptrsv_common::processes_result solve_with_two(int solves) {
  constexpr double limit_s = 120;
  return sptrsv_common::run_processes(2, limit_s, [&](process_group& group) {
    int gpus = 0;
    SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&gpus));
    process_team pe(group, group.rank() % gpus);
    const owned_stream stream;
    const detail::cuda_executor on(stream.get());
    const auto a = make_matrix<double>(patterns::chain(100), form{}).by_rows;
    pe_solver<experimental::supernodal_tuning, double, process_team, detail::cuda_executor> solver(
        slice(a, pe.rank(), 2), a.rows, {}, plans_for(2).front(), pe, on);
    auto b = solver.upload(std::vector<double>(100, 1), a.rows, 1);
    for (int k = 0; k < 5; ++k) {
      if (pe.rank() == 1 && k == solves) {
        std::raise(SIGKILL);
      }
      solver.enqueue(b, b, 1, 1);
    }
    on.synchronize();
    try {
      return std::string(solver.get().status(on).ok() ? "right" : "wrong");
    } catch (const detail::distributed::pe_has_left& e) {
      return std::string(e.what());
    }
  });
}

TEST(GpuProcesses, KernelsThatWaitForAPeThatIsKilledEnd) {
  for (int solves = 0; solves < 5; ++solves) {
    const auto killed = solve_with_two(solves);
    EXPECT_EQ(killed.failure, "PE 1 was ended by signal 9 (Killed)");
    EXPECT_EQ(killed.result, "PE 1 has left the team");
  }
  const auto after = solve_with_two(5);
  EXPECT_EQ(after.failure, "");
  EXPECT_EQ(after.result, "right");
}

}  // namespace
}  // namespace sptrsv::testing
