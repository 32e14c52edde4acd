// SPDX-License-Identifier: Apache-2.0
// The natural blocks of a triangle, and in which step of a solve each of them stands. They are pieces of runs
// of rows with the same structure: each row has the columns of the row before it, and this row.
//
// Components go round the x ring buffer, a block in each place; place 0 holds zeros. A block stands in the
// first step behind those that it needs in which there is room. A block with more tiles than its lanes have
// room for leaves the oldest ones to partial blocks, whose components (minus the sum of their products) it
// takes with a tile of factors -1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_shape.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

/// The runs of a triangle, in host memory: the columns of their first rows tell those of the others.
template <class Index, class Offset>
struct block_rows {
  std::vector<Index> first_rows;  ///< by run, and one more: the number of rows
  std::vector<Offset> offsets;    ///< by run, and one more, of its columns
  std::vector<Index> columns;     ///< of the first rows, ascending

  [[nodiscard]] std::int64_t rows() const { return first_rows.back(); }
  [[nodiscard]] std::int64_t runs() const { return count_of(first_rows) - 1; }
};

/// Writes whether a row begins a run. Runs once per row, by a warp.
template <class Index, class Offset>
struct mark_first_rows {
  triangle_view<Index, Offset> t;
  char* is_first;

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t row) const {
    const Offset begin = ctx.load_constant(t.row_offsets + row);
    const Offset before = ctx.load_constant(t.row_offsets + (row > 0 ? row - 1 : 0));
    const auto same = static_cast<std::int64_t>(begin - before);  // as many columns are compared
    const Offset end = ctx.load_constant(t.row_offsets + row + 1);
    bool joins = row > 0 && static_cast<std::int64_t>(end - begin) == same + 1 &&
                 static_cast<std::int64_t>(ctx.load_constant(t.columns + end - 1)) == row - 1;
    for (std::int64_t e = warp.rank(); warp.any(joins && e < same); e += 32) {
      const bool differs =
          e < same && ctx.load_constant(t.columns + begin + e) != ctx.load_constant(t.columns + before + e);
      joins = joins && !warp.any(differs);
    }
    if (warp.rank() == 0) {
      ctx.store(is_first + row, static_cast<char>(joins ? 0 : 1));
    }
  }
};

/// Finds the runs; their columns only if they have `least_rows` rows on average, else `offsets` is empty.
/// Synchronises.
template <class Index, class Offset, class Executor>
block_rows<Index, Offset> find_block_rows(const device_triangle<Index, Offset>& t, double least_rows,
                                          const Executor& on, const analysis_memory& memory) {
  const auto is_first = make_buffer<char>(t.size, on, memory.scratch);
  simt::for_each_by_tile<32>(on, t.size, mark_first_rows<Index, Offset>{t.view(), is_first.data()});
  const auto found =
      make_runs<Index>(t.size, array_kernels::element_of<char>{is_first.data()}, on, memory.all_scratch());
  block_rows<Index, Offset> made;
  if (static_cast<double>(t.size) < least_rows * static_cast<double>(found.count)) {
    return made;
  }
  const auto numbers = make_buffer<Index>(t.size, on, memory.scratch);  // columns stay as they are
  simt::for_each(on, t.size, array_kernels::write_iota<Index>{numbers.data()});
  const auto first =
      select_rows(t, row_selection<Index>{found.count, found.first.data(), numbers.data(), -1, true}, on,
                  memory.all_scratch());
  made.first_rows = download_array(found.first, on);
  made.offsets = download_array(first.row_offsets, on);
  made.columns = download_array(first.columns, on);
  return made;
}

/// The steps in which the blocks of a triangle are solved.
template <class Index>
class placement {
 public:
  /// A block, or a partial block.
  struct block {
    std::int64_t first_need = 0;  ///< it takes the components of needs[first_need] and those behind
    std::int32_t needs = 0;       ///< how many, a tile each
    std::int32_t step = 0;
    std::int32_t in_step = 0;
    std::int32_t index = 0;          ///< in the order of steps
    std::int32_t first_partial = 0;  ///< its partial blocks stand one after the other
    std::int32_t partials = 0;
  };

