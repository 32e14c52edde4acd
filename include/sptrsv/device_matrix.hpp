// Owning matrices in device memory, transfers, and the conversions between CSR and CSC on the device.
//
// `Stream` is cudaStream_t in a translation unit that nvcc compiles. Every function allocates from
// `resource`, which must outlive the result (null: the default of the stream's device). Arrays are given back
// on the stream that they were allocated on, which must still exist then. All functions throw `error` with
// errc::out_of_memory or errc::cuda_error; those that take a matrix also with errc::invalid_argument for
// sizes that are negative or do not fit the types and for null pointers, errc::size_mismatch and
// errc::wrong_memory_space.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/solver.hpp"
#include "sptrsv/supernodal_matrix.hpp"

namespace sptrsv {

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
/// Lower triangle in supernodal panels in device memory.
template <class Value, class Index = std::int32_t, class Offset = Index>
using device_supernodal_matrix = supernodal_matrix<Value, Index, Offset, device_storage>;

namespace detail {

/// Returns a copy in device memory of `count` elements.
template <class T, class Executor>
buffer<T> upload_array(const T* host, std::int64_t count, const Executor& on, memory_resource& resource) {
  auto made = make_buffer<T>(count, on, resource);
  on.upload(made.data(), host, made.bytes());
  return made;
}

/// Returns a copy in host memory of `count` elements. Synchronises.
template <class T, class Executor>
std::vector<T> download_array(const T* device, std::int64_t count, const Executor& on) {
  std::vector<T> made(static_cast<std::size_t>(count));
  on.download(made.data(), device, made.size() * sizeof(T));
  return made;
}

/// Returns the number of offsets of `majors` rows; a matrix of size 0 may have no array of offsets.
inline std::int64_t offset_count(std::int64_t majors, const void* offsets) {
  return offsets == nullptr ? 0 : majors + 1;
}

/// Returns the resource, or the default one for null.
template <class Executor>
memory_resource& resource_or_default(memory_resource* resource, const Executor& on) {
  return resource != nullptr ? *resource : on.default_resource();
}

/// For each entry: counts the entries of each minor index.
template <class Index, class Offset>
struct count_minor {
  const Index* indices;
  Offset* counts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    ctx.atomic_add(counts + ctx.load_constant(indices + e), Offset{1});
  }
};

/// For each entry of the new order: stores its major index and its value.
template <class Scalar, class Index, class Offset>
struct move_recompressed {
  std::int64_t majors;
  const Offset* offsets;
  const Scalar* values;
  const Offset* order;
  Index* new_indices;
  Scalar* new_values;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const Offset e = ctx.load_constant(order + k);
    const std::int64_t major = triangle_kernels::major_of(ctx, offsets, majors, static_cast<std::int64_t>(e));
    ctx.store(new_indices + k, static_cast<Index>(major));
    ctx.store(new_values + k, ctx.load_constant(values + e));
  }
};

/// Compresses the same entries by the other dimension, on the device; see detail::recompress.
template <class Value, class Index, class Offset, class Executor>
void recompress_on_device(std::int64_t majors, std::int64_t minors, std::int64_t entries,
                          const Offset* offsets, const Index* indices, const Value* values,
                          buffer<Offset>& new_offsets, buffer<Index>& new_indices, buffer<Value>& new_values,
                          const Executor& on, memory_resource& resource) {
  const auto count = static_cast<std::size_t>(entries);
  new_offsets = make_buffer<Offset>(minors + 1, on, resource);
  new_indices = buffer<Index>(count, resource, on.stream());
  new_values = buffer<Value>(count, resource, on.stream());
  on.fill_bytes(new_offsets.data(), 0, new_offsets.bytes());
  if (entries == 0) {
    return;
  }
  simt::for_each(on, entries, count_minor<Index, Offset>{indices, new_offsets.data()});
  on.exclusive_scan(new_offsets.data(), new_offsets.data(), minors + 1, resource);

  using key = std::make_unsigned_t<Index>;
  const buffer<Offset> entry_indices(count, resource, on.stream());
  const buffer<Offset> order(count, resource, on.stream());
  const buffer<key> sorted(count, resource, on.stream());
  simt::for_each(on, entries, array_kernels::write_iota<Offset>{entry_indices.data()});
  on.sort_pairs(reinterpret_cast<const key*>(indices), sorted.data(), entry_indices.data(), order.data(),
                entries, bits_for(static_cast<std::uint64_t>(minors)), resource);
  simt::for_each(
      on, entries,
      move_recompressed<scalar_t<Value>, Index, Offset>{majors, offsets, as_scalar(values), order.data(),
                                                        new_indices.data(), as_scalar(new_values.data())});
}

}  // namespace detail

