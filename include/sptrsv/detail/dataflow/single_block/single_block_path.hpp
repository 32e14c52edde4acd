// SPDX-License-Identifier: Apache-2.0
// The host side of the single_block path: it owns the schedule and the values, and launches the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_agent.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_values.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::dataflow::single_block {

/// The memory of one solve in flight: what status() reads.
class scratch {
 public:
  template <class Executor>
  scratch(std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : words_(make_buffer<std::int64_t>(1 + max_columns, on, resource)) {
    reset(on);
  }

  /// Enqueues the state before the first solve.
  template <class Executor>
  void reset(const Executor& on) {
    on.fill_bytes(words_.data(), 0, words_.bytes());
  }

  [[nodiscard]] std::int64_t* used_rhs() const { return words_.data(); }
  [[nodiscard]] std::int64_t* first_nonfinite() const { return words_.data() + 1; }

  /// Returns the first substitution index with a non-finite component in the last solve; -1 if there is none.
  /// Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(const Executor& on) const {
    std::int64_t columns = 0;
    on.download(&columns, used_rhs(), sizeof(columns));
    std::vector<std::int64_t> first(static_cast<std::size_t>(columns) + 1, all_finite);
    on.download(first.data(), first_nonfinite(), static_cast<std::size_t>(columns) * sizeof(std::int64_t));
    return reported_index(*std::min_element(first.begin(), first.end()));
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t max_columns) {
    return static_cast<std::size_t>(1 + max_columns) * sizeof(std::int64_t);
  }

 private:
  buffer<std::int64_t> words_;
};

template <class Tuning, class Scalar, class Offset, class Executor>
class path {
 public:
  static constexpr const char* name = "single_block";
  using workspace = scratch;

  /// `sources`, `diagonal_sources`: by entry and by row of the triangle, the stored entry that holds its
  /// value.
  path(const schedule& from, int shape_index, std::int64_t max_rhs, buffer<Offset>&& sources,
       buffer<Offset>&& diagonal_sources, const triangle_form& form, const Executor& on,
       memory_resource& resource)
      : shape_(from.shape),
        shape_index_(shape_index),
        max_rhs_(max_rhs),
        form_(form),
        tiles_(from.tiles),
        x_ring_size_(from.x_ring_size),
        reloads_(from.reloads),
        size_(static_cast<std::int64_t>(from.row_slots.size())),
        operands_(upload(from.operands, on, resource)),
        rows_(upload(from.rows, on, resource)),
        in_tile_rows_(upload(from.in_tile_rows, on, resource)),
        entry_slots_(upload(from.entry_slots, on, resource)),
        link_slots_(upload(from.link_slots, on, resource)),
        row_slots_(upload(from.row_slots, on, resource)),
        sources_(std::move(sources)),
        diagonal_sources_(std::move(diagonal_sources)),
        values_(operands_.size(), resource, on.stream()),
        in_tile_(make_buffer<Scalar>(tiles_ * shape_.in_tile_entries, on, resource)),
        reciprocals_(rows_.size(), resource, on.stream()),
        pivots_(form.unit ? 0 : rows_.size(), resource, on.stream()),
        zero_and_sink_(2, resource, on.stream()) {
    on.fill_bytes(values_.data(), 0, values_.bytes());
    on.fill_bytes(in_tile_.data(), 0, in_tile_.bytes());
    on.fill_bytes(zero_and_sink_.data(), 0, zero_and_sink_.bytes());
    fill_with_ones(reciprocals_, on);
    fill_with_ones(pivots_, on);
  }

