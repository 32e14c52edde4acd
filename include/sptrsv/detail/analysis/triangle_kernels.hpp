// The kernels of the device's analysis, one thread an element (see device_triangle.hpp for their order).
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/scalar.hpp"

namespace sptrsv::detail::triangle_kernels {

/// The first offending row (column) of each fault; anything not below the size means none.
struct report {
  std::int64_t offsets = INT64_MAX;
  std::int64_t index = INT64_MAX;
  std::int64_t duplicate = INT64_MAX;
  std::int64_t diagonal = INT64_MAX;
  std::int64_t longest_row = 0;
  std::int64_t entries = 0;    ///< of the triangle, without the diagonal
  std::uint64_t unsorted = 0;  ///< not 0: some row of the storage does not ascend; 64 bits leave no padding
};

/// Where an entry of the storage lies in the system: positions of substitution, column <= row inside the
/// triangle.
template <class Index>
struct place {
  Index row;
  Index column;
};

template <class Index>
SPTRSV_HOST_DEVICE place<Index> place_of(const triangle_form& form, Index last, Index major, Index minor) {
  const Index row = form.transposed ? minor : major;
  const Index column = form.transposed ? major : minor;
  if (form.reversed) {
    return {static_cast<Index>(last - row), static_cast<Index>(last - column)};
  }
  return {row, column};
}

/// The row (column) of the storage that holds entry `e`: the last one whose offset does not exceed it.
template <class Context, class Offset>
SPTRSV_DEVICE std::int64_t major_of(Context& ctx, const Offset* offsets, std::int64_t size, std::int64_t e) {
  std::int64_t low = 0;
  std::int64_t high = size;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (ctx.load_constant(offsets + middle) <= static_cast<Offset>(e)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// How many of the ascending `sorted` are smaller than `key`.
template <class Context, class T, class Key>
SPTRSV_DEVICE std::int64_t count_below(Context& ctx, const T* sorted, std::int64_t count, Key key) {
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<Key>(ctx.load_constant(sorted + middle)) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Per position, and once for the end: what the following kernels start from.
template <class Offset>
struct start_rows {
  std::int64_t size;
  Offset* row_lengths;       ///< size + 1
  Offset* diagonal_sources;  ///< null if the diagonal is unit
  report* found;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r) const {
    ctx.store(row_lengths + r, Offset{0});
    if (diagonal_sources != nullptr && r < size) {
      ctx.store(diagonal_sources + r, Offset{-1});
    }
    if (r == 0) {
      ctx.store(found, report{});
    }
  }
};

/// A thread per row (column) of the storage and per entry, as many as the larger number says: whether the
/// offsets are sound; range and order of the indices, lengths of the system's rows, places of its diagonal.
/// What it says of entries means something only where the offsets are sound, but it never leaves the arrays.
template <class Index, class Offset>
struct check_entries_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    pattern_view<Index, Offset> a;
    triangle_form form;
    Offset* row_lengths;       ///< by position, strictly lower
    Offset* diagonal_sources;  ///< by position; null if the diagonal is unit
    report* found;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t i = static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    if (i < p.a.size) {
      check_offsets(ctx, p, i);
    }
    counted entry;
    if (i < p.a.entries) {
      entry = classify(ctx, p, i);
    }
    add_lengths(ctx, p, entry);
  }

 private:
  struct counted {
    Index row = -1;  ///< -1 if there is none
    bool is_below = false;
  };

  template <class Context>
  SPTRSV_DEVICE static void check_offsets(Context& ctx, const params& p, std::int64_t m) {
    const Offset begin = ctx.load_constant(p.a.offsets + m);
    const Offset end = ctx.load_constant(p.a.offsets + m + 1);
    if (begin > end || (m == 0 && begin != 0) ||
        (m == p.a.size - 1 && end != static_cast<Offset>(p.a.entries))) {
      ctx.atomic_min(&p.found->offsets, m);
    }
  }

  template <class Context>
  SPTRSV_DEVICE static counted classify(Context& ctx, const params& p, std::int64_t e) {
    const std::int64_t m = major_of(ctx, p.a.offsets, p.a.size, e);
    const Index minor = ctx.load_constant(p.a.indices + e);
    if (minor < 0 || static_cast<std::int64_t>(minor) >= p.a.size) {
      ctx.atomic_min(&p.found->index, m);
      return {};
    }
    const auto at = place_of(p.form, static_cast<Index>(p.a.size - 1), static_cast<Index>(m), minor);
    if (e > 0 && e > static_cast<std::int64_t>(ctx.load_constant(p.a.offsets + m))) {
      const Index before = ctx.load_constant(p.a.indices + e - 1);
      if (before > minor) {
        ctx.atomic_max(&p.found->unsorted, std::uint64_t{1});
      } else if (before == minor && at.column < at.row) {
        ctx.atomic_min(&p.found->duplicate, m);
      }
    }
    if (at.column == at.row && p.diagonal_sources != nullptr) {
      if (ctx.atomic_exchange(p.diagonal_sources + at.row, static_cast<Offset>(e)) != Offset{-1}) {
        ctx.atomic_min(&p.found->duplicate, m);
      }
    }
    return {at.row, at.column < at.row};
  }

  /// Neighbours in the same row are counted before they are added: additions to one word take turns.
  template <class Context>
  SPTRSV_DEVICE static void add_lengths(Context& ctx, const params& p, const counted& entry) {
    const auto warp = ctx.template group<32>();
    const int rank = warp.rank();
    const Index row_before = warp.shuffle(entry.row, rank > 0 ? rank - 1 : 0);
    const std::uint32_t below = warp.ballot(entry.is_below);
    const std::uint32_t firsts = warp.ballot(rank == 0 || row_before != entry.row);
    if ((firsts >> rank & 1u) == 0) {
      return;
    }
    const std::uint32_t next = rank < 31 ? firsts >> (rank + 1) : 0u;  // the first lane of another row
    const int lanes = next != 0 ? simt::lowest_bit(next) + 1 : 32 - rank;
    const std::uint32_t own = below >> rank & (lanes < 32 ? (1u << lanes) - 1u : ~0u);
    if (own != 0) {
      ctx.atomic_add(p.row_lengths + entry.row, static_cast<Offset>(simt::bit_count(own)));
    }
  }
};

/// Per position, after check_entries: missing diagonal entries, and how many entries there are. Gives the
/// length of the row.
template <class Offset>
struct check_rows {
  const Offset* row_offsets;
  const Offset* diagonal_sources;  ///< null if the diagonal is unit
  std::int64_t size;
  bool reversed;
  report* found;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t r) const {
    if (diagonal_sources != nullptr && ctx.load_constant(diagonal_sources + r) == Offset{-1}) {
      ctx.atomic_min(&found->diagonal, reversed ? size - 1 - r : r);
    }
    const auto end = static_cast<std::int64_t>(ctx.load_constant(row_offsets + r + 1));
    if (r == size - 1) {
      ctx.store(&found->entries, end);
    }
    return end - static_cast<std::int64_t>(ctx.load_constant(row_offsets + r));
  }
};

