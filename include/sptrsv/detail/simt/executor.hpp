// Where kernels run and what runs beside them, as a concept with two models: `cuda_executor`
// (cuda_executor.cuh) and the emulator of the tests. An engine is written once against it. An executor is a
// cheap value that names a stream; its calls enqueue work on that stream unless they say that they
// synchronise.
//
//   using stream_type = ...;                       // what a user passes for a stream
//   executor(stream_type = {});
//   stream_handle stream() const;                  // for memory resources
//   memory_resource& default_resource() const;     // device memory
//   std::string device_name() const;
//   static bool can_access(const void* p);         // may a kernel dereference p?
//   bool is_capturing() const;                     // is the stream recording a graph of the user's?
//
//   template <class Agent> void launch(std::uint32_t blocks, const typename Agent::params&,
//                                      std::size_t dynamic_shared_bytes = 0,
//                int threads = Agent::block_threads) const;   // blocks > 0; threads of a block, whole warps
//   template <class Agent> std::uint32_t resident_blocks(std::size_t dynamic_shared_bytes = 0,
//                int threads = Agent::block_threads) const;   // that the device holds at once, at least 1
//   static constexpr bool has_arenas;              // may an analysis put several arrays into one piece?
//   std::size_t shared_limit() const;              // bytes of shared memory that a block may have
//   void fill_bytes(void* p, unsigned char value, std::size_t bytes) const;
//   void copy(void* to, const void* from, std::size_t bytes) const;           // device to device
//   void upload(void* device, const void* host, std::size_t bytes) const;
//                                                 // `host` is not used afterwards
//   void download(void* host, const void* device, std::size_t bytes) const;   // synchronises
//   void synchronize() const;
//
//   template <class T> void exclusive_scan(const T* in, T* out, std::int64_t count, memory_resource&) const;
//                                                  // in == out allowed
//   template <class Key, class T>
//   void sort_pairs(const Key* keys_in, Key* keys_out, const T* values_in, T* values_out, std::int64_t count,
//                   int key_bits, memory_resource&) const;
//                                                 // stable, ascending, by the low key_bits bits of
//                                                 // an unsigned key; in and out do not overlap
//
//   using graph_type = ...;                        // move-only, default constructible (empty)
//   template <class Enqueue> graph_type record(Enqueue&& enqueue) const;   // enqueue(executor), not executed
//   void replay(graph_type&) const;
#pragma once

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/memory_resource.hpp"
