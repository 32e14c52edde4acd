// SPDX-License-Identifier: Apache-2.0
// Builds the hybrid path for a chosen cut.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sptrsv/detail/dataflow/hybrid/hybrid_path.hpp"
#include "sptrsv/detail/levels/cut_levels.hpp"

namespace sptrsv::detail::dataflow::hybrid {

/// Builds the hybrid path of the two halves of a triangle.
template <class First, class Rest, class Index, class Offset, class Executor>
class builder {
 public:
  using path_type = path<First, typename Rest::path_type>;

  /// `rest`: the builder of the partitioned path of the rest. `stored`: the pattern of the whole matrix.
  builder(Rest& rest, const pattern_view<Index, Offset>& stored, const triangle_form& form,
          std::int64_t max_rhs, const Executor& on, const analysis_memory& memory)
      : rest_(rest), stored_(stored), form_(form), max_rhs_(max_rhs), on_(on), memory_(memory) {}

  /// Returns the path of the halves of `split`, whose sources are not moved yet. `order`: of the rows of the
  /// first half. Frees the triangle. Returns nothing if the packed slices of the rest are too large.
  std::optional<path_type> build(split_triangle<Index, Offset>& split, cut_triangle<Index, Offset> halves,
                                 typename First::row_order order) {
    split.triangle.columns = {};
    take_sources(halves.first, split.triangle, on_, memory_.scratch);
    take_sources(halves.rest, split.triangle, on_, memory_.scratch);
    split = {};
    device_triangle<Index, Offset>& rest_triangle = halves.rest.split.triangle;
    if (!rest_.lay_out(halves.rest.split, halves.rest.levels)) {
      return {};
    }
    rest_triangle.columns = {};
    halves.first.levels = {};
    halves.rest.levels = {};
    renumber_columns_before_cut(rest_.columns(), rest_triangle.size, order.levels.solve_indices);
    First first(std::move(halves.first.split), stored_.size, max_rhs_, std::move(order), form_, on_, memory_);
    return path_type(std::move(first), rest_.pack(halves.rest.split, stored_, max_rhs_, form_, memory_.kept));
  }

 private:
  /// Replaces the columns before the cut, see cut_triangle, by their solve indices. `columns`: of the rest,
  /// which has `rest_size` rows; `solve_indices`: of the rows before the cut.
  void renumber_columns_before_cut(const buffer<Index>& columns, std::int64_t rest_size,
                                   const buffer<Index>& solve_indices) const {
    simt::for_each(on_, static_cast<std::int64_t>(columns.size()),
                   renumber_first_columns<Index>{rest_size, solve_indices.data(), columns.data()});
  }

  Rest& rest_;
  const pattern_view<Index, Offset>& stored_;
  const triangle_form& form_;
  std::int64_t max_rhs_;
  const Executor& on_;
  const analysis_memory& memory_;
};

}  // namespace sptrsv::detail::dataflow::hybrid