/// Returns a copy of a host matrix in device memory. The host arrays may be freed when the call returns: it
/// synchronises `stream`, unless all arrays are so short that they are passed as kernel arguments.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csr_matrix<Value, Index, Offset> to_device(const csr_view<Value, Index, Offset>& a, Stream stream = {},
                                                  memory_resource* resource = nullptr) {
  detail::check_arrays<detail::host_executor>(a, "to_device");
  const detail::executor_t<Stream> on(stream);
  memory_resource& from = detail::resource_or_default(resource, on);
  return {a.rows, a.columns,
          detail::upload_array(a.row_offsets, detail::offset_count(a.rows, a.row_offsets), on, from),
          detail::upload_array(a.column_indices, a.entries, on, from),
          detail::upload_array(a.values, a.entries, on, from)};
}
/// Returns a copy of a host matrix in device memory; see the overload for csr_view.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csc_matrix<Value, Index, Offset> to_device(const csc_view<Value, Index, Offset>& a, Stream stream = {},
                                                  memory_resource* resource = nullptr) {
  detail::check_arrays<detail::host_executor>(a, "to_device");
  const detail::executor_t<Stream> on(stream);
  memory_resource& from = detail::resource_or_default(resource, on);
  return {a.rows, a.columns,
          detail::upload_array(a.column_offsets, detail::offset_count(a.columns, a.column_offsets), on, from),
          detail::upload_array(a.row_indices, a.entries, on, from),
          detail::upload_array(a.values, a.entries, on, from)};
}
/// Returns a copy of a host matrix in device memory; see the overload for csr_view.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_supernodal_matrix<Value, Index, Offset> to_device(const supernodal_view<Value, Index, Offset>& a,
                                                         Stream stream = {},
                                                         memory_resource* resource = nullptr) {
  const auto pattern = detail::pattern_of(a);
  detail::check_shape<Value>(a.rows, a.columns, pattern, system_options{});
  detail::check_spaces<detail::host_executor>(pattern, "to_device");
  detail::check_space<detail::host_executor>(a.values, a.entries, "the array of values", "to_device");
  const detail::executor_t<Stream> on(stream);
  memory_resource& from = detail::resource_or_default(resource, on);
  const std::int64_t offsets = detail::offset_count(a.supernodes, a.first_columns);
  return {a.rows,
          detail::upload_array(a.first_columns, offsets, on, from),
          detail::upload_array(a.row_offsets, offsets, on, from),
          detail::upload_array(a.row_indices, a.panel_rows, on, from),
          detail::upload_array(a.value_offsets, offsets, on, from),
          detail::upload_array(a.values, a.entries, on, from)};
}
/// Returns a copy of a host matrix in device memory; see the overload for csr_view.
template <class Value, class Index, class Offset, class Stream = stream_handle>
auto to_device(const csr_matrix<Value, Index, Offset>& a, Stream stream = {},
               memory_resource* resource = nullptr) {
  return to_device(a.view(), stream, resource);
}
/// Returns a copy of a host matrix in device memory; see the overload for csr_view.
template <class Value, class Index, class Offset, class Stream = stream_handle>
auto to_device(const csc_matrix<Value, Index, Offset>& a, Stream stream = {},
               memory_resource* resource = nullptr) {
  return to_device(a.view(), stream, resource);
}
/// Returns a copy of a host matrix in device memory; see the overload for csr_view.
template <class Value, class Index, class Offset, class Stream = stream_handle>
auto to_device(const supernodal_matrix<Value, Index, Offset>& a, Stream stream = {},
               memory_resource* resource = nullptr) {
  return to_device(a.view(), stream, resource);
}

