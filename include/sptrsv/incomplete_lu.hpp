// SPDX-License-Identifier: Apache-2.0
// The incomplete LU factorisation by level of fill, ILU(k).
#pragma once

#include "sptrsv/incomplete_factorization.hpp"

namespace sptrsv::SPTRSV_ABI {

/// ILU(k): A ~ L U, where L and U have the pattern of A and its fill-in up to level k, and the product agrees
/// with A on this pattern. The type of analyze_incomplete_lu's result.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle,
          class Tuning = experimental::incomplete_tuning>
using incomplete_lu = incomplete_factorization<incomplete_method::lu, Value, Index, Offset, Stream, Tuning>;

/// Analyses the pattern of `a` and enqueues its incomplete LU factorisation. Synchronises `stream` during the
/// analysis.
///
/// The factorisation does not exchange rows. Row i is reduced by rows k < i in ascending order:
/// l_ik = a_ik / u_kk, then a_ij -= l_ik u_kj where (i, j) is an entry of A or, with
/// incomplete_options::fill_level > 0, of its fill-in. The fill-in is found on the host, in parallel where
/// OpenMP has threads; the pattern of A is copied there.
///
/// @param a csr_view, csc_view, bsr_view or owning matrix with a complete diagonal, in the memory space of
/// `stream`:
///   device memory for cudaStream_t, host memory for host_stream. The entries of a row (column) may be in any
///   order. The arrays may be freed or changed as soon as the enqueued work is complete.
/// @param options what the factorisation does to pivots, and the level of fill.
/// @param stream the stream of the analysis: cudaStream_t, whose device must be the current one, or
///   host_stream.
/// @param resource source of memory; null: the library's pool on the current device
///   (default_device_resource), or the heap on the host. It must outlive the result.
/// @return an `incomplete_lu<Value, Index, Offset>`, with the stream type as last argument if it is not
///   cudaStream_t.
/// @throws error with one of these codes, and the first offending row (column, for CSC) where there is one:
///   errc::not_square, errc::offsets_not_monotone, errc::index_out_of_range, errc::duplicate_entry,
///   errc::missing_diagonal, errc::size_mismatch, errc::invalid_argument, errc::wrong_memory_space,
///   errc::unsupported, errc::out_of_memory, errc::cuda_error.
template <class Matrix, class Stream = stream_handle,
          class View = decltype(detail::view_of(std::declval<const Matrix&>()))>
auto analyze_incomplete_lu(const Matrix& a, const incomplete_options& options = {}, Stream stream = {},
                           memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  using made =
      incomplete_lu<typename View::value_type, typename View::index_type, typename View::offset_type, Stream>;
  return detail::with_expanded(detail::view_of(a), "the analysis", on, resource,
                               [&](const auto& of) { return made(of, options, stream, resource); });
}

}  // namespace sptrsv::SPTRSV_ABI
