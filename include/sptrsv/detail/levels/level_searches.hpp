// SPDX-License-Identifier: Apache-2.0
// The searches for the level of each row of a triangle, on the device or, where that takes long, on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/row_levels_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The level of each row of a triangle, in device memory.
template <class Index>
struct row_levels {
  std::int64_t count = 0;  ///< number of levels
  buffer<Index> of_row;    ///< by row: its level, counted from 1
  buffer<Index> numbers;   ///< 0, 1, 2, ...: the rows before they are sorted
  /// Number of levels if the rows of each 32 consecutive ones did not need each other; 0 if it is not wanted.
  std::int64_t count_of_blocks = 0;
  bool is_from_host = false;  ///< whether the search on the device was given up

  /// Frees the arrays; the counts stay.
  void free_rows() {
    of_row = {};
    numbers = {};
  }
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
  constexpr double row_ns = 5;  // rows of different lengths: the CPU mispredicts where they end
  if (rows > rows_that_start_together || entries > 16 * rows_that_start_together) {
    return {};
  }
  // Levels of many rows do not stay in the nearest cache of the CPU.
  const double far = static_cast<double>(rows) / static_cast<double>(rows_that_start_together / 2);
  const double host_ns = 25'000 + 0.4 * static_cast<double>(rows + entries) +
                         row_ns * static_cast<double>(rows) +
                         (0.4 + 0.8 * std::min(1.0, far)) * static_cast<double>(entries);
  const auto rounds = static_cast<std::int64_t>(host_ns / round_ns);
  return {rounds / 5 + 1, rounds + 1};
}

/// Finds the levels of two triangles at the same time: every other block searches the second one. A search
/// waits for hand-offs most of the time, so both take little longer than one.
///
/// With `HasDeadline` the parameters are read at fixed places, as in a search alone, whose rounds the
/// deadline counts. Without, they are read by an index, which makes a round of polls take longer: on large
/// grids the polls of waiting warps hold up those that work, and the search takes 0.6 to 0.9 of the time.
template <class Index, class Offset, bool HasDeadline>
struct two_levels_agent {
  using of_one = levels_agent<Index, Offset>;
  static constexpr int block_threads = of_one::block_threads;
  using shared_storage = typename of_one::shared_storage;
  struct params {
    typename of_one::params of[2];
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    if constexpr (!HasDeadline) {
      of_one::run(ctx, shared, p.of[ctx.block_rank() % 2]);
    } else if (ctx.block_rank() % 2 == 0) {
      of_one::run(ctx, shared, p.of[0]);
    } else {
      of_one::run(ctx, shared, p.of[1]);
    }
  }
};

/// The searches for the levels of N triangles, and for the levels of row_levels::count_of_blocks if these are
/// wanted. Those of two triangles share launches.
template <std::size_t N, class Index, class Offset, class Executor>
class level_searches {
 public:
  /// A triangle, the states of its two searches in device memory, and when the kernel gives them up.
  struct search {
    const device_triangle<Index, Offset>* triangle = nullptr;
    level_search* state = nullptr;
    search_limit limit{};
    triangle_kernels::sound_rows condition{};
  };

  /// The triangles have their sizes, and their entries when launch() is called.
  level_searches(const std::array<search, N>& searches, bool counts_blocks, const Executor& on,
                 const analysis_memory& memory)
      : searches_(searches), counts_blocks_(counts_blocks), on_(on) {
    for (std::size_t k = 0; k < N; ++k) {
      const std::int64_t size = searches[k].triangle->size;
      of_[k].levels.of_row = make_buffer<Index>(size, on, memory.scratch);
      of_[k].levels.numbers = make_buffer<Index>(size, on, memory.scratch);
      of_[k].of_blocks = make_buffer<Index>(counts_blocks ? size : 0, on, memory.scratch);
    }
  }

  /// Returns the kernel that runs first for triangle k. `states`: see start_levels.
  start_levels<Index> start(std::size_t k, level_search* states) const {
    return {of_[k].levels.of_row.data(), of_[k].of_blocks.data(), of_[k].levels.numbers.data(), states};
  }

  /// Returns the arrays of the levels of triangle k.
  [[nodiscard]] const row_levels<Index>& of(std::size_t k) const { return of_[k].levels; }

  /// Enqueues the searches. With two triangles each gets one half of the thread blocks. With one and no
  /// deadline the blocks ask for shared memory that they do not use, so that an SM has two of them at the
  /// same time: in most systems nearly all warps wait, and their polls hold up those that work.
  void launch() const {
    using agent = levels_agent<Index, Offset>;
    const bool has_deadline = searches_[0].limit.further_rounds > 0;
    for (int i = 0; i < (counts_blocks_ ? 2 : 1); ++i) {
      if constexpr (N == 1) {
        using row_agent = row_levels_agent<Index, Offset>;
        const auto& t = *searches_[0].triangle;
        auto p = params_of(i, 0);
        p.decides = p.condition.found != nullptr && rows_are_long(t);
        if (p.decides || (rows_are_long(t) && t.longest_row >= agent::longest_by_row)) {
          on_.template launch<row_agent>(simt::block_count(t.size, row_agent::block_rows), p);
        }
        if (p.decides || !rows_are_long(t) || t.longest_row < agent::longest_by_row) {
          on_.template launch<agent>(simt::block_count(t.size, agent::block_threads), p,
                                     has_deadline ? 0 : on_.shared_limit() / 20 * 9);
        }
      } else {
        static_assert(N == 2, "one or two triangles are searched together");
        const std::int64_t size = std::max(searches_[0].triangle->size, searches_[1].triangle->size);
        const auto blocks = simt::block_count(2 * simt::ceil_div(size, agent::block_threads), 1);
        if (has_deadline) {
          on_.template launch<two_levels_agent<Index, Offset, true>>(blocks,
                                                                     {{params_of(i, 0), params_of(i, 1)}});
        } else {
          on_.template launch<two_levels_agent<Index, Offset, false>>(blocks,
                                                                      {{params_of(i, 0), params_of(i, 1)}});
        }
      }
    }
  }

