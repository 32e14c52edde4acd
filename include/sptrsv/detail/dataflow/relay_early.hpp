// The entries of a relay's rows whose components come through memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"
#include "sptrsv/detail/value_flag.hpp"

namespace sptrsv::detail::dataflow {

/// Of a thread. Its entries at hand are polled together, further ones in pairs.
template <class Scalar, class Shape, class Context, class Warp>
class relay_early {
  using unknown = typename relay_layout<Scalar, Shape>::unknown;
  using flag = value_flag<unknown>;
  using word = typename flag::word;
  static constexpr int at_hand = 2 * Shape::early_pairs;

 public:
  /// `solved`: the components by place.
  SPTRSV_DEVICE relay_early(Context& ctx, const Warp& warp, int lane, const word* solved)
      : ctx_(ctx), warp_(warp), lane_(lane), solved_(solved) {}

  /// Of the lane's entries, when the components of all lanes have come. `stage`, `stored`: the record at
  /// hand, and in memory.
  SPTRSV_DEVICE unknown products(const unsigned char* stage, const unsigned char* stored,
                                 const relay_slice& slice, const relay_record& record) const {
    const int planes = lane_ / Shape::lanes < slice.early_rows() ? slice.early_planes() : 0;
    entry own[at_hand];
    SPTRSV_UNROLL
    for (int i = 0; i < at_hand; ++i) {
      if (i < planes) {
        const unsigned char* const at = stage + record.early + i * record.early_plane;
        own[i].place = reinterpret_cast<const std::int32_t*>(at)[lane_];
        own[i].value = reinterpret_cast<const Scalar*>(at + record.early_values)[lane_];
      }
    }
    if (slice.early_planes() <= at_hand) {
      return products(own);
    }
    const unsigned char* at = stored + record.early + at_hand * record.early_plane;
    entry next[2];
    load(next, at, record, at_hand, planes);
    unknown sum = products(own);
    for (int i = at_hand; i < slice.early_planes(); i += 2) {
      const entry further[2] = {next[0], next[1]};
      at += 2 * record.early_plane;
      load(next, at, record, i + 2, planes);
      sum = sum + products(further);
    }
    return sum;
  }

 private:
  struct entry {
    std::int32_t place = -1;
    Scalar value{};
  };

  /// The lane's two from its plane `first` on, which stand at `at`.
  SPTRSV_DEVICE void load(entry (&to)[2], const unsigned char* at, const relay_record& record, int first,
                          int planes) const {
    SPTRSV_UNROLL
    for (int i = 0; i < 2; ++i) {
      to[i] = {};
      if (first + i < planes) {
        const unsigned char* const plane = at + i * record.early_plane;
        to[i].place = ctx_.load_constant(reinterpret_cast<const std::int32_t*>(plane) + lane_);
        to[i].value =
            ctx_.load_constant(reinterpret_cast<const Scalar*>(plane + record.early_values) + lane_);
      }
    }
  }

  template <int Entries>
  SPTRSV_DEVICE unknown products(const entry (&of)[Entries]) const {
    const word* component[Entries];
    typename flag::reading seen[Entries];
    SPTRSV_UNROLL
    for (int k = 0; k < Entries; ++k) {
      component[k] = solved_ + of[k].place * flag::words;
      seen[k] = flag::zero();
      if (of[k].place >= 0) {
        seen[k] = flag::look_in_cache(ctx_, component[k]);
      }
    }
    flag::spin_together(ctx_, warp_, component, seen);
    unknown sum[2] = {};
    SPTRSV_UNROLL
    for (int k = 0; k < Entries; ++k) {
      sum[k % 2] = sum[k % 2] + of[k].value * seen[k].value();
    }
    return sum[0] + sum[1];
  }

  Context& ctx_;
  Warp warp_;
  int lane_;
  const word* solved_;
};

}  // namespace sptrsv::detail::dataflow
