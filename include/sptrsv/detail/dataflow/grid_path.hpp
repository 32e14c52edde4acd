// The host side of the grid path: a thread for each row, over the whole device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/column_pack.hpp"
#include "sptrsv/detail/dataflow/grid_agent.hpp"
#include "sptrsv/detail/row_wise/gates.hpp"

namespace sptrsv::detail::dataflow {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class grid_path {
  template <int EntriesAtOnce, int Columns>
  using agent = grid_agent<Tuning, Scalar, Index, Offset, EntriesAtOnce, Columns>;
  using for_short_rows = agent<Tuning::entries_at_once, 1>;
  using for_long_rows = agent<2 * Tuning::entries_at_once, 1>;
  static constexpr int columns_together = columns_in_sector<Scalar>(Tuning::columns_per_sweep);
  using for_several_columns = agent<Tuning::entries_at_once, columns_together>;

 public:
  /// Rows are grouped level by level or in the order of substitution. `levels`: of the triangle, where they
  /// are known; if the triangle has positions, its rows become those by place. `size`: of the system.
  grid_path(const split_triangle<Index, Offset>& split, std::int64_t size, std::int64_t max_rhs,
            bool by_levels, std::optional<device_levels<Index>>&& levels, const triangle_form& form,
            const Executor& on, const analysis_memory& memory)
      : form_(form),
        size_(size),
        sharers_(static_cast<int>(
            std::clamp<std::int64_t>(simt::ceil_div(max_rhs, columns_together), 1, Tuning::most_sharers))),
        columns_(columns_of(max_rhs)),
        long_rows_(split.triangle.entries() > split.triangle.size * Tuning::long_row),
        numbers_(0, 0, on, memory.kept) {
    const device_triangle<Index, Offset>& triangle = split.triangle;
    if (by_levels) {
      if (!levels) {
        levels = levels_on_device(triangle, on, memory);
      }
      order_by_levels(split, *levels, on, memory);
      sweep_by_sweep_ = sharers_ > 1 && triangle.size >= Tuning::wide_level * levels_ &&
                        triangle.entries() * max_rhs > Tuning::wide_gathers;
    } else {
      groups_ = pack_groups(triangle, form.reversed, on, memory);
      positions_ = copy_of(split.positions, on, memory.kept);
      if (!groups_.are_runs()) {
        diagonal_sources_ = copy_of(triangle.diagonal_sources, on, memory.kept);
      }
    }
    numbers_ = device_values<Scalar, Executor>(static_cast<std::int64_t>(groups_.columns.size()),
                                               form.unit ? 0 : triangle.size, on, memory.kept);
    share_ = {0, blocks(), 0};
  }

  void share(const launch_share& share) { share_ = share; }

  void update_values(const Scalar* values, const Executor& on) {
    if (!groups_.are_runs()) {
      numbers_.gather(values, groups_.sources.data(), diagonal_sources_.data(), form_.conjugated, on);
      return;
    }
    simt::for_each(on, groups_.count * group_rows,
                   take_runs<Scalar, Index, Offset>{groups_.size, groups_.offsets.data(),
                                                    groups_.moves.data(), groups_.diagonals.data(),
                                                    positions_.data(), values, numbers_.values(),
                                                    numbers_.diagonal(), form_.reversed, form_.conjugated});
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const page_memory<Scalar>& scratch, const Executor& on) const {
    const grid_params<Scalar, Index, Offset> p{size_,
                                               groups_.size,
                                               sharers_,
                                               sweep_by_sweep_,
                                               form_.reversed,
                                               groups_.offsets.data(),
                                               groups_.columns.data(),
                                               numbers_.values(),
                                               numbers_.diagonal(),
                                               positions_.data(),
                                               gates_.data(),
                                               share_,
                                               scratch.pages(),
                                               alpha,
                                               b,
                                               x};
    if (x.columns > 1 || (columns_ > 1 && !share_.is_all_of_it(blocks()))) {
      on.template launch<for_several_columns>(blocks(), p);
    } else if (long_rows_) {
      on.template launch<for_long_rows>(blocks(), p);
    } else {
      on.template launch<for_short_rows>(blocks(), p);
    }
  }

