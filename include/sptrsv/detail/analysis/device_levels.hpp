// Levels on the device: the level of each row, and the rows in level order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/levels_agent.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::detail {

/// Finds where each level begins. Runs once per row in level order.
template <class Index>
struct find_level_offsets {
  const Index* sorted_levels;  ///< by solve index: the level, counted from 1, ascending
  Index* level_offsets;        ///< by level, count + 1
  std::int64_t size;
  std::int64_t count;  ///< number of levels

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

/// Rows in level order, in device memory, ascending within a level. Level l holds
/// rows[level_offsets[l]] ... rows[level_offsets[l + 1] - 1].
template <class Index>
struct device_levels {
  std::int64_t count = 0;
  buffer<Index> level_offsets;  ///< count + 1
  buffer<Index> rows;           ///< by solve index: the row; size elements

  [[nodiscard]] std::size_t bytes() const { return level_offsets.bytes() + rows.bytes(); }
};

/// The level of each row of a triangle, in device memory.
template <class Index>
struct row_levels {
  std::int64_t count = 0;  ///< number of levels
  buffer<Index> of_row;    ///< by row: its level, counted from 1
  buffer<Index> numbers;   ///< 0, 1, 2, ...: the rows before they are sorted
  /// Number of levels if the rows of each 32 consecutive ones did not need each other; 0 if it is not wanted.
  std::int64_t count_of_blocks = 0;
};

/// Sets the level of each row to unknown (0) in one or two searches, and writes the row indices 0, 1, 2, ...
template <class Index>
struct start_levels {
  Index* levels;
  Index* other_levels;  ///< of the second search; null if there is none
  Index* numbers;
  level_search* searches;  ///< two; null: they have been initialised

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(levels + row, Index{0});
    if (other_levels != nullptr) {
      ctx.store(other_levels + row, Index{0});
    }
    ctx.store(numbers + row, static_cast<Index>(row));
    if (row == 0 && searches != nullptr) {
      ctx.store(searches, level_search{});
      ctx.store(searches + 1, level_search{});
    }
  }
};

/// Returns when a search on the device takes longer than one on the host, with the copies that this needs, is
/// predicted to take. Where a level has few rows, one core of a CPU is faster than a GPU. There is no limit
/// for systems so large that warps wait for others to end before they start.
inline search_limit limit_of_search(std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t rows_that_start_together = std::int64_t{1} << 17;
  constexpr double round_ns = 600;
  if (rows > rows_that_start_together || entries > 16 * rows_that_start_together) {
    return {};
  }
  // Levels of many rows do not stay in the nearest cache of the CPU.
  const double far = static_cast<double>(rows) / static_cast<double>(rows_that_start_together / 2);
  const double host_ns = 25'000 + 0.4 * static_cast<double>(rows + entries) +
                         0.5 * static_cast<double>(rows) +
                         (0.4 + 0.8 * std::min(1.0, far)) * static_cast<double>(entries);
  const auto rounds = static_cast<std::int64_t>(host_ns / round_ns);
  return {rounds / 5 + 1, rounds + 1};
}

/// The pattern of a triangle in host memory. The constructor synchronises.
template <class Index, class Offset>
class downloaded_pattern {
 public:
  template <class Executor>
  downloaded_pattern(const device_triangle<Index, Offset>& t, const Executor& on)
      : size_(static_cast<std::size_t>(t.size)),
        row_offsets_(new Offset[t.row_offsets.size()]),
        columns_(new Index[t.columns.size()]) {
    on.download(row_offsets_.get(), t.row_offsets.data(), t.row_offsets.bytes());
    on.download(columns_.get(), t.columns.data(), t.columns.bytes());
  }

  /// Writes the level of each row, counted from 1, and returns their number. `step`: see levels_agent.
  Index find_levels(Index step, Index* levels) const {
    Index count = 0;
    for (std::size_t row = 0; row < size_; ++row) {
      const std::size_t near = step == 1 ? row : row / 32 * 32;
      Index level = 0;
      for (auto e = static_cast<std::size_t>(row_offsets_[row]);
           e < static_cast<std::size_t>(row_offsets_[row + 1]); ++e) {
        const auto column = static_cast<std::size_t>(columns_[e]);
        level = std::max(level, static_cast<Index>(levels[column] - (column >= near ? 1 : 0)));
      }
      levels[row] = ++level;
      count = std::max(count, level);
    }
    return count;
  }

