// SPDX-License-Identifier: Apache-2.0
// A team of PEs with memory of NVSHMEM (nvshmem_team.cuh) that also sends by puts of NVSHMEM's device
// library. What includes this header is compiled as relocatable device code (nvcc -rdc=true) and linked with
// libnvshmem_device.a.
#pragma once

#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nvshmem_team.cuh"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI {

/// An nvshmem_team for PEs whose memory may not be mapped, for example on other nodes. Values go there by
/// put, fence and signal; policy::distributed::transport says when.
class nvshmem_put_team : public nvshmem_team {
 public:
  using nvshmem_team::nvshmem_team;

  /// Puts by NVSHMEM's device functions; see sptrsv/detail/distributed/puts.hpp.
  struct puts {
    /// The lanes of a warp copy `words` words from `from` to the address of PE `pe` that corresponds to `to`.
    template <class Context, class Warp, class Word>
    SPTRSV_DEVICE void put(Context& /*ctx*/, const Warp& /*warp*/, int pe, Word* to, const Word* from,
                           std::int64_t words) const {
      nvshmemx_putmem_nbi_warp(to, from, static_cast<std::size_t>(words) * sizeof(Word), pe);
    }
    /// For lane 0, after a sync of the warp: what was put before arrives before later signals.
    template <class Context>
    SPTRSV_DEVICE void fence(Context& /*ctx*/) const {
      nvshmem_fence();
    }
    /// One thread stores `value` to the word of PE `pe` that corresponds to `word`.
    template <class Context>
    SPTRSV_DEVICE void signal(Context& /*ctx*/, int pe, std::uint64_t* word, std::uint64_t value) const {
      nvshmemx_signal_op(word, value, NVSHMEM_SIGNAL_SET, pe);
    }
  };
  /// Returns the puts to memory of this team.
  static puts make_puts(std::byte* /*own*/, std::byte* const* /*of_pe*/) { return {}; }

  /// Allocates symmetric memory and returns the addresses, by PE; null where it is not mapped. Collective.
  std::vector<void*> allocate(std::size_t bytes) { return allocate_symmetric(bytes); }
};

}  // namespace sptrsv::SPTRSV_ABI
