// automatic, the default: see the policy in the header below; and analyze without a policy, which takes it.
#pragma once

#include <type_traits>
#include <utility>

#include "sptrsv/detail/automatic/engine.hpp"

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif

namespace sptrsv {

/// analyze (solver.hpp) with the default policy of the GPU, automatic<>.
template <class Matrix, class Stream = stream_handle,
          class = decltype(detail::view_of(std::declval<const Matrix&>()))>
auto analyze(const Matrix& a, const system_options& options = {}, Stream stream = {},
             memory_resource* resource = nullptr) {
  static_assert(!std::is_same_v<Stream, host_stream>,
                "analyze without a policy solves on the GPU; on the host name one (policy::host_parallel)");
  return analyze(policy::automatic<>{}, a, options, stream, resource);
}

}  // namespace sptrsv