 private:
  std::size_t size_;
  std::unique_ptr<Offset[]> row_offsets_;
  std::unique_ptr<Index[]> columns_;
};

/// The searches for the levels of a triangle, and for the levels of row_levels::count_of_blocks if these are
/// wanted.
template <class Index, class Offset, class Executor>
class level_searches {
 public:
  level_searches(std::int64_t size, bool counts_blocks, const Executor& on, const analysis_memory& memory)
      : counts_blocks_(counts_blocks),
        on_(on),
        of_blocks_(make_buffer<Index>(counts_blocks ? size : 0, on, memory.scratch)) {
    found_.of_row = make_buffer<Index>(size, on, memory.scratch);
    found_.numbers = make_buffer<Index>(size, on, memory.scratch);
  }

  /// Returns the kernel that runs first. `searches`: see start_levels.
  start_levels<Index> start(level_search* searches) const {
    return {found_.of_row.data(), of_blocks_.data(), found_.numbers.data(), searches};
  }

  /// Enqueues the searches.
  void launch(const device_triangle<Index, Offset>& t, level_search* searches, const search_limit& limit,
              const triangle_kernels::sound_rows& condition) const {
    using agent = levels_agent<Index, Offset>;
    typename agent::params p{};
    p.size = t.size;
    p.row_offsets = t.row_offsets.data();
    p.columns = t.columns.data();
    p.limit = limit;
    p.condition = condition;
    for (int i = 0; i < (counts_blocks_ ? 2 : 1); ++i) {
      p.levels = i == 0 ? found_.of_row.data() : of_blocks_.data();
      p.search = searches + i;
      p.step = static_cast<Index>(1 - i);
      on_.template launch<agent>(simt::block_count(t.size, agent::block_threads), p);
    }
  }

  /// Returns the levels. `results`: of the searches; those that were given up are repeated on the host, which
  /// synchronises.
  row_levels<Index> finish(const device_triangle<Index, Offset>& t, const level_search (&results)[2]) {
    found_.count = results[0].levels;
    found_.count_of_blocks = results[1].levels;
    if (results[0].given_up != 0 || results[1].given_up != 0) {
      const downloaded_pattern<Index, Offset> pattern(t, on_);
      const std::unique_ptr<Index[]> levels(new Index[static_cast<std::size_t>(t.size)]);
      if (results[1].given_up != 0) {
        found_.count_of_blocks = static_cast<std::int64_t>(pattern.find_levels(0, levels.get()));
      }
      if (results[0].given_up != 0) {
        found_.count = static_cast<std::int64_t>(pattern.find_levels(1, levels.get()));
        on_.upload(found_.of_row.data(), levels.get(), found_.of_row.bytes());
      }
    }
    return std::move(found_);
  }

 private:
  bool counts_blocks_;
  const Executor& on_;
  buffer<Index> of_blocks_;
  row_levels<Index> found_;
};

/// Finds the level of each row: one more than the largest level of the rows that it needs. The arrays are in
/// scratch memory. `counts_blocks`: whether row_levels::count_of_blocks is wanted. Synchronises.
template <class Index, class Offset, class Executor>
row_levels<Index> levels_of_rows(const device_triangle<Index, Offset>& t, const Executor& on,
                                 const analysis_memory& memory, bool counts_blocks,
                                 const search_limit& limit) {
  if (t.size == 0) {
    return {};
  }
  level_searches<Index, Offset, Executor> search(t.size, counts_blocks, on, memory);
  const auto searches = make_buffer<level_search>(2, on, memory.scratch);
  simt::for_each(on, t.size, search.start(searches.data()));
  search.launch(t, searches.data(), limit, {});
  level_search results[2];
  on.download(results, searches.data(), sizeof(results));
  return search.finish(t, results);
}
/// Does the same with the limit that saves time.
template <class Index, class Offset, class Executor>
row_levels<Index> levels_of_rows(const device_triangle<Index, Offset>& t, const Executor& on,
                                 const analysis_memory& memory, bool counts_blocks = false) {
  return levels_of_rows(t, on, memory, counts_blocks, limit_of_search(t.size, t.entries()));
}