/// Returns a copy of a host vector in device memory. The vector may be freed when the call returns, as for
/// matrices.
template <class T, class Stream = stream_handle>
buffer<T> to_device(const std::vector<T>& v, Stream stream = {}, memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  return detail::upload_array(v.data(), static_cast<std::int64_t>(v.size()), on,
                              detail::resource_or_default(resource, on));
}

/// Returns a copy of a device array in host memory. Synchronises `stream`.
template <class T, class Stream = stream_handle>
std::vector<T> to_host(const buffer<T>& v, Stream stream = {}) {
  return detail::download_array(v.data(), static_cast<std::int64_t>(v.size()),
                                detail::executor_t<Stream>(stream));
}

/// Returns a copy of a device matrix in host memory. Synchronises `stream`.
template <class Value, class Index, class Offset, class Stream = stream_handle>
csr_matrix<Value, Index, Offset> to_host(const device_csr_matrix<Value, Index, Offset>& a,
                                         Stream stream = {}) {
  const detail::executor_t<Stream> on(stream);
  const auto v = a.view();
  return {v.rows, v.columns,
          detail::download_array(v.row_offsets, detail::offset_count(v.rows, v.row_offsets), on),
          detail::download_array(v.column_indices, v.entries, on),
          detail::download_array(v.values, v.entries, on)};
}
/// Returns a copy of a device matrix in host memory. Synchronises `stream`.
template <class Value, class Index, class Offset, class Stream = stream_handle>
csc_matrix<Value, Index, Offset> to_host(const device_csc_matrix<Value, Index, Offset>& a,
                                         Stream stream = {}) {
  const detail::executor_t<Stream> on(stream);
  const auto v = a.view();
  return {v.rows, v.columns,
          detail::download_array(v.column_offsets, detail::offset_count(v.columns, v.column_offsets), on),
          detail::download_array(v.row_indices, v.entries, on),
          detail::download_array(v.values, v.entries, on)};
}

/// Returns the matrix by columns, in device memory; the entries of a column are in the order of rows. Only
/// enqueues. The matrix must be valid: offsets from 0 to the number of entries that never decrease, and
/// indices in range.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csc_matrix<Value, Index, Offset> to_csc(const device_csr_matrix<Value, Index, Offset>& a,
                                               Stream stream = {}, memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  const auto v = a.view();
  detail::check_arrays<detail::executor_t<Stream>>(v, "to_csc");
  device_csc_matrix<Value, Index, Offset> made{v.rows, v.columns, {}, {}, {}};
  detail::recompress_on_device(v.rows, v.columns, v.entries, v.row_offsets, v.column_indices, v.values,
                               made.column_offsets, made.row_indices, made.values, on,
                               detail::resource_or_default(resource, on));
  return made;
}

/// Returns the matrix by rows, in device memory; the entries of a row are in the order of columns. Otherwise
/// as to_csc.
template <class Value, class Index, class Offset, class Stream = stream_handle>
device_csr_matrix<Value, Index, Offset> to_csr(const device_csc_matrix<Value, Index, Offset>& a,
                                               Stream stream = {}, memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  const auto v = a.view();
  detail::check_arrays<detail::executor_t<Stream>>(v, "to_csr");
  device_csr_matrix<Value, Index, Offset> made{v.rows, v.columns, {}, {}, {}};
  detail::recompress_on_device(v.columns, v.rows, v.entries, v.column_offsets, v.row_indices, v.values,
                               made.row_offsets, made.column_indices, made.values, on,
                               detail::resource_or_default(resource, on));
  return made;
}

}  // namespace sptrsv

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
