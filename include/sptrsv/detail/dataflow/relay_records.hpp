// The kernels that pack the records of a relay, on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_slices.hpp"
#include "sptrsv/detail/dataflow/relay_values.hpp"
#include "sptrsv/detail/scalar.hpp"

namespace sptrsv::detail::dataflow {

namespace relay_kernels {

/// Per slice and lane: entries that are none.
struct clear_records {
  relay_record_form form;
  std::int32_t window;
  const std::uint32_t* record_begins;
  unsigned char* records;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    unsigned char* const begin = records + std::int64_t{ctx.load_constant(record_begins + i / 32)} * 16;
    const relay_slice slice = ctx.load(reinterpret_cast<const relay_slice*>(begin));
    const auto lane = static_cast<int>(i % 32);
    if (lane >= slice.rows() * form.shape.lanes) {
      return;
    }
    const relay_record record = form.record(slice);
    for (int plane = 0; plane < slice.late_planes(); ++plane) {
      ctx.store(reinterpret_cast<std::uint16_t*>(begin + record.slots + plane * record.slot_plane) + lane,
                static_cast<std::uint16_t>(window));
    }
    const bool is_early = lane < slice.early_rows() * form.shape.lanes;
    for (int plane = 0; is_early && plane < slice.early_planes(); ++plane) {
      ctx.store(reinterpret_cast<std::int32_t*>(begin + record.early + plane * record.early_plane) + lane,
                std::int32_t{-1});
    }
  }
};

/// Per place: its row, and the row's entries, to where its lanes read them.
template <class Scalar, class Index, class Offset>
struct fill_records {
  row_reader<Index, Offset> reader;
  relay_record_form form;
  std::int64_t size;  ///< of the system
  bool reversed;
  const Index* positions;  ///< by row of the triangle; null: a row is its position
  const Index* rows;       ///< by place: the row of the triangle
  const Offset* sources;
  const Offset* diagonal_sources;  ///< by place, -1 for partial rows; null if the diagonal is unit
  const std::uint32_t* record_begins;
  unsigned char* records;
  // See relay_sources.
  std::uint32_t* targets;
  std::int64_t stored_entries;
  std::uint32_t* diagonals;  ///< null where rows are no runs
  std::uint8_t* row_entries;
  std::uint16_t* row_links;  ///< null where no row is cut
  std::uint32_t* late_entries;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const auto at = reader.find(ctx, place);
    const std::int64_t begin = std::int64_t{ctx.load_constant(record_begins + at.slice)} * 16;
    const relay_slice slice = ctx.load(reinterpret_cast<const relay_slice*>(records + begin));
    const relay_record record = form.record(slice);
    put_row(ctx, place, at, begin, record);
    const int lanes = reader.shape.lanes;
    int late = 0;
    int early = 0;
    int stored = 0;
    std::uint32_t links = 0;
    reader.for_each_entry(ctx, at, [&](Offset e, Index column, bool is_late) {
      const int k = is_late ? late++ : early++;
      const relay_entry entry = relay_entry::of(at.row, lanes, k);
      if (is_late) {
        const auto slot = static_cast<std::int64_t>(column) & (reader.window - 1);
        const int plane = record.slots + entry.plane * record.slot_plane;
        ctx.store(reinterpret_cast<std::uint16_t*>(records + begin + plane) + entry.lane,
                  static_cast<std::uint16_t>(slot));
      } else {
        const int plane = record.early + entry.plane * record.early_plane;
        ctx.store(reinterpret_cast<std::int32_t*>(records + begin + plane) + entry.lane,
                  static_cast<std::int32_t>(column));
      }
      const std::int64_t value = entry.template value<Scalar>(begin, record, is_late);
      const Offset source = ctx.load_constant(sources + e);
      if (source < 0) {
        ctx.store(reinterpret_cast<Scalar*>(records) + value, Scalar{} - pivot_divisor<Scalar>::one());
        links += is_late ? 1u : 1u << 8;
        return;
      }
      ++stored;
      if (diagonals == nullptr) {
        ctx.store(targets + source, static_cast<std::uint32_t>(value));
      } else if (is_late) {
        const auto bit = static_cast<std::uint64_t>(reversed ? stored_entries - 1 - source : source);
        static_cast<void>(ctx.atomic_add(late_entries + bit / 32, std::uint32_t{1} << bit % 32));
      }
    });
    if (diagonals != nullptr) {
      const stored_run_reader<Offset> run_of{reader.row_offsets, sources, diagonal_sources, reversed};
      ctx.store(diagonals + place, static_cast<std::uint32_t>(run_of(ctx, place).diagonal));
      ctx.store(row_entries + place, static_cast<std::uint8_t>(stored));
    }
    if (row_links != nullptr) {
      ctx.store(row_links + place, static_cast<std::uint16_t>(links));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void put_row(Context& ctx, std::int64_t place,
                             const typename row_reader<Index, Offset>::seat& at, std::int64_t begin,
                             const relay_record& record) const {
    const Index row = ctx.load_constant(rows + place);
    const Index position = positions == nullptr ? row : ctx.load_constant(positions + row);
    const auto row_of_x = static_cast<std::int32_t>(
        position < 0 || !reversed ? static_cast<std::int64_t>(position) : size - 1 - position);
    ctx.store(reinterpret_cast<Scalar*>(records + begin + relay_record::factors) + at.row,
              pivot_divisor<Scalar>::one());
    ctx.store(reinterpret_cast<std::int32_t*>(records + begin + record.numbers) + at.row, row_of_x);
    const Offset source =
        diagonal_sources == nullptr ? Offset{-1} : ctx.load_constant(diagonal_sources + place);
    if (diagonals == nullptr && source >= 0) {
      ctx.store(targets + source, pivot_target | static_cast<std::uint32_t>(at.slice * 32 + at.row));
    }
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
