// The packed form of the grid path: groups of consecutive rows, one for each warp. A row has 1, 2, 4, ... lanes,
// so a group has 32, 16, 8, ... rows.
//
// The entries of a group that point at rows before it (external ones) stand in slices of 32, one for each lane:
// a warp reads a slice in one stroke. Rows end in the same slice, so that the latest dependencies of all rows
// come last. What a row has beyond the group's width stands apart, to be shared by all lanes. Entries among the
// rows of the group (internal ones) follow in slices of their own.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"

namespace sptrsv::detail::dataflow {

inline constexpr int slice_slots = 32;

template <class Index, class Offset>
struct packed_groups {
  int lanes = 1;  ///< of a row
  std::int64_t size = 0;
  std::int64_t count = 0;
  std::int64_t internal_entries = 0;
  buffer<Offset> offsets;               ///< count + 1: first slot of each group
  buffer<std::int32_t> external_width;  ///< count: slices of external entries
  buffer<Index> columns;                ///< by slot: places, -1 where there is no entry
  buffer<Offset> sources;               ///< by slot: the entry of the stored matrix, -1 where there is none
  buffer<Offset> long_offsets;          ///< size + 1: by row, entries beyond the width, oldest first
  buffer<Index> long_columns;
  buffer<Offset> long_sources;

  [[nodiscard]] std::size_t bytes() const {
    return offsets.bytes() + external_width.bytes() + columns.bytes() + sources.bytes() +
           long_offsets.bytes() + long_columns.bytes() + long_sources.bytes();
  }
};

/// How many lanes a row has, and what follows from it.
struct group_form {
  int lanes;

  SPTRSV_HOST_DEVICE int rows() const { return slice_slots / lanes; }
  SPTRSV_HOST_DEVICE std::int64_t group_of(std::int64_t row) const { return row / rows(); }
  SPTRSV_HOST_DEVICE bool is_internal(std::int64_t row, std::int64_t column) const {
    return column >= group_of(row) * rows();
  }
};

/// Per entry: internal entries of each row.
template <class Index, class Offset>
struct count_internal {
  group_form form;
  std::int64_t size;
  const Offset* row_offsets;
  const Index* columns;
  std::int32_t* internal_lengths;  ///< start at 0
  unsigned long long* total;       ///< starts at 0

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t row = triangle_kernels::major_of(ctx, row_offsets, size, e);
    if (form.is_internal(row, static_cast<std::int64_t>(ctx.load_constant(columns + e)))) {
      ctx.atomic_add(internal_lengths + row, std::int32_t{1});
      ctx.atomic_add(total, 1ull);
    }
  }
};

/// A warp per group: its widths, and what its rows have beyond them.
template <class Offset>
struct measure_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    group_form form;
    std::int64_t size;
    const Offset* row_offsets;
    const std::int32_t* internal_lengths;
    std::int32_t* external_width;
    Offset* slots;         ///< by group
    Offset* long_lengths;  ///< by row
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t group =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    const int rows = p.form.rows();
    const std::int64_t row = group * rows + warp.rank();
    if (group * rows >= p.size) {
      return;
    }
    const bool present = warp.rank() < rows && row < p.size;
    std::int64_t internal = 0;
    std::int64_t external = 0;
    if (present) {
      internal = ctx.load_constant(p.internal_lengths + row);
      external = static_cast<std::int64_t>(ctx.load_constant(p.row_offsets + row + 1) -
                                           ctx.load_constant(p.row_offsets + row)) -
                 internal;
    }
    std::int64_t longest = external;
    std::int64_t total = external;
    std::int64_t internal_width = internal;
    for (int mask = 16; mask > 0; mask /= 2) {
      longest = larger(longest, warp.shuffle_xor(longest, mask));
      internal_width = larger(internal_width, warp.shuffle_xor(internal_width, mask));
      total += warp.shuffle_xor(total, mask);
    }
    const std::int64_t width = smaller(simt::ceil_div(longest, p.form.lanes), usual_width(total));
    if (present) {
      const std::int64_t room = width * p.form.lanes;
      ctx.store(p.long_lengths + row, static_cast<Offset>(external > room ? external - room : 0));
    }
    if (warp.rank() == 0) {
      ctx.store(p.external_width + group, static_cast<std::int32_t>(width));
      ctx.store(p.slots + group, static_cast<Offset>(
                                     slice_slots * (width + simt::ceil_div(internal_width, p.form.lanes))));
    }
  }

 private:
  SPTRSV_DEVICE static std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
  SPTRSV_DEVICE static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  /// Slices that serve the group's rows well: a longer row would leave most lanes idle.
  SPTRSV_DEVICE static std::int64_t usual_width(std::int64_t total) {
    return total * 3 / (2 * slice_slots) + 4;
  }
};

