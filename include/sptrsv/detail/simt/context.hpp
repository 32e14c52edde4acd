// What a kernel may use, as a concept with two models: `cuda_context` (cuda_context.cuh), which is the
// hardware, and the emulator of the tests, which runs the same kernel bodies on the CPU under adversarial
// schedules.
//
// A kernel body is an agent:
//
//   struct agent {
//     static constexpr int block_threads = 128;
//     static constexpr int warps_per_processor = 48;    // optional: that an SM is to have registers for
//     struct shared_storage { ... };              // trivial; one per block, uninitialised; may be empty
//     struct params { ... };                      // trivially copyable, passed by value
//     template <class Context>
//     SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p);
//   };
//
// Device memory is touched through the context only: the emulator's addresses cannot be dereferenced. Shared
// memory may also be read and written directly where a barrier separates writers and readers. T is trivially
// copyable; for the relaxed, acquire and release accesses and the atomics it is an arithmetic type of 4 or 8
// bytes.
//
//   int thread_rank() const;                      // in the block
//   int block_threads() const;
//   std::uint32_t block_rank() const;             // in the grid; blocks start in ANY order
//   std::uint32_t grid_blocks() const;
//   void* dynamic_shared() const;                 // the launch's dynamic shared memory, 16-byte aligned
//   tile<Lanes> group<Lanes>() const;             // aligned sub-warp group, Lanes = 1, 2, 4, ..., 32
//   void barrier();                               // all threads of the block; orders memory within the block
//   void barrier<Threads>();                      // the block's first Threads threads, whole warps;
//                                                 // likewise; of another size, it is another barrier
//   void barrier_wait<Threads>(int id);           // id = 1 ... 15, not beside barrier<>: opens when Threads
//   void barrier_arrive<Threads>(int id);         // threads, whole warps, have come to wait or to arrive;
//                                                 // those who wait see what all have done; the
//                                                 // lanes of a warp call it together, after a
//                                                 // collective of the warp
//
//   T load_constant(const T* p);                  // *p is not written during the launch
//   T load(const T* p);        void store(T* p, T v);            // weak
//   void load_words<Count>(const T* p, T* to);    // weak, Count words that follow each other, aligned to all
//                                                 // of them: of each a value that it had
//   T load_relaxed(const T* p); void store_relaxed(T* p, T v);   // device scope, atomic, unordered
//   void load_relaxed_words<Count>(const T* p, T* to);           // the same for Count words that follow each
//   void store_relaxed_words<Count>(T* p, const T* words);       // other, aligned to as much, each by
//   itself;
//                                                 // at most 16 bytes; `to`, `words`: the thread's own
//   T load_acquire(const T* p); void store_release(T* p, T v);   // device scope
//   T atomic_add / atomic_sub / atomic_min / atomic_max / atomic_exchange(T* p, T v);   // relaxed; old value
//   void reduce_add(T* p, T v);                   // as atomic_add, but nothing comes back: may be seen late,
//                                                 // like a store; floating-point sums come out in any order
//   T load_shared(const T* p);                    // block scope, atomic, unordered; p in shared memory
//   void fence();                                 // device scope, orders all earlier and later accesses
//   void fence_acquire();                         // device scope, orders earlier loads and all that follows
//   void fence_release();                         // device scope, orders all that went before and stores
//   void fence_block();                           // the same among the threads of the block
//   int shared_address(const void* p);            // of dynamic shared memory, for:
//   T load_shared_at<T>(int address);             // weak, as a direct read
//   void store_shared_at(int address, T v);       // likewise
//   void compute_now(int a, ...);                 // the compiler does not put off the computation of these
//   void pause(const T* p);                       // between two polls of *p: bounded back-off
//   void spin(const T* p);                        // the same without back-off, where few threads poll
//
//   void copy_async<Bytes>(void* shared, const void* global);    // weak; 4, 8 or 16, aligned to as much
//   void commit_copies();                         // groups this thread's copies since the last call
//   void wait_copies<Pending>();                  // for all of this thread's groups but the last `Pending`:
//                                                 // it sees them then, others after a barrier or tile's sync
//   void begin_bulk(std::uint64_t* arrival);      // a word of shared memory, before a barrier and:
//   void copy_bulk(void* shared, const void* global, int bytes, std::uint64_t* arrival, int lane);
//                                                 // weak; a warp's lanes together, after a sync;
//                                                 // all aligned to 16 bytes, 0 allowed; one copy
//                                                 // at a time for a word
//   void wait_bulk(const std::uint64_t* arrival, bool odd);
//                                                 // for the word's copy begun last, its number 0,
//                                                 // 2, ... or 1, 3, ...; by that warp's lanes, which
//                                                 // see all of it after a sync
//
// A weak load may be served from an SM's cache: after a relaxed poll only an acquire or a fence (not
// fence_release) makes it see what the producer stored.
//
//   tile<Lanes>: static int lanes; int rank() const; int index() const (of the tile in its block);
//     T shuffle(T v, int source); T shuffle_down(T v, int delta); T shuffle_xor(T v, int mask);
//     std::uint32_t ballot(bool); bool any(bool); bool all(bool);
//     void sync();                                // orders memory among the lanes, as the others do not
//     every lane of the tile calls them together; 0 <= source, mask < Lanes.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define SPTRSV_DEVICE __device__ __forceinline__
#define SPTRSV_HOST_DEVICE __host__ __device__ __forceinline__
#define SPTRSV_UNROLL _Pragma("unroll")
#else
#define SPTRSV_DEVICE inline
#define SPTRSV_HOST_DEVICE inline
#define SPTRSV_UNROLL
#endif

namespace sptrsv::detail::simt {

/// Spins until `done(*p)` holds and returns that value. The producer must be running: see the ticket.
template <class Context, class T, class Done>
SPTRSV_DEVICE T wait_until(Context& ctx, const T* p, Done done) {
  T value = ctx.load_relaxed(p);
  while (!done(value)) {
    ctx.pause(p);
    value = ctx.load_relaxed(p);
  }
  return value;
}

/// Place of the lowest bit that is set; `mask` is not 0.
SPTRSV_HOST_DEVICE int lowest_bit(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(mask)) - 1;
#else
  int place = 0;
  for (; (mask & 1u) == 0; mask >>= 1) {
    ++place;
  }
  return place;
#endif
}

SPTRSV_HOST_DEVICE int lowest_bit(std::uint64_t mask) {
  const auto low = static_cast<std::uint32_t>(mask);
  return low != 0 ? lowest_bit(low) : 32 + lowest_bit(static_cast<std::uint32_t>(mask >> 32));
}

/// How many bits of `mask` are set.
SPTRSV_HOST_DEVICE int bit_count(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return __popc(mask);
#else
  int count = 0;
  for (; mask != 0; mask &= mask - 1) {
    ++count;
  }
  return count;
#endif
}

}  // namespace sptrsv::detail::simt
