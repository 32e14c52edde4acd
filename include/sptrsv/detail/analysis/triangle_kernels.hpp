// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis on the device, one thread per element. See triangle_builder for their order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The state that the blocks of a level search share, in device memory.
struct level_search {
  std::uint32_t tickets = 0;
  std::uint32_t given_up = 0;  ///< not 0: the search was given up, see search_limit
  std::int64_t levels = 0;     ///< levels found so far
};

/// The arrays of a device_triangle as kernels see them.
template <class Index, class Offset>
struct triangle_view {
  std::int64_t size;
  Offset* row_offsets;
  Index* columns;
  Offset* sources;
  Offset* diagonal_sources;  ///< null if the diagonal is unit
};

namespace triangle_kernels {

/// The first offending row (column) of each fault; a number not below the size means no fault.
struct report {
  std::int64_t offsets = INT64_MAX;
  std::int64_t index = INT64_MAX;
  std::int64_t duplicate = INT64_MAX;
  std::int64_t diagonal = INT64_MAX;
  std::int64_t longest_row = 0;
  std::int64_t entries = 0;       ///< entries of the triangle without the diagonal
  std::uint64_t unsorted = 0;     ///< not 0: a row of the storage is not sorted. 64 bits avoid padding
  std::int64_t partial_rows = 0;  ///< of long rows, see split_long_rows(), if they are counted
  std::int64_t split_rows = 0;    ///< rows that have them
  std::int64_t longer_rows = 0;   ///< rows with one entry more than the row before, see finish_rows
  level_search searches[2];       ///< for levels, see build_with_levels()
  std::int64_t more[8] = {};      ///< of the caller of build_with_levels(), in the first report
};

/// Rows are compared with the rows before them only in systems with at most so many rows.
inline constexpr std::int64_t most_rows_to_compare = 100'000;

/// Tells from the lengths of the rows of a triangle whether a caller may use it without splitting any row.
struct whole_rows {
  std::int64_t longest = INT64_MAX;  ///< the longest row that the caller takes, in entries
  std::int64_t longest_of_many = 0;  ///< the longest row that it takes if at least `many` rows would be split
  std::int64_t many = INT64_MAX;

  /// Returns whether the caller may use the triangle. `longest_row`, `split_rows`: see report.
  [[nodiscard]] SPTRSV_HOST_DEVICE bool have(std::int64_t longest_row, std::int64_t split_rows) const {
    return longest_row <= (split_rows >= many ? longest_of_many : longest);
  }
};

/// A condition of kernels that are launched before the host has read the report: the storage has no fault,
/// its rows are sorted, and the caller may use them without splitting any.
struct sound_rows {
  const report* found = nullptr;  ///< null: the condition holds
  whole_rows wanted{};

  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE bool hold(Context& ctx) const {
    return found == nullptr ||
           (ctx.load_constant(&found->offsets) == INT64_MAX &&
            ctx.load_constant(&found->index) == INT64_MAX && ctx.load_constant(&found->unsorted) == 0 &&
            wanted.have(ctx.load_constant(&found->longest_row), ctx.load_constant(&found->split_rows)));
  }
};

/// These limits decide which rows split_long_rows() splits.
struct split_limits {
  std::int64_t part = 0;   ///< entries of a partial row; at least 4
  std::int64_t whole = 0;  ///< entries of the longest row that is not split; at least `part`

  /// Returns the number of partial rows of a row of `length` entries: as few as leave the row at most `part`
  /// entries, and not more than there are entries for.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr std::int64_t partial_rows_of(std::int64_t length) const {
    const std::int64_t needed = length <= whole ? 0 : (length - part + part - 2) / (part - 1);
    return needed < length / part ? needed : length / part;
  }
  friend bool operator==(const split_limits& a, const split_limits& b) {
    return a.part == b.part && a.whole == b.whole;
  }
};

/// Initialises the arrays of the following kernels. Runs once per row.
template <class Index, class Offset>
struct start_rows {
  triangle_view<Index, Offset> to;  ///< its row offsets get the lengths of the rows
  report* found;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r) const {
    ctx.store(to.row_offsets + r, Offset{0});
    if (to.diagonal_sources != nullptr) {
      ctx.store(to.diagonal_sources + r, Offset{-1});
    }
    if (r == 0) {
      ctx.store(found, report{});
    }
  }
};

/// Writes the entries if the storage is sorted and by rows of the system: the slot of each entry follows from
/// the offsets. Runs once per stored entry, see for_each_entry().
template <class Index, class Offset>
struct write_ascending_entries {
  pattern_view<Index, Offset> a;
  triangle_form form;
  triangle_view<Index, Offset> to;  ///< columns and sources are output
  sound_rows condition{};

  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE bool hold(Context& ctx) const {
    return condition.hold(ctx);
  }
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t m, std::int64_t e) const {
    const auto at = triangle_entry_of(form, static_cast<Index>(a.size - 1), static_cast<Index>(m),
                                      ctx.load_constant(a.indices + e));
    if (at.column < at.row) {
      const std::int64_t rank =
          form.reversed ? load_index(ctx, a.offsets + m + 1) - 1 - e : e - load_index(ctx, a.offsets + m);
      const std::int64_t slot = load_index(ctx, to.row_offsets + at.row) + rank;
      ctx.store(to.columns + slot, at.column);
      ctx.store(to.sources + slot, a.value_index(ctx, m, e));
    }
  }
};

