// SPDX-License-Identifier: Apache-2.0
// How the work of a solve is dealt to thread blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"
#include "sptrsv/detail/supernodal/solve/tasks.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Makes the task list for the supernodes that are in no forest. They are taken in the order of levels, in
/// the order of columns within a level; if the tree does not say what a supernode needs, in the order of
/// columns. In a level large supernodes come first.
///
/// Parts of large panels leave this order. What is computed for a row below a supernode is needed only by the
/// supernode that has this row as a column, which may stand several levels above. So a forward tile of such
/// rows comes up to lookahead / 2 levels later: its block does not wait then, and takes bandwidth while
/// others wait for the supernodes on the longest path. Backward, tiles and strips come earlier instead, for
/// they wait for the supernodes far above only.
template <class Index>
class task_lister {
 public:
  /// `level`: supernode_tree::levels(), from the roots if `backward`.
  /// `is_share`: by supernode, whether it has no tasks for its diagonal block and its columns, because a
  /// block of another PE solves for them; empty: none.
  task_lister(const supernode_tree<Index>& tree, const std::vector<std::int32_t>& level,
              const forest_list& forests, bool backward, const task_limits& limits,
              std::vector<char> is_share = {})
      : tree_(tree),
        level_(level),
        forests_(forests),
        backward_(backward),
        limits_(limits),
        is_share_(std::move(is_share)) {}

  task_list make() {
    list_.levels = 1 + *std::max_element(level_.begin(), level_.end());
    bool joins = false;  // whether the last task is a `warps` of the same level
    std::int32_t last_level = -1;
    const std::vector<Index> order = in_order();
    list_.small.reserve(order.size());
    for (const Index s : order) {
      joins = joins && level_[at(s)] == last_level;
      last_level = level_[at(s)];
      if (!is_small(s)) {
        add_large(s);
        joins = false;
      } else if (!joins || list_.tasks.back().end - list_.tasks.back().begin == limits_.block_threads / 32) {
        const auto begin = count_of(list_.small);
        add({{}, begin, begin + 1, 0, 0, 0, task_kind::warps}, s, 0);
        list_.small.push_back(node(s));
        joins = true;
      } else {
        ++list_.tasks.back().end;
        list_.small.push_back(node(s));
      }
    }
    sort_by_position();
    return std::move(list_);
  }

 private:
  static constexpr std::int64_t steps_of_level = 2;  ///< positions in the order of tasks

  /// Returns the supernodes that are in no forest, in the order in which they get tasks.
  [[nodiscard]] std::vector<Index> in_order() const {
    std::vector<Index> numbered;
    for (std::size_t i = 0; i < level_.size(); ++i) {
      const std::size_t s = backward_ ? level_.size() - 1 - i : i;
      if (forests_.places[s].level < 0) {
        numbered.push_back(static_cast<Index>(s));
      }
    }
    if (!tree_.is_nested) {
      return numbered;
    }
    return lists_of<Index>(2 * list_.levels,
                           [&](const auto& put) {
                             for (const Index s : numbered) {
                               put(static_cast<Index>(2 * level_[at(s)] + (is_small(s) ? 1 : 0)), s);
                             }
                           })
        .vertices;
  }

  [[nodiscard]] supernode node(std::int64_t s) const {
    supernode made = tree_.node(s);
    made.sums = made.first + made.rows_begin - (limits_.sums_in_forests ? 0 : forests_.items_before(s));
    return made;
  }
  [[nodiscard]] bool is_small(std::int64_t s) const {
    return tree_.columns(s) <= 32 && tree_.entries(s) <= limits_.warp_entries && !is_share(s);
  }
  [[nodiscard]] bool is_share(std::int64_t s) const { return !is_share_.empty() && is_share_[at(s)] != 0; }
  /// Returns whether several blocks share the panel.
  [[nodiscard]] bool is_shared(std::int64_t s) const {
    return !is_small(s) && tree_.entries(s) > limits_.tile_entries;
  }
  [[nodiscard]] std::int64_t rows_of_tile(std::int64_t s) const {
    return std::max<std::int64_t>(limits_.tile_entries / tree_.columns(s), 1);
  }

  /// Adds a task of supernode s, `steps` later than the position of its level.
  void add(const task& made, std::int64_t s, std::int64_t steps) {
    const std::int64_t position = steps_of_level * level_[at(s)] + steps;
    if (steps != 0) {
      moved_begin_ = std::min(moved_begin_, list_.tasks.size());
      moved_end_ = list_.tasks.size() + 1;
    }
    positions_.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(position, 0)));
    list_.tasks.push_back(made);
  }

  /// Returns a number of ancestors, at most `lookahead`, that have no row of the panel of s from `row` on as
  /// a column, and do not wait for these rows: of consecutive ancestors, from the parent on.
  ///
  /// Forward, a task of the parent waits for the same rows. If this function returns k > 0 for a tile of s,
  /// it returns at least k - 1 for all tiles of the parent with some of its rows. So they come k - 1 steps or
  /// more after the position of a level above, and s at most k steps after its own: an earlier position.
  [[nodiscard]] std::int64_t distance(std::int64_t s, std::int64_t row) const {
    std::int64_t found = 0;
    if (!tree_.is_nested) {
      return found;
    }
    std::int64_t left = row - tree_.columns(s);
    for (std::int64_t a = tree_.parent[at(s)]; a >= 0 && found < limits_.lookahead;
         a = tree_.parent[at(a)], ++found) {
      if (!backward_ && !is_shared(a)) {
        break;
      }
      // A tile of the ancestor may begin this many rows before one of these rows.
      left -= tree_.columns(a) + (backward_ ? 0 : rows_of_tile(a) - 1);
      if (left < 0) {
        break;
      }
    }
    return found;
  }

  /// Returns the steps from the position of its level to that of a part of a panel: of the rows [begin, end).
  [[nodiscard]] std::int64_t steps(std::int64_t s, std::int64_t begin, std::int64_t end) const {
    if (!backward_) {
      return distance(s, begin);
    }
    return end <= tree_.columns(s) ? -limits_.lookahead : -distance(s, begin);
  }

  /// Sorts the tasks by their positions; those of the same position stay in order. Forward, tasks only move
  /// behind others, backward only before others: most of the small supernodes stay where they are.
  void sort_by_position() {
    const std::size_t begin = backward_ ? 0 : std::min(moved_begin_, positions_.size());
    const std::size_t end = backward_ ? moved_end_ : positions_.size();
    if (begin >= end) {
      return;
    }
    const auto offset = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    const std::int32_t last =
        *std::max_element(positions_.begin() + offset(begin), positions_.begin() + offset(end));
    std::vector<std::int64_t> offsets;
    const std::vector<std::int64_t> order =
        group_entries(positions_.data() + begin, end - begin, last + 1, offsets);
    std::vector<task> sorted;
    sorted.reserve(end - begin);
    for (const std::int64_t i : order) {
      sorted.push_back(list_.tasks[begin + at(i)]);
    }
    std::copy(sorted.begin(), sorted.end(), list_.tasks.begin() + offset(begin));
  }

  void add_large(std::int64_t s) {
    const std::int64_t columns = tree_.columns(s);
    const std::int64_t height = columns + tree_.rows(s);
    const std::int64_t first = is_share(s) ? columns : 0;
    if (tree_.entries(s) <= limits_.tile_entries) {
      add({node(s), first, height, 0, 0, 0, task_kind::whole}, s, 0);
      return;
    }
    const bool has_strips = backward_ && limits_.strip_columns > 0;
    const std::int64_t tiled = has_strips ? columns : height;
    const std::int64_t rows = rows_of_tile(s);
    const std::int64_t tiles = (tiled - first + rows - 1) / rows;
    if (!backward_ && !is_share(s)) {
      add_sums(s, 0);
    }
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t begin = first + t * rows;
      const std::int64_t end = std::min(tiled, begin + rows);
      add({node(s), begin, end, list_.partials + t * columns, 0, 0, task_kind::tile}, s,
          steps(s, begin, end));
    }
    if (has_strips) {
      add_strips(s, tiles);
    } else if (backward_) {
      add_sums(s, static_cast<std::int32_t>(tiles));
      list_.partials += tiles * columns;
    }
  }

  /// Adds strips for the rows below the diagonal block of a supernode, which has `tiles` tiles.
  void add_strips(std::int64_t s, std::int64_t tiles) {
    const std::int64_t columns = tree_.columns(s);
    const std::int64_t height = columns + tree_.rows(s);
    const std::int64_t first_end = std::min(height, columns + limits_.strip_rows);
    const auto add_row = [&](std::int64_t begin, std::int64_t end, std::int64_t partials, std::int64_t count,
                             task_kind kind) {
      for (std::int64_t j = 0; j < columns; j += limits_.strip_columns) {
        add({node(s), begin, end, partials, static_cast<std::int32_t>(count), static_cast<std::int32_t>(j),
             kind},
            s, kind == task_kind::strip ? steps(s, begin, end) : 0);
      }
    };
    for (std::int64_t begin = first_end; begin < height; begin += limits_.strip_rows, ++tiles) {
      add_row(begin, std::min(height, begin + limits_.strip_rows), list_.partials + tiles * columns, 0,
              task_kind::strip);
    }
    add_row(columns, first_end, list_.partials, tiles, task_kind::last_strip);
    list_.partials += tiles * columns;
  }

  void add_sums(std::int64_t s, std::int32_t tiles) {
    const std::int64_t columns = tree_.columns(s);
    for (std::int64_t j = 0; j < columns; j += limits_.sum_columns) {
      add({node(s), j, std::min(columns, j + limits_.sum_columns), list_.partials, tiles, 0, task_kind::sums},
          s, 0);
    }
  }

  const supernode_tree<Index>& tree_;
  const std::vector<std::int32_t>& level_;
  const forest_list& forests_;
  bool backward_;
  task_limits limits_;
  std::vector<char> is_share_;           ///< by supernode
  std::vector<std::int32_t> positions_;  ///< of the tasks in list_
  std::size_t moved_begin_ = SIZE_MAX;   ///< the first task that leaves the order of levels
  std::size_t moved_end_ = 0;            ///< one past the last one
  task_list list_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
