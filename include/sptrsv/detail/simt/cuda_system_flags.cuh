// The accesses of the execution context (context.hpp) on the hardware by which devices exchange words.
#pragma once

#include <cuda_runtime.h>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/cuda_tile.cuh"

namespace sptrsv::detail::simt {

/// Loads and stores of words that other devices poll; the same as in cuda_flags with system scope.
class cuda_system_flags {
 public:
  template <class T>
  __device__ __forceinline__ T load_relaxed_system(const T* p) const {
    cuda_memory::bits_of<T> v;
    if constexpr (cuda_memory::is_wide<T>) {
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_global(p)));
    } else {
      asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)));
    }
    return bit_cast<T>(v);
  }
  template <int Count, class T>
  __device__ __forceinline__ void load_relaxed_system_words(const T* p, T* to) const {
    if constexpr (Count == 1) {
      to[0] = load_relaxed_system(p);
    } else if constexpr (cuda_memory::is_wide<T>) {
      static_assert(Count == 2);
      cuda_memory::bits_of<T> v[2];
      asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(v[0]), "=l"(v[1])
                   : "l"(__cvta_generic_to_global(p)));
      to[0] = bit_cast<T>(v[0]);
      to[1] = bit_cast<T>(v[1]);
    } else if constexpr (Count == 2) {
      cuda_memory::bits_of<T> v[2];
      asm volatile("ld.relaxed.sys.global.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v[0]), "=r"(v[1])
                   : "l"(__cvta_generic_to_global(p)));
      to[0] = bit_cast<T>(v[0]);
      to[1] = bit_cast<T>(v[1]);
    } else {
      static_assert(Count == 4);
      cuda_memory::bits_of<T> v[4];
      asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                   : "l"(__cvta_generic_to_global(p)));
      for (int w = 0; w < 4; ++w) {
        to[w] = bit_cast<T>(v[w]);
      }
    }
  }
  template <int Count, class T>
  __device__ __forceinline__ void store_relaxed_system_words(T* p, const T* words) const {
    if constexpr (Count == 1) {
      store_relaxed_system(p, words[0]);
    } else {
      cuda_memory::bits_of<T> v[Count];
      for (int w = 0; w < Count; ++w) {
        v[w] = bit_cast<cuda_memory::bits_of<T>>(words[w]);
      }
      const auto to = __cvta_generic_to_global(p);
      if constexpr (cuda_memory::is_wide<T>) {
        static_assert(Count == 2);
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(v[0]), "l"(v[1])
                     : "memory");
      } else if constexpr (Count == 2) {
        asm volatile("st.relaxed.sys.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(v[0]), "r"(v[1])
                     : "memory");
      } else {
        static_assert(Count == 4);
        asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v[0]), "r"(v[1]),
                     "r"(v[2]), "r"(v[3])
                     : "memory");
      }
    }
  }
  template <class T>
  __device__ __forceinline__ void store_relaxed_system(T* p, T value) const {
    const auto v = bit_cast<cuda_memory::bits_of<T>>(value);
    if constexpr (cuda_memory::is_wide<T>) {
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "l"(v)
                   : "memory");
    } else {
      asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "r"(v)
                   : "memory");
    }
  }
  __device__ __forceinline__ void fence_system() const { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
};

}  // namespace sptrsv::detail::simt
