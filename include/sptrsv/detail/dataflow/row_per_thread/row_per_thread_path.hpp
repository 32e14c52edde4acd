// SPDX-License-Identifier: Apache-2.0
// The host side of the row_per_thread path: it owns the rows in sliced ELL form, and launches the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/rhs_pack.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/diagonal_agent.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_order.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_agent.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class path {
  template <int EntriesAtOnce, int Columns, bool OneRhs, bool CombinesRhs = false, bool SharesRows = false>
  using agent = agent<Tuning, Scalar, Index, Offset, EntriesAtOnce, Columns, OneRhs, CombinesRhs, SharesRows>;
  using for_short_rows = agent<Tuning::entries_at_once, 1, true>;
  using for_long_rows = agent<2 * Tuning::entries_at_once, 1, true>;
  using for_short_rewritten_rows = agent<Tuning::entries_at_once, 1, true, true>;
  using for_long_rewritten_rows = agent<2 * Tuning::entries_at_once, 1, true, true>;
  using for_diagonal = diagonal_agent<Tuning, Scalar, Index, Offset>;
  using for_large_diagonal = large_diagonal_agent<Tuning, Scalar, Index, Offset>;
  using stored_entry = stored_entry_t<Scalar, Tuning::entries>;
  static constexpr int rhs_together = rhs_in_sector<Scalar>(Tuning::rhs_per_sweep);
  using for_several_rhs = agent<Tuning::entries_at_once, rhs_together, false>;
  using for_shared_rows = agent<Tuning::entries_at_once, rhs_together, false, false, true>;
  using for_long_shared_rows = agent<2 * Tuning::entries_at_once, 1, false, false, true>;

 public:
  static constexpr const char* name = "row_per_thread";
  using workspace = double_buffer_storage<Scalar>;

  using row_order = row_per_thread::row_order<Index, Offset>;

  /// Packs the rows and frees the triangle. `order`: of order_rows(). Without it the rows keep the order of
  /// substitution. `size`: rows of the system. Synchronises if the number of slots is not known.
  path(split_triangle<Index, Offset>&& split, std::int64_t size, std::int64_t max_rhs,
       std::optional<row_order>&& order, const triangle_form& form, const Executor& on,
       const analysis_memory& memory)
      : form_(form),
        size_(size),
        max_rhs_(max_rhs),
        long_rows_(split.triangle.entries() > split.triangle.size * Tuning::long_row),
        long_rewritten_rows_(split.triangle.entries() > split.triangle.size * Tuning::long_rewritten_row),
        sharing_{rhs_together_for(max_rhs)},
        values_(0, 0, on, memory.kept) {
    const device_triangle<Index, Offset>& triangle = split.triangle;
    if (!order) {
      order.emplace().slices = find_slices(triangle, {}, {}, nullptr, on, memory);
    }
    pack(split, std::move(*order), on, memory);
    sharing_ = rhs_sharing<Tuning>::of(max_rhs, rhs_together_for(max_rhs), triangle.size, triangle.entries(),
                                       levels_, long_rows_);
    split = {};
    values_ = device_values<Scalar, Executor, stored_entry>(static_cast<std::int64_t>(slices_.columns.size()),
                                                            form.unit ? 0 : slices_.size, on, memory.kept);
    share_ = {0, blocks(), 0};
  }

  void share(const launch_share& share) { share_ = share; }

  void update_values(const Scalar* values, const Executor& on) {
    if (!slices_.are_runs()) {
      values_.gather(values, slices_.sources.data(), diagonal_sources_.data(), form_.conjugated, on);
      return;
    }
    simt::for_each(on, slices_.count * slice_rows,
                   gather_run_values<Scalar, Index, Offset, stored_entry>{
                       slices_.size, slices_.offsets.data(), slices_.shifts.data(), slices_.diagonals.data(),
                       substitution_indices_.data(), values, values_.values(), values_.diagonal(),
                       form_.reversed, form_.conjugated});
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return workspace(solve_size(), buffer_columns(), on, resource, copied_scalars());
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    auto p = params(alpha, b, x, scratch);
    if (is_diagonal() && share_.is_whole_solve(blocks())) {
      if (slices_.size > Tuning::large_diagonal) {
        on.template launch<for_large_diagonal>(blocks_of(for_large_diagonal::block_rows), p);
      } else {
        on.template launch<for_diagonal>(blocks(), p);
      }
    } else if (x.columns > 1 || (sharing_.together > 1 && !share_.is_whole_solve(blocks()))) {
      solve_for_several_rhs(p, scratch, on);
    } else if (long_rows_) {
      on.template launch<for_long_rows>(blocks(), p);
    } else {
      on.template launch<for_short_rows>(blocks(), p);
    }
  }

  /// Solves for a single right-hand side, which it combines as `rhs` tells. b and x do not overlap.
  void solve_rewritten(const rewritten_rhs<Scalar, Index, Offset>& rhs, Scalar alpha,
                       dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
                       const Executor& on) const {
    auto p = params(alpha, b, x, scratch);
    p.rhs = rhs;
    if (long_rewritten_rows_) {
      on.template launch<for_long_rewritten_rows>(blocks(), p);
    } else {
      on.template launch<for_short_rewritten_rows>(blocks(), p);
    }
  }

  /// Returns the number of tickets of every launch, however many right-hand sides it has; a ticket is a
  /// block, but the kernel for diagonal systems has fewer blocks.
  [[nodiscard]] std::uint32_t blocks() const { return blocks_of(Tuning::block_threads); }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks(), on);
  }

  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch,
                                   const Executor& on) const {
    return values_.is_zero_pivot(substitution_index, substitution_indices_.data(), scratch.status_flag(), on);
  }

  /// Returns the number of right-hand sides that are solved together.
  static std::int64_t rhs_together_for(std::int64_t max_rhs) { return max_rhs > 1 ? rhs_together : 1; }
  /// Returns the number of rows, with the partial rows: the rows of the double buffer.
  [[nodiscard]] std::int64_t solve_size() const { return slices_.size; }
  /// Returns the number of levels; 0: not counted. A split row may count as several levels.
  [[nodiscard]] std::int64_t levels() const { return levels_; }

  void describe(solver_info& info) const {
    kernel_info kernel;
    kernel.warps = slices_.count;
    kernel.lanes_per_row = 1;
    kernel.levels = levels_;
    kernel.partial_rows = share_.is_whole_solve(blocks()) ? slices_.size - size_ : 0;
    kernel.rhs_together = sharing_.of_lane();
    kernel.launches = sharing_.copies ? 3 : 1;
    const std::string lanes = text_from("; ", sharing_.lanes, " lanes for each row, each for ",
                                        sharing_.of_lane(), " of the right-hand sides");
    kernel.text = text_from("dataflow: one thread for each of ", slices_.size, " rows in ",
                            levels_ > 0 ? "level order" : "the order of substitution", ", ",
                            kernel.partial_rows, " of them partial rows", sharing_.lanes > 1 ? lanes : "",
                            sharing_.copies ? "; right-hand sides are copied by rows" : "",
                            sharing_.sweep_by_sweep ? "; right-hand sides one sweep after the other" : "");
    info.kernels.push_back(std::move(kernel));
    info.solver_bytes += bytes();
    info.workspace_bytes = workspace::bytes(solve_size(), buffer_columns(), copied_scalars());
  }

 private:
  [[nodiscard]] kernel_params<Scalar, Index, Offset, stored_entry> params(Scalar alpha,
                                                                          dense_view<const Scalar> b,
                                                                          dense_view<Scalar> x,
                                                                          const workspace& scratch) const {
    kernel_params<Scalar, Index, Offset, stored_entry> p{};
    p.size = size_;
    p.solve_size = slices_.size;
    p.rhs_blocks = sharing_.threads_of_row();
    p.sweep_by_sweep = sharing_.sweep_by_sweep;
    p.reversed = form_.reversed;
    p.offsets = slices_.offsets.data();
    p.columns = slices_.columns.data();
    p.values = values_.values();
    p.diagonal = values_.diagonal();
    p.substitution_indices = substitution_indices_.data();
    p.gates = gates_.data();
    p.share = share_;
    p.buffers = scratch.buffers();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    return p;
  }
  /// `p`: as for one lane for each row.
  void solve_for_several_rhs(kernel_params<Scalar, Index, Offset, stored_entry>& p, const workspace& scratch,
                             const Executor& on) const {
    const int lanes = share_.is_whole_solve(blocks()) ? sharing_.lanes_for(p.x.columns) : 1;
    if (lanes == 1) {  // always if the solve is two launches: the other one has other lanes
      on.template launch<for_several_rhs>(blocks(), p);
      return;
    }
    while (1 << p.lane_bits < lanes) {
      ++p.lane_bits;
    }
    p.rhs_blocks >>= p.lane_bits;
    const dense_view<Scalar> x = p.x;
    const bool copies = sharing_.copies && (p.b.column_stride != 1 || x.column_stride != 1);
    if (copies) {
      p.x = dense_view<Scalar>(scratch.copy(), x.rows, x.columns, x.columns, 1);
      copy_by_rows(p.b, p.x, on);
      p.b = dense_view<const Scalar>(p.x.data, x.rows, x.columns, x.columns, 1);
    }
    if (sharing_.shares_long_rows) {
      on.template launch<for_long_shared_rows>(blocks(), p);
    } else {
      on.template launch<for_shared_rows>(blocks(), p);
    }
    if (copies) {
      copy_by_rows(p.b, x, on);
    }
  }
  /// Returns the room for a copy of the right-hand sides.
  [[nodiscard]] std::int64_t copied_scalars() const {
    return sharing_.copies ? checked_product(size_, max_rhs_) : 0;
  }
  /// Returns the number of blocks if each has so many rows, for some of the right-hand sides.
  [[nodiscard]] std::uint32_t blocks_of(int rows) const {
    return simt::block_count(simt::ceil_div(slices_.size, rows) * sharing_.threads_of_row(), 1);
  }
  /// Returns whether no row needs another one. Solve index and substitution index are the same then.
  [[nodiscard]] bool is_diagonal() const { return slices_.columns.size() == 0; }
  [[nodiscard]] std::int64_t buffer_columns() const {
    return simt::ceil_div(max_rhs_, sharing_.together) * sharing_.together;
  }
  [[nodiscard]] std::size_t bytes() const {
    return slices_.bytes() + gates_.bytes() + values_.bytes() + substitution_indices_.bytes() +
           diagonal_sources_.bytes();
  }

  void pack(const split_triangle<Index, Offset>& split, row_order&& order, const Executor& on,
            const analysis_memory& memory) {
    const device_triangle<Index, Offset>& triangle = split.triangle;
    buffer<Index>& rows = order.levels.rows;
    levels_ = order.levels.count;
    gates_ = std::move(order.gates);
    slices_ = pack_slices(triangle, order.packing(), std::move(order.slices), order.slots, form_.reversed, on,
                          memory);
    if (!slices_.are_runs()) {
      diagonal_sources_ = in_order(triangle.diagonal_sources, rows, on, memory.kept);
    }
    substitution_indices_ = split.substitution_indices.size() == 0
                                ? std::move(rows)
                                : in_order(split.substitution_indices, rows, on, memory.kept);
  }
  /// Returns the elements by solve index. `rows`: by solve index; empty if the two indices are the same.
  template <class T>
  static buffer<T> in_order(const buffer<T>& by_row, const buffer<Index>& rows, const Executor& on,
                            memory_resource& resource) {
    if (rows.size() == 0) {
      return copy_of(by_row, on, resource);
    }
    auto made = make_buffer<T>(static_cast<std::int64_t>(by_row.size()), on, resource);
    simt::for_each(on, static_cast<std::int64_t>(made.size()),
                   array_kernels::take_in_order<T, Index>{by_row.data(), rows.data(), made.data()});
    return made;
  }

  triangle_form form_;
  std::int64_t size_;
  std::int64_t max_rhs_;
  bool long_rows_;            ///< whether rows are long on average
  bool long_rewritten_rows_;  ///< the same, for rows that mostly need recent components
  rhs_sharing<Tuning> sharing_;
  std::int64_t levels_ = 0;
  sliced_ell<Index, Offset> slices_;
  buffer<Index> substitution_indices_;  ///< by solve index, -1: partial row; empty: the indices are the same
  buffer<Index> gates_;                 ///< by slice; empty if there are none
  buffer<Offset> diagonal_sources_;
  device_values<Scalar, Executor, stored_entry> values_;
  launch_share share_{};
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
