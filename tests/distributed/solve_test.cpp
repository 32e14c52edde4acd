// Distributed solves in the emulator, for 1 to 8 PEs under adversarial schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distributed/emulated_pes.hpp"

namespace sptrsv::testing {
namespace {

using detail::distributed::plan_options;

template <class Value, class Tuning = small_tasks, class Team = emulator_team>
void check(int pes, const solve_run& run, const emulator::device_settings& settings, int sharing = 1) {
  emulated_pes_of<Team> devices(pes, settings, sharing);
  check_solves<Value, Tuning>(run, devices);
  for (int rank = 0; rank < pes; ++rank) {
    EXPECT_EQ(devices.at(rank).live_bytes(), 0u);
  }
}

std::vector<pattern> patterns_to_solve() {
  return {patterns::chain(20), factor_of_grid(5, 6), patterns::dense(29), patterns::random(40, 3, 2),
          patterns::arrow_row(30)};
}

TEST(DistributedSolve, SolvesEveryFormOnEveryNumberOfPes) {
  std::size_t rotation = 0;
  for (const int pes : {1, 2, 3, 4, 8}) {
    for (const plan_options& how : plans_for(pes)) {
      for (const pattern& p : patterns_to_solve()) {
        for (const form& f : covering_forms(rotation++)) {
          const int sharing = rotation % 2 == 0 ? 1 : 2;
          check<double>(pes, {p, f, how, {1, 3}}, hostile_settings(rotation, rotation % 3), sharing);
          ASSERT_FALSE(HasFailure()) << pes << " PEs, " << p.name;
        }
      }
    }
  }
}

/// Subtrees that a block solves in shared memory, beside supernodes that need those of other PEs.
TEST(DistributedSolve, ForestsEndWhereOtherPesBegin) {
  for (std::uint64_t i = 0; i < 12; ++i) {
    const int pes = static_cast<int>(2 + i % 3);
    for (const plan_options& how : plans_for(pes)) {
      check<double, small_forests_of_pes>(
          pes, {factor_of_grid(9, 10), covering_forms(i)[i % 4], how, {1, 2, 1}},
          hostile_settings(i, static_cast<std::uint32_t>(i % 4)), static_cast<int>(1 + i % 2));
      ASSERT_FALSE(HasFailure()) << "settings " << i;
    }
  }
}

/// Supernodes of other PEs stand between those of a subtree.
TEST(DistributedSolve, ForestsOfA3DFactorHaveNoGhosts) {
  for (const plan_options& how : plans_for(4)) {
    check<double, small_forests_of_pes>(4, {factor_of_grid(6, 6, 6), form{}, how, {1, 1}},
                                        hostile_settings(5, 0));
    ASSERT_FALSE(HasFailure());
  }
}

/// PEs run ahead of each other through solves with different numbers of right-hand sides.
TEST(DistributedSolve, SolvesFollowEachOtherUnderHostileSchedules) {
  for (std::uint64_t i = 0; i < 24; ++i) {
    for (const int pes : {2, 4}) {
      const plan_options how = plans_for(pes)[i % plans_for(pes).size()];
      const int sharing = static_cast<int>(1 + i / 3 % 2);
      check<double>(pes, {patterns::random(40, 3, 2), covering_forms(i)[0], how},
                    hostile_settings(i, static_cast<std::uint32_t>(i % 4)), sharing);
      check<std::complex<float>>(pes, {factor_of_grid(5, 6), covering_forms(i)[3], how},
                                 hostile_settings(i, static_cast<std::uint32_t>(i % 3)), sharing);
      ASSERT_FALSE(HasFailure()) << "settings " << i;
    }
  }
}

/// Single precision, and values of two words. The tests above have the other types.
TEST(DistributedSolve, OtherValueTypesSolve) {
  for (std::uint64_t i = 0; i < 6; ++i) {
    plan_options how = plans_for(3)[i % 3];
    how.sends = i % 2 == 0 ? pe_transport::direct : pe_transport::puts;
    check<float>(3, {factor_of_grid(5, 6), covering_forms(i)[0], how, {1, 3, 1}}, hostile_settings(i, 0));
    check<std::complex<double>>(3, {factor_of_grid(5, 6), covering_forms(i)[1], how, {1, 3, 1}},
                                hostile_settings(i, 0));
    ASSERT_FALSE(HasFailure()) << "settings " << i;
  }
}

/// Puts, fences and signals: to PEs whose memory is mapped, and between nodes of one and of two PEs.
TEST(DistributedSolve, PutsSolveEveryFormOnEveryNumberOfPes) {
  std::size_t rotation = 0;
  for (const int pes : {2, 3, 4, 8}) {
    for (plan_options how : plans_for(pes)) {
      for (const pattern& p : patterns_to_solve()) {
        const auto forms = covering_forms(rotation++);
        const int sharing = rotation % 2 == 0 ? 1 : 2;
        how.sends = pe_transport::automatic;
        check<double, small_tasks, emulator_team_of_nodes<1>>(
            pes, {p, forms[rotation % forms.size()], how, {1, 3}}, hostile_settings(rotation, rotation % 3),
            sharing);
        check<double, small_tasks, emulator_team_of_nodes<2>>(
            pes, {p, forms[(rotation + 1) % forms.size()], how, {1, 3}},
            hostile_settings(rotation, rotation % 3), sharing);
        how.sends = pe_transport::puts;
        check<double>(pes, {p, forms[(rotation + 2) % forms.size()], how, {1, 3}},
                      hostile_settings(rotation, rotation % 3), sharing);
        ASSERT_FALSE(HasFailure()) << pes << " PEs, " << p.name;
      }
    }
  }
}

/// Mailboxes and signals are used again by solves with other numbers of right-hand sides.
TEST(DistributedSolve, SolvesWithPutsFollowEachOtherUnderHostileSchedules) {
  for (std::uint64_t i = 0; i < 16; ++i) {
    for (const int pes : {2, 4}) {
      plan_options how = plans_for(pes)[i % plans_for(pes).size()];
      how.sends = i % 2 == 0 ? pe_transport::puts : pe_transport::automatic;
      const int sharing = static_cast<int>(1 + i / 3 % 2);
      check<double, small_tasks, emulator_team_of_nodes<1>>(
          pes, {patterns::random(40, 3, 2), covering_forms(i)[0], how},
          hostile_settings(i, static_cast<std::uint32_t>(i % 4)), sharing);
      how.sends = pe_transport::puts;
      check<std::complex<float>, small_forests_of_pes>(
          pes, {factor_of_grid(9, 10), covering_forms(i)[3], how},
          hostile_settings(i, static_cast<std::uint32_t>(i % 3)), sharing);
      ASSERT_FALSE(HasFailure()) << "settings " << i;
    }
  }
}

/// As in the paper, blocks that do nothing else wait for the messages.
TEST(DistributedSolve, WaitingBlocksHandMessagesOver) {
  for (std::uint64_t i = 0; i < 12; ++i) {
    for (const int pes : {2, 4}) {
      plan_options how = plans_for(pes)[i % plans_for(pes).size()];
      how.sends = pe_transport::waiting_blocks;
      auto settings = hostile_settings(i, 0);
      settings.resident_blocks = 0;
      settings.occupancy = 1000;
      check<double, small_tasks, emulator_team_of_nodes<1>>(
          pes, {patterns::random(40, 3, 2), covering_forms(i)[0], how}, settings);
      check<double, small_forests_of_pes>(
          pes, {factor_of_grid(9, 10), covering_forms(i)[1], how, {1, 2, 1, 1}}, settings);
      ASSERT_FALSE(HasFailure()) << "settings " << i;
    }
  }
}

struct unmerged_tasks : small_tasks {
  static constexpr double max_padding = 0;
  static constexpr double max_narrow_padding = 0;
};

/// PE 0 solves rows 0 and 1 and waits for nobody; PE 1 needs its contribution to row 2. So PE 0 runs ahead as
/// far as it may.
TEST(DistributedSolve, APeThatWaitsForNobodyDoesNotOvertakeTheOthers) {
  const pattern p = patterns::where("one_way", 8, [](auto i, auto j) { return i <= 2 || j >= 2; });
  for (std::uint64_t i = 0; i < 24; ++i) {
    check<double, unmerged_tasks>(
        2, {p, form{}, {2, supernode_dealing::cyclic, test_growth}, {1, 1, 1, 2, 1, 1, 1, 1, 1, 1}},
        hostile_settings(i, 0));
    ASSERT_FALSE(HasFailure()) << "settings " << i;
  }
}

/// A device with room for fewer blocks of a kernel the more shared memory it declares.
class uneven_executor : public emulator::executor {
 public:
  /// `most`: gets the largest number of blocks of a solve. `fewest`: gets the smallest result of
  /// resident_blocks.
  uneven_executor(const emulator::executor& on, std::uint32_t& most, std::uint32_t& fewest)
      : executor(on), most_(&most), fewest_(&fewest) {}

