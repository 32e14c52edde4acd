// SPDX-License-Identifier: Apache-2.0
// Forward, one sweep: the contributions that other supernodes send to a row or column.
#pragma once

#include <cstdint>

#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The contributions to a sum. Up to two are loaded before they are waited for. `Params`: see forward_agent.
template <class Scalar, class Index, class Offset, class Params = solve_params<Scalar, Index, Offset>>
struct contributions {
  using params = Params;
  using flag = value_flag<Scalar>;

  named_sources<Offset> named;
  typename flag::reading seen[2];

  /// Finds the contributions to sum number `index`; none if `index` is negative.
  template <class Context>
  SPTRSV_DEVICE void find(Context& ctx, const params& p, std::int64_t index) {
    named = index < 0 ? named_sources<Offset>{-1, -1} : ctx.load_constant(p.named + index);
  }
  /// Returns whether there are more than two.
  [[nodiscard]] SPTRSV_DEVICE bool is_long() const { return named.first < -1; }
  /// Loads up to two contributions.
  template <class Context>
  SPTRSV_DEVICE void try_load(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs) {
    seen[0] = flag::unseen();
    seen[1] = flag::unseen();
    poll(ctx, p, half, rhs);
  }
  /// Loads those again that are pending.
  template <class Context>
  SPTRSV_DEVICE void poll(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs) {
    if (named.first >= 0) {
      p.poll(ctx, half, rhs, named.first, seen[0]);
    }
    if (named.first >= 0 && named.second >= 0) {
      p.poll(ctx, half, rhs, named.second, seen[1]);
    }
  }
  /// Adds the contributions to `sum`, in their order, and returns the result. try_load() has been called.
  template <class Context>
  SPTRSV_DEVICE Scalar add(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                           Scalar sum) const {
    if (is_long()) {
      return add_long(ctx, p, half, rhs, sum);
    }
    if (named.first >= 0) {
      sum = sum + p.wait(ctx, half, rhs, named.first, seen[0]);
    }
    if (named.second >= 0) {
      sum = sum + p.wait(ctx, half, rhs, named.second, seen[1]);
    }
    return sum;
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Scalar add_long(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                                Scalar sum) const {
    constexpr int at_once = 4;
    const Offset* const sources = p.sources + (-2 - named.first);
    for (Offset begin = 0; begin < named.second; begin += at_once) {
      Offset source[at_once];
      typename flag::reading loaded[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        source[i] = begin + i < named.second ? ctx.load_constant(sources + begin + i) : Offset{-1};
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        loaded[i] = flag::unseen();
        if (source[i] >= 0) {
          p.poll(ctx, half, rhs, source[i], loaded[i]);
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        sum = source[i] >= 0 ? sum + p.wait(ctx, half, rhs, source[i], loaded[i]) : sum;
      }
    }
    return sum;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
