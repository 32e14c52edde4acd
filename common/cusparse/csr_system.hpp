// The system in the form that cuSPARSE takes: a CSR matrix, one of its triangles, and an operation; and the
// kernels around cuSPARSE, one thread per element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv_common::cusparse {

using namespace sptrsv;  // the baseline is made of the library's parts
using namespace sptrsv::detail;

/// No substitution index is that large, and a memset by bytes writes it.
inline constexpr unsigned char all_finite_byte = 0x7f;
inline constexpr std::int64_t all_finite = 0x7f7f7f7f7f7f7f7f;

/// Converts a strictly lower triangle in the order of substitution to a CSR matrix with rows in natural
/// order, ascending columns and the diagonal. If substitution starts at the last row, the order of all
/// entries is reversed.
template <class Index, class Offset>
struct row_writer {
  std::int64_t size;
  std::int64_t entries;            ///< number of entries with the diagonal
  bool reversed;                   ///< true if substitution starts at the last row
  const Offset* row_offsets;       ///< by substitution index, size + 1
  const Index* columns;            ///< by entry of the triangle
  const Offset* entry_sources;     ///< by entry of the triangle
  const Offset* diagonal_sources;  ///< by substitution index; null if the diagonal is unit
  Offset* offsets;                 ///< output by row, size + 1
  Index* indices;                  ///< output by slot
  Offset* sources;                 ///< output by slot

  /// Returns the slot of entry `k` of the strict triangle, which has `diagonals` diagonal entries before it.
  SPTRSV_HOST_DEVICE std::int64_t slot(std::int64_t k, std::int64_t diagonals) const {
    const std::int64_t forwards = k + (diagonal_sources != nullptr ? diagonals : 0);
    return reversed ? entries - 1 - forwards : forwards;
  }
};

/// Writes the offset and the diagonal entry of each row. Runs once per row and once for the end.
template <class Index, class Offset>
struct write_rows {
  row_writer<Index, Offset> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    // Rows before this row; if reversed, rows from it on.
    const std::int64_t begin = to.reversed ? to.size - row : row;
    const std::int64_t before = ctx.load_constant(to.row_offsets + begin);
    const std::int64_t forwards = to.slot(before, begin);
    ctx.store(to.offsets + row, static_cast<Offset>(to.reversed ? forwards + 1 : forwards));
    if (to.diagonal_sources != nullptr && row < to.size) {
      const std::int64_t substitution_index = to.reversed ? begin - 1 : row;
      const std::int64_t slot =
          to.slot(ctx.load_constant(to.row_offsets + substitution_index + 1), substitution_index);
      ctx.store(to.indices + slot, static_cast<Index>(row));
      ctx.store(to.sources + slot, ctx.load_constant(to.diagonal_sources + substitution_index));
    }
  }
};

/// Writes the entries of the strict triangle. Runs once per entry.
template <class Index, class Offset>
struct write_entries {
  row_writer<Index, Offset> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t slot = to.slot(k, triangle_kernels::major_of(ctx, to.row_offsets, to.size, k));
    const Index column = ctx.load_constant(to.columns + k);
    ctx.store(to.indices + slot, to.reversed ? static_cast<Index>(to.size - 1 - column) : column);
    ctx.store(to.sources + slot, ctx.load_constant(to.entry_sources + k));
  }
};

/// Copies the conjugates of the values.
template <class Scalar>
struct write_conjugated {
  const Scalar* from;
  Scalar* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    ctx.store(to + k, conjugate(ctx.load_constant(from + k)));
  }
};

/// Copies a dense matrix, scaled by alpha if `scaled`. Runs once per element; `from` may be `to`.
template <class Scalar>
struct copy_dense {
  dense_view<const Scalar> from;
  dense_view<Scalar> to;
  bool scaled;
  Scalar alpha;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t row = k % from.rows;
    const std::int64_t column = k / from.rows;
    const Scalar v = ctx.load(from.data + row * from.row_stride + column * from.column_stride);
    ctx.store(to.data + row * to.row_stride + column * to.column_stride, scaled ? alpha * v : v);
  }
};

/// Finds the smallest substitution index at which x is not finite. Runs once per element of x.
template <class Scalar>
struct find_nonfinite {
  dense_view<const Scalar> x;
  bool reversed;
  std::int64_t* first_nonfinite;  ///< must be all_finite before

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t row = k % x.rows;
    if (!is_finite(ctx.load(x.data + row * x.row_stride + k / x.rows * x.column_stride))) {
      ctx.atomic_min(first_nonfinite, reversed ? x.rows - 1 - row : row);
    }
  }
};

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

}  // namespace sptrsv_common::cusparse
