// SPDX-License-Identifier: Apache-2.0
// Where the values of the stored matrix stand in packed slices, and the kernels that put them there.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// The target of a stored entry says where its value goes: to an entry, as the number of scalars from the
/// beginning of the packed slices; or, with this bit, to the pivot of the row 32 * slice + row in slice.
inline constexpr std::uint32_t pivot_target = 0x80000000u;
/// The target of a stored entry that is not part of the system.
inline constexpr std::uint32_t no_target = 0xffffffffu;
/// Upper bounds of the packed slices, so that every target fits its 31 bits.
template <class Scalar>
inline constexpr std::int64_t max_packed_bytes = static_cast<std::int64_t>(pivot_target - 1) *
                                                 static_cast<std::int64_t>(sizeof(Scalar));
inline constexpr std::int64_t max_slices = pivot_target / 32 - 1;

/// The packed slices of a plan as kernels see them.
struct packed_slices_view {
  const std::uint32_t* begins;  ///< by slice: its offset in units of 16 bytes
  unsigned char* bytes;
  slice_format format;

  template <class Context>
  SPTRSV_DEVICE std::int64_t offset(Context& ctx, std::int64_t slice) const {
    return std::int64_t{ctx.load_constant(begins + slice)} * 16;
  }
  template <class Context>
  SPTRSV_DEVICE unsigned char* begin(Context& ctx, std::int64_t slice) const {
    return bytes + offset(ctx, slice);
  }
};

/// Where the values of rows that are runs of the stored matrix go. The shared entries of a row are dealt to
/// its lanes one by one in their order, and so are the global ones: it suffices to know which are which.
struct run_arrays {
  std::uint32_t* diagonals;   ///< by solve index, see stored_run; null if rows are no runs
  std::uint8_t* row_entries;  ///< by solve index: the number of stored entries
  /// By solve index: the numbers of links to partial rows, which come before the stored entries; bits 0-7:
  /// among the shared entries; 8-15: among the global entries. Null if no row is split.
  std::uint16_t* row_links;
  /// One bit for each stored entry, counted in the direction of substitution: whether it is a shared entry.
  std::uint32_t* shared_entries;

  static constexpr std::int64_t max_row_entries = 64;
};

/// The place of an entry in its packed slice.
struct entry_slot {
  int lane;
  int column;  ///< entry column

  /// Returns the place of the k-th shared or k-th global entry of a row. `row`: its number in the slice.
  static SPTRSV_HOST_DEVICE constexpr entry_slot of(int row, int lanes, int k) {
    return {row * lanes + k % lanes, k / lanes};
  }
  /// Returns where the entry's value stands, in scalars from the beginning of the packed slices.
  template <class Scalar>
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr std::int64_t value(std::int64_t slice_begin,
                                                                const slice_offsets& offsets,
                                                                bool is_shared) const {
    const int in_slice =
        is_shared ? offsets.shared_values + column * offsets.value_column_bytes
                  : offsets.global_columns + column * offsets.global_column_bytes + offsets.global_values;
    return (slice_begin + in_slice) / static_cast<std::int64_t>(sizeof(Scalar)) + lane;
  }
};

/// Stores the pivot of a row of a packed slice.
template <class Scalar, class Context>
SPTRSV_DEVICE void store_pivot(Context& ctx, unsigned char* slice_begin, const slice_offsets& offsets,
                               int row, Scalar pivot) {
  auto* const factor = reinterpret_cast<Scalar*>(slice_begin + slice_offsets::factors) + row;
  auto* const row_code = reinterpret_cast<std::int32_t*>(slice_begin + offsets.row_codes) + row;
  packed_row<Scalar> stored{Scalar{}, ctx.load(row_code)};
  stored.set_pivot(pivot);
  ctx.store(factor, stored.factor);
  ctx.store(row_code, stored.row_code);
}

/// Puts the value of each stored entry to its target.
template <class Scalar>
struct scatter_values {
  const Scalar* stored;
  const std::uint32_t* targets;
  packed_slices_view slices;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::uint32_t to = ctx.load_constant(targets + k);
    if (to == no_target) {
      return;
    }
    const Scalar v = load_value(ctx, stored + k, conjugated);
    if ((to & pivot_target) == 0) {
      ctx.store(reinterpret_cast<Scalar*>(slices.bytes) + to, v);
      return;
    }
    const std::uint32_t slot = to & ~pivot_target;
    unsigned char* const begin = slices.begin(ctx, slot / 32);
    const slice_head slice = ctx.load_constant(reinterpret_cast<const slice_head*>(begin));
    store_pivot(ctx, begin, slices.format.offsets(slice), static_cast<int>(slot % 32), v);
  }
};

