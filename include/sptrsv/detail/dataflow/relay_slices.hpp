// The slices of a relay: how each row's entries are read, and the kernels that measure slices and write the
// heads of their records, on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

namespace relay_kernels {

/// A row of the triangle in the order of places, and how its entries are read.
template <class Index, class Offset>
struct row_reader {
  relay_shape_values shape;
  std::int32_t window;
  std::int64_t places;  ///< columns from there on are solved before
  const Offset* row_offsets;
  const Index* columns;
  const std::uint32_t* part_of_place;
  const std::int32_t* part_places;
  const std::int32_t* steps_before;
  const std::int32_t* step_places;

  /// Where the row of a place stands.
  struct seat {
    std::int64_t slice;
    int row;                   ///< of the slice
    std::int64_t oldest_late;  ///< the first place whose component may be read late
    Offset begin;
    Offset end;
  };

  template <class Context>
  SPTRSV_DEVICE seat find(Context& ctx, std::int64_t place) const {
    const std::int64_t step = ctx.load_constant(steps_before + place + 1) - 1;
    const std::int64_t first = ctx.load_constant(step_places + step);
    const int in_step = static_cast<int>(place - first);
    const std::int64_t part_begin = ctx.load_constant(part_places + ctx.load_constant(part_of_place + place));
    // By then the step's own rows have taken their places in the window.
    const std::int64_t in_window = first + shape.step_rows() - window;
    return {step * shape.step_slices() + in_step / shape.slice_rows(), in_step % shape.slice_rows(),
            part_begin > in_window ? part_begin : in_window, ctx.load_constant(row_offsets + place),
            ctx.load_constant(row_offsets + place + 1)};
  }

  /// Calls visit(entry, column, is_late) for each entry of the row.
  template <class Context, class Visit>
  SPTRSV_DEVICE void for_each_entry(Context& ctx, const seat& at, Visit&& visit) const {
    int candidates = 0;
    for (Offset e = at.begin; e < at.end; ++e) {
      candidates += may_be_late(at, ctx.load_constant(columns + e)) ? 1 : 0;
    }
    const bool all_fit = candidates <= shape.late_entries();
    for (Offset e = at.begin; e < at.end; ++e) {
      const Index column = ctx.load_constant(columns + e);
      const bool late = may_be_late(at, column) && (all_fit || later(ctx, at, column) < shape.late_entries());
      visit(e, column, late);
    }
  }

 private:
  SPTRSV_DEVICE bool may_be_late(const seat& at, Index column) const {
    const auto place = static_cast<std::int64_t>(column);
    return place >= at.oldest_late && place < places;
  }
  /// How many of those of the row's entries that may be late have a later column.
  template <class Context>
  SPTRSV_DEVICE int later(Context& ctx, const seat& at, Index column) const {
    int count = 0;
    for (Offset e = at.begin; e < at.end; ++e) {
      const Index other = ctx.load_constant(columns + e);
      count += other > column && static_cast<std::int64_t>(other) < places ? 1 : 0;
    }
    return count;
  }
};

/// Per place: the planes that its row needs, into its slice's.
template <class Index, class Offset>
struct measure_slices {
  row_reader<Index, Offset> reader;
  std::int32_t* rows;
  std::int32_t* late_planes;
  std::int32_t* early_planes;
  std::int32_t* early_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const auto at = reader.find(ctx, place);
    int late = 0;
    int early = 0;
    reader.for_each_entry(ctx, at, [&](Offset, Index, bool is_late) {
      late += is_late ? 1 : 0;
      early += is_late ? 0 : 1;
    });
    const int lanes = reader.shape.lanes;
    ctx.atomic_max(rows + at.slice, at.row + 1);
    if (late > 0) {
      ctx.atomic_max(late_planes + at.slice, (late + lanes - 1) / lanes);
    }
    if (early > 0) {
      ctx.atomic_max(early_planes + at.slice, (early + lanes - 1) / lanes);
      ctx.atomic_max(early_rows + at.slice, at.row + 1);
    }
  }
};

