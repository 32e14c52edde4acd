// SPDX-License-Identifier: Apache-2.0
// Kernels that fill the arrays of a natural_blocks schedule in which each row, entry or tile has an element.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_schedule.hpp"
#include "sptrsv/detail/dataflow/single_block/scheduled_path.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

/// The arrays. Those of the schedule begin with zeros, and `rows` with no_row.
template <class Index, class Offset>
struct value_places {
  triangle_view<Index, Offset> t;
  const std::int32_t* first_rows;  ///< see schedule
  const std::int32_t* numbers;
  const std::int32_t* first_tiles;
  const placed_tile* tiles;
  int block_rows;  ///< of the shape
  bool reversed;   ///< see triangle_form
  std::uint32_t* entry_slots;
  std::uint32_t* row_slots;
  std::uint64_t* present;
  single_block::tile_row* rows;
  std::uint32_t* in_tile_rows;
};

/// Places the entries of all rows of a block in one tile. Runs once per tile, see for_each_entry().
template <class Index, class Offset>
struct place_tile : value_places<Index, Offset> {
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t block, std::int64_t k) const {
    const placed_tile tile = ctx.load_constant(this->tiles + k);
    const std::int32_t first = ctx.load_constant(this->first_rows + block);
    const int count = ctx.load_constant(this->first_rows + block + 1) - first;
    const Offset begin = ctx.load_constant(this->t.row_offsets + first);
    const auto length = static_cast<std::int32_t>(ctx.load_constant(this->t.row_offsets + first + 1) - begin);
    const bool is_last = k + 1 == ctx.load_constant(this->first_tiles + block + 1);
    const std::int32_t end = is_last ? length : ctx.load_constant(this->tiles + k + 1).entry;
    std::uint64_t found = 0;
    for (std::int32_t e = tile.entry; e < end; ++e) {
      const auto column = static_cast<int>(ctx.load_constant(this->t.columns + begin + e)) - tile.first_row;
      auto at = begin + static_cast<Offset>(e);
      for (int r = 0; r < count; ++r) {
        const int value = column * this->block_rows + r;
        found |= std::uint64_t{1} << value;
        ctx.store(this->entry_slots + at,
                  value_slot(tile.number, value, this->block_rows * this->block_rows));
        at += static_cast<Offset>(length + r);  // the next row has one entry more
      }
    }
    ctx.store(this->present + tile.number, found);
  }
};

/// Places a row and its entries inside its block. Runs once per row, see for_each_entry().
template <class Index, class Offset>
struct place_row : value_places<Index, Offset> {
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t block, std::int64_t row) const {
    const auto inside = static_cast<std::uint32_t>(row - ctx.load_constant(this->first_rows + block));
    const auto all = static_cast<std::uint32_t>(this->block_rows);
    const std::uint32_t slot =
        static_cast<std::uint32_t>(ctx.load_constant(this->numbers + block)) * all + inside;
    const auto x_row = static_cast<std::int32_t>(this->reversed ? this->t.size - 1 - row : row);
    ctx.store(this->rows + slot, single_block::tile_row{x_row, x_row});
    ctx.store(this->row_slots + row, slot);
    ctx.store(this->in_tile_rows + slot, (1u << inside) - 1);
    const Offset first = ctx.load_constant(this->t.row_offsets + row + 1) - static_cast<Offset>(inside);
    for (std::uint32_t c = 0; c < inside; ++c) {
      ctx.store(this->entry_slots + first + c, single_block::in_tile_bit | (slot * all + c));
    }
  }
};

/// Marks the factors of a link to a partial block in its tile. Runs once per factor.
struct mark_link {
  const std::uint32_t* slots;
  std::int64_t count;
  int tile_entries;
  std::uint64_t* present;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::uint32_t first = ctx.load_constant(slots + k);
    if (value_of(first) != 0) {
      return;  // the thread of the first factor has the tile
    }
    std::uint64_t found = 1;
    for (std::int64_t other = k + 1; other < count; ++other) {
      const std::uint32_t slot = ctx.load_constant(slots + other);
      if (tile_of(slot) != tile_of(first)) {
        break;
      }
      found |= std::uint64_t{1} << value_of(slot);
    }
    ctx.store(present + tile_of(first), found);
  }

 private:
  [[nodiscard]] SPTRSV_DEVICE std::uint32_t value_of(std::uint32_t slot) const {
    return slot / 32 % static_cast<std::uint32_t>(tile_entries);
  }
  [[nodiscard]] SPTRSV_DEVICE std::uint32_t tile_of(std::uint32_t slot) const {
    return slot / 32 / static_cast<std::uint32_t>(tile_entries) * 32 + slot % 32;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
