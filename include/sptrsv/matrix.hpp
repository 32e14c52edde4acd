// Sparse matrices in compressed form: non-owning views, the owning types, and conversions between them.
//
// `Index` holds row and column numbers, `Offset` positions among the entries: 64-bit offsets with 32-bit
// indices serve matrices with more than 2^31 entries. Rows and columns count from 0; the entries of a row
// (column) may stand in any order.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "sptrsv/error.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv {

/// Non-owning view of a matrix in compressed sparse rows; trivially copyable. The arrays live on the host or
/// on the device, all in one place; each function says where it needs them.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct csr_view {
  using view_type = csr_view;
  using value_type = Value;
  using index_type = Index;
  using offset_type = Offset;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  const Offset* row_offsets = nullptr;    ///< rows + 1, from 0 to `entries`
  const Index* column_indices = nullptr;  ///< entries
  const Value* values = nullptr;          ///< entries
};

/// Non-owning view of a matrix in compressed sparse columns; see csr_view.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct csc_view {
  using view_type = csc_view;
  using value_type = Value;
  using index_type = Index;
  using offset_type = Offset;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  const Offset* column_offsets = nullptr;  ///< columns + 1, from 0 to `entries`
  const Index* row_indices = nullptr;      ///< entries
  const Value* values = nullptr;           ///< entries
};

/// Storage of an owning matrix on the host. Its twin on the device is `device_storage` (device_matrix.hpp).
struct host_storage {
  template <class T>
  using array = std::vector<T>;
};

/// A matrix in compressed sparse rows that owns its arrays; converts to a view of them.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct csr_matrix {
  using view_type = csr_view<Value, Index, Offset>;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  typename Storage::template array<Offset> row_offsets;
  typename Storage::template array<Index> column_indices;
  typename Storage::template array<Value> values;

  [[nodiscard]] view_type view() const noexcept {
    return {rows,
            columns,
            static_cast<std::int64_t>(values.size()),
            row_offsets.data(),
            column_indices.data(),
            values.data()};
  }
  operator view_type() const noexcept { return view(); }
};

/// A matrix in compressed sparse columns that owns its arrays; converts to a view of them.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct csc_matrix {
  using view_type = csc_view<Value, Index, Offset>;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  typename Storage::template array<Offset> column_offsets;
  typename Storage::template array<Index> row_indices;
  typename Storage::template array<Value> values;

  [[nodiscard]] view_type view() const noexcept {
    return {rows,
            columns,
            static_cast<std::int64_t>(values.size()),
            column_offsets.data(),
            row_indices.data(),
            values.data()};
  }
  operator view_type() const noexcept { return view(); }
};

namespace detail {

/// Groups entries by a key in [0, groups), keeping their order within a group (counting sort): writes the
/// groups' offsets and returns, for each place in the grouped order, the entry that stands there.
template <class Offset, class Index>
std::vector<Offset> group_entries(const Index* keys, std::size_t entries, std::int64_t groups,
                                  std::vector<Offset>& offsets) {
  offsets.assign(static_cast<std::size_t>(groups) + 1, Offset{0});
  for (std::size_t e = 0; e < entries; ++e) {
    ++offsets[static_cast<std::size_t>(keys[e]) + 1];
  }
  for (std::size_t g = 1; g < offsets.size(); ++g) {
    offsets[g] += offsets[g - 1];
  }
  std::vector<Offset> cursor(offsets.begin(), offsets.end() - 1);
  std::vector<Offset> order(entries);
  for (std::size_t e = 0; e < entries; ++e) {
    order[static_cast<std::size_t>(cursor[static_cast<std::size_t>(keys[e])]++)] = static_cast<Offset>(e);
  }
  return order;
}

/// The other compression of the same entries: `major_count` offsets in, `minor_count` offsets out. Entries of
/// each new group ascend. The input must be valid (analyze() says what that means).
template <class Value, class Index, class Offset>
void recompress(std::int64_t major_count, std::int64_t minor_count, const Offset* offsets,
                const Index* indices, const Value* values, std::vector<Offset>& new_offsets,
                std::vector<Index>& new_indices, std::vector<Value>& new_values) {
  const auto entries = static_cast<std::size_t>(offsets[major_count]);
  std::vector<Index> major(entries);
  for (std::int64_t m = 0; m < major_count; ++m) {
    for (Offset e = offsets[m]; e < offsets[m + 1]; ++e) {
      major[static_cast<std::size_t>(e)] = static_cast<Index>(m);
    }
  }
  const std::vector<Offset> order = group_entries(indices, entries, minor_count, new_offsets);
  new_indices.resize(entries);
  new_values.resize(entries);
  for (std::size_t e = 0; e < entries; ++e) {
    new_indices[e] = major[static_cast<std::size_t>(order[e])];
    new_values[e] = values[order[e]];
  }
}

}  // namespace detail

/// The same matrix by columns; host memory, one core.
template <class Value, class Index, class Offset>
csc_matrix<Value, Index, Offset> to_csc(const csr_view<Value, Index, Offset>& a) {
  csc_matrix<Value, Index, Offset> result{a.rows, a.columns, {}, {}, {}};
  detail::recompress(a.rows, a.columns, a.row_offsets, a.column_indices, a.values, result.column_offsets,
                     result.row_indices, result.values);
  return result;
}
template <class Value, class Index, class Offset>
csc_matrix<Value, Index, Offset> to_csc(const csr_matrix<Value, Index, Offset>& a) {
  return to_csc(a.view());
}

/// The same matrix by rows; host memory, one core.
template <class Value, class Index, class Offset>
csr_matrix<Value, Index, Offset> to_csr(const csc_view<Value, Index, Offset>& a) {
  csr_matrix<Value, Index, Offset> result{a.rows, a.columns, {}, {}, {}};
  detail::recompress(a.columns, a.rows, a.column_offsets, a.row_indices, a.values, result.row_offsets,
                     result.column_indices, result.values);
  return result;
}
template <class Value, class Index, class Offset>
csr_matrix<Value, Index, Offset> to_csr(const csc_matrix<Value, Index, Offset>& a) {
  return to_csr(a.view());
}

/// Rows from a list of entries (row, column, value), in any order; host memory. Entries of a row keep the
/// order of the list, and entries given twice stay two. Throws where an index is out of range.
template <class Offset, class Value, class Index>
csr_matrix<Value, Index, Offset> make_csr(std::int64_t rows, std::int64_t columns,
                                          const std::vector<Index>& row_indices,
                                          const std::vector<Index>& column_indices,
                                          const std::vector<Value>& values) {
  const std::size_t entries = values.size();
  SPTRSV_EXPECTS(row_indices.size() == entries && column_indices.size() == entries, errc::size_mismatch,
                 "the three arrays of a coordinate matrix have different sizes");
  for (std::size_t e = 0; e < entries; ++e) {
    SPTRSV_EXPECTS(
        row_indices[e] >= 0 && row_indices[e] < rows && column_indices[e] >= 0 && column_indices[e] < columns,
        errc::index_out_of_range, "entry " + std::to_string(e) + " lies outside the matrix");
  }
  csr_matrix<Value, Index, Offset> result{rows, columns, {}, {}, {}};
  const std::vector<Offset> order =
      detail::group_entries(row_indices.data(), entries, rows, result.row_offsets);
  result.column_indices.reserve(entries);
  result.values.reserve(entries);
  for (const Offset e : order) {
    result.column_indices.push_back(column_indices[static_cast<std::size_t>(e)]);
    result.values.push_back(values[static_cast<std::size_t>(e)]);
  }
  return result;
}

}  // namespace sptrsv
