// SPDX-License-Identifier: Apache-2.0
// A batch of entries of one row and the components of x that they need. All components of the batch are
// polled together, so after the last one has arrived one memory round trip is left.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

/// Up to `Entries` entries of a row, for the right-hand sides first ... first + Columns - 1. `System` is a
/// paper_system or a type with the same interface.
template <int Entries, int Columns, class System>
class batch {
  using Scalar = typename System::scalar;
  using Index = typename System::index;
  using Offset = typename System::offset;

 public:
  using params = System;
  using flag = typename std::decay_t<decltype(System::buffers)>::flag;
  using word = typename flag::word;

  /// Range of columns [from, to); take() skips entries outside of it.
  struct range {
    std::int64_t from;
    std::int64_t to;
  };
  SPTRSV_DEVICE static range everything() { return {0, INT64_MAX}; }

  SPTRSV_DEVICE batch(const params& p, std::uint32_t half, std::int64_t first)
      : p_(p), half_(half), first_(first) {}

  /// Takes the entries e, e + stride, ... that lie below `end` and in the columns `wanted`, and loads their
  /// components once. Returns the number of entries taken.
  template <class Context>
  SPTRSV_DEVICE int take(Context& ctx, Offset e, Offset end, Offset stride, const range& wanted) {
    int taken = 0;
    for (int i = 0; i < Entries; ++i) {
      const Offset after = stride * static_cast<Offset>(i);
      column_[i] = after < end - e ? p_.column(ctx, e + after) : Index{-1};
      const std::int64_t column = column_[i];
      column_[i] = column >= wanted.from && column < wanted.to ? column_[i] : Index{-1};
      value_[i] = column_[i] >= 0 ? p_.value(ctx, e + after) : Scalar{};
      taken += column_[i] >= 0 ? 1 : 0;
    }
    for (int i = 0; i < Entries; ++i) {
      for (int k = 0; k < Columns; ++k) {
        const int at = i * Columns + k;
        column_[i] >= 0 ? components_.try_load(ctx, at, component(at)) : components_.set_zero(at);
      }
    }
    return taken;
  }

  /// Loads the pending components once more. Returns the address of a word that is still pending; null if all
  /// components are known.
  template <class Context>
  SPTRSV_DEVICE const word* poll(Context& ctx) {
    components_.poll(ctx, addresses());
    return components_.missing(addresses());
  }

  /// Polls until all components are known. Call it only if no row that is waited for depends on this warp.
  template <class Context>
  SPTRSV_DEVICE void wait(Context& ctx) {
    components_.wait(ctx, addresses());
  }

  /// Adds value * component to `sums`, in the order of the entries. Entries that were not taken add zero.
  SPTRSV_DEVICE void add_to(array_of<Scalar, Columns>& sums) const {
    for (int i = 0; i < Entries; ++i) {
      for (int k = 0; k < Columns; ++k) {
        sums[k] = sums[k] + value_[i] * components_.value(i * Columns + k);
      }
    }
  }

 private:
  /// Returns the address of component `at` = entry * Columns + right-hand side.
  SPTRSV_DEVICE auto component(int at) const {
    // A right-hand side past the end reads the first one instead, so that the poll ends.
    const std::int64_t rhs = first_ + at % Columns < p_.x.columns ? first_ + at % Columns : first_;
    return p_.buffers.component(half_, rhs, static_cast<std::int64_t>(column_[at / Columns]));
  }
  SPTRSV_DEVICE auto addresses() const {
    return [this](int at) { return component(at); };
  }

  const params& p_;
  std::uint32_t half_;
  std::int64_t first_;
  array_of<Index, Entries> column_;  ///< -1 if there is no entry
  array_of<Scalar, Entries> value_;
  polled_batch<flag, Entries * Columns> components_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
