// SPDX-License-Identifier: Apache-2.0
// The parameters of a launch of the partitioned kernel, the words that the threads of a block share, and the
// layout of the dynamic shared memory of a block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/rhs_pack.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
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

/// First the pipelines, one for each warp of the block, then the x ring buffer. A pipeline has three stages;
/// a stage holds the staged bytes of a packed slice, the right-hand sides of its rows, and a word that counts
/// the arrivals of bulk copies.
template <class Scalar, class Shape>
struct shared_layout {
  static constexpr slice_format format = slice_format::of<Scalar>(values_of<Shape>());
  /// Number of right-hand sides that are solved together.
  static constexpr int rhs_together = rhs_in_sector<Scalar>(Shape::max_rhs);
  using unknown = unknown_t<Scalar, rhs_together>;
  static constexpr int stages = 3;
  static constexpr int rows = 32 / Shape::lanes;
  static constexpr int packed_bytes =
      format.offsets(rows, format.sizes(rows), Shape::entries, rows).bytes(2 * Shape::polled_pairs);
  static_assert(packed_bytes < 65536, "partitioned_shape: entries and polled_pairs exceed a packed slice");
  static constexpr int arrival_offset = packed_bytes + 32 * static_cast<int>(sizeof(unknown));
  static constexpr int stage_bytes = arrival_offset + 16;
  static constexpr int warp_bytes = stages * stage_bytes;
  static constexpr int warp_group_bytes = Shape::threads / 32 * warp_bytes;
  /// The largest size of all pipelines together: the rest is for the x ring buffer.
  static constexpr int max_pipeline_bytes = (sizeof(unknown) > 8 ? 150 : Shape::streams ? 210 : 194) * 1024;
  static constexpr int warp_groups =
      std::min({Shape::max_warp_groups, max_pipeline_bytes / warp_group_bytes, 1024 / Shape::threads});
  static constexpr int block_threads = warp_groups * Shape::threads;
  static constexpr int x_ring_offset = warp_groups * warp_group_bytes;
  static_assert(warp_groups >= 2, "partitioned_shape: threads leave a block fewer than two warp groups");

  SPTRSV_DEVICE static slice_offsets offsets_of(const slice_head& slice) {
    constexpr slice_format local =
        slice_format::of<Scalar>(values_of<Shape>());  // device code has no `format`
    return local.offsets(slice);
  }
  /// Returns a row of the packed slice in a stage.
  SPTRSV_DEVICE static packed_row<Scalar> row_in(const unsigned char* stage, const slice_offsets& offsets,
                                                 int row) {
    return {reinterpret_cast<const Scalar*>(stage + slice_offsets::factors)[row],
            reinterpret_cast<const std::int32_t*>(stage + offsets.row_codes)[row]};
  }

  /// Returns the number of components that the x ring buffer holds, of at most `max_size`. Shapes that stream
  /// have a smaller one, because more warp groups hide the latency of memory better.
  static constexpr std::int64_t x_ring_size(std::int64_t max_size) {
    constexpr std::int64_t fit = 65536 / static_cast<std::int64_t>(sizeof(unknown));
    return (rhs_together > 1 ? std::min(max_size, fit) : max_size) / (Shape::streams ? 2 : 1);
  }
  /// Returns the size of all: the ring buffer has `x_ring_size` components and a zero behind them.
  static constexpr std::size_t bytes(std::int64_t x_ring_size) {
    return x_ring_offset + at(x_ring_size + 1) * sizeof(unknown);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
