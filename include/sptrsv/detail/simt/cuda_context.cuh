// SPDX-License-Identifier: Apache-2.0
// The execution context (context.hpp) on the hardware: each call is one or two instructions.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/cuda_access.cuh"
#include "sptrsv/detail/simt/cuda_tile.cuh"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// The context of a kernel on the GPU; see context.hpp for what each function does.
class cuda_context : public cuda_copies, public cuda_flags<cuda_scope::gpu> {
 public:
  SPTRSV_DEVICE cuda_flags<cuda_scope::system> system_scope() const { return {}; }
  SPTRSV_DEVICE int thread_rank() const { return static_cast<int>(threadIdx.x); }
  SPTRSV_DEVICE int block_threads() const { return static_cast<int>(blockDim.x); }
  SPTRSV_DEVICE std::uint32_t block_rank() const { return blockIdx.x; }
  SPTRSV_DEVICE std::uint32_t grid_blocks() const { return gridDim.x; }
  SPTRSV_DEVICE void* dynamic_shared() const {
    extern __shared__ uint4 sptrsv_dynamic_shared[];
    return sptrsv_dynamic_shared;
  }
  template <int Lanes>
  SPTRSV_DEVICE cuda_tile<Lanes> group() const {
    return {};
  }
  SPTRSV_DEVICE void barrier() const { __syncthreads(); }
  // A block has 16 hardware barriers, and __syncthreads uses number 0.
  template <int Threads>
  SPTRSV_DEVICE void barrier_wait(int id) const {
    static_assert(Threads % 32 == 0);
    asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(Threads) : "memory");
  }
  template <int Threads>
  SPTRSV_DEVICE void barrier_arrive(int id) const {
    static_assert(Threads % 32 == 0);
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(Threads) : "memory");
  }

  template <class T>
  SPTRSV_DEVICE T load_constant(const T* p) const {
    if constexpr (cuda_memory::is_single<T>) {
      return __ldg(p);
    } else {
      using words_of = cuda_memory::words_of<T>;
      words_of words;
      for (std::size_t w = 0; w < sizeof(T) / sizeof(typename words_of::word); ++w) {
        words.part[w] = __ldg(reinterpret_cast<const typename words_of::word*>(p) + w);
      }
      return bit_cast<T>(words);
    }
  }
  template <class T>
  SPTRSV_DEVICE T load(const T* p) const {
    return *p;
  }
  template <class T>
  SPTRSV_DEVICE void store(T* p, T v) const {
    *p = v;
  }

  template <class T>
  SPTRSV_DEVICE T atomic_add(T* p, T v) const {
    if constexpr (std::is_floating_point_v<T>) {
      return atomicAdd(p, v);
    } else {  // in two's complement signed and unsigned addition are the same
      using bits = cuda_memory::bits_of<T>;
      return static_cast<T>(atomicAdd(reinterpret_cast<bits*>(p), static_cast<bits>(v)));
    }
  }
  template <class T>
  SPTRSV_DEVICE void reduce_add(T* p, T v) const {
    if (__isShared(p)) {
      static_cast<void>(atomic_add(p, v));
    } else {  // for an atomicAdd with an unused result nvcc emits an atomic that returns the old value
      const auto to = __cvta_generic_to_global(p);
      if constexpr (std::is_same_v<T, double>) {
        asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(to), "d"(v) : "memory");
      } else if constexpr (std::is_same_v<T, float>) {
        asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(to), "f"(v) : "memory");
      } else if constexpr (cuda_memory::is_wide<T>) {
        asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(to),
                     "l"(static_cast<cuda_memory::bits_of<T>>(v))
                     : "memory");
      } else {
        asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(to),
                     "r"(static_cast<cuda_memory::bits_of<T>>(v))
                     : "memory");
      }
    }
  }
  template <class T>
  SPTRSV_DEVICE T atomic_min(T* p, T v) const {
    return static_cast<T>(atomicMin(reinterpret_cast<ordered<T>*>(p), static_cast<ordered<T>>(v)));
  }
  template <class T>
  SPTRSV_DEVICE T atomic_max(T* p, T v) const {
    return static_cast<T>(atomicMax(reinterpret_cast<ordered<T>*>(p), static_cast<ordered<T>>(v)));
  }
  template <class T>
  SPTRSV_DEVICE T atomic_exchange(T* p, T v) const {
    using bits = cuda_memory::bits_of<T>;
    return bit_cast<T>(atomicExch(reinterpret_cast<bits*>(p), bit_cast<bits>(v)));
  }

  template <class T>
  SPTRSV_DEVICE T load_shared(const T* p) const {
    cuda_memory::bits_of<T> v;
    if constexpr (cuda_memory::is_wide<T>) {
      asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_shared(p)));
    } else {
      asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_shared(p)));
    }
    return bit_cast<T>(v);
  }

  /// fence_acquire and fence_release are each a part of fence() and cheaper: the first one drops the lines of
  /// the L1 cache and waits for nothing, the second one waits for the stores of the thread and keeps the
  /// cache. PTX has them from version 8.6 on.
  SPTRSV_DEVICE void fence_acquire() const {
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
    asm volatile("fence.acquire.gpu;" ::: "memory");
#else
    fence();
#endif
  }
  SPTRSV_DEVICE void fence_release() const {
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
    asm volatile("fence.release.gpu;" ::: "memory");
#else
    fence();
#endif
  }
  SPTRSV_DEVICE void fence_block() const { asm volatile("fence.acq_rel.cta;" ::: "memory"); }

  template <class T>
  SPTRSV_DEVICE T load_shared_at(int address) const {
    if constexpr (sizeof(T) >= 16) {
      struct halves {
        unsigned long long of[sizeof(T) / 8];
      } v;
      for (int h = 0; h < static_cast<int>(sizeof(T) / 8); h += 2) {
        asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];"
                     : "=l"(v.of[h]), "=l"(v.of[h + 1])
                     : "r"(address + 8 * h)
                     : "memory");
      }
      return bit_cast<T>(v);
    } else {
      cuda_memory::bits_of<T> v;
      if constexpr (cuda_memory::is_wide<T>) {
        asm volatile("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(address) : "memory");
      } else {
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
      }
      return bit_cast<T>(v);
    }
  }
  template <class T>
  SPTRSV_DEVICE void store_shared_at(int address, T value) const {
    if constexpr (sizeof(T) >= 16) {
      struct halves {
        unsigned long long of[sizeof(T) / 8];
      };
      const auto v = bit_cast<halves>(value);
      for (int h = 0; h < static_cast<int>(sizeof(T) / 8); h += 2) {
        asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(address + 8 * h), "l"(v.of[h]), "l"(v.of[h + 1])
                     : "memory");
      }
    } else {
      const auto v = bit_cast<cuda_memory::bits_of<T>>(value);
      if constexpr (cuda_memory::is_wide<T>) {
        asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(v) : "memory");
      } else {
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
      }
    }
  }
  /// Branches on the addresses. The branch is never taken, but the compiler does not know that.
  template <class... Addresses>
  SPTRSV_DEVICE void compute_now(Addresses... addresses) const {
    if ((... | addresses) < 0) {
      __trap();
    }
  }

  template <class T>
  SPTRSV_DEVICE void spin(const T*) const {}

  template <class T>
  SPTRSV_DEVICE void prefetch(const T* p) const {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
  }

  SPTRSV_DEVICE void end_loop(std::uint64_t loop) const {
#if CUDART_VERSION >= 12040
    if (loop != 0) {
      cudaGraphSetConditional(loop, 0);
    }
#endif
  }

 private:
  /// The integer type of atomicMin and atomicMax with the size and signedness of T.
  template <class T>
  using ordered = std::conditional_t<sizeof(T) == 8,
                                     std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>,
                                     std::conditional_t<std::is_signed_v<T>, int, unsigned int>>;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
