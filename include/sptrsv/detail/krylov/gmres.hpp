// SPDX-License-Identifier: Apache-2.0
// GMRES with restarts (Saad and Schultz 1986), preconditioned from the right, with classical Gram-Schmidt
// done twice. With the basis V and w = A M^-1 v, an iteration is h = V^H w, w -= V h with h' = V^H w, and
// w -= V h' with the next v = w / |w| and the rotations of the least-squares problem. The square of |w| after
// the second pass is that before it minus |h'|^2.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/krylov/method.hpp"

namespace sptrsv::SPTRSV_ABI::detail::krylov {
SPTRSV_BEGIN_ANY_CONTEXT

/// Part of an iteration, or the combination u = V y at the end of a cycle.
enum class gmres_part { project, subtract, finish, combine };

template <class Scalar>
struct gmres_step {
  using wide = wide_t<Scalar>;

  gmres_part part;
  std::int64_t rows;
  std::int64_t restart;
  Scalar* basis;  ///< V: restart + 1 vectors
  Scalar* w;
  Scalar* v;        ///< the last vector of the basis; u in the end
  wide* right;      ///< right-hand side of the least-squares problem, restart + 1 elements; y in the end
  wide* rotations;  ///< cosine and sine of each
  wide* columns;    ///< of the triangular matrix, one after the other; column j has j + 1 elements

  template <class Thread>
  SPTRSV_HOST_DEVICE void run(Thread& thread) const {
    auto* const state = thread.data.state;
    const std::int64_t second_pass = slot::basis + restart + 2;
    const std::int32_t j = thread.ctx.load(
        part == gmres_part::project || part == gmres_part::combine ? &state->next_step : &state->step);
    if (part == gmres_part::project) {
      if (thread.is_leader) {
        thread.ctx.store(&state->step, j);
      }
      project(thread, slot::basis, j + 1);
    } else if (part == gmres_part::subtract) {
      subtract(thread, slot::basis, j + 1, false);
      project(thread, second_pass, j + 1);
    } else if (part == gmres_part::finish) {
      const double removed = subtract(thread, second_pass, j + 1, true);
      finish(thread, j, removed);
    } else {
      for (std::int64_t i = thread.first; i < thread.end; i += thread.stride) {
        wide sum{};
        for (std::int64_t k = 0; k < j; ++k) {
          sum = sum + thread.ctx.load(right + k) * widen(thread.ctx.load(basis + k * rows + i));
        }
        thread.ctx.store(v + i, entry_cast<Scalar>(sum));
      }
    }
  }

 private:
  /// Publishes V^H w for `count` vectors, and then |w|^2.
  template <class Thread>
  SPTRSV_HOST_DEVICE void project(Thread& thread, std::int64_t to, std::int64_t count) const {
    constexpr int together = 8;  // sums in registers
    for (std::int64_t k = 0; k <= count; k += together) {
      wide sums[together]{};
      for (std::int64_t i = thread.first; i < thread.end; i += thread.stride) {
        const Scalar of_w = thread.ctx.load(w + i);
        for (int t = 0; t < together; ++t) {
          const Scalar of_v = k + t < count ? thread.ctx.load(basis + (k + t) * rows + i) : of_w;
          sums[t] = sums[t] + inner(of_v, of_w);
        }
      }
      thread.publish(to + k, sums, static_cast<int>(count - k < together ? count - k + 1 : together));
    }
  }
  /// w -= V h, where h are the sums from `from` on. The first block stores h in the column of the iteration,
  /// or adds it. Returns |h|^2.
  template <class Thread>
  SPTRSV_HOST_DEVICE double subtract(Thread& thread, std::int64_t from, std::int64_t count, bool adds) const {
    auto& ctx = thread.ctx;
    wide* const column = columns + count * (count - 1) / 2;
    double square = 0;
    for (std::int64_t k = 0; k < count; k += max_totals) {
      const int batch = static_cast<int>(count - k < max_totals ? count - k : max_totals);
      const auto& h = thread.shared.totals;
      thread.add_parts(from + k, batch, ctx.grid_blocks());
      for (std::int64_t i = thread.first; i < thread.end; i += thread.stride) {
        wide left = widen(ctx.load(w + i));
        for (int t = 0; t < batch; ++t) {
          left = left - h[t] * widen(ctx.load(basis + (k + t) * rows + i));
        }
        ctx.store(w + i, entry_cast<Scalar>(left));
      }
      for (int t = 0; t < batch; ++t) {
        square += real_part(inner(h[t], h[t]));
      }
      for (int t = ctx.thread_rank(); ctx.block_rank() == 0 && t < batch; t += thread.stride) {
        ctx.store(column + k + t, adds ? ctx.load(column + k + t) + h[t] : h[t]);
      }
    }
    return square;
  }
  /// Makes the next vector of the basis. `removed`: |h'|^2.
  template <class Thread>
  SPTRSV_HOST_DEVICE void finish(Thread& thread, std::int32_t j, double removed) const {
    auto& ctx = thread.ctx;
    constexpr double precision = sizeof(real_t<Scalar>) == sizeof(float) ? 1.2e-7 : 2.2e-16;
    thread.add_parts(slot::basis + j + 1, 1, ctx.grid_blocks());
    const double before = real_part(thread.shared.totals[0]);
    thread.add_parts(slot::basis + restart + 2 + j + 1, 1, ctx.grid_blocks());
    const double square = real_part(thread.shared.totals[0]) - removed;
    // If the vector is in the span of the basis, the rest is rounding error: it gives no new direction.
    const bool is_in_span = square <= 256 * precision * precision * before;
    const double norm = is_in_span ? 0 : std::sqrt(square);
    const wide factor = from_real<wide>(is_in_span ? 0 : 1 / norm);
    for (std::int64_t i = thread.first; i < thread.end; i += thread.stride) {
      const auto scaled = entry_cast<Scalar>(factor * widen(ctx.load(w + i)));
      ctx.store(basis + (j + 1) * rows + i, scaled);
      ctx.store(v + i, scaled);
    }
    if (thread.is_leader) {
      ctx.store(&thread.data.state->next_step, j + 1);
      thread.finish_iteration(rotate(ctx, j, norm), is_in_span         ? code_of(reason::breakdown)
                                                    : j + 1 == restart ? cycle_is_full
                                                                       : 0);
    }
  }
  /// Applies the rotations to column j, which ends with `norm`, and adds one. Returns the norm of the
  /// residual.
  template <class Context>
  SPTRSV_HOST_DEVICE double rotate(Context& ctx, std::int64_t j, double norm) const {
    constexpr int together = 8;  // loads at a time
    wide* const column = columns + j * (j + 1) / 2;
    wide upper = ctx.load(column);
    for (std::int64_t k = 0; k < j; k += together) {
      wide c[together]{};
      wide s[together]{};
      wide lower[together]{};
      for (int t = 0; t < together; ++t) {
        if (k + t < j) {
          c[t] = ctx.load(rotations + 2 * (k + t));
          s[t] = ctx.load(rotations + 2 * (k + t) + 1);
          lower[t] = ctx.load(column + k + t + 1);
        }
      }
      for (int t = 0; t < together; ++t) {
        if (k + t < j) {
          ctx.store(column + k + t, c[t] * upper + s[t] * lower[t]);
          upper = c[t] * lower[t] - conjugate(s[t]) * upper;
        }
      }
    }
    const double size = std::sqrt(real_part(inner(upper, upper)));
    const double length = std::sqrt(size * size + norm * norm);
    const wide phase = size > 0 ? divide(upper, from_real<wide>(size)) : from_real<wide>(1);
    const wide c = from_real<wide>(length == 0 ? 1 : size / length);
    const wide s = phase * from_real<wide>(length == 0 ? 0 : norm / length);
    const wide of_j = ctx.load(right + j);
    const wide next = wide{} - conjugate(s) * of_j;
    ctx.store(rotations + 2 * j, c);
    ctx.store(rotations + 2 * j + 1, s);
    ctx.store(column + j, phase * from_real<wide>(length));
    ctx.store(right + j, c * of_j);
    ctx.store(right + j + 1, next);
    return std::sqrt(length == 0 ? real_part(inner(of_j, of_j)) : real_part(inner(next, next)));
  }
};

template <class... Types>
struct gmres : method<Types...> {
  using scalar = typename method<Types...>::scalar;
  using wide = typename method<Types...>::wide;
  using executor = typename method<Types...>::executor;

