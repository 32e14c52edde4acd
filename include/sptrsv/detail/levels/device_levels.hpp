// Levels on the device: the level of each row, and the rows in level order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "sptrsv/detail/levels/level_searches.hpp"

namespace sptrsv::detail {

/// Rows in level order, in device memory, ascending within a level. Level l holds
/// rows[level_offsets[l]] ... rows[level_offsets[l + 1] - 1].
template <class Index>
struct device_levels {
  std::int64_t count = 0;
  buffer<Index> level_offsets;  ///< count + 1
  buffer<Index> rows;           ///< by solve index: the row; size elements
  buffer<Index> solve_indices;  ///< by row: the solve index; empty if it is not wanted

  [[nodiscard]] std::size_t bytes() const {
    return level_offsets.bytes() + rows.bytes() + solve_indices.bytes();
  }
};

/// Finds where each level begins, and the solve index of each row. `LevelOf`: returns the level, counted from
/// 0, by the key of a row. Runs once per row in level order.
template <class Key, class Index, class LevelOf>
struct find_level_offsets {
  const Key* sorted_keys;  ///< by solve index; the levels ascend
  LevelOf level_of;
  const Index* rows;     ///< by solve index; used for solve_indices only
  Index* level_offsets;  ///< by level, count + 1
  Index* solve_indices;  ///< by row; null: they are not wanted
  std::int64_t size;
  std::int64_t count;  ///< number of levels

  find_level_offsets(const Key* keys, const LevelOf& level_of_key, const device_levels<Index>& levels)
      : sorted_keys(keys),
        level_of(level_of_key),
        rows(levels.rows.data()),
        level_offsets(levels.level_offsets.data()),
        solve_indices(levels.solve_indices.size() == 0 ? nullptr : levels.solve_indices.data()),
        size(static_cast<std::int64_t>(levels.rows.size())),
        count(levels.count) {}
  /// Finds only where each level begins.
  find_level_offsets(const Key* keys, const LevelOf& level_of_key, Index* offsets, std::int64_t row_count,
                     std::int64_t level_count)
      : sorted_keys(keys),
        level_of(level_of_key),
        rows(nullptr),
        level_offsets(offsets),
        solve_indices(nullptr),
        size(row_count),
        count(level_count) {}

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t p) const {
    if (solve_indices != nullptr) {
      ctx.store(solve_indices + ctx.load_constant(rows + p), static_cast<Index>(p));
    }
    const std::int64_t level = level_of(ctx.load_constant(sorted_keys + p));
    if (p == 0 || level_of(ctx.load_constant(sorted_keys + p - 1)) != level) {
      ctx.store(level_offsets + level, static_cast<Index>(p));
    }
    if (p == 0) {
      ctx.store(level_offsets + count, static_cast<Index>(size));
    }
  }
};

