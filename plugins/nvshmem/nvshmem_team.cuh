// SPDX-License-Identifier: Apache-2.0
// Teams for distributed solves (distributed.hpp) whose processing elements (PEs) are processes with memory of
// NVSHMEM. This header needs NVSHMEM's headers and its host library (libnvshmem_host.so), and no relocatable
// device code. nvshmem_puts.cuh adds puts by NVSHMEM's device library, for PEs whose memory is not mapped.
#pragma once

#include <cuda_runtime.h>
#include <nvshmem_host.h>

#include <cstddef>
#include <vector>

#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/distributed/process_team.cuh"

namespace sptrsv::SPTRSV_ABI {

/// PEs that are processes, each with a GPU and a symmetric heap of NVSHMEM. Kernels store directly to the
/// addresses that nvshmem_ptr gives. A process has one such team at a time.
///
/// NVSHMEM is started by a unique id, which PE 0 sends to the others: neither MPI nor a launcher of NVSHMEM
/// is needed. All but memory is as in process_team.
class nvshmem_team : public process_team {
 public:
  /// Takes a GPU as the current device of the calling thread, and starts NVSHMEM. Collective.
  ///
  /// @param group the processes.
  /// @param device the number of the GPU of this process.
  /// @throws error as process_team; errc::unsupported if NVSHMEM does not start.
  nvshmem_team(const process_group& group, int device) : process_team(group, device) {
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    detail::distributed::check_together(*this, [&] {
      SPTRSV_EXPECTS(rank() != 0 || nvshmemx_get_uniqueid(&id) == 0, errc::unsupported,
                     "NVSHMEM gives no unique id");
    });
    id = detail::distributed::gather_one(*this, id).front();
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    detail::distributed::check_together(*this, [&] {
      SPTRSV_EXPECTS(nvshmemx_set_attr_uniqueid_args(rank(), size(), &id, &attributes) == 0 &&
                         nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0,
                     errc::unsupported, "NVSHMEM does not start");
    });
  }
  /// Ends NVSHMEM. Collective, unless a PE has failed or ends by an exception.
  ~nvshmem_team() {
    if (detail::distributed::has_released(*this)) {
      nvshmem_finalize();
    }
  }

  /// Allocates symmetric memory and returns the addresses, by PE. Collective.
  ///
  /// @throws error errc::out_of_memory; errc::unsupported if the memory of a PE is not mapped.
  std::vector<void*> allocate(std::size_t bytes) {
    auto of_pe = allocate_symmetric(bytes);
    detail::distributed::check_together(*this, [&] {
      for (std::size_t pe = 0; pe < of_pe.size(); ++pe) {
        SPTRSV_EXPECTS(of_pe[pe] != nullptr, errc::unsupported, "NVSHMEM maps no memory of PE ", pe,
                       ": nvshmem_put_team (nvshmem_puts.cuh) has puts for it");
      }
    });
    return of_pe;
  }
  /// Gives the memory back when no PE uses it any more. Collective. If this PE ends by an exception, or
  /// another one has ended, the memory is kept until the process ends.
  void release(void* own, std::size_t /*bytes*/) noexcept {
    if (detail::distributed::has_released(*this)) {
      nvshmem_free(own);
    }
  }

 protected:
  /// As allocate; null where memory is not mapped.
  std::vector<void*> allocate_symmetric(std::size_t bytes) {
    meet();  // NVSHMEM may wait for kernels, and now all PEs have launched those that these wait for
    void* const own = nvshmem_malloc(bytes);
    detail::distributed::check_together(*this, [&] {
      SPTRSV_EXPECTS(own != nullptr, errc::out_of_memory, "the symmetric heap of NVSHMEM has no room for ",
                     bytes, " bytes");
    });
    std::vector<void*> of_pe;
    for (int pe = 0; pe < size(); ++pe) {
      of_pe.push_back(nvshmem_ptr(own, pe));
    }
    return of_pe;
  }
};

}  // namespace sptrsv::SPTRSV_ABI
