// The plan of a distributed solve: trees, supernodes, owners, tasks, and the model.
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

TEST(PeTree, SpansItsMembersWithTwoChildrenAtMost) {
  for (int flat = 0; flat < 4; ++flat) {
    for (int count = 0; count < 12; ++count) {
      std::vector<int> others;
      for (int i = 0; i < count; ++i) {
        others.push_back(3 * i + 1);
      }
      const pe_tree tree(99, others, flat);
      std::multiset<int> reached{99};
      for (const int pe : tree.members()) {
        const std::vector<int> children = tree.children(pe);
        EXPECT_LE(children.size(), count <= flat ? static_cast<std::size_t>(count) : 2u);
        for (const int child : children) {
          EXPECT_EQ(tree.parent(child), pe);
          EXPECT_EQ(tree.depth(child), tree.depth(pe) + 1);
          reached.insert(child);
        }
      }
      EXPECT_EQ(reached, std::multiset<int>(tree.members().begin(), tree.members().end()));
      EXPECT_EQ(tree.parent(99), -1);
      EXPECT_FALSE(tree.has(2));
    }
  }
}

/// What the PEs have planned.
struct planned {
  shared_plan shared;
  std::vector<local_plan<std::int32_t>> local;
  predicted_solve predicted;
};

planned plan_of(const pattern& p, int pes, const plan_options& how, const form& f = {}) {
  const auto a = make_matrix<double>(p, f).by_rows;
  planned made;
  made.local.resize(static_cast<std::size_t>(pes));
  emulated_pes devices(pes);
  devices.run([&](emulator_team& team, const emulator::executor& on) {
    const int rank = team.rank();
    pe_solver<double, emulator_team, emulator::executor> solver(slice(a, rank, pes), p.size, f.options(1),
                                                                how, team, on);
    made.local[static_cast<std::size_t>(rank)] = solver.get().local();
    if (rank == 0) {
      made.shared = solver.get().plan();
      made.predicted = solver.get().predicted();
    }
  });
  return made;
}