  /// Iterates from the residual in vector 0 for a cycle, and adds what it has found to x.
  void cycle() {
    const std::int64_t restart = this->wanted.restart;
    scalar* const w = this->vector(0);
    scalar* const v = this->vector(1);
    wide* const right = this->memory.scalars.data();
    gmres_step<scalar> step{
        gmres_part::project,      this->rows, restart, this->vector(3), w, v, right, right + restart + 1,
        right + 3 * (restart + 1)};
    const auto run = [&](gmres_part part, auto to) {
      step.part = part;
      this->step(step, to);
    };
    const executor on(this->stream);
    const wide norm = from_real<wide>(this->state.norm);
    this->state.next_step = 0;
    this->start_cycle();
    on.upload(right, &norm, sizeof(norm));
    const double factor = 1 / this->state.norm;
    this->step({rule::given, {{v, {w}}, {step.basis, {w}}}, {}, slot::square, 0, {{factor}, {factor}}},
               this->stream);
    this->repeat([&](auto to) {
      this->product(this->precondition(v, this->vector(2), to), w, to);
      run(gmres_part::project, to);
      run(gmres_part::subtract, to);
      run(gmres_part::finish, to);
    });
    const std::int32_t stopped = this->state.stop;
    this->state.next_step -= stopped == code_of(reason::not_finite) ? 1 : 0;
    if (this->state.next_step > 0) {
      const std::vector<wide> y = coefficients(step, this->state.next_step, on);
      this->start_cycle();
      on.upload(right, y.data(), y.size() * sizeof(wide));
      run(gmres_part::combine, this->stream);
      const scalar* const z = this->precondition(v, this->vector(2), this->stream);
      this->step({rule::given, {{this->x, {this->x, z}}}}, this->stream);
    }
    this->state.stop = stopped;
  }

 private:
  /// Solves the triangular system of the least-squares problem of `count` iterations.
  static std::vector<wide> coefficients(const gmres_step<scalar>& of, std::int64_t count,
                                        const executor& on) {
    const auto columns = download_array(of.columns, count * (count + 1) / 2, on);
    auto y = download_array(of.right, count, on);
    for (std::int64_t k = count; k-- > 0;) {
      const wide* const column = columns.data() + k * (k + 1) / 2;
      y[at(k)] = column[k] == wide{} ? wide{} : divide(y[at(k)], column[k]);
      for (std::int64_t i = 0; i < k; ++i) {
        y[at(i)] = y[at(i)] - column[i] * y[at(k)];
      }
    }
    return y;
  }
};

SPTRSV_END_ANY_CONTEXT
}  // namespace sptrsv::SPTRSV_ABI::detail::krylov