template <class Index, class Offset>
struct triangle_with_levels {
  device_triangle<Index, Offset> triangle;
  std::optional<row_levels<Index>> levels;
};

/// Initialises the arrays of the triangle and of the searches.
template <class Index, class Offset>
struct start_rows_and_levels {
  triangle_kernels::start_rows<Offset> rows;
  start_levels<Index> levels;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    rows(ctx, row);
    levels(ctx, row);
  }
};

/// Builds the triangle as build_on_device() does. For a small system that is sorted by rows and has no row of
/// more than `longest_row` entries, it also finds the levels, see levels_of_rows(): one wait for the device
/// serves both. Synchronises.
template <class Index, class Offset, class Executor>
triangle_with_levels<Index, Offset> build_with_levels(const pattern_view<Index, Offset>& a,
                                                      const triangle_form& form, std::int64_t longest_row,
                                                      bool counts_blocks, const Executor& on,
                                                      const analysis_memory& memory) {
  // The arrays of the entries have room for all entries of the stored matrix.
  constexpr std::int64_t few_entries = std::int64_t{1} << 20;
  device_triangle_builder<Index, Offset, Executor> builder(a, form, on, memory);
  if (form.transposed || a.size == 0 || a.entries > few_entries) {
    return {builder.build(), {}};
  }
  device_triangle<Index, Offset> t = builder.allocate_rows();
  level_searches<Index, Offset, Executor> search(a.size, counts_blocks, on, memory);
  auto* const report = builder.report_on_device();
  simt::for_each(on, a.size,
                 start_rows_and_levels<Index, Offset>{builder.start_rows(t), search.start(nullptr)});
  builder.measure_rows(t, longest_row);
  builder.write_ascending_entries(t, a.entries, {report});
  search.launch(t, report->searches, limit_of_search(a.size, a.entries), {report, longest_row});
  const auto found = builder.read_report();
  builder.expect_sound(found);
  if (builder.ascends(found)) {
    t.columns.shrink(static_cast<std::size_t>(found.entries));
    t.sources.shrink(static_cast<std::size_t>(found.entries));
  }
  builder.complete(t, found);
  t.partial_rows = found.partial_rows;
  if (!builder.ascends(found) || found.longest_row > longest_row) {
    return {std::move(t), {}};
  }
  auto levels = search.finish(t, found.searches);
  return {std::move(t), std::move(levels)};
}

/// Returns the rows in level order.
template <class Index, class Executor>
device_levels<Index> order_by_level(const row_levels<Index>& levels, const Executor& on,
                                    const analysis_memory& memory) {
  const auto size = static_cast<std::int64_t>(levels.of_row.size());
  device_levels<Index> result;
  result.count = levels.count;
  result.rows = make_buffer<Index>(size, on, memory.kept);
  result.level_offsets = make_buffer<Index>(result.count + 1, on, memory.kept);
  if (size == 0) {
    on.fill_bytes(result.level_offsets.data(), 0, result.level_offsets.bytes());
    return result;
  }
  const auto sorted_levels = make_buffer<Index>(size, on, memory.scratch);
  using key = std::make_unsigned_t<Index>;
  on.sort_pairs(reinterpret_cast<const key*>(levels.of_row.data()),
                reinterpret_cast<key*>(sorted_levels.data()), levels.numbers.data(), result.rows.data(), size,
                bits_for(static_cast<std::uint64_t>(result.count) + 1), memory.scratch);
  simt::for_each(
      on, size,
      find_level_offsets<Index>{sorted_levels.data(), result.level_offsets.data(), size, result.count});
  return result;
}

/// Finds the levels of a triangle and returns its rows in level order. Synchronises.
template <class Index, class Offset, class Executor>
device_levels<Index> levels_on_device(const device_triangle<Index, Offset>& t, const Executor& on,
                                      const analysis_memory& memory) {
  return order_by_level(levels_of_rows(t, on, memory), on, memory);
}

}  // namespace sptrsv::detail
