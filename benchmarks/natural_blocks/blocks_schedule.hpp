// The natural blocks of a triangle, and the schedule of a solve with them, made on the host: which block is
// solved in which step, and where its tiles find the components that they need.
//
// Components go round the x ring buffer, a block in each place; place 0 holds zeros. A block stands in the
// first step behind those that it needs in which there is room. A block with more tiles than its lanes have
// room for leaves the oldest ones to partial blocks, whose components (minus the sum of their products) it
// takes with a tile of factors -1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "benchmarks/natural_blocks/blocks_shape.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"

namespace sptrsv_benchmarks::natural_blocks {

using sptrsv::detail::host_triangle;

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
    bool joins = row > 0 && inside < max_rows && t.length(static_cast<Index>(row)) == outside + inside &&
                 std::equal(columns_of(first), columns_of(first) + outside, columns_of(row));
    for (std::int64_t k = 0; joins && k < inside; ++k) {
      joins = columns_of(row)[outside + k] == first + k;
    }
    if (!joins) {
      first = row;
      first_rows.push_back(static_cast<Index>(row));
    }
  }
  first_rows.push_back(static_cast<Index>(t.size()));
  return first_rows;
}

/// What the kernel reads, and where the values of entries go. A block of the schedule has its number among
/// all blocks for which the steps have room, a row of the schedule its number among the rows of these.
struct schedule {
  shape_values shape{};
  std::int64_t steps = 0;
  std::int64_t ring_blocks = 0;              ///< without the zero
  std::vector<std::uint16_t> operands;       ///< by tile: place of its components
  std::vector<std::uint64_t> present;        ///< by tile: a bit for each entry, by columns
  std::vector<std::uint16_t> places;         ///< by block of the schedule
  std::vector<single_block::tile_row> rows;  ///< by row of the schedule
  std::vector<std::uint32_t>
      in_block_rows;                       ///< by row of the schedule: a bit for each row of its block needed
  std::vector<std::uint32_t> entry_slots;  ///< by entry of the triangle, as in single_block::schedule
  std::vector<std::uint32_t> link_slots;   ///< by factor -1 of the links to partial blocks
  std::vector<std::uint32_t> row_slots;    ///< by row of the triangle: its row of the schedule
  std::int64_t partial_blocks = 0;
};

template <class Index, class Offset>
class schedule_builder {
 public:
  /// `first_rows`: see find_blocks. `max_ring_blocks`: for which there is room, at most 65,534.
  schedule_builder(const host_triangle<Index, Offset>& rows, const std::vector<Index>& first_rows,
                   const shape_values& shape, std::int64_t max_ring_blocks, bool reversed)
      : in_(rows), first_rows_(first_rows), max_ring_blocks_(max_ring_blocks), reversed_(reversed) {
    p_.shape = shape;
  }

  /// Returns the schedule; nothing if a component has left the ring buffer before it is needed.
  std::optional<schedule> build() {
    number_rows();
    for (const std::int32_t block : by_levels()) {
      place_block(block);
    }
    number_places();
    if (!fits()) {
      return {};
    }
    make_arrays();
    for (std::int32_t block = 0; block < blocks(); ++block) {
      fill(block);
    }
    return std::move(p_);
  }

 private:
  /// A block, or a partial block. `needs`: the blocks whose components it takes, a tile each.
  struct placed {
    std::vector<std::int32_t> needs;
    std::int64_t step = 0;
    std::int32_t in_step = 0;
    std::int64_t index = 0;          ///< in the order of steps
    std::int32_t first_partial = 0;  ///< its partial blocks stand one after the other
    std::int32_t partials = 0;
  };

  [[nodiscard]] std::int32_t blocks() const { return static_cast<std::int32_t>(first_rows_.size()) - 1; }
  [[nodiscard]] std::int64_t first_row(std::int32_t block) const { return first_rows_[at(block)]; }
  [[nodiscard]] std::int64_t end_row(std::int32_t block) const { return first_rows_[at(block + 1)]; }

  void number_rows() {
    block_of_.resize(at(in_.size()));
    placed_.resize(at(blocks()));
    for (std::int32_t b = 0; b < blocks(); ++b) {
      std::fill(block_of_.begin() + first_row(b), block_of_.begin() + end_row(b), b);
    }
    std::vector<std::int32_t> last(at(blocks()), -1);  // the block that has met it last
    for (std::int32_t b = 0; b < blocks(); ++b) {
      for (auto e = at(in_.row_offsets[at(first_row(b))]); e < at(in_.row_offsets[at(end_row(b))]); ++e) {
        const std::int32_t other = block_of_[at(in_.columns[e])];
        if (other != b && last[at(other)] != b) {
          last[at(other)] = b;
          placed_[at(b)].needs.push_back(other);
        }
      }
    }
  }

