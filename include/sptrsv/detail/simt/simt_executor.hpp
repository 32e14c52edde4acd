// SPDX-License-Identifier: Apache-2.0
// The interface between engines and device: launches, copies, sorts and graphs. It is a concept with two
// models: `cuda_executor` (cuda_executor.cuh) and the emulator of the tests. Every engine is written against
// it once. An executor is a value that names a stream and is cheap to copy. Its calls enqueue work on that
// stream unless the comment says that they synchronise.
//
//   using stream_type = ...;                       // type of the stream that a user passes
//   executor(stream_type = {});
//   stream_handle stream() const;                  // for memory resources
//   memory_resource& default_resource() const;     // device memory
//   std::string device_name() const;
//   static std::string why_unreachable(const void* p);
//                                                 // why kernels may not dereference p; empty if they may
//   bool is_capturing() const;                     // whether the stream records a graph of the user
//
//   template <class Agent> void launch(std::uint32_t blocks, const typename Agent::params&,
//                                      std::size_t dynamic_shared_bytes = 0,
//                int threads = Agent::block_threads) const;   // blocks > 0; threads per block, whole warps
//   template <class Agent> void launch_together(...) const;
//                                                 // as launch, for a kernel that waits for kernels of other
//                                                 // PEs; not in a graph
//   template <class Agent> void run_beside_others() const;
//                                                 // lets a kernel run beside other ones of this kind,
//                                                 // whatever part of an SM's memory each of them takes
//   template <class Agent> std::uint32_t resident_blocks(std::size_t dynamic_shared_bytes = 0,
//                int threads = Agent::block_threads) const;   // blocks on the device at once, at least 1
//   static constexpr bool has_arenas;              // whether an analysis may put arrays into one piece
//   std::size_t shared_limit() const;              // largest shared memory of a block in bytes
//   void fill_bytes(void* p, unsigned char value, std::size_t bytes) const;
//   void copy(void* to, const void* from, std::size_t bytes) const;           // device to device
//   void upload(void* device, const void* host, std::size_t bytes) const;
//                                                 // `host` is not used afterwards
//   void begin_upload(void* device, const void* host, std::size_t bytes) const;
//                                                 // `host` stays as it is until a call synchronises
//   void download(void* host, const void* device, std::size_t bytes) const;   // synchronises
//   void synchronize() const;
//
//   template <class T> void exclusive_scan(const T* in, T* out, std::int64_t count, memory_resource&) const;
//                                                  // in == out allowed
//   template <class Key, class T>
//   void sort_pairs(const Key* keys_in, Key* keys_out, const T* values_in, T* values_out, std::int64_t count,
//                   int key_bits, memory_resource&) const;
//       Stable, ascending, by the low key_bits bits of an unsigned key; in and out do not overlap.
//   template <class Key, class T>
//   void sort_pairs_in_place(buffer<Key>& keys, buffer<Key>& other_keys, buffer<T>& values,
//                            buffer<T>& other_values, int key_bits, memory_resource&) const;
//       The same in keys and values, without memory for a further copy. All buffers have one size; the
//       contents of the others are undefined before and after. Buffers of a pair may be exchanged.
//
//   using graph_type = ...;                        // move-only, default constructible (empty)
//   template <class Enqueue> graph_type record(Enqueue&& enqueue) const;
//                                                  // enqueue(launcher) calls launcher.launch() only, which
//                                                  // records the launch and does not execute it
//   void replay(graph_type&) const;
#pragma once

#include <cstddef>
#include <string>

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// Returns why kernels on GPU `current` may not use memory of GPU `owner` (-1: host or managed memory); empty
/// if they may. `is_mapped`: whether kernels can use its address at all. Memory of another GPU is refused
/// even with peer access: policies hand values over by caches and atomics of one GPU.
inline std::string why_unreachable(bool is_mapped, int owner, int current) {
  if (owner >= 0 && owner != current) {
    return text_from("it is memory of GPU ", owner, ", and GPU ", current, " is the current one");
  }
  return is_mapped ? std::string() : "it is host memory, and the GPU takes device memory";
}

/// The static shared memory of a block of an agent, in bytes, as far as where its dynamic shared memory may
/// begin, which is aligned to 16 bytes.
template <class Agent>
inline constexpr std::size_t static_shared_bytes = (sizeof(typename Agent::shared_storage) +
                                                    std::size_t{15}) /
                                                   16 * 16;

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
