// SPDX-License-Identifier: Apache-2.0
// The paths whose schedule the host makes, single_block and natural_blocks: the kernel and the arrays of
// each, for scheduled_path. Of natural_blocks the device fills the larger arrays.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_agent.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_schedule.hpp"
#include "sptrsv/detail/dataflow/single_block/scheduled_path.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_agent.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {
namespace single_block {

template <class Tuning>
struct tile_method {
  static constexpr const char* name = "single_block";
  using schedule = single_block::schedule;

  template <class Scalar, class Executor>
  static void launch(int shape_index, std::uint32_t blocks, const kernel_params<Scalar>& p,
                     const Executor& on) {
    shapes_of<Tuning>::type::with(shape_index, [&](auto shape) {
      using shape_type = decltype(shape);
      on.template launch<agent<Scalar, shape_type>>(blocks, p,
                                                    shared_memory<Scalar, shape_type>::bytes(p.x_ring_size));
    });
  }

  template <class Triangle, class Scalar, class Executor>
  static void add_arrays(const schedule& from, const Triangle&, kernel_params<Scalar>& p, value_slots& slots,
                         device_arrays& arrays, const Executor& on, memory_resource& resource) {
    p.rows = arrays.begin_add(from.rows, on, resource);
    p.in_tile_rows = arrays.begin_add(from.in_tile_rows, on, resource);
    slots.of_entries = arrays.begin_add(from.entry_slots, on, resource);
    slots.of_rows = arrays.begin_add(from.row_slots, on, resource);
  }

  static kernel_info describe(const schedule& made) {
    kernel_info kernel;
    kernel.warps = 1;
    kernel.lanes_per_row = made.shape.lanes;
    kernel.partial_rows = static_cast<std::int64_t>(made.link_slots.size());
    kernel.tiles = made.tiles;
    kernel.tile_rows = made.shape.rows;
    kernel.x_ring_size = made.x_ring_size;
    kernel.text =
        text_from("dataflow: one block for each right-hand side, ", made.tiles, " tiles of ", made.shape.rows,
                  " coupled rows, ", made.shape.lanes, " lanes per row, ", made.shape.entries,
                  " entries per lane, x ring buffer of ", made.x_ring_size, " components, ", made.reloads,
                  " reloaded, ", kernel.partial_rows, " partial rows");
    return kernel;
  }
};

template <class Tuning, class Scalar, class Offset, class Executor>
using path = scheduled_path<tile_method<Tuning>, Scalar, Offset, Executor>;

}  // namespace single_block
namespace natural_blocks {

/// The arrays of a schedule in which each row, entry or tile has an element. Those of the schedule begin with
/// zeros, and `rows` with no_row.
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

template <class Tuning>
struct block_method {
  static constexpr const char* name = "natural_blocks";
  using schedule = natural_blocks::schedule;

  template <class Scalar, class Executor>
  static void launch(int shape_index, std::uint32_t blocks, const kernel_params<Scalar>& p,
                     const Executor& on) {
    shapes_of<Tuning>::type::with(shape_index, [&](auto shape) {
      using shape_type = decltype(shape);
      if constexpr (shape_type::template fits_registers<Scalar>) {
        on.template launch<agent<Scalar, shape_type>>(
            blocks, p, shared_bytes<Scalar>(p.x_ring_size, shape_type::values.rows));
      }
    });
  }

  template <class Index, class Offset, class Scalar, class Executor>
  static void add_arrays(const schedule& from, const device_triangle<Index, Offset>& t,
                         kernel_params<Scalar>& p, single_block::value_slots& slots, device_arrays& arrays,
                         const Executor& on, memory_resource& resource) {
    const auto first_rows = begin_upload(from.first_rows, on, resource);
    const auto numbers = begin_upload(from.numbers, on, resource);
    const auto first_tiles = begin_upload(from.first_tiles, on, resource);
    const auto tiles = begin_upload(from.own_tiles, on, resource);
    const std::int64_t all_tiles = count_of(from.operands);
    const auto filled = [&](auto value, std::int64_t count, unsigned char byte) {
      auto* const made = arrays.template make<decltype(value)>(count, on, resource);
      on.fill_bytes(made, byte, at(count) * sizeof(value));
      return made;
    };
    p.places = arrays.begin_add(from.places, on, resource);
    value_places<Index, Offset> places{t.view(),
                                       first_rows.data(),
                                       numbers.data(),
                                       first_tiles.data(),
                                       tiles.data(),
                                       from.shape.rows,
                                       p.reversed,
                                       arrays.template make<std::uint32_t>(t.entries(), on, resource),
                                       arrays.template make<std::uint32_t>(t.size, on, resource),
                                       filled(std::uint64_t{}, all_tiles, 0),
                                       filled(single_block::tile_row{}, from.schedule_rows, 0xff),
                                       filled(std::uint32_t{}, from.schedule_rows, 0)};
    const std::int64_t blocks = count_of(from.numbers);
    triangle_kernels::for_each_entry(on, places.first_tiles, blocks, count_of(from.own_tiles),
                                     place_tile<Index, Offset>{places});
    triangle_kernels::for_each_entry(on, places.first_rows, blocks, t.size, place_row<Index, Offset>{places});
    const std::int64_t links = count_of(from.link_slots);
    simt::for_each(on, links, mark_link{slots.of_links, links, from.shape.tile_entries(), places.present});
    p.rows = places.rows;
    p.in_tile_rows = places.in_tile_rows;
    p.present = places.present;
    slots.of_entries = places.entry_slots;
    slots.of_rows = places.row_slots;
  }

  static kernel_info describe(const schedule& made) {
    kernel_info kernel;
    kernel.warps = made.shape.warps * made.shape.groups;
    kernel.lanes_per_row = made.shape.lanes;
    kernel.tiles = made.tiles;
    kernel.tile_rows = made.shape.rows;
    kernel.x_ring_size = made.x_ring_size * made.shape.rows;
    kernel.text = text_from("dataflow: one block for each right-hand side, ", made.tiles,
                            " steps of natural blocks of at most ", made.shape.rows, " rows, ",
                            made.shape.lanes, " lanes per block, ", made.shape.groups, " groups of ",
                            made.shape.warps, " warps, x ring buffer of ", made.x_ring_size, " blocks, ",
                            made.partial_blocks, " partial blocks");
    return kernel;
  }
};

template <class Tuning, class Scalar, class Offset, class Executor>
using path = single_block::scheduled_path<block_method<Tuning>, Scalar, Offset, Executor>;

}  // namespace natural_blocks
}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
