// SPDX-License-Identifier: Apache-2.0
// The work of a solve, in tasks of thread blocks, and where the contributions of supernodes are added in a
// forward solve.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// What a thread block does. A large panel is shared by several blocks, each with one tile of its rows.
enum class task_kind : std::int32_t {
  warps,  ///< each warp solves one supernode
  whole,  ///< the block solves one supernode
  /// Forward: begins the sums for some columns of a supernode, which its tiles complete. Backward, in packs
  /// only: sums what the tiles of a supernode have computed for some of its columns.
  sums,
  tile,  ///< the product with some rows of a panel
  /// Backward: the product with some rows of some columns of a panel, below the diagonal block.
  strip,
  /// The same with the first of these rows, among them those of the parent. It adds what the tiles and the
  /// other strips of the supernode have computed for its columns, so that its block solves for them.
  last_strip,
  pass  ///< of a distributed solve: passes values of other PEs on, those with the numbers [begin, end)
};

/// Columns of a strip, a lane for each.
inline constexpr int strip_columns = 32;

/// The task of a thread block. Kind `warps`: warp w solves supernode small[begin + w], if begin + w < end.
/// Otherwise the block works for `node`, and [begin, end) are columns of it (sums) or rows of its panel. A
/// strip has up to strip_columns columns from `column` on.
struct task {
  supernode node;
  std::int64_t begin;
  std::int64_t end;
  /// Backward: where its partial sums stand, one per column; sums and last_strip: those of the first tile.
  std::int64_t partials;
  std::int32_t tiles;  ///< backward, sums and last_strip: number of tiles, or tiles and rows of strips
  std::int32_t column;
  task_kind kind;
};

/// The tasks of a solve in the order of tickets: a task waits for earlier ones only.
struct task_list {
  std::vector<task> tasks;
  std::vector<supernode> small;  ///< supernodes that warps solve
  std::int64_t partials = 0;     ///< partial sums of all tiles; backward only
  std::int64_t levels = 0;       ///< of the tree
  std::uint32_t sharers = 1;     ///< blocks of a task, which share the right-hand sides

  [[nodiscard]] std::int64_t blocks() const { return count_of(tasks) * sharers; }
};

/// The limits of the memory of a block; see panel_space.
struct task_limits {
  std::int64_t block_threads;
  std::int64_t warp_entries;  ///< largest panel that a warp takes
  std::int64_t tile_entries;  ///< largest part of a panel that a block takes
  std::int64_t sum_columns;   ///< largest number of columns of a task of kind `sums`
  /// Backward: the blocks that share a panel take strips of so many columns and rows; 0: tiles of rows.
  std::int64_t strip_columns = 0;
  std::int64_t strip_rows = 0;
  std::int64_t lookahead =
      0;  ///< half levels by which parts of large panels are solved later or earlier, at most
  /// Forward: whether supernodes in forests have sums, too. Solves in packs need them.
  bool sums_in_forests = false;
};

/// The contributions to sums, and the sums. Each row of a panel has a sum: what other supernodes contribute
/// to it. Supernodes in forests have none, for their forest adds what they contribute to each other; only the
/// contributions to the outside rows of a forest reach sums.
template <class Offset>
struct sum_numbers {
  forests_view<Offset> forests;  ///< none: supernodes in forests have sums, too
  std::int64_t rows;             ///< in all lists of rows
  std::int64_t sums;
  std::int64_t contributions;

  /// `size`: columns of the system. `rows`: in all lists. `list`: null if forests have sums, too.
  static sum_numbers of(const forest_list* list, const forests_view<Offset>& view, std::int64_t size,
                        std::int64_t rows) {
    if (list == nullptr) {
      return {{}, rows, size + rows, rows};
    }
    return {view, rows, size + rows - list->items, rows - list->rows + list->outside_rows};
  }

  /// Returns the row of the lists of rows of a contribution. They are numbered in the order of these rows.
  template <class Context>
  SPTRSV_DEVICE std::int64_t row_of(Context& ctx, std::int64_t contribution) const {
    const std::int64_t number =
        last_before(ctx, contribution, [](const forest& f) { return f.contributions; });
    if (number < 0) {
      return contribution;
    }
    const forest f = ctx.load_constant(forests.forests + number);
    const std::int64_t t = contribution - f.contributions;
    return t < f.outside_count ? std::int64_t{ctx.load_constant(forests.outside_rows + f.outside + t)}
                               : f.rows_begin + f.rows + t - f.outside_count;
  }
  /// Returns the number of the first sum of a supernode in no forest.
  template <class Context>
  SPTRSV_DEVICE std::int64_t first_sum(Context& ctx, const supernode& node) const {
    const std::int64_t number = last_before(ctx, node.first, [](const forest& f) { return f.first; });
    std::int64_t skipped = 0;
    if (number >= 0) {
      const forest f = ctx.load_constant(forests.forests + number);
      skipped = f.items + f.columns + f.rows;
    }
    return node.first + node.rows_begin - skipped;
  }

