// The tree of supernodes on the host: merging, cutting, levels, and the order of tasks.
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/supernodal/solve/task_lister.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {
namespace {

constexpr merge_limits no_padding{0, 0, 0};
constexpr merge_limits any_padding{1, 1, 0};

/// Two leaves of two columns each, and their parent of three columns, which is a root. The first leaf has two
/// rows below it, the second one three.
fundamental_supernodes two_leaves() { return {{0, 2, 4, 7}, {2, 3, 0}, {2, 2, -1}, {1, 1, 1}}; }

/// Returns the supernodes after merging and cutting.
supernode_tree<std::int32_t> tree_of(const fundamental_supernodes& f, const merge_limits& limits,
                                     std::int64_t max_width, const std::vector<std::int64_t>& cuts) {
  return cut(merge<std::int32_t>(f, limits).ranges, f.first.back(), f.is_nested(), max_width, cuts);
}

std::vector<std::int32_t> begins(const merged_supernodes<std::int32_t>& merged) {
  std::vector<std::int32_t> made;
  for (const merged_columns<std::int32_t>& range : merged.ranges) {
    made.push_back(range.first);
  }
  return made;
}

TEST(SupernodeTree, MergesWithoutPaddingOnlyWhatIsDense) {
  // The second leaf has all rows of its parent's columns; the first one lacks one of them.
  const auto merged = merge<std::int32_t>(two_leaves(), no_padding);
  EXPECT_EQ(begins(merged), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(merged.ranges[0].parent, 1);
  EXPECT_EQ(merged.ranges[0].parent_column, 4);
  EXPECT_EQ(merged.first_descendant, (std::vector<std::int32_t>{0, 2, 2}));
}

TEST(SupernodeTree, MergesSiblingsThatFollowEachOther) {
  const auto merged = merge<std::int32_t>(two_leaves(), any_padding);
  EXPECT_EQ(begins(merged), (std::vector<std::int32_t>{0}));
  // The leaves do not depend on each other.
  EXPECT_EQ(merged.first_descendant, (std::vector<std::int32_t>{0, 2, 0}));
}

TEST(SupernodeTree, KeepsTheShareOfZerosUnderItsLimit) {
  // All three together have 21 entries in the pattern's 2 * 2 + 1 + 10, so 6 zeros.
  EXPECT_EQ(merge<std::int32_t>(two_leaves(), {6.0 / 21, 0, 0}).ranges.size(), 1u);
  EXPECT_EQ(merge<std::int32_t>(two_leaves(), {5.9 / 21, 0, 0}).ranges.size(), 2u);
  EXPECT_EQ(merge<std::int32_t>(two_leaves(), {0, 6.0 / 21, 7}).ranges.size(), 1u);
  EXPECT_EQ(merge<std::int32_t>(two_leaves(), {0, 6.0 / 21, 6}).ranges.size(), 2u);
}

TEST(SupernodeTree, DoesNotMergeWhereTheParentLacksARow) {
  auto f = two_leaves();
  f.nested = {1, 0, 1};
  EXPECT_EQ(merge<std::int32_t>(f, any_padding).ranges.size(), 3u);
  EXPECT_FALSE(tree_of(f, any_padding, 100, {}).is_nested);
}

/// A merge that would make the descendants of a column two separate runs of columns does not happen.
TEST(SupernodeTree, KeepsDescendantsConsecutive) {
  // 0 is a child of 2, 1 of 3, 2 of 3: with 1 in between, 0 cannot become part of 2 or of what holds it.
  const fundamental_supernodes f{{0, 1, 2, 3, 4}, {2, 1, 1, 0}, {2, 3, 3, -1}, {1, 1, 1, 1}};
  const auto merged = merge<std::int32_t>(f, any_padding);
  EXPECT_EQ(begins(merged), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(merged.first_descendant, (std::vector<std::int32_t>{0, 1, 2, 1}));
}

TEST(SupernodeTree, CutsWideSupernodesIntoChains) {
  const auto f = two_leaves();
  const auto tree = tree_of(f, no_padding, 2, {});
  EXPECT_EQ(tree.first, (std::vector<std::int32_t>{0, 2, 4, 6, 7}));
  EXPECT_EQ(tree.range_end, (std::vector<std::int32_t>{2, 7, 7, 7}));
  EXPECT_EQ(tree.rows_begin, (std::vector<std::int64_t>{0, 2, 5, 6, 6}));
  // The first row below the first leaf is column 4, which the third supernode has.
  EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{2, 2, 3, -1}));
  EXPECT_EQ(tree.levels(false), (std::vector<std::int32_t>{0, 0, 1, 2}));
  EXPECT_EQ(tree.levels(true), (std::vector<std::int32_t>{2, 2, 1, 0}));
  EXPECT_EQ(tree.panel_begin.back(), panel_row(4, 2) + panel_row(5, 2) + panel_row(3, 2) + 0);
}

TEST(SupernodeTree, CutsWhereItIsTold) {
  const auto f = two_leaves();
  const auto tree = tree_of(f, no_padding, 100, {1, 3, 5});
  EXPECT_EQ(tree.first, (std::vector<std::int32_t>{0, 1, 2, 3, 5, 7}));
  EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{1, 3, 3, 4, -1}));
}

