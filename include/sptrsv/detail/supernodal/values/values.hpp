// The values of a plan: panels, diagonal, and the growth of the inverses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/supernodal/analysis/structure.hpp"
#include "sptrsv/detail/supernodal/values/invert_agent.hpp"
#include "sptrsv/detail/supernodal/values/narrow_agent.hpp"
#include "sptrsv/detail/supernodal/values/product_agent.hpp"

namespace sptrsv::detail::supernodal {

/// Computes the pivots of the columns of C. Runs once per column.
template <class Scalar, class Index, class Offset>
struct gather_pivots {
  stored_values<Scalar, Index, Offset> stored;
  Scalar* pivots;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    ctx.store(pivots + column, stored.pivot(ctx, column));
  }
};

/// The parts of the panels of wide supernodes that blocks compute.
struct wide_parts {
  std::vector<panel_part> columns;  ///< see invert_agent
  std::vector<panel_part> rows;     ///< see product_agent
};

/// Returns the parts of the supernodes with more than `narrow` columns, the widest first: `side` columns of a
/// diagonal block, and `rows` rows of a panel, of which at least one is below it.
template <class Index>
wide_parts list_wide_parts(const supernode_tree<Index>& tree, std::int64_t narrow, std::int64_t side,
                           std::int64_t rows) {
  // A counting sort. Of each width: first the number of parts of wider supernodes, then where the next one
  // goes.
  std::vector<std::int64_t> columns_before;
  std::vector<std::int64_t> rows_before;
  const auto for_each_wide = [&](const auto& use) {
    for (std::int64_t s = 0; s < tree.count(); ++s) {
      const std::int64_t k = tree.columns(s);
      if (k > narrow) {
        use(s, k, static_cast<std::size_t>(k));
      }
    }
  };
  for_each_wide([&](std::int64_t s, std::int64_t k, std::size_t width) {
    SPTRSV_EXPECTS(k + tree.rows(s) <= std::numeric_limits<std::int32_t>::max(), errc::unsupported,
                   "a supernode of " + std::to_string(k) + " columns has more than 2^31 - 1 rows");
    if (width >= columns_before.size()) {
      columns_before.resize(width + 1);
      rows_before.resize(width + 1);
    }
    columns_before[width] += (k + side - 1) / side;
    rows_before[width] += (k + tree.rows(s) - k / rows * rows + rows - 1) / rows;
  });
  std::int64_t column_parts = 0;
  std::int64_t row_parts = 0;
  for (std::size_t width = columns_before.size(); width-- > 0;) {
    column_parts += std::exchange(columns_before[width], column_parts);
    row_parts += std::exchange(rows_before[width], row_parts);
  }
  wide_parts parts{std::vector<panel_part>(static_cast<std::size_t>(column_parts)),
                   std::vector<panel_part>(static_cast<std::size_t>(row_parts))};
  for_each_wide([&](std::int64_t s, std::int64_t k, std::size_t width) {
    for (std::int64_t j = 0; j < k; j += side) {
      parts.columns[static_cast<std::size_t>(columns_before[width]++)] = {s, j};
    }
    for (std::int64_t i = k / rows * rows; i < k + tree.rows(s); i += rows) {
      parts.rows[static_cast<std::size_t>(rows_before[width]++)] = {s, i};
    }
  });
  return parts;
}

/// Owns the panels of a plan, and what update_values needs.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class panel_values {
  using real = real_t<Scalar>;
  using narrow = narrow_agent<Scalar, Index, Offset>;
  using invert = invert_agent<Tuning, Scalar, Index, Offset>;
  using product = product_agent<Tuning, Scalar, Index, Offset>;

 public:
  panel_values(const supernode_tree<Index>& tree, std::int64_t pivots, const Executor& on,
               memory_resource& resource)
      : columns_(tree.first.back()),
        entries_(tree.panel_begin.back()),
        panels_(make_buffer<Scalar>(entries_ + tail, on, resource)),
        diagonal_(0, pivots, on, resource),
        norms_(make_buffer<block_norms<real>>(tree.count(), on, resource)),
        first_grown_(make_buffer<std::int64_t>(1, on, resource)) {
    const wide_parts parts = list_wide_parts(tree, narrow::max_columns, invert::side, product::rows);
    column_parts_ = upload(parts.columns, on, resource);
    row_parts_ = upload(parts.rows, on, resource);
    on.fill_bytes(panels_.data() + entries_, 0, tail * sizeof(Scalar));
  }

  /// Computes the panels from the values of the stored matrix. `last`: see find_grown. Only enqueues.
  void update(const stored_values<Scalar, Index, Offset>& stored, const supernodes<Index>& of,
              const row_masks<Index>& masks, real max_growth, std::int64_t last, const Executor& on) {
    const stored_panels<Scalar, Index, Offset> from{of, masks, stored, diagonal_.diagonal()};
    if (diagonal_.diagonal() != nullptr) {
      simt::for_each(on, columns_, gather_pivots<Scalar, Index, Offset>{stored, diagonal_.diagonal()});
    }
    simt::for_each(on, of.count, start_norms<real>{norms_.data()});
    on.template launch<narrow>(simt::block_count(of.count, narrow::warps),
                               {from, panels_.data(), norms_.data()});
    const auto column_parts = static_cast<std::int64_t>(column_parts_.size());
    const auto row_parts = static_cast<std::int64_t>(row_parts_.size());
    if (column_parts > 0) {
      on.template launch<invert>(simt::block_count(column_parts, 1),
                                 {from, column_parts_.data(), panels_.data(), norms_.data()});
      for_each_by_tile<32>(on, column_parts * invert::side,
                           measure_inverses<Scalar, Index>{of, column_parts_.data(), invert::side,
                                                           panels_.data(), norms_.data()});
    }
    if (row_parts > 0) {
      on.template launch<product>(simt::block_count(row_parts, 1), {from, row_parts_.data(), panels_.data()});
    }
    on.fill_bytes(first_grown_.data(), 0x7f, first_grown_.bytes());
    simt::for_each(on, of.count,
                   find_grown<real, Index>{norms_.data(), of.first, max_growth, last, first_grown_.data()});
  }

  /// Returns the smallest substitution index of a supernode whose growth is too large; -1 if there is none.
  /// Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    std::int64_t first = 0;
    on.download(&first, first_grown_.data(), sizeof(first));
    return first < columns_ ? first : -1;
  }

  /// Returns the norms of all supernodes. Synchronises.
  [[nodiscard]] std::vector<block_norms<real>> norms(const Executor& on) const {
    std::vector<block_norms<real>> found(norms_.size());
    on.download(found.data(), norms_.data(), norms_.bytes());
    return found;
  }

  [[nodiscard]] const Scalar* panels() const { return panels_.data(); }
  [[nodiscard]] const device_values<Scalar, Executor>& diagonal() const { return diagonal_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] std::size_t bytes() const {
    return panels_.bytes() + diagonal_.bytes() + norms_.bytes() + first_grown_.bytes() +
           column_parts_.bytes() + row_parts_.bytes();
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
  buffer<panel_part> column_parts_;  ///< see wide_parts
  buffer<panel_part> row_parts_;
};

}  // namespace sptrsv::detail::supernodal
