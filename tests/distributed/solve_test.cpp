// Distributed solves in the emulator, for 1 to 8 PEs under adversarial schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "distributed/emulated_pes.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {
namespace {

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
  for (std::uint64_t i = 0; i < trials(12); ++i) {
    const int pes = static_cast<int>(2 + i % 3);
    for (const plan_options& how : plans_for(pes)) {
      check<double, small_forests_of_pes>(pes,
                                          {factor_of_grid(9, 10), covering_forms(i)[i % 4], how, {1, 2, 1}},
                                          hostile_settings(i, i % 4), static_cast<int>(1 + i % 2));
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
  for (std::uint64_t i = 0; i < trials(24); ++i) {
    for (const int pes : {2, 4}) {
      const plan_options how = plans_for(pes)[i % plans_for(pes).size()];
      const int sharing = static_cast<int>(1 + i / 3 % 2);
      check<double>(pes, {patterns::random(40, 3, 2), covering_forms(i)[0], how}, hostile_settings(i, i % 4),
                    sharing);
      check<std::complex<float>>(pes, {factor_of_grid(5, 6), covering_forms(i)[3], how},
                                 hostile_settings(i, i % 3), sharing);
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
  for (std::uint64_t i = 0; i < trials(16); ++i) {
    for (const int pes : {2, 4}) {
      plan_options how = plans_for(pes)[i % plans_for(pes).size()];
      how.sends = i % 2 == 0 ? pe_transport::puts : pe_transport::automatic;
      const int sharing = static_cast<int>(1 + i / 3 % 2);
      check<double, small_tasks, emulator_team_of_nodes<1>>(
          pes, {patterns::random(40, 3, 2), covering_forms(i)[0], how}, hostile_settings(i, i % 4), sharing);
      how.sends = pe_transport::puts;
      check<std::complex<float>, small_forests_of_pes>(
          pes, {factor_of_grid(9, 10), covering_forms(i)[3], how}, hostile_settings(i, i % 3), sharing);
      ASSERT_FALSE(HasFailure()) << "settings " << i;
    }
  }
}

/// As in the paper, blocks that do nothing else wait for the messages.
TEST(DistributedSolve, WaitingBlocksHandMessagesOver) {
  for (std::uint64_t i = 0; i < trials(12); ++i) {
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

/// Binary trees in which PEs pass sums and x on, and add the partial sums of others.
TEST(DistributedSolve, ValuesGoAlongBinaryTrees) {
  form backward;
  backward.operation = op::transpose;
  std::uint64_t i = 0;
  for (const int pes : {5, 8}) {
    for (const int rows : {1, 2, pes}) {
      for (const form& f : {form{}, backward}) {
        ++i;
        plan_options how{pes, pes % rows == 0 ? supernode_dealing::grid : supernode_dealing::cyclic,
                         test_growth};
        how.grid_rows = rows;
        how.tree = pe_tree::binary;
        how.sends = i % 3 == 0   ? pe_transport::direct
                    : i % 3 == 1 ? pe_transport::puts
                                 : pe_transport::waiting_blocks;
        auto settings = hostile_settings(i, i % 4);
        if (how.sends == pe_transport::waiting_blocks) {
          settings.resident_blocks = 0;
          settings.occupancy = 1000;
        }
        check<double>(pes, {patterns::dense(100), f, how, {1, 2, 1, 1}}, settings);
        how.sends = pe_transport::direct;
        check<double, small_forests_of_pes>(pes, {factor_of_grid(9, 10), f, how, {1, 2}},
                                            hostile_settings(i, 1), 2);
        ASSERT_FALSE(HasFailure()) << pes << " PEs, " << rows << " rows";
      }
    }
  }
}

/// Returns the solution for one right-hand side.
std::vector<double> solve_once(const csr_matrix<double>& a, const form& f, const plan_options& how,
                               const std::vector<double>& b, const emulator::device_settings& settings) {
  std::vector<double> x(b.size());
  emulated_pes devices(how.pes, settings);
  devices.run([&](emulator_team& team, const emulator::executor& on) {
    pe_solver<small_tasks, double, emulator_team, emulator::executor> solver(
        slice(a, team.rank(), how.pes), a.rows, f.options(1), how, team, on);
    auto own = solver.upload(b, a.rows, 1);
    solver.enqueue(own, own, 1, 1);
    detail::distributed::gather(team, std::vector<char>{});
    solver.take(own, a.rows, 1, x);
  });
  return x;
}

/// Sums and partial sums are added in a fixed order.
TEST(DistributedSolve, BitsDoNotDependOnTheSchedule) {
  form backward;
  backward.operation = op::transpose;
  for (const form& f : {form{}, backward}) {
    const auto a = make_matrix<double>(factor_of_grid(9, 10), f).by_rows;
    const auto b = random_vector<double>(a.rows, 1);
    for (const plan_options& how : plans_for(4)) {
      const auto x = solve_once(a, f, how, b, {});
      EXPECT_EQ(solve_once(a, f, how, b, hostile_settings(1, 0)), x);
      EXPECT_EQ(solve_once(a, f, how, b, hostile_settings(2, 1)), x);
    }
  }
}

/// A value that is not finite reaches the components that depend on it, and no others: also where the rows of
/// a supernode are divided among PEs. Two children that are merged with their parent do not depend on each
/// other; their columns are cut into four supernodes.
TEST(DistributedSolve, WhatDependsOnNonFiniteValuesIsNotFinite) {
  const pattern p =
      patterns::where("two_children", 40, [](auto i, auto j) { return i >= 36 || (i < 12) == (j < 12); });
  form backward;
  backward.operation = op::transpose;
  for (const form& f : {form{}, backward}) {
    const auto a = make_matrix<double>(p, f).by_rows;
    const auto size = static_cast<std::size_t>(a.rows);
    for (const plan_options& how : plans_for(4)) {
      for (std::size_t first = 0; first < size; first += 7) {
        std::vector<double> b(size, 1);
        b[first] = std::numeric_limits<double>::infinity();
        const auto x = solve_once(a, f, how, b, hostile_settings(first, 0));
        std::vector<bool> is_finite(size, true);
        is_finite[first] = false;
        for (std::size_t n = 0; n < size; ++n) {
          const std::size_t i = f.operation == op::none ? n : size - 1 - n;
          for (auto e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
            const auto j = static_cast<std::size_t>(a.column_indices[static_cast<std::size_t>(e)]);
            if (f.operation == op::none) {
              is_finite[i] = is_finite[i] && is_finite[j];
            } else {
              is_finite[j] = is_finite[j] && is_finite[i];
            }
          }
        }
        for (std::size_t i = 0; i < size; ++i) {
          EXPECT_EQ(std::isfinite(x[i]), is_finite[i]) << "b " << first << ", x " << i;
        }
      }
      ASSERT_FALSE(HasFailure());
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
  for (std::uint64_t i = 0; i < trials(24); ++i) {
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