/// Fills in the values of the entries of each lane and slice, if rows are runs of the stored matrix.
template <class Scalar>
struct scatter_run_values {
  const Scalar* stored;
  std::int64_t stored_entries;
  run_arrays runs;
  packed_slices_view slices;
  bool unit;
  bool reversed;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    unsigned char* const begin = slices.begin(ctx, i / 32);
    const slice_head slice = ctx.load_constant(reinterpret_cast<const slice_head*>(begin));
    const slice_offsets offsets = slices.format.offsets(slice);
    const int row = static_cast<int>(i % 32) / slices.format.shape.lanes;
    const int lane = static_cast<int>(i % 32) % slices.format.shape.lanes;
    if (row >= slice.rows()) {
      return;
    }
    const std::int64_t solve_index = slice.first_solve_index + row;
    const row_run at{{ctx.load_constant(runs.diagonals + solve_index), reversed},
                     static_cast<int>(ctx.load_constant(runs.row_entries + solve_index)),
                     row,
                     lane};
    const int links = runs.row_links == nullptr ? 0 : ctx.load_constant(runs.row_links + solve_index);
    const std::uint64_t shared = shared_of(ctx, at);
    store_values(ctx, at, shared, links & 255, begin + offsets.shared_values, offsets.value_column_bytes);
    store_values(ctx, at, lowest_bits(at.entries) & ~shared, links >> 8,
                 begin + offsets.global_columns + offsets.global_values, offsets.global_column_bytes);
    const bool has_pivot =
        lane == 0 && !unit &&
        ctx.load(reinterpret_cast<const std::int32_t*>(begin + offsets.row_codes) + row) != -1;
    if (has_pivot) {
      store_pivot(ctx, begin, offsets, row, load_value(ctx, stored + at.run.diagonal, conjugated));
    }
  }

 private:
  struct row_run {
    stored_run<std::uint32_t> run;
    int entries;
    int row;   ///< number in the slice
    int lane;  ///< number among the lanes of the row
  };

  SPTRSV_DEVICE static std::uint64_t lowest_bits(int count) {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  /// Returns a mask of the row's stored entries, in the direction of substitution: those that are shared.
  template <class Context>
  SPTRSV_DEVICE std::uint64_t shared_of(Context& ctx, const row_run& at) const {
    if (at.entries == 0) {
      return 0;
    }
    const std::int64_t first = at.run.source(at.entries);
    const std::int64_t begin = reversed ? stored_entries - 1 - first : first;
    const auto shift = static_cast<int>(begin % 32);
    const std::uint32_t* const words = runs.shared_entries + begin / 32;
    std::uint64_t shared = ctx.load_constant(words) >> shift;
    for (int have = 32 - shift, w = 1; have < at.entries; have += 32, ++w) {
      shared |= std::uint64_t{ctx.load_constant(words + w)} << have;
    }
    return shared & lowest_bits(at.entries);
  }

  /// Stores the values of the lane's entries. The entries in `mask` are dealt to the lanes of the row one by
  /// one, after `dealt` other entries.
  template <class Context>
  SPTRSV_DEVICE void store_values(Context& ctx, const row_run& at, std::uint64_t mask, int dealt,
                                  unsigned char* entry_columns, int column_bytes) const {
    constexpr int at_once = 4;
    const int lanes = slices.format.shape.lanes;
    const int skipped = (at.lane - dealt) & (lanes - 1);
    unsigned char* to = entry_columns + (dealt + skipped) / lanes * column_bytes +
                        (at.row * lanes + at.lane) * static_cast<int>(sizeof(Scalar));
    mask = without_lowest(mask, skipped);
    while (mask != 0) {
      Scalar values[at_once];
      int count = 0;
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (mask != 0) {
          values[i] =
              load_value(ctx, stored + at.run.source(at.entries - simt::lowest_bit(mask)), conjugated);
          mask = without_lowest(mask, lanes);
          ++count;
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (i < count) {
          ctx.store(reinterpret_cast<Scalar*>(to), values[i]);
          to += column_bytes;
        }
      }
    }
  }

  /// Returns the mask without its `count` lowest set bits.
  SPTRSV_DEVICE static std::uint64_t without_lowest(std::uint64_t mask, int count) {
    for (int i = 0; i < count; ++i) {
      mask &= mask - 1;
    }
    return mask;
  }
};

/// Returns whether row i % 32 of slice i / 32 is the row `row` of b and x, and has a zero pivot.
template <class Scalar>
struct is_zero_pivot_of_row {
  packed_slices_view slices;
  std::int32_t row;  ///< of b and x

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t i) const {
    const unsigned char* const begin = slices.begin(ctx, i / 32);
    const slice_head slice = ctx.load_constant(reinterpret_cast<const slice_head*>(begin));
    const int in_slice = static_cast<int>(i % 32);
    if (in_slice >= slice.rows()) {
      return false;
    }
    const auto* const factors = reinterpret_cast<const Scalar*>(begin + slice_offsets::factors);
    const auto* const row_codes =
        reinterpret_cast<const std::int32_t*>(begin + slices.format.offsets(slice).row_codes);
    const packed_row<Scalar> stored{ctx.load(factors + in_slice), ctx.load(row_codes + in_slice)};
    return stored.index() == row && stored.factor == Scalar{};
  }
};

/// Says where the values of the stored matrix go: by a word for each stored entry in general, and by arrays
/// that are smaller if every row is a contiguous run of the stored matrix.
struct value_sources {
  device_arrays arrays{};            ///< the following ones
  std::uint32_t* targets = nullptr;  ///< by stored entry, see pivot_target; null if rows are runs
  run_arrays runs{};

  [[nodiscard]] bool are_runs() const { return runs.diagonals != nullptr; }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
