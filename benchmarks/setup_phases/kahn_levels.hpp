// Levels by Kahn's algorithm, one level at a time: the set-up phase of Li and Zhang, Efficient Parallel
// Implementations of Sparse Triangular Solves for GPU Architectures, 2020, section 4.4.1. Arrays have the
// paper's names.
//
// This is an alternative to levels_on_device and levels_on_host, for comparison. It needs the triangle by
// columns and its in-degrees, and on the device one launch and one download per level. The levels are the
// same. Within a level the rows are in the order in which they became free, which on the device differs from
// run to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv_benchmarks::setup_phases {

using namespace sptrsv::detail;

/// The strictly lower triangle by columns, rows ascending.
template <class Index, class Offset>
struct host_columns {
  std::vector<Offset> column_offsets;  ///< by column, size + 1
  std::vector<Index> rows;             ///< by entry: its row
};

/// Transposes the pattern of a triangle that is stored by rows. A counting sort, linear time.
template <class Index, class Offset>
host_columns<Index, Offset> columns_on_host(const std::vector<Offset>& row_offsets,
                                            const std::vector<Index>& columns) {
  const std::size_t size = row_offsets.size() - 1;
  host_columns<Index, Offset> made;
  made.column_offsets.assign(size + 1, Offset{0});
  made.rows.resize(columns.size());
  for (const Index column : columns) {
    ++made.column_offsets[static_cast<std::size_t>(column) + 1];
  }
  for (std::size_t c = 0; c < size; ++c) {
    made.column_offsets[c + 1] += made.column_offsets[c];
  }
  std::vector<Offset> cursor(made.column_offsets.begin(), made.column_offsets.end() - 1);
  for (std::size_t r = 0; r < size; ++r) {
    for (Offset e = row_offsets[r]; e < row_offsets[r + 1]; ++e) {
      const auto column = static_cast<std::size_t>(columns[static_cast<std::size_t>(e)]);
      made.rows[static_cast<std::size_t>(cursor[column]++)] = static_cast<Index>(r);
    }
  }
  return made;
}

/// Returns the number of entries of each row, that is, of the unknowns that the row waits for.
template <class Index, class Offset>
std::vector<Index> in_degrees_on_host(const host_columns<Index, Offset>& c) {
  std::vector<Index> degrees(c.column_offsets.size() - 1, Index{0});
  for (const Index row : c.rows) {
    ++degrees[static_cast<std::size_t>(row)];
  }
  return degrees;
}

namespace kahn {

/// FIND_LEVEL0, once per row: appends the rows without entries to jlev.
template <class Index>
struct find_first_level {
  const Index* dp;  ///< in-degrees, by row
  Index* jlev;      ///< output: rows in level order
  Index* last;      ///< number of rows in jlev; must be 0 before

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    if (ctx.load_constant(dp + row) == 0) {
      ctx.store(jlev + ctx.atomic_add(last, Index{1}), static_cast<Index>(row));
    }
  }
};

/// FIND_LEVEL: one warp per row of the current level. The warp decrements the in-degree of each row that the
/// column has an entry in. A row that reaches 0 is appended to jlev and belongs to the next level.
template <class Index, class Offset>
struct find_level {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    const Offset* ib;  ///< column offsets, by row
    const Index* jb;   ///< by entry, column by column: its row
    Index* dp;         ///< by row: the number of unsolved rows that it still needs
    Index* jlev;       ///< rows in level order
    Index first;       ///< index in jlev of the current level's first row
    Index count;       ///< number of rows of the current level
    Index* last;       ///< number of rows in jlev
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t wid =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    if (wid >= static_cast<std::int64_t>(p.count)) {
      return;
    }
    const Index i = ctx.load(p.jlev + p.first + wid);
    const Offset end = ctx.load_constant(p.ib + i + 1);
    for (Offset j = ctx.load_constant(p.ib + i) + warp.rank(); j < end; j += 32) {
      const Index row = ctx.load_constant(p.jb + j);
      if (ctx.atomic_add(p.dp + row, Index{-1}) == 1) {
        ctx.store(p.jlev + ctx.atomic_add(p.last, Index{1}), row);
      }
    }
  }
};

}  // namespace kahn

/// Returns the rows in level order. Synchronises once per level.
template <class Index, class Offset, class Executor>
device_levels<Index> kahn_levels_on_device(const device_columns<Index, Offset>& c,
                                           const in_degrees<Index>& degrees, const Executor& on,
                                           sptrsv::memory_resource& resource) {
  using agent = kahn::find_level<Index, Offset>;
  const auto size = static_cast<std::size_t>(c.size);
  device_levels<Index> result;
  result.rows = sptrsv::buffer<Index>(size, resource, on.stream());
  const sptrsv::buffer<Index> dp(size, resource, on.stream());
  const sptrsv::buffer<Index> last(1, resource, on.stream());
  on.copy(dp.data(), degrees.total.data(), dp.bytes());
  on.fill_bytes(last.data(), 0, last.bytes());
  simt::for_each(on, c.size,
                 kahn::find_first_level<Index>{degrees.total.data(), result.rows.data(), last.data()});
  std::vector<Index> offsets{0};
  Index h_last = 0;
  on.download(&h_last, last.data(), sizeof(h_last));
  while (offsets.back() < h_last) {
    const Index first = offsets.back();
    const auto count = static_cast<Index>(h_last - first);
    offsets.push_back(h_last);
    on.template launch<agent>(
        simt::block_count(count, agent::block_threads / 32),
        {c.column_offsets.data(), c.rows.data(), dp.data(), result.rows.data(), first, count, last.data()});
    on.download(&h_last, last.data(), sizeof(h_last));
  }
  result.count = static_cast<std::int64_t>(offsets.size()) - 1;
  result.level_offsets = sptrsv::buffer<Index>(offsets.size(), resource, on.stream());
  on.upload(result.level_offsets.data(), offsets.data(), result.level_offsets.bytes());
  return result;
}

/// Returns the rows in level order on one core, in linear time.
template <class Index, class Offset>
host_levels<Index> kahn_levels_on_host(const host_columns<Index, Offset>& c, std::vector<Index> degrees) {
  std::vector<Index>& dp = degrees;
  host_levels<Index> levels;
  levels.level_of_row.assign(dp.size(), Index{0});
  levels.rows.reserve(dp.size());
  levels.level_offsets.push_back(0);
  for (std::size_t row = 0; row < dp.size(); ++row) {
    if (dp[row] == 0) {
      levels.rows.push_back(static_cast<Index>(row));
    }
  }
  for (std::size_t first = 0; first < levels.rows.size();) {
    const std::size_t end = levels.rows.size();
    const auto level = static_cast<Index>(levels.level_offsets.size() - 1);
    for (; first < end; ++first) {
      const auto i = static_cast<std::size_t>(levels.rows[first]);
      levels.level_of_row[i] = level;
      for (Offset j = c.column_offsets[i]; j < c.column_offsets[i + 1]; ++j) {
        const Index row = c.rows[static_cast<std::size_t>(j)];
        if (--dp[static_cast<std::size_t>(row)] == 0) {
          levels.rows.push_back(row);
        }
      }
    }
    levels.level_offsets.push_back(static_cast<Index>(end));
  }
  return levels;
}

}  // namespace sptrsv_benchmarks::setup_phases