forest_list forests_of(const supernode_tree<std::int32_t>& tree, bool backward, std::int64_t bytes) {
  return forest_finder(tree, tree.levels(backward), {8, backward}, bytes).find();
}
/// Returns the tasks of a tree without forests.
task_list tasks_of(const supernode_tree<std::int32_t>& tree, bool backward, const task_limits& limits) {
  const forest_list none = forests_of(tree, backward, 0);
  return task_lister(tree, tree.levels(backward), none, backward, limits).make();
}

/// Returns the position of the first task of a kind for the supernode with this first column; -1 if there is
/// none.
std::ptrdiff_t position_of(const task_list& list, std::int64_t first, task_kind kind) {
  for (std::size_t i = 0; i < list.tasks.size(); ++i) {
    const task& t = list.tasks[i];
    bool found = t.node.first == first;
    if (t.kind == task_kind::warps) {
      found = std::any_of(list.small.begin() + t.begin, list.small.begin() + t.end,
                          [&](const supernode& node) { return node.first == first; });
    }
    if (found && t.kind == kind) {
      return static_cast<std::ptrdiff_t>(i);
    }
  }
  return -1;
}

TEST(SupernodeTasks, WaitForEarlierTasksOnly) {
  const auto f = two_leaves();
  const auto tree = tree_of(f, no_padding, 100, {});  // columns 0 and 1, and 2 to 6
  const task_limits limits{64, 5, 6, 32};
  const auto forward = tasks_of(tree, false, limits);
  EXPECT_LT(position_of(forward, 0, task_kind::warps), position_of(forward, 2, task_kind::sums));
  EXPECT_LT(position_of(forward, 2, task_kind::sums), position_of(forward, 2, task_kind::tile));
  const auto backward = tasks_of(tree, true, limits);
  EXPECT_GE(position_of(backward, 2, task_kind::tile), 0);
  EXPECT_LT(position_of(backward, 2, task_kind::tile), position_of(backward, 2, task_kind::sums));
  EXPECT_LT(position_of(backward, 2, task_kind::sums), position_of(backward, 0, task_kind::warps));
  EXPECT_EQ(backward.levels, 2);
}

/// Two children of 40 columns each, and their parent of 60 columns, whose rows all are rows of the children,
/// too. All are cut to 8 columns.
supernode_tree<std::int32_t> wide_tree() {
  const fundamental_supernodes f{{0, 40, 80, 140}, {60, 60, 0}, {2, 2, -1}, {1, 1, 1}};
  return tree_of(f, no_padding, 8, {});
}
/// Returns whether a supernode of wide_tree() has this row.
bool has_row(const supernode_tree<std::int32_t>& tree, std::size_t s, std::int64_t row) {
  return row >= tree.first[s] && (row < tree.range_end[s] || row >= 80);
}
/// Returns the panel's row number `i` as a row of the system, for a supernode of wide_tree().
std::int64_t row_of(const supernode_tree<std::int32_t>& tree, std::size_t s, std::int64_t i) {
  const std::int64_t row = tree.first[s] + i;
  return row < tree.range_end[s] ? row : row - tree.range_end[s] + 80;
}
/// Returns the rows of the system that a task has, and the number of its supernode.
std::pair<std::size_t, std::vector<std::int64_t>> rows_of(const supernode_tree<std::int32_t>& tree,
                                                          const task& t) {
  const auto s = static_cast<std::size_t>(
      std::upper_bound(tree.first.begin(), tree.first.end(), t.node.first) - tree.first.begin() - 1);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = t.begin; i < t.end; ++i) {
    rows.push_back(row_of(tree, s, i));
  }
  return {s, rows};
}

