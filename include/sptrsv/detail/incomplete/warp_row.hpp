// SPDX-License-Identifier: Apache-2.0
// A row of an incomplete factorisation that a whole warp computes, with its values in memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/operand_batches.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// A row that is too long for short_row, computed by a whole warp. What a step needs of the row is loaded
/// before the wait for its operands.
///
/// LU: the lane of the pivot computes l = a_ik / u_kk for all lanes, which subtract l u_kj. Cholesky: the
/// lanes add up the products l_ij conj(l_kj) before the pivot is known. The steps without products that
/// follow do not depend on this one, so the lanes compute their entries together with l_ik. These entries are
/// published at once, because other rows use them before this row is complete.
template <method Method, class Scalar, class Index, class Offset>
class warp_row : operand_batches<Method, Scalar, Index, Offset, 32> {
  using base = operand_batches<Method, Scalar, Index, Offset, 32>;
  using typename base::flag;

 public:
  using typename base::params;
  using typename base::place;

  /// `shared`: memory for the values of the row; `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      const shared_row<Scalar, Offset>& shared, std::uint32_t half) {
    warp_row row{};
    row.row_ = data::of(p, at, warp.rank(), shared);
    row.start(ctx, warp, p, at);
    row.row_.load(ctx, p);
    warp.sync();
    for (;;) {
      const bool is_last = row.is_last_batch();
      if constexpr (Method == method::lu) {
        row.eliminate(ctx, warp);
      } else {
        row.substitute(ctx, warp, p);
      }
      if (is_last) {
        break;
      }
      row.take_batch(ctx, warp, p);
    }
    publish<Method>(ctx, p, row.row_, row.square_sum_, row.found_, half);
    warp.sync();  // the next row of the warp overwrites the values
  }

 private:
  static constexpr int lanes = 32;
  using data = row_data<Scalar, Index, Offset, lanes>;
  using base::divides_;
  using base::lane_;
  using base::own_;

  /// Computes the steps of a batch, LU.
  template <class Context, class Warp>
  SPTRSV_DEVICE void eliminate(Context& ctx, const Warp& warp) {
    const bool is_pivot = own_.is_pivot();
    const Index slot = is_pivot ? -1 - own_.slot : own_.slot;
    std::uint32_t pivots = warp.ballot(is_pivot);
    for (int begin = 0; begin < own_.count;) {
      const bool has_pivot = (pivots >> begin & 1u) != 0;
      pivots &= ~(1u << begin);
      const int end = pivots != 0 ? simt::lowest_bit(pivots) : own_.count;
      const std::uint32_t used = bits_below(end) & ~bits_below(begin);
      const bool is_used = (used >> lane_ & 1u) != 0;
      Scalar value = is_used ? row_.get(ctx, slot) : Scalar{};
      this->wait(ctx, warp, used);
      this->prepare_pivot();
      warp.sync();  // no data needs it: the lanes are together again
      if (has_pivot) {
        const Scalar known = own_.seen.value();
        carried_ = warp.shuffle(divides_ ? divide(value, known) : value * known, begin);
      }
      if (is_used) {
        value = is_pivot ? carried_ : value - carried_ * own_.seen.value();
        row_.set(ctx, slot, value);
      }
      warp.sync();
      begin = end;
    }
  }

  /// Computes the steps of a batch, Cholesky.
  template <class Context, class Warp>
  SPTRSV_DEVICE void substitute(Context& ctx, const Warp& warp, const params& p) {
    const std::uint32_t pivots = warp.ballot(own_.is_pivot());
    for (int begin = 0; begin < own_.count;) {
      // 1. The products of a step.
      const std::uint32_t rest = pivots & ~bits_below(begin);
      const int pivot = rest != 0 ? simt::lowest_bit(rest) : own_.count;
      if (begin < pivot) {
        const std::uint32_t products = bits_below(pivot) & ~bits_below(begin);
        const bool is_product = (products >> lane_ & 1u) != 0;
        const Scalar factor = is_product ? row_.get(ctx, own_.slot) : Scalar{};
        this->wait(ctx, warp, products);
        const Scalar product = is_product ? factor * conjugate(own_.seen.value()) : Scalar{};
        carried_ = carried_ + simt::reduce(warp, product, lanes, simt::plus{});
      }
      if (rest == 0) {
        return;
      }
      // 2. Its entry, and those of the steps without products that follow.
      const std::uint32_t others = ~(pivots >> pivot);
      const int end = others != 0 ? pivot + simt::lowest_bit(others) : lanes;
      const std::uint32_t solved_here = bits_below(end) & ~bits_below(pivot);
      const bool is_solved = (solved_here >> lane_ & 1u) != 0;
      const Index slot = is_solved ? static_cast<Index>(-1 - own_.slot) : Index{0};
      Scalar value = is_solved ? row_.get(ctx, slot) : Scalar{};
      value = lane_ == pivot ? value - carried_ : value;
      const Offset target = is_solved ? row_.target(ctx, p, slot) : Offset{0};
      this->wait(ctx, warp, solved_here);
      value = value * own_.seen.value();
      if (is_solved) {  // other rows may use it before this row is complete
        flag::publish(ctx, flag::address(p.factors, target), value);
        row_.set(ctx, slot, value);
        found_.add(value, false);
      }
      warp.sync();
      const Scalar solved = warp.shuffle(value, pivot);
      square_sum_ += end == pivot + 1 ? squared(solved)
                                      : simt::reduce(warp, is_solved ? squared(value) : real_t<Scalar>{},
                                                     lanes, simt::plus{});
      carried_ = Scalar{};
      begin = end;
    }
  }

  data row_;
  Scalar carried_;             ///< lu: the multiplier of the current step; cholesky: the sum of its products
  real_t<Scalar> square_sum_;  ///< cholesky: the sum of the squares of the entries so far
  lane_findings found_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