 private:
  /// Returns the last forest whose `number` does not exceed `i`; -1 if there is none.
  template <class Context, class Number>
  SPTRSV_DEVICE std::int64_t last_before(Context& ctx, std::int64_t i, const Number& number) const {
    return triangle_kernels::last_that(-1, forests.count, [&](std::int64_t middle) {
      return number(ctx.load_constant(forests.forests + middle)) <= i;
    });
  }
};

/// Writes the number of the sum that each contribution belongs to. Runs once per contribution.
template <class Index, class Offset>
struct find_targets {
  supernodes<Index> of;
  sum_numbers<Offset> numbers;
  std::uint64_t* targets;
  Offset* contributions;  ///< output: the row in the lists of rows

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t c) const {
    const std::int64_t e = numbers.row_of(ctx, c);
    const std::int64_t s = triangle_kernels::major_of(ctx, of.rows_begin, of.count, e);
    const Index row = ctx.load_constant(of.rows + e);
    // The parent is the supernode of the first row of the list.
    const Index above = ctx.load_constant(of.rows + ctx.load_constant(of.rows_begin + s));
    auto target = of.open(ctx, of.of_column(ctx, above));
    std::int64_t panel_row = row - target.first;
    if (panel_row >= target.columns) {
      const Index* const rows = of.rows + target.rows_begin;
      const std::int64_t found = triangle_kernels::count_below(ctx, rows, target.rows, row);
      if (found < target.rows && ctx.load_constant(rows + found) == row) {
        panel_row = target.columns + found;
      } else {
        target = of.open(ctx, of.of_column(ctx, row));
        panel_row = row - target.first;
      }
    }
    ctx.store(targets + c, static_cast<std::uint64_t>(numbers.first_sum(ctx, target) + panel_row));
    ctx.store(contributions + c, static_cast<Offset>(e));
  }
};

/// The contributions of a sum, by their rows in the lists. One or two are named here: no second load.
template <class Offset>
struct alignas(2 * sizeof(Offset)) named_sources {
  Offset first;   ///< -1: there is none; below: -2 minus where the list begins among all sources
  Offset second;  ///< -1: there is none; if a list begins: its length
};

/// Names the contributions of each sum. Runs once per sum.
template <class Offset>
struct name_sources {
  const std::uint64_t* sorted_targets;
  const Offset* sources;  ///< by the order of targets
  std::int64_t count;
  named_sources<Offset>* named;  ///< by sum

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t sum) const {
    const auto key = static_cast<std::uint64_t>(sum);
    const std::int64_t begin = triangle_kernels::count_below(ctx, sorted_targets, count, key);
    std::int64_t length = 0;
    while (begin + length < count && length < 3 &&
           ctx.load_constant(sorted_targets + begin + length) == key) {
      ++length;
    }
    named_sources<Offset> found{length > 0 ? ctx.load_constant(sources + begin) : Offset{-1},
                                length > 1 ? ctx.load_constant(sources + begin + 1) : Offset{-1}};
    if (length > 2) {
      length = triangle_kernels::count_below(ctx, sorted_targets, count, key + 1) - begin;
      found = {static_cast<Offset>(-2 - begin), static_cast<Offset>(length)};
    }
    ctx.store(named + sum, found);
  }
};

template <class Offset>
struct contribution_lists {
  buffer<named_sources<Offset>> named;  ///< by sum
  buffer<Offset> sources;

  contribution_lists() = default;

  /// Throws errc::unsupported if Offset cannot count the sums.
  template <class Index, class Executor>
  contribution_lists(const supernodes<Index>& of, const sum_numbers<Offset>& numbers, const Executor& on,
                     memory_resource& resource) {
    SPTRSV_EXPECTS(numbers.rows <= max_count<Offset> && numbers.sums <= max_count<Offset>, errc::unsupported,
                   "the supernodes have ", numbers.rows,
                   " rows below them, too many for the offset type of the matrix");
    named = make_buffer<named_sources<Offset>>(numbers.sums, on, resource);
    sources = make_buffer<Offset>(numbers.contributions, on, resource);
    const std::int64_t count = numbers.contributions;
    auto targets = make_buffer<std::uint64_t>(count, on, resource);
    if (count > 0) {
      auto other_targets = make_buffer<std::uint64_t>(count, on, resource);
      auto other_sources = make_buffer<Offset>(count, on, resource);
      simt::for_each(on, count, find_targets<Index, Offset>{of, numbers, targets.data(), sources.data()});
      on.sort_pairs_in_place(targets, other_targets, sources, other_sources,
                             bits_for(static_cast<std::uint64_t>(numbers.sums)), resource);
    }
    simt::for_each(on, numbers.sums,
                   name_sources<Offset>{targets.data(), sources.data(), count, named.data()});
  }

  [[nodiscard]] std::size_t bytes() const { return named.bytes() + sources.bytes(); }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
