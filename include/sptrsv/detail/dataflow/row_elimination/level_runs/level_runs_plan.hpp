// SPDX-License-Identifier: Apache-2.0
// Rewriting by levels on the host side: which rows are rewritten, and the pattern, values and right-hand
// sides of the rewritten system. rows.hpp has the method.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_agents.hpp"
#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_rhs_agent.hpp"
#include "sptrsv/detail/dataflow/row_elimination/level_runs/row_kernels.hpp"
#include "sptrsv/detail/dataflow/row_elimination/limits.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_agent.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::dataflow::level_runs {

/// The rewritten system in device memory: a lower triangle by rows, in the order of substitution, with
/// ascending columns. Its diagonal is unit if that of the system is.
template <class Scalar, class Index, class Offset, class Executor>
class plan {
  using real = real_t<Scalar>;

 public:
  /// Chooses the rows by the values `stored`. Each run has run_levels_for(levels) levels, where the system
  /// has `levels`. `known_levels`: of the triangle; null: they are not known. The plan refers to both until
  /// keep() is called. Synchronises.
  template <class RunLevelsFor>
  plan(const device_triangle<Index, Offset>& triangle, const row_levels<Index>* known_levels,
       const Scalar* stored, const triangle_form& form, const row_elimination::limits& limits,
       const RunLevelsFor& run_levels_for, const Executor& on, const analysis_memory& memory)
      : whole_(&triangle),
        form_(form),
        max_growth_(
            static_cast<real>(std::min<double>(limits.growth, std::numeric_limits<real>::max() / 2))) {
    const double most = limits.fill * static_cast<double>(triangle.entries()) +
                        static_cast<double>((limits.entries + 1) * triangle.size);
    if (triangle.size > 0 && most < static_cast<double>(std::numeric_limits<Offset>::max())) {
      cut_levels(known_levels, run_levels_for, on, memory);
      choose(stored, limits, static_cast<std::int64_t>(most), on, memory);
    }
  }

  /// Returns the number of rewritten rows. If it is 0, no other member may be called.
  [[nodiscard]] std::int64_t rewritten() const { return counts_.rows; }
  /// Returns the number of levels of the system, and of entries of the rewritten one without the pivots.
  [[nodiscard]] std::int64_t levels() const { return level_count_; }
  [[nodiscard]] std::int64_t entries() const { return triangle().entries() + counts_.entries; }
  /// Returns the system before it is rewritten.
  [[nodiscard]] const device_triangle<Index, Offset>& triangle() const {
    return whole_ != nullptr ? *whole_ : triangle_;
  }
  /// Copies the triangle and the levels, which may then be freed.
  void keep(const Executor& on, memory_resource& resource) {
    triangle_ = row_elimination::copy_for_values(*whole_, form_.unit, on, resource);
    whole_ = nullptr;
    if (whole_levels_ != nullptr) {
      levels_ = copy_of(whole_levels_->of_row, on, resource);
      whole_levels_ = nullptr;
    }
  }

  [[nodiscard]] pattern_view<Index, Offset> pattern() const {
    return {triangle().size, static_cast<std::int64_t>(columns_.size()), row_offsets_.data(), columns_.data(),
            false};
  }
  [[nodiscard]] const Scalar* values() const { return values_.data(); }
  /// Returns the number of entries of the right-hand sides.
  [[nodiscard]] std::int64_t rhs_entries() const { return counts_.rhs_entries; }

