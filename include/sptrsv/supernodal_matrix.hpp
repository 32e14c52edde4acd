// SPDX-License-Identifier: Apache-2.0
// Lower triangles in supernodal panels, as direct solvers hold their factors: a view and the owning type.
// policy::supernodal takes them besides compressed matrices.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/panel_pattern.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Non-owning view of a lower triangle whose columns are grouped in supernodes: runs of columns that are
/// stored with the same rows, as a dense panel. Trivially copyable.
///
/// The panel of supernode s has the columns first_columns[s] ... first_columns[s + 1] - 1 and the rows
/// row_indices[row_offsets[s]] ... row_indices[row_offsets[s + 1] - 1]. Its own columns are the first of
/// these rows, and the others ascend. It is a column-major matrix that starts at values[value_offsets[s]],
/// and its leading dimension is the number of its rows. Values above the diagonal are ignored. These are the
/// arrays `super`, `pi`, `px`, `s` and `x` of a supernodal cholmod_factor.
///
/// The arrays are all in host memory or all in device memory: each function says which it needs. They must
/// outlive the use of the view.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct supernodal_view {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = supernodal_view;  ///< the view itself
  using value_type = Value;           ///< type of values
  using index_type = Index;           ///< type of indices
  using offset_type = Offset;         ///< type of offsets

  std::int64_t rows = 0;                 ///< number of rows
  std::int64_t columns = 0;              ///< number of columns; must be `rows`
  std::int64_t supernodes = 0;           ///< number of supernodes
  std::int64_t panel_rows = 0;           ///< number of rows of all panels together
  std::int64_t entries = 0;              ///< number of elements of `values`
  const Index* first_columns = nullptr;  ///< first column of each supernode; supernodes + 1 elements
  const Offset* row_offsets = nullptr;  ///< first row of each panel in `row_indices`; supernodes + 1 elements
  const Index* row_indices = nullptr;   ///< rows of the panels; `panel_rows` elements
  const Offset* value_offsets = nullptr;  ///< first value of each panel; supernodes + 1 elements
  const Value* values = nullptr;          ///< the panels; `entries` elements
};

/// Lower triangle in supernodal panels that owns its arrays. Converts to a supernodal_view.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct supernodal_matrix {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = supernodal_view<Value, Index, Offset>;  ///< type of the view

  std::int64_t rows = 0;                                   ///< number of rows and of columns
  typename Storage::template array<Index> first_columns;   ///< see supernodal_view
  typename Storage::template array<Offset> row_offsets;    ///< see supernodal_view
  typename Storage::template array<Index> row_indices;     ///< see supernodal_view
  typename Storage::template array<Offset> value_offsets;  ///< see supernodal_view
  typename Storage::template array<Value> values;          ///< see supernodal_view

  /// Returns a view of the arrays, valid as long as they are. Throws error with errc::size_mismatch if there
  /// are not as many row offsets and value offsets as first columns, or if there are rows and no first
  /// columns.
  [[nodiscard]] view_type view() const {
    SPTRSV_EXPECTS(row_offsets.size() == first_columns.size() && value_offsets.size() == first_columns.size(),
                   errc::size_mismatch, "the matrix has ", first_columns.size(), " first columns, ",
                   row_offsets.size(), " row offsets and ", value_offsets.size(),
                   " value offsets: there must be one more of each than supernodes");
    SPTRSV_EXPECTS(rows == 0 || first_columns.size() > 0, errc::size_mismatch, "the matrix has ", rows,
                   " rows and no first columns");
    const auto supernodes = static_cast<std::int64_t>(first_columns.size());
    return {rows,
            rows,
            supernodes > 0 ? supernodes - 1 : 0,
            static_cast<std::int64_t>(row_indices.size()),
            static_cast<std::int64_t>(values.size()),
            first_columns.data(),
            row_offsets.data(),
            row_indices.data(),
            value_offsets.data(),
            values.data()};
  }
  /// Returns view().
  operator view_type() const { return view(); }
};

namespace detail {

template <class Value, class Index, class Offset>
panel_pattern<Index, Offset> pattern_of(const supernodal_view<Value, Index, Offset>& a) {
  return {a.rows,          a.supernodes,  a.panel_rows,  a.entries,
          a.first_columns, a.row_offsets, a.row_indices, a.value_offsets};
}

}  // namespace detail

}  // namespace sptrsv::SPTRSV_ABI
