// SPDX-License-Identifier: Apache-2.0
// The values of a plan: panels, diagonal, and the growth of the inverses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/supernodal/analysis/supernodal_structure.hpp"
#include "sptrsv/detail/supernodal/values/invert_agent.hpp"
#include "sptrsv/detail/supernodal/values/narrow_agent.hpp"
#include "sptrsv/detail/supernodal/values/part_lists.hpp"
#include "sptrsv/detail/supernodal/values/product_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Computes the pivots of the columns of C, if the diagonal is stored, sets both norms of each supernode to
/// 1, and says that none has grown. Runs once per column, at least once; a supernode has at least one column.
template <class Scalar, class Index, class Offset>
struct start_values {
  stored_panels<Scalar, Index, Offset> from;
  std::int64_t columns;
  Scalar* pivots;  ///< null: the diagonal is unit
  block_norms<real_t<Scalar>>* norms;
  std::int64_t* first_grown;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    if (pivots != nullptr && column < columns) {
      std::int64_t fundamental = 0;
      std::int64_t begin = 0;
      if (from.stored.shift != nullptr) {
        fundamental = triangle_kernels::major_of(ctx, from.masks.first, from.masks.fundamental_count, column);
        begin = ctx.load_constant(from.masks.first + fundamental);
      }
      const auto opened = from.stored.open(ctx, column, fundamental, begin);
      ctx.store(pivots + column, from.stored.pivot(ctx, column, opened));
    }
    if (column < from.of.count) {
      ctx.store(norms + column, block_norms<real_t<Scalar>>::of_one());
    }
    if (column == 0) {
      ctx.store(first_grown, std::int64_t{INT64_MAX});
    }
  }
};

/// Owns the panels of a plan, and what update_values needs.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class panel_values {
  using real = real_t<Scalar>;
  using narrow = narrow_agent<Scalar, Index, Offset>;
  using invert = invert_agent<Tuning, Scalar, Index, Offset>;
  using product = product_agent<Tuning, Scalar, Index, Offset>;
  using small_invert = invert_agent<Tuning, Scalar, Index, Offset, true>;
  using small_product = product_agent<Tuning, Scalar, Index, Offset, true>;

 public:
  static constexpr part_sizes parts{narrow::max_columns, invert::side, product::rows, Tuning::max_width};

  /// `lists`: the parts of the supernodes, see `parts`. `entries`: of all panels. `columns`: of all
  /// supernodes.
  panel_values(part_lists lists, std::int64_t supernodes, std::int64_t columns, std::int64_t entries,
               std::int64_t pivots, const Executor& on, memory_resource& resource)
      : columns_(columns),
        entries_(entries),
        panels_(make_buffer<Scalar>(entries_ + tail, on, resource)),
        diagonal_(0, pivots, on, resource),
        norms_(make_buffer<block_norms<real>>(supernodes, on, resource)),
        first_grown_(make_buffer<std::int64_t>(1, on, resource)),
        lists_(std::move(lists)) {
    on.fill_bytes(panels_.data() + entries_, 0, tail * sizeof(Scalar));
  }

  /// Computes the panels from the values of the stored matrix. `last`: see find_grown. Only enqueues.
  void update(const stored_values<Scalar, Index, Offset>& stored, const supernodes<Index>& of,
              const row_masks<Index>& masks, real max_growth, std::int64_t last, const Executor& on) {
    const stored_panels<Scalar, Index, Offset> from{of, masks, stored, diagonal_.diagonal()};
    simt::for_each(on, std::max<std::int64_t>(columns_, 1),
                   start_values<Scalar, Index, Offset>{from, columns_, diagonal_.diagonal(), norms_.data(),
                                                       first_grown_.data()});
    on.template launch<narrow>(simt::block_count(of.count, narrow::warps),
                               {from, panels_.data(), norms_.data()});
    const auto launch = [&](auto agent, const panel_part* list, std::int64_t blocks, auto rest) {
      if (blocks > 0) {
        on.template launch<decltype(agent)>(simt::block_count(blocks, 1), {from, list, panels_.data(), rest});
      }
    };
    const part_range& columns = lists_.columns;
    launch(invert{}, columns.parts, columns.wide, norms_.data());
    launch(small_invert{}, columns.small_parts(), columns.small(), norms_.data());
    simt::for_each_by_tile<32>(
        on, columns.wide * invert::side,
        measure_inverses<Scalar, Index>{of, columns.parts, invert::side, panels_.data(), norms_.data()});
    // One block takes long for a wide panel. If there are few, others would be idle.
    const part_range& rows = lists_.rows;
    const std::uint32_t strips = rows.wide <= Tuning::shared_products ? product::max_strips : 1;
    launch(product{}, rows.parts, rows.wide * strips, strips);
    launch(small_product{}, rows.small_parts(), rows.small(), std::uint32_t{1});
    simt::for_each(on, of.count,
                   find_grown<real, Index>{norms_.data(), of.first, max_growth, last, first_grown_.data()});
  }

  /// Returns the smallest substitution index of a supernode whose growth is too large; -1 if there is none.
  /// Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    const std::int64_t first = download_value(first_grown_.data(), on);
    return first < columns_ ? first : -1;
  }

  [[nodiscard]] std::vector<block_norms<real>> norms(const Executor& on) const {
    return download_array(norms_, on);
  }

  [[nodiscard]] const Scalar* panels() const { return panels_.data(); }
  [[nodiscard]] const device_values<Scalar, Executor>& diagonal() const { return diagonal_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] std::size_t bytes() const {
    return panels_.bytes() + diagonal_.bytes() + norms_.bytes() + first_grown_.bytes() + lists_.parts.bytes();
  }

 private:
  /// Entries behind the panels: bulk copies read up to the next multiple of 16 bytes.
  static constexpr std::int64_t tail = 16 / static_cast<std::int64_t>(sizeof(Scalar));

  std::int64_t columns_;  ///< of all supernodes
  std::int64_t entries_;  ///< of all panels
  buffer<Scalar> panels_;
  device_values<Scalar, Executor> diagonal_;
  buffer<block_norms<real>> norms_;
  buffer<std::int64_t> first_grown_;
  part_lists lists_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
