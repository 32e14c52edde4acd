// The kernel that walks: one thread block solves one right-hand side, step after step, with the solved
// components in a window of shared memory. Several right-hand sides are as many blocks.
//
// The block has two kinds of threads. Those that compute go from step to step with one barrier between two
// (of their warp only, where a step is one warp). Those that copy bring what later steps need from global to
// shared memory, some chunks of steps ahead. What a step needs besides components of x is in registers before
// its barrier, so the critical path of a step is: read components, multiply and add, sum over the row's
// lanes, write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/dataflow/walk_program.hpp"
#include "sptrsv/detail/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::dataflow {

inline constexpr std::int64_t walk_all_finite = INT64_MAX;

template <class Scalar>
struct walk_params {
  std::int32_t steps;  ///< a multiple of the shape's chunk
  std::int32_t window;
  std::int32_t size;
  bool reversed;
  const Scalar* values;           ///< by slot
  const std::uint16_t* operands;  ///< by slot
  const Scalar* inner;        ///< by step: entries between its rows, times the reciprocal of the row's pivot
  const Scalar* reciprocals;  ///< by row: of the pivot; NaN where it must not stand for the division
  const Scalar* pivots;       ///< by row; null if the diagonal is unit
  const walk_row* rows;
  const Scalar* zero;
  Scalar* sink;                ///< takes what is of no use
  std::int64_t* used_columns;  ///< of the last solve
  std::int64_t* first_bad;     ///< by right-hand side: the first position whose x is not finite
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// The rings and the window in shared memory.
template <class Scalar, class Shape>
struct walk_shared {
  static constexpr int slots = Shape::threads * Shape::entries;
  static constexpr int ring_steps = Shape::chunks * Shape::chunk_steps;

  Scalar* values;
  std::uint16_t* operands;
  Scalar* inner;
  Scalar* reciprocals;
  Scalar* sides;   ///< right-hand sides of the rows
  walk_row* rows;  ///< a ring of twice as many steps: they say where the sides come from
  Scalar* window;

  SPTRSV_DEVICE explicit walk_shared(void* begin) {
    constexpr walk_layout<Scalar> layout = walk_layout<Scalar>::of(values_of<Shape>(), 0);
    auto* const bytes = static_cast<unsigned char*>(begin);
    values = reinterpret_cast<Scalar*>(bytes + layout.values);
    operands = reinterpret_cast<std::uint16_t*>(bytes + layout.operands);
    inner = reinterpret_cast<Scalar*>(bytes + layout.inner);
    reciprocals = reinterpret_cast<Scalar*>(bytes + layout.reciprocals);
    sides = reinterpret_cast<Scalar*>(bytes + layout.sides);
    rows = reinterpret_cast<walk_row*>(bytes + layout.rows);
    window = reinterpret_cast<Scalar*>(bytes + layout.window);
  }
};

/// The threads that copy.
template <class Scalar, class Shape, class Context>
class walk_copier {
 public:
  SPTRSV_DEVICE walk_copier(Context& ctx, const walk_params<Scalar>& p)
      : ctx_(ctx),
        p_(p),
        shared_(ctx.dynamic_shared()),
        thread_(ctx.thread_rank() - Shape::threads),
        count_(p.steps / steps),
        b_(p.b.data + static_cast<std::int64_t>(ctx.block_rank()) * p.b.column_stride),
        x_(p.x.data + static_cast<std::int64_t>(ctx.block_rank()) * p.x.column_stride) {}

  /// At the barrier before chunk c, chunks c and c + 1 are there; then the place of chunk c - 1 is free.
  SPTRSV_DEVICE void run() {
    for (std::int32_t c = 0; c < 2 * chunks - 1; ++c) {
      copy_rows(c);
    }
    ctx_.commit_copies();
    ctx_.template wait_copies<0>();
    for (std::int32_t c = 0; c < chunks - 1; ++c) {
      copy_chunk(c);
      ctx_.commit_copies();
    }
    ctx_.template wait_copies<chunks - 3>();
    ctx_.barrier();
    for (std::int32_t c = 0; c < count_ - 1; ++c) {
      copy_rows(c - 1 + 2 * chunks);
      copy_chunk(c - 1 + chunks);
      ctx_.commit_copies();
      ctx_.template wait_copies<chunks - 3>();
      ctx_.barrier();
    }
  }

