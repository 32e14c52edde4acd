// SPDX-License-Identifier: Apache-2.0
// The engine of the incomplete factorisations on a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/incomplete/elimination.hpp"
#include "sptrsv/detail/incomplete/incomplete_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Cholesky: marks the entries that are used and the reciprocals of the pivots pending; the other entries
/// keep their values. Runs once per stored entry.
template <class Scalar>
struct reset_entries {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  std::int64_t size;
  const unsigned char* is_used;  ///< see elimination
  const word* a;
  word* factors;
  word* reciprocals;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const bool is_reset = ctx.load_constant(is_used + e) != 0;
    for (std::int64_t w = e * flag::words; w < (e + 1) * flag::words; ++w) {
      ctx.store(factors + w, is_reset ? flag::pending : ctx.load_constant(a + w));
    }
    if (e < size) {
      flag::reset(ctx, flag::address(reciprocals, e));
    }
  }
};

/// Loads the values of A to the rows in level order and shifts the diagonal. Runs once per entry in level
/// order.
template <class Scalar, class Index, class Offset>
struct load_long_rows {
  std::int64_t size;
  const Offset* row_offsets;
  const Index* diagonal_slots;
  const Offset* sources;
  const Scalar* a;
  pivot_rule<Scalar> rule;
  Scalar* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t r = triangle_kernels::major_of(ctx, row_offsets, size, e);
    const Offset diagonal =
        ctx.load_constant(row_offsets + r) + static_cast<Offset>(ctx.load_constant(diagonal_slots + r));
    const Scalar value = ctx.load_constant(a + ctx.load_constant(sources + e));
    ctx.store(to + e, static_cast<Offset>(e) == diagonal ? rule.shifted(value) : value);
  }
};

template <class Tuning, method Method, class Scalar, class Index, class Offset, class Executor>
class engine {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  template <int Lanes>
  using agent = incomplete::agent<Tuning, Method, Scalar, Index, Offset, Lanes>;
  using of_pieces = pieces_agent<Tuning, Method, Scalar, Index, Offset>;
  static constexpr piece_limits limits{Tuning::longest_whole_row, Tuning::piece_entries,
                                       Tuning::longest_cut_row};

 public:
  engine(const pattern_view<Index, Offset>& a, const Executor& on, memory_resource& resource)
      : memory_(bytes_of_small(a), resource, on.stream()),
        rows_(elimination_analysis<Method, Index, Offset, Executor>(a, limits, on, memory_, resource).run()),
        factors_(make_buffer<word>(checked_product(a.entries, flag::words), on, memory_)),
        reciprocals_(make_buffer<word>(Method == method::cholesky ? checked_product(a.size, flag::words) : 0,
                                       on, memory_)),
        plan_(make_plan(on)) {
    if (rows_.totals.longest_whole > plan_.shared_slots) {
      long_rows_ = make_buffer<Scalar>(rows_.entries, on, resource);
    }
  }

