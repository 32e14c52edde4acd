// The warp of a walk that computes.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/dataflow/walk_shared.hpp"

namespace sptrsv::detail::dataflow {

/// What the warp that computes does.
template <class Scalar, class Shape, class Context>
class walk_solver {
 public:
  SPTRSV_DEVICE walk_solver(Context& ctx, const walk_params<Scalar>& p)
      : ctx_(ctx),
        p_(p),
        warp_(ctx.template group<32>()),
        shared_(ctx.dynamic_shared()),
        // Through a shuffle: otherwise the compiler reads the special registers, which are slow, in each
        // step.
        thread_(static_cast<unsigned>(warp_.shuffle(ctx.thread_rank(), warp_.rank()))),
        column_(warp_.shuffle(ctx.block_rank(), 0)),
        row_(thread_ / lanes),
        row_bit_(warp_.shuffle(1u << row_, warp_.rank())),
        x_(p.x.data + static_cast<std::int64_t>(column_) * p.x.column_stride) {}

  SPTRSV_DEVICE void run() {
    if (thread_ == 0) {
      shared_.window[0] = Scalar{};
      ctx_.store(p_.first_bad + column_, walk_all_finite);
      if (column_ == 0) {
        ctx_.store(p_.used_columns, p_.x.columns);
      }
    }
    ctx_.template barrier<Shape::block_threads>();
    step_data now = read_step(0, 0);
    solution last{{}, no_row};
    Scalar* solved = shared_.window + 1 + row_;
    Scalar* const end = shared_.window + 1 + p_.window;
    std::uint32_t stage = 0;
    for (std::int32_t s = 0; s < p_.steps; s += Shape::chunk_steps) {
      if (s > 0) {
        ctx_.template barrier<Shape::block_threads>();
      }
      SPTRSV_UNROLL
      for (int k = 0; k < Shape::chunk_steps; ++k) {
        if (k > 0) {
          warp_.sync();
        }
        Scalar component[entries];
        SPTRSV_UNROLL
        for (int e = 0; e < entries; ++e) {
          component[e] = *reinterpret_cast<const Scalar*>(
              reinterpret_cast<const unsigned char*>(shared_.window) + now.operand[e]);
        }
        // While they come:
        const Scalar side = now.source >= 0 ? p_.alpha * now.side : now.side;
        write(last);
        const Scalar* const inner = shared_.inner + stage % ring_steps * Shape::inner_entries;
        ++stage;
        const step_data next = read_step(stage % ring_steps, stage % (2 * ring_steps));
        const Scalar rest = simt::tile_sum(warp_, minus_products(side, now, component), lanes);
        last.target = now.target;
        last.x = solve_rows(now, inner, rest, s + k, solved);
        now = next;
        solved += rows;
        solved = solved >= end ? solved - p_.window : solved;
      }
    }
    write(last);
  }

 private:
  static constexpr int rows = Shape::rows;
  static constexpr int lanes = Shape::lanes;
  static constexpr int entries = Shape::entries;
  /// Whether the entries between the rows of a step are brought into registers before it.
  static constexpr bool keeps_inner = Shape::inner_entries * static_cast<int>(sizeof(Scalar)) <= 512;
  static constexpr std::uint32_t ring_steps = walk_shared<Scalar, Shape>::ring_steps;

  template <class T>
  struct alignas(sizeof(T) <= 8 ? 2 * sizeof(T) : 16) pair {
    T of[2];
  };

  /// What a lane knows of a step before it may read components of x. Only the first lane of a row has a
  /// right-hand side and a target.
  struct step_data {
    Scalar value[entries];
    std::int32_t operand[entries];                         ///< bytes from the start of the window
    Scalar inner[keeps_inner ? Shape::inner_entries : 1];  ///< of all rows
    Scalar reciprocal;
    Scalar side;  ///< not yet times alpha
    std::int32_t source;
    std::int32_t target;
  };
  /// What is still to be written to x.
  struct solution {
    Scalar x;
    std::int32_t target;
  };

  SPTRSV_DEVICE step_data read_step(std::uint32_t stage, std::uint32_t row_stage) const {
    step_data d;
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
    const walk_row row = shared_.rows[row_stage * rows + row_];
    const Scalar side = shared_.sides[stage * rows + row_];
    d.reciprocal = shared_.reciprocals[stage * rows + row_];
    d.side = leads() ? side : Scalar{};
    d.source = row.source;
    d.target = leads() ? row.target : no_row;
    if constexpr (keeps_inner) {
      const auto* const pairs =
          reinterpret_cast<const pair<Scalar>*>(shared_.inner + stage * Shape::inner_entries);
      SPTRSV_UNROLL
      for (int i = 0; i < Shape::inner_entries; i += 2) {
        const pair<Scalar> two = pairs[i / 2];
        d.inner[i] = two.of[0];
        d.inner[i + 1] = two.of[1];
      }
    }
    return d;
  }

