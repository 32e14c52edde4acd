// Levels on the device: one kernel, without a host round trip per level.
//
// A row's level is one more than the largest level among the rows it needs: a triangular solve over (max, +),
// and so it is computed: a warp per row polls the levels of its columns, 0 standing for "not known yet". Li
// and Zhang (2020, section 6) name this as the open problem of their set-up phase.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"

namespace sptrsv::detail {

template <class Index, class Offset>
struct levels_agent {
  static constexpr int block_threads = 256;
  static constexpr int rows_per_block = block_threads / 32;
  struct shared_storage {
    std::uint32_t ticket;
  };
  struct params {
    std::int64_t size;
    const Offset* row_offsets;
    const Index* columns;
    Index* levels;  ///< counted from 1; 0 until known
    std::uint32_t* tickets;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::uint32_t ticket = simt::take_ticket(ctx, shared.ticket, p.tickets);
    const std::int64_t row = static_cast<std::int64_t>(ticket) * rows_per_block + warp.index();
    if (row >= p.size) {
      return;
    }
    Index level = 0;
    const Offset end = ctx.load_constant(p.row_offsets + row + 1);
    for (Offset e = ctx.load_constant(p.row_offsets + row) + static_cast<Offset>(warp.rank()); e < end;
         e += 32) {
      const Index needed = simt::wait_until(ctx, p.levels + ctx.load_constant(p.columns + e),
                                            [](Index known) { return known != 0; });
      level = level < needed ? needed : level;
    }
    for (int mask = 16; mask > 0; mask /= 2) {
      const Index other = warp.shuffle_xor(level, mask);
      level = level < other ? other : level;
    }
    if (warp.rank() == 0) {
      ctx.store_relaxed(p.levels + row, static_cast<Index>(level + 1));
    }
  }
};

/// Per place in level order: where levels begin.
template <class Index>
struct find_level_offsets {
  const Index* sorted_levels;
  Index* level_offsets;
  std::int64_t size;
  std::int64_t count;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t p) const {
    const Index level = ctx.load_constant(sorted_levels + p);
    if (p == 0 || ctx.load_constant(sorted_levels + p - 1) != level) {
      ctx.store(level_offsets + level - 1, static_cast<Index>(p));
    }
    if (p == 0) {
      ctx.store(level_offsets + count, static_cast<Index>(size));
    }
  }
};

/// Rows in level order, in device memory: level l holds `rows[level_offsets[l]]` up to
/// `rows[level_offsets[l + 1] - 1]`, ascending.
template <class Index>
struct device_levels {
  std::int64_t count = 0;
  buffer<Index> level_offsets;  ///< count + 1
  buffer<Index> rows;           ///< size
};

/// Synchronises.
template <class Index, class Offset, class Executor>
device_levels<Index> levels_on_device(const device_triangle<Index, Offset>& t, const Executor& on,
                                      memory_resource& resource) {
  const auto make = [&](std::int64_t count) {
    return buffer<Index>(static_cast<std::size_t>(count), resource, on.stream());
  };
  device_levels<Index> result;
  result.rows = make(t.size);
  if (t.size == 0) {
    result.level_offsets = make(1);
    on.fill_bytes(result.level_offsets.data(), 0, result.level_offsets.bytes());
    return result;
  }
  using agent = levels_agent<Index, Offset>;
  const auto levels = make(t.size);
  const auto sorted_levels = make(t.size);
  const auto iota = make(t.size);
  const buffer<std::uint32_t> tickets(1, resource, on.stream());
  on.fill_bytes(levels.data(), 0, levels.bytes());
  on.fill_bytes(tickets.data(), 0, tickets.bytes());
  on.template launch<agent>(static_cast<std::uint32_t>(simt::ceil_div(t.size, agent::rows_per_block)),
                            {t.size, t.row_offsets.data(), t.columns.data(), levels.data(), tickets.data()});
  simt::for_each(on, t.size, triangle_kernels::write_iota<Index>{iota.data()});
  using key = std::make_unsigned_t<Index>;
  on.sort_pairs(reinterpret_cast<const key*>(levels.data()), reinterpret_cast<key*>(sorted_levels.data()),
                iota.data(), result.rows.data(), t.size, bits_for(static_cast<std::uint64_t>(t.size) + 1),
                resource);
  Index count = 0;
  on.download(&count, sorted_levels.data() + t.size - 1, sizeof(Index));
  result.count = count;
  result.level_offsets = make(result.count + 1);
  simt::for_each(
      on, t.size,
      find_level_offsets<Index>{sorted_levels.data(), result.level_offsets.data(), t.size, result.count});
  return result;
}

}  // namespace sptrsv::detail
