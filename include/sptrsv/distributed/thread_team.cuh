// SPDX-License-Identifier: Apache-2.0
// A team for distributed solves (distributed.hpp) whose processing elements (PEs) are threads of one process.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/cuda_team.cuh"
#include "sptrsv/detail/distributed/pe_threads.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/distributed/process_group.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI {

/// PEs that are threads of one process, each with a GPU whose memory the kernels of all can access. Several
/// PEs may have the same GPU. Each of them launches only as many blocks as are resident beside those of the
/// others, so that their kernels run at the same time.
///
/// The kernel of a solve waits for those of other PEs. So call what waits for the GPU (a download,
/// cudaMalloc, cudaFree) only when all PEs have enqueued the solve, which member::meet waits for. Keep no
/// more than some hundreds of launches of a PE in flight: a launch waits if CUDA's queue is full. The streams
/// of all PEs of a GPU need hardware queues of their own: set the environment variable
/// CUDA_DEVICE_MAX_CONNECTIONS (at most 32) before CUDA starts if a GPU has more than 8 streams in all.
class thread_team {
 public:
  class member;

  /// Makes a team of a PE for each element of `devices`, the numbers of their GPUs.
  ///
  /// @throws error errc::invalid_argument if there is no PE or no such GPU; errc::unsupported if a GPU cannot
  ///   access the memory of another one; errc::cuda_error.
  explicit thread_team(std::vector<int> devices)
      : devices_(std::move(devices)), meeting_(static_cast<int>(devices_.size())) {
    SPTRSV_EXPECTS(!devices_.empty(), errc::invalid_argument, "a team without PEs");
    int count = 0;
    SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&count));
    for (int pe = 0; pe < size(); ++pe) {
      SPTRSV_EXPECTS(device(pe) >= 0 && device(pe) < count, errc::invalid_argument, "PE ", pe, " has GPU ",
                     device(pe), ", of ", count, " GPUs");
    }
    for (int pe = 0; pe < size(); ++pe) {
      for_gpus_of_others(pe, [&](int other) {
        int can = 0;
        SPTRSV_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device(pe), other));
        SPTRSV_EXPECTS(can != 0, errc::unsupported, "GPU ", device(pe), " of PE ", pe,
                       " cannot access the memory of GPU ", other);
      });
    }
  }
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  /// Returns the number of PEs.
  [[nodiscard]] int size() const { return static_cast<int>(devices_.size()); }

  /// Calls body(pe) for each PE in a thread of its own, with its GPU as the current device, and waits for
  /// all. If a call throws, collective functions throw on the other PEs, and solves that wait for this PE
  /// end, with an undefined x. A team runs once.
  ///
  /// @throws the first exception of a PE, of its own type; an `error` has a text that names the PE. error
  ///   errc::unsupported if the thread of a PE cannot start.
  void run(const std::function<void(member&)>& body);

 private:
  /// Memory of a PE that the kernels of all access. What is left when all PEs have ended is given back then.
  struct pe_memory {
    std::vector<void*> allocated;

    ~pe_memory() {
      for (void* const left : allocated) {
        detail::forget_failure(cudaFree(left));
      }
    }
  };
  [[nodiscard]] int device(int pe) const { return devices_[detail::at(pe)]; }

  template <class Use>
  void for_gpus_of_others(int pe, const Use& use) const {
    for (const int other : devices_) {
      if (other != device(pe)) {
        use(other);
      }
    }
  }
  /// Makes the GPU of a PE the current device of its thread, and lets it access the memory of the others.
  void open_device(int pe) const {
    SPTRSV_CUDA_CHECK(cudaSetDevice(device(pe)));
    detail::distributed::map_for_gpus(*failure_);
    for_gpus_of_others(pe, [](int other) {
      const cudaError_t status = detail::call_apart([&] { return cudaDeviceEnablePeerAccess(other, 0); });
      if (status != cudaErrorPeerAccessAlreadyEnabled) {
        detail::check_status(status, "cudaDeviceEnablePeerAccess");
      }
    });
  }

  std::vector<int> devices_;
  detail::distributed::meeting meeting_;
  std::shared_ptr<detail::distributed::failure_state> failure_ =
      std::make_shared<detail::distributed::failure_state>();  ///< of all PEs
};

/// A PE of a thread_team, whose threads take the place of the processes of a group; it is a team in the sense
/// of distributed.hpp.
class thread_team::member : public process_group {
 public:
  /// Returns how many PEs have the same GPU as this one.
  [[nodiscard]] int pes_on_device() const {
    return static_cast<int>(std::count(team_.devices_.begin(), team_.devices_.end(), team_.device(rank())));
  }

  /// Allocates memory on each PE and returns the addresses, by PE. Collective.
  std::vector<void*> allocate(std::size_t bytes) {
    meet();  // cudaMalloc may wait for kernels, and now all PEs have launched those that these wait for
    void* own = nullptr;
    SPTRSV_CUDA_CHECK(cudaMalloc(&own, bytes));
    memory_.allocated.push_back(own);
    return detail::distributed::gather_one(*this, own);
  }
  /// Gives the memory back when no PE uses it any more. Collective. If a PE has left, the memory is kept
  /// until all PEs have ended.
  void release(void* own, std::size_t /*bytes*/) noexcept {
    if (std::uncaught_exceptions() > 0) {  // this PE ends by an exception: nobody is to wait for it
      fail(rank());
    } else if (detail::distributed::has_released(*this)) {
      auto& all = memory_.allocated;
      all.erase(std::find(all.begin(), all.end(), own));
      detail::forget_failure(cudaFree(own));
    }
  }

 private:
  friend class thread_team;

  member(thread_team& team, int rank, pe_memory& memory)
      : process_group(
            rank, team.size(),
            [&team, rank](messages to) { return team.meeting_.exchange(rank, std::move(to)); },
            [&team, rank] { team.meeting_.leave(rank); }, team.failure_),
        team_(team),
        memory_(memory) {}

  thread_team& team_;
  pe_memory& memory_;
};

inline void thread_team::run(const std::function<void(member&)>& body) {
  std::vector<pe_memory> memory(devices_.size());
  detail::distributed::run_pes(size(), meeting_, [&](int pe) {
    open_device(pe);
    member self(*this, pe, memory[detail::at(pe)]);
    try {
      body(self);
    } catch (...) {
      self.fail(pe);
      // Its kernels end, and store no more into memory of other GPUs, which is freed when all PEs have ended.
      detail::forget_failure(cudaDeviceSynchronize());
      throw;
    }
  });
}

}  // namespace sptrsv::SPTRSV_ABI
