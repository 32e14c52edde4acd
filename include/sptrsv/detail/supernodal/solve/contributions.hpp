// SPDX-License-Identifier: Apache-2.0
// Forward: the contributions that other supernodes send to a row or column.
#pragma once

#include <cstdint>

#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// A right-hand side of a sweep, and its access to what blocks hand over; packs have lane_rhs.
template <class Context, class Params>
struct sweep_rhs {
  using reading = typename Params::flag::reading;
  static constexpr int count = 1;  ///< of right-hand sides

  Context& ctx;
  const Params& p;
  std::uint32_t half;
  std::int64_t number;

  SPTRSV_DEVICE reading try_load(std::int64_t index) const {
    auto seen = Params::flag::unseen();
    poll(index, seen);
    return seen;
  }
  SPTRSV_DEVICE void poll(std::int64_t index, reading& seen) const { p.poll(ctx, half, number, index, seen); }
  SPTRSV_DEVICE auto wait(std::int64_t index, const reading& seen) const {
    return p.wait(ctx, half, number, index, seen);
  }
};

/// The contributions to a sum. `Value`: a scalar, or a pair of them; `Rhs`: sweep_rhs or lane_rhs.
template <class Value, class Offset>
struct contributions {
  using flag = value_flag<Value>;
  struct readings {
    typename flag::reading of[2];
  };
  named_sources<Offset> named;

  /// Finds the contributions to sum number `index`; none if `index` is negative.
  template <class Context, class Params>
  SPTRSV_DEVICE static contributions open(Context& ctx, const Params& p, std::int64_t index) {
    return {index < 0 ? named_sources<Offset>{-1, -1} : ctx.load_constant(p.named + index)};
  }
  /// Returns the list of another lane. The lanes of the warp call it together.
  template <class Warp>
  SPTRSV_DEVICE contributions of_lane(const Warp& warp, int lane) const {
    return {{warp.shuffle(named.first, lane), warp.shuffle(named.second, lane)}};
  }
  /// Returns whether there are more than two.
  [[nodiscard]] SPTRSV_DEVICE bool is_long() const { return named.first < -1; }
  /// Loads up to two contributions once.
  template <class Rhs>
  SPTRSV_DEVICE readings try_load(const Rhs& rhs) const {
    return {{named.first >= 0 ? rhs.try_load(named.first) : flag::zero(),
             named.first >= 0 && named.second >= 0 ? rhs.try_load(named.second) : flag::zero()}};
  }
  /// Loads those again that are pending.
  template <class Rhs>
  SPTRSV_DEVICE void poll(const Rhs& rhs, readings& seen) const {
    if (named.first >= 0) {
      rhs.poll(named.first, seen.of[0]);
    }
    if (named.first >= 0 && named.second >= 0) {
      rhs.poll(named.second, seen.of[1]);
    }
  }
  /// Adds the contributions to `sum`, in their order, and returns the result. `seen`: from try_load.
  template <class Rhs>
  SPTRSV_DEVICE Value add(const Rhs& rhs, const readings& seen, Value sum) const {
    if (rhs.count == 0 || named.first == -1) {
      return sum;
    }
    if (!is_long()) {
      sum = sum + rhs.wait(named.first, seen.of[0]);
      return named.second >= 0 ? sum + rhs.wait(named.second, seen.of[1]) : sum;
    }
    constexpr int at_once = 4;
    const Offset* const sources = rhs.p.sources + (-2 - named.first);
    for (Offset begin = 0; begin < named.second; begin += at_once) {
      Offset source[at_once];
      typename flag::reading loaded[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        source[i] = begin + i < named.second ? rhs.ctx.load_constant(sources + begin + i) : Offset{-1};
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        loaded[i] = source[i] >= 0 ? rhs.try_load(source[i]) : flag::zero();
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        sum = source[i] >= 0 ? sum + rhs.wait(source[i], loaded[i]) : sum;
      }
    }
    return sum;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
