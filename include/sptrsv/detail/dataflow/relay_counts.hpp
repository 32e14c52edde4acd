// What each part of a relay has to do on each level: counted on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_order.hpp"

namespace sptrsv::detail::dataflow {

/// Of a part on a level, while it is counted.
struct relay_run {
  std::int32_t rows;
  /// The latest level on which it needs something that comes through memory, times `level_stride`, plus the
  /// part that solves it; -1 for none.
  std::int32_t need;
  std::int32_t early;   ///< entries that come through memory
  std::int32_t rounds;  ///< in which the row with most of these waits for them

  static constexpr std::int32_t level_stride = 256;
  static constexpr std::int64_t most_levels = (std::int64_t{1} << 31) / level_stride - 1;
};

/// The same of a run that has rows, as the host goes through them: by level and part.
struct relay_turn {
  std::int32_t need;  ///< the turn that solves what it needs through memory, counted from the table's first
  std::int32_t rows;
  std::int16_t part;
  std::int16_t rounds;
};

namespace relay_kernels {

/// Per row of the triangle. That its latest entries are the last ones is a guess.
template <class Index, class Offset>
struct count_runs {
  part_of_row<Offset> part;
  const Index* columns;
  const Index* levels;  ///< by row, counted from 1
  std::int32_t late_entries;
  std::int32_t round_entries;
  relay_run* runs;  ///< by level and part

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const std::int64_t own = part(ctx, row);
    const std::int64_t level = static_cast<std::int64_t>(ctx.load_constant(levels + row)) - 1;
    relay_run* const run = runs + level * part.parts + own;
    ctx.atomic_add(&run->rows, 1);
    std::int32_t need = -1;
    int early = 0;
    int late = 0;
    const Offset begin = ctx.load_constant(part.row_offsets + row);
    for (Offset e = ctx.load_constant(part.row_offsets + row + 1); e-- > begin;) {
      const auto column = static_cast<std::int64_t>(ctx.load_constant(columns + e));
      const std::int64_t other = part(ctx, column);
      if (other == own && late < late_entries) {
        ++late;
        continue;
      }
      const auto key = static_cast<std::int32_t>(
          (static_cast<std::int64_t>(ctx.load_constant(levels + column)) - 1) * relay_run::level_stride +
          other);
      need = need < key ? key : need;
      ++early;
    }
    if (early > 0) {
      ctx.atomic_max(&run->need, need);
      ctx.atomic_add(&run->early, early);
      ctx.atomic_max(&run->rounds, (early + round_entries - 1) / round_entries);
    }
  }
};

struct mark_runs {
  const relay_run* runs;
  std::int32_t* has_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t run) const {
    ctx.store(has_rows + run, ctx.load_constant(&runs[run].rows) > 0 ? 1 : 0);
  }
};

/// Per run of a table. `places`: by run of all tables, turns before it.
struct write_turns {
  std::int64_t begin;  ///< of the table
  std::int64_t end;
  std::int64_t parts;
  const relay_run* runs;
  const std::int32_t* places;
  relay_turn* turns;
  std::int32_t* range;  ///< of the table's turns: the first, and that after the last
  std::int32_t* early;  ///< by part: entries that come through memory

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int32_t before = ctx.load_constant(places + begin);
    if (i == 0) {
      ctx.store(range, before);
      ctx.store(range + 1, ctx.load_constant(places + end));
    }
    const relay_run run = ctx.load_constant(runs + begin + i);
    if (run.rows == 0) {
      return;
    }
    const std::int64_t part = i % parts;
    std::int32_t need = -1;
    if (run.need >= 0) {
      const std::int64_t level = run.need / relay_run::level_stride;
      need = ctx.load_constant(places + begin + level * parts + run.need % relay_run::level_stride) - before;
      ctx.atomic_add(early + part, run.early);
    }
    constexpr std::int32_t most_rounds = 32767;
    ctx.store(turns + ctx.load_constant(places + begin + i),
              relay_turn{need, run.rows, static_cast<std::int16_t>(part),
                         static_cast<std::int16_t>(run.rounds < most_rounds ? run.rounds : most_rounds)});
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