class TasksThatLookAhead : public ::testing::TestWithParam<int> {};

/// A tile of rows that several ancestors have waits for those of the descendants, wherever it stands.
TEST_P(TasksThatLookAhead, WaitForEarlierTasksForward) {
  const auto tree = wide_tree();
  const std::int64_t tile_entries = 24;  // three rows of 8 entries
  const auto list = tasks_of(tree, false, {64, 5, tile_entries, 32, 0, 0, GetParam()});
  EXPECT_EQ(list.tasks.size(), tasks_of(tree, false, {64, 5, tile_entries, 32}).tasks.size());
  std::vector<std::vector<bool>> is_done(140, std::vector<bool>(static_cast<std::size_t>(tree.count())));
  std::int64_t later = 0;  // tiles behind a task of a higher supernode
  std::int32_t highest = 0;
  const auto levels = tree.levels(false);
  for (const task& t : list.tasks) {
    const auto [s, rows] = rows_of(tree, t);
    for (std::size_t c = 0; c < levels.size() && t.kind == task_kind::tile; ++c) {
      if (tree.parent[c] != static_cast<std::int32_t>(s)) {
        continue;
      }
      for (std::int64_t row = tree.first[s]; row < tree.first[s + 1]; ++row) {
        EXPECT_TRUE(is_done[static_cast<std::size_t>(row)][c]) << "column " << row << " of " << s;
      }
      for (const std::int64_t row : rows) {
        EXPECT_TRUE(!has_row(tree, c, row) || is_done[static_cast<std::size_t>(row)][c]) << row << " " << s;
      }
    }
    for (const std::int64_t row : rows) {
      is_done[static_cast<std::size_t>(row)][s] = t.kind == task_kind::tile;
    }
    highest = std::max(highest, levels[s]);
    later += levels[s] < highest ? 1 : 0;
  }
  EXPECT_EQ(later > 0, GetParam() > 2);
}

