// SPDX-License-Identifier: Apache-2.0
// The consumer warp of the single_block kernel, which solves the tiles.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_shape.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// One lane of the consumer warp.
template <class Scalar, class Shape, class Context>
class consumer {
 public:
  SPTRSV_DEVICE consumer(Context& ctx, const kernel_params<Scalar>& p)
      : ctx_(ctx),
        p_(p),
        warp_(ctx.template group<32>()),
        shared_(ctx.dynamic_shared()),
        // The shuffles keep these values in registers: special registers are slow to read in each tile.
        thread_(static_cast<unsigned>(warp_.shuffle(ctx.thread_rank(), warp_.rank()))),
        column_(warp_.shuffle(ctx.block_rank(), 0)),
        row_(thread_ / lanes),
        row_bit_(warp_.shuffle(1u << row_, warp_.rank())),
        x_(p.x.data + static_cast<std::int64_t>(column_) * p.x.column_stride) {}

  SPTRSV_DEVICE void run() {
    const stage_barriers<Shape, Context> stages{ctx_};
    if (thread_ == 0) {
      shared_.x_ring[0] = Scalar{};
      ctx_.store(p_.first_nonfinite + column_, all_finite);
      if (column_ == 0) {
        ctx_.store(p_.used_rhs, p_.x.columns);
      }
    }
    warp_.sync();
    stages.wait_for_first();
    tile_data now = read_tile(0, 0);
    solution last{{}, no_row};
    Scalar* solved = shared_.x_ring + 1 + row_;
    Scalar* const end = shared_.x_ring + 1 + p_.x_ring_size;
    std::uint32_t stage = 0;
    for (std::int32_t s = 0; s < p_.tiles; s += Shape::stage_tiles) {
      if (s > 0) {
        warp_.sync();
        stages.hand_back();
      }
      SPTRSV_UNROLL
      for (int k = 0; k < Shape::stage_tiles; ++k) {
        if (k > 0) {
          warp_.sync();
        }
        array_of<Scalar, entries> component;
        SPTRSV_UNROLL
        for (int e = 0; e < entries; ++e) {
          component[e] = *reinterpret_cast<const Scalar*>(
              reinterpret_cast<const unsigned char*>(shared_.x_ring) + now.operand[e]);
        }
        // The loads are under way; all this does not depend on them:
        const Scalar rhs = now.source >= 0 ? p_.alpha * now.rhs : now.rhs;
        store_to_x(last);
        const Scalar* const in_tile = shared_.in_tile + stage % pipeline_tiles * Shape::in_tile_entries;
        ++stage;
        const tile_data next = read_tile(stage % pipeline_tiles, stage % (2 * pipeline_tiles));
        const Scalar rest = simt::reduce(warp_, minus_products(rhs, now, component), lanes, simt::plus{});
        last.target = now.target;
        last.x = solve_rows(now, in_tile, rest, s + k, solved);
        now = next;
        solved += rows;
        solved = solved >= end ? solved - p_.x_ring_size : solved;
      }
    }
    store_to_x(last);
  }

 private:
  static constexpr int rows = Shape::rows;
  static constexpr int lanes = Shape::lanes;
  static constexpr int entries = Shape::entries;
  /// Whether the in-tile entries are loaded into registers before the tile begins.
  static constexpr bool prefetches_in_tile = Shape::in_tile_entries * static_cast<int>(sizeof(Scalar)) <= 512;
  static constexpr std::uint32_t pipeline_tiles = shared_memory<Scalar, Shape>::pipeline_tiles;

  template <class T>
  struct alignas(sizeof(T) <= 8 ? 2 * sizeof(T) : 16) pair {
    T of[2];
  };

  /// What a lane holds of a tile before it reads x. The first lane of a row has right-hand side and target.
  struct tile_data {
    array_of<Scalar, entries> value;
    array_of<std::int32_t, entries> operand;  ///< in bytes from the start of the x ring buffer
    Scalar in_tile[prefetches_in_tile ? Shape::in_tile_entries : 1];  ///< of all rows
    Scalar reciprocal;
    Scalar rhs;  ///< of b: not yet multiplied by alpha
    std::int32_t source;
    std::int32_t target;
  };
  /// A component that is still to be stored to x.
  struct solution {
    Scalar x;
    std::int32_t target;
  };

  SPTRSV_DEVICE tile_data read_tile(std::uint32_t stage, std::uint32_t row_stage) const {
    tile_data d;
    SPTRSV_UNROLL
    for (unsigned e = 0; e < entries; e += 2) {
      const unsigned at = (stage * (entries / 2) + e / 2) * Shape::threads + thread_;
      const auto values = reinterpret_cast<const pair<Scalar>*>(shared_.values)[at];
      const auto operands = reinterpret_cast<const pair<std::uint16_t>*>(shared_.operands)[at];
      for (unsigned i = 0; i < 2; ++i) {
        d.value[e + i] = values.of[i];
        d.operand[e + i] = operands.of[i] * static_cast<std::int32_t>(sizeof(Scalar));
      }
    }
    const tile_row row = shared_.rows[row_stage * rows + row_];
    const Scalar rhs = shared_.rhs[stage * rows + row_];
    d.reciprocal = shared_.reciprocals[stage * rows + row_];
    d.rhs = leads() ? rhs : Scalar{};
    d.source = leads() ? row.source : no_row;  // alpha times zero may be NaN
    d.target = leads() ? row.target : no_row;
    if constexpr (prefetches_in_tile) {
      const auto* const pairs =
          reinterpret_cast<const pair<Scalar>*>(shared_.in_tile + stage * Shape::in_tile_entries);
      SPTRSV_UNROLL
      for (int i = 0; i < Shape::in_tile_entries; i += 2) {
        const pair<Scalar> two = pairs[i / 2];
        d.in_tile[i] = two.of[0];
        d.in_tile[i + 1] = two.of[1];
      }
    }
    return d;
  }