/// Per slice: where its record begins, and its head.
struct make_slices {
  relay_record_form form;
  std::int32_t turn;  ///< slices from a warp's slice to its next
  const std::int32_t* step_places;
  const std::uint32_t* part_of_place;
  const std::int32_t* part_steps;
  const std::int32_t* rows;
  const std::int32_t* late_planes;
  const std::int32_t* early_planes;
  const std::int32_t* early_rows;
  const std::uint64_t* records;
  std::uint32_t* record_begins;
  unsigned char* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t slice) const {
    const std::int64_t step = slice / form.shape.step_slices();
    const auto in_step = static_cast<std::int32_t>(slice % form.shape.step_slices());
    const std::int32_t first = ctx.load_constant(step_places + step);
    const auto count = [&](const std::int32_t* of) {
      return static_cast<std::uint32_t>(ctx.load_constant(of + slice));
    };
    relay_slice head{
        first + in_step * form.shape.slice_rows(),
        count(rows) | count(late_planes) << 6 | count(early_planes) << 12 | count(early_rows) << 24,
        form.room(ctx.load_constant(rows + slice)), 0};
    const std::uint32_t part = ctx.load_constant(part_of_place + first);
    const std::int64_t next = slice + 2 * turn;
    if (next < std::int64_t{ctx.load_constant(part_steps + part + 1)} * form.shape.step_slices()) {
      head.room |= static_cast<std::uint32_t>(bytes_at_hand(ctx, next) / 16) << 20;
      head.next = static_cast<std::uint32_t>(ctx.load_constant(records + next));
    }
    const std::uint64_t begin = ctx.load_constant(records + slice);
    ctx.store(record_begins + slice, static_cast<std::uint32_t>(begin));
    ctx.store(reinterpret_cast<relay_slice*>(to + 16 * begin), head);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE int bytes_at_hand(Context& ctx, std::int64_t slice) const {
    const std::int32_t count = ctx.load_constant(rows + slice);
    return form.bytes_at_hand(form.record(count, form.room(count), ctx.load_constant(late_planes + slice),
                                          ctx.load_constant(early_rows + slice)),
                              ctx.load_constant(early_planes + slice));
  }
};

/// Per slice: the length of its record, in units of 16 bytes.
struct measure_records {
  relay_record_form form;
  const std::int32_t* rows;
  const std::int32_t* late_planes;
  const std::int32_t* early_planes;
  const std::int32_t* early_rows;
  std::uint64_t* lengths;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t slice) const {
    const std::int32_t count = ctx.load_constant(rows + slice);
    const int bytes = form.record(count, form.room(count), ctx.load_constant(late_planes + slice),
                                  ctx.load_constant(early_rows + slice))
                          .bytes(ctx.load_constant(early_planes + slice));
    ctx.store(lengths + slice, static_cast<std::uint64_t>(bytes / 16));
  }
};

/// Per part and warp of a block.
struct make_starts {
  relay_record_form form;
  std::int32_t turn;  ///< slices from a warp's slice to its next: warps of a block
  const std::int32_t* part_steps;
  const std::uint32_t* record_begins;
  const unsigned char* records;
  relay_warp_start* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t part = i / turn;
    const std::int32_t step = ctx.load_constant(part_steps + part);
    const std::int32_t end = ctx.load_constant(part_steps + part + 1);
    const std::int64_t first = std::int64_t{step} * form.shape.step_slices() + i % turn;
    const std::int64_t behind = std::int64_t{end} * form.shape.step_slices();
    relay_warp_start start{end - step, 0, 0, 0};
    if (first < behind) {
      start.record = ctx.load_constant(record_begins + first);
      start.room = units_at_hand(ctx, start.record);
    }
    if (first + turn < behind) {
      start.next = ctx.load_constant(record_begins + first + turn);
      start.room |= units_at_hand(ctx, start.next) << 16;
    }
    ctx.store(to + i, start);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE std::uint32_t units_at_hand(Context& ctx, std::uint32_t record) const {
    const auto slice =
        ctx.load_constant(reinterpret_cast<const relay_slice*>(records + std::int64_t{record} * 16));
    return static_cast<std::uint32_t>(form.bytes_at_hand(form.record(slice), slice.early_planes()) / 16);
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
