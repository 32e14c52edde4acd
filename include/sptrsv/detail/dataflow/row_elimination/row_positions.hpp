// SPDX-License-Identifier: Apache-2.0
// The order in which rows are rewritten: by their levels in the runs, those of all runs together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/row_elimination/runs.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// Writes, for each row, its level in its run, counted from 1, as a key to sort by, and the state of a row
/// that is not rewritten. Writes the numbers 0, 1, 2, ..., too.
template <class Index, class Offset, class Real>
struct start_rows {
  const Offset* row_offsets;
  runs<Index> in;
  std::make_unsigned_t<Index>* positions;
  Index* numbers;
  Offset* slots;  ///< of the rewritten row: none yet
  Offset* lengths;
  Offset* rhs_lengths;
  Real* inverse_sums;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(positions + row, static_cast<std::make_unsigned_t<Index>>(in.position(ctx, row)));
    ctx.store(numbers + row, static_cast<Index>(row));
    ctx.store(slots + row, Offset{0});
    ctx.store(rhs_lengths + row, Offset{0});
    ctx.store(lengths + row, ctx.load_constant(row_offsets + row + 1) - ctx.load_constant(row_offsets + row));
    ctx.store(inverse_sums + row, Real{1});
  }
};

/// The rows by their levels in the runs.
template <class Index>
struct row_positions {
  buffer<Index> order;         ///< the rows
  std::vector<Index> offsets;  ///< where those of each level begin in the order

  /// Calls visit(rows, count) for the rows of each level but the first, level by level.
  template <class Visit>
  void for_later(const Visit& visit) const {
    for (std::size_t i = 1; i + 1 < offsets.size(); ++i) {
      const std::int64_t count = std::int64_t{offsets[i + 1]} - offsets[i];
      if (count > 0) {
        visit(order.data() + offsets[i], count);
      }
    }
  }
};

/// Sorts the rows by their levels in the runs, as start_rows wrote both: `positions` and `numbers`. Runs have
/// `run_levels` levels or fewer. Synchronises.
template <class Key, class Index, class Executor>
row_positions<Index> sort_by_position(const buffer<Key>& positions, const buffer<Index>& numbers,
                                      std::int64_t run_levels, const Executor& on,
                                      const analysis_memory& memory) {
  const auto size = static_cast<std::int64_t>(numbers.size());
  const auto sorted = make_buffer<Key>(size, on, memory.scratch);
  const auto begins = make_buffer<Index>(run_levels + 1, on, memory.scratch);
  row_positions<Index> made{make_buffer<Index>(size, on, memory.kept), {}};
  on.sort_pairs(positions.data(), sorted.data(), numbers.data(), made.order.data(), size,
                bits_for(static_cast<std::uint64_t>(run_levels) + 1), memory.scratch);
  on.fill_bytes(begins.data(), 0xff, begins.bytes());
  simt::for_each(on, size,
                 find_level_offsets<Key, Index, level_from_one>{
                     sorted.data(), {}, nullptr, begins.data(), nullptr, size, run_levels});
  made.offsets = download_array(begins, on);
  for (std::size_t i = made.offsets.size() - 1; i-- > 0;) {
    if (made.offsets[i] < 0) {  // no run has so many levels
      made.offsets[i] = made.offsets[i + 1];
    }
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
