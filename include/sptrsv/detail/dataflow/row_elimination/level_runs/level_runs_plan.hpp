// SPDX-License-Identifier: Apache-2.0
// Rewriting in runs of levels on the host side: which rows are rewritten, and the pattern, values and
// right-hand sides of the rewritten system. level_runs_rows.hpp has the method.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_agents.hpp"
#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_rows.hpp"
#include "sptrsv/detail/dataflow/row_elimination/rewritten_system.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs {

/// A system whose rows are rewritten in runs of levels.
template <class Scalar, class Index, class Offset, class Executor>
class plan : public row_elimination::rewritten_system<Scalar, Index, Offset, Executor> {
  using base = row_elimination::rewritten_system<Scalar, Index, Offset, Executor>;
  using real = real_t<Scalar>;

 public:
  /// Chooses the rows by the values `stored`. Each run has run_levels_for(levels) levels, where the system
  /// has `levels`. `known_levels`: of `whole`, until keep() is called; null: unknown. Synchronises.
  template <class RunLevelsFor>
  plan(const device_triangle<Index, Offset>& whole, const row_levels<Index>* known_levels,
       const Scalar* stored, const triangle_form& form, const row_elimination::limits& limits,
       const RunLevelsFor& run_levels_for, const Executor& on, const analysis_memory& memory)
      : base(whole, form, limits.growth) {
    if (base::most_listed(limits) > 0) {
      cut_levels(known_levels, run_levels_for, on, memory);
      choose(stored, limits, on, memory);
    }
  }

  [[nodiscard]] std::int64_t rewritten() const override { return counts_.rows; }
  /// Returns the number of levels of the system, and of entries of the rewritten one without the pivots.
  [[nodiscard]] std::int64_t levels() const { return level_count_; }
  [[nodiscard]] std::int64_t entries() const { return base::triangle().entries() + counts_.entries; }
  /// Returns the number of entries of the right-hand sides.
  [[nodiscard]] std::int64_t rhs_entries() const { return counts_.rhs_entries; }
  [[nodiscard]] std::int64_t run_levels() const { return run_levels_; }

  void make_pattern(const Executor& on, const analysis_memory& memory) override {
    const std::int64_t size = base::triangle().size;
    base::place_counted(rhs_offsets_, on, memory);
    base::place_rewritten_rows(on, memory);
    base::columns_ = make_buffer<Index>(entries() + (base::form_.unit ? 0 : size), on, memory.kept);
    rhs_columns_ = make_buffer<Index>(rhs_entries(), on, memory.kept);
    triangle_kernels::for_each_entry(
        on, base::row_offsets_.data(), size, static_cast<std::int64_t>(base::columns_.size()),
        take_columns<Index, Offset>{base::triangle().row_offsets.data(), base::triangle().columns.data(),
                                    base::slots_.data(), base::listed_.data(), rhs_offsets_.data(),
                                    base::row_offsets_.data(), base::columns_.data(), !base::form_.unit});
    triangle_kernels::for_each_entry(
        on, rhs_offsets_.data(), size, rhs_entries(),
        take_rhs_columns<Index, Offset>{base::slots_.data(), base::lengths_.data(), base::listed_.data(),
                                        rhs_offsets_.data(), rhs_columns_.data()});
    for (; lanes_ < 32 && lanes_ * rewritten() < rhs_entries(); lanes_ *= 2) {
    }
    base::free_lists();
  }

  void make_values(const Executor& on, memory_resource& resource) override {
    base::make_values(on, resource);
    rhs_values_ = make_buffer<Scalar>(rhs_entries(), on, resource);
  }
  void update_values(const Scalar* stored, const Executor& on) override {
    base::clear_first_grown(on);
    const computed_rows<Scalar, Index, Offset> rows{base::row_offsets_.data(), base::columns_.data(),
                                                    base::values_.data()};
    triangle_kernels::for_each_entry(
        on, base::row_offsets_.data(), base::triangle().size,
        static_cast<std::int64_t>(base::columns_.size()),
        copy_values<Scalar, Index, Offset>{base::valued(stored), rows, rhs_offsets_.data()});
    using agent = rewrite_rows_agent<Scalar, Index, Offset>;
    typename agent::params p{};
    p.triangle = base::valued(stored);
    p.in = levels_in_runs();
    p.max_growth = base::max_later_growth();
    p.rows = rows;
    p.rhs = {rhs_offsets_.data(), rhs_columns_.data(), rhs_values_.data()};
    p.inverse_sums = inverse_sums_.data();
    p.first_grown = base::first_grown_.data();
    launch_for_positions<agent>(p, on);
  }
  void keep(const Executor& on, memory_resource& resource) override {
    base::keep(on, resource);
    if (known_levels_ != nullptr) {
      levels_ = copy_of(known_levels_->of_row, on, resource);
      known_levels_ = nullptr;
    }
  }

