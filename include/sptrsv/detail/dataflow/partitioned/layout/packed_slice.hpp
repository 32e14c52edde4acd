// SPDX-License-Identifier: Apache-2.0
// The shape of a partitioned solve, which says how the threads of a block share a tile; the packed form of a
// slice, the rows of a tile that one warp solves, with all bit packing of the path; the parameters of a
// launch; and a block's shared memory. The parts of a packed slice, see slice_offsets:
//
//   slice_head      16 bytes: sizes, and the place of the packed slice that the warp solves two tiles later
//   factors         one value for each row: the reciprocal of its pivot, or the pivot
//   row codes       one 32-bit integer for each row: the row of b and x, see packed_row
//   shared entries  entry columns of values, then entry columns of 16-bit slots of the x ring buffer
//   global entries  entry columns, each with 32-bit solve indices and then values
//
// An entry column holds one entry for each lane, as in the ELLPACK format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/rhs_pack.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/sync/double_buffer.hpp"
#include "sptrsv/types.hpp"

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

/// The head of a packed slice. Sizes and offsets of packed slices count units of 16 bytes.
struct alignas(16) slice_head {
  std::int32_t first_solve_index;  ///< of the slice; its rows are consecutive
  /// Bits 0-5: rows; 6-11: entry columns of shared entries; 12-23: entry columns of global entries; 24-31:
  /// rows up to the last one with global entries. Only these rows have lanes in a global entry column.
  std::uint32_t counts;
  /// Bits 0-7: lanes; 8-19: offset of the shared values in the packed slice; 20-31: staged size of the packed
  /// slice `next`, 0 if there is none.
  std::uint32_t sizes;
  std::uint32_t next;  ///< offset of the packed slice that the warp solves two tiles later

  static constexpr std::int64_t max_global_width = 4095;

  static SPTRSV_HOST_DEVICE constexpr std::uint32_t pack_counts(std::uint32_t rows,
                                                                std::uint32_t shared_width,
                                                                std::uint32_t global_width,
                                                                std::uint32_t global_rows) {
    return rows | shared_width << 6 | global_width << 12 | global_rows << 24;
  }
  SPTRSV_HOST_DEVICE void set_next(std::uint32_t offset, int staged_bytes) {
    next = offset;
    sizes |= static_cast<std::uint32_t>(staged_bytes / 16) << 20;
  }

  SPTRSV_HOST_DEVICE int rows() const { return static_cast<int>(counts & 63u); }
  SPTRSV_HOST_DEVICE int shared_width() const { return static_cast<int>(counts >> 6 & 63u); }
  SPTRSV_HOST_DEVICE int global_width() const { return static_cast<int>(counts >> 12 & 4095u); }
  SPTRSV_HOST_DEVICE int global_rows() const { return static_cast<int>(counts >> 24); }
  SPTRSV_HOST_DEVICE int next_bytes() const { return static_cast<int>(sizes >> 20) * 16; }
};

/// Where a warp begins a partition: all that it needs before its first tile in one load, since every
/// dependent load is one more round trip to L2. Offsets count units of 16 bytes.
struct alignas(16) warp_start {
  std::int32_t tiles;          ///< of the partition
  std::uint32_t first_slice;   ///< offset of the warp's first packed slice; 0 if there is none
  std::uint32_t second_slice;  ///< offset of its second one
  std::uint32_t sizes;         ///< staged sizes; bits 0-15: of the first slice; 16-31: of the second one

  SPTRSV_HOST_DEVICE void set_first(std::uint32_t offset, int staged_bytes) {
    first_slice = offset;
    sizes = static_cast<std::uint32_t>(staged_bytes / 16);
  }
  SPTRSV_HOST_DEVICE void set_second(std::uint32_t offset, int staged_bytes) {
    second_slice = offset;
    sizes |= static_cast<std::uint32_t>(staged_bytes / 16) << 16;
  }

  SPTRSV_HOST_DEVICE int first_bytes() const { return static_cast<int>(sizes & 65535u) * 16; }
  SPTRSV_HOST_DEVICE int second_bytes() const { return static_cast<int>(sizes >> 16) * 16; }
};

/// The data of a row that a kernel needs in addition to its entries.
template <class Scalar>
struct packed_row {
  Scalar factor;          ///< the reciprocal of the pivot; the pivot if the row must divide by it
  std::int32_t row_code;  ///< the row r of b and x; -2 - r if the row must divide; -1 for a partial row

