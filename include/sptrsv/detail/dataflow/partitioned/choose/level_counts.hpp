// SPDX-License-Identifier: Apache-2.0
// Counts, on the device, what each partition has to do on each level.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// The counts of one partition on one level: a cell of a table with levels x partitions cells. All zero if
/// the partition has no rows on the level.
struct level_counts {
  std::int32_t rows;
  /// Zero if it needs no other partition; otherwise one more than the latest level of other partitions that
  /// it needs, times `level_stride`, plus the partition.
  std::int32_t need;
  std::int32_t global_entries;
  std::int32_t rounds;  ///< polls of the row with most global entries, of 2 * lanes of them together

  static constexpr std::int32_t level_stride = 256;
  static constexpr std::int64_t max_levels = (std::int64_t{1} << 31) / level_stride - 1;

  SPTRSV_HOST_DEVICE static std::int32_t need_of(std::int64_t level, std::int64_t partition) {
    return static_cast<std::int32_t>(level * level_stride + partition + 1);
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE bool needs_other() const { return need != 0; }
  /// Returns the level of `need`; needed_partition() returns the partition. Only if needs_other().
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int32_t needed_level() const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(need - 1) / level_stride);
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int32_t needed_partition() const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(need - 1) % level_stride);
  }
};

/// A table: how the rows are divided, and where its cells are in the cells of all tables.
struct counted_table {
  std::int64_t partitions;
  block_partition boxes;
  std::int64_t begin;           ///< its first cell
  std::int32_t shared_entries;  ///< of a row, at most
  std::int32_t round_entries;   ///< global entries that a row polls together
};

/// The tables that one launch counts; parameters of the kernels.
struct counted_tables {
  static constexpr int max_count = 24;
  int count = 0;
  counted_table tables[max_count];
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
    triangle_view<Index, Offset> of;
    std::int64_t entries;       ///< of the triangle
    std::int64_t table_blocks;  ///< blocks that count one table
    const Index* levels;        ///< by row, counted from 1
    level_counts* counts;       ///< by cell; in a table by level, then by partition; must be 0 before
    std::int32_t* level_rows;   ///< by level: the number of rows; must be 0 before
    counted_tables tables;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    run_block(ctx, shared, p, static_cast<std::int64_t>(ctx.block_rank()));
  }

  /// Runs the block `block` of the launch.
  template <class Context>
  SPTRSV_DEVICE static void run_block(Context& ctx, shared_storage&, const params& p, std::int64_t block) {
    const auto warp = ctx.template group<32>();
    const auto table = static_cast<int>(block / p.table_blocks);
    const std::int64_t row = (block - table * p.table_blocks) * block_threads + ctx.thread_rank();
    bool is_left = row < p.of.size;
    std::int64_t own = 0;
    std::int64_t level = 0;
    const level_counts mine = is_left ? count(ctx, p, table, row, level, own) : level_counts{0, 0, 0, 0};
    for (int k = 0; k < cells_of_warp; ++k) {
      const std::uint32_t left = warp.ballot(is_left);
      if (left == 0) {
        return;
      }
      const int leader = simt::lowest_bit(left);
      const std::int64_t cell = warp.shuffle(own, leader);
      const bool is_same = is_left && own == cell;
      const level_counts sum = add_up(warp, is_same ? mine : level_counts{0, 0, 0, 0});
      if (warp.rank() == leader) {
        add(ctx, p, table, level, own, sum);
      }
      is_left = is_left && !is_same;
    }
    if (is_left) {
      add(ctx, p, table, level, own, mine);
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static level_counts count(Context& ctx, const params& p, int table_index, std::int64_t row,
                                          std::int64_t& level, std::int64_t& cell) {
    const counted_table& table = p.tables.tables[table_index];
    const partition_of_row<Index, Offset> partition{p.of, p.entries + p.of.size, table.partitions,
                                                    table.boxes};
    const std::int64_t own = partition(ctx, row);
    level = level_of(ctx, p, row);
    cell = table.begin + level * table.partitions + own;
    level_counts counted{1, 0, 0, 0};
    int shared = 0;
    const Offset begin = ctx.load_constant(p.of.row_offsets + row);
    for (Offset e = ctx.load_constant(p.of.row_offsets + row + 1); e-- > begin;) {
      const auto column = static_cast<std::int64_t>(ctx.load_constant(p.of.columns + e));
      const std::int64_t other = partition(ctx, column);
      if (other == own && shared < table.shared_entries) {
        ++shared;
        continue;
      }
      ++counted.global_entries;
      if (other < 0) {
        continue;
      }
      const std::int32_t need = level_counts::need_of(level_of(ctx, p, column), other);
      counted.need = counted.need < need ? need : counted.need;
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
  SPTRSV_DEVICE static void add(Context& ctx, const params& p, int table, std::int64_t level,
                                std::int64_t cell, const level_counts& counted) {
    level_counts* const to = p.counts + cell;
    ctx.atomic_add(&to->rows, counted.rows);
    if (table == 0) {  // the tables have the same levels
      ctx.atomic_add(p.level_rows + level, counted.rows);
    }
    if (counted.global_entries > 0) {
      ctx.atomic_max(&to->need, counted.need);
      ctx.atomic_add(&to->global_entries, counted.global_entries);
      ctx.atomic_max(&to->rounds, counted.rounds);
    }
  }
};

/// Runs `Agent`, count_levels_agent or solve_simulation, for two systems at the same time: the first blocks
/// belong to the first one.
template <class Agent>
struct two_systems_agent {
  static constexpr int block_threads = Agent::block_threads;
  using shared_storage = typename Agent::shared_storage;
  struct params {
    typename Agent::params of[2];
    std::int64_t first_blocks;  ///< of the first system
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto block = static_cast<std::int64_t>(ctx.block_rank());
    if (block < p.first_blocks) {  // no index: parameters at fixed places are read faster
      Agent::run_block(ctx, shared, p.of[0], block);
    } else {
      Agent::run_block(ctx, shared, p.of[1], block - p.first_blocks);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