  /// Makes the pattern, before pattern() is called: if it is to be planned.
  void make_pattern(const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = triangle().size;
    const Offset pivots = form_.unit ? 0 : 1;
    scan(on, size, row_elimination::place_rows<Offset>{size, rhs_offsets_.data(), 0, rhs_offsets_.data()},
         memory);
    row_offsets_ = make_buffer<Offset>(size + 1, on, memory.kept);
    scan(on, size, row_elimination::place_rows<Offset>{size, lengths_.data(), pivots, row_offsets_.data()},
         memory);
    columns_ = make_buffer<Index>(entries() + (form_.unit ? 0 : size), on, memory.kept);
    rhs_columns_ = make_buffer<Index>(rhs_entries(), on, memory.kept);
    triangle_kernels::for_each_entry(
        on, row_offsets_.data(), size, static_cast<std::int64_t>(columns_.size()),
        take_columns<Index, Offset>{triangle().row_offsets.data(), triangle().columns.data(), slots_.data(),
                                    listed_.data(), rhs_offsets_.data(), row_offsets_.data(), columns_.data(),
                                    !form_.unit});
    triangle_kernels::for_each_entry(
        on, rhs_offsets_.data(), size, rhs_entries(),
        take_rhs_columns<Index, Offset>{slots_.data(), lengths_.data(), listed_.data(), rhs_offsets_.data(),
                                        rhs_columns_.data()});
    for (; lanes_ < 32 && lanes_ * rewritten() < rhs_entries(); lanes_ *= 2) {
    }
    lengths_ = {};
    slots_ = {};
    listed_ = {};
  }

  /// Allocates the values, before update_values() is called: when the system has been planned, which takes
  /// memory.
  void make_values(const Executor& on, memory_resource& resource) {
    values_ = make_buffer<Scalar>(static_cast<std::int64_t>(columns_.size()), on, resource);
    rhs_values_ = make_buffer<Scalar>(rhs_entries(), on, resource);
    first_grown_ = make_buffer<std::int64_t>(1, on, resource);
  }

  /// Computes the values of the rewritten system and the entries of its right-hand sides.
  void update_values(const Scalar* stored, const Executor& on) {
    on.fill_bytes(first_grown_.data(), 0x7f, first_grown_.bytes());
    const computed_rows<Scalar, Index, Offset> rows{row_offsets_.data(), columns_.data(), values_.data()};
    triangle_kernels::for_each_entry(
        on, row_offsets_.data(), triangle().size, static_cast<std::int64_t>(columns_.size()),
        copy_values<Scalar, Index, Offset>{valued(stored), rows, rhs_offsets_.data()});
    using agent = rewrite_rows_agent<Scalar, Index, Offset>;
    typename agent::params p{};
    p.triangle = valued(stored);
    p.in = levels_in_runs();
    // The kernel that chose the rows may have rounded their growth differently.
    p.max_growth = static_cast<real>(1.001) * max_growth_;
    p.rows = rows;
    p.rhs = {rhs_offsets_.data(), rhs_columns_.data(), rhs_values_.data()};
    p.inverse_sums = inverse_sums_.data();
    p.first_grown = first_grown_.data();
    for_positions([&](const listed_rows<Index>& rows_of_position) {
      p.of = rows_of_position;
      on.template launch<agent>(blocks<agent>(p.of.count), p);
    });
  }

