// SPDX-License-Identifier: Apache-2.0
// The parameters of a launch of the partitioned kernel, and the words that the threads of a block share.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/layout/partitioned_shared_memory.hpp"
#include "sptrsv/detail/sync/double_buffer.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

template <class Scalar>
struct kernel_params {
  std::int32_t size;  ///< rows of the system
  std::int32_t partitions;
  std::int32_t x_ring_size;  ///< components in the x ring buffer, a power of two
  bool reversed;
  const std::int32_t* partition_begins;  ///< partitions + 1: the first solve index of each partition
  const warp_start* starts;              ///< by partition, then by warp of the block
  const unsigned char* packed_slices;
  launch_share share;
  double_buffer<Scalar> buffers;  ///< x by solve index
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// What the threads of a block share in addition to pipelines and x ring buffer. They read these values from
/// shared memory, because otherwise the compiler derives them from special registers and parameters at each
/// use, which is slow.
struct shared_start {
  block_start block;
  std::uint64_t packed_slices;  ///< address
  std::int32_t x_ring_address;  ///< address in shared memory
  std::int32_t x_ring_size;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
