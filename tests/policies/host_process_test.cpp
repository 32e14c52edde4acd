// Threads of the host as the process sees them: a child process works alone, and no call starts more threads
// than allowed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::testing {
namespace {

constexpr std::int32_t lines = 260;

/// Returns the 5-point matrix of a square grid: so large that every analysis on the host uses threads.
csr_matrix<double> square_grid() {
  csr_matrix<double> a;
  a.rows = a.columns = std::int64_t{lines} * lines;
  a.row_offsets = {0};
  for (std::int32_t row = 0; row < lines * lines; ++row) {
    const auto add = [&](bool is_inside, std::int32_t column, double value) {
      if (is_inside) {
        a.column_indices.push_back(column);
        a.values.push_back(value);
      }
    };
    add(row >= lines, row - lines, -1);
    add(row % lines > 0, row - 1, -1);
    add(true, row, 4);
    add(row % lines < lines - 1, row + 1, -1);
    add(row < lines * (lines - 1), row + lines, -1);
    a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

std::vector<double> solution_of(const solver<policy::host_parallel, double>& solver) {
  auto workspace = solver.make_workspace();
  std::vector<double> x(static_cast<std::size_t>(solver.rows()), 1);
  solver.solve(x, x, 1.0, workspace);
  return x;
}

/// Calls everything on the host that uses threads. Returns whether the results are right.
bool use_threads(const csr_matrix<double>& a, const solver<policy::host_parallel, double>& two_workers,
                 const std::vector<double>& expected) {
  std::array<bool, 2> called{};
  detail::for_each_taken(2, 2,
                         [&](std::int64_t k, std::size_t) { called[static_cast<std::size_t>(k)] = true; });
  auto factors = analyze_factors(policy::host_parallel{}, a);
  std::vector<double> x(static_cast<std::size_t>(a.rows), 1);
  factors.apply(x, x);
  incomplete_options options;
  options.fill_level = 1;
  auto ilu = analyze_incomplete_lu(a, options, host_stream{});
  return called[0] && called[1] && solution_of(two_workers) == expected &&
         solution_of(analyze(policy::host_parallel{}, a)) == expected &&
         solution_of(analyze(policy::host_parallel{8}, a)) == expected && ilu.info().entries > 0;
}

/// The alarm ends a child that hangs.
TEST(HostProcess, AChildWorksAloneAfterTheParentHasUsedThreads) {
  const csr_matrix<double> a = square_grid();
  const auto two_workers = analyze(policy::host_parallel{2}, a);
  const auto expected = solution_of(analyze(policy::host_parallel{1}, a));
  ASSERT_TRUE(use_threads(a, two_workers, expected));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(use_threads(a, two_workers, expected) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "the child was ended by signal " << WTERMSIG(status);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(use_threads(a, two_workers, expected)) << "the parent, after fork";
}

#ifdef _OPENMP

std::int64_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

/// Ends the program with the number of threads that everything on the host has started.
[[noreturn]] void use_threads_and_exit() {
  const std::int64_t before = threads_of_process();
  const csr_matrix<double> a = square_grid();
  const auto one_worker = analyze(policy::host_parallel{1}, a);
  const bool is_right = use_threads(a, analyze(policy::host_parallel{4}, a), solution_of(one_worker));
  _exit(is_right ? static_cast<int>(threads_of_process() - before) : 99);
}

/// Each number of threads in a process of its own, which begins with one thread.
TEST(HostProcess, StartsNoMoreThreadsThanOpenMPIsTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int threads : {1, 2, 3}) {
    EXPECT_EXIT(
        {
          omp_set_num_threads(threads);
          use_threads_and_exit();
        },
        ::testing::ExitedWithCode(threads - 1), "");
  }
}

TEST(HostProcess, StartsNoMoreThreadsThanTheEnvironmentAllows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* const name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    for (const char* const threads : {"1", "2"}) {
      const char* const given = std::getenv(name);
      const std::string before = given != nullptr ? given : "";
      setenv(name, threads, 1);
      EXPECT_EXIT(use_threads_and_exit(), ::testing::ExitedWithCode(threads[0] - '1'), "")
          << name << "=" << threads;
      given != nullptr ? setenv(name, before.c_str(), 1) : unsetenv(name);
    }
  }
}

#endif

}  // namespace
}  // namespace sptrsv::testing
