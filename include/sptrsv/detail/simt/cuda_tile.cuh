// SPDX-License-Identifier: Apache-2.0
// The tiles of the execution context (context.hpp) on the hardware, and the words that instructions move.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {

namespace cuda_memory {

/// Whether T has 8 bytes; the other arithmetic types that kernels exchange have 4.
template <class T>
inline constexpr bool is_wide = sizeof(T) == 8;

/// The unsigned integer type of the size of T.
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int>;

/// T as an array of the widest words that its alignment allows.
template <class T>
struct words_of {
  using word = bits_of<std::conditional_t<alignof(T) % 8 == 0, std::uint64_t, std::uint32_t>>;
  word part[sizeof(T) / sizeof(word)];
};

/// Whether one instruction loads a T.
template <class T>
inline constexpr bool is_single = std::is_arithmetic_v<T> || std::is_enum_v<T>;

}  // namespace cuda_memory

/// An aligned group of `Lanes` lanes of a warp.
template <int Lanes>
class cuda_tile {
  static_assert(Lanes >= 1 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0);

 public:
  static constexpr int lanes = Lanes;

  SPTRSV_DEVICE int rank() const { return static_cast<int>(threadIdx.x) % Lanes; }
  SPTRSV_DEVICE int index() const { return static_cast<int>(threadIdx.x) / Lanes; }

  template <class T>
  SPTRSV_DEVICE T shuffle(T v, int source) const {
    return exchange(v, [&](auto part) { return __shfl_sync(mask(), part, source, Lanes); });
  }
  template <class T>
  SPTRSV_DEVICE T shuffle_xor(T v, int lane_mask) const {
    return exchange(v, [&](auto part) { return __shfl_xor_sync(mask(), part, lane_mask, Lanes); });
  }
  SPTRSV_DEVICE std::uint32_t ballot(bool v) const {
    if constexpr (Lanes == 1) {
      return v ? 1u : 0u;
    } else {
      return (__ballot_sync(mask(), v) & mask()) >> first_lane();
    }
  }
  SPTRSV_DEVICE bool any(bool v) const { return __any_sync(mask(), v); }
  SPTRSV_DEVICE bool all(bool v) const { return __all_sync(mask(), v); }
  SPTRSV_DEVICE void sync() const {
    if constexpr (Lanes > 1) {
      __syncwarp(mask());
    }
  }

  /// Tensor cores multiply doubles from compute capability 8.0 on.
  template <class T>
  static constexpr bool has_multiply_add =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
      Lanes == 32 && std::is_same_v<T, double>;
#else
      false;
#endif
  SPTRSV_DEVICE void multiply_add(double a, double b, double (&c)[2]) const {
    static_assert(has_multiply_add<double>);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
  }
  /// From compute capability 9.0 on, one instruction multiplies 16 rows, at twice the rate of 8 rows.
  SPTRSV_DEVICE void multiply_add(const double (&a)[2], double b, double (&c)[2], double (&d)[2]) const {
    static_assert(has_multiply_add<double>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
        "%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(d[0]), "+d"(d[1])
        : "d"(a[0]), "d"(a[1]), "d"(b));
#else
    multiply_add(a[0], b, c);
    multiply_add(a[1], b, d);
#endif
  }

 private:
  /// Returns the lane of the warp with rank 0 in the tile.
  SPTRSV_DEVICE static int first_lane() { return static_cast<int>(threadIdx.x) % 32 / Lanes * Lanes; }
  /// Returns the bits of the lanes of the tile in a mask of the warp.
  SPTRSV_DEVICE static unsigned int mask() {
    return Lanes == 32 ? 0xffffffffu : ((1u << (Lanes % 32)) - 1u) << first_lane();
  }
  /// Calls `shuffle` for `v`, or for each word of it if one instruction cannot move it.
  template <class T, class Shuffle>
  SPTRSV_DEVICE static T exchange(T v, Shuffle shuffle) {
    if constexpr (Lanes == 1) {
      return v;
    } else if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
      return shuffle(v);
    } else {
      auto words = bit_cast<cuda_memory::words_of<T>>(v);
      for (auto& part : words.part) {
        part = shuffle(part);
      }
      return bit_cast<T>(words);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