  /// Returns the levels of the triangles. `found(k)`: what the two searches of triangle k have found, in host
  /// memory; null for one whose search was not to run, which gets no levels. A search that was given up is
  /// repeated on the host, which synchronises.
  template <class Found>
  std::array<std::optional<row_levels<Index>>, N> finish(const Found& found) {
    std::int64_t entries = 0;
    for (std::size_t k = 0; k < N; ++k) {
      if (found(k) != nullptr) {
        of_[k].take_results(*searches_[k].triangle, found(k), on_);
        entries += of_[k].is_on_host() ? searches_[k].triangle->entries() : 0;
      }
    }
    for_each_taken(static_cast<std::int64_t>(N), N > 1 && entries >= many_entries ? 2 : 1,
                   [&](std::int64_t k, std::size_t) { of_[at(k)].repeat_on_host(); });
    std::array<std::optional<row_levels<Index>>, N> made;
    for (std::size_t k = 0; k < N; ++k) {
      if (found(k) != nullptr) {
        made[k] = of_[k].take_levels(on_);
      }
    }
    return made;
  }

 private:
  /// The searches of one triangle.
  struct searched {
    row_levels<Index> levels;
    buffer<Index> of_blocks;  ///< by row: its level if rows of a block of 32 did not need each other
    bool is_given_up = false;
    bool is_given_up_for_blocks = false;
    // If a search was given up, triangle and levels in host memory. (A std::vector would write zeros.)
    std::size_t size = 0;
    std::unique_ptr<Offset[]> row_offsets;
    std::unique_ptr<Index[]> columns;
    std::unique_ptr<Index[]> on_host;  ///< by row: its level

    /// Takes what was found, and copies the triangle to the host if a search was given up.
    void take_results(const device_triangle<Index, Offset>& t, const level_search* found,
                      const Executor& on) {
      levels.count = found[0].levels;
      levels.count_of_blocks = found[1].levels;
      is_given_up = found[0].given_up != 0;
      is_given_up_for_blocks = found[1].given_up != 0;
      if (is_on_host()) {
        size = at(t.size);
        row_offsets.reset(new Offset[t.row_offsets.size()]);
        columns.reset(new Index[t.columns.size()]);
        on_host.reset(new Index[size]);
        on.download(row_offsets.get(), t.row_offsets.data(), t.row_offsets.bytes());
        on.download(columns.get(), t.columns.data(), t.columns.bytes());
      }
    }
    [[nodiscard]] bool is_on_host() const { return is_given_up || is_given_up_for_blocks; }
    /// Calls no CUDA.
    void repeat_on_host() {
      if (is_given_up_for_blocks) {
        levels.count_of_blocks = find_levels<true>(row_offsets, columns, 0, size, Index{1}, on_host) - 1;
      }
      if (is_given_up) {
        levels.count = find_levels(row_offsets, columns, 0, size, Index{1}, on_host) - 1;
      }
    }
    row_levels<Index> take_levels(const Executor& on) {
      levels.is_from_host = is_given_up;
      if (is_given_up) {
        on.upload(levels.of_row.data(), on_host.get(), levels.of_row.bytes());
      }
      return std::move(levels);
    }
  };

  /// Returns whether each row may take a warp: rows are long on average, and so few that most of these warps
  /// work at the same time. The triangle may have room for more entries than it has.
  [[nodiscard]] static bool rows_are_long(const device_triangle<Index, Offset>& t) {
    constexpr std::int64_t long_on_average = 12;
    constexpr std::int64_t most_rows = 16'384;
    return t.size <= most_rows && t.entries() >= long_on_average * t.size;
  }

  /// `i`: 0 for the levels, 1 for those with blocks.
  [[nodiscard]] typename levels_agent<Index, Offset>::params params_of(int i, std::size_t k) const {
    const search& s = searches_[k];
    typename levels_agent<Index, Offset>::params p{};
    p.of = s.triangle->view();
    p.levels = i == 0 ? of_[k].levels.of_row.data() : of_[k].of_blocks.data();
    p.search = s.state + i;
    p.limit = s.limit;
    p.step = static_cast<Index>(1 - i);
    p.condition = s.condition;
    return p;
  }

  std::array<search, N> searches_;
  bool counts_blocks_;
  const Executor& on_;
  std::array<searched, N> of_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
