// SPDX-License-Identifier: Apache-2.0
// The step of CG and of BiCGStab: sums of a few vectors, with factors from the scalars of the method, and
// inner products of the results.
#pragma once

#include <cmath>
#include <cstdint>

#include "sptrsv/detail/krylov/block.hpp"

namespace sptrsv::SPTRSV_ABI::detail::krylov {
SPTRSV_BEGIN_ANY_CONTEXT

/// Slots of sums. gmres has more, from `basis` on.
enum slot : std::int64_t { product, product_after, square, square_after, rho, basis };

/// Where a step has its factors from, and what it does to the state of the method. `total` is what a slot
/// holds: the sums of slot::product are those of the step or the product with A before.
enum class rule {
  given,               ///< vector_step::given
  noise,               ///< the results are numbers between -1/2 and 1/2
  ends_iteration,      ///< no sums of vectors; the residual has the square total(square)
  cg_update,           ///< x + alpha p and r - alpha q, where alpha = rho / total(product)
  cg_direction,        ///< z + beta p, where beta = total(rho) / rho_before
  bicgstab_half,       ///< r - alpha v, where alpha = rho / total(product)
  bicgstab_update,     ///< x + alpha y + omega z and r - omega t, where omega = t^H r / |t|^2, or 0 if t is 0
  bicgstab_direction,  ///< r + beta p - beta omega v, where beta = (w^H r / rho_before) (alpha / omega)
};

template <class Scalar>
struct vector_step {
  using wide = wide_t<Scalar>;
  /// to = the sum of factor times vector; null: none.
  struct sum {
    Scalar* to = nullptr;
    const Scalar* of[3] = {};
  };
  /// The inner product of two vectors, after the sums; null: none.
  struct pair {
    const Scalar* x = nullptr;
    const Scalar* y = nullptr;
  };

  rule factors_by;
  sum sums[2] = {};
  pair pairs[2] = {};
  slot to = slot::square;  ///< of the first pair
  std::int64_t parts = 0;  ///< of the sum slot::product
  double given[2][3] = {{1, 1, 1}, {1, 1, 1}};

  template <class Thread>
  SPTRSV_HOST_DEVICE void run(Thread& thread) const {
    auto& ctx = thread.ctx;
    wide factors[2][3];
    if (!find_factors(thread, factors)) {
      return;
    }
    const Scalar* const operands[4] = {pairs[0].x, pairs[0].y, pairs[1].x, pairs[1].y};
    wide products[2]{};
    for (std::int64_t i = thread.first; i < thread.end; i += thread.stride) {
      wide terms[2][3];
      wide of_pairs[4];
      wide results[2]{};
      for (int t = 0; t < 6; ++t) {  // all loads before the first use
        terms[t / 3][t % 3] = load(ctx, sums[t / 3].of[t % 3], i);
      }
      for (int t = 0; t < 4; ++t) {
        const bool is_result = operands[t] == sums[0].to || operands[t] == sums[1].to;
        of_pairs[t] = load(ctx, is_result ? nullptr : operands[t], i);
      }
      for (int k = 0; k < 2; ++k) {
        for (int t = 0; t < 3; ++t) {
          results[k] = results[k] + factors[k][t] * terms[k][t];
        }
        const auto rounded =
            entry_cast<Scalar>(factors_by == rule::noise ? from_real<wide>(noise(2 * i + k)) : results[k]);
        results[k] = widen(rounded);
        if (sums[k].to != nullptr) {
          ctx.store(sums[k].to + i, rounded);
        }
      }
      for (int t = 0; t < 4; ++t) {
        const Scalar* const of = operands[t];
        of_pairs[t] = of == sums[0].to ? results[0] : of == sums[1].to ? results[1] : of_pairs[t];
      }
      products[0] = products[0] + inner(of_pairs[0], of_pairs[1]);
      products[1] = products[1] + inner(of_pairs[2], of_pairs[3]);
    }
    if (pairs[0].x != nullptr) {
      thread.publish(to, products, pairs[1].x != nullptr ? 2 : 1);
    }
  }

