// SPDX-License-Identifier: Apache-2.0
// The host side of the paths in which one thread block solves a right-hand side by a schedule: it owns the
// schedule and the values, puts the values of the stored matrix where the schedule wants them, and launches
// the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// Writes the pivot of each row of the triangle and the reciprocal, which is NaN if the row must divide.
template <class Scalar, class Offset>
struct scatter_pivots {
  const Scalar* stored;
  const Offset* sources;
  const std::uint32_t* row_slots;
  Scalar* pivots;
  Scalar* reciprocals;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Scalar value = load_value(ctx, stored + ctx.load_constant(sources + row), conjugated);
    const pivot_divisor<Scalar> pivot(value);
    const std::uint32_t slot = ctx.load_constant(row_slots + row);
    ctx.store(pivots + slot, value);
    ctx.store(reciprocals + slot, pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>());
  }
};

/// Writes the value of each entry of the triangle, or, with a null `stored`, the factor -1 of each link to a
/// partial row. In-tile entries are multiplied by the reciprocal of their row's pivot. If a product overflows
/// or underflows, the row loses its reciprocal, and a second pass writes its in-tile entries unscaled.
template <class Scalar, class Offset>
struct scatter_entries {
  const Scalar* stored;
  const Offset* sources;
  const std::uint32_t* slots;  ///< by entry or link, see schedule
  in_tile_layout layout;
  Scalar* values;
  Scalar* in_tile;
  Scalar* reciprocals;
  bool conjugated;
  bool second_pass;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::uint32_t slot = ctx.load_constant(slots + e);
    if ((slot & in_tile_bit) != 0) {
      store_in_tile(ctx, slot & ~in_tile_bit, value_of(ctx, e));
    } else if (!second_pass) {
      ctx.store(values + slot, value_of(ctx, e));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Scalar value_of(Context& ctx, std::int64_t e) const {
    if (stored == nullptr) {
      return Scalar{} - pivot_divisor<Scalar>::one();
    }
    return load_value(ctx, stored + ctx.load_constant(sources + e), conjugated);
  }

  template <class Context>
  SPTRSV_DEVICE void store_in_tile(Context& ctx, std::uint32_t slot, Scalar value) const {
    const auto rows = static_cast<std::uint32_t>(layout.rows);
    const std::uint32_t row = slot / rows;
    const std::int64_t to = static_cast<std::int64_t>(row / rows) * layout.entries +
                            in_tile_index<std::int64_t>(rows, layout.reach, slot % rows, row % rows);
    const Scalar reciprocal = ctx.load(reciprocals + row);
    if (second_pass) {
      if (!is_finite(reciprocal)) {
        ctx.store(in_tile + to, value);
      }
      return;
    }
    const Scalar scaled = value * reciprocal;
    ctx.store(in_tile + to, scaled);
    if (!(is_safe_factor(scaled) || value == Scalar{})) {
      ctx.store(reciprocals + row, must_divide<Scalar>());
    }
  }
};

/// The memory of one solve in flight: what status() reads.
class scratch {
 public:
  template <class Executor>
  scratch(std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : words_(make_buffer<std::int64_t>(1 + max_columns, on, resource)) {
    reset(on);
  }

  template <class Executor>
  void reset(const Executor& on) {
    on.fill_bytes(words_.data(), 0, words_.bytes());
  }

  [[nodiscard]] std::int64_t* used_rhs() const { return words_.data(); }
  [[nodiscard]] std::int64_t* first_nonfinite() const { return words_.data() + 1; }

  /// Returns the first substitution index with a non-finite x in the last solve; -1: none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(const Executor& on) const {
    std::int64_t columns = 0;
    on.download(&columns, used_rhs(), sizeof(columns));
    std::vector<std::int64_t> first(at(columns) + 1, all_finite);
    on.download(first.data(), first_nonfinite(), at(columns) * sizeof(std::int64_t));
    return reported_index(*std::min_element(first.begin(), first.end()));
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t max_columns) {
    return at(1 + max_columns) * sizeof(std::int64_t);
  }

 private:
  buffer<std::int64_t> words_;
};

/// Where the values of a triangle go, in device memory.
struct value_slots {
  const std::uint32_t* of_entries;  ///< see schedule::entry_slots
  const std::uint32_t* of_links;
  const std::uint32_t* of_rows;
};

/// `Method`: the kernel and its schedule, see tile_method.
template <class Method, class Scalar, class Offset, class Executor>
class scheduled_path {
 public:
  static constexpr const char* name = Method::name;
  using workspace = scratch;

