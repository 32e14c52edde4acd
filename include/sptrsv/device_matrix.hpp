// SPDX-License-Identifier: Apache-2.0
// Owning matrices in device memory, transfers, and the conversions between CSR and CSC, and from BSR to CSR,
// on the device.
//
// `Stream` is cudaStream_t in a translation unit that nvcc compiles. Every function allocates from
// `resource`, which must outlive the result (null: the default of the stream's device). Arrays are given back
// on the stream that they were allocated on, which must still exist then. All functions throw `error` with
// errc::out_of_memory or errc::cuda_error; those that take a matrix also with errc::invalid_argument for
// sizes that are negative or do not fit the types and for null pointers, errc::size_mismatch and
// errc::wrong_memory_space.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/conversions.hpp"
#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/solver.hpp"
#include "sptrsv/supernodal_matrix.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Storage of an owning matrix in device memory.
struct device_storage {
  /// Type of the arrays.
  template <class T>
  using array = buffer<T>;
};

/// Matrix in compressed sparse rows in device memory.
template <class Value, class Index = std::int32_t, class Offset = Index>
using device_csr_matrix = csr_matrix<Value, Index, Offset, device_storage>;
/// Matrix in compressed sparse columns in device memory.
template <class Value, class Index = std::int32_t, class Offset = Index>
using device_csc_matrix = csc_matrix<Value, Index, Offset, device_storage>;
/// Matrix of square blocks in compressed sparse rows of blocks in device memory.
template <class Value, class Index = std::int32_t, class Offset = Index>
using device_bsr_matrix = bsr_matrix<Value, Index, Offset, device_storage>;
/// Lower triangle in supernodal panels in device memory.
template <class Value, class Index = std::int32_t, class Offset = Index>
using device_supernodal_matrix = supernodal_matrix<Value, Index, Offset, device_storage>;

namespace detail {

/// Returns the number of offsets of `majors` rows; a matrix of size 0 may have no array of offsets.
inline std::int64_t offset_count(std::int64_t majors, const void* offsets) {
  return offsets == nullptr ? 0 : majors + 1;
}

/// The type of the device matrix with the arrays of a view by rows or by columns. Declared only.
template <class Value, class Index, class Offset>
device_csr_matrix<Value, Index, Offset> on_device(const csr_view<Value, Index, Offset>& a);
template <class Value, class Index, class Offset>
device_csc_matrix<Value, Index, Offset> on_device(const csc_view<Value, Index, Offset>& a);
template <class Value, class Index, class Offset>
device_bsr_matrix<Value, Index, Offset> on_device(const bsr_view<Value, Index, Offset>& a);

/// Gives a matrix the size and the order of the blocks of another one, if it is one of blocks.
template <class To, class From>
To with_blocks_of([[maybe_unused]] const From& from, To to) {
  if constexpr (is_block_view<typename To::view_type>) {
    to.block_size = from.block_size;
    to.order = from.order;
  }
  return to;
}

/// Returns a copy of a host matrix in device memory.
template <class View, class Executor>
auto copied_to_device(const View& a, const Executor& on, memory_resource& resource)
    -> decltype(on_device(a)) {
  check_arrays<host_executor>(a, "to_device");
  const auto pattern = pattern_of(a);
  return with_blocks_of<decltype(on_device(a))>(
      a, {a.rows, a.columns,
          upload_array(pattern.offsets, offset_count(pattern.size, pattern.offsets), on, resource),
          upload_array(pattern.indices, pattern.entries, on, resource),
          upload_array(a.values, a.entries, on, resource)});
}
template <class Value, class Index, class Offset, class Executor>
device_supernodal_matrix<Value, Index, Offset> copied_to_device(
    const supernodal_view<Value, Index, Offset>& a, const Executor& on, memory_resource& resource) {
  const auto pattern = pattern_of(a);
  check_shape<Value>(a.rows, a.columns, pattern, system_options{});
  check_spaces<host_executor>(pattern, "to_device");
  check_space<host_executor>(a.values, a.entries, "the array of values", "to_device");
  const std::int64_t offsets = offset_count(a.supernodes, a.first_columns);
  return {a.rows,
          upload_array(a.first_columns, offsets, on, resource),
          upload_array(a.row_offsets, offsets, on, resource),
          upload_array(a.row_indices, a.panel_rows, on, resource),
          upload_array(a.value_offsets, offsets, on, resource),
          upload_array(a.values, a.entries, on, resource)};
}

/// Returns the matrix in the other storage, on the device; see detail::recompressed. Only enqueues.
template <class Result, class View, class Stream>
Result recompressed_on_device(const View& a, std::int64_t minors, const char* taker, Stream stream,
                              memory_resource* given) {
  using index = typename View::index_type;
  using offset = typename View::offset_type;
  using value = typename View::value_type;
  const executor_t<Stream> on(stream);
  memory_resource& resource = resource_or_default(given, on);
  check_arrays<executor_t<Stream>>(a, taker);
  const auto pattern = pattern_of(a);
  auto offsets = make_buffer<offset>(minors + 1, on, resource);
  const auto order = sort_by_column(pattern.indices, a.entries, minors, offsets.data(), on, resource);
  Result made{a.rows, a.columns, std::move(offsets), make_buffer<index>(a.entries, on, resource),
              make_buffer<value>(a.entries, on, resource)};
  auto& [rows, columns, of_minors, indices, values] = made;
  simt::for_each(on, a.entries,
                 take_rows<index, offset, scalar_t<value>>{pattern.size, order.data(), pattern.offsets,
                                                           as_scalar(a.values), indices.data(),
                                                           as_scalar(values.data())});
  return made;
}

}  // namespace detail

