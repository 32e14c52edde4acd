// Where the rows of a relay stand: part after part, in a part level after level, a level cut into steps, in a
// slice of a step first the rows that need other parts. The kernels that find it, on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/dataflow/relay_boxes.hpp"
#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

namespace relay_kernels {

/// Parts of about equal work: a row counts its entries and itself; or boxes of a grid. Rows past the last one
/// are solved before all parts, as if by part -1.
template <class Offset>
struct part_of_row {
  const Offset* row_offsets;
  std::int64_t size;
  std::int64_t work;
  std::int64_t parts;
  relay_boxes boxes;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t row) const {
    if (boxes.are_used()) {
      return boxes.part_of(row);
    }
    if (row >= size) {
      return -1;
    }
    return (static_cast<std::int64_t>(ctx.load_constant(row_offsets + row)) + row) * parts / work;
  }
};

/// Per place in level order: its part, and its number.
template <class Index, class Offset>
struct find_parts {
  part_of_row<Offset> part;
  const Index* rows;
  std::uint32_t* parts;
  Index* numbers;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    ctx.store(parts + place, static_cast<std::uint32_t>(
                                 part(ctx, static_cast<std::int64_t>(ctx.load_constant(rows + place)))));
    ctx.store(numbers + place, static_cast<Index>(place));
  }
};

/// Per place, and once for the end: its row, and whether a level of a part begins there.
template <class Index>
struct find_runs {
  std::int64_t places;
  const Index* rows_by_level;
  const Index* level_offsets;
  std::int64_t levels;
  const Index* level_places;  ///< by place: the place in level order
  const std::uint32_t* parts;
  Index* rows;
  std::int32_t* begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    if (place == places) {
      ctx.store(begins + place, 0);
      return;
    }
    const Index from = ctx.load_constant(level_places + place);
    ctx.store(rows + place, ctx.load_constant(rows_by_level + from));
    const bool begins_run = place == 0 ||
                            ctx.load_constant(parts + place) != ctx.load_constant(parts + place - 1) ||
                            level_of(ctx, from) != level_of(ctx, ctx.load_constant(level_places + place - 1));
    ctx.store(begins + place, begins_run ? 1 : 0);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE std::int64_t level_of(Context& ctx, Index place) const {
    return triangle_kernels::major_of(ctx, level_offsets, levels, static_cast<std::int64_t>(place));
  }
};

/// Per place: where its run begins, by run.
struct find_run_begins {
  const std::int32_t* runs_before;  ///< by place, one past the end too
  std::int32_t* run_begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const std::int32_t run = ctx.load_constant(runs_before + place);
    if (ctx.load_constant(runs_before + place + 1) != run) {
      ctx.store(run_begins + run, static_cast<std::int32_t>(place));
    }
  }
};

/// Per place, and once for the end: whether a step begins there.
struct find_steps {
  std::int64_t places;
  const std::int32_t* runs_before;
  const std::int32_t* run_begins;
  std::int32_t step_rows;
  std::int32_t* begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    if (place == places) {
      ctx.store(begins + place, 0);
      return;
    }
    const std::int32_t run = ctx.load_constant(runs_before + place + 1) - 1;
    const auto in_run = static_cast<std::int32_t>(place) - ctx.load_constant(run_begins + run);
    ctx.store(begins + place, in_run % step_rows == 0 ? 1 : 0);
  }
};

/// Per place: where steps and parts begin.
struct find_begins {
  std::int64_t places;
  std::int64_t parts;
  const std::uint32_t* part_of_place;
  const std::int32_t* steps_before;  ///< by place, one past the end too
  std::int32_t* step_places;         ///< steps + 1
  std::int32_t* part_steps;          ///< parts + 1
  std::int32_t* part_places;         ///< parts + 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const std::int32_t step = ctx.load_constant(steps_before + place);
    const std::int32_t behind = ctx.load_constant(steps_before + place + 1);
    const auto at = static_cast<std::int32_t>(place);
    if (behind != step) {
      ctx.store(step_places + step, at);
    }
    const auto part_at = [&](std::int64_t p) {
      return static_cast<std::int64_t>(ctx.load_constant(part_of_place + p));
    };
    // Parts may be empty.
    for (std::int64_t part = place == 0 ? 0 : part_at(place - 1) + 1; part <= part_at(place); ++part) {
      ctx.store(part_steps + part, step);
      ctx.store(part_places + part, at);
    }
    if (place == places - 1) {
      ctx.store(step_places + behind, at + 1);
      for (std::int64_t part = part_at(place) + 1; part <= parts; ++part) {
        ctx.store(part_steps + part, behind);
        ctx.store(part_places + part, at + 1);
      }
    }
  }
};

/// Per place: whether its row needs another part, in the order of places before they are final.
template <class Index, class Offset>
struct find_early_rows {
  part_of_row<Offset> part;
  const Index* rows;     ///< by place
  const Index* columns;  ///< of the triangle
  std::int32_t* is_early;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const auto row = static_cast<std::int64_t>(ctx.load_constant(rows + place));
    const std::int64_t own = part(ctx, row);
    const Offset begin = ctx.load_constant(part.row_offsets + row);
    const Offset end = ctx.load_constant(part.row_offsets + row + 1);
    bool early = false;
    for (Offset e = begin; e < end && !early; ++e) {
      early = part(ctx, static_cast<std::int64_t>(ctx.load_constant(columns + e))) != own;
    }
    ctx.store(is_early + place, early ? 1 : 0);
  }
};

/// Per place: its row in the final order, in which the rows of a slice that need another part come first.
template <class Index>
struct order_slices {
  relay_shape_values shape;
  const std::int32_t* steps_before;
  const std::int32_t* step_places;
  const std::int32_t* is_early;
  const Index* rows;
  Index* ordered;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const std::int32_t step = ctx.load_constant(steps_before + place + 1) - 1;
    const auto at = static_cast<std::int32_t>(place);
    const std::int32_t first = ctx.load_constant(step_places + step);
    const std::int32_t begin = at - (at - first) % shape.slice_rows();
    const std::int32_t step_end = ctx.load_constant(step_places + step + 1);
    const std::int32_t end = begin + shape.slice_rows() < step_end ? begin + shape.slice_rows() : step_end;
    const bool early = ctx.load_constant(is_early + place) != 0;
    std::int32_t to = begin;
    for (std::int32_t other = begin; other < end; ++other) {
      const bool other_early = ctx.load_constant(is_early + other) != 0;
      to += other_early == early ? (other < at ? 1 : 0) : (early ? 0 : 1);
    }
    ctx.store(ordered + to, ctx.load_constant(rows + place));
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
