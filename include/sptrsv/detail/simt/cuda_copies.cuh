// SPDX-License-Identifier: Apache-2.0
// The asynchronous copies of the execution context (context.hpp) on the hardware.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/simt/cuda_tile.cuh"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// Copies from global to shared memory while the thread goes on.
class cuda_copies {
 public:
  SPTRSV_DEVICE int shared_address(const void* p) const {
    return static_cast<int>(__cvta_generic_to_shared(p));
  }

  /// Copies of 16 bytes bypass the L1 cache, because the data is read once.
  template <int Bytes>
  SPTRSV_DEVICE void copy_async(void* shared, const void* global) const {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
#if __CUDA_ARCH__ >= 800
    const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
    if constexpr (Bytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                   "l"(__cvta_generic_to_global(global))
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to),
                   "l"(__cvta_generic_to_global(global)), "n"(Bytes)
                   : "memory");
    }
#else
    using word = cuda_memory::bits_of<std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>;
    for (std::size_t w = 0; w < Bytes / sizeof(word); ++w) {
      static_cast<word*>(shared)[w] = static_cast<const word*>(global)[w];
    }
#endif
  }
  SPTRSV_DEVICE void commit_copies() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  template <int Pending>
  SPTRSV_DEVICE void wait_copies() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
  }

  /// Bulk copies use the bulk copy engine of the GPU if it has one, so that they do not occupy the load units
  /// of the SM.
  SPTRSV_DEVICE void begin_bulk(std::uint64_t* arrival) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;" ::"r"(
                     shared_address(arrival))
                 : "memory");
#endif
  }
  /// Ends the use of a word, which may then be prepared again. All copies that use it have been waited for.
  SPTRSV_DEVICE void end_bulk(std::uint64_t* arrival) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(arrival)) : "memory");
#endif
  }
  SPTRSV_DEVICE void copy_bulk(void* shared, const void* global, int bytes, std::uint64_t* arrival,
                               int lane) const {
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      const int at = shared_address(arrival);
      asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                   : "memory");
      if (bytes > 0) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                shared_address(shared)),
            "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(at)
            : "memory");
      }
    }
#else
    for (int at = 16 * lane; at < bytes; at += 512) {
      copy_async<16>(static_cast<unsigned char*>(shared) + at,
                     static_cast<const unsigned char*>(global) + at);
    }
#endif
  }
  SPTRSV_DEVICE void wait_bulk(const std::uint64_t* arrival, bool odd) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n\t.reg .pred done;\n"
        "again:\n\t"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t}" ::"r"(shared_address(arrival)),
        "r"(odd ? 1 : 0)
        : "memory");
#else
    wait_copies<0>();
#endif
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