/// Per entry, where the storage is by rows of the system and ascends: each entry knows its place.
template <class Index, class Offset>
struct place_ascending_entries {
  pattern_view<Index, Offset> a;
  triangle_form form;
  const Offset* row_offsets;
  Index* columns;
  Offset* sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t m = major_of(ctx, a.offsets, a.size, e);
    const auto at = place_of(form, static_cast<Index>(a.size - 1), static_cast<Index>(m),
                             ctx.load_constant(a.indices + e));
    if (at.column < at.row) {
      const std::int64_t rank = form.reversed
                                    ? static_cast<std::int64_t>(ctx.load_constant(a.offsets + m + 1)) - 1 - e
                                    : e - static_cast<std::int64_t>(ctx.load_constant(a.offsets + m));
      const std::int64_t slot = static_cast<std::int64_t>(ctx.load_constant(row_offsets + at.row)) + rank;
      ctx.store(columns + slot, at.column);
      ctx.store(sources + slot, static_cast<Offset>(e));
    }
  }
};

/// Per entry, in the general case: (row, column) as a key to be sorted by.
template <class Index, class Offset>
struct place_keys {
  pattern_view<Index, Offset> a;
  triangle_form form;
  Offset* cursors;  ///< by position; start at the row offsets
  std::uint64_t* keys;
  Offset* sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t m = major_of(ctx, a.offsets, a.size, e);
    const auto at = place_of(form, static_cast<Index>(a.size - 1), static_cast<Index>(m),
                             ctx.load_constant(a.indices + e));
    if (at.column < at.row) {
      const Offset slot = ctx.atomic_add(cursors + at.row, Offset{1});
      ctx.store(keys + slot, static_cast<std::uint64_t>(at.row) * static_cast<std::uint64_t>(a.size) +
                                 static_cast<std::uint64_t>(at.column));
      ctx.store(sources + slot, static_cast<Offset>(e));
    }
  }
};

/// Per sorted key: the column, and entries given twice.
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
      const std::int64_t major = form.transposed ? column : row;
      ctx.atomic_min(&found->duplicate, form.reversed ? size - 1 - major : major);
    }
  }
};

/// The source of an entry which is -1 whatever the stored matrix holds.
inline constexpr int minus_one_source = -2;

/// Per entry of a triangle: its value out of the stored matrix; zero where the source is -1, in padding.
template <class Scalar, class Offset>
struct gather_values {
  const Scalar* values;
  const Offset* sources;
  Scalar* to;
  bool conjugated;
  Scalar absent{};  ///< stands where the source is -1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const Offset source = ctx.load_constant(sources + k);
    if (source >= 0) {
      const Scalar v = ctx.load_constant(values + source);
      ctx.store(to + k, conjugated ? conjugate(v) : v);
    } else {
      ctx.store(to + k, source == minus_one_source ? Scalar{} - pivot_divisor<Scalar>::one() : absent);
    }
  }
};

/// Per entry, then per pivot.
template <class Scalar, class Offset>
struct gather_numbers {
  gather_values<Scalar, Offset> of_entries;
  gather_values<Scalar, Offset> of_pivots;
  std::int64_t entries;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    k < entries ? of_entries(ctx, k) : of_pivots(ctx, k - entries);
  }
};

/// Per element.
template <class T>
struct fill_with {
  T value;
  T* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, value);
  }
};

template <class T>
struct element_of {
  const T* values;

  template <class Context>
  SPTRSV_DEVICE T operator()(Context& ctx, std::int64_t i) const {
    return ctx.load_constant(values + i);
  }
};

/// Per element: its number.
template <class Index>
struct write_iota {
  Index* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, static_cast<Index>(i));
  }
};

}  // namespace sptrsv::detail::triangle_kernels