 private:
  static constexpr int steps = Shape::chunk_steps;
  static constexpr int chunks = Shape::chunks;
  static constexpr int rows = Shape::rows * steps;
  static constexpr int slots = walk_shared<Scalar, Shape>::slots * steps;
  static constexpr int inner_entries = Shape::inner_entries * steps;
  using real = real_t<Scalar>;

  /// A thread copies the rows whose sides it copies later: it needs no barrier to see them.
  SPTRSV_DEVICE void copy_rows(std::int32_t c) {
    if (c < count_) {
      copy<sizeof(walk_row), rows>(shared_.rows + c % (2 * chunks) * rows,
                                   p_.rows + static_cast<std::int64_t>(c) * rows);
    }
  }

  SPTRSV_DEVICE void copy_chunk(std::int32_t c) {
    if (c >= count_) {
      return;
    }
    const std::int32_t place = c % chunks;
    const std::int64_t from = c;
    constexpr int turns = (rows + Shape::copy_threads - 1) / Shape::copy_threads;
    std::int32_t source[turns] = {};
    for_each_turn<rows>(
        [&](int turn, int r) { source[turn] = shared_.rows[c % (2 * chunks) * rows + r].source; });
    copy<16, slots>(shared_.values + place * slots, p_.values + from * slots);
    copy<16, slots>(shared_.operands + place * slots, p_.operands + from * slots);
    copy<16, rows>(shared_.reciprocals + place * rows, p_.reciprocals + from * rows);
    if constexpr (inner_entries > 0) {
      copy<16, inner_entries>(shared_.inner + place * inner_entries, p_.inner + from * inner_entries);
    }
    for_each_turn<rows>([&](int turn, int r) { copy_side(shared_.sides + place * rows + r, source[turn]); });
  }

  /// Calls work(turn, i) for i = this thread, and so on by the number of threads that copy, below `Count`.
  template <int Count, class Work>
  SPTRSV_DEVICE void for_each_turn(Work work) const {
    SPTRSV_UNROLL
    for (int first = 0; first < Count; first += Shape::copy_threads) {
      if (first + thread_ < Count) {
        work(first / Shape::copy_threads, first + thread_);
      }
    }
  }

  /// The user's arrays are aligned to a real number only.
  SPTRSV_DEVICE void copy_side(Scalar* side, std::int32_t source) {
    const Scalar* const stored =
        source >= 0 ? b_ + source * p_.b.row_stride : x_ + fetched(source) * p_.x.row_stride;
    const auto from = reinterpret_cast<const real*>(source == no_row ? p_.zero : stored);
    for (std::size_t i = 0; i < sizeof(Scalar) / sizeof(real); ++i) {
      ctx_.template copy_async<sizeof(real)>(reinterpret_cast<real*>(side) + i, from + i);
    }
  }

  /// `Count` elements in pieces of `Piece` bytes; piece i by thread i mod copy_threads.
  template <int Piece, int Count, class T>
  SPTRSV_DEVICE void copy(T* to, const T* from) {
    constexpr int pieces = Count * static_cast<int>(sizeof(T)) / Piece;
    static_assert(Count * sizeof(T) % Piece == 0);
    for_each_turn<pieces>([&](int, int i) {
      ctx_.template copy_async<Piece>(reinterpret_cast<unsigned char*>(to) + i * Piece,
                                      reinterpret_cast<const unsigned char*>(from) + i * Piece);
    });
  }

  Context& ctx_;
  const walk_params<Scalar>& p_;
  walk_shared<Scalar, Shape> shared_;
  int thread_;
  std::int32_t count_;  ///< of chunks
  const Scalar* b_;
  Scalar* x_;
};

/// The threads that compute.
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
        x_(p.x.data + static_cast<std::int64_t>(column_) * p.x.column_stride) {}

