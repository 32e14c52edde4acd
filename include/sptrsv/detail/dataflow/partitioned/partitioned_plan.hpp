// SPDX-License-Identifier: Apache-2.0
// The plan of a partitioned solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/build/partitioned_values.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/block_partition.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Arrays are in device memory; see kernel_params for those that the kernel reads.
struct plan {
  shape_values shape{};
  block_partition boxes;  ///< if the partitions are boxes of a grid
  std::int32_t partitions = 0;
  std::int32_t x_ring_size = 0;  ///< components in the x ring buffer
  std::int64_t solve_size = 0;   ///< rows, with the partial rows
  std::int64_t tiles = 0;
  buffer<std::int32_t> partition_begins;
  buffer<warp_start> starts;
  buffer<std::uint32_t> slice_begins;  ///< by slice: offset of its packed slice, in units of 16 bytes
  buffer<unsigned char> packed_slices;
  value_sources sources;
};

}  // namespace sptrsv::detail::dataflow::partitioned