  /// `t`: the triangle of the schedule.
  template <class Index>
  scheduled_path(const typename Method::schedule& from, int shape_index, std::int64_t max_rhs,
                 const device_triangle<Index, Offset>& t, const triangle_form& form, const Executor& on,
                 memory_resource& resource)
      : layout_(from.in_tile),
        shape_index_(shape_index),
        max_rhs_(max_rhs),
        form_(form),
        rows_(from.schedule_rows),
        entries_(t.entries()),
        links_(count_of(from.link_slots)),
        kernel_(Method::describe(from)),
        sources_(copy_of(t.sources, on, resource)),
        diagonal_sources_(copy_of(t.diagonal_sources, on, resource)) {
    params_.tiles = static_cast<std::int32_t>(from.tiles);
    params_.x_ring_size = static_cast<std::int32_t>(from.x_ring_size);
    params_.size = static_cast<std::int32_t>(t.size);
    params_.reversed = form.reversed;
    params_.operands = arrays_.begin_add(from.operands, on, resource);
    slots_.of_links = arrays_.begin_add(from.link_slots, on, resource);
    Method::add_arrays(from, t, params_, slots_, arrays_, on, resource);
    params_.values = zeros(from.value_slots, on, resource);
    params_.in_tile = zeros(rows_ / layout_.rows * layout_.entries, on, resource);
    params_.reciprocals = arrays_.template make<Scalar>(rows_, on, resource);
    params_.pivots = arrays_.template make<Scalar>(form.unit ? 0 : rows_, on, resource);
    Scalar* const zero_and_sink = zeros(2, on, resource);
    params_.zero = zero_and_sink;
    params_.sink = zero_and_sink + 1;
    fill_with_ones(params_.reciprocals, rows_, on);
    fill_with_ones(params_.pivots, form.unit ? 0 : rows_, on);
    on.synchronize();  // the schedule may end
  }

  void update_values(const Scalar* stored, const Executor& on) {
    // Rows without a stored pivot may have lost their reciprocal by earlier values, see scatter_entries.
    if (form_.unit || links_ > 0) {
      fill_with_ones(params_.reciprocals, rows_, on);
    }
    simt::for_each(on, static_cast<std::int64_t>(diagonal_sources_.size()),
                   scatter_pivots<Scalar, Offset>{stored, diagonal_sources_.data(), slots_.of_rows,
                                                  params_.pivots, params_.reciprocals, form_.conjugated});
    scatter_entries<Scalar, Offset> body{};
    body.sources = sources_.data();
    body.layout = layout_;
    body.values = params_.values;
    body.in_tile = params_.in_tile;
    body.reciprocals = params_.reciprocals;
    body.conjugated = form_.conjugated;
    for (int pass = 0; pass < 2; ++pass) {
      body.second_pass = pass == 1;
      body.stored = stored;
      body.slots = slots_.of_entries;
      simt::for_each(on, entries_, body);
      body.stored = nullptr;
      body.slots = slots_.of_links;
      simt::for_each(on, links_, body);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return workspace(max_rhs_, on, resource);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    kernel_params<Scalar> p = params_;
    p.used_rhs = scratch.used_rhs();
    p.first_nonfinite = scratch.first_nonfinite();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    Method::template launch<Scalar>(shape_index_, simt::block_count(x.columns, 1), p, on);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(on);
  }

  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const workspace&,
                                   const Executor& on) const {
    if (params_.pivots == nullptr) {
      return false;
    }
    std::uint32_t slot = 0;
    Scalar pivot;
    on.download(&slot, slots_.of_rows + substitution_index, sizeof(slot));
    on.download(&pivot, params_.pivots + slot, sizeof(pivot));
    return pivot == Scalar{};
  }

  void describe(solver_info& info) const {
    info.kernels.push_back(kernel_);
    info.solver_bytes += arrays_.bytes() + sources_.bytes() + diagonal_sources_.bytes();
    info.workspace_bytes = workspace::bytes(max_rhs_);
  }

 private:
  Scalar* zeros(std::int64_t count, const Executor& on, memory_resource& resource) {
    Scalar* const made = arrays_.template make<Scalar>(count, on, resource);
    on.fill_bytes(made, 0, at(count) * sizeof(Scalar));
    return made;
  }
  static void fill_with_ones(Scalar* values, std::int64_t count, const Executor& on) {
    simt::for_each(on, count, array_kernels::fill_with<Scalar>{pivot_divisor<Scalar>::one(), values});
  }

  in_tile_layout layout_;
  int shape_index_;
  std::int64_t max_rhs_;
  triangle_form form_;
  std::int64_t rows_;     ///< of the schedule
  std::int64_t entries_;  ///< of the triangle
  std::int64_t links_;    ///< to partial rows
  kernel_info kernel_;
  device_arrays arrays_;
  kernel_params<Scalar> params_{};  ///< all but those of one solve
  value_slots slots_{};
  buffer<Offset> sources_;
  buffer<Offset> diagonal_sources_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