/// A warp per row: puts each entry where it belongs.
template <class Index, class Offset>
struct pack_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    group_form form;
    std::int64_t size;
    const Offset* row_offsets;
    const Index* columns;
    const Offset* sources;
    const std::int32_t* internal_lengths;
    const Offset* offsets;
    const std::int32_t* external_width;
    const Offset* long_offsets;
    Index* packed_columns;
    Offset* packed_sources;
    Index* long_columns;
    Offset* long_sources;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t row =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    if (row >= p.size) {
      return;
    }
    const Offset begin = ctx.load_constant(p.row_offsets + row);
    const Offset end = ctx.load_constant(p.row_offsets + row + 1);
    const std::int64_t internal = ctx.load_constant(p.internal_lengths + row);
    const std::int64_t external = static_cast<std::int64_t>(end - begin) - internal;
    std::int64_t externals_before = 0;
    std::int64_t internals_before = 0;
    for (Offset first = begin; first < end; first += 32) {
      const Offset e = first + static_cast<Offset>(warp.rank());
      const bool present = e < end;
      const Index column = present ? ctx.load_constant(p.columns + e) : Index{-1};
      const bool inside = present && p.form.is_internal(row, static_cast<std::int64_t>(column));
      const std::uint32_t internals = warp.ballot(inside);
      const std::uint32_t externals = warp.ballot(present && !inside);
      const std::uint32_t peers = inside ? internals : externals;
      int rank = simt::bit_count(peers & ((1u << warp.rank()) - 1u));
      if (end - begin <= 32) {  // ascending; longer rows keep the order that they have
        rank = 0;
        for (int lane = 0; lane < 32; ++lane) {
          const Index other = warp.shuffle(column, lane);
          rank += (peers >> lane & 1u) != 0 && other < column ? 1 : 0;
        }
      }
      if (present && inside) {
        place_internal(ctx, p, row, internals_before + rank, column, e);
      } else if (present) {
        place_external(ctx, p, row, externals_before + rank, external, column, e);
      }
      internals_before += simt::bit_count(internals);
      externals_before += simt::bit_count(externals);
    }
  }

 private:
  /// `at`: the entry's place among those that the row's lanes hold, slice after slice.
  template <class Context>
  SPTRSV_DEVICE static void put(Context& ctx, const params& p, std::int64_t row, std::int64_t at, Index column,
                                Offset e) {
    const int lanes = p.form.lanes;
    const Offset slot =
        ctx.load_constant(p.offsets + p.form.group_of(row)) +
        static_cast<Offset>(at / lanes * slice_slots + row % p.form.rows() * lanes + at % lanes);
    ctx.store(p.packed_columns + slot, column);
    ctx.store(p.packed_sources + slot, ctx.load_constant(p.sources + e));
  }
  template <class Context>
  SPTRSV_DEVICE static void place_internal(Context& ctx, const params& p, std::int64_t row, std::int64_t rank,
                                           Index column, Offset e) {
    put(ctx, p, row, room(ctx, p, row) + rank, column, e);
  }
  template <class Context>
  SPTRSV_DEVICE static void place_external(Context& ctx, const params& p, std::int64_t row, std::int64_t rank,
                                           std::int64_t external, Index column, Offset e) {
    const std::int64_t at = room(ctx, p, row) - external + rank;
    if (at >= 0) {
      put(ctx, p, row, at, column, e);
    } else {
      const Offset slot = ctx.load_constant(p.long_offsets + row) + static_cast<Offset>(rank);
      ctx.store(p.long_columns + slot, column);
      ctx.store(p.long_sources + slot, ctx.load_constant(p.sources + e));
    }
  }
  /// External entries of the row that its lanes can hold.
  template <class Context>
  SPTRSV_DEVICE static std::int64_t room(Context& ctx, const params& p, std::int64_t row) {
    return static_cast<std::int64_t>(ctx.load_constant(p.external_width + p.form.group_of(row))) * p.form.lanes;
  }
};

