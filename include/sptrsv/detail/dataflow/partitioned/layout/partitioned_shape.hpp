// SPDX-License-Identifier: Apache-2.0
// The shape of a partitioned solve: how the threads of a block share a tile.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include "sptrsv/detail/dataflow/shape_list.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// A shape of the tuning (sptrsv::partitioned_shape) as a type, for which the kernel is compiled.
template <int Lanes, int Threads, int WarpGroups, int Entries, int PolledPairs = 1, bool Streams = false,
          int Rhs = 1>
struct kernel_shape {
  static_assert(Lanes >= 1 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0,
                "partitioned_shape: lanes must be a power of two, at most 32");
  static_assert(Threads >= 32 && Threads % 32 == 0, "partitioned_shape: threads must be a multiple of 32");
  static_assert(
      WarpGroups >= 2 && WarpGroups <= 15,
      "partitioned_shape: warp_groups must be 2 to 15, because a block has 15 named barriers for them");
  static_assert(Entries >= 2 && Entries % 2 == 0, "partitioned_shape: entries must be an even number");
  static_assert(PolledPairs >= 1, "partitioned_shape: polled_pairs must be at least 1");
  static_assert(Rhs >= 1 && (Rhs & (Rhs - 1)) == 0, "partitioned_shape: rhs must be a power of two");
  static constexpr int lanes = Lanes;
  static constexpr int threads = Threads;
  static constexpr int max_warp_groups = WarpGroups;
  static constexpr int entries = Entries;
  static constexpr int polled_pairs = PolledPairs;
  static constexpr bool streams = Streams;
  static constexpr int max_rhs = Rhs;
};

/// The members of a kernel_shape as run-time values.
struct shape_values {
  int lanes;
  int threads;
  int entries;
  int polled_pairs;
  bool streams;
  int max_rhs;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int slice_rows() const { return 32 / lanes; }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int tile_slices() const { return threads / 32; }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int tile_rows() const { return threads / lanes; }
  /// Returns the largest number of shared entries that a row may have.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int shared_entries() const { return lanes * entries; }
};

template <class Shape>
SPTRSV_HOST_DEVICE constexpr shape_values values_of() {
  return {Shape::lanes, Shape::threads, Shape::entries, Shape::polled_pairs, Shape::streams, Shape::max_rhs};
}

/// The shapes of a tuning as types, in the order of its records.
template <class Tuning>
struct shapes_of {
 private:
  template <std::size_t I>
  using shape = kernel_shape<Tuning::partitioned_shapes[I].lanes, Tuning::partitioned_shapes[I].threads,
                             Tuning::partitioned_shapes[I].warp_groups, Tuning::partitioned_shapes[I].entries,
                             Tuning::partitioned_shapes[I].polled_pairs,
                             Tuning::partitioned_shapes[I].streams, Tuning::partitioned_shapes[I].rhs>;

 public:
  using type =
      decltype(shapes_by_index<shape>(std::make_index_sequence<std::size(Tuning::partitioned_shapes)>{}));
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
