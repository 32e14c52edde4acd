// SPDX-License-Identifier: Apache-2.0
// Small uploads to the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::simt {

/// Writes bytes that are passed as a parameter of the launch. A copy from host memory would have to be waited
/// for, because the caller may reuse that memory.
struct small_upload_agent {
  static constexpr int block_threads = 256;
  static constexpr std::size_t max_bytes = 1024;
  struct shared_storage {};
  struct params {
    unsigned char* to;
    std::uint32_t bytes;  ///< at most max_bytes
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