/// Writes the key and the source of each entry, in any order within its row. The key is the column, or, as a
/// std::uint64_t, the sort key row * size + column. Runs once per stored entry, see for_each_entry().
template <class Index, class Offset, class Key>
struct scatter_entries {
  pattern_view<Index, Offset> a;
  triangle_form form;
  /// Next free slot of each row, by substitution index; must be the row offsets before.
  Offset* cursors;
  Key* keys;        ///< output by slot
  Offset* sources;  ///< output by slot

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t m, std::int64_t e) const {
    const auto at = triangle_entry_of(form, static_cast<Index>(a.size - 1), static_cast<Index>(m),
                                      ctx.load_constant(a.indices + e));
    if (at.column < at.row) {
      const Offset slot = ctx.atomic_add(cursors + at.row, Offset{1});
      if constexpr (std::is_same_v<Key, Index>) {
        ctx.store(keys + slot, at.column);
      } else {
        ctx.store(keys + slot,
                  static_cast<Key>(at.row) * static_cast<Key>(a.size) + static_cast<Key>(at.column));
      }
      ctx.store(sources + slot, a.value_index(ctx, m, e));
    }
  }
};

/// Writes the column of each sorted key and records entries that are stored twice. Runs once per key.
template <class Index>
struct take_columns {
  const std::uint64_t* keys;
  Index* columns;
  triangle_form form;
  std::int64_t size;
  report* found;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::uint64_t key = ctx.load_constant(keys + k);
    const auto row = static_cast<std::int64_t>(key / static_cast<std::uint64_t>(size));
    const auto column = static_cast<std::int64_t>(key % static_cast<std::uint64_t>(size));
    ctx.store(columns + k, static_cast<Index>(column));
    if (k > 0 && ctx.load_constant(keys + k - 1) == key) {
      ctx.atomic_min(&found->duplicate, form.stored_major(size, row, column));
    }
  }
};

/// Sorts the entries of each row by column, one lane for each entry, and records entries that are stored
/// twice. Rows have at most as many entries as a group has lanes. Each lane counts the entries before its
/// own. Runs once per row, see simt::for_each_by_groups().
template <class Index, class Offset>
struct sort_short_rows {
  static constexpr int longest_row = 32;

  triangle_view<Index, Offset> to;
  triangle_form form;
  report* found;

  template <class Context, class Group>
  SPTRSV_DEVICE void operator()(Context& ctx, const Group& group, std::int64_t row) const {
    const auto& warp = group.warp;
    const bool is_row = row < to.size;
    const Offset begin = is_row ? ctx.load_constant(to.row_offsets + row) : Offset{0};
    const Offset end = is_row ? ctx.load_constant(to.row_offsets + row + 1) : Offset{0};
    const auto slot = static_cast<Offset>(begin + group.rank());
    const bool is_entry = slot < end;
    const Index column = is_entry ? ctx.load(to.columns + slot) : Index{-1};
    const Offset source = is_entry ? ctx.load(to.sources + slot) : Offset{-1};
    int before = 0;
    bool is_repeated = false;
    for (int lane = 0; lane < group.lanes; ++lane) {
      const Index other = group.shuffle(column, lane);
      const bool is_equal = other == column && lane != group.rank();
      before += other >= 0 && (other < column || (is_equal && lane < group.rank())) ? 1 : 0;
      is_repeated = is_repeated || is_equal;
    }
    warp.sync();  // all lanes have loaded their entries
    if (!is_entry) {
      return;
    }
    ctx.store(to.columns + begin + before, column);
    ctx.store(to.sources + begin + before, source);
    if (is_repeated) {
      ctx.atomic_min(&found->duplicate, form.stored_major(to.size, row, static_cast<std::int64_t>(column)));
    }
  }
};

/// Returns whether an index is not in [one, size + one), the range of indices that count from 1.
template <class Index>
struct is_not_from_one {
  const Index* indices;
  std::int64_t size;
  std::int64_t one;  ///< a column of blocks

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t e) const {
    const auto index = load_index(ctx, indices + e);
    return index < one || index >= size + one;
  }
};

/// Source of an entry whose value is -1 whatever the stored matrix holds.
inline constexpr int minus_one_source = -2;

SPTRSV_BEGIN_ANY_CONTEXT
/// Gathers the value of each entry from the stored matrix, as a `Stored`. Runs once per entry.
template <class Scalar, class Offset, class Stored = Scalar>
struct gather_values {
  const Scalar* values;
  const Offset* sources;
  Stored* to;
  bool conjugated;
  Scalar absent{};  ///< value for source -1

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const Offset source = ctx.load_constant(sources + k);
    if (source >= 0) {
      const Scalar v = ctx.load_constant(values + source);
      ctx.store(to + k, entry_cast<Stored>(conjugated ? conjugate(v) : v));
    } else {
      ctx.store(to + k, entry_cast<Stored>(
                            source == minus_one_source ? Scalar{} - pivot_divisor<Scalar>::one() : absent));
    }
  }
};
SPTRSV_END_ANY_CONTEXT

/// Gathers the values of the entries, then of the pivots.
template <class Scalar, class Offset, class Stored>
struct gather_all_values {
  gather_values<Scalar, Offset, Stored> of_entries;
  gather_values<Scalar, Offset, Stored> of_pivots;
  std::int64_t entries;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    k < entries ? of_entries(ctx, k) : of_pivots(ctx, k - entries);
  }
};

}  // namespace triangle_kernels

}  // namespace sptrsv::SPTRSV_ABI::detail