  void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const override {
    using agent = rewritten_rhs_agent<Scalar, Index, Offset>;
    on.template launch<agent>(
        simt::block_count(base::triangle().size * b.columns, agent::block_threads / lanes_),
        {base::triangle().size, lanes_, base::form_.reversed, rhs_offsets_.data(), rhs_columns_.data(),
         rhs_values_.data(), alpha, b, c});
  }
  [[nodiscard]] std::size_t transform_bytes() const override {
    return base::transform_bytes() + rhs_offsets_.bytes() + rhs_entry_bytes();
  }
  [[nodiscard]] row_per_thread::rewritten_rhs<Scalar, Index, Offset> rhs() const override {
    return {rhs_offsets_.data(), rhs_columns_.data(), rhs_values_.data()};
  }
  /// The entries of a row, and where they begin, lie in memory sectors of their own.
  [[nodiscard]] std::size_t combine_bytes() const override {
    return base::transform_bytes() + 2 * rhs_entry_bytes();
  }

  [[nodiscard]] std::string kind() const override {
    return " in runs of " + std::to_string(run_levels_) + " levels";
  }
  [[nodiscard]] std::size_t bytes() const override {
    return base::bytes() + levels_.bytes() + order_.bytes() + rhs_offsets_.bytes() + rhs_columns_.bytes() +
           rhs_values_.bytes() + inverse_sums_.bytes();
  }
  [[nodiscard]] kernel_info describe() const override {
    kernel_info kernel;
    kernel.warps = simt::ceil_div(base::triangle().size * lanes_, 32);
    kernel.lanes_per_row = lanes_;
    kernel.rewritten_rows = rewritten();
    kernel.levels_together = run_levels_;
    kernel.text = "dataflow: right-hand sides for " + std::to_string(rewritten()) +
                  " rewritten rows, runs of " + std::to_string(run_levels_) + " levels, " +
                  std::to_string(rhs_entries()) + " entries";
    return kernel;
  }

 private:
  [[nodiscard]] std::size_t rhs_entry_bytes() const {
    return at(rhs_entries()) * (sizeof(Scalar) + sizeof(Index));
  }
  [[nodiscard]] runs<Index> levels_in_runs() const {
    return {(known_levels_ != nullptr ? known_levels_->of_row : levels_).data(),
            static_cast<Index>(run_levels_)};
  }

  /// Calls visit(rows) for the rows of each level after the first one of its run, level by level of the runs.
  template <class Visit>
  void for_positions(const Visit& visit) const {
    for (std::size_t i = 1; i + 1 < position_offsets_.size(); ++i) {
      const auto begin = static_cast<std::int64_t>(position_offsets_[i]);
      visit(listed_rows<Index>{order_.data() + begin,
                               static_cast<std::int64_t>(position_offsets_[i + 1]) - begin});
    }
  }
  template <class Agent>
  void launch_for_positions(typename Agent::params& p, const Executor& on) const {
    for_positions([&](const listed_rows<Index>& rows) {
      p.of = rows;
      base::template launch_warps<Agent>(rows.count, p, on);
    });
  }