  /// The lane's part of the row's right-hand side minus the products; in two sums, whose order is fixed: half
  /// the latency of one.
  SPTRSV_DEVICE static Scalar minus_products(Scalar side, const step_data& now,
                                             const Scalar (&component)[entries]) {
    Scalar rest[2] = {side - now.value[0] * component[0], Scalar{} - now.value[1] * component[1]};
    SPTRSV_UNROLL
    for (int e = 2; e < entries; ++e) {
      rest[e % 2] = rest[e % 2] - now.value[e] * component[e];
    }
    return rest[0] + rest[1];
  }

  /// Forward substitution among the rows of the step, which all lanes do alike, so that from row to row there
  /// is one multiply-add and no shuffle. `inner`: the step's entries between rows.
  SPTRSV_DEVICE Scalar solve_rows(const step_data& now, const Scalar* inner, Scalar rest, std::int32_t s,
                                  Scalar* solved) {
    Scalar x = rest * now.reciprocal;
    Scalar all[rows];
    SPTRSV_UNROLL
    for (int r = 0; r < rows; ++r) {
      all[r] = warp_.shuffle(x, r * lanes);
    }
    SPTRSV_UNROLL
    for (int q = 0; q < rows - 1; ++q) {
      SPTRSV_UNROLL
      for (int r = q + 1; r < rows && r <= q + Shape::reach; ++r) {
        constexpr auto place = [](int of, int row) { return inner_place<int>(rows, Shape::reach, of, row); };
        all[r] = all[r] - (keeps_inner ? now.inner[place(q, r)] : inner[place(q, r)]) * all[q];
      }
    }
    SPTRSV_UNROLL
    for (int r = 1; r < rows; ++r) {
      x = (row_bit_ >> r & 1u) != 0 ? all[r] : x;  // asked for r == row_, the compiler would index memory
    }
    if (leads()) {
      *solved = x;
    }
    // Scaling may have overflowed where division does not.
    if (!warp_.all(is_finite(x))) {
      x = substitute_exactly(now, inner, rest, s);
      if (leads()) {
        *solved = x;
      }
      note(now.target, x);
    }
    return x;
  }

  /// The same with entries that are not scaled and with divisions.
  SPTRSV_DEVICE Scalar substitute_exactly(const step_data& now, const Scalar* inner, Scalar rest,
                                          std::int32_t s) const {
    const bool scaled = is_finite(now.reciprocal);
    const Scalar divisor = pivot(s);
    const int row = static_cast<int>(row_);
    for (int q = 0; q < rows - 1; ++q) {
      const Scalar x = warp_.shuffle(divide(rest, divisor), q * lanes);
      const bool needs = q < row && row - q <= Shape::reach;
      const Scalar entry = needs ? inner[inner_place<int>(rows, Shape::reach, q, row)] : Scalar{};
      if (!(entry == Scalar{})) {
        rest = rest - (scaled ? entry * divisor : entry) * x;
      }
    }
    return divide(rest, divisor);
  }

  SPTRSV_DEVICE Scalar pivot(std::int32_t s) const {
    return p_.pivots == nullptr ? pivot_divisor<Scalar>::one()
                                : ctx_.load_constant(p_.pivots + static_cast<std::int64_t>(s) * rows + row_);
  }

  /// Without a branch: what is not a row of x goes down the sink.
  SPTRSV_DEVICE void write(const solution& last) const {
    const bool real = last.target != no_row;
    ctx_.store((real ? x_ : p_.sink) + (real ? last.target : 0) * p_.x.row_stride, last.x);
  }

  SPTRSV_DEVICE void note(std::int32_t target, Scalar x) const {
    if (target != no_row && !is_finite(x)) {
      ctx_.atomic_min(p_.first_bad + column_,
                      static_cast<std::int64_t>(p_.reversed ? p_.size - 1 - target : target));
    }
  }

  /// Whether this lane speaks for its row.
  SPTRSV_DEVICE bool leads() const { return thread_ % static_cast<unsigned>(lanes) == 0; }

  Context& ctx_;
  const walk_params<Scalar>& p_;
  decltype(std::declval<Context&>().template group<32>()) warp_;
  walk_shared<Scalar, Shape> shared_;
  unsigned thread_;
  std::uint32_t column_;
  unsigned row_;
  std::uint32_t row_bit_;
  Scalar* x_;
};

}  // namespace sptrsv::detail::dataflow
