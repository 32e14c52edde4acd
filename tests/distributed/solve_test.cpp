// Distributed solves in the emulator, for 1 to 8 PEs under adversarial schedules.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "distributed/distributed_solve.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::testing {
namespace {

using detail::distributed::pe_grid;
using detail::distributed::plan_options;

/// A run of several solves, enqueued one after the other without waiting in between.
struct solve_run {
  pattern p;
  form f;
  int pes = 2;
  plan_options how{{2, 1}};
  std::vector<std::int64_t> columns{1, 3, 2, 1, 1, 3};
};

template <class Value>
void check(const solve_run& run, const emulator::device_settings& settings) {
  form by_rows = run.f;
  by_rows.by_columns = false;
  const auto a = make_matrix<Value>(run.p, by_rows).by_rows;
  const auto size = run.p.size;
  std::vector<std::vector<Value>> b, x;
  std::vector<std::vector<buffer<Value>>> kept(static_cast<std::size_t>(run.pes));
  for (std::size_t k = 0; k < run.columns.size(); ++k) {
    b.push_back(random_vector<Value>(size * run.columns[k], k));
    x.push_back(poisoned<Value>(b.back().size()));
  }
  const auto alpha = make_value<Value>(1.5);
  emulator::cluster devices(run.pes, settings);
  team_mail mail(static_cast<std::size_t>(run.pes));
  devices.run([&](int rank) {
    emulator_team team(devices, rank, mail);
    pe_solver<Value> solver(slice(a, rank, run.pes), size, run.f.options(3), run.how, team, devices.at(rank));
    std::vector<buffer<Value>> from, to;
    for (std::size_t k = 0; k < b.size(); ++k) {
      from.push_back(solver.upload(b[k], size, run.columns[k]));
      to.push_back(solver.upload(x[k], size, run.columns[k]));
    }
    for (std::size_t k = 0; k < b.size(); ++k) {
      solver.enqueue(from[k], k % 2 == 0 ? to[k] : from[k], run.columns[k], alpha);
    }
    for (std::size_t k = 0; k < b.size(); ++k) {
      solver.take(k % 2 == 0 ? to[k] : from[k], size, run.columns[k], x[k]);
    }
    EXPECT_TRUE(solver.get().status(solver.on()).ok());
  });
  for (std::size_t k = 0; k < b.size(); ++k) {
    const dense_view<const Value> from(b[k].data(), size, run.columns[k], 1, size);
    const dense_view<const Value> to(x[k].data(), size, run.columns[k], 1, size);
    const auto error = backward_error(a, run.f.options(3), from, to, alpha);
    EXPECT_TRUE(error.error <= error.bound)
        << run.p.name << ", " << run.f.name() << ", " << run.pes << " PEs, solve " << k << ": " << error.error
        << " exceeds " << error.bound;
  }
  for (int rank = 0; rank < run.pes; ++rank) {
    EXPECT_EQ(devices.at(rank).live_bytes(), 0u);
  }
}

std::vector<plan_options> plans_for(int pes) {
  std::vector<plan_options> plans{{{pes, 1}, 32, 8}, {{1, pes}, 4, 0, 3}};
  if (pes % 2 == 0) {
    plans.push_back({{2, pes / 2}, 3, 1});
  }
  return plans;
}

std::vector<pattern> patterns_to_solve() {
  return {patterns::chain(20), patterns::stencil_2d(5, 6), patterns::dense(23), patterns::random(40, 3, 2),
          patterns::arrow_row(30)};
}

TEST(DistributedSolve, SolvesEveryFormOnEveryNumberOfPes) {
  std::size_t rotation = 0;
  for (const int pes : {1, 2, 3, 4, 8}) {
    for (const plan_options& how : plans_for(pes)) {
      for (const pattern& p : patterns_to_solve()) {
        for (const form& f : covering_forms(rotation++)) {
          check<double>({p, f, pes, how, {1, 2}}, hostile_settings(rotation, rotation % 3));
          ASSERT_FALSE(HasFailure());
        }
      }
    }
  }
}

/// PEs run ahead of each other through solves with different numbers of right-hand sides.
TEST(DistributedSolve, SolvesFollowEachOtherUnderHostileSchedules) {
  for (std::uint64_t i = 0; i < 24; ++i) {
    for (const int pes : {2, 4}) {
      const plan_options how = plans_for(pes)[i % plans_for(pes).size()];
      check<double>({patterns::random(40, 3, 2), covering_forms(i)[0], pes, how},
                    hostile_settings(i, static_cast<std::uint32_t>(i % 4)));
      check<std::complex<float>>({patterns::stencil_2d(5, 6), covering_forms(i)[3], pes, how},
                                 hostile_settings(i, static_cast<std::uint32_t>(i % 3)));
      ASSERT_FALSE(HasFailure()) << "settings " << i;
    }
  }
}

/// PE 0 solves row 0 and waits for nobody; PE 1 needs its x. So PE 0 runs ahead as far as it may.
TEST(DistributedSolve, APeThatWaitsForNobodyDoesNotOvertakeTheOthers) {
  const pattern p{"one_way", 4, {{1, 0}, {2, 1}, {3, 1}, {3, 2}}};
  for (std::uint64_t i = 0; i < 24; ++i) {
    check<double>({p, form{}, 2, {{2, 1}}, {1, 1, 1, 2, 1, 1, 1, 1, 1, 1}}, hostile_settings(i, 0));
    ASSERT_FALSE(HasFailure()) << "settings " << i;
  }
}

}  // namespace
}  // namespace sptrsv::testing