  shape_values shape{};
  std::vector<Index> first_rows;            ///< by block, and one more: the number of rows
  std::vector<std::int32_t> block_of;       ///< by row
  std::vector<block> placed;                ///< the blocks, then the partial blocks
  std::vector<std::int32_t> needs;          ///< blocks, see block::first_need
  std::vector<std::int32_t> first_of_step;  ///< by step, and one more: index of its first block
  std::int64_t ring_blocks = 0;             ///< of the x ring buffer, without the zero
  bool fits = false;                        ///< the other members are of use only then

  placement() = default;
  /// `max_ring_blocks`: for which there is room, at most 65,534. `fits` becomes whether fewer than
  /// `max_steps` are enough, and each component is still in the ring buffer when it is needed.
  template <class Offset>
  placement(const block_rows<Index, Offset>& rows, const shape_values& of, std::int64_t max_ring_blocks,
            double max_steps)
      : shape(of), block_of(at(rows.rows())) {
    cut(rows);
    if (static_cast<double>(blocks() / shape.step_blocks()) >= max_steps) {
      return;
    }
    std::int32_t checked = 0;
    for_each_block(rows, [&](std::int32_t b, const std::vector<need>& of_block) {
      wanted_.clear();
      for (const need& n : of_block) {
        wanted_.push_back({placed[at(n.block)].step, n.block});
      }
      place(b);
      if (static_cast<double>(filled_.size()) >= max_steps) {
        return false;
      }
      // Each check takes as long as all before it; what does not fit now will not fit later.
      if (b + 1 == std::max(1024, 2 * checked) || b + 1 == blocks()) {
        number();
        if (!are_in_ring(checked, b + 1, max_ring_blocks)) {
          return false;
        }
        checked = b + 1;
      }
      return true;
    });
    if (checked < blocks()) {
      return;
    }
    ring_blocks = std::min(max_ring_blocks, count_of(placed));
    const auto slots = at(steps()) * at(shape.step_tiles() * shape.tile_entries());
    const auto entries = at(steps()) * at(shape.step_blocks() * shape.rows * shape.rows);
    fits = std::max(entries, slots) < single_block::in_tile_bit;
  }

  [[nodiscard]] std::int64_t steps() const { return count_of(first_of_step) - 1; }
  [[nodiscard]] std::int32_t blocks() const { return static_cast<std::int32_t>(first_rows.size()) - 1; }
  [[nodiscard]] std::int64_t first_row(std::int32_t b) const { return first_rows[at(b)]; }
  [[nodiscard]] std::int64_t end_row(std::int32_t b) const { return first_rows[at(b + 1)]; }

  /// A block that another one needs.
  struct need {
    std::int32_t block;
    std::int32_t entry;  ///< number of the first entry of each row that has a column in it
  };
  /// Calls visit(block, what it needs, ascending) for all blocks in their order, until it returns false.
  template <class Offset, class Visit>
  void for_each_block(const block_rows<Index, Offset>& rows, Visit visit) const {
    std::vector<need> needed;
    std::int32_t b = 0;
    for (std::int64_t run = 0; run < rows.runs(); ++run) {
      needed.clear();
      const auto begin = at(rows.offsets[at(run)]);
      const auto end = at(rows.offsets[at(run + 1)]);
      for (auto e = begin; e < end; ++e) {
        const std::int32_t other = block_of[at(rows.columns[e])];  // columns ascend: so do blocks
        if (needed.empty() || needed.back().block != other) {
          needed.push_back({other, static_cast<std::int32_t>(e - begin)});
        }
      }
      const std::int64_t first = rows.first_rows[at(run)];
      for (; b < blocks() && first_row(b) < rows.first_rows[at(run + 1)]; ++b) {
        if (!visit(b, needed)) {
          return;
        }
        needed.push_back(
            {b, static_cast<std::int32_t>(static_cast<std::int64_t>(end - begin) + first_row(b) - first)});
      }
    }
  }

 private:
  using step_and_block = std::pair<std::int32_t, std::int32_t>;

