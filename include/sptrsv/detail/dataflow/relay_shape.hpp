// The shape of a relay: how the threads of a block share a step, and what they keep in shared memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/column_pack.hpp"
#include "sptrsv/detail/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::dataflow {

/// `Lanes` threads share a row; a team of `Threads` takes a step of Threads / Lanes rows; a block has at most
/// `Teams` teams. A lane reads at most `Entries` components of its own part late, when its team's turn has
/// come, and waits for `EarlyPairs` pairs of others together before that, which come with the record.
/// `Streams`: for systems that L2 does not hold: what comes from memory may take long, and takes up less of
/// the SM while it does. `Columns`: right-hand sides that are solved together, at most.
template <int Lanes, int Threads, int Teams, int Entries, int EarlyPairs = 1, bool Streams = false,
          int Columns = 1>
struct relay_shape {
  static_assert(Lanes >= 1 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0);
  static_assert(Threads % 32 == 0 && Teams >= 2 && Teams <= 15, "a block has 15 barriers for its teams");
  static_assert(Entries % 2 == 0);
  static constexpr int lanes = Lanes;
  static constexpr int threads = Threads;
  static constexpr int most_teams = Teams;
  static constexpr int entries = Entries;
  static constexpr int early_pairs = EarlyPairs;
  static constexpr bool streams = Streams;
  static constexpr int most_columns = Columns;
};

/// The same as values.
struct relay_shape_values {
  int lanes;
  int threads;
  int entries;
  int early_pairs;
  bool streams;
  int most_columns;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int slice_rows() const { return 32 / lanes; }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int step_slices() const { return threads / 32; }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int step_rows() const { return threads / lanes; }
  /// Entries that a row may read late.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int late_entries() const { return lanes * entries; }
};

template <class Shape>
SPTRSV_HOST_DEVICE constexpr relay_shape_values values_of_relay() {
  return {Shape::lanes,       Shape::threads, Shape::entries,
          Shape::early_pairs, Shape::streams, Shape::most_columns};
}

/// What a warp has of a step, consecutive rows: the head of their record.
struct alignas(16) relay_slice {
  std::int32_t first_place;
  /// rows | late planes << 6 | early planes << 12 | early rows << 24: a plane holds an entry for each of the
  /// lanes, or for those of the first rows, which alone have early ones
  std::uint32_t count;
  /// lanes | what is before the late values << 8 | what to copy of the record `next` << 20: of the record, in
  /// units of 16 bytes
  std::uint32_t room;
  std::uint32_t next;  ///< where the record for the warp's turn after the next begins, in units of 16 bytes

  SPTRSV_HOST_DEVICE int rows() const { return static_cast<int>(count & 63u); }
  SPTRSV_HOST_DEVICE int late_planes() const { return static_cast<int>(count >> 6 & 63u); }
  SPTRSV_HOST_DEVICE int early_planes() const { return static_cast<int>(count >> 12 & 4095u); }
  SPTRSV_HOST_DEVICE int early_rows() const { return static_cast<int>(count >> 24); }
  SPTRSV_HOST_DEVICE int next_bytes() const { return static_cast<int>(room >> 20) * 16; }
  static constexpr std::int64_t most_early_planes = 4095;
};

/// What a warp begins a part with: one load, because each that depends on another is a trip to L2.
struct alignas(16) relay_warp_start {
  std::int32_t part_steps;
  std::uint32_t record;  ///< of its first slice, in units of 16 bytes; 0 if there is none
  std::uint32_t next;    ///< of its second slice
  std::uint32_t room;    ///< what to copy of these: of `record` | of `next` << 16, in units of 16 bytes

  SPTRSV_HOST_DEVICE int bytes() const { return static_cast<int>(room & 65535u) * 16; }
  SPTRSV_HOST_DEVICE int next_bytes() const { return static_cast<int>(room >> 16) * 16; }
};

/// Of a row: what its sum is multiplied with or divided by, and where it goes.
template <class Scalar>
struct relay_row {
  Scalar factor;        ///< the reciprocal of the pivot, or the pivot, if that must divide
  std::int32_t number;  ///< of b and x; -1 for partial rows; -2 - number where the pivot must divide

  SPTRSV_HOST_DEVICE bool divides() const { return number < -1; }
  /// Of b and x; -1 for partial rows.
  SPTRSV_HOST_DEVICE std::int32_t index() const { return divides() ? -2 - number : number; }
  SPTRSV_HOST_DEVICE void set_pivot(Scalar pivot) {
    const pivot_divisor<Scalar> divisor(pivot);
    number = divisor.is_safe() ? index() : -2 - index();
    factor = divisor.is_safe() ? divisor.reciprocal() : pivot;
  }
};

