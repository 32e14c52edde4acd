// SPDX-License-Identifier: Apache-2.0
// A team for distributed solves (distributed.hpp) whose processing elements (PEs) are processes of one host.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/cuda_team.cuh"
#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/distributed/process_group.hpp"

namespace sptrsv::SPTRSV_ABI {

/// PEs that are processes of one host, each with a GPU whose memory is mapped into the processes of the
/// others by CUDA's interprocess handles. The kernels of all store to it directly.
///
/// Several PEs may have the same GPU. Their kernels run at the same time under MPS (nvidia-cuda-mps-control);
/// without it the GPU runs them in turn, and a hop between them takes a slice of time, some milliseconds.
class process_team : public process_group {
 public:
  /// Takes a GPU as the current device of the calling thread. Collective.
  ///
  /// @param group the processes.
  /// @param device the number of the GPU of this process.
  /// @throws error errc::invalid_argument if there is no such GPU; errc::cuda_error; errc::peer_failed if a
  ///   process has ended.
  process_team(const process_group& group, int device) : process_group(group) {
    int count = 0;
    detail::distributed::check_together(*this, [&] {
      SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&count));
      SPTRSV_EXPECTS(device >= 0 && device < count, errc::invalid_argument, "there is no GPU ", device,
                     " among ", count);
      SPTRSV_CUDA_CHECK(cudaSetDevice(device));
      detail::distributed::map_for_gpus(failure());
    });
    cudaDeviceProp properties{};
    SPTRSV_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    for (const cudaUUID_t& of_pe : detail::distributed::gather_one(*this, properties.uuid)) {
      pes_on_device_ += std::memcmp(&of_pe, &properties.uuid, sizeof(cudaUUID_t)) == 0 ? 1 : 0;
    }
  }
  process_team(const process_team&) = delete;
  process_team& operator=(const process_team&) = delete;

  /// Returns how many PEs have the same GPU as this one.
  [[nodiscard]] int pes_on_device() const { return pes_on_device_; }

  /// Allocates memory on each PE and returns the addresses, by PE. Collective.
  std::vector<void*> allocate(std::size_t bytes) {
    constexpr std::size_t page = std::size_t{1} << 21;  // CUDA maps whole pages of this size
    meet();  // cudaMalloc may wait for kernels, and now all PEs have launched those that these wait for
    void* own = nullptr;
    cudaIpcMemHandle_t mine{};
    detail::distributed::check_together(*this, [&] {
      SPTRSV_CUDA_CHECK(cudaMalloc(&own, (bytes + page - 1) / page * page));
      SPTRSV_CUDA_CHECK(cudaIpcGetMemHandle(&mine, own));
    });
    const auto handles = detail::distributed::gather_one(*this, mine);
    std::vector<void*> of_pe(handles.size(), nullptr);
    of_pe[detail::at(rank())] = own;
    detail::distributed::check_together(*this, [&] {
      for (std::size_t pe = 0; pe < handles.size(); ++pe) {
        if (of_pe[pe] == nullptr) {
          SPTRSV_CUDA_CHECK(cudaIpcOpenMemHandle(&of_pe[pe], handles[pe], cudaIpcMemLazyEnablePeerAccess));
        }
      }
    });
    allocations_.push_back(of_pe);
    return of_pe;
  }
  /// Gives the memory back when no PE uses it any more. Collective. If this PE ends by an exception, or
  /// another one has ended, the memory is kept until the process ends.
  void release(void* own, std::size_t /*bytes*/) noexcept {
    if (!detail::distributed::has_released(*this)) {
      return;
    }
    try {
      const auto is_own = [&](const auto& of_pe) { return of_pe[detail::at(rank())] == own; };
      const auto released = std::find_if(allocations_.begin(), allocations_.end(), is_own);
      for (void* const other : *released) {
        detail::forget_failure(other != own ? cudaIpcCloseMemHandle(other) : cudaSuccess);
      }
      allocations_.erase(released);
      meet();  // nobody has the memory mapped any more
      detail::forget_failure(cudaFree(own));
    } catch (...) {
      return;  // the next collective function throws the cause
    }
  }

 private:
  int pes_on_device_ = 0;
  std::vector<std::vector<void*>> allocations_;  ///< addresses, by PE
};

}  // namespace sptrsv::SPTRSV_ABI
