// SPDX-License-Identifier: Apache-2.0
// The paths whose schedule the host makes, single_block and natural_blocks: the kernel and the schedule of
// each, for scheduled_path.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_agent.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_schedule.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/place_values.hpp"
#include "sptrsv/detail/dataflow/single_block/scheduled_path.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_agent.hpp"

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
    const auto filled = [&](auto value, std::int64_t count, int byte) {
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
