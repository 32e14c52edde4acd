// SPDX-License-Identifier: Apache-2.0
// The incomplete Cholesky factorisation by level of fill, IC(k).
#pragma once

#include "sptrsv/incomplete_factorization.hpp"

namespace sptrsv::SPTRSV_ABI {

/// IC(k): A ~ L L^H, where L has the pattern of the lower triangle of A and its fill-in up to level k, and
/// the product agrees with A on this pattern. The type of analyze_incomplete_cholesky's result.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle,
          class Tuning = experimental::incomplete_tuning>
using incomplete_cholesky =
    incomplete_factorization<incomplete_method::cholesky, Value, Index, Offset, Stream, Tuning>;

/// Analyses the lower triangle of `a` and enqueues its incomplete Cholesky factorisation. Synchronises
/// `stream` during the analysis.
///
/// The fill-in of levels up to incomplete_options::fill_level is found as analyze_incomplete_lu does.
///
/// A is symmetric, or Hermitian if its values are complex. Entries above the diagonal are not used: they may
/// be absent. Row i of L: l_ik = (a_ik - sum of l_ij conj(l_kj)) / l_kk for k < i in ascending order, and
/// l_ii is the square root of a_ii - sum of |l_ij|^2. If this number is negative, l_ii is NaN (see
/// pivot_options for what helps then).
///
/// @param a, options, stream, resource as in analyze_incomplete_lu.
/// @return an `incomplete_cholesky<Value, Index, Offset>`, with the stream type as last argument if it is not
///   cudaStream_t.
/// @throws error as analyze_incomplete_lu; errc::duplicate_entry concerns the lower triangle only.
template <class Matrix, class Stream = stream_handle,
          class View = decltype(detail::view_of(std::declval<const Matrix&>()))>
auto analyze_incomplete_cholesky(const Matrix& a, const incomplete_options& options = {}, Stream stream = {},
                                 memory_resource* resource = nullptr) {
  const detail::executor_t<Stream> on(stream);
  using made = incomplete_cholesky<typename View::value_type, typename View::index_type,
                                   typename View::offset_type, Stream>;
  return detail::with_expanded(detail::view_of(a), "the analysis", on, resource,
                               [&](const auto& of) { return made(of, options, stream, resource); });
}

}  // namespace sptrsv::SPTRSV_ABI
