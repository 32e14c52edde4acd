// Counts, on the device, what each partition has to do on each level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/simt/collectives.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// The counts of one partition on one level: a cell of a table with levels x partitions cells.
struct level_counts {
  std::int32_t rows;
  /// The latest level of other partitions that it needs, times `level_stride`, plus the partition; -1 if
  /// there is none.
  std::int32_t need;
  std::int32_t global_entries;
  std::int32_t
      rounds;  ///< how often the row with most global entries polls, if it polls 2 * lanes of them together

  static constexpr std::int32_t level_stride = 256;
  static constexpr std::int64_t max_levels = (std::int64_t{1} << 31) / level_stride - 1;
};

/// A partition level: a cell that has rows, in the compact list that the cost model reads.
struct partition_level {
  std::int32_t need;  ///< index in the list of the latest partition level that it needs; -1 if there is none
  std::int32_t rows;
  std::int16_t partition;
  std::uint16_t rounds : 15;
  std::uint16_t begins_level : 1;  ///< 1: it is the first partition level of its level

  static constexpr int max_rounds = (1 << 15) - 1;
};

/// What is known of one table.
struct level_table_summary {
  std::int32_t first;  ///< its first partition level in the list of all tables
  std::int32_t end;
  std::int32_t needs_later_partition;                       ///< not 0: some partition needs a later one
  std::int32_t global_entries[level_counts::level_stride];  ///< by partition

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(end - first); }
};

namespace kernels {

/// A table: how the rows are divided, and where its cells are in the cells of all tables.
struct counted_table {
  std::int64_t partitions;
  block_partition boxes;
  std::int64_t begin;           ///< its first cell
  std::int64_t end;             ///< the cell behind its last one
  std::int32_t shared_entries;  ///< of a row, at most
  std::int32_t round_entries;   ///< global entries that a row polls together
};

/// The tables that one launch counts; parameters of the kernels.
struct counted_tables {
  static constexpr int max_count = 24;
  int count = 0;
  counted_table tables[max_count];

  /// Returns the index of the table that holds `cell`.
  SPTRSV_HOST_DEVICE int table_of(std::int64_t cell) const {
    int i = 0;
    while (i + 1 < count && cell >= tables[i].end) {
      ++i;
    }
    return i;
  }
};

/// Initialises the cells of all tables, and clears words of the list. Runs once per cell and per word.
struct start_tables {
  std::int64_t size;  ///< cells
  level_counts* counts;
  std::int64_t cleared_words;
  std::int32_t* list;  ///< the summaries, then partition levels

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    if (i < size) {
      ctx.store(counts + i, level_counts{0, -1, 0, 0});
    }
    if (i < cleared_words) {
      ctx.store(list + i, 0);
    }
  }
};

/// One lane for each row of the triangle and each table. The last entries of a row are taken for the latest
/// ones, which is a guess. If there are few levels, neighbouring rows belong to the same cell: a warp then
/// adds their counts up before the atomic additions.
template <class Index, class Offset>
struct count_levels_agent {
  static constexpr int block_threads = 256;
  static constexpr int cells_of_warp = 2;  ///< cells whose counts a warp adds up
  struct shared_storage {};
  struct params {
    std::int64_t size;
    std::int64_t table_blocks;  ///< blocks that count one table
    const Offset* row_offsets;
    const Index* columns;
    const Index* levels;   ///< by row, counted from 1
    std::int64_t entries;  ///< of the triangle
    level_counts* counts;  ///< by cell; in a table by level, then by partition
    level_table_summary* summaries;
    counted_tables tables;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t block = ctx.block_rank();
    const auto table = static_cast<int>(block / p.table_blocks);
    const std::int64_t row = (block - table * p.table_blocks) * block_threads + ctx.thread_rank();
    bool is_left = row < p.size;
    std::int64_t own = 0;
    const level_counts mine = is_left ? count(ctx, p, table, row, own) : level_counts{0, -1, 0, 0};
    for (int k = 0; k < cells_of_warp; ++k) {
      const std::uint32_t left = warp.ballot(is_left);
      if (left == 0) {
        return;
      }
      const int leader = simt::lowest_bit(left);
      const std::int64_t cell = warp.shuffle(own, leader);
      const bool is_same = is_left && own == cell;
      const level_counts sum = add_up(warp, is_same ? mine : level_counts{0, -1, 0, 0});
      if (warp.rank() == leader) {
        add(ctx, p.counts + own, sum);
      }
      is_left = is_left && !is_same;
    }
    if (is_left) {
      add(ctx, p.counts + own, mine);
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static level_counts count(Context& ctx, const params& p, int table_index, std::int64_t row,
                                          std::int64_t& cell) {
    const counted_table& table = p.tables.tables[table_index];
    const partition_of_row<Offset> partition{p.row_offsets, p.size, p.entries + p.size, table.partitions,
                                             table.boxes};
    const std::int64_t own = partition(ctx, row);
    cell = table.begin + level_of(ctx, p, row) * table.partitions + own;
    level_counts counted{1, -1, 0, 0};
    int shared = 0;
    const Offset begin = ctx.load_constant(p.row_offsets + row);
    for (Offset e = ctx.load_constant(p.row_offsets + row + 1); e-- > begin;) {
      const auto column = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
      const std::int64_t other = partition(ctx, column);
      if (other == own && shared < table.shared_entries) {
        ++shared;
        continue;
      }
      ++counted.global_entries;
      if (other < 0) {
        continue;
      }
      const auto key =
          static_cast<std::int32_t>(level_of(ctx, p, column) * level_counts::level_stride + other);
      counted.need = counted.need < key ? key : counted.need;
      if (other > own) {
        ctx.store_relaxed(&p.summaries[table_index].needs_later_partition, 1);
      }
    }
    counted.rounds = (counted.global_entries + table.round_entries - 1) / table.round_entries;
    return counted;
  }

  template <class Context>
  SPTRSV_DEVICE static std::int64_t level_of(Context& ctx, const params& p, std::int64_t row) {
    return static_cast<std::int64_t>(ctx.load_constant(p.levels + row)) - 1;
  }

  template <class Warp>
  SPTRSV_DEVICE static level_counts add_up(const Warp& warp, level_counts counts) {
    counts.rows = simt::reduce(warp, counts.rows, 32, simt::plus{});
    counts.need = simt::reduce(warp, counts.need, 32, simt::maximum{});
    counts.global_entries = simt::reduce(warp, counts.global_entries, 32, simt::plus{});
    counts.rounds = simt::reduce(warp, counts.rounds, 32, simt::maximum{});
    return counts;
  }

  template <class Context>
  SPTRSV_DEVICE static void add(Context& ctx, level_counts* to, const level_counts& counted) {
    ctx.atomic_add(&to->rows, counted.rows);
    if (counted.global_entries > 0) {
      ctx.atomic_max(&to->need, counted.need);
      ctx.atomic_add(&to->global_entries, counted.global_entries);
      ctx.atomic_max(&to->rounds, counted.rounds);
    }
  }
};

/// The body of a scan over the cells: counts the partition levels, which are the cells with rows.
struct find_partition_levels {
  std::int64_t size;
  const level_counts* counts;
  std::int32_t* levels_before;  ///< by cell, size + 1

  struct cell {
    std::int64_t count;  ///< 1 if the cell has rows
  };

  template <class Context>
  SPTRSV_DEVICE cell load(Context& ctx, std::int64_t i) const {
    return {ctx.load_constant(&counts[i].rows) > 0 ? 1 : 0};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const cell& own, std::int64_t before) const {
    ctx.store(levels_before + i, static_cast<std::int32_t>(before));
    if (i == size - 1) {
      ctx.store(levels_before + size, static_cast<std::int32_t>(before + own.count));
    }
  }
};

/// Writes the partition levels of all tables. Runs once per cell.
struct write_partition_levels {
  counted_tables tables;
  const level_counts* counts;
  const std::int32_t* levels_before;  ///< by cell: the number of partition levels before
  partition_level* partition_levels;
  level_table_summary* summaries;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t cell) const {
    const int index = tables.table_of(cell);
    const counted_table& table = tables.tables[index];
    level_table_summary* const summary = summaries + index;
    const std::int32_t before = ctx.load_constant(levels_before + table.begin);
    const std::int64_t i = cell - table.begin;
    if (i == 0) {
      ctx.store(&summary->first, before);
      ctx.store(&summary->end, ctx.load_constant(levels_before + table.end));
    }
    const level_counts counted = ctx.load_constant(counts + cell);
    if (counted.rows == 0) {
      return;
    }
    const std::int64_t partition = i % table.partitions;
    if (counted.global_entries > 0) {
      ctx.atomic_add(summary->global_entries + partition, counted.global_entries);
    }
    std::int32_t need = -1;
    if (counted.need >= 0) {
      const std::int64_t level = counted.need / level_counts::level_stride;
      need = ctx.load_constant(levels_before + table.begin + level * table.partitions +
                               counted.need % level_counts::level_stride) -
             before;
    }
    partition_level made{};
    made.need = need;
    made.rows = counted.rows;
    made.partition = static_cast<std::int16_t>(partition);
    constexpr std::int32_t most = partition_level::max_rounds;
    made.rounds = static_cast<unsigned>(counted.rounds < most ? counted.rounds : most) & unsigned{most};
    const std::int32_t own = ctx.load_constant(levels_before + cell);
    made.begins_level = ctx.load_constant(levels_before + cell - partition) == own ? 1u : 0u;
    ctx.store(partition_levels + own, made);
  }
};

}  // namespace kernels

}  // namespace sptrsv::detail::dataflow::partitioned
