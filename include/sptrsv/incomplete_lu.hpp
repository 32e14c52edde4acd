// The incomplete LU factorisation without fill-in, ILU(0).
#pragma once

#include "sptrsv/incomplete_factorization.hpp"

namespace sptrsv {

/// ILU(0): A ~ L U, where L and U have the pattern of A and the product agrees with A on this pattern. The
/// type of analyze_incomplete_lu's result.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle,
          class Tuning = incomplete_tuning>
using incomplete_lu =
    incomplete_factorization<detail::incomplete::method::lu, Value, Index, Offset, Stream, Tuning>;

/// Analyses the pattern of `a` and enqueues its incomplete LU factorisation. Synchronises `stream` during the
/// analysis.
///
/// The factorisation has no fill-in and does not exchange rows. Row i is reduced by rows k < i in ascending
/// order: l_ik = a_ik / u_kk, then a_ij -= l_ik u_kj where (i, j) is an entry.
///
/// @param a csr_view, csc_view or owning matrix with a complete diagonal, in the memory space of `stream`:
///   device memory for cudaStream_t, host memory for host_stream. The entries of a row (column) may be in any
///   order. The arrays may be freed or changed as soon as the enqueued work is complete.
/// @param pivots what the factorisation does to pivots.
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
template <class Matrix, class Stream = stream_handle>
auto analyze_incomplete_lu(const Matrix& a, const pivot_options& pivots = {}, Stream stream = {},
                           memory_resource* resource = nullptr) {
  using view = decltype(detail::view_of(a));
  return incomplete_lu<typename view::value_type, typename view::index_type, typename view::offset_type,
                       Stream>(a, pivots, stream, resource);
}

}  // namespace sptrsv
