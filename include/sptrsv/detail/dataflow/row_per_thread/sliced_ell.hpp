// SPDX-License-Identifier: Apache-2.0
// The packed form of the row_per_thread path: sliced ELL (SELL-32). A slice has 32 consecutive rows in solve
// order, one for each lane of a warp.
//
// The entries of a slice stand in entry columns of 32 slots, one for each row, which a warp loads in one
// instruction. All rows end in the last entry column, so that the latest dependencies of all rows come last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/papers/row_wise/tasks.hpp"
#include "sptrsv/detail/simt/scan.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

inline constexpr int slice_rows = 32;

/// How many entry columns an entry stands before the column that it would have if its row were packed in
/// stored order; or one of the two special values below.
using entry_shift = std::int8_t;
inline constexpr entry_shift no_entry = -128;
inline constexpr entry_shift minus_one = -127;

/// The values come from `sources`; or, if rows are runs of the stored matrix, from `shifts` and `diagonals`,
/// which are smaller. The other arrays are empty then.
template <class Index, class Offset>
struct sliced_ell {
  std::int64_t size = 0;
  std::int64_t count = 0;
  buffer<Offset> offsets;      ///< count + 1: first slot of each slice
  buffer<Index> columns;       ///< by slot: solve index, -1 if there is no entry
  buffer<Offset> sources;      ///< by slot: the stored entry, -1 if there is none
  buffer<entry_shift> shifts;  ///< by slot
  buffer<Offset> diagonals;    ///< by solve index, see stored_run

  [[nodiscard]] bool are_runs() const { return diagonals.size() > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return offsets.bytes() + columns.bytes() + sources.bytes() + shifts.bytes() + diagonals.bytes();
  }
};

/// The order in which the rows of a triangle are packed.
template <class Index>
struct packing_order {
  const Index* rows = nullptr;           ///< by solve index: the row of the triangle; null: they are the same
  const Index* solve_indices = nullptr;  ///< by row of the triangle; null: they are the same

  template <class Context>
  SPTRSV_DEVICE std::int64_t row(Context& ctx, std::int64_t solve_index) const {
    return rows == nullptr ? solve_index : static_cast<std::int64_t>(ctx.load_constant(rows + solve_index));
  }
  template <class Context>
  SPTRSV_DEVICE Index solve_index(Context& ctx, Index row) const {
    return solve_indices == nullptr ? row : ctx.load_constant(solve_indices + row);
  }
};

/// The body of a scan over the slices: writes the first slot and the gate of each.
template <class Index, class Offset>
struct place_slices {
  std::int64_t slices;
  std::int64_t size;
  packing_order<Index> order;
  const Offset* row_offsets;
  Offset* offsets;  ///< slices + 1
  row_wise::find_gates<Index> find_gate;
  std::int64_t* total;  ///< the number of all slots; null: it is not wanted

  /// Counts the slots of a slice.
  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t slice) const {
    constexpr int at_once = 16;  // so many loads are under way together
    Offset longest = 0;
    for (std::int64_t first = slice * slice_rows; first < (slice + 1) * slice_rows; first += at_once) {
      std::int64_t rows[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        rows[i] = order.row(ctx, first + i < size ? first + i : size - 1);
      }
      SPTRSV_UNROLL
      for (const std::int64_t row : rows) {
        const auto length = static_cast<Offset>(ctx.load_constant(row_offsets + row + 1) -
                                                ctx.load_constant(row_offsets + row));
        longest = longest < length ? length : longest;
      }
    }
    return {static_cast<std::int64_t>(longest) * slice_rows};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t slice, const simt::counted& own,
                           std::int64_t before) const {
    ctx.store(offsets + slice, static_cast<Offset>(before));
    if (slice == slices - 1) {
      ctx.store(offsets + slices, static_cast<Offset>(before + own.count));
      if (total != nullptr) {
        ctx.store(total, before + own.count);
      }
    }
    if (find_gate.gates != nullptr) {
      find_gate(ctx, slice);
    }
  }
};

/// Fills the slots of a row. Runs once per row, also for those past the last one in its slice, by a warp. The
/// first slots of a row are empty if others of its slice are longer. The entries of a short row are sorted by
/// solve index.
template <class Index, class Offset>
struct pack_row {
  triangle_view<Index, Offset> triangle;
  packing_order<Index> order;
  bool reversed;  ///< see triangle_form
  const Offset* offsets;
  Index* columns;
  Offset* sources;  ///< null: shifts are written instead
  entry_shift* shifts;
  Offset* diagonals;  ///< null: rows are not runs

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t solve_index) const {
    const Offset first_slot = ctx.load_constant(offsets + solve_index / slice_rows);
    const auto width = static_cast<Offset>(
        (ctx.load_constant(offsets + solve_index / slice_rows + 1) - first_slot) / slice_rows);
    const auto own_slots = static_cast<Offset>(first_slot + solve_index % slice_rows);
    if (solve_index >= triangle.size) {
      leave_empty(ctx, own_slots, width, warp.rank());
      return;
    }
    const std::int64_t row = order.row(ctx, solve_index);
    const Offset begin = ctx.load_constant(triangle.row_offsets + row);
    const Offset end = ctx.load_constant(triangle.row_offsets + row + 1);
    if (diagonals != nullptr && warp.rank() == 0) {
      ctx.store(diagonals + solve_index, run_of_row(ctx, triangle, row, reversed).diagonal);
    }
    leave_empty(ctx, own_slots, static_cast<Offset>(width - (end - begin)), warp.rank());
    for (Offset first = begin; first < end; first += 32) {
      const Offset e = first + static_cast<Offset>(warp.rank());
      const bool present = e < end;
      const Index column =
          present ? order.solve_index(ctx, ctx.load_constant(triangle.columns + e)) : Index{-1};
      int rank = warp.rank();
      if (end - begin <= 32) {
        rank = 0;
        for (int lane = 0; lane < static_cast<int>(end - begin); ++lane) {
          rank += warp.shuffle(column, lane) < column ? 1 : 0;
        }
      }
      if (present) {
        const auto slot =
            static_cast<Offset>(own_slots + (width - (end - first) + static_cast<Offset>(rank)) * slice_rows);
        const Offset source = ctx.load_constant(triangle.sources + e);
        ctx.store(columns + slot, column);
        if (sources != nullptr) {
          ctx.store(sources + slot, source);
        } else {
          ctx.store(shifts + slot, source < 0 ? minus_one : static_cast<entry_shift>(warp.rank() - rank));
        }
      }
    }
  }

 private:
  /// Marks the first `count` slots of a row as empty. `slots`: the first of them.
  template <class Context>
  SPTRSV_DEVICE void leave_empty(Context& ctx, Offset slots, Offset count, int lane) const {
    for (auto k = static_cast<Offset>(lane); k < count; k = static_cast<Offset>(k + 32)) {
      const auto slot = static_cast<Offset>(slots + k * slice_rows);
      ctx.store(columns + slot, Index{-1});
      if (sources != nullptr) {
        ctx.store(sources + slot, Offset{-1});
      } else {
        ctx.store(shifts + slot, no_entry);
      }
    }
  }
};

/// Writes the values of the entries of each row and lane past the last row, if rows are stored runs.
template <class Scalar, class Index, class Offset, class Stored>
struct gather_run_values {
  static constexpr int at_once = 4;  ///< loads of a row that are under way together
  std::int64_t size;
  const Offset* offsets;
  const entry_shift* shifts;
  const Offset* diagonals;
  const Index* substitution_indices;  ///< by solve index, -1: partial row; null: there are none
  const Scalar* stored;
  Stored* values;
  Stored* pivots;  ///< null if the diagonal is unit
  bool reversed;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const auto end = static_cast<std::int64_t>(ctx.load_constant(offsets + row / slice_rows + 1));
    const stored_run<Offset> run{row < size ? ctx.load_constant(diagonals + row) : 0, reversed};
    std::int64_t slot =
        static_cast<std::int64_t>(ctx.load_constant(offsets + row / slice_rows)) + row % slice_rows;
    for (; slot < end; slot += at_once * slice_rows) {
      entry_shift shift[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        shift[i] = slot + i * slice_rows < end ? ctx.load_constant(shifts + slot + i * slice_rows) : no_entry;
      }
      Scalar value[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        value[i] = shift[i] == minus_one ? Scalar{} - pivot_divisor<Scalar>::one() : Scalar{};
        if (shift[i] > minus_one) {
          const std::int64_t from_end = (end - slot + slice_rows - 1) / slice_rows - i;
          value[i] =
              load_value(ctx, stored + run.source(static_cast<Offset>(from_end - shift[i])), conjugated);
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (slot + i * slice_rows < end) {
          ctx.store(values + slot + i * slice_rows, entry_cast<Stored>(value[i]));
        }
      }
    }
    if (pivots != nullptr && row < size) {
      const bool is_partial =
          substitution_indices != nullptr && ctx.load_constant(substitution_indices + row) < 0;
      ctx.store(pivots + row,
                entry_cast<Stored>(is_partial ? pivot_divisor<Scalar>::one()
                                              : load_value(ctx, stored + run.diagonal, conjugated)));
    }
  }
};

