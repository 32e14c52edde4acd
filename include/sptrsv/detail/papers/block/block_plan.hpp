// The plan of a solve: its steps, each of which begins when the previous one has ended, and their tasks. A
// task is the work of one thread block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sptrsv/detail/papers/block/block_choice.hpp"
#include "sptrsv/detail/papers/block/entries.hpp"

namespace sptrsv::detail::block {

/// What a step does.
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

/// A part and the range of its steps.
struct planned_part {
  bool is_triangle;
  triangle_facts triangle;
  square_facts square;
  policy::triangle_kernel of_triangle;
  policy::square_kernel of_square;
  std::int64_t first_row;
  std::int64_t stored_rows;
  std::int64_t columns;
  std::size_t first_step;
  std::size_t last_step;  ///< one past the last step
};

/// The steps in order.
struct step_list {
  std::vector<step> steps;
  std::vector<std::int32_t> step_of_task;  ///< by task
  std::vector<planned_part> parts;         ///< parts that have steps

  [[nodiscard]] std::int64_t tasks() const { return static_cast<std::int64_t>(step_of_task.size()); }
  [[nodiscard]] bool has(step_kind kind) const {
    return std::any_of(steps.begin(), steps.end(), [&](const step& s) { return s.kind == kind; });
  }
};

/// The levels and the warps of a triangle.
template <class Index>
struct triangle_levels {
  triangle_facts facts;
  const Index* level_offsets;  ///< solve indices; facts.levels + 1
  std::int64_t first_level;    ///< index of its first level among the levels of all triangles
  std::int64_t first_warp;     ///< first warp that solves its rows if they poll one another
  std::int64_t last_warp;      ///< one past the last warp
};

/// Makes the steps. Add the parts in the order of execution.
template <class Tuning, class Index>
class step_planner {
 public:
  /// `resident` is the number of thread blocks that the device holds at once.
  step_planner(const policy::block_kernels& kernels, std::int64_t resident)
      : kernels_(kernels), resident_(resident) {}

  void add_square(const part& p, const square_facts& facts, policy::square_kernel kernel,
                  const row_storage& storage) {
    const int lanes =
        is_scalar(kernel) ? 1 : shared_row_lanes<Tuning>(kernels_.selector, entries_per_row(facts));
    planned_part planned{};
    planned.square = facts;
    planned.of_square = kernel;
    begin(planned, p, storage);
    if (storage.is_compressed) {
      add_rows(step_kind::square, lanes, 0, storage.rows, storage.offsets, storage.numbers, true);
    } else {
      add_rows(step_kind::square, lanes, p.first_row, p.rows(), storage.offsets - p.first_row, -1, true);
    }
  }

  void add_triangle(const part& p, const triangle_levels<Index>& t, policy::triangle_kernel kernel,
                    const row_storage& storage) {
    const double length = static_cast<double>(t.facts.entries) / static_cast<double>(t.facts.rows);
    const int lanes =
        length <= Tuning::scalar_entries ? 1 : shared_row_lanes<Tuning>(kernels_.selector, length);
    const std::int64_t offsets = storage.offsets - p.first_row;
    const bool has_sums = p.first_row > 0;
    planned_part planned{};
    planned.is_triangle = true;
    planned.triangle = t.facts;
    planned.of_triangle = kernel;
    begin(planned, p, storage);
    if (kernel == policy::triangle_kernel::by_levels) {
      for (std::int64_t level = 0; level < t.facts.levels; ++level) {
        const std::int64_t first = t.level_offsets[level];
        add_rows(step_kind::level, lanes, first, t.level_offsets[level + 1] - first, offsets, -1, has_sums);
      }
      return;
    }
    step s{};
    s.offsets = offsets;
    s.numbers = -1;
    s.has_sums = has_sums;
    if (kernel == policy::triangle_kernel::serial) {
      s.kind = step_kind::serial;
      s.lanes = lanes;
      s.first_item = t.first_level;
      s.items = t.facts.levels;
      s.items_per_task = t.facts.levels;
    } else {
      s.kind = step_kind::polled;
      s.lanes = 32;
      s.first_item = t.first_warp;
      s.items = t.last_warp - t.first_warp;
      s.items_per_task = Tuning::block_threads / 32;
    }
    add(s);
  }

  step_list build() { return std::move(made_); }

 private:
  void begin(planned_part planned, const part& p, const row_storage& storage) {
    planned.first_row = p.first_row;
    planned.stored_rows = storage.rows;
    planned.columns = p.last_column - p.first_column;
    planned.first_step = planned.last_step = made_.steps.size();
    made_.parts.push_back(planned);
  }

  void add_rows(step_kind kind, int lanes, std::int64_t first, std::int64_t rows, std::int64_t offsets,
                std::int64_t numbers, bool has_sums) {
    const std::int64_t rows_at_once = Tuning::block_threads / lanes;
    const std::int64_t rounds = simt::ceil_div(rows, rows_at_once) / (2 * resident_);
    step s{};
    s.kind = kind;
    s.lanes = lanes;
    s.first_item = first;
    s.items = rows;
    s.items_per_task = rows_at_once * std::clamp<std::int64_t>(rounds, 1, Tuning::max_rounds);
    s.offsets = offsets;
    s.numbers = numbers;
    s.has_sums = has_sums;
    add(s);
  }

  void add(step s) {
    s.first_task = made_.tasks();
    s.awaited_tasks = made_.steps.empty() ? 0 : made_.steps.back().tasks();
    made_.step_of_task.insert(made_.step_of_task.end(), static_cast<std::size_t>(s.tasks()),
                              static_cast<std::int32_t>(made_.steps.size()));
    made_.steps.push_back(s);
    ++made_.parts.back().last_step;
  }

  policy::block_kernels kernels_;
  std::int64_t resident_;
  step_list made_;
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
  for (const planned_part& p : steps.parts) {
    if (p.is_triangle) {
      ++counts[p.triangle.levels == 1 ? 0 : static_cast<int>(p.of_triangle)];
    } else {
      ++counts[3 + static_cast<int>(p.of_square)];
      updated += p.stored_rows;
      read += p.columns;
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

}  // namespace sptrsv::detail::block
