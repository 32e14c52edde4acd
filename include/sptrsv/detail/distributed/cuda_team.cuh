// SPDX-License-Identifier: Apache-2.0
// Two functions that thread_team, process_team and nvshmem_team share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <memory>

#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Lets the kernels of all GPUs of the process read whether a PE has failed, as long as the state lives.
inline void map_for_gpus(failure_state& state) {
  state.map([] {
    void* word = nullptr;
    SPTRSV_CUDA_CHECK(
        cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped | cudaHostAllocPortable));
    return std::shared_ptr<void>(word, [](void* p) { forget_failure(cudaFreeHost(p)); });
  });
}

/// Waits until no PE uses memory of the team any more. Returns false, without waiting, if a PE has failed or
/// if this PE ends by an exception. Collective.
template <class Team>
bool has_released(Team& team) noexcept {
  if (std::uncaught_exceptions() > 0) {
    return false;
  }
  try {
    team.meet();
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    team.meet();
    return true;
  } catch (...) {  // the next collective function throws the cause
    team.fail(team.rank());
    forget_failure(cudaDeviceSynchronize());  // no kernel of this PE waits any more
    return false;
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
