// SPDX-License-Identifier: Apache-2.0
// The natural blocks of a triangle, and in which step of a solve each of them stands.
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

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_shape.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

/// Returns the first rows of the natural blocks, and the number of rows: a block is a run of at most
/// `max_rows` rows that have the same columns in front of the run and all entries inside it. Columns ascend.
template <class Index, class Offset>
std::vector<Index> find_blocks(const host_triangle<Index, Offset>& t, int max_rows) {
  const auto columns_of = [&](std::int64_t row) { return t.columns.begin() + t.row_offsets[at(row)]; };
  std::vector<Index> first_rows;
  std::int64_t first = 0;
  for (std::int64_t row = 0; row < t.size(); ++row) {
    const std::int64_t inside = row - first;
    const std::int64_t outside = t.length(static_cast<Index>(first));
    const bool fits = row > 0 && inside < max_rows && t.length(static_cast<Index>(row)) == outside + inside;
    const bool joins = fits && columns_of(row)[outside] == first &&  // so all columns inside are there
                       std::equal(columns_of(first), columns_of(first) + outside, columns_of(row));
    if (!joins) {
      first = row;
      first_rows.push_back(static_cast<Index>(row));
    }
  }
  first_rows.push_back(static_cast<Index>(t.size()));
  return first_rows;
}

/// The steps in which the blocks of a triangle are solved.
template <class Index>
class placement {
 public:
  /// A block, or a partial block.
  struct block {
    std::vector<std::int32_t> needs;  ///< the blocks whose components it takes, a tile each
    std::int64_t step = 0;
    std::int32_t in_step = 0;
    std::int64_t index = 0;          ///< in the order of steps
    std::int32_t first_partial = 0;  ///< its partial blocks stand one after the other
    std::int32_t partials = 0;
  };

  shape_values shape{};
  std::vector<Index> first_rows;            ///< see find_blocks
  std::vector<std::int32_t> block_of;       ///< by row
  std::vector<block> placed;                ///< the blocks, then the partial blocks
  std::vector<std::int64_t> first_of_step;  ///< by step, and one more: index of its first block
  std::int64_t ring_blocks = 0;             ///< of the x ring buffer, without the zero

  placement() = default;
  /// `max_ring_blocks`: for which there is room, at most 65,534.
  template <class Offset>
  placement(const host_triangle<Index, Offset>& rows, const shape_values& of, std::int64_t max_ring_blocks)
      : shape(of), first_rows(find_blocks(rows, of.rows)) {
    find_needs(rows);
    for (std::int32_t b = 0; b < blocks(); ++b) {
      place(b);
    }
    number(max_ring_blocks);
  }

  [[nodiscard]] std::int64_t steps() const { return count_of(first_of_step) - 1; }
  [[nodiscard]] std::int32_t blocks() const { return static_cast<std::int32_t>(first_rows.size()) - 1; }
  [[nodiscard]] std::int64_t first_row(std::int32_t b) const { return first_rows[at(b)]; }
  [[nodiscard]] std::int64_t end_row(std::int32_t b) const { return first_rows[at(b + 1)]; }

  /// Returns whether each component is still in the ring buffer when it is needed: the blocks of a step
  /// replace the oldest ones while others of the step still read.
  [[nodiscard]] bool fits() const {
    const auto rows = at(steps()) * at(shape.step_blocks() * shape.rows);
    const auto slots = at(steps()) * at(shape.step_tiles() * shape.tile_entries());
    if (std::max(rows * at(shape.rows), slots) >= single_block::in_tile_bit) {
      return false;
    }
    return std::all_of(placed.begin(), placed.end(), [&](const block& b) {
      return std::all_of(b.needs.begin(), b.needs.end(), [&](std::int32_t other) {
        return placed[at(other)].index >= first_of_step[at(b.step + 1)] - ring_blocks;
      });
    });
  }

 private:
  template <class Offset>
  void find_needs(const host_triangle<Index, Offset>& rows) {
    block_of.resize(at(rows.size()));
    placed.resize(at(blocks()));
    std::vector<std::int32_t> last(at(blocks()), -1);  // the block that has met it last
    for (std::int32_t b = 0; b < blocks(); ++b) {
      std::fill(block_of.begin() + first_row(b), block_of.begin() + end_row(b), b);
      const auto first = at(first_row(b));  // the other rows have the same columns
      for (auto e = at(rows.row_offsets[first]); e < at(rows.row_offsets[first + 1]); ++e) {
        const std::int32_t other = block_of[at(rows.columns[e])];
        if (std::exchange(last[at(other)], b) != b) {
          placed[at(b)].needs.push_back(other);
        }
      }
    }
  }

  void place(std::int32_t b) {
    std::vector<std::int32_t> needs = std::move(placed[at(b)].needs);
    const auto is_older = [&](std::int32_t one, std::int32_t other) {
      return placed[at(one)].step < placed[at(other)].step;
    };
    std::stable_sort(needs.begin(), needs.end(), is_older);
    const auto first_partial = static_cast<std::int32_t>(placed.size());
    const auto room = static_cast<std::ptrdiff_t>(shape.capacity());
    while (static_cast<std::ptrdiff_t>(needs.size()) > room) {
      const auto partial = static_cast<std::int32_t>(placed.size());
      placed.emplace_back().needs.assign(needs.begin(), needs.begin() + room);
      put(placed.back());
      needs.erase(needs.begin(), needs.begin() + room);
      needs.insert(std::upper_bound(needs.begin(), needs.end(), partial, is_older), partial);
    }
    block& made = placed[at(b)];
    made.needs = std::move(needs);
    made.first_partial = first_partial;
    made.partials = static_cast<std::int32_t>(placed.size()) - first_partial;
    put(made);
  }
  /// Puts a block into the first step behind what it needs that has room.
  void put(block& b) {
    std::int64_t step = 0;
    for (const std::int32_t other : b.needs) {
      step = std::max(step, placed[at(other)].step + 1);
    }
    b.step = with_room(step);
    b.in_step = filled_[at(b.step)]++;
    if (filled_[at(b.step)] == shape.step_blocks()) {
      next_[at(b.step)] = b.step + 1;
    }
  }
  /// Returns the first step from `step` on that is not full.
  std::int64_t with_room(std::int64_t step) {
    std::int64_t found = step;
    for (;; found = next_[at(found)]) {
      while (at(found) >= next_.size()) {
        next_.push_back(static_cast<std::int64_t>(next_.size()));
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

  void number(std::int64_t max_ring_blocks) {
    first_of_step.assign(filled_.size() + 1, 0);
    std::partial_sum(filled_.begin(), filled_.end(), first_of_step.begin() + 1);
    for (block& b : placed) {
      b.index = first_of_step[at(b.step)] + b.in_step;
    }
    ring_blocks = std::min(max_ring_blocks, static_cast<std::int64_t>(placed.size()));
  }

  std::vector<std::int32_t> filled_;  ///< by step: its blocks
  std::vector<std::int64_t> next_;    ///< by step: itself, or a later step if it is full
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