/// Backward, a part of a panel waits for what completes the supernodes of its rows.
TEST_P(TasksThatLookAhead, WaitForEarlierTasksBackward) {
  const auto tree = wide_tree();
  for (const bool has_strips : {false, true}) {
    const auto list =
        tasks_of(tree, true, {64, 5, 24, 32, has_strips ? 4 : 0, has_strips ? 6 : 0, GetParam()});
    std::vector<int> columns_done(static_cast<std::size_t>(tree.count()));
    std::int64_t earlier = 0;  // parts before a task of a supernode nearer to the roots
    const auto levels = tree.levels(true);
    std::int32_t deepest = 0;
    for (const task& t : list.tasks) {
      const auto [s, rows] = rows_of(tree, t);
      deepest = std::max(deepest, levels[s]);
      earlier += levels[s] < deepest ? 1 : 0;
      if (t.kind == task_kind::sums) {
        columns_done[s] += static_cast<int>(t.end - t.begin);
        continue;
      }
      for (const std::int64_t row : rows) {
        const auto owner = static_cast<std::size_t>(
            std::upper_bound(tree.first.begin(), tree.first.end(), row) - tree.first.begin() - 1);
        EXPECT_TRUE(owner == s || columns_done[owner] == tree.columns(static_cast<std::int64_t>(owner)))
            << "row " << row << " of " << s;
      }
      if (t.kind == task_kind::last_strip) {
        columns_done[s] +=
            static_cast<int>(std::min<std::int64_t>(4, tree.columns(static_cast<int>(s)) - t.column));
      } else if (t.kind == task_kind::whole) {
        columns_done[s] = static_cast<int>(tree.columns(static_cast<int>(s)));
      }
    }
    EXPECT_EQ(earlier > 0, GetParam() > 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Lookahead, TasksThatLookAhead, ::testing::Values(0, 1, 3, 8, 100));

/// Four leaves of one column; columns 4 and 5, the parents of two leaves each; column 6, the root.
supernode_tree<std::int32_t> two_subtrees() {
  const fundamental_supernodes f{
      {0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2, 2, 1, 1, 0}, {4, 4, 5, 5, 6, 6, -1}, std::vector<char>(7, 1)};
  return tree_of(f, no_padding, 1, {});
}
/// The same in post-order: leaves 0 and 1 before their parent 2, leaves 3 and 4 before their parent 5.
supernode_tree<std::int32_t> two_subtrees_in_post_order() {
  const fundamental_supernodes f{
      {0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 1, 2, 2, 1, 0}, {2, 2, 6, 5, 5, 6, -1}, std::vector<char>(7, 1)};
  return tree_of(f, no_padding, 1, {});
}

TEST(SupernodeForests, AreTheLargestSubtreesThatFit) {
  const auto tree = two_subtrees_in_post_order();
  std::vector<std::size_t> counts;
  for (const std::int64_t bytes : {0, 200, 400, 100000}) {
    const auto list = forests_of(tree, false, bytes);
    counts.push_back(list.forests.size());
    std::int64_t end = 0;
    for (const forest& f : list.forests) {
      EXPECT_GE(f.first, end);
      end = f.first + f.columns;
    }
  }
  EXPECT_EQ(counts.front(), 0U);
  EXPECT_GE(counts[2], 2U);
  EXPECT_EQ(counts.back(), 1U);
}

TEST(SupernodeForests, NumberTheRowsBelowTheirRoots) {
  const auto tree = two_subtrees_in_post_order();
  const forest_space space{8, false};
  // What a subtree of three supernodes takes: 5 entries, 3 columns, 5 rows in lists, one outside row.
  const std::int64_t bytes =
      space.panels(5) + space.items(3, 5) + space.components(3, 1) + forest_space::levels(4);
  const auto list = forests_of(tree, false, bytes);
  ASSERT_EQ(list.forests.size(), 2U);
  std::vector<std::int32_t> levels;
  std::vector<std::int32_t> roots;
  for (const forest_place& place : list.places) {
    levels.push_back(place.level);
    roots.push_back(place.root);
  }
  EXPECT_EQ(levels, (std::vector<std::int32_t>{0, 0, 1, 0, 0, 1, -1}));
  EXPECT_EQ(roots, (std::vector<std::int32_t>{2, 2, 2, 5, 5, 5, -1}));
  EXPECT_EQ(list.places[5].outside, 3);  // after its own columns
  EXPECT_EQ(list.outside_rows, 2);
  EXPECT_EQ(list.forests[1].first, 3);
  EXPECT_EQ(list.forests[1].outside, 1);
  EXPECT_EQ(list.forests[1].level_count, 3);  // with that of the diagonal blocks
}

TEST(SupernodeForests, ConsistOfConsecutiveSupernodes) {
  const auto tree = two_subtrees();  // its subtrees of three are not consecutive
  const auto list = forests_of(tree, true, 400);
  for (const forest& f : list.forests) {
    EXPECT_LE(f.columns, 4);  // leaves
  }
  EXPECT_EQ(list.places[4].level, -1);
  EXPECT_EQ(list.places[5].level, -1);
}

TEST(SupernodeTasks, ShareALargePanelByRows) {
  const auto f = two_leaves();
  const auto tree = tree_of(f, any_padding, 100, {});  // seven columns, no rows below
  const auto list = tasks_of(tree, true, {64, 0, 14, 32});
  std::vector<std::int64_t> rows;
  for (const task& t : list.tasks) {
    if (t.kind == task_kind::tile) {
      rows.push_back(t.begin);
      EXPECT_EQ(t.partials, t.begin / 2 * 7);
    }
  }
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(list.partials, 4 * 7);
}

TEST(SupernodeTasks, ShareALargePanelByStripsBackward) {
  const fundamental_supernodes f{{0, 3, 8}, {5, 0}, {1, -1}, {1, 1}};
  const auto tree = tree_of(f, {-1, -1, 0}, 100, {});  // three columns with five rows below them
  ASSERT_EQ(tree.count(), 2);
  // Strips of two columns and two rows.
  const auto list = tasks_of(tree, true, {64, 0, 12, 32, 2, 2});
  std::vector<std::vector<std::int64_t>> strips;
  for (const task& t : list.tasks) {
    if (t.node.first == 0 && t.kind != task_kind::tile) {
      strips.push_back({t.column, t.begin, t.end, t.tiles});
    }
  }
  // A tile for the diagonal block; rows 3 and 4 of the panel come last.
  EXPECT_EQ(strips, (std::vector<std::vector<std::int64_t>>{
                        {0, 5, 7, 0}, {2, 5, 7, 0}, {0, 7, 8, 0}, {2, 7, 8, 0}, {0, 3, 5, 3}, {2, 3, 5, 3}}));
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
