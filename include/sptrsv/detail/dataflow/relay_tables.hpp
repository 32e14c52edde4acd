// Tables of what each part of a relay has to do on each level, for some ways to deal the rows, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sptrsv/detail/dataflow/relay_counts.hpp"

namespace sptrsv::detail::dataflow {

/// How rows are dealt.
struct relay_division {
  std::int64_t parts;
  relay_boxes boxes;
  bool are_planes = false;  ///< of a grid whose rows need most of their neighbours from the plane before
};

/// The runs of a division, read by so many lanes a row.
struct relay_table {
  relay_division rows;
  relay_shape_values shape;  ///< one of those that it serves
  std::int64_t begin;        ///< in the runs of all tables

  [[nodiscard]] bool serves(const relay_division& d, const relay_shape_values& s) const {
    return rows.parts == d.parts && shape.lanes == s.lanes && shape.entries == s.entries;
  }
};

struct counted_relay_tables {
  std::unique_ptr<relay_turn[]> turns;
  /// By table: the first of its turns, and that after the last; whether a part needs one after it; by part,
  /// entries that come through memory.
  std::vector<std::int32_t> sums;
  static constexpr std::size_t sums_of_table = 3 + relay_run::level_stride;
};

/// `size`: runs of all tables; `level_of_row`: counted from 1. Synchronises.
template <class Index, class Offset, class Executor>
counted_relay_tables count_relay_tables(const std::vector<relay_table>& tables, std::int64_t size,
                                        const device_triangle<Index, Offset>& t,
                                        const buffer<Index>& level_of_row, std::int64_t levels,
                                        const Executor& on, memory_resource& scratch) {
  const buffer<relay_run> runs(static_cast<std::size_t>(size), scratch, on.stream());
  simt::for_each(on, size, triangle_kernels::fill_with<relay_run>{{0, -1, 0, 0}, runs.data()});
  constexpr std::size_t per_table = counted_relay_tables::sums_of_table;
  const buffer<std::int32_t> sums(tables.size() * per_table, scratch, on.stream());
  on.fill_bytes(sums.data(), 0, sums.bytes());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const relay_table& table = tables[i];
    using agent = relay_kernels::count_runs_agent<Index, Offset>;
    on.template launch<agent>(
        static_cast<std::uint32_t>(simt::ceil_div(t.size, agent::block_threads)),
        {t.size,
         {t.row_offsets.data(), t.size, t.entries() + t.size, table.rows.parts, table.rows.boxes},
         t.columns.data(),
         level_of_row.data(),
         table.shape.late_entries(),
         2 * table.shape.lanes,
         runs.data() + table.begin,
         sums.data() + i * per_table + 2});
  }
  // Of most parts most levels have no rows: only runs that have come to the host.
  const buffer<std::int32_t> places(static_cast<std::size_t>(size + 1), scratch, on.stream());
  const buffer<relay_turn> turns(static_cast<std::size_t>(size), scratch, on.stream());
  simt::for_each(on, size + 1, relay_kernels::mark_runs{size, runs.data(), places.data()});
  on.exclusive_scan(places.data(), places.data(), size + 1, scratch);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const relay_table& table = tables[i];
    std::int32_t* const own = sums.data() + i * per_table;
    const std::int64_t parts = table.rows.parts;
    simt::for_each(on, parts * levels,
                   relay_kernels::write_turns{table.begin, table.begin + parts * levels, parts, runs.data(),
                                              places.data(), turns.data(), own, own + 3});
  }
  counted_relay_tables made;
  made.sums.resize(sums.size());
  on.download(made.sums.data(), sums.data(), sums.bytes());
  const auto all = static_cast<std::size_t>(made.sums[(tables.size() - 1) * per_table + 1]);
  made.turns.reset(new relay_turn[all]);
  on.download(made.turns.get(), turns.data(), all * sizeof(relay_turn));
  return made;
}

}  // namespace sptrsv::detail::dataflow
