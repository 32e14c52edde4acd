// Rows of an incomplete Cholesky factorisation that fit the registers of their lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/short_row.hpp"

namespace sptrsv::detail::incomplete {

/// Computes the rows that a warp has taken. Each of them is a short_row.
///
/// The steps come in the order of their slots, and only those operands that a step needs have to be known.
/// The lanes with products l_ij conj(l_kj) add them up in a tree, whose last lane has the reciprocal of the
/// pivot: it computes l_ik = (a_ik - sum) (1 / l_kk) and hands it to all lanes. What else this takes is there
/// before the operands are: the last lane has a_ik, and the other ones have l_ij.
template <class Scalar, class Index, class Offset, int Lanes>
class short_cholesky_rows : short_row<method::cholesky, Scalar, Index, Offset, Lanes> {
  using base = short_row<method::cholesky, Scalar, Index, Offset, Lanes>;
  using typename base::flag;

 public:
  using base::fits;
  using typename base::params;
  using typename base::place;

  /// `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    short_cholesky_rows row{};
    row.load(ctx, warp, p, at);
    row.open_batch(warp, at.end_operand - at.first_operand);
    if constexpr (Lanes == 32) {
      bool is_complete = row.count_ <= 0;
      while (!is_complete) {  // what a step needs is found before the wait for its operands
        const step_operands step = row.next_step(warp);
        is_complete = step.end == row.count_ && row.operands_left() <= 0;
        row.wait_for(ctx, warp, step.used);
        row.compute(warp, step, true);
        if (!is_complete && row.used_ == row.count_) {
          const std::int64_t left = row.operands_left();
          row.take_batch(ctx, p);
          row.open_batch(warp, left);
        }
      }
      row.publish(ctx, p, at, row.square_sum_, half);
    } else {  // rows of the warp may need each other, so each goes on as soon as it can
      for (bool open = at.present;;) {
        const std::uint32_t known = row.known_operands(warp);
        const step_operands step = row.next_step(warp);
        const bool ready = row.used_ < row.count_ && (known & step.used) == step.used;
        if (warp.any(ready)) {
          row.compute(warp, step, ready);
          warp.sync();
          continue;
        }
        if (open && row.used_ == row.count_) {
          row.publish(ctx, p, at, row.square_sum_, half);
          open = false;
        }
        warp.sync();
        if (warp.all(!open)) {
          return;
        }
        row.poll(ctx, warp);
      }
    }
  }

 private:
  using base::first_lane_;
  using base::lane_;
  using base::own_;
  using base::value_;

  /// The operands of a step, or of the part of it that is in this batch.
  struct step_operands {
    int end;             ///< one past the last one
    std::uint32_t used;  ///< one bit for each
    bool has_pivot;      ///< whether the last one is the reciprocal of the pivot, so that the step ends
    bool is_product;     ///< whether the operand of this lane is a factor of a product
    Scalar factor;       ///< the other one
  };

  /// Finds the steps of the operands in `own_`. `left`: operands from this batch on.
  template <class Warp>
  SPTRSV_DEVICE void open_batch(const Warp& warp, std::int64_t left) {
    count_ = static_cast<int>(left < Lanes ? left : Lanes);
    used_ = 0;
    rest_ = warp.ballot(own_.is_pivot()) >> first_lane_ & bits_below(Lanes);
    dividend_ = warp.shuffle(value_, first_lane_ + (own_.is_pivot() ? static_cast<int>(-1 - own_.slot) : 0));
    if constexpr (Lanes < 32) {
      longest_ = 1;
      for (std::uint32_t products = warp.ballot(own_.slot >= 0 && own_.slot < Lanes); products != 0;
           products &= products << 1) {
        ++longest_;
      }
    }
  }

  /// Returns the operands that are known, one bit for each.
  template <class Warp>
  SPTRSV_DEVICE std::uint32_t known_operands(const Warp& warp) const {
    return warp.ballot(flag::is_known(own_.seen)) >> first_lane_;
  }

  template <class Warp>
  SPTRSV_DEVICE step_operands next_step(const Warp& warp) const {
    step_operands step;
    step.has_pivot = rest_ != 0;
    step.end = step.has_pivot ? simt::lowest_bit(rest_) + 1 : count_;
    step.used = bits_below(step.end) & ~bits_below(used_);
    step.is_product = lane_ >= used_ && lane_ < step.end && !own_.is_pivot();
    step.factor = warp.shuffle(value_, first_lane_ + (step.is_product ? static_cast<int>(own_.slot) : 0));
    return step;
  }

  /// Computes a step whose operands are known, if the row is `ready`.
  template <class Warp>
  SPTRSV_DEVICE void compute(const Warp& warp, const step_operands& step, bool ready) {
    const Scalar known = own_.seen.value();
    Scalar sum = step.is_product ? step.factor * conjugate(known) : Scalar{};
    const int length = Lanes == 32 ? step.end - used_ : longest_;
    for (int distance = 1; distance < length; distance *= 2) {  // lanes of other steps add zeros
      const bool adds = lane_ >= distance;
      const Scalar other = warp.shuffle(sum, warp.rank() - (adds ? distance : 0));
      sum = adds ? sum + other : sum;
    }
    sum = carried_ + sum;
    const Scalar found = step.has_pivot ? (dividend_ - sum) * known : sum;
    const Scalar result = warp.shuffle(found, first_lane_ + (step.end + Lanes - 1) % Lanes);
    if (ready) {
      if (step.has_pivot) {
        value_ = lane_ == step_ ? result : value_;
        square_sum_ += squared(result);
        rest_ &= rest_ - 1;
        ++step_;
      }
      carried_ = step.has_pivot ? Scalar{} : result;
      used_ = step.end;
    }
  }

  int count_;                  ///< operands of the batch
  int used_;                   ///< operands of the batch that were used
  std::uint32_t rest_;         ///< pivots of the steps that were not computed yet, one bit for each
  Scalar dividend_;            ///< of a lane with a pivot: a_ik
  int longest_;                ///< if rows share a warp: lanes that add up products, at most
  int step_;                   ///< the slot of the next step
  Scalar carried_;             ///< the sum of the products of the step in earlier batches
  real_t<Scalar> square_sum_;  ///< of the entries of the steps so far
};

}  // namespace sptrsv::detail::incomplete