/// Finds the first slot of each slice. `order`: any order in which each row comes after the rows that it
/// needs. `find_gate`: finds the gates of the slices; its array is null if they are not wanted. `total`: a
/// word of device memory for the number of all slots, or null. Returns the first slots, and the number of all
/// slots at the end. Throws errc::unsupported if the slots do not fit Offset: an entry has at most 32 slots,
/// so that only those of a large triangle are looked at; then the function synchronises.
template <class Index, class Offset, class Executor>
buffer<Offset> find_slices(
    const device_triangle<Index, Offset>& t, const packing_order<Index>& order,
    const row_wise::find_gates<Index>& find_gate,
    std::int64_t* total,  // NOLINT(readability-non-const-parameter): the scan writes it
    const Executor& on, const analysis_memory& memory) {
  const std::int64_t count = simt::ceil_div(t.size, slice_rows);
  const bool is_large = t.entries() > max_count<Offset> / slice_rows;
  auto offsets = make_buffer<Offset>(count + 1, on, memory.kept);
  const auto own_total = make_buffer<std::int64_t>(is_large && total == nullptr ? 1 : 0, on, memory.scratch);
  std::int64_t* const to = own_total.size() > 0 ? own_total.data() : total;
  if (count == 0) {
    on.fill_bytes(offsets.data(), 0, offsets.bytes());
  }
  scan(on, count,
       place_slices<Index, Offset>{count, t.size, order, t.row_offsets.data(), offsets.data(), find_gate, to},
       memory);
  if (is_large) {
    const std::int64_t slots = download_value(to, on);
    SPTRSV_EXPECTS(slots <= static_cast<std::int64_t>(max_count<Offset>), errc::unsupported,
                   "dataflow: the path row_per_thread needs ", slots,
                   " slots for the entries, which do not fit the offset type");
  }
  return offsets;
}

/// Packs a triangle. `order`, `offsets`: see find_slices(). `slots`: see row_order; if it is -1, the function
/// synchronises. `reversed`: see triangle_form.
template <class Index, class Offset, class Executor>
sliced_ell<Index, Offset> pack_slices(const device_triangle<Index, Offset>& t,
                                      const packing_order<Index>& order, buffer<Offset>&& offsets,
                                      std::int64_t slots, bool reversed, const Executor& on,
                                      const analysis_memory& memory) {
  sliced_ell<Index, Offset> g;
  g.size = t.size;
  g.count = simt::ceil_div(t.size, slice_rows);
  g.offsets = std::move(offsets);
  if (slots < 0) {
    slots = static_cast<std::int64_t>(download_value(g.offsets.data() + g.count, on));
  }
  g.columns = make_buffer<Index>(slots, on, memory.kept);
  if (t.rows_are_stored_runs) {
    g.shifts = make_buffer<entry_shift>(slots, on, memory.kept);
    g.diagonals = make_buffer<Offset>(t.size, on, memory.kept);
  } else {
    g.sources = make_buffer<Offset>(slots, on, memory.kept);
  }
  simt::for_each_by_tile<32>(
      on, g.count * slice_rows,
      pack_row<Index, Offset>{t.view(), order, reversed, g.offsets.data(), g.columns.data(), g.sources.data(),
                              g.shifts.data(), g.diagonals.data()});
  return g;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