  /// Cuts the levels into runs; finds them first if they are not known.
  template <class RunLevelsFor>
  void cut_levels(const row_levels<Index>* known, const RunLevelsFor& run_levels_for, const Executor& on,
                  const analysis_memory& memory) {
    const std::int64_t size = base::triangle().size;
    known_levels_ = known;
    if (known != nullptr) {
      level_count_ = known->count;
    } else {
      auto found = levels_of_rows(base::triangle(), on, memory.kept);
      level_count_ = found.count;
      levels_ = std::move(found.of_row);
    }
    run_levels_ = std::min<std::int64_t>(run_levels_for(level_count_), level_count_);
    using key = std::make_unsigned_t<Index>;
    const auto positions = make_buffer<key>(size, on, memory.scratch);
    const auto sorted = make_buffer<key>(size, on, memory.scratch);
    const auto numbers = make_buffer<Index>(size, on, memory.scratch);
    base::slots_ = make_buffer<Offset>(size + 1, on, memory.scratch);
    base::lengths_ = make_buffer<Offset>(size, on, memory.scratch);
    rhs_offsets_ = make_buffer<Offset>(size + 1, on, memory.kept);
    inverse_sums_ = make_buffer<real>(size, on, memory.kept);
    order_ = make_buffer<Index>(size, on, memory.kept);
    simt::for_each(
        on, size,
        start_rows<Index, Offset, real>{base::triangle().row_offsets.data(), levels_in_runs(),
                                        positions.data(), numbers.data(), base::slots_.data(),
                                        base::lengths_.data(), rhs_offsets_.data(), inverse_sums_.data()});
    on.sort_pairs(positions.data(), sorted.data(), numbers.data(), order_.data(), size,
                  bits_for(static_cast<std::uint64_t>(run_levels_) + 1), memory.scratch);
    const auto offsets = make_buffer<Index>(run_levels_ + 1, on, memory.scratch);
    simt::for_each(on, size,
                   find_level_offsets<key, Index, level_from_one>{
                       sorted.data(), {}, nullptr, offsets.data(), nullptr, size, run_levels_});
    position_offsets_ = download_array(offsets, on);
  }

  /// Chooses the rows that are rewritten, and lists their columns.
  void choose(const Scalar* stored, const row_elimination::limits& limits, const Executor& on,
              const analysis_memory& memory) {
    // Room for less than 4 MiB is not worth a wait for the device.
    constexpr std::int64_t few_entries = (std::int64_t{4} << 20) / std::int64_t{sizeof(Index)};
    for_positions([&](const listed_rows<Index>& rows) {
      simt::for_each(on, rows.count,
                     bound_lengths<Index, Offset>{
                         rows, base::triangle().row_offsets.data(), base::triangle().columns.data(),
                         levels_in_runs(), limits.fill, static_cast<Offset>(limits.entries),
                         static_cast<Offset>(limits.longest_row), base::slots_.data()});
    });
    base::place_counted(base::slots_, on, memory);
    const std::int64_t most = base::most_listed(limits);
    base::listed_ =
        make_buffer<Index>(most <= few_entries ? most : last_of(base::slots_, on), on, memory.scratch);
    const auto counts = make_buffer<rewritten_counts>(rewritten_counts::parts, on, memory.scratch);
    on.fill_bytes(counts.data(), 0, counts.bytes());
    using agent = choose_rows_agent<Scalar, Index, Offset>;
    typename agent::params p{};
    p.triangle = base::valued(stored);
    p.in = levels_in_runs();
    p.max_growth = base::max_growth_;
    p.slots = base::slots_.data();
    p.columns = base::listed_.data();
    p.lengths = base::lengths_.data();
    p.rhs_lengths = rhs_offsets_.data();
    p.inverse_sums = inverse_sums_.data();
    p.counts = counts.data();
    launch_for_positions<agent>(p, on);
    rewritten_counts parts[rewritten_counts::parts];
    on.download(parts, counts.data(), sizeof(parts));
    for (const rewritten_counts& part : parts) {
      counts_.rows += part.rows;
      counts_.entries += part.entries;
      counts_.rhs_entries += part.rhs_entries;
    }
  }

  const row_levels<Index>* known_levels_ = nullptr;  ///< null after keep(), or if they were not known
  std::int64_t level_count_ = 0;
  std::int64_t run_levels_ = 0;
  rewritten_counts counts_{};
  int lanes_ = 1;                        ///< lanes that share the right-hand side of a row
  buffer<Index> levels_;                 ///< by row, counted from 1; empty while known_levels_ has them
  buffer<Index> order_;                  ///< the rows by their levels after the first one of the run
  std::vector<Index> position_offsets_;  ///< where the rows with each number of levels begin in the order
  buffer<real> inverse_sums_;            ///< by row
  buffer<Offset> rhs_offsets_;           ///< size + 1; by row: their number, until make_pattern()
  buffer<Index> rhs_columns_;
  buffer<Scalar> rhs_values_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs
