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
/// with `pivot_target`, 32 * slice + row in the slice of the row whose pivot it is.
inline constexpr std::uint32_t pivot_target = 0x80000000u;
/// Of a stored entry that is not part of the system.
inline constexpr std::uint32_t no_target = 0xffffffffu;
/// Records end below this, and there are fewer slices, so that targets have room for what they say.
template <class Scalar>
inline constexpr std::int64_t most_record_bytes = static_cast<std::int64_t>(pivot_target - 1) *
                                                  static_cast<std::int64_t>(sizeof(Scalar));
inline constexpr std::int64_t most_slices = pivot_target / 32 - 1;

/// In general the target of each stored entry; or, where rows are runs of the stored matrix, what takes less
/// room: late and early entries of a row are dealt to its lanes one after the other, so that it is enough to
/// know which are late. The other arrays are empty.
struct relay_sources {
  buffer<std::uint32_t> targets;  ///< by stored entry: see pivot_target

  buffer<std::uint32_t> diagonals;   ///< by place: see stored_run
  buffer<std::uint8_t> row_entries;  ///< by place: stored ones
  /// By place: late | early << 8 links to partial rows, which come before the stored entries; empty where no
  /// row is cut.
  buffer<std::uint16_t> row_links;
  /// By stored entry, counted in the direction of substitution, a bit.
  buffer<std::uint32_t> late_entries;

  static constexpr std::int64_t most_row_entries = 64;

  [[nodiscard]] bool are_runs() const { return diagonals.size() > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return targets.bytes() + diagonals.bytes() + row_entries.bytes() + row_links.bytes() +
           late_entries.bytes();
  }
};

namespace relay_kernels {

/// Where entry k of the late ones, or of the early ones, of a row stands in its record.
struct relay_entry {
  int lane;
  int plane;

  static SPTRSV_HOST_DEVICE constexpr relay_entry of(int row, int lanes, int k) {
    return {row * lanes + k % lanes, k / lanes};
  }
  /// Its value, in numbers from the beginning of the records.
  template <class Scalar>
  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr std::int64_t value(std::int64_t record_begin,
                                                                const relay_record& record,
                                                                bool is_late) const {
    const int in_record = is_late ? record.late + plane * record.late_plane
                                  : record.early + plane * record.early_plane + record.early_values;
    return (record_begin + in_record) / static_cast<std::int64_t>(sizeof(Scalar)) + lane;
  }
};

/// Of a row in a record.
template <class Scalar, class Context>
SPTRSV_DEVICE void put_pivot(Context& ctx, unsigned char* record_begin, const relay_record& record, int row,
                             Scalar pivot) {
  auto* const factor = reinterpret_cast<Scalar*>(record_begin + relay_record::factors) + row;
  auto* const number = reinterpret_cast<std::int32_t*>(record_begin + record.numbers) + row;
  relay_row<Scalar> stored{Scalar{}, ctx.load(number)};
  stored.set_pivot(pivot);
  ctx.store(factor, stored.factor);
  ctx.store(number, stored.number);
}

/// Per stored entry: its number, into the records.
template <class Scalar>
struct place_numbers {
  const Scalar* stored;
  const std::uint32_t* targets;
  const std::uint32_t* record_begins;
  unsigned char* records;
  relay_record_form form;
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
    const std::uint32_t seat = to & ~pivot_target;
    unsigned char* const begin = records + std::int64_t{ctx.load_constant(record_begins + seat / 32)} * 16;
    const relay_slice slice = ctx.load_constant(reinterpret_cast<const relay_slice*>(begin));
    put_pivot(ctx, begin, form.record(slice), static_cast<int>(seat % 32), v);
  }
};

/// Per slice and lane: the lane's numbers, where rows are runs.
template <class Scalar>
struct place_runs {
  const Scalar* stored;
  std::int64_t stored_entries;
  // See relay_sources.
  const std::uint32_t* diagonals;
  const std::uint8_t* row_entries;
  const std::uint16_t* row_links;  ///< null where no row is cut
  const std::uint32_t* late_entries;
  const std::uint32_t* record_begins;
  unsigned char* records;
  relay_record_form form;
  bool unit;
  bool reversed;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    unsigned char* const begin = records + std::int64_t{ctx.load_constant(record_begins + i / 32)} * 16;
    const relay_slice slice = ctx.load_constant(reinterpret_cast<const relay_slice*>(begin));
    const relay_record record = form.record(slice);
    const int row = static_cast<int>(i % 32) / form.shape.lanes;
    const int lane = static_cast<int>(i % 32) % form.shape.lanes;
    if (row >= slice.rows()) {
      return;
    }
    const std::int64_t place = slice.first_place + row;
    const row_run at{{ctx.load_constant(diagonals + place), reversed},
                     static_cast<int>(ctx.load_constant(row_entries + place)),
                     row,
                     lane};
    const int links = row_links == nullptr ? 0 : ctx.load_constant(row_links + place);
    const std::uint64_t late = late_of(ctx, at);
    put_values(ctx, at, late, links & 255, begin + record.late, record.late_plane);
    put_values(ctx, at, lowest_bits(at.entries) & ~late, links >> 8,
               begin + record.early + record.early_values, record.early_plane);
    const bool has_pivot =
        lane == 0 && !unit &&
        ctx.load(reinterpret_cast<const std::int32_t*>(begin + record.numbers) + row) != -1;
    if (has_pivot) {
      put_pivot(ctx, begin, record, row, load(ctx, at.run.diagonal));
    }
  }

 private:
  struct row_run {
    stored_run<std::uint32_t> run;
    int entries;
    int row;   ///< of the slice
    int lane;  ///< of the row
  };

  SPTRSV_DEVICE static std::uint64_t lowest_bits(int count) {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  /// Which of the row's stored entries are, in the direction of substitution.
  template <class Context>
  SPTRSV_DEVICE std::uint64_t late_of(Context& ctx, const row_run& at) const {
    if (at.entries == 0) {
      return 0;
    }
    const std::int64_t first = at.run.source(at.entries);
    const std::int64_t begin = reversed ? stored_entries - 1 - first : first;
    const auto shift = static_cast<int>(begin % 32);
    const std::uint32_t* const words = late_entries + begin / 32;
    std::uint64_t late = ctx.load_constant(words) >> shift;
    for (int have = 32 - shift, w = 1; have < at.entries; have += 32, ++w) {
      late |= std::uint64_t{ctx.load_constant(words + w)} << have;
    }
    return late & lowest_bits(at.entries);
  }

  /// Those of the entries in `mask` that the lane takes, after `dealt` others.
  template <class Context>
  SPTRSV_DEVICE void put_values(Context& ctx, const row_run& at, std::uint64_t mask, int dealt,
                                unsigned char* planes, int plane_bytes) const {
    constexpr int at_once = 4;
    const int lanes = form.shape.lanes;
    const int skipped = (at.lane - dealt) & (lanes - 1);
    unsigned char* to = planes + (dealt + skipped) / lanes * plane_bytes +
                        (at.row * lanes + at.lane) * static_cast<int>(sizeof(Scalar));
    mask = without_lowest(mask, skipped);
    while (mask != 0) {
      Scalar values[at_once];
      int count = 0;
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (mask != 0) {
          values[i] = load(ctx, at.run.source(at.entries - simt::lowest_bit(mask)));
          mask = without_lowest(mask, lanes);
          ++count;
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (i < count) {
          ctx.store(reinterpret_cast<Scalar*>(to), values[i]);
          to += plane_bytes;
        }
      }
    }
  }

  /// Without so many of the bits that are set.
  SPTRSV_DEVICE static std::uint64_t without_lowest(std::uint64_t mask, int count) {
    for (int i = 0; i < count; ++i) {
      mask &= mask - 1;
    }
    return mask;
  }

  template <class Context>
  SPTRSV_DEVICE Scalar load(Context& ctx, std::uint32_t source) const {
    const Scalar number = ctx.load_constant(stored + source);
    return conjugated ? conjugate(number) : number;
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