  void factorize(const Scalar* values, const pivot_rule<Scalar>& rule, const Executor& on) {
    if (rows_.size == 0) {
      return;
    }
    if constexpr (Method == method::lu) {
      on.fill_bytes(factors_.data(), 0xff, factors_.bytes());
    } else {
      simt::for_each(
          on, static_cast<std::int64_t>(rows_.is_used.size()),
          reset_entries<Scalar>{rows_.size, rows_.is_used.data(), reinterpret_cast<const word*>(values),
                                factors_.data(), reciprocals_.data()});
    }
    if (long_rows_.size() > 0) {
      simt::for_each(on, rows_.entries,
                     load_long_rows<Scalar, Index, Offset>{rows_.size, rows_.row_offsets.data(),
                                                           rows_.diagonal_slots.data(), rows_.sources.data(),
                                                           values, rule, long_rows_.data()});
    }
    const factor_params<Scalar, Index, Offset> params{rows_.size,
                                                      plan_.tasks,
                                                      plan_.draws,
                                                      plan_.shared_slots,
                                                      rows_.rows.data(),
                                                      rows_.row_offsets.data(),
                                                      rows_.diagonal_slots.data(),
                                                      rows_.sources.data(),
                                                      rows_.first_operands.data(),
                                                      rows_.operands.data(),
                                                      values,
                                                      factors_.data(),
                                                      reciprocals_.data(),
                                                      long_rows_.data(),
                                                      rows_.state.data(),
                                                      rule};
    if (rows_.has_pieces()) {
      on.template launch<of_pieces>(
          plan_.blocks,
          {params, limits, rows_.pieces.data(), rows_.steps.data(), rows_.needed_sources.data()},
          shared_bytes<of_pieces>(plan_.shared_slots));
    } else {
      with_one_of<4, 8, 16, 32>(plan_.lanes, [&](auto lanes) {
        using kernel = agent<decltype(lanes)::value>;
        on.template launch<kernel>(plan_.blocks, params, shared_bytes<kernel>(plan_.shared_slots));
      });
    }
  }

  [[nodiscard]] const Scalar* factors() const { return reinterpret_cast<const Scalar*>(factors_.data()); }

  /// Synchronises.
  [[nodiscard]] factor_status status(const Executor& on) const {
    if (rows_.size == 0) {
      return {};
    }
    const factor_state state = download_value(rows_.state.data(), on);
    const auto half = (state.tickets / plan_.draws + 1) % 2;
    return status_of(reported_index(state.first_breakdown[half]), state.boosted_pivots[half]);
  }

  template <class Info>
  void describe(Info& info, const Executor& on) const {
    info.device = on.device_name();
    info.levels = rows_.levels;
    info.longest_row = rows_.totals.longest_row;
    info.operands = rows_.totals.operands + rows_.totals.piece_operands;
    info.lanes_per_row = plan_.lanes;
    info.bytes = rows_.bytes() + factors_.bytes() + reciprocals_.bytes() + long_rows_.bytes();
  }

 private:
  /// The shape of the launch.
  struct launch_plan {
    int lanes;                  ///< lanes that compute a row
    std::int64_t shared_slots;  ///< longest row that is in shared memory; even, so that targets are aligned
    std::uint32_t tasks;        ///< tickets that select rows
    std::uint32_t draws;        ///< tickets that are drawn in a launch: one more for each warp
    std::uint32_t blocks;
  };

  /// Chooses the lanes of a row: at least as many as a row has operands on average, and so many that fewer
  /// rows share a warp, as long as half of the rows of a few levels fit the device. Rows of a warp wait for
  /// each other's steps.
  [[nodiscard]] launch_plan make_plan(const Executor& on) const {
    if (rows_.has_pieces()) {
      return plan_of<of_pieces>(rows_.totals.pieces, std::max(wanted_rows(), wanted_pieces()), on);
    }
    int lanes = 4;
    while (lanes < 32 && lanes * rows_.size < rows_.totals.operands) {
      lanes *= 2;
    }
    launch_plan chosen = plan_of(lanes, on);
    while (chosen.lanes < 32) {
      const launch_plan wider = plan_of(2 * chosen.lanes, on);
      const std::int64_t rows_at_once = std::int64_t{wider.blocks} * Tuning::block_threads / wider.lanes;
      if (2 * rows_at_once < std::min(rows_.size, rows_of_level() * few_levels)) {
        break;
      }
      chosen = wider;
    }
    return chosen;
  }

  /// Levels whose rows should be in work at least.
  static constexpr std::int64_t few_levels = std::min<std::int64_t>(8, Tuning::levels_at_once);
  /// A value and its target, see row_data.
  static constexpr std::int64_t bytes_of_slot = sizeof(Scalar) + sizeof(Offset);
  /// Rows in work that are enough for more than these levels.
  static constexpr std::int64_t many_rows = 4096;

