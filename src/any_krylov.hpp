// SPDX-License-Identifier: Apache-2.0
// Krylov methods for the C interface: the method, the preconditioner, and the device or the host are known at
// run time. any_krylov_methods.hpp has the definition, which the sources any_policy_* of the library
// instantiate.
#pragma once

#include <functional>

#include "sptrsv/krylov_options.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

enum class krylov_method { conjugate_gradients, bicgstab, gmres };

/// Enqueues y = M^-1 x for (x, y, stream); empty for M = I.
template <class Value>
using any_preconditioner = std::function<void(span<const Value>, span<Value>, stream_handle)>;

/// Solves A x = b, on the device if A is in device memory and otherwise on the host; x is also the initial
/// guess. `b` and `x`: A.rows elements each, in the memory of A. Synchronises `stream`.
///
/// @throws error errc::not_square, errc::offsets_not_monotone and errc::index_out_of_range with the row, as
///   the analyses of the same matrix; otherwise what the functions of sptrsv/krylov.hpp and the
///   preconditioner throw.
template <class Value, class Index>
sptrsv::krylov::result solve_any_krylov(krylov_method method, const csr_view<Value, Index>& a,
                                        const any_preconditioner<Value>& m, span<const Value> b,
                                        span<Value> x, const sptrsv::krylov::options& options,
                                        stream_handle stream);

}  // namespace sptrsv::SPTRSV_ABI::detail