  /// Returns the first row whose growth is too large by the values that were given last; -1 if there is none.
  /// Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    std::int64_t first = 0;
    on.download(&first, first_grown_.data(), sizeof(first));
    return first < triangle().size ? first : -1;
  }

  /// Returns the entries of the right-hand sides, for a kernel that combines them itself.
  [[nodiscard]] row_per_thread::rewritten_rhs<Scalar, Index, Offset> rhs() const {
    return {rhs_offsets_.data(), rhs_columns_.data(), rhs_values_.data()};
  }

  /// Computes the right-hand sides of the rewritten system. `c`: size x b.columns, column-major, by
  /// substitution index.
  void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const {
    using agent = rewritten_rhs_agent<Scalar, Index, Offset>;
    typename agent::params p{};
    p.size = triangle().size;
    p.lanes = lanes_;
    p.reversed = form_.reversed;
    p.row_offsets = rhs_offsets_.data();
    p.columns = rhs_columns_.data();
    p.values = rhs_values_.data();
    p.alpha = alpha;
    p.b = b;
    p.c = c;
    on.template launch<agent>(simt::block_count(triangle().size * b.columns, agent::block_threads / lanes_),
                              p);
  }

  /// Returns how many bytes `transform` reads and writes for one right-hand side.
  [[nodiscard]] std::size_t transform_bytes() const {
    return rhs_offsets_.bytes() + static_cast<std::size_t>(rhs_entries()) * (sizeof(Scalar) + sizeof(Index)) +
           2 * static_cast<std::size_t>(triangle().size) * sizeof(Scalar);
  }

  /// Returns how many bytes a kernel reads, in effect, that combines the entries of the right-hand sides
  /// itself: those of a row, and where they begin, lie in memory sectors of their own.
  [[nodiscard]] std::size_t combine_bytes() const {
    return 2 * static_cast<std::size_t>(triangle().size) * sizeof(Scalar) +
           2 * static_cast<std::size_t>(rhs_entries()) * (sizeof(Scalar) + sizeof(Index));
  }
  [[nodiscard]] std::int64_t run_levels() const { return run_levels_; }

  [[nodiscard]] std::size_t bytes() const {
    return triangle_.bytes() + levels_.bytes() + order_.bytes() + row_offsets_.bytes() + columns_.bytes() +
           values_.bytes() + rhs_offsets_.bytes() + rhs_columns_.bytes() + rhs_values_.bytes() +
           inverse_sums_.bytes() + first_grown_.bytes();
  }

  [[nodiscard]] kernel_info describe() const {
    kernel_info kernel;
    kernel.warps = simt::ceil_div(triangle().size * lanes_, 32);
    kernel.lanes_per_row = lanes_;
    kernel.rewritten_rows = rewritten();
    kernel.levels_together = run_levels_;
    kernel.text = "dataflow: right-hand sides for " + std::to_string(rewritten()) +
                  " rewritten rows, runs of " + std::to_string(run_levels_) + " levels, " +
                  std::to_string(rhs_entries()) + " entries";
    return kernel;
  }

 private:
  template <class Agent>
  static std::uint32_t blocks(std::int64_t warps) {
    return simt::block_count(warps, Agent::block_threads / 32);
  }

  [[nodiscard]] valued_triangle<Scalar, Index, Offset> valued(const Scalar* stored) const {
    return row_elimination::triangle_with_values(triangle(), stored, form_);
  }
  [[nodiscard]] runs<Index> levels_in_runs() const {
    return {(whole_levels_ != nullptr ? whole_levels_->of_row : levels_).data(),
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

  /// Cuts the levels into runs; finds them first if they are not known.
  template <class RunLevelsFor>
  void cut_levels(const row_levels<Index>* known, const RunLevelsFor& run_levels_for, const Executor& on,
                  const analysis_memory& memory) {
    const std::int64_t size = triangle().size;
    whole_levels_ = known;
    if (known != nullptr) {
      level_count_ = known->count;
    } else {
      auto found = levels_of_rows(triangle(), on, memory.kept);
      level_count_ = found.count;
      levels_ = std::move(found.of_row);
    }
    run_levels_ = std::min<std::int64_t>(run_levels_for(level_count_), level_count_);
    using key = std::make_unsigned_t<Index>;
    const auto positions = make_buffer<key>(size, on, memory.scratch);
    const auto sorted = make_buffer<key>(size, on, memory.scratch);
    const auto numbers = make_buffer<Index>(size, on, memory.scratch);
    slots_ = make_buffer<Offset>(size + 1, on, memory.scratch);
    lengths_ = make_buffer<Offset>(size, on, memory.scratch);
    rhs_offsets_ = make_buffer<Offset>(size + 1, on, memory.kept);
    inverse_sums_ = make_buffer<real>(size, on, memory.kept);
    order_ = make_buffer<Index>(size, on, memory.kept);
    simt::for_each(on, size,
                   start_rows<Index, Offset, real>{
                       triangle().row_offsets.data(), levels_in_runs(), positions.data(), numbers.data(),
                       slots_.data(), lengths_.data(), rhs_offsets_.data(), inverse_sums_.data()});
    on.sort_pairs(positions.data(), sorted.data(), numbers.data(), order_.data(), size,
                  bits_for(static_cast<std::uint64_t>(run_levels_)), memory.scratch);
    const auto offsets = make_buffer<Index>(run_levels_ + 1, on, memory.scratch);
    simt::for_each(on, size,
                   find_level_offsets<key, Index, position_of_key>{
                       sorted.data(), {}, nullptr, offsets.data(), nullptr, size, run_levels_});
    position_offsets_.resize(offsets.size());
    on.download(position_offsets_.data(), offsets.data(), offsets.bytes());
  }

  /// `most`: entries of all lists, at most.
  void choose(const Scalar* stored, const row_elimination::limits& limits, std::int64_t most,
              const Executor& on, const analysis_memory& memory) {
    // Room for less than 4 MiB is not worth a wait for the device.
    constexpr std::int64_t few_entries = (std::int64_t{4} << 20) / std::int64_t{sizeof(Index)};
    const std::int64_t size = triangle().size;
    for_positions([&](const listed_rows<Index>& rows) {
      simt::for_each(
          on, rows.count,
          bound_lengths<Index, Offset>{rows, triangle().row_offsets.data(), triangle().columns.data(),
                                       levels_in_runs(), limits.fill, static_cast<Offset>(limits.entries),
                                       static_cast<Offset>(limits.longest_row), slots_.data()});
    });
    scan(on, size, row_elimination::place_rows<Offset>{size, slots_.data(), 0, slots_.data()}, memory);
    listed_ = make_buffer<Index>(most <= few_entries ? most : last_of(slots_, on), on, memory.scratch);
    const auto counts = make_buffer<rewritten_counts>(rewritten_counts::parts, on, memory.scratch);
    on.fill_bytes(counts.data(), 0, counts.bytes());
    using agent = choose_rows_agent<Scalar, Index, Offset>;
    typename agent::params p{};
    p.triangle = valued(stored);
    p.in = levels_in_runs();
    p.max_growth = max_growth_;
    p.slots = slots_.data();
    p.columns = listed_.data();
    p.lengths = lengths_.data();
    p.rhs_lengths = rhs_offsets_.data();
    p.inverse_sums = inverse_sums_.data();
    p.counts = counts.data();
    for_positions([&](const listed_rows<Index>& rows) {
      p.of = rows;
      on.template launch<agent>(blocks<agent>(p.of.count), p);
    });
    rewritten_counts parts[rewritten_counts::parts];
    on.download(parts, counts.data(), sizeof(parts));
    for (const rewritten_counts& part : parts) {
      counts_.rows += part.rows;
      counts_.entries += part.entries;
      counts_.rhs_entries += part.rhs_entries;
    }
  }

  /// Downloads the last offset. Synchronises.
  static std::int64_t last_of(const buffer<Offset>& offsets, const Executor& on) {
    Offset last = 0;
    on.download(&last, offsets.data() + offsets.size() - 1, sizeof(last));
    return static_cast<std::int64_t>(last);
  }

  const device_triangle<Index, Offset>* whole_;  ///< the system before it is rewritten; null after keep()
  const row_levels<Index>* whole_levels_ =
      nullptr;                               ///< its levels; null after keep(), or if they were not known
  device_triangle<Index, Offset> triangle_;  ///< the system before it is rewritten, after keep()
  triangle_form form_;
  std::int64_t level_count_ = 0;
  std::int64_t run_levels_ = 0;
  real max_growth_;
  rewritten_counts counts_{};
  int lanes_ = 1;                        ///< lanes that share the right-hand side of a row
  buffer<Index> levels_;                 ///< by row, counted from 1
  buffer<Index> order_;                  ///< the rows by their levels after the first one of the run
  std::vector<Index> position_offsets_;  ///< where the rows with each number of levels begin in the order
  buffer<real> inverse_sums_;            ///< by row
  buffer<Offset> lengths_;               ///< by row: entries; this and the next two until make_pattern()
  buffer<Offset> slots_;                 ///< by row, size + 1: where its columns are listed
  buffer<Index> listed_;                 ///< the listed columns: of the row, then of its right-hand side
  buffer<Offset> row_offsets_;           ///< size + 1
  buffer<Index> columns_;
  buffer<Scalar> values_;
  buffer<Offset> rhs_offsets_;  ///< size + 1; by row: their number, until make_pattern()
  buffer<Index> rhs_columns_;
  buffer<Scalar> rhs_values_;
  buffer<std::int64_t> first_grown_;
};

}  // namespace sptrsv::detail::dataflow::level_runs
