// The host side of a solve with natural blocks: it owns the schedule and the values, puts the values of the
// stored matrix where the schedule wants them, and launches the kernel.
#pragma once

#include <cstdint>
#include <utility>

#include "benchmarks/natural_blocks/blocks_agent.hpp"
#include "benchmarks/natural_blocks/blocks_schedule.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_path.hpp"

namespace sptrsv_benchmarks::natural_blocks {

template <class Scalar, class Shape, class Offset, class Executor>
class blocks_path {
 public:
  /// `from.shape` is that of `Shape`. `sources`, `diagonal_sources`: by entry and by row of the triangle, the
  /// stored entry of its value. Synchronises.
  blocks_path(const schedule& from, sptrsv::buffer<Offset>&& sources,
              sptrsv::buffer<Offset>&& diagonal_sources, const sptrsv::detail::triangle_form& form,
              std::int64_t max_rhs, const Executor& on, sptrsv::memory_resource& resource)
      : form_(form),
        blocks_(from.steps * from.shape.step_blocks()),
        entries_(static_cast<std::int64_t>(from.entry_slots.size())),
        links_(static_cast<std::int64_t>(from.link_slots.size())),
        scratch_(max_rhs, on, resource),
        sources_(std::move(sources)),
        diagonal_sources_(std::move(diagonal_sources)) {
    params_.tiles = static_cast<std::int32_t>(from.steps);
    params_.x_ring_size = static_cast<std::int32_t>(from.ring_blocks);
    params_.size = static_cast<std::int32_t>(from.row_slots.size());
    params_.reversed = form.reversed;
    params_.operands = arrays_.add(from.operands, on, resource);
    params_.present = arrays_.add(from.present, on, resource);
    params_.places = arrays_.add(from.places, on, resource);
    params_.rows = arrays_.add(from.rows, on, resource);
    params_.in_tile_rows = arrays_.add(from.in_block_rows, on, resource);
    entry_slots_ = arrays_.add(from.entry_slots, on, resource);
    link_slots_ = arrays_.add(from.link_slots, on, resource);
    row_slots_ = arrays_.add(from.row_slots, on, resource);
    const std::int64_t tiles = static_cast<std::int64_t>(from.operands.size());
    params_.values = zeros(tiles * from.shape.tile_entries(), on, resource);
    params_.in_tile = zeros(blocks_ * from.shape.in_block_entries(), on, resource);
    params_.reciprocals = arrays_.template make<Scalar>(rows(), on, resource);
    params_.pivots = arrays_.template make<Scalar>(form.unit ? 0 : rows(), on, resource);
    params_.sink = zeros(1, on, resource);
    fill_with_ones(params_.pivots, form.unit ? 0 : rows(), on);
    params_.used_rhs = scratch_.used_rhs();
    params_.first_nonfinite = scratch_.first_nonfinite();
  }

  /// Takes the values of the stored matrix. Only enqueues.
  void update_values(const Scalar* stored, const Executor& on) {
    fill_with_ones(params_.reciprocals, rows(), on);
    sptrsv::detail::simt::for_each(
        on, static_cast<std::int64_t>(diagonal_sources_.size()),
        single_block::scatter_pivots<Scalar, Offset>{stored, diagonal_sources_.data(), row_slots_,
                                                     params_.pivots, params_.reciprocals, form_.conjugated});
    single_block::scatter_entries<Scalar, Offset> body{};
    body.sources = sources_.data();
    body.shape.rows = Shape::values.rows;
    body.shape.reach = Shape::values.rows - 1;
    body.shape.in_tile_entries = Shape::values.in_block_entries();
    body.values = params_.values;
    body.in_tile = params_.in_tile;
    body.reciprocals = params_.reciprocals;
    body.conjugated = form_.conjugated;
    for (int pass = 0; pass < 2; ++pass) {
      body.second_pass = pass == 1;
      body.stored = stored;
      body.slots = entry_slots_;
      sptrsv::detail::simt::for_each(on, entries_, body);
      body.stored = nullptr;
      body.slots = link_slots_;
      sptrsv::detail::simt::for_each(on, links_, body);
    }
  }

  /// x = alpha op(T)^-1 b. Only enqueues.
  void solve(Scalar alpha, sptrsv::dense_view<const Scalar> b, sptrsv::dense_view<Scalar> x,
             const Executor& on) const {
    kernel_params<Scalar> p = params_;
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    on.template launch<agent<Scalar, Shape>>(static_cast<std::uint32_t>(x.columns), p,
                                             shared_bytes<Scalar>(p.x_ring_size, Shape::values.rows));
  }

  /// Returns the first substitution index with a non-finite x in the last solve; -1: none. Synchronises.
  [[nodiscard]] std::int64_t first_nonfinite_index(const Executor& on) const {
    return scratch_.first_nonfinite_index(on);
  }
  [[nodiscard]] std::size_t bytes() const {
    return arrays_.bytes() + sources_.bytes() + diagonal_sources_.bytes();
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return blocks_ * Shape::values.rows; }
  Scalar* zeros(std::int64_t count, const Executor& on, sptrsv::memory_resource& resource) {
    Scalar* const made = arrays_.template make<Scalar>(count, on, resource);
    on.fill_bytes(made, 0, at(count) * sizeof(Scalar));
    return made;
  }
  static void fill_with_ones(Scalar* values, std::int64_t count, const Executor& on) {
    sptrsv::detail::simt::for_each(on, count,
                                   sptrsv::detail::array_kernels::fill_with<Scalar>{
                                       sptrsv::detail::pivot_divisor<Scalar>::one(), values});
  }

  sptrsv::detail::triangle_form form_;
  std::int64_t blocks_;  ///< of the schedule
  std::int64_t entries_;
  std::int64_t links_;
  sptrsv::detail::device_arrays arrays_;
  kernel_params<Scalar> params_{};
  const std::uint32_t* entry_slots_;
  const std::uint32_t* link_slots_;
  const std::uint32_t* row_slots_;
  single_block::scratch scratch_;
  sptrsv::buffer<Offset> sources_;
  sptrsv::buffer<Offset> diagonal_sources_;
};

}  // namespace sptrsv_benchmarks::natural_blocks
