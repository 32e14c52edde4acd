// SPDX-License-Identifier: Apache-2.0
// What the teams of CUDA have in common.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <exception>
#include <memory>

#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Maps the page of a failure_state for all GPUs of the process, at the address that the host has. It stays
/// mapped as long as the state lives.
inline void map_for_gpus(failure_state& state) {
  if (state.mapping == nullptr) {
    SPTRSV_CUDA_CHECK(
        cudaHostRegister(&state, sizeof(state), cudaHostRegisterMapped | cudaHostRegisterPortable));
    state.mapping = {&state, [](void* page) { forget_failure(cudaHostUnregister(page)); }};
    void* mapped = nullptr;
    SPTRSV_CUDA_CHECK(cudaHostGetDevicePointer(&mapped, &state, 0));
    SPTRSV_EXPECTS(mapped == &state, errc::unsupported, "the GPU maps host memory at another address");
  }
}

/// Waits until no PE uses memory of the team any more. Returns false if a PE has failed, or this one ends by
/// an exception: nobody is to wait for it then. Collective.
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
    return false;
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
