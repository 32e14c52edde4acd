// SPDX-License-Identifier: Apache-2.0
// The assignment of the rows of panels to PEs, and the trees of messages between the PEs that share a panel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/supernodes/supernodes_structure.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// A tree of PEs, which are numbered from the root, 0, on. In a flat one, all others are children of the
/// root; in a binary one, PE i has the children 2 i + 1 and 2 i + 2.
struct message_tree {
  /// The largest number of receivers for which `automatic` is a flat tree. For some 150 receivers, a sender
  /// takes as long to send to all, 88 ns for each, as a value takes along a binary tree, 2,000 ns for each
  /// hop.
  static constexpr std::int64_t most_of_flat = 127;

  bool is_binary;
  std::int64_t count;

  static message_tree of(pe_tree how, std::int64_t count) {
    return {how == pe_tree::binary || (how == pe_tree::automatic && count - 1 > most_of_flat), count};
  }
  /// Returns the children [begin, end) of PE i.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> children(std::int64_t i) const {
    if (!is_binary) {
      return i == 0 ? std::pair<std::int64_t, std::int64_t>(1, std::max<std::int64_t>(count, 1))
                    : std::pair<std::int64_t, std::int64_t>(count, count);
    }
    return {std::min(count, 2 * i + 1), std::min(count, 2 * i + 3)};
  }
  /// Returns the parent of PE i, which is not the root.
  [[nodiscard]] std::int64_t parent(std::int64_t i) const { return is_binary ? (i - 1) / 2 : 0; }
  /// Returns how many edges lead from the root to PE i.
  [[nodiscard]] std::int32_t depth(std::int64_t i) const {
    std::int32_t found = 0;
    for (; i > 0; i = parent(i)) {
      ++found;
    }
    return found;
  }
  /// Returns the largest depth.
  [[nodiscard]] std::int32_t height() const { return depth(count - 1); }
};

/// Returns which of `pes` PEs comes i-th, from 1 on, among the receivers of values of PE `sender`. The first
/// one is that of the next supernode that is solved, if supernodes are dealt one by one: it waits for them
/// most.
inline int receiver_in_turn(bool backward, int sender, int i, int pes) {
  return (backward ? sender + pes - i : sender + i) % pes;
}

/// The assignment of the rows of panels to PEs. Most supernodes belong to one PE. Others are divided over a
/// grid (Ding, Liu, Williams and Li 2021, section 2): supernode J has number n(J) among them. The rows of its
/// panel that are columns of supernode I, where I = J is the diagonal block, belong to the PE in row n(I) mod
/// grid_rows and column n(J) mod grid_columns. So contributions to a row stay in one row of the grid, from
/// supernode to supernode, and all PEs that share a panel are in one column of it.
struct panel_owners {
  std::vector<int> solver;  ///< by supernode: the PE that has its diagonal block, and solves for its columns
  int grid_rows = 1;        ///< of the grid, in which PE r * grid_columns + c stands in row r and column c
  int grid_columns = 1;
  std::vector<std::int64_t> number;  ///< by supernode: n(J); -1: one PE has the panel. Empty: none is divided
  std::vector<std::vector<int>>
      sharers;  ///< by n(J): the PEs that have rows of the panel, from the solver on

  [[nodiscard]] bool is_divided(std::int64_t s) const { return !number.empty() && number[at(s)] >= 0; }
  /// Returns the PE that has the rows of a panel that are columns of supernode `above`.
  [[nodiscard]] int of_rows(std::int64_t s, std::int64_t above) const {
    return is_divided(s) ? grid_pe(number[at(above)], number[at(s)]) : solver[at(s)];
  }
  /// Returns the PEs that share the panel of a divided supernode. The first one is its solver, the others
  /// follow in the column of the grid.
  [[nodiscard]] const std::vector<int>& sharers_of(std::int64_t s) const {
    return sharers[at(number[at(s)])];
  }

  /// Divides a supernode over the grid. The supernodes are divided in ascending order.
  void divide(std::int64_t s) {
    number.resize(solver.size(), -1);
    const auto n = count_of(sharers);
    number[at(s)] = n;
    solver[at(s)] = grid_pe(n, n);
    sharers.push_back({solver[at(s)]});
  }
  /// Finds the PEs that share divided panels, when all supernodes have been dealt.
  template <class Index>
  void find_sharers(const structure<Index>& of) {
    std::vector<char> has_rows(static_cast<std::size_t>(grid_rows));
    for (std::int64_t s = 0; s < of.tree.count(); ++s) {
      if (!is_divided(s)) {
        continue;
      }
      std::fill(has_rows.begin(), has_rows.end(), 0);
      const std::int64_t n = number[at(s)];
      for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
        const std::int64_t above = number[at(of.supernode_at(of.row(s, t)))];
        has_rows[at(above % grid_rows)] = 1;
      }
      for (std::int64_t i = n + 1; i < n + grid_rows; ++i) {
        if (has_rows[at(i % grid_rows)] != 0) {
          sharers[at(n)].push_back(grid_pe(i, n));
        }
      }
    }
  }

 private:
  [[nodiscard]] int grid_pe(std::int64_t row, std::int64_t column) const {
    return static_cast<int>(row % grid_rows * grid_columns + column % grid_columns);
  }
};

/// Returns the number of a PE among those that have rows of the panel of a supernode; -1 if it is none of
/// them. That of the solver is 0.
inline std::int64_t sharer_number(const panel_owners& owners, std::int64_t s, int pe) {
  if (!owners.is_divided(s)) {
    return owners.solver[at(s)] == pe ? 0 : -1;
  }
  const auto& sharers = owners.sharers_of(s);
  const auto at = std::find(sharers.begin(), sharers.end(), pe);
  return at == sharers.end() ? -1 : at - sharers.begin();
}

/// The order of tasks of all PEs. A task waits for earlier ones only, of whichever PE. Each level of the tree
/// of supernodes has several steps, because the PEs that share a panel wait for each other: forward, those
/// further down the tree of the broadcast of a sum come later. Backward, those further down the tree in which
/// partial sums are added come earlier, and those down the tree of the broadcast of x come later.
struct task_order {
  bool backward;
  std::int32_t height;  ///< of the highest tree of messages; 0: there is none

  /// Returns the step of the tasks of a supernode for the PE at `depth` of those that share its panel.
  [[nodiscard]] std::int32_t of_tasks(std::int32_t level, std::int32_t depth) const {
    return level * steps() + (backward ? height - depth : depth);
  }
  /// Returns the step in which the PE at `depth` of a broadcast passes on what comes from a supernode.
  [[nodiscard]] std::int32_t of_passing(std::int32_t level, std::int32_t depth) const {
    return level * steps() + depth + (backward ? height : 0);
  }

 private:
  [[nodiscard]] std::int32_t steps() const { return 1 + (backward ? 2 : 1) * height; }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
