// A PE fails: the kernels of the others end, and no call returns a solution as if it were right.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <vector>

#include "distributed/emulated_pes.hpp"
#include "sptrsv/distributed.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {
namespace {

constexpr int solves = 4;  ///< one more than there are inboxes

/// Solves in which a PE fails.
struct failing_run {
  pattern p;
  form f;
  plan_options how;
  int pes;
  std::int64_t columns = 1;
};

/// How a PE fails.
struct failure {
  int pe;
  std::int64_t sends;  ///< what it sends after so many messages is lost
  std::uint64_t step;  ///< of the launches, after which all PEs are told; else when none can go on
};

/// Enqueues solves, waits for them, and returns whether status() has found a failure. `x`: gets the own rows.
template <class Value, class Team>
bool finds_failure(Team& team, const emulator::executor& on, const failing_run& run,
                   const csr_matrix<Value, std::int32_t, std::int32_t>& a, const std::vector<Value>& b,
                   std::vector<Value>& x) {
  try {
    pe_solver<small_tasks, Value, Team, emulator::executor> solver(
        slice(a, team.rank(), team.size()), a.rows, run.f.options(run.columns), run.how, team, on);
    const auto from = solver.upload(b, a.rows, run.columns);
    auto to = solver.upload(b, a.rows, run.columns);
    for (int k = 0; k < solves; ++k) {
      solver.enqueue(from, to, run.columns, Value(1));
    }
    detail::distributed::gather(team, std::vector<char>{});
    on.synchronize();
    solver.take(to, a.rows, run.columns, x);
    EXPECT_TRUE(solver.get().status(on).ok());
    return false;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::peer_failed) << e.what();
    return true;
  }
}

/// Returns how many PEs have found the failure. Those that have not must have the right solution.
template <class Value, class Team>
int count_found(const failing_run& run, const failure& how, std::uint64_t seed) {
  form by_rows = run.f;
  by_rows.by_columns = false;
  const auto a = make_matrix<Value>(run.p, by_rows).by_rows;
  const auto b = random_vector<Value>(a.rows * run.columns, 7);
  std::vector<Value> right(b.size());
  emulated_pes_of<Team> whole(run.pes);
  whole.run([&](auto& team, const auto& on) {
    EXPECT_FALSE((finds_failure<Value, Team>(team, on, run, a, b, right)));
  });
  emulator::device_settings settings =
      hostile_settings(seed, run.how.sends == pe_transport::waiting_blocks ? 0 : seed % 3);
  settings.wake_rounds = 600;  // polls that look at the words are far apart
  emulated_pes_of<Team>* all = nullptr;
  settings.host_thread = [&] { all->fail(how.pe); };
  settings.host_thread_step = how.step;
  emulated_pes_of<Team> devices(run.pes, settings);
  all = &devices;
  std::atomic<int> found{0};
  devices.at(how.pe).sends_before_failure = how.sends;
  std::vector<Value> x(b.size());
  devices.run([&](auto& team, const auto& on) {
    if (finds_failure<Value, Team>(team, on, run, a, b, x)) {
      ++found;
      return;
    }
    const auto [begin, end] = share_of(a.rows, team.rank(), run.pes);
    for (std::int64_t c = 0; c < run.columns; ++c) {
      EXPECT_TRUE(std::equal(x.begin() + c * a.rows + begin, x.begin() + c * a.rows + end,
                             right.begin() + c * a.rows + begin))
          << "PE " << team.rank() << " takes a wrong solution for right";
    }
  });
  return found;
}

constexpr std::uint64_t never = ~std::uint64_t{0};

