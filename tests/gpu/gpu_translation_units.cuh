// A kernel with much shared memory that two translation units launch: nvcc gives each unit a kernel of its
// own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"

namespace sptrsv::testing {

/// Stores 7 to the last word of dynamic shared memory, and from there to global memory.
struct shared_word_agent {
  static constexpr int block_threads = 32;
  struct shared_storage {};
  struct params {
    std::size_t words;
    std::uint32_t* out;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    if (ctx.thread_rank() == 0) {
      auto* const words = static_cast<std::uint32_t*>(ctx.dynamic_shared());
      words[p.words - 1] = 7;
      *p.out = words[p.words - 1];
    }
  }
};

/// Runs the agent with so many words of shared memory. Returns what it stores, or 0 if no block fits an SM.
inline std::uint32_t run_with_shared_words(std::size_t words, std::uint32_t* out) {
  const detail::cuda_executor on(nullptr);
  const std::size_t bytes = words * sizeof(std::uint32_t);
  std::uint32_t stored = 0;
  if (on.resident_blocks<shared_word_agent>(bytes) > 0) {
    on.launch<shared_word_agent>(1, {words, out}, bytes);
    on.download(&stored, out, sizeof(stored));
    on.synchronize();
  }
  return stored;
}

/// Does what run_with_shared_words() does, with the kernel of the other translation unit.
std::uint32_t run_in_other_unit(std::size_t words, std::uint32_t* out);

}  // namespace sptrsv::testing
