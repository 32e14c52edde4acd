// SPDX-License-Identifier: Apache-2.0
// The interface between kernels and hardware. A kernel body takes a context, a concept with two models:
// `cuda_context` (cuda_context.cuh), which is the hardware, and the emulator of the tests, which runs the
// same kernel bodies on the CPU under adversarial schedules.
//
// A kernel body is an agent:
//
//   struct agent {
//     static constexpr int block_threads = 128;
//     static constexpr int warps_per_processor = 48;  // optional: the compiler leaves registers for so many
//                                                     // warps on an SM
//     struct shared_storage { ... };                  // trivial; one per block, uninitialised; may be empty
//     struct params { ... };                          // trivially copyable, passed by value
//     template <class Context>
//     SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p);
//   };
//
// Kernels access device memory through the context only, because the addresses of the emulator cannot be
// dereferenced. They may read and write shared memory directly if a barrier separates writers and readers. T
// is trivially copyable; for relaxed, acquire and release accesses and for atomics it is an arithmetic type
// of 4 or 8 bytes.
//
// Threads and barriers:
//   int thread_rank() const;             // in the block
//   int block_threads() const;
//   std::uint32_t block_rank() const;    // in the grid; blocks start in ANY order
//   std::uint32_t grid_blocks() const;
//   void* dynamic_shared() const;        // dynamic shared memory of the launch, 16-byte aligned
//   tile<Lanes> group<Lanes>() const;    // aligned lanes of a warp, Lanes = 1, 2, 4, ..., 32
//   void barrier();                      // all threads of the block; orders memory within the block
//   void barrier_wait<Threads>(int id);
//   void barrier_arrive<Threads>(int id);
//       id = 1 ... 15. The barrier opens when Threads threads, whole warps, wait or have arrived. Threads
//       that wait then see what all of them have done. All threads that wait for one opening call
//       barrier_wait at the same place of the program. The lanes of a warp call it together, after a
//       collective of the warp.
//
// Memory:
//   T load_constant(const T* p);         // *p is not written during the launch
//   T load(const T* p);                  // weak
//   void store(T* p, T v);               // weak
//   void load_words<Count>(const T* p, T* to);
//       Weak load of Count consecutive words, aligned to their total size. Each is a value that the word had.
//   T load_relaxed(const T* p);          // device scope, atomic, unordered
//   void store_relaxed(T* p, T v);       // device scope, atomic, unordered
//   void load_relaxed_words<Count>(const T* p, T* to);
//   void store_relaxed_words<Count>(T* p, const T* words);
//       The same for Count consecutive words of at most 16 bytes, aligned to their total size. Each word is
//       atomic by itself. `to` and `words` belong to the thread.
//   T load_acquire(const T* p);          // device scope
//   T atomic_add / atomic_min / atomic_max / atomic_exchange(T* p, T v);  // relaxed; old value
//   void reduce_add(T* p, T v);          // atomic_add without a result: other threads may see it late, as a
//                                        // store; the order of floating-point additions is not fixed
//   T load_shared(const T* p);           // block scope, atomic, unordered; p in shared memory
//   void fence();                        // device scope, orders all earlier and later accesses
//   void fence_acquire();                // device scope, orders earlier loads and all later accesses
//   void fence_release();                // device scope, orders all earlier accesses and later stores
//   void fence_block();                  // block scope, orders all earlier and later accesses
//   int shared_address(const void* p);   // address in dynamic shared memory, for the next two
//   T load_shared_at<T>(int address);    // weak, as a direct read
//   void store_shared_at(int address, T v);  // weak, as a direct write
//   void compute_now(int a, ...);        // the compiler computes the arguments here, not at their use
//   void pause(const T* p);              // between two polls of *p, with bounded back-off
//   void spin(const T* p);               // the same without back-off, where few threads poll
//   void prefetch(const T* p);           // asks for the cache line of *p, which will be loaded much later
//
// Graphs:
//   void end_loop(std::uint64_t loop);   // `loop`, if not 0: the condition of the loop of CUDA graphs that
//                                        // the kernel is part of, which ends then. One thread calls it.
//
// Several devices:
//   auto system_scope();                 // load_relaxed, load_acquire, store_relaxed, load_relaxed_words,
//       store_relaxed_words, fence and pause with system scope, as functions of an object. Stores may go to
//       memory of another device.
//
// Asynchronous copies from global to shared memory:
//   void copy_async<Bytes>(void* shared, const void* global);
//       Weak copy of 4, 8 or 16 bytes, aligned to as much.
//   void commit_copies();                // makes a group of this thread's copies since the last call
//   void wait_copies<Pending>();
//       Waits for all groups of this thread but the last `Pending`. The thread then sees the copies; other
//       threads see them after a barrier or the sync of a tile.
//   void begin_bulk(std::uint64_t* arrival);
//       Prepares a word of shared memory for copy_bulk. A barrier must follow.
//   void copy_bulk(void* shared, const void* global, int bytes, std::uint64_t* arrival, int lane);
//       Weak. The lanes of a warp call it together, after a sync. Addresses and size are multiples of 16; the
//       size may be 0. One copy at a time for each word.
//   void wait_bulk(const std::uint64_t* arrival, bool odd);
//       Waits for the last copy of the word. The copies of a word are numbered from 0; `odd` says whether the
//       number is odd. The lanes of the warp that called copy_bulk call it, and see the copy after a sync.
//   void end_bulk(std::uint64_t* arrival);
//       Ends the use of a word, all of whose copies have been waited for. Then it may be prepared again, by
//       the same thread.
//
// A weak load may be served from the cache of an SM: after a relaxed poll only an acquire or a fence (not
// fence_release) makes it see what the producer stored.
//
// Tiles:
//   tile<Lanes>: static int lanes; int rank() const; int index() const (of the tile in its block);
//     T shuffle(T v, int source); T shuffle_xor(T v, int mask);
//     std::uint32_t ballot(bool); bool any(bool); bool all(bool);
//     void sync();                       // orders memory among the lanes; the other calls do not
//   All lanes of the tile call them together; 0 <= source, mask < Lanes.
//
//   tile<32>: static bool has_multiply_add<T>;  // whether the target has multiply_add for values of type T
//     void multiply_add(T a, T b, T (&c)[2]);
//       C += A B, where A has 8 x 4 elements, B 4 x 8, and C 8 x 8. Lane l has A(l / 4, l % 4),
//       B(l % 4, l / 4), C(l / 4, 2 (l % 4)) and C(l / 4, 2 (l % 4) + 1).
//     void multiply_add(const T (&a)[2], T b, T (&c)[2], T (&d)[2]);
//       Multiplies two matrices A by one B: C += A_0 B and D += A_1 B.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// Polls *p until `done(*p)` holds; returns that value. Its writer has started, see sync/tickets.hpp.
template <class Context, class T, class Done>
SPTRSV_DEVICE T wait_until(Context& ctx, const T* p, Done done) {
  T value = ctx.load_relaxed(p);
  while (!done(value)) {
    ctx.pause(p);
    value = ctx.load_relaxed(p);
  }
  return value;
}

