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
    made.local[static_cast<std::size_t>(rank)] = solver.get().planned().local;
    made.messages[static_cast<std::size_t>(rank)] = solver.get().planned().messages;
    if (rank == 0) {
      made.whole = solver.get().planned().whole;
      made.owners = solver.get().planned().owners;
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
             local.is_share[static_cast<std::size_t>(s)] == 0;
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
          if (m.index >= 0) {  // others: of columns whose x goes nowhere
            sent.insert({m.pe, m.index});
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

TEST(DistributedPlan, EachPeOfATreeOfMessagesHasOneParent) {
  for (const pe_tree how : {pe_tree::flat, pe_tree::binary}) {
    for (std::int64_t count = 1; count <= 20; ++count) {
      const auto tree = message_tree::of(how, count);
      std::int64_t next = 1;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto [begin, end] = tree.children(i);
        EXPECT_LE(end - begin, how == pe_tree::binary ? 2 : count);
        for (std::int64_t child = begin; child < end; ++child) {
          EXPECT_EQ(child, next++);
          EXPECT_EQ(tree.parent(child), i);
          EXPECT_EQ(tree.depth(child), tree.depth(i) + 1);
          EXPECT_LE(tree.depth(child), tree.height());
        }
      }
      EXPECT_EQ(next, count);
    }
  }
  EXPECT_EQ(message_tree::of(pe_tree::binary, 8).height(), 3);
  EXPECT_EQ(message_tree::of(pe_tree::flat, 8).height(), 1);
}

plan_options grid_of(int pes, int rows, pe_tree tree) {
  plan_options how{pes, supernode_dealing::grid};
  how.grid_rows = rows;
  how.tree = tree;
  return how;
}

/// The rows of divided panel J that are columns of I are those of the PE in row n(I) and column n(J) of the
/// grid, modulo its size.
TEST(DistributedPlan, AGridHasPanelsBlockCyclically) {
  for (const int rows : {2, 3, 6}) {
    const planned made = plan_of(factor_of_grid(16, 16), 6, grid_of(6, rows, pe_tree::automatic));
    const int columns = 6 / rows;
    const auto& owners = made.owners.panels;
    std::vector<std::int64_t> seen(static_cast<std::size_t>(made.whole.tree.count()), 0);
    std::size_t shared = 0;
    for (int rank = 0; rank < 6; ++rank) {
      const auto& local = made.local[static_cast<std::size_t>(rank)];
      for (std::int64_t s = 0; s < local.tree.count(); ++s) {
        if (local.is_ghost(s)) {
          continue;
        }
        const std::int64_t whole = local.whole[static_cast<std::size_t>(s)];
        const std::int64_t begin = local.tree.rows_begin[static_cast<std::size_t>(s)];
        seen[static_cast<std::size_t>(whole)] += local.tree.rows(s);
        shared += static_cast<std::size_t>(local.is_share[static_cast<std::size_t>(s)]);
        if (!owners.is_divided(whole)) {
          EXPECT_EQ(owners.solver[static_cast<std::size_t>(whole)], rank);
          continue;
        }
        const std::int64_t n = owners.number[static_cast<std::size_t>(whole)];
        EXPECT_EQ(owners.solver[static_cast<std::size_t>(whole)], n % rows * columns + n % columns);
        EXPECT_EQ(rank % columns, n % columns);
        for (std::int64_t e = begin; e < begin + local.tree.rows(s); ++e) {
          const auto column =
              local.columns[static_cast<std::size_t>(local.rows[static_cast<std::size_t>(e)])];
          const std::int64_t above = made.whole.supernode_at(column);
          EXPECT_EQ(owners.number[static_cast<std::size_t>(above)] % rows, rank / columns);
        }
      }
    }
    for (std::int64_t s = 0; s < made.whole.tree.count(); ++s) {
      EXPECT_EQ(seen[static_cast<std::size_t>(s)], made.whole.tree.rows(s));
    }
    EXPECT_GT(shared, 4u) << rows << " rows of PEs";
  }
}

/// In a binary tree no PE sends a value to more than two others. Forward, sums go to the PEs that share a
/// panel; backward, x goes to those of a row of the grid.
TEST(DistributedPlan, BinaryTreesPassValuesOn) {
  form backward;
  backward.operation = op::transpose;
  for (const form& f : {form{}, backward}) {
    std::size_t passed[2] = {};
    std::int64_t most[2] = {};
    for (const pe_tree tree : {pe_tree::flat, pe_tree::binary}) {
      const std::size_t is_binary = tree == pe_tree::binary ? 1 : 0;
      const planned made =
          plan_of(patterns::dense(100), 8, grid_of(8, f.operation == op::none ? 8 : 1, tree), f);
      for (const auto& messages : made.messages) {
        passed[is_binary] += messages.passed.size();
        for (const message_range& range : messages.sent) {
          most[is_binary] = std::max(most[is_binary], range.count);
        }
        for (const passed_value& value : messages.passed) {
          EXPECT_LE(value.to.count, 2);
          EXPECT_GE(value.to.count, 1);
        }
        EXPECT_TRUE(std::is_sorted(messages.passed_step.begin(), messages.passed_step.end()));
      }
    }
    EXPECT_EQ(passed[0], 0u);
    EXPECT_GT(passed[1], 0u);
    EXPECT_EQ(most[0], 7);
    EXPECT_EQ(most[1], 2);
  }
}

/// Backward, the PE that solves for columns adds partial sums of all that share their panel, or of two.
TEST(DistributedPlan, BinaryTreesAddPartialSums) {
  form backward;
  backward.operation = op::transpose;
  for (const pe_tree tree : {pe_tree::flat, pe_tree::binary}) {
    std::int64_t most = 0;
    for (const auto& messages : plan_of(patterns::dense(100), 8, grid_of(8, 8, tree), backward).messages) {
      for (const auto& sum : messages.named) {
        const int few = (sum.first >= 0 ? 1 : 0) + (sum.second >= 0 ? 1 : 0);
        most = std::max<std::int64_t>(most, sum.first < -1 ? sum.second : few);
      }
    }
    EXPECT_EQ(most, tree == pe_tree::binary ? 2 : 7);
  }
}

/// Where hops cost little, the model divides panels; with the costs of GPUs it does not.
TEST(DistributedPlan, TheModelKnowsTheGrid) {
  const pattern p = patterns::dense(72);
  plan_options how{4};
  EXPECT_NE(plan_of(p, 4, how).owners.how, supernode_dealing::grid);
  how.costs.remote_hop_ns = 1;
  how.costs.send_ns = 1;
  how.costs.bytes_per_ns = 0.01;
  const planned made = plan_of(p, 4, how);
  EXPECT_EQ(made.owners.how, supernode_dealing::grid);
  EXPECT_GT(made.owners.panels.grid_rows, 1);
  how.how = supernode_dealing::top;
  EXPECT_LT(made.owners.predicted.bytes_ns, plan_of(p, 4, how).owners.predicted.bytes_ns);
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
  const predicted_solve base = predicted({400, 6500, 2000, 4}, 2);
  EXPECT_GT(base.crossings, 0);
  EXPECT_DOUBLE_EQ(predicted({500, 6500, 2000, 4}, 2).path_ns,
                   base.path_ns + 100 * static_cast<double>(base.crossings));
  EXPECT_DOUBLE_EQ(predicted({400, 6500, 2001, 4}, 2).path_ns,
                   base.path_ns + static_cast<double>(base.levels));
  EXPECT_EQ(predicted({400, 6500, 2000, 4}, 1).crossings, 0);
  EXPECT_LT(base.bytes_ns, predicted({400, 6500, 2000, 4}, 1).bytes_ns);
  EXPECT_DOUBLE_EQ(predicted({400, 6500, 2000, 2}, 2).bytes_ns, 2 * base.bytes_ns);
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
