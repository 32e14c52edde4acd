// Small things on their way to the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::simt {

/// Bytes that travel as an argument of the launch: copying from the host's memory would have to be waited
/// for.
struct small_upload_agent {
  static constexpr int block_threads = 256;
  static constexpr std::size_t max_bytes = 1024;
  struct shared_storage {};
  struct params {
    unsigned char* to;
    std::uint32_t bytes;
    unsigned char content[max_bytes];
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    for (std::uint32_t i = ctx.thread_rank(); i < p.bytes; i += block_threads) {
      ctx.store(p.to + i, p.content[i]);
    }
  }
};

}  // namespace sptrsv::detail::simt