/// Returns the index of the lowest bit that is set; `mask` is not 0.
SPTRSV_HOST_DEVICE int lowest_bit(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(mask)) - 1;
#else
  return __builtin_ctz(mask);
#endif
}

/// Returns the index of the lowest bit that is set; `mask` is not 0.
SPTRSV_HOST_DEVICE int lowest_bit(std::uint64_t mask) {
  const auto low = static_cast<std::uint32_t>(mask);
  return low != 0 ? lowest_bit(low) : 32 + lowest_bit(static_cast<std::uint32_t>(mask >> 32));
}

/// Returns the index of the highest bit that is set; `mask` is not 0.
SPTRSV_HOST_DEVICE int highest_bit(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(static_cast<int>(mask));
#else
  return 31 - __builtin_clz(mask);
#endif
}

/// Returns the number of bits that are set.
SPTRSV_HOST_DEVICE int bit_count(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return __popc(mask);
#else
  return __builtin_popcount(mask);
#endif
}

/// Operation for reduce(): the sum.
struct plus {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
/// Operation for reduce(): the smaller value.
struct minimum {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
/// Operation for reduce(): the larger value.
struct maximum {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
/// Operation for reduce(): the bitwise or.
struct bit_or {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return a | b;
  }
};

/// Returns the reduction of `value` by `op` over each aligned group of `width` lanes of the tile. `width` is
/// a power of two, at most the size of the tile, and the same in every lane. `op` is commutative. The lanes
/// combine values in a butterfly: the order is fixed, and all lanes of a group get the same bits.
template <class Tile, class T, class Op>
SPTRSV_DEVICE T reduce(const Tile& tile, T value, int width, Op op) {
  for (int mask = width / 2; mask > 0; mask /= 2) {
    value = op(value, tile.shuffle_xor(value, mask));
  }
  return value;
}

/// Returns the sum of `value` over the lanes of the tile with a smaller rank.
template <class Tile, class T>
SPTRSV_DEVICE T exclusive_sum(const Tile& tile, T value) {
  T sum = value;
  for (int distance = 1; distance < Tile::lanes; distance *= 2) {
    const T other = tile.shuffle(sum, tile.rank() < distance ? 0 : tile.rank() - distance);
    sum += tile.rank() < distance ? T{} : other;
  }
  return sum - value;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