 private:
  template <class Context>
  static SPTRSV_HOST_DEVICE wide load(Context& ctx, const Scalar* vector, std::int64_t i) {
    return vector != nullptr ? widen(ctx.load(vector + i)) : wide{};
  }
  /// Returns whether the method goes on. All blocks compute the same; the leader changes the state.
  template <class Thread>
  SPTRSV_HOST_DEVICE bool find_factors(Thread& thread, wide (&f)[2][3]) const {
    auto& ctx = thread.ctx;
    auto* const state = thread.data.state;
    const auto& total = thread.shared.totals;
    for (int k = 0; k < 6; ++k) {
      f[k / 3][k % 3] = from_real<wide>(given[k / 3][k % 3]);
    }
    switch (factors_by) {
      case rule::given:
      case rule::noise:
        return true;
      case rule::ends_iteration:
        if (ctx.block_rank() == 0) {
          thread.add_parts(slot::square, 1, ctx.grid_blocks());
        }
        if (thread.is_leader) {
          thread.finish_iteration(std::sqrt(real_part(total[0])), 0);
        }
        return true;
      case rule::cg_update:
      case rule::bicgstab_half:
        return find_alpha(thread, f);
      case rule::cg_direction:
        thread.add_parts(slot::rho, 1, ctx.grid_blocks());
        f[0][1] = divide(total[0], ctx.load(&state->rho_before));
        if (thread.is_leader) {
          ctx.store(&state->rho, total[0]);
        }
        return check(thread, total[0], real_part(total[0]) > 0, reason::not_positive_definite);
      case rule::bicgstab_update:
        thread.add_parts(slot::product, 2, ctx.grid_blocks());
        f[0][1] = ctx.load(&state->alpha);
        f[0][2] = total[1] == wide{} ? wide{} : divide(total[0], total[1]);
        f[1][1] = wide{} - f[0][2];
        if (thread.is_leader) {
          ctx.store(&state->omega, f[0][2]);
        }
        return check(thread, f[0][2], is_finite(f[0][2]), reason::breakdown);
      case rule::bicgstab_direction: {
        thread.add_parts(slot::square, 2, ctx.grid_blocks());
        const wide omega = ctx.load(&state->omega);
        f[0][1] = divide(total[1], ctx.load(&state->rho_before)) * divide(ctx.load(&state->alpha), omega);
        f[0][2] = wide{} - f[0][1] * omega;
        if (thread.is_leader) {
          ctx.store(&state->rho, total[1]);
          const bool is_useful = is_finite(f[0][1]) && !(f[0][1] == wide{});
          thread.finish_iteration(std::sqrt(real_part(total[0])), is_useful ? 0 : code_of(reason::breakdown));
        }
        return true;
      }
    }
    return true;
  }
  /// Finds the factors of the rules with alpha. Returns as find_factors.
  template <class Thread>
  SPTRSV_HOST_DEVICE bool find_alpha(Thread& thread, wide (&f)[2][3]) const {
    auto& ctx = thread.ctx;
    auto* const state = thread.data.state;
    const auto& total = thread.shared.totals;
    thread.add_parts(slot::product, 1, parts);
    const wide before = ctx.load(&state->rho);
    const wide alpha = divide(before, total[0]);
    const bool is_half = factors_by == rule::bicgstab_half;
    f[0][1] = is_half ? wide{} - alpha : alpha;
    f[1][1] = wide{} - alpha;
    if (thread.is_leader) {
      ctx.store(&state->alpha, alpha);
      ctx.store(&state->rho_before, before);
    }
    const bool is_positive = is_half || real_part(total[0]) > 0;
    return check(thread, total[0], is_positive && is_finite(alpha),
                 is_half ? reason::breakdown : reason::not_positive_definite);
  }
  /// Returns `holds`. If it does not, the method ends, with another reason for a total that is not finite.
  template <class Thread>
  static SPTRSV_HOST_DEVICE bool check(Thread& thread, wide total, bool holds, reason otherwise) {
    if (!holds && thread.is_leader) {
      thread.stop(code_of(is_finite(total) ? otherwise : reason::not_finite));
    }
    return holds;
  }
  static SPTRSV_HOST_DEVICE double noise(std::int64_t i) {
    auto bits = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    return static_cast<double>((bits ^ bits >> 27) & 0xffffu) / 0x10000 - 0.5;
  }
};

SPTRSV_END_ANY_CONTEXT
}  // namespace sptrsv::SPTRSV_ABI::detail::krylov
