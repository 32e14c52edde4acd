// The plan of a distributed solve: supernodes, owners, messages, and the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distributed/emulated_pes.hpp"

namespace sptrsv::testing {
namespace {

using namespace detail::distributed;

using emulated_solver = pe_solver<small_tasks, double, emulator_team, emulator::executor>;

/// What the PEs have planned.
struct planned {
  structure<std::int32_t> whole;
  ownership owners;
  std::vector<local_structure<std::int32_t>> local;
  std::vector<message_plan<std::int32_t>> messages;
};

planned plan_of(const pattern& p, int pes, const plan_options& how, const form& f = {}) {
  const auto a = make_matrix<double>(p, f).by_rows;
  planned made;
  made.local.resize(static_cast<std::size_t>(pes));
  made.messages.resize(static_cast<std::size_t>(pes));
  emulated_pes devices(pes);
  devices.run([&](emulator_team& team, const emulator::executor& on) {
    const int rank = team.rank();
    emulated_solver solver(slice(a, rank, pes), p.size, f.options(1), how, team, on);
    made.local[static_cast<std::size_t>(rank)] = solver.get().local();
    made.messages[static_cast<std::size_t>(rank)] = solver.get().messages();
    if (rank == 0) {
      made.whole = solver.get().whole();
      made.owners = solver.get().owners();
    }
  });
  return made;
}

/// The supernodes do not depend on the number of PEs, nor on who has handed in which rows.
TEST(DistributedPlan, SupernodesAreTheSameOnAnyNumberOfPes) {
  for (const pattern& p : {factor_of_grid(7, 8), patterns::dense(29), patterns::random(60, 4, 3)}) {
    const planned one = plan_of(p, 1, {1, supernode_dealing::cyclic});
    for (const int pes : {2, 3, 5}) {
      const planned several = plan_of(p, pes, {pes, supernode_dealing::cyclic});
      EXPECT_EQ(one.whole.tree.first, several.whole.tree.first) << p.name;
      EXPECT_EQ(one.whole.tree.is_nested, several.whole.tree.is_nested);
      EXPECT_EQ(one.whole.rows, several.whole.rows);
    }
  }
}

TEST(DistributedPlan, BothTrianglesOfAFactorHaveItsSupernodes) {
  const pattern p = factor_of_grid(7, 8);
  const planned lower = plan_of(p, 2, {2, supernode_dealing::subtrees});
  form f;
  f.operation = op::transpose;
  const planned transposed = plan_of(p, 2, {2, supernode_dealing::subtrees}, f);
  EXPECT_TRUE(lower.whole.tree.is_nested);
  EXPECT_FALSE(lower.whole.backward);
  EXPECT_TRUE(transposed.whole.backward);
  EXPECT_EQ(lower.whole.tree.first, transposed.whole.tree.first);
}

TEST(DistributedPlan, EveryColumnHasOneSolver) {
  const pattern p = factor_of_grid(9, 10);
  for (const plan_options& how : plans_for(4)) {
    const planned made = plan_of(p, 4, how);
    std::vector<int> solvers(static_cast<std::size_t>(p.size), 0);
    for (const auto& local : made.local) {
      for (std::int64_t s = 0; s < local.tree.count(); ++s) {
        for (std::int64_t j = local.tree.first[static_cast<std::size_t>(s)];
             j < local.tree.first[static_cast<std::size_t>(s) + 1] && !local.is_ghost(s) &&
             local.is_part[static_cast<std::size_t>(s)] == 0;
             ++j) {
          ++solvers[static_cast<std::size_t>(local.columns[static_cast<std::size_t>(j)])];
        }
      }
    }
    EXPECT_EQ(solvers, std::vector<int>(solvers.size(), 1));
  }
}

/// What one PE sends another one receives, each value at an index that nothing else is sent to.
TEST(DistributedPlan, EveryMessageHasAnIndexOfItsOwn) {
  form backward;
  backward.operation = op::transpose;
  for (const form& f : {form{}, backward}) {
    for (const plan_options& how : plans_for(4)) {
      const planned made = plan_of(factor_of_grid(9, 10), 4, how, f);
      std::multiset<std::pair<int, std::int64_t>> sent;
      std::multiset<std::pair<int, std::int64_t>> received;
      for (int rank = 0; rank < 4; ++rank) {
        const auto& messages = made.messages[static_cast<std::size_t>(rank)];
        for (const message& m : messages.messages) {
          sent.insert({m.pe, m.index});
        }
        for (const guest& g : messages.guests) {
          if (g.x.index >= 0) {
            sent.insert({g.x.pe, g.x.index});
          }
        }
        for (const sent_row& row : messages.sent_rows) {
          sent.insert({row.to.pe, row.to.index});
        }
        for (const std::int64_t index : messages.received) {
          EXPECT_LT(index, messages.values);
          received.insert({rank, index});
        }
      }
      EXPECT_EQ(sent, received);
      EXPECT_GT(sent.size(), 0u);
      EXPECT_EQ(std::set(sent.begin(), sent.end()).size(), sent.size());
    }
  }
}

/// Below the supernodes that are dealt one by one, no value goes to another PE.
TEST(DistributedPlan, SubtreesStayOnOnePe) {
  const planned made = plan_of(factor_of_grid(16, 16), 2, {2, supernode_dealing::subtrees});
  std::int64_t crossings = 0;
  for (std::int64_t s = 0; s < made.whole.tree.count(); ++s) {
    if (made.whole.tree.rows(s) > 0 &&
        made.owners.panels.solver[static_cast<std::size_t>(s)] !=
            made.owners.panels.solver[static_cast<std::size_t>(made.whole.parent(s))]) {
      ++crossings;
    }
  }
  EXPECT_GE(crossings, 1);
  EXPECT_LE(crossings, 8);
  EXPECT_GT(made.whole.tree.count(), 20);
}

TEST(DistributedPlan, TheModelChoosesTheNumberOfPes) {
  // A chain gains nothing from a second PE; subtrees of many bytes do.
  EXPECT_EQ(plan_of(patterns::chain(64), 4, {}).owners.pes, 1);
  plan_options how;
  how.costs.bytes_per_ns = 0.01;
  const planned wide = plan_of(factor_of_grid(12, 12), 4, how);
  EXPECT_GT(wide.owners.pes, 1);
}

TEST(DistributedPlan, PredictionsFollowTheCosts) {
  const auto predicted = [](const machine_costs& costs, int pes) {
    plan_options how{pes, supernode_dealing::subtrees, 1000, costs};
    return plan_of(factor_of_grid(12, 12), 4, how).owners.predicted;
  };
  const predicted_solve base = predicted({400, 2000, 4}, 2);
  EXPECT_GT(base.crossings, 0);
  EXPECT_DOUBLE_EQ(predicted({500, 2000, 4}, 2).path_ns,
                   base.path_ns + 100 * static_cast<double>(base.crossings));
  EXPECT_DOUBLE_EQ(predicted({400, 2001, 4}, 2).path_ns, base.path_ns + static_cast<double>(base.levels));
  EXPECT_EQ(predicted({400, 2000, 4}, 1).crossings, 0);
  EXPECT_LT(base.bytes_ns, predicted({400, 2000, 4}, 1).bytes_ns);
  EXPECT_DOUBLE_EQ(predicted({400, 2000, 2}, 2).bytes_ns, 2 * base.bytes_ns);
}

/// Returns the error that all PEs get if `spoil` changes the part of PE 1.
template <class Spoil>
std::vector<std::string> errors_of(const Spoil& spoil) {
  const pattern p = patterns::chain(8);
  const auto a = make_matrix<double>(p, form{}).by_rows;
  std::vector<std::string> errors(2);
  emulated_pes devices(2);
  devices.run([&](emulator_team& team, const emulator::executor& on) {
    const int rank = team.rank();
    auto part = slice(a, rank, 2);
    if (rank == 1) {
      spoil(part);
    }
    try {
      emulated_solver solver(part, p.size, form{}.options(1), {2}, team, on);
    } catch (const error& e) {
      errors[static_cast<std::size_t>(rank)] = e.what();
    }
  });
  return errors;
}

TEST(DistributedPlan, AnErrorOfOnePeIsThrownByAll) {
  const auto expect = [](const std::string& text, const auto& spoil) {
    for (const std::string& error : errors_of(spoil)) {
      EXPECT_EQ(error.rfind(text, 0), 0u) << error;
    }
  };
  // PE 1 has the rows from 2 on.
  expect("PE 1: row 4 holds an index", [](auto& part) { part.columns[4] = 99; });
  expect("PE 1: row 3 has no diagonal entry", [](auto& part) { part.columns[3] = 7; });
  expect("PE 1: row 3 holds an entry of the triangle twice", [](auto& part) { part.columns[2] = 3; });
  expect("PE 1: the row offsets of row 5 are wrong", [](auto& part) { part.offsets[4] = 0; });
  expect("PE 0: the rows of PE 0 do not follow", [](auto& part) { part.first = 3; });
}

}  // namespace
}  // namespace sptrsv::testing
