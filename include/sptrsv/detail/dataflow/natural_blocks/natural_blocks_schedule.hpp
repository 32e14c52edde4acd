// SPDX-License-Identifier: Apache-2.0
// The schedule of a natural_blocks solve, made on the host: which block is solved in which step, and where
// its tiles find the components that they need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_placement.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

/// A tile of a block: the entries whose columns are in one other block.
struct placed_tile {
  std::int32_t number;
  std::int32_t entry;      ///< number of its first entry in each row of the block
  std::int32_t first_row;  ///< of the other block
};

/// What the kernel reads, and where the values of entries go. The blocks of a schedule are numbered with the
/// empty places of its steps; its rows are those of these blocks.
struct schedule : single_block::schedule_arrays {
  shape_values shape{};
  std::int64_t partial_blocks = 0;
  std::vector<std::uint16_t> places;      ///< by block of the schedule: its place in the x ring buffer
  std::vector<std::int32_t> first_rows;   ///< by block of the triangle, and one more
  std::vector<std::int32_t> numbers;      ///< by block of the triangle: its number in the schedule
  std::vector<std::int32_t> first_tiles;  ///< by block of the triangle, and one more: its tiles
  std::vector<placed_tile> own_tiles;     ///< by entry of blocks; without those of partial blocks
};

/// Makes the schedule of blocks that have their places.
template <class Index, class Offset>
class schedule_builder {
 public:
  schedule_builder(const block_rows<Index, Offset>& rows, const placement<Index>& placed)
      : in_(rows), placed_(placed) {}

  schedule build() {
    const shape_values& shape = placed_.shape;
    p_.shape = shape;
    p_.tiles = placed_.steps();
    p_.x_ring_size = placed_.ring_blocks;
    p_.partial_blocks = count_of(placed_.placed) - placed_.blocks();
    p_.in_tile = {shape.rows, shape.rows - 1, shape.in_block_entries()};
    p_.schedule_rows = p_.tiles * shape.step_blocks() * shape.rows;
    p_.value_slots = p_.tiles * shape.step_tiles() * shape.tile_entries();
    p_.operands.assign(at(p_.tiles * shape.step_tiles()), 0);
    p_.places.assign(at(p_.tiles * shape.step_blocks()), 0);
    p_.first_rows.assign(placed_.first_rows.begin(), placed_.first_rows.end());
    tile_from_.resize(placed_.placed.size());
    placed_.for_each_block(in_, [&](std::int32_t number, const auto& needs) {
      const block& b = placed_.placed[at(number)];
      const std::int64_t rows = placed_.end_row(number) - placed_.first_row(number);
      for (std::int32_t k = 0; k < b.partials; ++k) {
        fill_operands(placed_.placed[at(b.first_partial + k)], rows);
      }
      fill_operands(b, rows);
      p_.numbers.push_back(static_cast<std::int32_t>(schedule_block(b)));
      p_.first_tiles.push_back(static_cast<std::int32_t>(p_.own_tiles.size()));
      for (const auto& n : needs) {
        p_.own_tiles.push_back({static_cast<std::int32_t>(tile_from_[at(n.block)]), n.entry,
                                static_cast<std::int32_t>(placed_.first_row(n.block))});
      }
      return true;
    });
    p_.first_tiles.push_back(static_cast<std::int32_t>(p_.own_tiles.size()));
    return std::move(p_);
  }

 private:
  using block = typename placement<Index>::block;

  [[nodiscard]] std::int64_t schedule_block(const block& b) const {
    return b.step * p_.shape.step_blocks() + b.in_step;
  }
  [[nodiscard]] std::uint16_t place(const block& b) const {
    return static_cast<std::uint16_t>(1 + b.index % p_.x_ring_size);
  }
  /// Returns the number of the k-th tile of a block.
  [[nodiscard]] std::int64_t tile(const block& b, int k) const {
    const int in_warp = b.in_step % p_.shape.warp_blocks();
    const std::int64_t warp = b.step * p_.shape.warps + b.in_step / p_.shape.warp_blocks();
    return (warp * p_.shape.tiles + k / p_.shape.lanes) * 32 + in_warp * p_.shape.lanes + k % p_.shape.lanes;
  }
  /// Says where the block or partial block finds its components; remembers the tiles.
  void fill_operands(const block& b, std::int64_t rows) {
    p_.places[at(schedule_block(b))] = place(b);
    for (std::int32_t k = 0; k < b.needs; ++k) {
      const std::int32_t other = placed_.needs[at(b.first_need + k)];
      const std::int64_t to = tile(b, k);
      p_.operands[at(to)] = place(placed_.placed[at(other)]);
      tile_from_[at(other)] = to;
      for (int r = 0; other >= placed_.blocks() && r < rows; ++r) {
        p_.link_slots.push_back(value_slot(to, r * (p_.shape.rows + 1), p_.shape.tile_entries()));
      }
    }
  }

  const block_rows<Index, Offset>& in_;
  const placement<Index>& placed_;
  std::vector<std::int64_t>
      tile_from_;  ///< by block: the tile that takes its components for the block in work
  schedule p_;
};

/// Blocks in the fastest shape of the tuning, and what the schedule is made of.
template <class Index, class Offset>
struct planned_blocks {
  block_rows<Index, Offset> rows;
  placement<Index> placed;
  int shape_index = -1;  ///< -1: no shape can solve the system
  double nanoseconds = 0;
};

/// Places the blocks of a triangle in the fastest shape, or in that with the index `wanted` unless it is -1.
/// Shapes for much smaller or larger blocks are tried only if one is wanted. `limit`: nanoseconds that a
/// solve must stay under. `shared_limit`: bytes of shared memory of a thread block.
template <class Tuning, class Scalar, class Index, class Offset>
planned_blocks<Index, Offset> plan_blocks(block_rows<Index, Offset>&& rows, std::int64_t levels, int wanted,
                                          bool tries_all, double limit, std::size_t shared_limit) {
  const double rows_of_block = static_cast<double>(rows.rows()) / static_cast<double>(rows.runs());
  planned_blocks<Index, Offset> best{std::move(rows), {}};
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    using shape_type = decltype(shape);
    constexpr shape_values values = shape_type::values;
    const bool suits =
        tries_all || (values.rows >= 0.5 * rows_of_block && values.rows <= 1.5 * rows_of_block);
    if (!shape_type::template fits_registers<Scalar> || !suits || (wanted >= 0 && wanted != index)) {
      return;
    }
    const std::size_t static_bytes = 16;  // of the kernel: an empty struct and its padding
    const auto places = (shared_limit - static_bytes) / shared_bytes<Scalar>(0, values.rows);
    const auto ring_blocks = std::min<std::int64_t>(
        {static_cast<std::int64_t>(places) - 1, Tuning::natural_block_x_ring_size / values.rows, 65534});
    if (ring_blocks < 1) {
      return;
    }
    const double step_ns = Tuning::natural_block_shapes[index].step_ns;
    const double max_steps = (limit - Tuning::natural_blocks_launch_ns) / step_ns;
    if (static_cast<double>(levels / values.rows) >= max_steps) {
      return;
    }
    placement<Index> placed(best.rows, values, ring_blocks, max_steps);
    if (placed.fits) {
      limit = Tuning::natural_blocks_launch_ns + static_cast<double>(placed.steps()) * step_ns;
      best.placed = std::move(placed);
      best.shape_index = index;
      best.nanoseconds = limit;
    }
  });
  return best;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
