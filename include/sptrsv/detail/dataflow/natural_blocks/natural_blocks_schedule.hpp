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

/// What the kernel reads, and where the values of entries go. The blocks of a schedule are numbered with the
/// empty places of its steps; its rows are those of these blocks.
struct schedule : single_block::schedule_arrays {
  shape_values shape{};
  std::int64_t partial_blocks = 0;
};

/// Makes the schedule of blocks that have their places.
template <class Index, class Offset>
class schedule_builder {
 public:
  /// `reversed`: see triangle_form.
  schedule_builder(const host_triangle<Index, Offset>& rows, const placement<Index>& placed, bool reversed)
      : in_(rows), placed_(placed), reversed_(reversed) {}

  schedule build() {
    const shape_values& shape = placed_.shape;
    p_.shape = shape;
    p_.tiles = placed_.steps();
    p_.x_ring_size = placed_.ring_blocks;
    p_.partial_blocks = count_of(placed_.placed) - placed_.blocks();
    p_.in_tile = {shape.rows, shape.rows - 1, shape.in_block_entries()};
    const auto blocks = at(p_.tiles * shape.step_blocks());
    const auto tiles = at(p_.tiles * shape.step_tiles());
    p_.value_slots = static_cast<std::int64_t>(tiles) * shape.tile_entries();
    p_.operands.assign(tiles, 0);
    p_.present.assign(tiles, 0);
    p_.places.assign(blocks, 0);
    p_.rows.assign(blocks * at(shape.rows), {single_block::no_row, single_block::no_row});
    p_.in_tile_rows.assign(blocks * at(shape.rows), 0);
    p_.entry_slots.resize(in_.columns.size());
    p_.row_slots.resize(at(in_.size()));
    tile_from_.resize(placed_.placed.size());
    for (std::int32_t b = 0; b < placed_.blocks(); ++b) {
      fill(b);
    }
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
  /// Notes that the matrix has an entry (r, c) in a tile, and returns its slot.
  std::uint32_t take_slot(std::int64_t tile, std::int64_t r, std::int64_t c) {
    const std::int64_t k = c * p_.shape.rows + r;
    p_.present[at(tile)] |= std::uint64_t{1} << k;
    return static_cast<std::uint32_t>((tile / 32 * p_.shape.tile_entries() + k) * 32 + tile % 32);
  }

  /// Says where the block and its partial blocks find their components; remembers the tiles.
  void fill_operands(const block& b, std::int64_t rows) {
    p_.places[at(schedule_block(b))] = place(b);
    for (std::size_t k = 0; k < b.needs.size(); ++k) {
      const std::int32_t other = b.needs[k];
      const std::int64_t to = tile(b, static_cast<int>(k));
      p_.operands[at(to)] = place(placed_.placed[at(other)]);
      tile_from_[at(other)] = to;
      for (std::int64_t r = 0; other >= placed_.blocks() && r < rows; ++r) {
        p_.link_slots.push_back(take_slot(to, r, r));
      }
    }
  }
  void fill(std::int32_t number) {
    const block& b = placed_.placed[at(number)];
    const std::int64_t first = placed_.first_row(number);
    const std::int64_t end = placed_.end_row(number);
    for (std::int32_t k = 0; k < b.partials; ++k) {
      fill_operands(placed_.placed[at(b.first_partial + k)], end - first);
    }
    fill_operands(b, end - first);
    for (std::int64_t row = first; row < end; ++row) {
      const auto slot = static_cast<std::uint32_t>(schedule_block(b) * p_.shape.rows + row - first);
      const auto x_row = static_cast<std::int32_t>(reversed_ ? in_.size() - 1 - row : row);
      p_.row_slots[at(row)] = slot;
      p_.rows[slot] = {x_row, x_row};
      for (auto e = at(in_.row_offsets[at(row)]); e < at(in_.row_offsets[at(row + 1)]); ++e) {
        const std::int64_t column = in_.columns[e];
        const std::int32_t other = placed_.block_of[at(column)];
        const std::int64_t c = column - placed_.first_row(other);
        if (other == number) {
          p_.in_tile_rows[slot] |= 1u << c;
          p_.entry_slots[e] = single_block::in_tile_bit | (slot * static_cast<std::uint32_t>(p_.shape.rows) +
                                                           static_cast<std::uint32_t>(c));
        } else {
          p_.entry_slots[e] = take_slot(tile_from_[at(other)], row - first, c);
        }
      }
    }
  }

  const host_triangle<Index, Offset>& in_;
  const placement<Index>& placed_;
  bool reversed_;
  std::vector<std::int64_t>
      tile_from_;  ///< by block: the tile that takes its components for the block in work
  schedule p_;
};

/// Blocks in the fastest shape of the tuning, and what the schedule is made of.
template <class Index, class Offset>
struct planned_blocks {
  host_triangle<Index, Offset> rows;  ///< without sources
  placement<Index> placed;
  int shape_index = -1;  ///< -1: no shape can solve the system
  double nanoseconds = 0;
};

/// Places the blocks of a triangle in the fastest shape, or in that with the index `wanted` unless it is -1.
/// `rows_of_block`: on average; shapes for much smaller or larger blocks are not tried; 0: all are tried.
/// `shared_limit`: bytes of shared memory of a thread block.
template <class Tuning, class Scalar, class Index, class Offset>
planned_blocks<Index, Offset> plan_blocks(host_triangle<Index, Offset>&& rows, int wanted,
                                          double rows_of_block, std::size_t shared_limit) {
  planned_blocks<Index, Offset> best{std::move(rows), {}};
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    using shape_type = decltype(shape);
    constexpr shape_values values = shape_type::values;
    const bool suits =
        rows_of_block == 0 || (values.rows >= 0.5 * rows_of_block && values.rows <= 1.5 * rows_of_block);
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
    placement<Index> placed(best.rows, values, ring_blocks);
    const double time = Tuning::natural_blocks_launch_ns +
                        static_cast<double>(placed.steps()) * Tuning::natural_block_shapes[index].step_ns;
    if ((best.shape_index < 0 || time < best.nanoseconds) && placed.fits()) {
      best.placed = std::move(placed);
      best.shape_index = index;
      best.nanoseconds = time;
    }
  });
  return best;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
