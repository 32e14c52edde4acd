// The entries of a relay's rows whose components come through memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"
#include "sptrsv/detail/value_flag.hpp"

namespace sptrsv::detail::dataflow {

/// Of a thread. Its pairs at hand are polled together, each further one by itself.
template <class Scalar, class Shape, class Context, class Warp>
class relay_early {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using values = relay_pair<Scalar>;
  using places = relay_pair<std::int32_t>;
  static constexpr int at_hand = Shape::early_pairs;

 public:
  /// `solved`: the components by place.
  SPTRSV_DEVICE relay_early(Context& ctx, const Warp& warp, int lane, const word* solved)
      : ctx_(ctx), warp_(warp), lane_(lane), solved_(solved) {}

  /// Of the lane's entries, when the components of all lanes have come. `stage`, `stored`: the record at
  /// hand, and in memory.
  SPTRSV_DEVICE Scalar products(const unsigned char* stage, const unsigned char* stored,
                                const relay_slice& slice, const relay_record& record) const {
    const bool is_early = lane_ / Shape::lanes < slice.early_rows();
    const int first = record.early(slice.late_pairs());
    pair own[at_hand];
    SPTRSV_UNROLL
    for (int i = 0; i < at_hand; ++i) {
      if (is_early && (i == 0 || i < slice.early_pairs())) {
        const unsigned char* const at = stage + first + i * record.early_pair;
        own[i].place = reinterpret_cast<const places*>(at)[lane_];
        own[i].value = reinterpret_cast<const values*>(at + record.early_values)[lane_];
      }
    }
    const unsigned char* at = stored + first + at_hand * record.early_pair;
    pair next[1];
    if (slice.early_pairs() > at_hand) {
      next[0] = load(at, record, is_early);
    }
    Scalar sum = products(own);
    for (int i = at_hand; i < slice.early_pairs(); ++i) {
      const pair further[1] = {next[0]};
      if (i + 1 < slice.early_pairs()) {
        at += record.early_pair;
        next[0] = load(at, record, is_early);
      }
      sum = sum + products(further);
    }
    return sum;
  }

 private:
  struct pair {
    places place{{-1, -1}};
    values value{};
  };

  SPTRSV_DEVICE pair load(const unsigned char* at, const relay_record& record, bool is_early) const {
    pair loaded;
    if (is_early) {
      loaded.place = ctx_.load_constant(reinterpret_cast<const places*>(at) + lane_);
      loaded.value = ctx_.load_constant(reinterpret_cast<const values*>(at + record.early_values) + lane_);
    }
    return loaded;
  }

  template <int Pairs>
  SPTRSV_DEVICE Scalar products(const pair (&of)[Pairs]) const {
    const word* component[2 * Pairs];
    typename flag::reading seen[2 * Pairs];
    SPTRSV_UNROLL
    for (int k = 0; k < 2 * Pairs; ++k) {
      const std::int32_t place = of[k / 2].place.of[k % 2];
      component[k] = solved_ + place * flag::words;
      seen[k] = place >= 0 ? flag::unseen() : flag::zero();
    }
    flag::spin_together(ctx_, warp_, component, seen);
    Scalar sum[2] = {};
    SPTRSV_UNROLL
    for (int k = 0; k < 2 * Pairs; ++k) {
      sum[k % 2] = sum[k % 2] + of[k / 2].value.of[k % 2] * seen[k].value();
    }
    return sum[0] + sum[1];
  }

  Context& ctx_;
  Warp warp_;
  int lane_;
  const word* solved_;
};

}  // namespace sptrsv::detail::dataflow
