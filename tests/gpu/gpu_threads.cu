// Analyses and solves in several host threads, beside threads of the program that use the device themselves.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sptrsv/device_matrix.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/policy/level_set.hpp"
#include "sptrsv/policy/scheme.hpp"

namespace sptrsv::testing {
namespace {

/// Returns the bidiagonal system whose solution for a right-hand side of ones is 1, 0, 1, 0, ...
csr_matrix<double> alternating_chain(std::int32_t size) {
  csr_matrix<double> a{size, size, {0}, {}, {}};
  for (std::int32_t i = 0; i < size; ++i) {
    if (i > 0) {
      a.column_indices.push_back(i - 1);
      a.values.push_back(1);
    }
    a.column_indices.push_back(i);
    a.values.push_back(1);
    a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

/// Runs each task in a thread of its own; returns the first message of a task that threw.
std::string run_together(const std::vector<std::function<void()>>& tasks) {
  std::vector<std::string> failures(tasks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        tasks[i]();
      } catch (const std::exception& e) {
        failures[i] = e.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& failure : failures) {
    if (!failure.empty()) {
      return failure;
    }
  }
  return {};
}

/// Analyses and solves chains of different lengths, on a stream of its own.
template <class Policy>
void solve_chains(const Policy& policy, int rounds, int first) {
  cudaStream_t stream = nullptr;
  SPTRSV_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int round = 0; round < rounds; ++round) {
    const std::int32_t size = 40 + (first + 7 * round) % 40 * 50;
    const auto a = to_device(alternating_chain(size), stream);
    const auto b = to_device(std::vector<double>(static_cast<std::size_t>(size), 1.0), stream);
    const auto x = to_device(std::vector<double>(static_cast<std::size_t>(size)), stream);
    auto solver = analyze(policy, a, {}, stream);
    solver.solve(b, x, stream);
    const std::vector<double> solved = to_host(x, stream);
    for (std::size_t i = 0; i < solved.size(); ++i) {
      if (solved[i] != (i % 2 == 0 ? 1 : 0)) {
        throw error(errc::cuda_error, "component " + std::to_string(i) + " is wrong");
      }
    }
  }
  SPTRSV_CUDA_CHECK(cudaStreamDestroy(stream));
}

/// The same kernel is launched with different amounts of shared memory.
TEST(GpuThreads, AnalyseAndSolveTogether) {
  std::vector<std::function<void()>> tasks;
  for (int i = 0; i < 8; ++i) {
    tasks.push_back([=] {
      policy::dataflow how{policy::dataflow_path::single_block};
      how.shape = i % 2;
      solve_chains(how, 60, 5 * i);
    });
  }
  EXPECT_EQ(run_together(tasks), "");
}

TEST(GpuThreads, AnalyseSchemesTogether) {
  std::vector<std::function<void()>> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back([=] { solve_chains(policy::scheme{}, 30, 5 * i); });
  }
  EXPECT_EQ(run_together(tasks), "");
}

/// The library must not disturb calls of the program that concern the whole device, and they must not disturb
/// it.
TEST(GpuThreads, WorkBesideThreadsThatUseTheDevice) {
  std::atomic<int> left{3};
  const auto until_all_are_done = [&](const std::function<void()>& work) {
    return [&, work] {
      while (left.load() > 0) {
        work();
      }
    };
  };
  const auto counted = [&](const std::function<void()>& work) {
    return [&, work] {
      struct finally {
        std::atomic<int>& left;
        ~finally() { --left; }
      } done{left};
      work();
    };
  };
  EXPECT_EQ(run_together({counted([] { solve_chains(policy::level_set{}, 40, 0); }),
                          counted([] { solve_chains(policy::dataflow{}, 40, 11); }),
                          counted([] { solve_chains(policy::scheme{}, 40, 23); }),
                          until_all_are_done([] { SPTRSV_CUDA_CHECK(cudaDeviceSynchronize()); }),
                          until_all_are_done([] {
                            void* p = nullptr;
                            SPTRSV_CUDA_CHECK(cudaMalloc(&p, 1 << 16));
                            SPTRSV_CUDA_CHECK(cudaMemset(p, 0, 1 << 16));
                            int word = 1;
                            SPTRSV_CUDA_CHECK(cudaMemcpy(&word, p, sizeof(word), cudaMemcpyDeviceToHost));
                            SPTRSV_CUDA_CHECK(cudaFree(p));
                          })}),
            "");
}

}  // namespace
}  // namespace sptrsv::testing