  /// Returns the lane's part of the row's right-hand side minus the products. Two sums, added in a fixed
  /// order, have half the latency of one.
  SPTRSV_DEVICE static Scalar minus_products(Scalar rhs, const tile_data& now,
                                             const array_of<Scalar, entries>& component) {
    Scalar rest[2] = {rhs - now.value[0] * component[0], Scalar{} - now.value[1] * component[1]};
    SPTRSV_UNROLL
    for (int e = 2; e < entries; ++e) {
      rest[e % 2] = rest[e % 2] - now.value[e] * component[e];
    }
    return rest[0] + rest[1];
  }

  /// Substitutes among the rows of the tile. All lanes compute the same, so that from row to row there is one
  /// multiply-add and no shuffle. `in_tile`: the in-tile entries. Returns the lane's component.
  SPTRSV_DEVICE Scalar solve_rows(const tile_data& now, const Scalar* in_tile, Scalar rest, std::int32_t s,
                                  Scalar* solved) {
    Scalar x = rest * now.reciprocal;
    array_of<Scalar, rows> all;
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      all[r] = warp_.shuffle(x, r * lanes);
    }
    SPTRSV_UNROLL
    for (int q = 0; q < rows - 1; ++q) {
      SPTRSV_UNROLL
      for (int r = q + 1; r < rows && r <= q + Shape::reach; ++r) {
        constexpr auto slot = [](int of, int row) { return in_tile_index<int>(rows, Shape::reach, of, row); };
        all[r] = all[r] - (prefetches_in_tile ? now.in_tile[slot(q, r)] : in_tile[slot(q, r)]) * all[q];
      }
    }
    SPTRSV_UNROLL
    for (int r = 1; r < rows; ++r) {
      x = (row_bit_ >> r & 1u) != 0 ? all[r] : x;  // with r == row_ the compiler would index memory
    }
    if (leads()) {
      *solved = x;
    }
    // The scaled entries may overflow where divisions do not.
    if (!warp_.all(is_finite(x))) {
      x = substitute_exactly(now, in_tile, rest, s);
      if (leads()) {
        *solved = x;
      }
      record_nonfinite(now.target, x);
    }
    return x;
  }

  /// Does the same with unscaled entries and divisions, as serial substitution does.
  SPTRSV_DEVICE Scalar substitute_exactly(const tile_data& now, const Scalar* in_tile, Scalar rest,
                                          std::int32_t s) const {
    const bool scaled = is_finite(now.reciprocal);
    const Scalar divisor = pivot(s);
    const int row = static_cast<int>(row_);
    // An absent entry must not meet a non-finite component, but a stored zero must.
    const std::uint32_t needed =
        ctx_.load_constant(p_.in_tile_rows + static_cast<std::int64_t>(s) * rows + row_);
    for (int q = 0; q < rows - 1; ++q) {
      const Scalar x = warp_.shuffle(divide(rest, divisor), q * lanes);
      if ((needed >> q & 1u) != 0) {
        const Scalar entry = in_tile[in_tile_index<int>(rows, Shape::reach, q, row)];
        rest = rest - (scaled ? entry * divisor : entry) * x;
      }
    }
    return divide(rest, divisor);
  }

  SPTRSV_DEVICE Scalar pivot(std::int32_t s) const {
    return p_.pivots == nullptr ? pivot_divisor<Scalar>::one()
                                : ctx_.load_constant(p_.pivots + static_cast<std::int64_t>(s) * rows + row_);
  }

  /// Stores a component to x, without a branch: rows that are not rows of x are stored to the sink.
  SPTRSV_DEVICE void store_to_x(const solution& last) const {
    const bool is_row = last.target != no_row;
    ctx_.store((is_row ? x_ : p_.sink) + (is_row ? last.target : 0) * p_.x.row_stride, last.x);
  }

  SPTRSV_DEVICE void record_nonfinite(std::int32_t target, Scalar x) const {
    if (target != no_row && !is_finite(x)) {
      ctx_.atomic_min(p_.first_nonfinite + column_,
                      static_cast<std::int64_t>(p_.reversed ? p_.size - 1 - target : target));
    }
  }

  /// Returns whether this lane is the first one of its row.
  SPTRSV_DEVICE bool leads() const { return thread_ % static_cast<unsigned>(lanes) == 0; }

  Context& ctx_;
  const kernel_params<Scalar>& p_;
  decltype(std::declval<Context&>().template group<32>()) warp_;
  shared_memory<Scalar, Shape> shared_;
  unsigned thread_;
  std::uint32_t column_;
  unsigned row_;
  std::uint32_t row_bit_;
  Scalar* x_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