  /// Returns the average number of rows of a level.
  [[nodiscard]] std::int64_t rows_of_level() const {
    return simt::ceil_div(rows_.size, std::max<std::int64_t>(rows_.levels, 1));
  }
  /// Returns how many rows should be in work at once: so many that a row is loaded well before the rows that
  /// it needs are known, and not more, because rows that wait slow down the memory accesses of the others.
  [[nodiscard]] std::int64_t wanted_rows() const {
    return std::max(rows_of_level() * few_levels,
                    std::min(rows_of_level() * Tuning::levels_at_once, many_rows));
  }

  /// Returns how many pieces should be in work at once: as many as a long row has steps of pieces. A row with
  /// many steps then begins long before the row before it ends.
  [[nodiscard]] std::int64_t wanted_pieces() const {
    return std::min(many_rows, static_cast<std::int64_t>(rows_.steps.size()) /
                                   std::max<std::int64_t>(rows_.totals.long_rows, 1));
  }

  [[nodiscard]] launch_plan plan_of(int row_lanes, const Executor& on) const {
    launch_plan made{};
    with_one_of<4, 8, 16, 32>(row_lanes, [&](auto lanes) {
      made = plan_of<agent<decltype(lanes)::value>>(rows_.size, wanted_rows(), on);
    });
    return made;
  }
  /// Returns the shape of a launch. `rows`: the rows or pieces that it computes; `wanted`: how many of them
  /// should be in work at once.
  template <class Kernel>
  [[nodiscard]] launch_plan plan_of(std::int64_t rows, std::int64_t wanted, const Executor& on) const {
    launch_plan made{32 / Kernel::warp_rows, 0, 0, 0, 0};
    made.shared_slots =
        2 * std::min<std::int64_t>(simt::ceil_div(rows_.totals.longest_whole, std::int64_t{2}),
                                   Tuning::shared_bytes / 2 / bytes_of_slot / Kernel::block_rows);
    made.tasks = simt::block_count(rows, Kernel::warp_rows);
    made.blocks = std::min(simt::block_count(std::min(rows, wanted), Kernel::block_rows),
                           on.template resident_blocks<Kernel>(shared_bytes<Kernel>(made.shared_slots)));
    made.draws = made.tasks + made.blocks * Kernel::block_warps;
    return made;
  }

  template <class Kernel>
  [[nodiscard]] static std::size_t shared_bytes(std::int64_t slots) {
    return static_cast<std::size_t>(Kernel::block_rows * slots * bytes_of_slot);
  }

  /// Returns the size of the arrays of a small matrix that are in one piece of memory: all but operands and
  /// pieces. 0 for a matrix so large that allocations cost little beside the work.
  [[nodiscard]] static std::size_t bytes_of_small(const pattern_view<Index, Offset>& a) {
    constexpr std::size_t arrays = 9;
    constexpr std::size_t padding = 256;  // of an array, at most
    constexpr std::size_t most_bytes = std::size_t{16} << 20;
    constexpr std::size_t row_bytes =
        2 * sizeof(Index) + sizeof(Offset) + sizeof(std::int64_t) + sizeof(Scalar);
    constexpr std::size_t entry_bytes = sizeof(Offset) + sizeof(unsigned char) + sizeof(Scalar);
    if (!Executor::has_arenas || at(a.size) > most_bytes || at(a.entries) > most_bytes) {
      return 0;
    }
    const std::size_t bytes =
        at(a.size + 1) * row_bytes + at(a.entries) * entry_bytes + sizeof(factor_state) + arrays * padding;
    return bytes <= most_bytes ? bytes : 0;
  }

  scratch_arena memory_;  ///< of the arrays of a small matrix
  elimination<Index, Offset> rows_;
  buffer<word> factors_;      ///< by entry of the stored matrix
  buffer<word> reciprocals_;  ///< of the pivots, by solve index; empty for LU
  launch_plan plan_;
  buffer<Scalar> long_rows_;  ///< values of A by entry in level order; empty if all rows are in shared memory
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
