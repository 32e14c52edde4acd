// What the analysis of both triangles of a matrix finds for each of them before either is planned.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/search_result.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_choice.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::detail::dataflow {

/// Rows that are laid out for the partitioned path, in scratch memory; the planner knows the type.
struct prepared_layout {
  prepared_layout() = default;
  prepared_layout(const prepared_layout&) = delete;
  prepared_layout& operator=(const prepared_layout&) = delete;
  virtual ~prepared_layout() = default;
};

/// A triangle with its levels, in scratch memory, and what is known of its plan.
template <class Index, class Offset>
struct prepared_triangle : triangle_with_levels<Index, Offset> {
  /// The triangle with long rows split, if there are any; then the levels are of these rows.
  std::optional<split_triangle<Index, Offset>> split;
  /// The result of the search for the partitioned path; empty: the path has not been searched.
  std::optional<partitioned::search_result> search;
  /// The order of the rows for the row_per_thread path; empty: it has not been made. The number of slots is
  /// in `search`.
  std::optional<row_per_thread::row_order<Index, Offset>> order;
  /// The rows as the partitioned path lays them out for the shape of `search`; null: they have not been laid
  /// out.
  std::unique_ptr<prepared_layout> layout;
  /// The schedule of the single_block path; empty: it has not been made.
  std::optional<single_block::planned_schedule> schedule;

  /// Returns the bytes that the solver will keep.
  [[nodiscard]] std::size_t kept_bytes() const {
    return order ? order->levels.level_offsets.bytes() + order->levels.rows.bytes() + order->gates.bytes() +
                       order->slices.bytes()
                 : 0;
  }
  /// Returns the triangle that is solved.
  [[nodiscard]] const device_triangle<Index, Offset>& rows() const {
    return split ? split->triangle : this->triangle;
  }
};

}  // namespace sptrsv::detail::dataflow