  /// Cuts the runs into blocks.
  template <class Offset>
  void cut(const block_rows<Index, Offset>& rows) {
    for (std::int64_t run = 0; run < rows.runs(); ++run) {
      const Index end = rows.first_rows[at(run + 1)];
      for (Index first = rows.first_rows[at(run)]; first < end; first += static_cast<Index>(shape.rows)) {
        const Index next = std::min(end, static_cast<Index>(first + shape.rows));
        std::fill(block_of.begin() + first, block_of.begin() + next,
                  static_cast<std::int32_t>(first_rows.size()));
        first_rows.push_back(first);
      }
    }
    first_rows.push_back(static_cast<Index>(rows.rows()));
    placed.resize(at(blocks()));
  }
  /// Places a block that needs the blocks `wanted_`, which are placed, and before it its partial blocks.
  void place(std::int32_t b) {
    const auto first_partial = static_cast<std::int32_t>(placed.size());
    const auto room = static_cast<std::ptrdiff_t>(shape.capacity());
    auto from = wanted_.begin();
    if (count_of(wanted_) > room) {
      std::sort(wanted_.begin(), wanted_.end());
      for (; wanted_.end() - from > room; --from) {
        const auto partial = static_cast<std::int32_t>(placed.size());
        placed.emplace_back();
        put(placed.back(), from, from + room);
        from += room;
        // The partial block takes the place of the last one it has taken, and moves to where it belongs.
        const step_and_block made{placed.back().step, partial};
        const auto place = std::upper_bound(from, wanted_.end(), made);
        *std::move(from, place, from - 1) = made;
      }
    }
    put(placed[at(b)], from, wanted_.end());
    placed[at(b)].first_partial = first_partial;
    placed[at(b)].partials = static_cast<std::int32_t>(placed.size()) - first_partial;
  }
  /// Puts a block into the first step behind what it needs that has room.
  void put(block& b, typename std::vector<step_and_block>::const_iterator from,
           typename std::vector<step_and_block>::const_iterator to) {
    b.first_need = count_of(needs);
    b.needs = static_cast<std::int32_t>(to - from);
    std::int32_t step = 0;
    for (; from != to; ++from) {
      needs.push_back(from->second);
      step = std::max(step, from->first + 1);
    }
    b.step = with_room(step);
    b.in_step = filled_[at(b.step)]++;
    if (filled_[at(b.step)] == shape.step_blocks()) {
      next_[at(b.step)] = b.step + 1;
    }
  }
  /// Returns the first step from `step` on that is not full.
  std::int32_t with_room(std::int32_t step) {
    std::int32_t found = step;
    for (;; found = next_[at(found)]) {
      while (at(found) >= next_.size()) {
        next_.push_back(static_cast<std::int32_t>(next_.size()));
        filled_.push_back(0);
      }
      if (next_[at(found)] == found) {
        break;
      }
    }
    while (next_[at(step)] != step) {  // the next search is shorter
      step = std::exchange(next_[at(step)], found);
    }
    return found;
  }

  /// Numbers the blocks that are placed.
  void number() {
    first_of_step.assign(filled_.size() + 1, 0);
    std::partial_sum(filled_.begin(), filled_.end(), first_of_step.begin() + 1);
    for (block& b : placed) {
      b.index = first_of_step[at(b.step)] + b.in_step;
    }
  }
  /// Returns whether what the blocks [first, last) and their partial blocks need is in a ring buffer then:
  /// the blocks of a step replace the oldest ones while others of the step still read.
  [[nodiscard]] bool are_in_ring(std::int32_t first, std::int32_t last, std::int64_t max_ring_blocks) const {
    const auto is_there = [&](const block& b) {
      const auto from = needs.begin() + b.first_need;
      return std::all_of(from, from + b.needs, [&](std::int32_t other) {
        return placed[at(other)].index >= first_of_step[at(b.step) + 1] - max_ring_blocks;
      });
    };
    const auto partials = placed.begin() + placed[at(first)].first_partial;
    return std::all_of(placed.begin() + first, placed.begin() + last, is_there) &&
           std::all_of(partials, placed.end(), is_there);
  }

  std::vector<std::int32_t> filled_;    ///< by step: its blocks
  std::vector<std::int32_t> next_;      ///< by step: itself, or a later step if it is full
  std::vector<step_and_block> wanted_;  ///< what the block in work needs
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
