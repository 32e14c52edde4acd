// SPDX-License-Identifier: Apache-2.0
// The definition of solve_any_krylov().
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "any_krylov.hpp"
#include "sptrsv/detail/analysis/check_entries_agent.hpp"
#include "sptrsv/detail/any_solver/analyze.hpp"
#include "sptrsv/krylov.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Throws for the first row with wrong offsets, or else with an index that is out of range: a product with A
/// would read outside of x. Synchronises. The arrays are in the memory of the stream.
template <class Value, class Index, class Stream>
void check_rows(const csr_view<Value, Index>& a, Stream stream) {
  const auto pattern = pattern_of(a);
  if constexpr (std::is_same_v<Stream, host_stream>) {
    validate_storage_on_host(pattern, a.columns);
  } else if (a.rows > 0) {
    using agent = triangle_kernels::check_entries_agent<Index, Index>;
    const executor_t<Stream> on(stream);
    SPTRSV_EXPECTS(!on.is_capturing(), errc::invalid_argument,
                   "a Krylov method reads its residual, so that it cannot be captured into a CUDA graph");
    memory_resource& from = resource_or_default(nullptr, on);
    triangle_kernels::report found;
    const auto report = upload_array(&found, 1, on, from);
    const auto lengths = make_zeros<Index>(a.rows, on, from);  // of the rows of a triangle: not needed
    typename agent::params checked{pattern, {}};
    checked.triangles[0].to.row_offsets = lengths.data();
    checked.triangles[0].found = report.data();
    on.template launch<agent>(simt::block_count(std::max(a.rows, a.entries), agent::block_items), checked);
    on.download(&found, report.data(), sizeof(found));
    for (const auto& [fault, row] :
         {std::pair(pattern_fault::offsets, found.offsets), std::pair(pattern_fault::index, found.index)}) {
      if (row < a.rows) {
        throw_pattern_fault(fault, row, false);
      }
    }
  }
}

template <class Value, class Index, class Preconditioner, class Stream>
sptrsv::krylov::result solve_krylov_on(krylov_method method, const csr_view<Value, Index>& a,
                                       const Preconditioner& m, span<const Value> b, span<Value> x,
                                       const sptrsv::krylov::options& o, Stream stream) {
  const sptrsv::krylov::csr_operator product(a, stream);
  check_rows(a, stream);
  sptrsv::krylov::workspace<Value, Stream> memory(stream);
  switch (method) {
    case krylov_method::conjugate_gradients:
      return sptrsv::krylov::conjugate_gradients(product, m, b, x, memory, o, stream);
    case krylov_method::bicgstab:
      return sptrsv::krylov::bicgstab(product, m, b, x, memory, o, stream);
    default:
      return sptrsv::krylov::gmres(product, m, b, x, memory, o, stream);
  }
}

template <class Value, class Index>
sptrsv::krylov::result solve_any_krylov(krylov_method method, const csr_view<Value, Index>& a,
                                        const any_preconditioner<Value>& m, span<const Value> b,
                                        span<Value> x, const sptrsv::krylov::options& options,
                                        stream_handle stream) {
  return on_side_of<compiled_build>(a.row_offsets, stream, [&](auto own) {
    using stream_type = decltype(own);
    if (!m) {  // its kernels do not copy the residual
      return solve_krylov_on(method, a, sptrsv::krylov::no_preconditioner{}, b, x, options, own);
    }
    const auto apply = [&](span<const Value> from, span<Value> to, [[maybe_unused]] stream_type on) {
      if constexpr (std::is_same_v<stream_type, stream_handle>) {
        m(from, to, on);  // the stream that records a graph, too
      } else {
        m(from, to, {});
      }
    };
    return solve_krylov_on(method, a, apply, b, x, options, own);
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail
