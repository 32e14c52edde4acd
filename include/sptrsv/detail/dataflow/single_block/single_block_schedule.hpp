// SPDX-License-Identifier: Apache-2.0
// The schedule of a single_block solve, made on the host: which row is solved in which tile, and where each
// of its entries finds the component that it needs.
//
// Components go round the x ring buffer: row r of tile t writes component 1 + (t mod T) * rows + r, where T
// is the length of the ring buffer in tiles; component 0 is zero. Rows stand one after the other, and a tile
// ends early if a row needs a row of the same tile that is out of its reach. Three kinds of rows keep all
// tiles in one shape:
// - rows of the system;
// - partial rows: a row with more entries than a tile has room for leaves its oldest ones to partial rows,
//   whose value (minus the sum of their products) it takes with the factor -1;
// - reloading rows: a component that has left the ring buffer returns to it as a row without entries, whose
//   right-hand side is this component, read from x.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_shape.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// The place of an entry's value is a slot of the tiles' values; or, with this bit, an in-tile entry: its row
/// of the schedule times the rows of a tile, plus the column's number in the tile.
inline constexpr std::uint32_t in_tile_bit = 1u << 31;

/// What schedules of the paths single_block and natural_blocks (where a tile is a block) have in common.
struct schedule_arrays {
  in_tile_layout in_tile{};
  std::int64_t tiles = 0;                 ///< of natural_blocks: steps
  std::int64_t x_ring_size = 0;           ///< components (blocks) in the ring buffer, without the zero
  std::int64_t schedule_rows = 0;         ///< with rows that are empty
  std::int64_t value_slots = 0;           ///< for values of entries that are not in-tile entries
  std::vector<std::uint16_t> operands;    ///< by slot (tile): component (block) of the ring buffer
  std::vector<std::uint32_t> link_slots;  ///< by link to a partial row: the place of its factor -1
};

struct schedule : schedule_arrays {
  shape_values shape{};
  std::int64_t reloads = 0;                 ///< number of reloading rows
  std::vector<tile_row> rows;               ///< by row of the schedule: tile * rows + row in tile
  std::vector<std::uint32_t> in_tile_rows;  ///< by row of the schedule: a bit for each row of its tile needed
  std::vector<std::uint32_t> entry_slots;   ///< by entry of the triangle: the place of its value
  std::vector<std::uint32_t> row_slots;     ///< by row of the triangle: its row of the schedule
};

template <class Index, class Offset>
class schedule_builder {
 public:
  /// `rows`: without sources. `x_ring_tiles`: of the ring buffer, at least twice the reload distance.
  schedule_builder(const host_triangle<Index, Offset>& rows, const shape_values& shape,
                   std::int64_t x_ring_tiles, bool reversed)
      : in_(rows),
        rows_(shape.rows),
        capacity_(shape.row_capacity()),
        x_ring_tiles_(x_ring_tiles),
        reversed_(reversed),
        filled_(shape.rows) {
    p_.shape = shape;
    p_.x_ring_size = x_ring_tiles * shape.rows;
    p_.entry_slots.resize(rows.columns.size());
    p_.row_slots.resize(rows.row_offsets.size() - 1);
  }