/// The level of a row by its level counted from 1.
struct level_from_one {
  template <class Index>
  SPTRSV_HOST_DEVICE std::int64_t operator()(Index level) const {
    return static_cast<std::int64_t>(level) - 1;
  }
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

/// Finds the levels of the rows of two triangles, see levels_of_rows(); both searches share a launch.
/// Synchronises.
template <class Index, class Offset, class Executor>
std::array<row_levels<Index>, 2> levels_of_both(const device_triangle<Index, Offset>& first,
                                                const device_triangle<Index, Offset>& second,
                                                const Executor& on, const analysis_memory& memory,
                                                bool counts_blocks) {
  level_searches<Index, Offset, Executor> of_first(first.size, counts_blocks, on, memory);
  level_searches<Index, Offset, Executor> of_second(second.size, counts_blocks, on, memory);
  const auto searches = make_buffer<level_search>(4, on, memory.scratch);
  simt::for_each(on, first.size, of_first.start(searches.data()));
  simt::for_each(on, second.size, of_second.start(searches.data() + 2));
  level_searches<Index, Offset, Executor>::launch_both(
      of_first, {first, searches.data(), limit_of_search(first.size, first.entries())}, of_second,
      {second, searches.data() + 2, limit_of_search(second.size, second.entries())});
  level_search results[2][2];
  on.download(results, searches.data(), sizeof(results));
  return level_searches<Index, Offset, Executor>::finish_both(of_first, first, results[0], of_second, second,
                                                              results[1]);
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

/// Initialises the arrays of both triangles of a matrix.
template <class Index, class Offset>
struct start_both_triangles {
  start_rows_and_levels<Index, Offset> of[2];

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    of[0](ctx, row);
    of[1](ctx, row);
  }
};

/// Which rows are split: if a row has more than `longest_whole` entries, those of more than `longest`.
struct split_limits {
  std::int64_t longest;
  std::int64_t longest_whole;
};

/// Entries of a stored matrix, at most, for which the host waits once for a triangle and its levels: the
/// arrays of the entries then have room for all entries of the stored matrix.
inline constexpr std::int64_t entries_of_one_wait = std::int64_t{1} << 20;

/// Builds the triangle as build_on_device() does. For a small system that is sorted by rows and has no rows
/// to split, it also finds the levels, see levels_of_rows(): one wait for the device serves both.
/// Synchronises.
template <class Index, class Offset, class Executor>
triangle_with_levels<Index, Offset> build_with_levels(const pattern_view<Index, Offset>& a,
                                                      const triangle_form& form, const split_limits& limits,
                                                      bool counts_blocks, const Executor& on,
                                                      const analysis_memory& memory) {
  device_triangle_builder<Index, Offset, Executor> builder(a, form, on, memory);
  if (form.transposed || a.size == 0 || a.entries > entries_of_one_wait) {
    return {builder.build(), {}};
  }
  device_triangle<Index, Offset> t = builder.allocate_rows();
  level_searches<Index, Offset, Executor> search(a.size, counts_blocks, on, memory);
  auto* const report = builder.report_on_device();
  simt::for_each(on, a.size,
                 start_rows_and_levels<Index, Offset>{builder.start_rows(t), search.start(nullptr)});
  builder.measure_rows(t, limits.longest);
  builder.write_ascending_entries(t, a.entries, {report});
  search.launch(t, report->searches, limit_of_search(a.size, a.entries), {report, limits.longest_whole});
  const auto found = builder.read_report();
  builder.expect_sound(found);
  if (builder.ascends(found)) {
    t.columns.shrink(static_cast<std::size_t>(found.entries));
    t.sources.shrink(static_cast<std::size_t>(found.entries));
  }
  builder.complete(t, found);
  t.partial_rows = found.partial_rows;
  if (!builder.ascends(found) || found.longest_row > limits.longest_whole) {
    return {std::move(t), {}};
  }
  auto levels = search.finish(t, found.searches);
  return {std::move(t), std::move(levels)};
}

/// Builds both triangles of a matrix and finds their levels, with the kernels of build_with_levels(), but
/// both searches share a launch, and a wait for the device serves both. It waits once for a small matrix that
/// is sorted by rows of both systems, otherwise twice, and once more for each triangle that is to be sorted.
/// A triangle with rows to split gets no levels. Returns false, and no triangles, if the storage has a fault,
/// or has no rows. Synchronises.
template <class Index, class Offset, class Executor>
bool build_both_with_levels(const pattern_view<Index, Offset>& a, const triangle_form (&forms)[2],
                            const split_limits& limits, bool counts_blocks, const Executor& on,
                            const analysis_memory& memory, triangle_with_levels<Index, Offset> (&to)[2]) {
  if (a.size == 0) {
    return false;
  }
  using builder_type = device_triangle_builder<Index, Offset, Executor>;
  using report = typename builder_type::report;
  const bool waits_once = a.entries <= entries_of_one_wait && !forms[0].transposed && !forms[1].transposed;
  const auto reports = make_buffer<report>(2, on, memory.scratch);
  builder_type builders[2] = {{a, forms[0], reports.data(), on, memory},
                              {a, forms[1], reports.data() + 1, on, memory}};
  level_searches<Index, Offset, Executor> searches[2] = {{a.size, counts_blocks, on, memory},
                                                         {a.size, counts_blocks, on, memory}};
  device_triangle<Index, Offset> triangles[2];
  for (int k = 0; k < 2; ++k) {
    triangles[k] = builders[k].allocate_rows();
  }
  const auto start = [&](int k) {
    return start_rows_and_levels<Index, Offset>{builders[k].start_rows(triangles[k]),
                                                searches[k].start(nullptr)};
  };
  simt::for_each(on, a.size, start_both_triangles<Index, Offset>{{start(0), start(1)}});
  builder_type::measure_rows_of_both(builders, triangles, limits.longest);
  report found[2];
  const auto read_reports = [&] { on.download(found, reports.data(), sizeof(found)); };
  const auto search_levels = [&](const triangle_kernels::sound_rows& first,
                                 const triangle_kernels::sound_rows& second) {
    const search_limit limit = limit_of_search(a.size, a.entries);
    level_searches<Index, Offset, Executor>::launch_both(
        searches[0], {triangles[0], reports.data()->searches, limit, first}, searches[1],
        {triangles[1], (reports.data() + 1)->searches, limit, second});
  };
  if (waits_once) {
    builder_type::write_ascending_entries_of_both(builders, triangles, {a.entries, a.entries},
                                                  {reports.data()});
    search_levels({reports.data(), limits.longest_whole}, {reports.data() + 1, limits.longest_whole});
  }
  read_reports();
  if (!builders[0].is_sound(found[0]) || !builders[1].is_sound(found[1])) {
    return false;
  }
  const bool ascend[2] = {builders[0].ascends(found[0]), builders[1].ascends(found[1])};
  if (!waits_once && ascend[0] && ascend[1]) {
    builder_type::write_ascending_entries_of_both(builders, triangles, {found[0].entries, found[1].entries},
                                                  {});
  }
  for (int k = 0; k < 2; ++k) {
    if (ascend[k] && (waits_once || ascend[1 - k])) {
      triangles[k].columns.shrink(static_cast<std::size_t>(found[k].entries));
      triangles[k].sources.shrink(static_cast<std::size_t>(found[k].entries));
    } else if (ascend[k]) {
      builders[k].write_ascending_entries(triangles[k], found[k].entries, {});
    }
    builders[k].complete(triangles[k], found[k]);
    triangles[k].partial_rows = found[k].partial_rows;
  }
  const bool is_whole[2] = {found[0].longest_row <= limits.longest_whole,
                            found[1].longest_row <= limits.longest_whole};
  if ((!waits_once || !ascend[0]) && (is_whole[0] || is_whole[1])) {
    const auto searched = [&](int k) {
      return is_whole[k] ? triangle_kernels::sound_rows{}
                         : triangle_kernels::sound_rows{reports.data() + k, -1};
    };
    if (waits_once) {  // the tickets have been drawn
      on.fill_bytes(reports.data()->searches, 0, sizeof(found[0].searches));
      on.fill_bytes((reports.data() + 1)->searches, 0, sizeof(found[1].searches));
    }
    search_levels(searched(0), searched(1));
    read_reports();
  }
  if (is_whole[0] && is_whole[1]) {
    auto levels = level_searches<Index, Offset, Executor>::finish_both(
        searches[0], triangles[0], found[0].searches, searches[1], triangles[1], found[1].searches);
    to[0].levels = std::move(levels[0]);
    to[1].levels = std::move(levels[1]);
  } else {
    for (int k = 0; k < 2; ++k) {
      to[k].levels.reset();
      if (is_whole[k]) {
        to[k].levels = searches[k].finish(triangles[k], found[k].searches);
      }
    }
  }
  for (int k = 0; k < 2; ++k) {
    to[k].triangle = std::move(triangles[k]);
  }
  return true;
}

/// Returns room for `size` rows in `count` levels. `with_solve_indices`: whether the solve index of each row
/// is wanted, too; it is in scratch memory.
template <class Index, class Executor>
device_levels<Index> make_levels(std::int64_t size, std::int64_t count, bool with_solve_indices,
                                 const Executor& on, const analysis_memory& memory) {
  device_levels<Index> made;
  made.count = count;
  made.level_offsets = make_buffer<Index>(count + 1, on, memory.kept);
  made.rows = make_buffer<Index>(size, on, memory.kept);
  if (with_solve_indices) {
    made.solve_indices = make_buffer<Index>(size, on, memory.scratch);
  }
  return made;
}

/// Returns the rows in level order. `with_solve_indices`: see make_levels().
template <class Index, class Executor>
device_levels<Index> order_by_level(const row_levels<Index>& levels, const Executor& on,
                                    const analysis_memory& memory, bool with_solve_indices = false) {
  const auto size = static_cast<std::int64_t>(levels.of_row.size());
  auto result = make_levels<Index>(size, levels.count, with_solve_indices, on, memory);
  if (size == 0) {
    on.fill_bytes(result.level_offsets.data(), 0, result.level_offsets.bytes());
    return result;
  }
  const auto sorted_levels = make_buffer<Index>(size, on, memory.scratch);
  using key = std::make_unsigned_t<Index>;
  on.sort_pairs(reinterpret_cast<const key*>(levels.of_row.data()),
                reinterpret_cast<key*>(sorted_levels.data()), levels.numbers.data(), result.rows.data(), size,
                bits_for(static_cast<std::uint64_t>(result.count) + 1), memory.scratch);
  simt::for_each(on, size,
                 find_level_offsets<Index, Index, level_from_one>(sorted_levels.data(), {}, result));
  return result;
}

/// Finds the levels of a triangle and returns its rows in level order. Synchronises.
template <class Index, class Offset, class Executor>
device_levels<Index> levels_on_device(const device_triangle<Index, Offset>& t, const Executor& on,
                                      const analysis_memory& memory) {
  return order_by_level(levels_of_rows(t, on, memory), on, memory);
}

}  // namespace sptrsv::detail
