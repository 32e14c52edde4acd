// SPDX-License-Identifier: Apache-2.0
// Two parts of the execution context (context.hpp) on the hardware: the accesses by which threads of
// different blocks exchange words, and the asynchronous copies.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/cuda_tile.cuh"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// The threads among which an access is atomic: those of the device, or those of all devices.
enum class cuda_scope { gpu, system };

/// `asm volatile` of an instruction with the scope of the class around it: operation, scope, rest.
#define SPTRSV_SCOPED_ASM(operation, rest, ...)        \
  do {                                                 \
    if constexpr (Scope == cuda_scope::gpu) {          \
      asm volatile(operation ".gpu" rest __VA_ARGS__); \
    } else {                                           \
      asm volatile(operation ".sys" rest __VA_ARGS__); \
    }                                                  \
  } while (false)

/// Loads and stores of words that other blocks poll, with a scope.
template <cuda_scope Scope>
class cuda_flags {
 public:
  /// Uses intrinsics: the compiler may repeat a read through a pointer, but not an intrinsic.
  template <int Count, class T>
  SPTRSV_DEVICE void load_words(const T* p, T* to) const {
    using bits = cuda_memory::bits_of<T>;
    static_assert(Count * sizeof(T) <= 16);
    using several =
        std::conditional_t<cuda_memory::is_wide<T>, ulonglong2, std::conditional_t<Count == 2, uint2, uint4>>;
    struct words {
      T of[Count];
    };
    const auto loaded =
        bit_cast<words>(__ldca(reinterpret_cast<const std::conditional_t<Count == 1, bits, several>*>(p)));
    for (int w = 0; w < Count; ++w) {
      to[w] = loaded.of[w];
    }
  }

  template <class T>
  SPTRSV_DEVICE T load_relaxed(const T* p) const {
    const auto from = __cvta_generic_to_global(p);
    cuda_memory::bits_of<T> v;
    if constexpr (cuda_memory::is_wide<T>) {
      SPTRSV_SCOPED_ASM("ld.relaxed", ".global.u64 %0, [%1];", : "=l"(v) : "l"(from));
    } else {
      SPTRSV_SCOPED_ASM("ld.relaxed", ".global.u32 %0, [%1];", : "=r"(v) : "l"(from));
    }
    return bit_cast<T>(v);
  }
  template <int Count, class T>
  SPTRSV_DEVICE void load_relaxed_words(const T* p, T* to) const {
    if constexpr (Count == 1) {
      to[0] = load_relaxed(p);
    } else {
      const auto from = __cvta_generic_to_global(p);
      cuda_memory::bits_of<T> v[Count];
      if constexpr (cuda_memory::is_wide<T>) {
        static_assert(Count == 2);
        SPTRSV_SCOPED_ASM("ld.relaxed", ".global.v2.u64 {%0, %1}, [%2];",
                          : "=l"(v[0]), "=l"(v[1])
                          : "l"(from));
      } else if constexpr (Count == 2) {
        SPTRSV_SCOPED_ASM("ld.relaxed", ".global.v2.u32 {%0, %1}, [%2];",
                          : "=r"(v[0]), "=r"(v[1])
                          : "l"(from));
      } else {
        static_assert(Count == 4);
        SPTRSV_SCOPED_ASM("ld.relaxed", ".global.v4.u32 {%0, %1, %2, %3}, [%4];",
                          : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                          : "l"(from));
      }
      for (int w = 0; w < Count; ++w) {
        to[w] = bit_cast<T>(v[w]);
      }
    }
  }
  template <int Count, class T>
  SPTRSV_DEVICE void store_relaxed_words(T* p, const T* words) const {
    if constexpr (Count == 1) {
      store_relaxed(p, words[0]);
    } else {
      cuda_memory::bits_of<T> v[Count];
      for (int w = 0; w < Count; ++w) {
        v[w] = bit_cast<cuda_memory::bits_of<T>>(words[w]);
      }
      const auto to = __cvta_generic_to_global(p);
      if constexpr (cuda_memory::is_wide<T>) {
        static_assert(Count == 2);
        SPTRSV_SCOPED_ASM("st.relaxed", ".global.v2.u64 [%0], {%1, %2};",
                          :
                          : "l"(to), "l"(v[0]), "l"(v[1])
                          : "memory");
      } else if constexpr (Count == 2) {
        SPTRSV_SCOPED_ASM("st.relaxed", ".global.v2.u32 [%0], {%1, %2};",
                          :
                          : "l"(to), "r"(v[0]), "r"(v[1])
                          : "memory");
      } else {
        static_assert(Count == 4);
        SPTRSV_SCOPED_ASM("st.relaxed", ".global.v4.u32 [%0], {%1, %2, %3, %4};",
                          :
                          : "l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                          : "memory");
      }
    }
  }
  template <class T>
  SPTRSV_DEVICE T load_acquire(const T* p) const {
    const auto from = __cvta_generic_to_global(p);
    cuda_memory::bits_of<T> v;
    if constexpr (cuda_memory::is_wide<T>) {
      SPTRSV_SCOPED_ASM("ld.acquire", ".global.u64 %0, [%1];", : "=l"(v) : "l"(from) : "memory");
    } else {
      SPTRSV_SCOPED_ASM("ld.acquire", ".global.u32 %0, [%1];", : "=r"(v) : "l"(from) : "memory");
    }
    return bit_cast<T>(v);
  }
  template <class T>
  SPTRSV_DEVICE void store_relaxed(T* p, T value) const {
    const auto to = __cvta_generic_to_global(p);
    const auto v = bit_cast<cuda_memory::bits_of<T>>(value);
    if constexpr (cuda_memory::is_wide<T>) {
      SPTRSV_SCOPED_ASM("st.relaxed", ".global.u64 [%0], %1;", : : "l"(to), "l"(v) : "memory");
    } else {
      SPTRSV_SCOPED_ASM("st.relaxed", ".global.u32 [%0], %1;", : : "l"(to), "r"(v) : "memory");
    }
  }

  SPTRSV_DEVICE void fence() const { SPTRSV_SCOPED_ASM("fence.acq_rel", ";", : : : "memory"); }

  /// Sleeps. The sleep is short compared with the trip to memory of a poll, so a hand-off takes no longer,
  /// but thousands of waiting warps leave the memory system to the warps that work.
  template <class T>
  SPTRSV_DEVICE void pause(const T*) const {
    __nanosleep(20);
  }
};

#undef SPTRSV_SCOPED_ASM

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

  /// Bulk copies use the GPU's bulk copy engine, if any, and do not occupy the load units of the SM.
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
