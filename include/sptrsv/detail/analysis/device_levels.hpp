// Levels on the device: one kernel, without a host round trip per level.
//
// A row's level is one more than the largest level among the rows it needs: a triangular solve over (max, +),
// and so it is computed, by polling the levels of earlier rows. Li and Zhang (2020, section 6) name a set-up
// phase without global synchronisation as future work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"

namespace sptrsv::detail {

/// A warp finds the levels of 32 consecutive rows. Its lanes share the entries of these rows evenly, whatever
/// the lengths; entries that point at earlier warps' rows are polled, those among the 32 rows are resolved by
/// shuffles: so a row that depends on its predecessor costs nanoseconds, not a trip through memory.
template <class Index, class Offset>
struct levels_agent {
  static constexpr int block_threads = 256;
  static constexpr int entries_at_once = 8;  ///< that a lane polls together
  struct shared_storage {
    std::uint32_t ticket;
    Index external[block_threads];          ///< by row: the largest level among earlier warps' rows
    std::uint32_t internal[block_threads];  ///< by row: the rows of the same warp that it needs, a bit each
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
    const std::int64_t base = static_cast<std::int64_t>(ticket) * block_threads + warp.index() * 32;
    if (base >= p.size) {
      return;
    }
    Index* const external = shared.external + warp.index() * 32;
    std::uint32_t* const internal = shared.internal + warp.index() * 32;
    external[warp.rank()] = 0;
    internal[warp.rank()] = 0;
    warp.sync();
    sort_needs(ctx, warp, p, base, external, internal);
    warp.sync();

    Index level = external[warp.rank()];
    const std::uint32_t needs = internal[warp.rank()];
    if (warp.any(needs != 0)) {
      for (int r = 0; r < 32; ++r) {  // row r is final when its turn comes: it needs smaller rows only
        const Index other = static_cast<Index>(warp.shuffle(level, r) + 1);
        level = (needs >> r & 1u) != 0 && level < other ? other : level;
      }
    }
    if (base + warp.rank() < p.size) {
      ctx.store_relaxed(p.levels + base + warp.rank(), static_cast<Index>(level + 1));
    }
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static void sort_needs(Context& ctx, const Warp& warp, const params& p, std::int64_t base,
                                       Index* external, std::uint32_t* internal) {
    const std::int64_t row = base + warp.rank();
    const Offset begin = ctx.load_constant(p.row_offsets + (row < p.size ? row : p.size));
    const std::int64_t rows_end = base + 32 < p.size ? base + 32 : p.size;
    const Offset last = ctx.load_constant(p.row_offsets + rows_end);
    for (Offset first = warp.shuffle(begin, 0); first < last; first += 32 * entries_at_once) {
      const Index* needed[entries_at_once];
      Index known[entries_at_once];
      int owner[entries_at_once];
      for (int i = 0; i < entries_at_once; ++i) {
        const Offset e = first + static_cast<Offset>(32 * i + warp.rank());
        const std::int64_t column =
            e < last ? static_cast<std::int64_t>(ctx.load_constant(p.columns + e)) : -1;
        owner[i] = 0;  // the last row that begins at or before e
        for (int step = 16; step > 0; step /= 2) {
          owner[i] += warp.shuffle(begin, owner[i] + step) <= e ? step : 0;
        }
        if (column >= base) {
          ctx.atomic_add(internal + owner[i],
                         1u << (column - base));  // no entry stands twice: this sets the bit
        }
        const bool is_external = column >= 0 && column < base;
        needed[i] = p.levels + (is_external ? column : 0);
        known[i] = is_external ? Index{0} : Index{-1};
      }
      simt::wait_until_all(ctx, needed, known, [](Index level) { return level != 0; });
      for (int i = 0; i < entries_at_once; ++i) {
        if (known[i] > 0) {
          ctx.atomic_max(external + owner[i], known[i]);
        }
      }
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

  [[nodiscard]] std::size_t bytes() const { return level_offsets.bytes() + rows.bytes(); }

  /// Where `row` stands; `row` itself if there is no order. Synchronises, linear time.
  template <class Executor>
  [[nodiscard]] std::int64_t place_of(std::int64_t row, const Executor& on) const {
    std::vector<Index> all(rows.size());
    on.download(all.data(), rows.data(), rows.bytes());
    return all.empty() ? row : std::find(all.begin(), all.end(), static_cast<Index>(row)) - all.begin();
  }
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
  on.template launch<agent>(static_cast<std::uint32_t>(simt::ceil_div(t.size, agent::block_threads)),
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
