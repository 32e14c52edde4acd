// SPDX-License-Identifier: Apache-2.0
// Components of x that one lane polls together: after the last has arrived, one round trip to memory is left.
#pragma once

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Addresses of components that a lane keeps in registers, for the methods of polled_batch.
template <class Word, int Count>
struct stored_addresses {
  array_of<const Word*, Count> of;

  SPTRSV_DEVICE const Word* operator()(int i) const { return of[i]; }
};

/// Holds what was read from `Count` components. `Flag` says how a component is read: value_flag, fenced_flag,
/// or a type with the same interface.
///
/// The batch keeps no addresses: methods that read again take `at`, which returns the address of component i
/// for at(i). The caller decides whether it stores addresses or computes them.
template <class Flag, int Count>
class polled_batch {
 public:
  using reading = typename Flag::reading;

  /// Sets component `i` to zero: nothing waits for it.
  SPTRSV_DEVICE void set_zero(int i) { seen_[i] = Flag::zero(); }

  /// Reads component `i` for the first time.
  template <class Context, class Component>
  SPTRSV_DEVICE void try_load(Context& ctx, int i, const Component& component) {
    seen_[i] = Flag::try_load(ctx, component);
  }
  /// Does the same through the cache of the SM, see value_flag.
  template <class Context, class Component>
  SPTRSV_DEVICE void try_load_cached(Context& ctx, int i, const Component& component) {
    seen_[i] = Flag::try_load_cached(ctx, component);
  }

  SPTRSV_DEVICE bool is_known() const {
    bool known = true;
    for (int i = 0; i < Count; ++i) {
      known = known && Flag::is_known(seen_[i]);
    }
    return known;
  }

  /// Polls component `i` until it is known, with back-off, and returns it.
  template <class Context, class Component>
  SPTRSV_DEVICE auto wait_for(Context& ctx, int i, const Component& component) const {
    return Flag::wait(ctx, component, seen_[i]);
  }
  /// Returns component `i`, which is known.
  SPTRSV_DEVICE auto value(int i) const { return seen_[i].value(); }

  /// Reads the pending components once more and returns whether all are known then. All loads come before all
  /// tests; otherwise a load would wait for the load before it.
  template <class Context, class Address>
  SPTRSV_DEVICE bool poll(Context& ctx, const Address& at) {
    for (int i = 0; i < Count; ++i) {
      Flag::poll(ctx, at(i), seen_[i]);
    }
    return is_known();
  }

  /// Returns the address of a word that is pending; null if all components are known.
  template <class Address>
  SPTRSV_DEVICE auto missing(const Address& at) const {
    const typename Flag::word* word = nullptr;
    for (int i = 0; i < Count; ++i) {
      const typename Flag::word* const pending = Flag::missing(at(i), seen_[i]);
      word = pending != nullptr ? pending : word;
    }
    return word;
  }

  /// Polls until all components are known, with back-off. Not for components that depend on this warp.
  template <class Context, class Address>
  SPTRSV_DEVICE void wait(Context& ctx, const Address& at) {
    while (!poll(ctx, at)) {
      ctx.pause(missing(at));
    }
  }

  /// Polls until all components of all lanes of the tile are known, without back-off. Lanes that left the
  /// loop one by one would have to converge again, which takes longer than a poll.
  template <class Context, class Tile, class Address>
  SPTRSV_DEVICE void wait_together(Context& ctx, const Tile& tile, const Address& at) {
    bool known = is_known();
    while (!tile.all(known)) {
      if (!known) {
        ctx.spin(missing(at));
      }
      known = poll(ctx, at);
    }
  }

 private:
  array_of<reading, Count> seen_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