/// Packs a triangle whose rows stand in any order in which each row comes after those it needs. Synchronises.
template <class Index, class Offset, class Executor>
packed_groups<Index, Offset> pack_groups(const device_triangle<Index, Offset>& t, int lanes, const Executor& on,
                                         memory_resource& resource) {
  const auto stream = on.stream();
  const auto size = static_cast<std::size_t>(t.size);
  packed_groups<Index, Offset> g;
  const group_form form{lanes};
  g.lanes = lanes;
  g.size = t.size;
  g.count = simt::ceil_div(t.size, form.rows());
  g.offsets = buffer<Offset>(static_cast<std::size_t>(g.count) + 1, resource, stream);
  g.external_width = buffer<std::int32_t>(static_cast<std::size_t>(g.count), resource, stream);
  g.long_offsets = buffer<Offset>(size + 1, resource, stream);
  on.fill_bytes(g.offsets.data(), 0, g.offsets.bytes());
  on.fill_bytes(g.long_offsets.data(), 0, g.long_offsets.bytes());
  if (t.size == 0) {
    return g;
  }
  const buffer<std::int32_t> internal_lengths(size, resource, stream);
  const buffer<unsigned long long> total(1, resource, stream);
  on.fill_bytes(internal_lengths.data(), 0, internal_lengths.bytes());
  on.fill_bytes(total.data(), 0, total.bytes());
  simt::for_each(on, t.entries(),
                 count_internal<Index, Offset>{form, t.size, t.row_offsets.data(), t.columns.data(),
                                               internal_lengths.data(), total.data()});
  using measure = measure_agent<Offset>;
  on.template launch<measure>(
      static_cast<std::uint32_t>(simt::ceil_div(g.count, measure::block_threads / 32)),
      {form, t.size, t.row_offsets.data(), internal_lengths.data(), g.external_width.data(), g.offsets.data(),
       g.long_offsets.data()});
  on.exclusive_scan(g.offsets.data(), g.offsets.data(), g.count + 1, resource);
  on.exclusive_scan(g.long_offsets.data(), g.long_offsets.data(), t.size + 1, resource);
  Offset slots = 0;
  Offset long_entries = 0;
  unsigned long long internal = 0;
  on.download(&slots, g.offsets.data() + g.count, sizeof(Offset));
  on.download(&long_entries, g.long_offsets.data() + t.size, sizeof(Offset));
  on.download(&internal, total.data(), sizeof(internal));
  g.internal_entries = static_cast<std::int64_t>(internal);
  g.columns = buffer<Index>(static_cast<std::size_t>(slots), resource, stream);
  g.sources = buffer<Offset>(static_cast<std::size_t>(slots), resource, stream);
  g.long_columns = buffer<Index>(static_cast<std::size_t>(long_entries), resource, stream);
  g.long_sources = buffer<Offset>(static_cast<std::size_t>(long_entries), resource, stream);
  on.fill_bytes(g.columns.data(), 0xff, g.columns.bytes());
  on.fill_bytes(g.sources.data(), 0xff, g.sources.bytes());
  using pack = pack_agent<Index, Offset>;
  on.template launch<pack>(
      static_cast<std::uint32_t>(simt::ceil_div(t.size, pack::block_threads / 32)),
      {form, t.size, t.row_offsets.data(), t.columns.data(), t.sources.data(), internal_lengths.data(),
       g.offsets.data(), g.external_width.data(), g.long_offsets.data(), g.columns.data(), g.sources.data(),
       g.long_columns.data(), g.long_sources.data()});
  return g;
}

}  // namespace sptrsv::detail::dataflow
