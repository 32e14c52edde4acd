// SPDX-License-Identifier: Apache-2.0
// A system whose rows were rewritten, on the host side: which rows are rewritten, and the pattern, values and
// right-hand sides of the rewritten system. runs.hpp has the method.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/row_elimination/rewrite_rows.hpp"
#include "sptrsv/detail/dataflow/row_elimination/runs.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// The rewritten system in device memory: a lower triangle by rows, in the order of substitution, with
/// ascending columns. Its diagonal is unit if that of the system is. If no row is rewritten, only rewritten()
/// may be called. Otherwise make_pattern(), make_values(), update_values() and keep() follow, in this order.
template <class Scalar, class Index, class Offset, class Executor>
class rewritten_system {
  using real = real_t<Scalar>;

 public:
  /// Chooses the rows by the values `stored`; none if Offset cannot count their entries. Each run has
  /// `run_levels` of the `levels`. Refers to `whole` and `levels` until keep() is called. Synchronises.
  rewritten_system(const device_triangle<Index, Offset>& whole, const row_levels<Index>& levels,
                   std::int64_t run_levels, const Scalar* stored, const triangle_form& form,
                   const limits& limits, const Executor& on, const analysis_memory& memory)
      : form_(form),
        max_growth_(static_cast<real>(std::min<double>(limits.growth, std::numeric_limits<real>::max() / 2))),
        whole_(&whole),
        whole_levels_(&levels),
        in_{levels.of_row.data(), static_cast<Index>(std::min(run_levels, levels.count))} {
    const double most = limits.fill * static_cast<double>(whole.entries()) +
                        static_cast<double>((limits.entries + 1) * whole.size);
    if (whole.size > 0 && most < static_cast<double>(std::numeric_limits<Offset>::max())) {
      cut_levels(on, memory);
      choose(static_cast<std::int64_t>(most), stored, limits, on, memory);
    }
  }

  /// Returns the system before it is rewritten.
  [[nodiscard]] const device_triangle<Index, Offset>& triangle() const {
    return whole_ != nullptr ? *whole_ : triangle_;
  }
  [[nodiscard]] std::int64_t rewritten() const { return counts_.rows; }
  [[nodiscard]] std::int64_t run_levels() const { return in_.length; }
  /// Returns the number of entries of the rewritten system without the pivots.
  [[nodiscard]] std::int64_t entries() const { return triangle().entries() + counts_.entries; }
  [[nodiscard]] std::int64_t rhs_entries() const { return counts_.rhs_entries; }

  /// Makes the pattern, if it is to be planned.
  void make_pattern(const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = triangle().size;
    row_offsets_ = make_buffer<Offset>(size + 1, on, memory.kept);
    place(rhs_offsets_, 0, rhs_offsets_, on, memory);
    place(lengths_, form_.unit ? Offset{0} : Offset{1}, row_offsets_, on, memory);
    columns_ = make_buffer<Index>(entries() + (form_.unit ? 0 : size), on, memory.kept);
    rhs_columns_ = make_buffer<Index>(rhs_entries(), on, memory.kept);
    triangle_kernels::for_each_entry(
        on, row_offsets_.data(), size, static_cast<std::int64_t>(columns_.size()),
        take_columns<Index, Offset>{triangle().view(), slots_.data(), listed_.data(), rhs_offsets_.data(),
                                    row_offsets_.data(), columns_.data(), !form_.unit});
    triangle_kernels::for_each_entry(
        on, rhs_offsets_.data(), size, rhs_entries(),
        take_rhs_columns<Index, Offset>{slots_.data(), lengths_.data(), listed_.data(), rhs_offsets_.data(),
                                        rhs_columns_.data()});
    for (; lane_bits_ < 5 && rewritten() << lane_bits_ < rhs_entries(); ++lane_bits_) {
    }
    slots_ = {};
    listed_ = {};
    lengths_ = {};
  }
  [[nodiscard]] pattern_view<Index, Offset> pattern() const {
    return {triangle().size, static_cast<std::int64_t>(columns_.size()), row_offsets_.data(), columns_.data(),
            false};
  }