  template <class Agent>
  [[nodiscard]] std::uint32_t resident_blocks(std::size_t /*bytes*/) const {
    const auto blocks = static_cast<std::uint32_t>(32768 / sizeof(typename Agent::shared_storage));
    *fewest_ = std::min(*fewest_, blocks);
    return blocks;
  }
  template <class Agent>
  void launch_together(std::uint32_t blocks, const typename Agent::params& params, std::size_t bytes) const {
    *most_ = std::max(*most_, blocks);
    executor::launch_together<Agent>(blocks, params, bytes);
  }

 private:
  std::uint32_t* most_;
  std::uint32_t* fewest_;
};

/// A PE may solve for several right-hand sides while another one is ahead, with one: then the blocks of both
/// kernels are on the device.
TEST(DistributedSolve, PesThatShareADeviceLeaveRoomForTheLargestBlocks) {
  constexpr int pes = 4;
  const auto a = make_matrix<double>(factor_of_grid(9, 10), form{}).by_rows;
  const auto b = random_vector<double>(a.rows, 1);
  std::vector<double> x(b.size());
  std::vector<std::uint32_t> most(pes, 0);
  std::vector<std::uint32_t> fewest(pes, ~std::uint32_t{0});
  emulated_pes devices(pes, {}, pes);
  devices.run([&](emulator_team& team, const emulator::executor& on) {
    const auto pe = static_cast<std::size_t>(team.rank());
    const uneven_executor counting(on, most[pe], fewest[pe]);
    pe_solver<small_tasks, double, emulator_team, uneven_executor> solver(
        slice(a, team.rank(), pes), a.rows, form{}.options(3), plans_for(pes)[0], team, counting);
    auto own = solver.upload(b, a.rows, 1);
    solver.enqueue(own, own, 1, 1);
    detail::distributed::gather(team, std::vector<char>{});
    solver.take(own, a.rows, 1, x);
    EXPECT_GT(most[pe], 0u);
    EXPECT_LE(most[pe], fewest[pe] / pes);
  });
}

/// The limit is that of the memory resource; inboxes are memory of the team.
TEST(DistributedSolve, FourPesSolveWhatIsTooLargeForOne) {
  check_memory_limit(factor_of_grid(9, 9, 9), [](int pes) { return std::make_unique<emulated_pes>(pes); });
}

}  // namespace
}  // namespace sptrsv::testing
