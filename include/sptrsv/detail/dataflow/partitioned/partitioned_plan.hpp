// SPDX-License-Identifier: Apache-2.0
// The plan of a partitioned solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/build/partitioned_values.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/block_partition.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

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

  /// Puts the values of the stored matrix where the kernel reads them.
  template <class Scalar, class Executor>
  void update_values(const Scalar* stored, std::int64_t stored_entries, const triangle_form& form,
                     const Executor& on) {
    if (sources.are_runs()) {
      kernels::scatter_run_values<Scalar> scatter{};
      scatter.stored = stored;
      scatter.stored_entries = stored_entries;
      scatter.diagonals = sources.diagonals.data();
      scatter.row_entries = sources.row_entries.data();
      scatter.row_links = sources.row_links.data();
      scatter.shared_entries = sources.shared_entries.data();
      scatter.slice_begins = slice_begins.data();
      scatter.packed_slices = packed_slices.data();
      scatter.format = slice_format::of<Scalar>(shape);
      scatter.unit = form.unit;
      scatter.reversed = form.reversed;
      scatter.conjugated = form.conjugated;
      simt::for_each(on, 32 * static_cast<std::int64_t>(slice_begins.size()), scatter);
    } else {
      simt::for_each(on, static_cast<std::int64_t>(sources.targets.size()),
                     kernels::scatter_values<Scalar>{stored, sources.targets.data(), slice_begins.data(),
                                                     packed_slices.data(), slice_format::of<Scalar>(shape),
                                                     form.conjugated});
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