  /// Allocates the values: when the system has been planned, which takes memory.
  void make_values(const Executor& on, memory_resource& resource) {
    values_ = make_buffer<Scalar>(static_cast<std::int64_t>(columns_.size()), on, resource);
    rhs_values_ = make_buffer<Scalar>(rhs_entries(), on, resource);
    first_grown_ = make_buffer<std::int64_t>(1, on, resource);
  }
  /// Computes the values of the rewritten system and of its right-hand sides.
  void update_values(const Scalar* stored, const Executor& on) {
    on.fill_bytes(first_grown_.data(), 0x7f, first_grown_.bytes());
    rewrite_row<Scalar, Index, Offset> p{};
    p.triangle = valued(stored);
    p.in = in_;
    p.max_growth = static_cast<real>(1.001) * max_growth_;  // the choice may have rounded growth differently
    p.rows = {row_offsets_.data(), columns_.data(), values_.data()};
    p.rhs = {rhs_offsets_.data(), rhs_columns_.data(), rhs_values_.data()};
    p.inverse_sums = inverse_sums_.data();
    p.first_grown = first_grown_.data();
    triangle_kernels::for_each_entry(
        on, row_offsets_.data(), triangle().size, static_cast<std::int64_t>(columns_.size()),
        copy_values<Scalar, Index, Offset>{p.triangle, p.rows, rhs_offsets_.data()});
    for_levels(p, on);
  }
  [[nodiscard]] const Scalar* values() const { return values_.data(); }
  /// Returns the first row whose growth is too large by the latest values; -1 if there is none. Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    const std::int64_t first = download_value(first_grown_.data(), on);
    return first < triangle().size ? first : -1;
  }

  /// Copies what the constructor was given and later values need, which may then be freed.
  void keep(const Executor& on, memory_resource& resource) {
    const device_triangle<Index, Offset>& from = *whole_;
    triangle_.size = from.size;
    triangle_.longest_row = from.longest_row;
    triangle_.rows_are_stored_runs = from.rows_are_stored_runs;
    triangle_.row_offsets = copy_of(from.row_offsets, on, resource);
    triangle_.columns = copy_of(from.columns, on, resource);
    triangle_.diagonal_sources = copy_of(from.diagonal_sources, on, resource);
    if (form_.unit || !from.rows_are_stored_runs) {
      triangle_.sources = copy_of(from.sources, on, resource);
    }
    levels_ = copy_of(whole_levels_->of_row, on, resource);
    in_.levels = levels_.data();
    whole_ = nullptr;
  }

  /// Computes the right-hand sides. `c`: size x b.columns, column-major, by substitution index.
  void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const {
    using agent = rewritten_rhs_agent<Scalar, Index, Offset>;
    on.template launch<agent>(
        simt::block_count(triangle().size * b.columns, agent::block_threads >> lane_bits_),
        {triangle().size, lane_bits_, form_.reversed, rhs_offsets_.data(), rhs_columns_.data(),
         rhs_values_.data(), alpha, b, c});
  }
  /// Returns the entries of the right-hand sides for a kernel that combines them itself.
  [[nodiscard]] row_per_thread::rewritten_rhs<Scalar, Index, Offset> rhs() const {
    return {rhs_offsets_.data(), rhs_columns_.data(), rhs_values_.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return triangle_.bytes() + row_offsets_.bytes() + columns_.bytes() + values_.bytes() +
           first_grown_.bytes() + levels_.bytes() + positions_.order.bytes() + rhs_offsets_.bytes() +
           rhs_columns_.bytes() + rhs_values_.bytes() + inverse_sums_.bytes();
  }
  [[nodiscard]] kernel_info describe() const {
    kernel_info kernel;
    kernel.warps = simt::ceil_div(triangle().size << lane_bits_, 32);
    kernel.lanes_per_row = 1 << lane_bits_;
    kernel.rewritten_rows = rewritten();
    kernel.levels_together = run_levels();
    kernel.text = text_from("dataflow: right-hand sides for ", rewritten(), " rewritten rows, ",
                            rhs_entries(), " entries");
    return kernel;
  }

 private:
  [[nodiscard]] valued_triangle<Scalar, Index, Offset> valued(const Scalar* stored) const {
    return {triangle().view(), stored, form_.conjugated, form_.reversed};
  }
  /// Turns the numbers of entries without `pivots` of all rows into offsets.
  static void place(const buffer<Offset>& counts, Offset pivots, const buffer<Offset>& offsets,
                    const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = static_cast<std::int64_t>(offsets.size()) - 1;
    scan(on, size + 1,
         sum_values<Offset, entries_with_pivots<Offset>>{{counts.data(), pivots}, size, offsets.data()},
         memory);
  }

  /// Runs choose_row or rewrite_row for the rows of each level.
  template <class Body>
  void for_levels(Body& body, const Executor& on) const {
    positions_.for_later([&](const Index* rows, std::int64_t count) {
      body.listed = rows;
      simt::for_each_by_tile<32, 128>(on, count, body);
    });
  }

  /// Cuts the levels into runs.
  void cut_levels(const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = triangle().size;
    row_levels<Index> positions;
    positions.count = run_levels();
    positions.of_row = make_buffer<Index>(size, on, memory.scratch);
    positions.numbers = make_buffer<Index>(size, on, memory.scratch);
    slots_ = make_buffer<Offset>(size + 1, on, memory.scratch);
    lengths_ = make_buffer<Offset>(size, on, memory.scratch);
    rhs_offsets_ = make_buffer<Offset>(size + 1, on, memory.kept);
    inverse_sums_ = make_buffer<real>(size, on, memory.kept);
    simt::for_each(on, size,
                   start_rows<Index, Offset, real>{
                       triangle().row_offsets.data(), in_, positions.of_row.data(), positions.numbers.data(),
                       slots_.data(), lengths_.data(), rhs_offsets_.data(), inverse_sums_.data()});
    positions_ = sort_by_position(positions, on, memory);
  }

  /// Chooses the rows that are rewritten, and lists their columns, which are at most `most`.
  void choose(std::int64_t most, const Scalar* stored, const limits& limits, const Executor& on,
              const analysis_memory& memory) {
    // Room for less than 4 MiB is not worth a wait for the device, nor a launch for each level of a run.
    constexpr std::int64_t few_entries = (std::int64_t{4} << 20) / std::int64_t{sizeof(Index)};
    const auto bound = [&](const Index* rows, std::int64_t count) {
      simt::for_each(on, count,
                     bound_lengths<Index, Offset>{rows, triangle().view(), in_, limits.fill,
                                                  static_cast<Offset>(limits.entries),
                                                  static_cast<Offset>(limits.longest_row), slots_.data()});
    };
    if (most <= few_entries) {
      bound(nullptr, triangle().size);
    } else {
      positions_.for_later(bound);
    }
    place(slots_, 0, slots_, on, memory);
    listed_ = make_buffer<Index>(most <= few_entries ? most : last_of(slots_, on), on, memory.scratch);
    const auto counts = make_zeros<rewritten_counts>(rewritten_counts::parts, on, memory.scratch);
    choose_row<Scalar, Index, Offset> p{};
    p.triangle = valued(stored);
    p.in = in_;
    p.max_growth = max_growth_;
    p.slots = slots_.data();
    p.columns = listed_.data();
    p.lengths = lengths_.data();
    p.rhs_lengths = rhs_offsets_.data();
    p.inverse_sums = inverse_sums_.data();
    p.counts = counts.data();
    for_levels(p, on);
    rewritten_counts parts[rewritten_counts::parts];
    on.download(parts, counts.data(), sizeof(parts));
    for (const rewritten_counts& part : parts) {
      counts_.rows += part.rows;
      counts_.entries += part.entries;
      counts_.rhs_entries += part.rhs_entries;
    }
  }

  triangle_form form_;
  real max_growth_;
  const device_triangle<Index, Offset>* whole_;  ///< the system before it is rewritten; null after keep()
  device_triangle<Index, Offset> triangle_;      ///< the same after keep()
  const row_levels<Index>* whole_levels_;        ///< its levels, until keep()
  buffer<Index> levels_;                         ///< by row, counted from 1; after keep()
  runs<Index> in_;
  rewritten_counts counts_{};
  int lane_bits_ = 0;  ///< the logarithm of the number of lanes that share the right-hand side of a row
  row_positions<Index> positions_;
  buffer<real> inverse_sums_;  ///< by row
  buffer<Offset> slots_;       ///< size + 1: where the columns of each row are listed; until make_pattern()
  buffer<Index> listed_;       ///< the listed columns; until make_pattern()
  buffer<Offset> lengths_;     ///< by row: entries without the pivot; until make_pattern()
  buffer<Offset> row_offsets_;
  buffer<Index> columns_;
  buffer<Scalar> values_;
  buffer<Offset> rhs_offsets_;  ///< size + 1; by row: their number, until make_pattern()
  buffer<Index> rhs_columns_;
  buffer<Scalar> rhs_values_;
  buffer<std::int64_t> first_grown_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