  SPTRSV_DEVICE void run() {
    if (thread_ == 0) {
      shared_.window[0] = Scalar{};
      ctx_.store(p_.first_bad + column_, walk_all_finite);
      if (column_ == 0) {
        ctx_.store(p_.used_columns, p_.x.columns);
      }
    }
    ctx_.barrier();
    step_data now = read_step(0, 0);
    solution last{{}, no_row};
    Scalar* solved = shared_.window + 1 + row_;
    Scalar* const end = shared_.window + 1 + p_.window;
    std::uint32_t stage = 0;
    for (std::int32_t s = 0; s < p_.steps; s += Shape::chunk_steps) {
      if (s > 0) {
        ctx_.barrier();
      }
      SPTRSV_UNROLL
      for (int k = 0; k < Shape::chunk_steps; ++k) {
        if (k > 0) {
          synchronize();
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
        ++stage;
        const step_data next = read_step(stage % ring_steps, stage % (2 * ring_steps));
        const Scalar rest = simt::tile_sum(warp_, minus_products(side, now, component), lanes);
        last.target = now.target;
        if constexpr (Shape::coupled) {
          last.x = solve_coupled(now, rest, s + k, solved);
        } else {
          last.x = solve_row(now, rest, s + k, solved);
        }
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
  static constexpr std::uint32_t ring_steps = walk_shared<Scalar, Shape>::ring_steps;

  template <class T>
  struct alignas(sizeof(T) <= 8 ? 2 * sizeof(T) : 16) pair {
    T of[2];
  };

  /// What a lane knows of a step before it may read components of x. Only the first lane of a row has a
  /// right-hand side and a target.
  struct step_data {
    Scalar value[entries];
    std::int32_t operand[entries];  ///< bytes from the start of the window
    Scalar inner[Shape::coupled ? rows - 1 : 1];
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

  SPTRSV_DEVICE void synchronize() const {
    if constexpr (Shape::threads == 32) {
      warp_.sync();
    } else {
      ctx_.template barrier<Shape::threads>();
    }
  }

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
    if constexpr (Shape::coupled) {
      SPTRSV_UNROLL
      for (int q = 0; q < rows - 1; ++q) {
        d.inner[q] = q < static_cast<int>(row_)
                         ? shared_.inner[stage * Shape::inner_entries + inner_place<unsigned>(rows, q, row_)]
                         : Scalar{};
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

  /// Writes first and looks then: what must be divided after all is rare.
  SPTRSV_DEVICE Scalar solve_row(const step_data& now, Scalar rest, std::int32_t s, Scalar* solved) {
    Scalar x = rest * now.reciprocal;
    if (leads()) {
      *solved = x;
    }
    if (!is_finite(x)) {
      if (!is_finite(now.reciprocal)) {
        x = divide(rest, pivot(s));
        if (leads()) {
          *solved = x;
        }
      }
      note(now.target, x);
    }
    return x;
  }

  /// Forward substitution among the rows of the step, which all lanes of a row do alike.
  SPTRSV_DEVICE Scalar solve_coupled(const step_data& now, Scalar rest, std::int32_t s, Scalar* solved) {
    Scalar x = rest * now.reciprocal;
    SPTRSV_UNROLL
    for (int q = 0; q < rows - 1; ++q) {
      x = x - now.inner[q] * warp_.shuffle(x, q * lanes);
    }
    if (leads()) {
      *solved = x;
    }
    // Scaling may have overflowed where division does not.
    if (!warp_.all(is_finite(x))) {
      x = substitute_exactly(now, rest, s);
      if (leads()) {
        *solved = x;
      }
      note(now.target, x);
    }
    return x;
  }

  /// The same with entries that are not scaled and with divisions.
  SPTRSV_DEVICE Scalar substitute_exactly(const step_data& now, Scalar rest, std::int32_t s) const {
    const bool scaled = is_finite(now.reciprocal);
    const Scalar divisor = pivot(s);
    SPTRSV_UNROLL
    for (int q = 0; q < rows - 1; ++q) {
      const Scalar x = warp_.shuffle(divide(rest, divisor), q * lanes);
      if (q < static_cast<int>(row_) && !(now.inner[q] == Scalar{})) {
        rest = rest - (scaled ? now.inner[q] * divisor : now.inner[q]) * x;
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
  Scalar* x_;
};

template <class Scalar, class Shape>
struct walk_agent {
  static constexpr int block_threads = Shape::threads + Shape::copy_threads;
  using params = walk_params<Scalar>;
  struct shared_storage {};

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    if (ctx.thread_rank() < Shape::threads) {
      walk_solver<Scalar, Shape, Context>(ctx, p).run();
    } else {
      walk_copier<Scalar, Shape, Context>(ctx, p).run();
    }
  }
};

}  // namespace sptrsv::detail::dataflow