TEST(DistributedPlan, SupernodesAreColumnsWithTheSameRows) {
  EXPECT_EQ(plan_of(patterns::dense(10), 3, {{3, 1}, 4}).shared.first,
            (std::vector<std::int64_t>{0, 4, 8, 10}));
  EXPECT_EQ(plan_of(patterns::chain(4), 2, {{2, 1}}).shared.first, (std::vector<std::int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(plan_of(patterns::diagonal(3), 2, {{2, 1}}).shared.first,
            (std::vector<std::int64_t>{0, 1, 2, 3}));
  const pattern two{"two", 5, {{1, 0}, {3, 0}, {3, 1}, {3, 2}, {4, 3}}};
  EXPECT_EQ(plan_of(two, 2, {{1, 2}}).shared.first, (std::vector<std::int64_t>{0, 2, 3, 5}));
}

TEST(DistributedPlan, EveryEntryHasOneOwnerAndEveryRowOneSolver) {
  const pattern p = patterns::random(60, 4, 3);
  for (const plan_options& how : {plan_options{{2, 2}, 32, 2}, {{4, 1}, 8, 0}, {{1, 3}, 2, 1}}) {
    const planned made = plan_of(p, 4, how);
    std::multiset<std::pair<std::int64_t, std::int64_t>> owned;
    std::multiset<std::int64_t> solved;
    std::multiset<std::int64_t> stored;
    for (const local_plan<std::int32_t>& local : made.local) {
      for (const entry& e : local.entries) {
        owned.insert({e.row, e.column});
      }
      const std::set<std::int64_t> places(local.value_at.begin(), local.value_at.end());
      EXPECT_EQ(places.size(), local.entries.size());
      EXPECT_TRUE(places.empty() || (*places.begin() >= 0 && *places.rbegin() < local.value_count));
      for (const task& t : local.tasks) {
        for (std::int64_t i = t.first; i < t.first + t.columns && t.kind == task_kind::solve; ++i) {
          solved.insert(i);
        }
        if (t.kind == task_kind::solve || t.kind == task_kind::hand_on) {
          for (std::int64_t i = t.own_begin; i < t.own_end; ++i) {
            stored.insert(t.first + i);
          }
        }
      }
    }
    std::multiset<std::pair<std::int64_t, std::int64_t>> expected;
    std::multiset<std::int64_t> rows;
    for (const position& e : p.entries) {
      expected.insert({e.row, e.column});
    }
    for (std::int64_t i = 0; i < p.size; ++i) {
      expected.insert({i, i});
      rows.insert(i);
    }
    EXPECT_EQ(owned, expected);
    EXPECT_EQ(solved, rows);
    EXPECT_EQ(stored, rows);
  }
}

/// What one PE sends another one receives: sums in slots that nothing else is sent to.
TEST(DistributedPlan, EverySumHasASlotOfItsOwn) {
  const planned made = plan_of(patterns::random(60, 4, 3), 4, {{1, 4}, 8, 0, 2});
  std::multiset<std::pair<int, std::int64_t>> sent;
  std::multiset<std::pair<int, std::int64_t>> received;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const local_plan<std::int32_t>& local = made.local[rank];
    for (const task& t : local.tasks) {
      for (int k = 0; k < t.columns; ++k) {
        if (t.kind == task_kind::sum) {
          sent.insert({local.targets[static_cast<std::size_t>(t.targets)], t.slot + k});
        }
        for (int c = 0; c < t.partial_count; ++c) {
          received.insert(
              {static_cast<int>(rank), local.partials[static_cast<std::size_t>(t.partials + c)] + k});
        }
      }
    }
  }
  EXPECT_EQ(sent, received);
  EXPECT_GT(sent.size(), 0u);
  EXPECT_EQ(std::set(sent.begin(), sent.end()).size(), sent.size());
}

TEST(DistributedPlan, TheModelChoosesTheNumberOfPes) {
  // A chain gains nothing from a second PE; wide levels of long rows do.
  EXPECT_EQ(plan_of(patterns::chain(64), 4, {}).shared.grid.rows, 1);
  EXPECT_EQ(plan_of(patterns::chain(64), 4, {}).shared.grid.columns, 1);
  plan_options how;
  how.costs.bytes_per_ns = 0.01;
  const planned wide = plan_of(patterns::layers(120, 40, 7), 4, how);
  EXPECT_GT(wide.shared.grid.rows * wide.shared.grid.columns, 1);
}

TEST(DistributedPlan, PredictionsFollowTheCosts) {
  const auto predicted = [](double local, double remote, double bytes, const pe_grid& grid) {
    plan_options how{grid};
    how.costs = {local, remote, bytes, 4};
    return plan_of(patterns::stencil_2d(8, 9), 4, how).predicted;
  };
  const predicted_solve base = predicted(262, 673, 100, {2, 2});
  EXPECT_GT(predicted(262, 1834, 100, {2, 2}).critical_path_ns, base.critical_path_ns);
  EXPECT_GT(predicted(500, 673, 100, {1, 1}).critical_path_ns,
            predicted(262, 673, 100, {1, 1}).critical_path_ns);
  EXPECT_EQ(predicted(262, 1834, 100, {1, 1}).bandwidth_ns, predicted(262, 673, 100, {1, 1}).bandwidth_ns);
  EXPECT_DOUBLE_EQ(predicted(262, 673, 50, {2, 2}).bandwidth_ns, 2 * base.bandwidth_ns);
  EXPECT_LT(base.bandwidth_ns, predicted(262, 673, 100, {1, 1}).bandwidth_ns);
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
      pe_solver<double, emulator_team, emulator::executor> solver(part, p.size, form{}.options(1), {{2, 1}},
                                                                  team, on);
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