  /// Of every launch, however many right-hand sides it has.
  [[nodiscard]] std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(simt::ceil_div(groups_.size, Tuning::block_threads) * sharers_);
  }

  /// Synchronises, linear time.
  [[nodiscard]] bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    std::vector<Index> all(positions_.size());
    on.download(all.data(), positions_.data(), positions_.bytes());
    const auto found = std::find(all.begin(), all.end(), static_cast<Index>(position));
    if (!all.empty() && found == all.end()) {
      return false;  // it is not among these rows
    }
    return numbers_.is_zero_pivot(all.empty() ? position : found - all.begin(), on);
  }

  /// Right-hand sides that are solved together, where there are several.
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  static std::int64_t columns_of(std::int64_t max_rhs) { return max_rhs > 1 ? columns_together : 1; }
  /// Rows with the partial ones: what a workspace has room for.
  [[nodiscard]] std::int64_t places() const { return groups_.size; }
  /// 0 where they were not asked for; a row that was cut counts more than once.
  [[nodiscard]] std::int64_t levels() const { return levels_; }

  [[nodiscard]] std::string describe() const {
    return "dataflow: a thread for each of " + std::to_string(groups_.size) + " rows in " +
           (levels_ > 0 ? "level order" : "the order of substitution") +
           (share_.is_all_of_it(blocks()) ? ", " + std::to_string(groups_.size - size_) + " of them partial"
                                          : "") +
           (sweep_by_sweep_ ? "; right-hand sides one sweep after the other" : "");
  }

  [[nodiscard]] std::size_t bytes() const {
    return groups_.bytes() + gates_.bytes() + numbers_.bytes() + positions_.bytes() +
           diagonal_sources_.bytes();
  }

 private:
  void order_by_levels(const split_triangle<Index, Offset>& split, device_levels<Index>& levels,
                       const Executor& on, const analysis_memory& memory) {
    const auto make = [&](std::int64_t size) {
      return buffer<Index>(static_cast<std::size_t>(size), memory.kept, on.stream());
    };
    levels_ = levels.count;
    if (split.triangle.longest_row * split.triangle.size > 2 * split.triangle.entries()) {
      sort_within_levels(split.triangle, levels, Tuning::length_scope, long_rows_first{}, on, memory);
    }
    device_triangle<Index, Offset> triangle = in_level_order(split.triangle, levels, on, memory);
    groups_ = pack_groups(triangle, form_.reversed, on, memory);
    if (!groups_.are_runs()) {
      diagonal_sources_ = std::move(triangle.diagonal_sources);
    }
    if (Tuning::gate_levels > 0) {
      gates_ = make(groups_.count);
      simt::for_each(on, groups_.count,
                     row_wise::find_gates<Index>{levels.level_offsets.data(), levels.count,
                                                 Tuning::gate_levels, nullptr, gates_.data()});
    }
    if (split.positions.size() == 0) {
      positions_ = std::move(levels.rows);
    } else {
      positions_ = make(triangle.size);
      simt::for_each(on, triangle.size,
                     triangle_kernels::take_in_order<Index, Index>{split.positions.data(), levels.rows.data(),
                                                                   positions_.data()});
    }
  }

  triangle_form form_;
  std::int64_t size_;
  int sharers_;  ///< blocks for each group of rows
  bool sweep_by_sweep_ = false;
  std::int64_t columns_;
  bool long_rows_;  ///< on average
  std::int64_t levels_ = 0;
  packed_groups<Index, Offset> groups_;
  buffer<Index> positions_;  ///< by place, -1 for partial rows; empty where a place is its position
  buffer<Index> gates_;      ///< by group; empty where there are none
  buffer<Offset> diagonal_sources_;
  device_values<Scalar, Executor> numbers_;
  launch_share share_{};
};

}  // namespace sptrsv::detail::dataflow
