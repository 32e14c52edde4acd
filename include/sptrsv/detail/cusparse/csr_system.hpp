// SPDX-License-Identifier: Apache-2.0
// The system in the form that cuSPARSE takes: a CSR matrix, one of its triangles, and an operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/cusparse/cusparse_kernels.hpp"

namespace sptrsv::detail::cusparse {

/// A CSR matrix on the device and how the system is stored in it.
template <class Index, class Offset>
struct csr_system {
  std::int64_t size = 0;
  std::int64_t entries = 0;      ///< number of stored entries
  std::int64_t longest_row = 0;  ///< 0: not known
  bool upper = false;            ///< true: the system is the upper triangle of the stored matrix
  bool unit = false;
  bool transposed = false;         ///< the system is the transpose of the stored matrix
  bool conjugated = false;         ///< ... and its conjugate (only if transposed)
  bool conjugated_values = false;  ///< the stored values are the conjugates of A's values
  buffer<Offset> offsets;          ///< by row, size + 1
  buffer<Index> indices;           ///< by stored entry: its column
  /// By stored entry: its index in A. Empty: the stored entries are those of A, in A's order.
  buffer<Offset> sources;

  [[nodiscard]] std::size_t bytes() const { return offsets.bytes() + indices.bytes() + sources.bytes(); }

  /// Writes the values of the stored entries to `values`. `stored` are A's values.
  template <class Scalar, class Executor>
  void take_values(const Scalar* stored, const buffer<Scalar>& values, const Executor& on) const {
    if (sources.size() > 0) {
      simt::for_each(on, entries,
                     triangle_kernels::gather_values<Scalar, Offset>{stored, sources.data(), values.data(),
                                                                     conjugated_values});
    } else if (conjugated_values && is_complex_v<Scalar>) {
      simt::for_each(on, entries, write_conjugated<Scalar>{stored, values.data()});
    } else {
      on.copy(values.data(), stored, values.bytes());
    }
  }

  /// Returns the index of the stored diagonal entry of `row`; -1 if there is none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t find_diagonal(std::int64_t row, const Executor& on) const {
    const std::vector<Offset> range = download_array(offsets.data() + row, 2, on);
    const std::vector<Index> of_row = download_array(indices.data() + range[0], range[1] - range[0], on);
    const auto found = std::find(of_row.begin(), of_row.end(), static_cast<Index>(row));
    return found == of_row.end() ? -1 : static_cast<std::int64_t>(range[0]) + (found - of_row.begin());
  }
};

/// Copies A's arrays, unchecked. The CSC arrays of A are the CSR arrays of its transpose.
template <class Index, class Offset, class Executor>
csr_system<Index, Offset> copy_as_stored(const pattern_view<Index, Offset>& a, const triangle_form& form,
                                         const Executor& on, memory_resource& resource) {
  csr_system<Index, Offset> s;
  s.size = a.size;
  s.entries = a.entries;
  // A transposed system is the other triangle of the stored matrix.
  s.upper = form.reversed != form.transposed;
  s.unit = form.unit;
  s.transposed = form.transposed;
  s.conjugated = form.transposed && form.conjugated;
  s.conjugated_values = !form.transposed && form.conjugated;
  if (a.size > 0) {
    s.offsets = make_buffer<Offset>(a.size + 1, on, resource);
    s.indices = make_buffer<Index>(a.entries, on, resource);
    on.copy(s.offsets.data(), a.offsets, s.offsets.bytes());
    on.copy(s.indices.data(), a.indices, s.indices.bytes());
  }
  return s;
}

/// Returns the rows of op(T), checked and sorted, without the other entries of A. So cuSPARSE never
/// transposes or skips entries.
template <class Index, class Offset, class Executor>
csr_system<Index, Offset> rows_of_system(const pattern_view<Index, Offset>& a, const triangle_form& form,
                                         const Executor& on, memory_resource& resource) {
  const device_triangle<Index, Offset> triangle = build_on_device(a, form, on, resource);
  csr_system<Index, Offset> s;
  s.size = a.size;
  s.entries = triangle.entries() + (form.unit ? 0 : a.size);
  s.longest_row = triangle.longest_row;
  s.upper = form.reversed;
  s.unit = form.unit;
  s.conjugated_values = form.conjugated;
  if (a.size > 0) {
    s.offsets = make_buffer<Offset>(a.size + 1, on, resource);
    s.indices = make_buffer<Index>(s.entries, on, resource);
    s.sources = make_buffer<Offset>(s.entries, on, resource);
    const row_writer<Index, Offset> to{s.size,
                                       s.entries,
                                       form.reversed,
                                       triangle.row_offsets.data(),
                                       triangle.columns.data(),
                                       triangle.sources.data(),
                                       triangle.diagonal_sources.data(),
                                       s.offsets.data(),
                                       s.indices.data(),
                                       s.sources.data()};
    simt::for_each(on, s.size + 1, write_rows<Index, Offset>{to});
    simt::for_each(on, triangle.entries(), write_entries<Index, Offset>{to});
  }
  return s;
}

}  // namespace sptrsv::detail::cusparse