  /// Returns the schedule; nothing if the ring buffer is too short for this triangle. `order`: the rows, each
  /// one after the rows that it needs. `tiles`: how many are expected; there may be more.
  std::optional<schedule> build(const std::vector<Index>& order, std::int64_t tiles = 0) {
    const auto rows = at((tiles + p_.shape.stage_tiles) * rows_);
    p_.rows.reserve(rows);
    p_.in_tile_rows.reserve(rows);
    p_.operands.reserve(rows * at(capacity_));
    std::vector<term> terms;
    for (std::size_t i = 0; i < order.size() && !failed_; ++i) {
      const Index row = order[i];
      terms.clear();
      const auto r = at(row);
      for (auto e = at(in_.row_offsets[r]); e < at(in_.row_offsets[r + 1]); ++e) {
        terms.push_back({p_.row_slots[at(in_.columns[e])], static_cast<std::uint32_t>(e)});
      }
      const auto x_row = static_cast<std::int32_t>(reversed_ ? in_.size() - 1 - row : row);
      p_.row_slots[r] = place_row({x_row, x_row}, terms);
    }
    while (p_.tiles % p_.shape.stage_tiles != 0) {
      add_tile();
    }
    p_.x_ring_size = std::min(p_.x_ring_size, p_.tiles * rows_);
    p_.in_tile = {rows_, p_.shape.reach, p_.shape.in_tile_entries};
    p_.schedule_rows = count_of(p_.rows);
    p_.value_slots = count_of(p_.operands);
    return failed_ ? std::nullopt : std::optional<schedule>(std::move(p_));
  }

 private:
  struct term {
    std::uint32_t slot;   ///< row of the schedule whose component is multiplied
    std::uint32_t entry;  ///< entry of the triangle; with link_bit: a link to a partial row
  };
  static constexpr std::uint32_t link_bit = 1u << 31;

  /// Returns the first row of the schedule of a tile.
  [[nodiscard]] std::int64_t first_slot(std::int64_t tile) const { return tile * rows_; }
  /// Returns the first row of the schedule whose component is in the ring buffer when `tile` is solved.
  [[nodiscard]] std::int64_t oldest_slot(std::int64_t tile) const {
    return first_slot(tile - x_ring_tiles_ + 1);
  }

  /// Puts the row into the first tile that has room for it; returns its row of the schedule.
  std::uint32_t place_row(const tile_row& row, std::vector<term>& terms) {
    while (!failed_) {
      split_off_partial_rows(terms);
      const std::int64_t tile = tile_for(terms);
      if (!reload_missing(terms, tile)) {
        return put(row, terms, tile);
      }
    }
    return 0;
  }

  /// Returns the first tile that can take the row: the last one, or a new one.
  [[nodiscard]] std::int64_t tile_for(const std::vector<term>& terms) const {
    const std::int64_t last = p_.tiles - 1;
    const std::int64_t first = first_slot(last);
    const std::int64_t first_in_reach = first + filled_ - p_.shape.reach;
    const bool is_full = filled_ == rows_ || std::any_of(terms.begin(), terms.end(), [&](const term& t) {
                           return t.slot >= first && t.slot < first_in_reach;
                         });
    return is_full ? last + 1 : last;
  }

  /// Replaces the oldest terms by links to partial rows until the rest fits.
  void split_off_partial_rows(std::vector<term>& terms) {
    const auto room = at(capacity_);
    for (std::size_t outer = outer_terms(terms); outer > room && !failed_; outer = outer_terms(terms)) {
      std::sort(terms.begin(), terms.end(), [](const term& a, const term& b) { return a.slot < b.slot; });
      const std::size_t partials = std::min((outer - room + room - 2) / (room - 1), outer / room);
      std::vector<term> rest;
      std::vector<term> partial;
      for (std::size_t k = 0; k < partials; ++k) {
        partial.assign(terms.begin() + static_cast<std::ptrdiff_t>(k * room),
                       terms.begin() + static_cast<std::ptrdiff_t>((k + 1) * room));
        const std::uint32_t slot = place_row({no_row, no_row}, partial);
        rest.push_back({slot, link_bit | static_cast<std::uint32_t>(p_.link_slots.size())});
        p_.link_slots.push_back(0);
      }
      rest.insert(rest.end(), terms.begin() + static_cast<std::ptrdiff_t>(partials * room), terms.end());
      terms.swap(rest);
    }
  }
  /// Returns how many terms the row would take from earlier tiles if it were placed now.
  [[nodiscard]] std::size_t outer_terms(const std::vector<term>& terms) const {
    return terms.size() <= at(capacity_) ? terms.size() : outer_terms(terms, tile_for(terms));
  }
  /// Returns how many terms the row takes from earlier tiles if it is placed in `tile`.
  [[nodiscard]] std::size_t outer_terms(const std::vector<term>& terms, std::int64_t tile) const {
    const std::int64_t begin = first_slot(tile);
    return at(std::count_if(terms.begin(), terms.end(), [&](const term& t) { return t.slot < begin; }));
  }

