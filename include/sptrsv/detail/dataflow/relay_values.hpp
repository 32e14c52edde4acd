// Where the numbers of the stored matrix stand in the records of a relay, and the kernels that put them
// there.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/stored_runs.hpp"
#include "sptrsv/detail/dataflow/relay_shape.hpp"
#include "sptrsv/detail/scalar.hpp"
#include "sptrsv/memory_resource.hpp"

namespace sptrsv::detail::dataflow {

/// Where the number of a stored entry goes: an entry's value, counted in numbers from the first record, or,
/// with `pivot_target`, the row whose pivot it is, counted in units of 8 bytes.
inline constexpr std::uint32_t pivot_target = 0x80000000u;
/// In bytes from the first record.
SPTRSV_HOST_DEVICE constexpr std::int64_t pivot_row(std::uint32_t target) {
  return std::int64_t{8} * (target & ~pivot_target);
}
/// Of a stored entry that is not part of the system.
inline constexpr std::uint32_t no_target = 0xffffffffu;
/// Records end below this, so that targets have room for what they say.
template <class Scalar>
inline constexpr std::int64_t most_record_bytes = static_cast<std::int64_t>(pivot_target - 1) *
                                                  static_cast<std::int64_t>(sizeof(Scalar) < 8 ? 4 : 8);

/// In general the target of each stored entry; or, where rows are runs of the stored matrix, what takes less
/// room: entries are dealt to the lanes of their row one after the other from its diagonal, late and early
/// ones apart, so that it is enough to know which are late. The other arrays are empty.
struct relay_sources {
  buffer<std::uint32_t> targets;  ///< by stored entry: see pivot_target

  buffer<std::uint32_t> diagonals;     ///< by place: see stored_run
  buffer<std::uint8_t> row_entries;    ///< by place: stored ones
  buffer<std::uint32_t> late_entries;  ///< by stored entry, a bit

  static constexpr std::int64_t most_row_entries = 255;

  [[nodiscard]] bool are_runs() const { return diagonals.size() > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return targets.bytes() + diagonals.bytes() + row_entries.bytes() + late_entries.bytes();
  }
};

namespace relay_kernels {

/// Where entry k of the late ones, or of the early ones, of a row stands in its record.
struct relay_entry {
  int lane;
  int number;  ///< of the pair's numbers of all lanes
  int pair;

  static SPTRSV_HOST_DEVICE constexpr relay_entry of(int row, int lanes, int k) {
    return {row * lanes + k % lanes, 2 * (row * lanes + k % lanes) + k / lanes % 2, k / lanes / 2};
  }
  /// Its value, in numbers from the beginning of the records.
  template <class Scalar>
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr std::int64_t value(std::int64_t record_begin,
                                                                const relay_record& record,
                                                                const relay_slice& slice,
                                                                bool is_late) const {
    const int in_record =
        is_late ? record.late + pair * record.late_pair
                : record.early(slice.late_pairs()) + pair * record.early_pair + record.early_values;
    return (record_begin + in_record) / static_cast<std::int64_t>(sizeof(Scalar)) + number;
  }
};

/// Per stored entry: its number, into the records.
template <class Scalar>
struct place_numbers {
  const Scalar* stored;
  const std::uint32_t* targets;
  unsigned char* records;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::uint32_t to = ctx.load_constant(targets + k);
    if (to == no_target) {
      return;
    }
    const Scalar number = ctx.load_constant(stored + k);
    const Scalar v = conjugated ? conjugate(number) : number;
    if ((to & pivot_target) == 0) {
      ctx.store(reinterpret_cast<Scalar*>(records) + to, v);
      return;
    }
    auto* const at = reinterpret_cast<relay_row<Scalar>*>(records + pivot_row(to));
    relay_row<Scalar> row = ctx.load(at);
    row.set_pivot(v);
    ctx.store(at, row);
  }
};

/// Per slice and lane: the lane's numbers, where rows are runs.
template <class Scalar>
struct place_runs {
  const Scalar* stored;
  const std::uint32_t* diagonals;
  const std::uint8_t* row_entries;
  const std::uint32_t* late_entries;
  const std::uint32_t* record_begins;
  unsigned char* records;
  relay_record_form form;
  bool unit;
  bool reversed;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t begin = std::int64_t{ctx.load_constant(record_begins + i / 32)} * 16;
    const relay_slice slice = ctx.load_constant(reinterpret_cast<const relay_slice*>(records + begin));
    const relay_record record = form.record(slice.room, slice.early_rows());
    const int lanes = form.shape.lanes;
    const int row = static_cast<int>(i % 32) / lanes;
    const int lane = static_cast<int>(i % 32) % lanes;
    if (row >= slice.rows()) {
      return;
    }
    const std::int64_t place = slice.first_place + row;
    const stored_run<std::uint32_t> run{ctx.load_constant(diagonals + place), reversed};
    const int entries = ctx.load_constant(row_entries + place);
    int late = 0;
    int early = 0;
    for (int e = 1; e <= entries; ++e) {
      const std::uint32_t source = run.source(e);
      const bool is_late = (ctx.load_constant(late_entries + source / 32) >> source % 32 & 1u) != 0;
      const int k = is_late ? late++ : early++;
      if (k % lanes == lane) {
        const std::int64_t to =
            relay_entry::of(row, lanes, k).template value<Scalar>(begin, record, slice, is_late);
        ctx.store(reinterpret_cast<Scalar*>(records) + to, load(ctx, source));
      }
    }
    auto* const at = reinterpret_cast<relay_row<Scalar>*>(records + begin + record.rows) + row;
    relay_row<Scalar> stored_row = ctx.load(at);
    if (lane == 0 && !unit && stored_row.row != -1) {
      stored_row.set_pivot(load(ctx, run.diagonal));
      ctx.store(at, stored_row);
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Scalar load(Context& ctx, std::uint32_t source) const {
    const Scalar number = ctx.load_constant(stored + source);
    return conjugated ? conjugate(number) : number;
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