  SPTRSV_HOST_DEVICE bool divides() const { return row_code < -1; }
  /// Returns the row of b and x; -1 for a partial row.
  SPTRSV_HOST_DEVICE std::int32_t index() const { return divides() ? -2 - row_code : row_code; }
  SPTRSV_HOST_DEVICE void set_pivot(Scalar pivot) {
    const pivot_divisor<Scalar> divisor(pivot);
    row_code = divisor.is_safe() ? index() : -2 - index();
    factor = divisor.is_safe() ? divisor.reciprocal() : pivot;
  }
};

/// Offsets in a packed slice, in bytes. There is room for the lanes of the slice's rows only, and in global
/// entry columns for those of its first `global_rows` rows only, rounded up to four lanes.
struct slice_offsets {
  static constexpr int factors = static_cast<int>(sizeof(slice_head));

  std::int32_t row_codes;
  std::int32_t shared_values;
  std::int32_t value_column_bytes;  ///< size of an entry column of shared values
  std::int32_t shared_slots;
  std::int32_t slot_column_bytes;  ///< size of an entry column of slots
  std::int32_t global_columns;
  std::int32_t global_values;  ///< offset of the values in a global entry column
  std::int32_t global_column_bytes;

  /// Returns the size of the packed slice with so many global entry columns.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int bytes(int global_width) const {
    return global_columns + global_width * global_column_bytes;
  }
};

/// What all packed slices of a plan have in common.
struct slice_format {
  shape_values shape;
  std::int32_t scalar_bytes;

  template <class Scalar>
  static SPTRSV_HOST_DEVICE constexpr slice_format of(const shape_values& shape) {
    return {shape, static_cast<int>(sizeof(Scalar))};
  }

  /// Returns slice_head::sizes of a slice of so many rows that has no next slice.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr std::uint32_t sizes(int rows) const {
    const int values =
        slice_offsets::factors + rows * (scalar_bytes + static_cast<int>(sizeof(std::int32_t)));
    return static_cast<std::uint32_t>(round_up(4, rows * shape.lanes) | (values + 15) / 16 << 8);
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr slice_offsets offsets(int rows, std::uint32_t sizes,
                                                                   int shared_width, int global_rows) const {
    const int lanes = static_cast<int>(sizes & 255u);
    const int global_lanes = round_up(4, global_rows * shape.lanes);
    const int slot_column_bytes = lanes * static_cast<int>(sizeof(std::uint16_t));
    const int index_bytes = global_lanes * static_cast<int>(sizeof(std::int32_t));
    const int values = static_cast<int>(sizes >> 8 & 4095u) * 16;
    const int slots = values + shared_width * lanes * scalar_bytes;
    return {slice_offsets::factors + rows * scalar_bytes,
            values,
            lanes * scalar_bytes,
            slots,
            slot_column_bytes,
            slots + round_up(16, shared_width * slot_column_bytes),
            index_bytes,
            index_bytes + global_lanes * scalar_bytes};
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE slice_offsets offsets(const slice_head& slice) const {
    return offsets(slice.rows(), slice.sizes, slice.shared_width(), slice.global_rows());
  }
  /// Returns the staged bytes of a packed slice: all but global entry columns that are not polled together.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int staged_bytes(const slice_offsets& offsets,
                                                              int global_width) const {
    const int max_width = 2 * shape.polled_pairs;
    return offsets.bytes(global_width < max_width ? global_width : max_width);
  }

 private:
  static SPTRSV_HOST_DEVICE constexpr int round_up(int unit, int count) {
    return (count + unit - 1) / unit * unit;
  }
};

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

/// What the threads of a block share beside pipelines and x ring buffer. Without it, the compiler derives it
/// from special registers and parameters at each use, which is slow.
struct shared_start {
  block_start block;
  std::uint64_t packed_slices;  ///< address
  std::int32_t x_ring_address;  ///< address in shared memory
  std::int32_t x_ring_size;
};

/// The pipelines of the warps, then the x ring buffer. A pipeline has three stages, each with the staged
/// bytes of a packed slice, the right-hand sides of its rows, and a word that counts arrivals of bulk copies.
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
    constexpr auto local = slice_format::of<Scalar>(values_of<Shape>());  // device code has no `format`
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
