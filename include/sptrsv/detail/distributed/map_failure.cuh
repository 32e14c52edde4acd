// SPDX-License-Identifier: Apache-2.0
// Lets kernels read whether a PE has failed.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Maps the page of a failure_state for all GPUs of the process, at the address that the host has. It stays
/// mapped as long as the state lives.
inline void map_for_gpus(failure_state& state) {
  state.map([](void* page, std::size_t bytes) {
    SPTRSV_CUDA_CHECK(cudaHostRegister(page, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
    std::shared_ptr<void> mapping(page, [](void* p) { forget_failure(cudaHostUnregister(p)); });
    void* mapped = nullptr;
    SPTRSV_CUDA_CHECK(cudaHostGetDevicePointer(&mapped, page, 0));
    SPTRSV_EXPECTS(mapped == page, errc::unsupported, "the GPU maps host memory at another address");
    return mapping;
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