  /// Reloads the terms that will have left the ring buffer in `tile`. Returns whether the row can no longer
  /// stand in `tile`: its room may be taken, or one more term come from an earlier tile.
  bool reload_missing(std::vector<term>& terms, std::int64_t tile) {
    bool has_reloaded = false;
    for (term& t : terms) {
      if (t.slot < oldest_slot(tile)) {
        t.slot = reload(t.slot, tile);
        has_reloaded = true;
      }
    }
    return failed_ || (has_reloaded && (tile_for(terms) != tile || outer_terms(terms, tile) > at(capacity_)));
  }

  std::uint32_t reload(std::uint32_t slot, std::int64_t tile) {
    const std::int32_t x_row = p_.rows[slot].target;
    if (x_row == no_row) {  // a partial row
      failed_ = true;
      return slot;
    }
    const auto known = reloaded_.find(x_row);
    if (known != reloaded_.end() && known->second >= oldest_slot(tile)) {
      return known->second;
    }
    const std::uint32_t made = put({reload_source(x_row), no_row}, {}, tile_for({}));
    ++p_.reloads;
    return reloaded_[x_row] = made;
  }

  std::uint32_t put(const tile_row& row, const std::vector<term>& terms, std::int64_t tile) {
    if (tile == p_.tiles) {
      add_tile();
    }
    const auto begin = static_cast<std::uint32_t>(first_slot(tile));
    const std::uint32_t slot = begin + static_cast<std::uint32_t>(filled_++);
    const auto ring_size = static_cast<std::uint32_t>(p_.x_ring_size);
    if (begin >= ring_begin_ + ring_size) {
      ring_begin_ += ring_size;
    }
    p_.rows[slot] = row;
    entry_slots next(p_.shape, slot);
    for (const term& t : terms) {
      std::uint32_t to = 0;
      if (t.slot >= begin) {
        const std::uint32_t in_tile = t.slot - begin;
        p_.in_tile_rows[slot] |= 1u << in_tile;
        to = in_tile_bit | (slot * static_cast<std::uint32_t>(rows_) + in_tile);
      } else {
        to = next.take();
        // The ring buffer has the components of the tile's lap and the end of the one before.
        const std::uint32_t lap_begin = t.slot < ring_begin_ ? ring_begin_ - ring_size : ring_begin_;
        p_.operands[to] = static_cast<std::uint16_t>(1 + (t.slot - lap_begin));
      }
      ((t.entry & link_bit) != 0 ? p_.link_slots[t.entry & ~link_bit] : p_.entry_slots[t.entry]) = to;
    }
    return slot;
  }

  void add_tile() {
    ++p_.tiles;
    filled_ = 0;
    failed_ = failed_ || p_.tiles * rows_ * std::max(capacity_, rows_) >= in_tile_bit;
    p_.rows.resize(at(p_.tiles * rows_), {no_row, no_row});
    p_.in_tile_rows.resize(at(p_.tiles * rows_), 0u);
    p_.operands.resize(at(p_.tiles * rows_ * capacity_), 0);
  }

  const host_triangle<Index, Offset>& in_;
  int rows_;
  int capacity_;
  std::int64_t x_ring_tiles_;
  bool reversed_;
  int filled_;                    ///< rows of the last tile
  std::uint32_t ring_begin_ = 0;  ///< row of the schedule with which the lap of the last tile begins
  bool failed_ = false;
  schedule p_;
  std::unordered_map<std::int32_t, std::uint32_t> reloaded_;  ///< by row of x: its latest reloading row
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
