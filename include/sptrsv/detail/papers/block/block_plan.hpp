// SPDX-License-Identifier: Apache-2.0
// The plan of a solve: its steps, each of which begins when the previous one has ended, and their tasks. A
// task is the work of one thread block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sptrsv/detail/papers/block/layout.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

enum class step_kind : std::int32_t {
  square,  ///< adds the products of a square to the sums of its rows
  level,   ///< solves the rows of one level, or of a diagonal
  polled,  ///< solves a triangle whose rows poll one another; items are warps
  serial   ///< solves all levels of a triangle, one after the other, in one task
};

/// A step, as the kernel reads it.
struct step {
  step_kind kind;
  std::int32_t lanes;       ///< lanes per row; a power of two up to 32
  std::int64_t first_item;  ///< items are rows (square, level), warps (polled) or levels (serial)
  std::int64_t items;
  std::int64_t items_per_task;
  /// Index of item 0's row offset, or of row 0's if all rows are stored; may be negative.
  std::int64_t offsets;
  std::int64_t numbers;        ///< index of item 0's row number; -1: all rows are stored
  std::int64_t first_task;     ///< number of tasks of the steps before
  std::int64_t awaited_tasks;  ///< tasks of the previous step; 0 if there is none
  bool has_sums;               ///< true for a triangle that has squares to its left

  [[nodiscard]] std::int64_t tasks() const { return simt::ceil_div(items, items_per_task); }
};

struct step_list {
  std::vector<step> steps;
  std::vector<std::int32_t> step_of_task;  ///< by task
  std::vector<part> parts;                 ///< in the order of execution

  [[nodiscard]] std::int64_t tasks() const { return static_cast<std::int64_t>(step_of_task.size()); }
  [[nodiscard]] bool has(step_kind kind) const {
    return std::any_of(steps.begin(), steps.end(), [&](const step& s) { return s.kind == kind; });
  }
};

/// Makes the steps. Add the parts in the order of execution.
template <class Tuning>
struct step_planner {
  policy::block_selector selector;
  std::int64_t resident;  ///< number of thread blocks that the device holds at once
  step_list made;

  /// Adds the steps of a part and notes them in it. `level_offsets`: of all triangles, read if by levels.
  template <class Index>
  void add(part p, const std::vector<Index>& level_offsets) {
    p.first_step = made.steps.size();
    if (p.is_triangle) {
      add_triangle(p, level_offsets);
    } else if (p.square.entries > 0) {
      const double length =
          static_cast<double>(p.square.entries) / static_cast<double>(p.square.rows_with_entries);
      const int lanes = is_scalar(p.of_square) ? 1 : shared_row_lanes<Tuning>(selector, length);
      const step to{step_kind::square, lanes, 0, 0, 0, p.offsets, p.numbers, 0, 0, true};
      p.is_compressed() ? add_rows(to, 0, p.stored_rows) : add_rows(by_rows(to, p), p.first_row, p.rows());
    }
    p.last_step = made.steps.size();
    made.parts.push_back(p);
  }

 private:
  /// Returns the step for a part whose rows are all stored; items are rows.
  static step by_rows(step s, const part& p) {
    s.offsets = p.offsets - p.first_row;
    s.numbers = -1;
    return s;
  }

  template <class Index>
  void add_triangle(const part& p, const std::vector<Index>& level_offsets) {
    const triangle_facts& t = p.triangle;
    const double length = static_cast<double>(t.entries) / static_cast<double>(t.rows);
    step s = by_rows({}, p);
    s.lanes = length <= Tuning::scalar_entries ? 1 : shared_row_lanes<Tuning>(selector, length);
    s.has_sums = p.first_row > 0;
    if (p.of_triangle == policy::triangle_kernel::by_levels) {
      s.kind = step_kind::level;
      for (std::int64_t level = p.first_level; level < p.first_level + t.levels; ++level) {
        const std::int64_t first = level_offsets[at(level)];
        add_rows(s, first, level_offsets[at(level + 1)] - first);
      }
    } else if (p.of_triangle == policy::triangle_kernel::serial) {
      s.kind = step_kind::serial;
      add(s, p.first_level, t.levels, t.levels);
    } else {
      s.kind = step_kind::polled;
      s.lanes = 32;
      add(s, p.first_warp, p.last_warp - p.first_warp, Tuning::block_threads / 32);
    }
  }

  void add_rows(const step& s, std::int64_t first, std::int64_t rows) {
    const std::int64_t rows_at_once = Tuning::block_threads / s.lanes;
    const std::int64_t rounds = simt::ceil_div(rows, rows_at_once) / (2 * resident);
    add(s, first, rows, rows_at_once * std::clamp<std::int64_t>(rounds, 1, Tuning::max_rounds));
  }

  void add(step s, std::int64_t first_item, std::int64_t items, std::int64_t items_per_task) {
    s.first_item = first_item;
    s.items = items;
    s.items_per_task = items_per_task;
    s.first_task = made.tasks();
    s.awaited_tasks = made.steps.empty() ? 0 : made.steps.back().tasks();
    made.step_of_task.insert(made.step_of_task.end(), static_cast<std::size_t>(s.tasks()),
                             static_cast<std::int32_t>(made.steps.size()));
    made.steps.push_back(s);
  }
};

/// Describes the steps, for example "triangles: 2 sync-free; squares: 1 scalar-CSR; 1.50 n sums updated, 0.50
/// n of x read". The traffic is that of Tables 1 and 2 of the paper, without the rows of squares that are not
/// stored. `size` is n.
inline std::string describe_steps(const step_list& steps, std::int64_t size) {
  constexpr int kinds = 8;
  const char* const names[kinds] = {"diagonal",   "level-set",  "sync-free",   "serial",
                                    "scalar-CSR", "vector-CSR", "scalar-DCSR", "vector-DCSR"};
  std::int64_t counts[kinds] = {};
  std::int64_t updated = size;
  std::int64_t read = 0;
  for (const part& p : steps.parts) {
    if (p.is_triangle) {
      ++counts[p.triangle.levels == 1 ? 0 : static_cast<int>(p.of_triangle)];
    } else if (p.square.entries > 0) {
      ++counts[3 + static_cast<int>(p.of_square)];
      updated += p.stored_rows;
      read += p.columns();
    }
  }
  std::string text;
  for (int kind = 0; kind < kinds; ++kind) {
    if (counts[kind] > 0) {
      const bool is_first = std::all_of(counts + kind / 4 * 4, counts + kind, [](auto c) { return c == 0; });
      text += is_first ? (kind < 4 ? "triangles: " : "; squares: ") : ", ";
      text += std::to_string(counts[kind]) + " " + names[kind];
    }
  }
  const auto rows = static_cast<double>(std::max<std::int64_t>(size, 1));
  std::array<char, 80> traffic{};
  std::snprintf(traffic.data(), traffic.size(), "; %.2f n sums updated, %.2f n of x read",
                static_cast<double>(updated) / rows, static_cast<double>(read) / rows);
  return text + traffic.data();
}

}  // namespace sptrsv::SPTRSV_ABI::detail::block