/// A PE stops at each of its sends in turn, or at every `stride`th one.
template <class Value, class Team>
void stop_at_each_send(const failing_run& run, std::int64_t stride = 1) {
  for (int pe = 0; pe < run.pes; ++pe) {
    std::int64_t sends = 0;
    for (int found = run.pes; found > 0; sends += stride) {
      found = count_found<Value, Team>(run, {pe, sends, never}, static_cast<std::uint64_t>(sends));
      ASSERT_FALSE(::testing::Test::HasFailure()) << "PE " << pe << " stops after " << sends << " sends";
      ASSERT_LT(sends, 10'000);
    }
    EXPECT_GT(sends, solves);
  }
}

TEST(DistributedFailure, APeThatStopsAtAnyOfItsSendsEndsTheOthers) {
  stop_at_each_send<double, emulator_team>({patterns::chain(12), form{}, plans_for(2)[0], 2});
}

TEST(DistributedFailure, APeWithPutsThatStopsAtAnyOfItsSendsEndsTheOthers) {
  plan_options how = plans_for(2)[0];
  for (const pe_transport sends : {pe_transport::automatic, pe_transport::waiting_blocks}) {
    how.sends = sends;
    stop_at_each_send<double, emulator_team_of_nodes<1>>({patterns::chain(9), form{}, how, 2});
  }
}

TEST(DistributedFailure, OneOfThreePesEndsTheOthersInEachDirection) {
  form transposed;
  transposed.operation = op::transpose;
  for (const form& f : {form{}, transposed}) {
    for (const plan_options& how : plans_for(3)) {
      stop_at_each_send<double, emulator_team>({factor_of_grid(5, 6), f, how, 3}, 41);
      stop_at_each_send<std::complex<float>, emulator_team>({factor_of_grid(5, 6), f, how, 3, 2}, 97);
    }
  }
}

/// The host says so while blocks start and tasks are shared, at any step of the launches.
TEST(DistributedFailure, PesAreToldAtAnyTime) {
  form transposed;
  transposed.operation = op::transpose;
  random_source random(5);
  for (std::uint64_t i = 0; i < trials(60); ++i) {
    const int pes = static_cast<int>(2 + i % 2);
    const failing_run run{i % 4 < 3 ? patterns::dense(50) : factor_of_grid(5, 6),
                          i % 2 == 0 ? form{} : transposed, plans_for(pes)[i % plans_for(pes).size()], pes};
    const failure how{static_cast<int>(i) % pes, random.below(400),
                      static_cast<std::uint64_t>(random.below(20000))};
    count_found<double, emulator_team>(run, how, i);
    ASSERT_FALSE(HasFailure()) << "run " << i;
  }
}

/// A PE whose solve cannot be enqueued ends the others.
TEST(DistributedFailure, APeThatCannotEnqueueASolveEndsTheOthers) {
  const auto a = make_matrix<double>(factor_of_grid(5, 6), form{}).by_rows;
  emulator::device_settings settings;
  settings.wake_rounds = 600;
  emulated_pes devices(2, settings);
  devices.run([&](auto& team, const auto& on) {
    const auto part = slice(a, team.rank(), 2);
    auto solver = analyze(policy::distributed{2},
                          row_part<double>{part.first, part.rows, a.rows, part.offsets.data(),
                                           part.columns.data(), part.values.data()},
                          {}, team, &devices.at(team.rank()));
    std::vector<double> ones(static_cast<std::size_t>(part.rows), 1);
    buffer<double> b(ones.size(), on.default_resource(), nullptr);
    on.upload(b.data(), ones.data(), b.bytes());
    const dense_view<double> rows{b.data(), part.rows, 1, 1, part.rows};
    devices.at(team.rank()).calls_before_failure = team.rank() == 1 ? 0 : -1;
    if (team.rank() == 1) {
      EXPECT_THROW(solver.solve(rows, rows, 1.0, &devices.at(1)), error);
    } else {
      solver.solve(rows, rows, 1.0, &devices.at(0));
      on.synchronize();  // the kernel of PE 0 waits for that of PE 1
    }
    EXPECT_THROW(static_cast<void>(solver.status(&devices.at(team.rank()))),
                 detail::distributed::pe_has_left);
  });
}

}  // namespace
}  // namespace sptrsv::testing
