// The packed form of the grid path: groups of 32 consecutive rows, one for each warp, a row for each lane.
//
// The entries of a group stand in slices of 32, one for each row: a warp reads a slice in one stroke. Rows
// end in the same slice, so that the latest dependencies of all rows come last.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"

namespace sptrsv::detail::dataflow {

inline constexpr int group_rows = 32;

/// A key for rows of one level: groups of rows that are about as long have few empty slots.
struct long_rows_first {
  static constexpr int bits = 6;
  static constexpr std::int64_t longest = (1 << bits) - 1;

  SPTRSV_HOST_DEVICE std::uint64_t operator()(std::int64_t length) const {
    return static_cast<std::uint64_t>(longest - (length < longest ? length : longest));
  }
};

template <class Index, class Offset>
struct packed_groups {
  std::int64_t size = 0;
  std::int64_t count = 0;
  buffer<Offset> offsets;  ///< count + 1: first slot of each group
  buffer<Index> columns;   ///< by slot: places, -1 where there is no entry
  buffer<Offset> sources;  ///< by slot: the entry of the stored matrix, -1 where there is none

  [[nodiscard]] std::size_t bytes() const { return offsets.bytes() + columns.bytes() + sources.bytes(); }
};

/// Per group, and once for the end: its slots.
template <class Offset>
struct measure_groups {
  std::int64_t size;
  const Offset* row_offsets;
  Offset* slots;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t group) const {
    Offset longest = 0;
    const std::int64_t end = (group + 1) * group_rows < size ? (group + 1) * group_rows : size;
    for (std::int64_t row = group * group_rows; row < end; ++row) {
      const Offset from = ctx.load_constant(row_offsets + row);
      const Offset to = ctx.load_constant(row_offsets + row + 1);
      longest = longest < to - from ? to - from : longest;
    }
    ctx.store(slots + group, static_cast<Offset>(longest * group_rows));
  }
};

/// A warp per row: puts each entry where it belongs, in ascending order of places where the row is short.
template <class Index, class Offset>
struct pack_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    std::int64_t size;
    const Offset* row_offsets;
    const Index* columns;
    const Offset* sources;
    const Offset* offsets;
    Index* packed_columns;
    Offset* packed_sources;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t row =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    if (row >= p.size) {
      return;
    }
    const Offset first_slot = ctx.load_constant(p.offsets + row / group_rows);
    const Offset width = (ctx.load_constant(p.offsets + row / group_rows + 1) - first_slot) / group_rows;
    const Offset begin = ctx.load_constant(p.row_offsets + row);
    const Offset end = ctx.load_constant(p.row_offsets + row + 1);
    for (Offset first = begin; first < end; first += 32) {
      const Offset e = first + static_cast<Offset>(warp.rank());
      const bool present = e < end;
      const Index column = present ? ctx.load_constant(p.columns + e) : Index{-1};
      int rank = warp.rank();
      if (end - begin <= 32) {
        rank = 0;
        for (int lane = 0; lane < static_cast<int>(end - begin); ++lane) {
          rank += warp.shuffle(column, lane) < column ? 1 : 0;
        }
      }
      if (present) {
        const Offset slice = width - (end - first) + static_cast<Offset>(rank);
        const Offset slot = first_slot + slice * group_rows + static_cast<Offset>(row % group_rows);
        ctx.store(p.packed_columns + slot, column);
        ctx.store(p.packed_sources + slot, ctx.load_constant(p.sources + e));
      }
    }
  }
};

/// Packs a triangle whose rows stand in any order in which each row comes after those it needs. Synchronises.
template <class Index, class Offset, class Executor>
packed_groups<Index, Offset> pack_groups(const device_triangle<Index, Offset>& t, const Executor& on,
                                         const analysis_memory& memory) {
  packed_groups<Index, Offset> g;
  g.size = t.size;
  g.count = simt::ceil_div(t.size, group_rows);
  g.offsets = buffer<Offset>(static_cast<std::size_t>(g.count) + 1, memory.kept, on.stream());
  simt::for_each(on, g.count + 1, measure_groups<Offset>{t.size, t.row_offsets.data(), g.offsets.data()});
  on.exclusive_scan(g.offsets.data(), g.offsets.data(), g.count + 1, memory.scratch);
  Offset slots = 0;
  on.download(&slots, g.offsets.data() + g.count, sizeof(Offset));
  g.columns = buffer<Index>(static_cast<std::size_t>(slots), memory.kept, on.stream());
  g.sources = buffer<Offset>(static_cast<std::size_t>(slots), memory.kept, on.stream());
  on.fill_bytes(g.columns.data(), 0xff, g.columns.bytes());
  on.fill_bytes(g.sources.data(), 0xff, g.sources.bytes());
  using pack = pack_agent<Index, Offset>;
  if (t.size > 0) {
    on.template launch<pack>(static_cast<std::uint32_t>(simt::ceil_div(t.size, pack::block_threads / 32)),
                             {t.size, t.row_offsets.data(), t.columns.data(), t.sources.data(),
                              g.offsets.data(), g.columns.data(), g.sources.data()});
  }
  return g;
}

}  // namespace sptrsv::detail::dataflow
