// SPDX-License-Identifier: Apache-2.0
// The product of a matrix in CSR with a vector; and the step of CG and of BiCGStab: sums of a few vectors,
// with factors from the scalars of the method, and inner products of the results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sptrsv/detail/krylov/block.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI::detail::krylov {
SPTRSV_BEGIN_ANY_CONTEXT

/// Computes y = A x, and with `left` publishes left^H y. A group of lanes has a row; the lanes add in a fixed
/// order.
template <class Scalar, class Index, class Offset>
struct csr_product_agent {
  static constexpr int block_threads = 256;
  using wide = wide_t<Scalar>;
  using shared_storage = block_storage<wide>;
  struct params {
    std::int64_t rows;
    const Offset* row_offsets;
    const Index* columns;
    const Scalar* values;
    const Scalar* x;
    Scalar* y;
    int lanes;           ///< of a row; a power of two, at most 32
    const Scalar* left;  ///< null: none, and `data` is not used
    method_data<wide> data;
  };

  template <class Context>
  static SPTRSV_HOST_DEVICE void run(Context& ctx, shared_storage& shared, const params& p) {
    block_thread<Context, wide> thread(ctx, shared, p.data, p.rows);
    if (p.left != nullptr && thread.has_stopped()) {
      return;
    }
    const auto warp = ctx.template group<32>();
    const int lanes = warp.lanes < p.lanes ? warp.lanes : p.lanes;
    const int lane = warp.rank() & (lanes - 1);
    wide product[1]{};
    for (std::int64_t group = thread.begin; group < thread.end; group += thread.stride / lanes) {
      const std::int64_t row = group + ctx.thread_rank() / lanes;
      Scalar sum{};
      if (row < thread.end) {
        const auto last = load_index(ctx, p.row_offsets + row + 1);
        auto e = load_index(ctx, p.row_offsets + row) + lane;
        for (; e < last; e += lanes) {
          const auto column = load_index(ctx, p.columns + e);
          sum = sum + ctx.load_constant(p.values + e) * ctx.load_constant(p.x + column);
        }
      }
      sum = sum_of_lanes(warp, sum, lanes);
      if (row < thread.end && lane == 0) {
        ctx.store(p.y + row, sum);
        if (p.left != nullptr) {
          product[0] = product[0] + inner(ctx.load_constant(p.left + row), sum);
        }
      }
    }
    if (p.left != nullptr) {
      thread.publish(0, product, 1);
    }
  }
};

/// Enqueues y = A x, and with `left` the sum left^H y as slot 0. Returns the parts of the sum. A has rows.
template <class Value, class Index, class Offset, class Executor>
std::int64_t csr_product(const csr_view<Value, Index, Offset>& a, const scalar_t<Value>* x,
                         scalar_t<Value>* y, const scalar_t<Value>* left,
                         const method_data<wide_t<scalar_t<Value>>>& data, const Executor& on) {
  using agent = csr_product_agent<scalar_t<Value>, Index, Offset>;
  int lanes = 1;  // so many that each has at most two entries of a row of average length
  while (lanes < 32 && 2 * lanes * a.rows < a.entries) {
    lanes *= 2;
  }
  const std::int64_t blocks = std::min(a.rows * lanes / agent::block_threads + 1, max_parts);
  launch<agent>(on, blocks,
                {a.rows, a.row_offsets, a.column_indices, as_scalar(a.values), x, y, lanes, left, data});
  return blocks;
}

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