/// Returns a copy of a host matrix in device memory: a device_csr_matrix, device_csc_matrix,
/// device_bsr_matrix or device_supernodal_matrix. The host arrays may be freed when the call returns: it
/// synchronises `stream`, unless all arrays are so short that they are passed as kernel arguments.
///
/// @param a csr_view, csc_view, bsr_view, supernodal_view or owning matrix in host memory.
/// @param stream, resource see the top of this header.
template <class Matrix, class Stream = stream_handle, class View = typename Matrix::view_type>
auto to_device(const Matrix& a, Stream stream = {}, memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  return detail::copied_to_device(detail::view_of(a), on, detail::resource_or_default(resource, on));
}

/// Returns a copy of a host vector in device memory. The vector may be freed when the call returns, as for
/// matrices.
template <class T, class Stream = stream_handle>
buffer<T> to_device(const std::vector<T>& v, Stream stream = {}, memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  return detail::upload(v, on, detail::resource_or_default(resource, on));
}

/// Returns a copy of a device array in host memory. Synchronises `stream`.
template <class T, class Stream = stream_handle>
std::vector<T> to_host(const buffer<T>& v, Stream stream = {}) {
  return detail::download_array(v, detail::executor_t<Stream>(stream));
}

/// Returns a copy of a device matrix by rows, by columns or of blocks in host memory. Synchronises `stream`.
template <template <class, class, class, class> class Matrix, class Value, class Index, class Offset,
          class Stream = stream_handle>
Matrix<Value, Index, Offset, host_storage> to_host(const Matrix<Value, Index, Offset, device_storage>& a,
                                                   Stream stream = {}) {
  const detail::executor_t<Stream> on(stream);
  const auto pattern = detail::pattern_of(a.view());
  return detail::with_blocks_of<Matrix<Value, Index, Offset, host_storage>>(
      a,
      {a.rows, a.columns,
       detail::download_array(pattern.offsets, detail::offset_count(pattern.size, pattern.offsets), on),
       detail::download_array(pattern.indices, pattern.entries, on), detail::download_array(a.values, on)});
}

/// Returns the matrix by columns, in device memory; the entries of a column are in the order of rows. Only
/// enqueues. The matrix must be valid: offsets from 0 to the number of entries that never decrease, and
/// indices in range.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csc_matrix<Value, Index, Offset> to_csc(const device_csr_matrix<Value, Index, Offset>& a,
                                               Stream stream = {}, memory_resource* resource = nullptr) {
  return detail::recompressed_on_device<device_csc_matrix<Value, Index, Offset>>(a.view(), a.columns,
                                                                                 "to_csc", stream, resource);
}

/// Returns the matrix by rows, in device memory; the entries of a row are in the order of columns. Otherwise
/// as to_csc.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csr_matrix<Value, Index, Offset> to_csr(const device_csc_matrix<Value, Index, Offset>& a,
                                               Stream stream = {}, memory_resource* resource = nullptr) {
  return detail::recompressed_on_device<device_csr_matrix<Value, Index, Offset>>(a.view(), a.rows, "to_csr",
                                                                                 stream, resource);
}

/// Returns the matrix by single rows, in device memory, all values of the blocks included; the entries of a
/// row are in the order of the blocks. Otherwise as to_csc.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csr_matrix<Value, Index, Offset> to_csr(const device_bsr_matrix<Value, Index, Offset>& a,
                                               Stream stream = {}, memory_resource* resource = nullptr) {
  const auto view = a.view();
  const detail::executor_t<Stream> on(stream);
  memory_resource& memory = detail::resource_or_default(resource, on);
  device_csr_matrix<Value, Index, Offset> made{
      a.rows, a.columns, detail::make_buffer<Offset>(a.rows > 0 ? a.rows + 1 : 0, on, memory),
      detail::make_buffer<Index>(view.entries, on, memory),
      detail::make_buffer<Value>(view.entries, on, memory)};
  detail::expand_into(view, "to_csr", on, memory, made.row_offsets, made.column_indices, made.values);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI
