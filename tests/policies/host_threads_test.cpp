// Host policies and threads: any number of workers on any number of threads, and several solves at once.
#include <atomic>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "contract/contract_fixture.hpp"
#include "support/subjects/host.hpp"

namespace sptrsv::testing {

class host_threads : public on_target<case_types<host_target, double, std::int32_t, std::int32_t>> {};

TEST_F(host_threads, any_number_of_workers_gives_the_bits_of_host_serial) {
  for (const pattern& p : {patterns::stencil_2d(24, 24), patterns::chain(300), patterns::layers(400, 80, 5),
                           patterns::power_law(300, 2)}) {
    for (const form& f : covering_forms(p.entries.size())) {
      const auto a = make(p, f);
      const auto b = random_vector<double>(p.size, 1);
      auto serial =
          a.visit([&](const auto& m) { return sptrsv::analyze(policy::host_serial{}, m, f.options()); });
      const auto expected = solve(serial, b);
      expect_solved(a, f, p.name, b, expected);
      for (const int workers : {0, 1, 2, 3, 7, 64}) {
        auto solver = a.visit(
            [&](const auto& m) { return sptrsv::analyze(policy::host_parallel{workers}, m, f.options()); });
        for (int i = 0; i < 5; ++i) {
          const auto x = solve(solver, b);
          EXPECT_TRUE(same_bits(x, expected)) << p.name << ", " << f.name() << ", " << workers << " workers";
        }
      }
    }
  }
}

/// OpenMP may start fewer threads than workers: only one thread inside another parallel region.
TEST_F(host_threads, more_workers_than_threads) {
  const pattern p = patterns::stencil_2d(15, 16);
  const auto a = make(p, {});
  const auto b = random_vector<double>(p.size, 1);
  auto solver = sptrsv::analyze(policy::host_parallel{5}, a.by_rows);
  const auto expected = solve(solver, b);
  std::vector<std::vector<double>> x(2, poisoned<double>(b.size()));
  using workspace = decltype(solver.make_workspace());
  std::vector<workspace> workspaces;
  workspaces.push_back(solver.make_workspace());
  workspaces.push_back(solver.make_workspace());
#ifdef _OPENMP
  omp_set_max_active_levels(1);
#pragma omp parallel for num_threads(2)
#endif
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    solver.solve(b, x[at], 1.0, workspaces[at]);
  }
  EXPECT_TRUE(same_bits(x[0], expected));
  EXPECT_TRUE(same_bits(x[1], expected));
}

template <class Subject>
void solve_on_many_threads() {
  using this_case = suite_case<host_target, Subject, double, std::int32_t, std::int32_t>;
  struct suite : contract_of<this_case> {
    void TestBody() override {}
  } s;
  const pattern p = patterns::random(200, 5, 1);
  const form f{uplo::upper, diag::non_unit, op::none, false, content::general, true};
  const auto a = s.make(p, f);
  auto solver = s.analyze(a, f);
  const auto b = random_vector<double>(p.size, 1);
  const auto expected = s.solve(solver, b);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, workspace = solver.make_workspace()]() mutable {
      for (int i = 0; i < 50; ++i) {
        std::vector<double> x = poisoned<double>(b.size());
        solver.solve(b, x, 1.0, workspace);
        wrong += same_bits(x, expected) && solver.status(workspace).ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(host_threads, four_threads_solve_serially) { solve_on_many_threads<host_serial>(); }
TEST_F(host_threads, four_threads_solve_in_parallel) { solve_on_many_threads<host_parallel_3>(); }

}  // namespace sptrsv::testing
