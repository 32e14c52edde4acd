// A PE fails: the kernels of the others end, and no call returns a solution as if it were right.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "distributed/emulated_pes.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {
namespace {

constexpr int solves = 4;  ///< one more than there are inboxes

/// What a PE has got: the solution of its rows, and what status() has thrown.
struct outcome {
  bool has_failed = false;
  std::vector<double> x;
};

/// Enqueues solves and waits for them.
template <class Team>
outcome solve_on(Team& team, const emulator::executor& on, const csr_matrix<double>& a,
                 const std::vector<double>& b, const plan_options& how) {
  pe_solver<small_tasks, double, Team, emulator::executor> solver(slice(a, team.rank(), team.size()), a.rows,
                                                                  {}, how, team, on);
  const auto from = solver.upload(b, a.rows, 1);
  auto to = solver.upload(b, a.rows, 1);
  for (int k = 0; k < solves; ++k) {
    solver.enqueue(from, to, 1, 1);
  }
  outcome found;
  found.x.resize(b.size());
  detail::distributed::gather(team, std::vector<char>{});
  on.synchronize();
  solver.take(to, a.rows, 1, found.x);
  try {
    EXPECT_TRUE(solver.get().status(on).ok());
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io_error) << e.what();
    found.has_failed = true;
  } catch (const emulator::launch_failure&) {  // another PE has thrown, and does not come
    found.has_failed = true;
  }
  return found;
}

/// Lets what PE `failing` sends after its first `sends` messages be lost, and tells all PEs that it has
/// failed when none can go on. Returns how many PEs have found that.
template <class Team>
int count_failed(const pattern& p, const plan_options& how, int pes, int failing, std::int64_t sends,
                 std::uint64_t seed) {
  const bool needs_room = how.sends == pe_transport::waiting_blocks;
  emulator::device_settings settings = hostile_settings(seed, needs_room ? 0 : seed % 3);
  settings.wake_rounds = 600;  // polls that look at the word are far apart
  std::vector<std::atomic<const std::uint32_t*>> words(static_cast<std::size_t>(pes));
  settings.when_stalled = [&] {
    for (int pe = 0; pe < pes; ++pe) {
      Team::say_failed(words[static_cast<std::size_t>(pe)]);
    }
  };
  emulated_pes_of<Team> devices(pes, settings);
  const auto a = make_matrix<double>(p, form{}).by_rows;
  const auto b = random_vector<double>(a.rows, 7);
  const std::vector<double> right = [&] {
    std::vector<double> x(b.size());
    emulated_pes_of<Team> whole(pes);
    whole.run([&](auto& team, const auto& on) {
      const auto found = solve_on(team, on, a, b, how);
      const auto [begin, end] = share_of(a.rows, team.rank(), pes);
      std::copy(found.x.begin() + begin, found.x.begin() + end, x.begin() + begin);
    });
    return x;
  }();
  std::atomic<int> failed{0};
  devices.at(failing).sends_before_failure = sends;
  devices.run([&](auto& team, const auto& on) {
    words[static_cast<std::size_t>(team.rank())] = team.failure_word();
    const auto found = solve_on(team, on, a, b, how);
    if (found.has_failed) {
      ++failed;
      return;
    }
    const auto [begin, end] = share_of(a.rows, team.rank(), pes);
    EXPECT_TRUE(std::equal(found.x.begin() + begin, found.x.begin() + end, right.begin() + begin))
        << "PE " << team.rank() << " takes a wrong solution for right";
  });
  return failed;
}

/// A PE stops at each of its sends in turn, or at every `step`th one.
template <class Team>
void stop_at_each_send(const pattern& p, const plan_options& how, int pes, std::int64_t step = 1) {
  for (int failing = 0; failing < pes; ++failing) {
    std::int64_t sends = 0;
    for (int failed = pes; failed > 0; sends += step) {
      failed = count_failed<Team>(p, how, pes, failing, sends, static_cast<std::uint64_t>(sends));
      ASSERT_FALSE(::testing::Test::HasFailure()) << "PE " << failing << " stops after " << sends << " sends";
      ASSERT_LT(sends, 10'000);
    }
    EXPECT_GT(sends, solves);
  }
}

TEST(DistributedFailure, APeThatStopsAtAnyOfItsSendsEndsTheOthers) {
  stop_at_each_send<emulator_team>(patterns::chain(12), plans_for(2)[0], 2);
}

TEST(DistributedFailure, APeWithPutsThatStopsAtAnyOfItsSendsEndsTheOthers) {
  plan_options how = plans_for(2)[0];
  for (const pe_transport sends : {pe_transport::automatic, pe_transport::waiting_blocks}) {
    how.sends = sends;
    stop_at_each_send<emulator_team_of_nodes<1>>(patterns::chain(9), how, 2);
  }
}

TEST(DistributedFailure, OneOfThreePesEndsTheOthers) {
  for (const plan_options& how : plans_for(3)) {
    stop_at_each_send<emulator_team>(factor_of_grid(5, 6), how, 3, 17);
  }
}

}  // namespace
}  // namespace sptrsv::testing
