// The searches for the level of each row of a triangle, on the device or, where that takes too long, on the
// host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/run_both.hpp"
#include "sptrsv/detail/levels/levels_agent.hpp"

namespace sptrsv::detail {

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

  /// Enqueues the searches. Without a deadline the blocks ask for shared memory that they do not use, so that
  /// an SM has two of them at the same time: in most systems nearly all warps wait, and their polls hold up
  /// those that work.
  void launch(const device_triangle<Index, Offset>& t, level_search* searches, const search_limit& limit,
              const triangle_kernels::sound_rows& condition) const {
    using agent = levels_agent<Index, Offset>;
    const std::size_t unused_bytes = limit.further_rounds > 0 ? 0 : on_.shared_limit() / 20 * 9;
    for (int i = 0; i < count(); ++i) {
      on_.template launch<agent>(simt::block_count(t.size, agent::block_threads),
                                 params_of(i, t, searches, limit, condition), unused_bytes);
    }
  }

  /// One of two searches that share launches; see launch().
  struct part {
    const device_triangle<Index, Offset>& triangle;
    level_search* searches;
    search_limit limit;
    triangle_kernels::sound_rows condition{};
  };
  /// Enqueues the searches of two triangles. Each search gets one half of the thread blocks.
  static void launch_both(const level_searches& first, const part& of_first, const level_searches& second,
                          const part& of_second) {
    const std::int64_t size = std::max(of_first.triangle.size, of_second.triangle.size);
    const auto blocks =
        simt::block_count(2 * simt::ceil_div(size, levels_agent<Index, Offset>::block_threads), 1);
    for (int i = 0; i < first.count(); ++i) {
      const auto a =
          first.params_of(i, of_first.triangle, of_first.searches, of_first.limit, of_first.condition);
      const auto b =
          second.params_of(i, of_second.triangle, of_second.searches, of_second.limit, of_second.condition);
      if (of_first.limit.further_rounds > 0) {
        first.on_.template launch<two_levels_agent<Index, Offset, true>>(blocks, {{a, b}});
      } else {
        first.on_.template launch<two_levels_agent<Index, Offset, false>>(blocks, {{a, b}});
      }
    }
  }

  /// Returns the levels. `results`: of the searches; those that were given up are repeated on the host, which
  /// synchronises.
  row_levels<Index> finish(const device_triangle<Index, Offset>& t, const level_search (&results)[2]) {
    take_results(t, results);
    repeat_on_host();
    return take_levels();
  }
  /// Does the same for two triangles; the host repeats searches of both at the same time.
  static std::array<row_levels<Index>, 2> finish_both(level_searches& first,
                                                      const device_triangle<Index, Offset>& of_first,
                                                      const level_search (&first_results)[2],
                                                      level_searches& second,
                                                      const device_triangle<Index, Offset>& of_second,
                                                      const level_search (&second_results)[2]) {
    first.take_results(of_first, first_results);
    second.take_results(of_second, second_results);
    run_both(
        first.pattern_ && second.pattern_ && of_first.entries() + of_second.entries() >= many_entries,
        [&] { first.repeat_on_host(); }, [&] { second.repeat_on_host(); });
    return {first.take_levels(), second.take_levels()};
  }

 private:
  /// Takes what the searches have found, and copies the triangle to the host if one of them was given up.
  void take_results(const device_triangle<Index, Offset>& t, const level_search (&results)[2]) {
    found_.count = results[0].levels;
    found_.count_of_blocks = results[1].levels;
    is_given_up_ = results[0].given_up != 0;
    is_given_up_for_blocks_ = results[1].given_up != 0;
    if (is_given_up_ || is_given_up_for_blocks_) {
      pattern_.emplace(t, on_);
      levels_.reset(new Index[at(t.size)]);
    }
  }
  void repeat_on_host() {
    if (is_given_up_for_blocks_) {
      found_.count_of_blocks = static_cast<std::int64_t>(pattern_->find_levels(0, levels_.get()));
    }
    if (is_given_up_) {
      found_.count = static_cast<std::int64_t>(pattern_->find_levels(1, levels_.get()));
    }
  }
  row_levels<Index> take_levels() {
    if (is_given_up_) {
      on_.upload(found_.of_row.data(), levels_.get(), found_.of_row.bytes());
    }
    return std::move(found_);
  }

  /// Returns the number of searches.
  [[nodiscard]] int count() const { return counts_blocks_ ? 2 : 1; }
  [[nodiscard]] typename levels_agent<Index, Offset>::params params_of(
      int i, const device_triangle<Index, Offset>& t, level_search* searches, const search_limit& limit,
      const triangle_kernels::sound_rows& condition) const {
    typename levels_agent<Index, Offset>::params p{};
    p.size = t.size;
    p.row_offsets = t.row_offsets.data();
    p.columns = t.columns.data();
    p.levels = i == 0 ? found_.of_row.data() : of_blocks_.data();
    p.search = searches + i;
    p.limit = limit;
    p.step = static_cast<Index>(1 - i);
    p.condition = condition;
    return p;
  }

  bool counts_blocks_;
  const Executor& on_;
  buffer<Index> of_blocks_;
  row_levels<Index> found_;
  bool is_given_up_ = false;
  bool is_given_up_for_blocks_ = false;
  std::optional<downloaded_pattern<Index, Offset>> pattern_;  ///< empty: no search was given up
  std::unique_ptr<Index[]> levels_;                           ///< by row, if a search was given up
};

}  // namespace sptrsv::detail