/// Where what stands in a record, in bytes. A record holds its slice; then the rows' factors, then their
/// numbers; then planes of late values by lane, then planes of their slots by lane; then for each early plane
/// places by lane and values by lane. It has room for the lanes of the slice's rows only, and the early
/// planes for those of its early rows only, rounded up to four.
struct relay_record {
  std::int32_t numbers;
  std::int32_t late;
  std::int32_t late_plane;
  std::int32_t slots;
  std::int32_t slot_plane;
  std::int32_t early;
  std::int32_t early_values;  ///< in an early plane
  std::int32_t early_plane;

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int bytes(int early_planes) const {
    return early + early_planes * early_plane;
  }
  static constexpr int factors = static_cast<int>(sizeof(relay_slice));
};

/// What the records of a plan have in common.
struct relay_record_form {
  relay_shape_values shape;
  std::int32_t scalar_bytes;

  template <class Scalar>
  static SPTRSV_HOST_DEVICE constexpr relay_record_form of(const relay_shape_values& shape) {
    return {shape, static_cast<int>(sizeof(Scalar))};
  }

  /// relay_slice::room of a slice of so many rows, without a record that is next.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr std::uint32_t room(int rows) const {
    const int late = relay_record::factors + rows * (scalar_bytes + static_cast<int>(sizeof(std::int32_t)));
    return static_cast<std::uint32_t>(up_to(4, rows * shape.lanes) | (late + 15) / 16 << 8);
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr relay_record record(int rows, std::uint32_t room,
                                                                 int late_planes, int early_rows) const {
    const int lanes = static_cast<int>(room & 255u);
    const int early_lanes = up_to(4, early_rows * shape.lanes);
    const int slot_plane = lanes * static_cast<int>(sizeof(std::uint16_t));
    const int places = early_lanes * static_cast<int>(sizeof(std::int32_t));
    const int late = static_cast<int>(room >> 8 & 4095u) * 16;
    const int slots = late + late_planes * lanes * scalar_bytes;
    return {relay_record::factors + rows * scalar_bytes,
            late,
            lanes * scalar_bytes,
            slots,
            slot_plane,
            slots + up_to(16, late_planes * slot_plane),
            places,
            places + early_lanes * scalar_bytes};
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE relay_record record(const relay_slice& slice) const {
    return record(slice.rows(), slice.room, slice.late_planes(), slice.early_rows());
  }
  /// Of a record, for a lane to have at hand when its turn comes.
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr int bytes_at_hand(const relay_record& record,
                                                               int early_planes) const {
    const int most = 2 * shape.early_pairs;
    return record.bytes(early_planes < most ? early_planes : most);
  }

 private:
  static SPTRSV_HOST_DEVICE constexpr int up_to(int unit, int count) {
    return (count + unit - 1) / unit * unit;
  }
};

/// The dynamic shared memory of a block: for each warp a ring of records, of their rows' right-hand sides and
/// of words that tell when a record has come; then the window. Of a record's early planes only those of the
/// first `early_pairs` of the shape are kept there.
template <class Scalar, class Shape>
struct relay_layout {
  static constexpr relay_record_form form = relay_record_form::of<Scalar>(values_of_relay<Shape>());
  /// Right-hand sides that are solved together.
  static constexpr int columns = columns_in_sector<Scalar>(Shape::most_columns);
  using unknown = unknown_t<Scalar, columns>;
  static constexpr int stages = 3;
  static constexpr int rows = 32 / Shape::lanes;
  static constexpr int record_bytes =
      form.record(rows, form.room(rows), Shape::entries, rows).bytes(2 * Shape::early_pairs);
  static_assert(record_bytes < 65536, "relay_slice::room has 12 bits for it, in units of 16 bytes");
  static constexpr int arrival_offset = record_bytes + 32 * static_cast<int>(sizeof(unknown));
  static constexpr int stage_bytes = arrival_offset + 16;
  static constexpr int warp_bytes = stages * stage_bytes;
  static constexpr int team_bytes = Shape::threads / 32 * warp_bytes;
  /// Leaves room for the window.
  static constexpr int ring_limit = (sizeof(unknown) > 8 ? 150 : Shape::streams ? 210 : 194) * 1024;
  static constexpr int teams = std::min({Shape::most_teams, ring_limit / team_bytes, 1024 / Shape::threads});
  static constexpr int block_threads = teams * Shape::threads;
  static constexpr int window_offset = teams * team_bytes;
  static_assert(teams >= 2);

  /// Rows whose components are in the window, if others have `most`: rather more teams where memory is far.
  static constexpr std::int64_t window(std::int64_t most) {
    constexpr std::int64_t fit = 65536 / static_cast<std::int64_t>(sizeof(unknown));
    return (columns > 1 ? std::min(most, fit) : most) / (Shape::streams ? 2 : 1);
  }
  /// `window` components and a zero.
  static constexpr std::size_t bytes(std::int64_t window) {
    return window_offset + static_cast<std::size_t>(window + 1) * sizeof(unknown);
  }
};

}  // namespace sptrsv::detail::dataflow