  void update_values(const Scalar* stored, const Executor& on) {
    // Rows without a stored pivot may have lost their reciprocal by earlier values, see scatter_entries.
    if (form_.unit || link_slots_.size() > 0) {
      fill_with_ones(reciprocals_, on);
    }
    simt::for_each(on, static_cast<std::int64_t>(diagonal_sources_.size()),
                   scatter_pivots<Scalar, Offset>{stored, diagonal_sources_.data(), row_slots_.data(),
                                                  pivots_.data(), reciprocals_.data(), form_.conjugated});
    scatter_entries<Scalar, Offset> body{};
    body.sources = sources_.data();
    body.shape = shape_;
    body.values = values_.data();
    body.in_tile = in_tile_.data();
    body.reciprocals = reciprocals_.data();
    body.conjugated = form_.conjugated;
    for (int pass = 0; pass < 2; ++pass) {
      body.second_pass = pass == 1;
      body.stored = stored;
      body.slots = entry_slots_.data();
      simt::for_each(on, static_cast<std::int64_t>(entry_slots_.size()), body);
      body.stored = nullptr;
      body.slots = link_slots_.data();
      simt::for_each(on, static_cast<std::int64_t>(link_slots_.size()), body);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return workspace(max_rhs_, on, resource);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    kernel_params<Scalar> p{};
    p.tiles = static_cast<std::int32_t>(tiles_);
    p.x_ring_size = static_cast<std::int32_t>(x_ring_size_);
    p.size = static_cast<std::int32_t>(size_);
    p.reversed = form_.reversed;
    p.values = values_.data();
    p.operands = operands_.data();
    p.in_tile = in_tile_.data();
    p.reciprocals = reciprocals_.data();
    p.pivots = pivots_.data();
    p.rows = rows_.data();
    p.in_tile_rows = in_tile_rows_.data();
    p.zero = zero_and_sink_.data();
    p.sink = zero_and_sink_.data() + 1;
    p.used_rhs = scratch.used_rhs();
    p.first_nonfinite = scratch.first_nonfinite();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
      if (index == shape_index_) {
        on.template launch<agent<Scalar, decltype(shape)>>(
            simt::block_count(x.columns, 1), p, shared_layout<Scalar>::of(shape_, x_ring_size_).bytes);
      }
    });
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(on);
  }

  /// Synchronises.
  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const workspace&,
                                   const Executor& on) const {
    if (pivots_.size() == 0) {
      return false;
    }
    std::uint32_t slot = 0;
    Scalar pivot;
    on.download(&slot, row_slots_.data() + substitution_index, sizeof(slot));
    on.download(&pivot, pivots_.data() + slot, sizeof(pivot));
    return pivot == Scalar{};
  }

  void describe(solver_info& info) const {
    kernel_info kernel;
    kernel.warps = 1;
    kernel.lanes_per_row = shape_.lanes;
    kernel.partial_rows = static_cast<std::int64_t>(link_slots_.size());
    kernel.tiles = tiles_;
    kernel.tile_rows = shape_.rows;
    kernel.x_ring_size = x_ring_size_;
    const auto count = [](std::int64_t n) { return std::to_string(n); };
    kernel.text = "dataflow: one block for each right-hand side, " + count(tiles_) + " tiles of " +
                  count(shape_.rows) + " coupled rows, " + count(shape_.lanes) + " lanes per row, " +
                  count(shape_.entries) + " entries per lane, x ring buffer of " + count(x_ring_size_) +
                  " components, " + count(reloads_) + " reloaded, " + count(kernel.partial_rows) +
                  " partial rows";
    info.kernels.push_back(std::move(kernel));
    info.solver_bytes += bytes();
    info.workspace_bytes = workspace::bytes(max_rhs_);
  }

 private:
  [[nodiscard]] std::size_t bytes() const {
    return operands_.bytes() + rows_.bytes() + in_tile_rows_.bytes() + entry_slots_.bytes() +
           link_slots_.bytes() + zero_and_sink_.bytes() + row_slots_.bytes() + sources_.bytes() +
           diagonal_sources_.bytes() + values_.bytes() + in_tile_.bytes() + reciprocals_.bytes() +
           pivots_.bytes();
  }

  static void fill_with_ones(const buffer<Scalar>& values, const Executor& on) {
    simt::for_each(on, static_cast<std::int64_t>(values.size()),
                   array_kernels::fill_with<Scalar>{pivot_divisor<Scalar>::one(), values.data()});
  }

  template <class T>
  static buffer<T> upload(const std::vector<T>& from, const Executor& on, memory_resource& resource) {
    buffer<T> made(from.size(), resource, on.stream());
    on.upload(made.data(), from.data(), made.bytes());
    return made;
  }

  shape_values shape_;
  int shape_index_;
  std::int64_t max_rhs_;
  triangle_form form_;
  std::int64_t tiles_;
  std::int64_t x_ring_size_;
  std::int64_t reloads_;
  std::int64_t size_;
  buffer<std::uint16_t> operands_;
  buffer<tile_row> rows_;
  buffer<std::uint32_t> in_tile_rows_;
  buffer<std::uint32_t> entry_slots_;
  buffer<std::uint32_t> link_slots_;
  buffer<std::uint32_t> row_slots_;
  buffer<Offset> sources_;
  buffer<Offset> diagonal_sources_;
  buffer<Scalar> values_;
  buffer<Scalar> in_tile_;
  buffer<Scalar> reciprocals_;
  buffer<Scalar> pivots_;
  buffer<Scalar> zero_and_sink_;
};

}  // namespace sptrsv::detail::dataflow::single_block