  /// Returns the blocks level by level.
  [[nodiscard]] std::vector<std::int32_t> by_levels() const {
    std::vector<std::int32_t> level(at(blocks()), 0);
    std::vector<std::int32_t> order(at(blocks()));
    for (std::int32_t b = 0; b < blocks(); ++b) {
      order[at(b)] = b;
      for (const std::int32_t other : placed_[at(b)].needs) {
        level[at(b)] = std::max(level[at(b)], level[at(other)] + 1);
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return level[at(a)] < level[at(b)]; });
    return order;
  }

  void place_block(std::int32_t block) {
    std::vector<std::int32_t> needs = std::move(placed_[at(block)].needs);
    const auto is_older = [&](std::int32_t a, std::int32_t b) {
      return placed_[at(a)].step < placed_[at(b)].step;
    };
    std::sort(needs.begin(), needs.end(), is_older);
    const auto first_partial = static_cast<std::int32_t>(placed_.size());
    const auto room = static_cast<std::ptrdiff_t>(p_.shape.capacity());
    while (static_cast<std::ptrdiff_t>(needs.size()) > room) {
      const auto partial = static_cast<std::int32_t>(placed_.size());
      placed_.emplace_back().needs.assign(needs.begin(), needs.begin() + room);
      put(placed_.back());
      needs.erase(needs.begin(), needs.begin() + room);
      needs.insert(std::upper_bound(needs.begin(), needs.end(), partial, is_older), partial);
    }
    placed& made = placed_[at(block)];
    made.needs = std::move(needs);
    made.first_partial = first_partial;
    made.partials = static_cast<std::int32_t>(placed_.size()) - first_partial;
    put(made);
    p_.partial_blocks += made.partials;
  }
  /// Puts a block into the first step behind what it needs that has room.
  void put(placed& block) {
    std::int64_t step = 0;
    for (const std::int32_t other : block.needs) {
      step = std::max(step, placed_[at(other)].step + 1);
    }
    step = with_room(step);
    block.step = step;
    block.in_step = filled_[at(step)]++;
    if (filled_[at(step)] == p_.shape.step_blocks()) {
      next_[at(step)] = step + 1;
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

  void number_places() {
    p_.steps = static_cast<std::int64_t>(filled_.size());
    while (p_.steps > 0 && filled_[at(p_.steps - 1)] == 0) {
      --p_.steps;
    }
    first_of_step_.assign(at(p_.steps + 1), 0);
    for (std::int64_t s = 0; s < p_.steps; ++s) {
      first_of_step_[at(s + 1)] = first_of_step_[at(s)] + filled_[at(s)];
    }
    for (placed& b : placed_) {
      b.index = first_of_step_[at(b.step)] + b.in_step;
    }
    p_.ring_blocks = std::min(max_ring_blocks_, static_cast<std::int64_t>(placed_.size()));
  }
  /// Returns whether each component is still in the ring buffer when it is needed: the blocks of a step
  /// replace the oldest ones while others of the step still read.
  [[nodiscard]] bool fits() const {
    const auto steps = static_cast<std::uint64_t>(p_.steps);
    const auto rows = steps * at(p_.shape.step_blocks() * p_.shape.rows);
    const auto slots = steps * at(p_.shape.warps * p_.shape.tiles * 32 * p_.shape.tile_entries());
    if (std::max(rows * at(p_.shape.rows), slots) >= single_block::in_tile_bit) {
      return false;
    }
    return std::all_of(placed_.begin(), placed_.end(), [&](const placed& b) {
      return std::all_of(b.needs.begin(), b.needs.end(), [&](std::int32_t other) {
        return placed_[at(other)].index >= first_of_step_[at(b.step + 1)] - p_.ring_blocks;
      });
    });
  }

  void make_arrays() {
    const auto blocks = at(p_.steps * p_.shape.step_blocks());
    const auto tiles = at(p_.steps * p_.shape.warps * p_.shape.tiles * 32);
    const auto rows = blocks * at(p_.shape.rows);
    p_.operands.assign(tiles, 0);
    p_.present.assign(tiles, 0);
    p_.places.assign(blocks, 0);
    p_.rows.assign(rows, {single_block::no_row, single_block::no_row});
    p_.in_block_rows.assign(rows, 0);
    p_.entry_slots.resize(in_.columns.size());
    p_.row_slots.resize(at(in_.size()));
    tile_from_.resize(placed_.size());
  }

  [[nodiscard]] std::int64_t schedule_block(const placed& b) const {
    return b.step * p_.shape.step_blocks() + b.in_step;
  }
  [[nodiscard]] std::uint16_t place(const placed& b) const {
    return static_cast<std::uint16_t>(1 + b.index % p_.ring_blocks);
  }
  /// Returns the number of the k-th tile of a block.
  [[nodiscard]] std::int64_t tile(const placed& b, int k) const {
    const int in_warp = b.in_step % p_.shape.warp_blocks();
    const std::int64_t warp = b.step * p_.shape.warps + b.in_step / p_.shape.warp_blocks();
    return (warp * p_.shape.tiles + k / p_.shape.lanes) * 32 + in_warp * p_.shape.lanes + k % p_.shape.lanes;
  }
  /// Notes that the matrix has an entry (r, c) in a tile, and returns its slot.
  std::uint32_t take_slot(std::int64_t tile, std::int64_t r, std::int64_t c) {
    const std::int64_t k = c * p_.shape.rows + r;
    p_.present[at(tile)] |= std::uint64_t{1} << k;
    return static_cast<std::uint32_t>((tile / 32 * p_.shape.tile_entries() + k) * 32 + tile % 32);
  }

  /// Says where the block and its partial blocks find their components; remembers the tiles.
  void fill_operands(const placed& b, std::int64_t rows) {
    p_.places[at(schedule_block(b))] = place(b);
    for (std::size_t k = 0; k < b.needs.size(); ++k) {
      const std::int32_t other = b.needs[k];
      const std::int64_t to = tile(b, static_cast<int>(k));
      p_.operands[at(to)] = place(placed_[at(other)]);
      tile_from_[at(other)] = to;
      for (std::int64_t r = 0; other >= blocks() && r < rows; ++r) {
        p_.link_slots.push_back(take_slot(to, r, r));
      }
    }
  }
  void fill(std::int32_t block) {
    const placed& b = placed_[at(block)];
    const std::int64_t first = first_row(block);
    for (std::int32_t k = 0; k < b.partials; ++k) {
      fill_operands(placed_[at(b.first_partial + k)], end_row(block) - first);
    }
    fill_operands(b, end_row(block) - first);
    for (std::int64_t row = first; row < end_row(block); ++row) {
      const auto slot = static_cast<std::uint32_t>(schedule_block(b) * p_.shape.rows + row - first);
      const auto x_row = static_cast<std::int32_t>(reversed_ ? in_.size() - 1 - row : row);
      p_.row_slots[at(row)] = slot;
      p_.rows[slot] = {x_row, x_row};
      for (auto e = at(in_.row_offsets[at(row)]); e < at(in_.row_offsets[at(row + 1)]); ++e) {
        const std::int64_t column = in_.columns[e];
        const std::int32_t other = block_of_[at(column)];
        const std::int64_t c = column - first_row(other);
        if (other == block) {
          p_.in_block_rows[slot] |= 1u << c;
          p_.entry_slots[e] = single_block::in_tile_bit | (slot * static_cast<std::uint32_t>(p_.shape.rows) +
                                                           static_cast<std::uint32_t>(c));
        } else {
          p_.entry_slots[e] = take_slot(tile_from_[at(other)], row - first, c);
        }
      }
    }
  }

  const host_triangle<Index, Offset>& in_;
  const std::vector<Index>& first_rows_;
  std::int64_t max_ring_blocks_;
  bool reversed_;
  std::vector<std::int32_t> block_of_;  ///< by row
  std::vector<placed> placed_;          ///< the blocks, then the partial blocks
  std::vector<std::int32_t> filled_;    ///< by step: its blocks
  std::vector<std::int64_t> next_;      ///< by step: itself, or a later step if it is full
  std::vector<std::int64_t> first_of_step_;
  std::vector<std::int64_t>
      tile_from_;  ///< by block: the tile of the block in work that takes its components
  schedule p_;
};

}  // namespace sptrsv_benchmarks::natural_blocks
