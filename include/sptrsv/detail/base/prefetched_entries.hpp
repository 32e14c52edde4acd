// SPDX-License-Identifier: Apache-2.0
// The entries of a row or a column that one lane processes. It loads the first ones before it waits for x.
#pragma once

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// `Lanes` lanes share the entries round-robin. Each lane keeps its first `Held` entries in registers.
/// Without `HasValues` only indices are loaded.
template <class Scalar, class Index, class Offset, int Lanes, int Held, bool HasValues = true>
class prefetched_entries {
  static_assert(Held >= 1, "entries_ahead of a tuning: at least 1");

 public:
  /// Loads the first `Held` entries of lane `rank`. The lanes share the entries [begin, end).
  template <class Context>
  SPTRSV_DEVICE prefetched_entries(Context& ctx, const Index* indices, const Scalar* values, Offset begin,
                                   Offset end, int rank)
      : indices_(indices), values_(values), begin_(begin + static_cast<Offset>(rank)), end_(end) {
    SPTRSV_UNROLL
    for (int i = 0; i < Held; ++i) {
      index_[i] = has(i) ? ctx.load_constant(indices + begin_ + i * Lanes) : Index{};
      value_[i] = HasValues && has(i) ? ctx.load_constant(values + begin_ + i * Lanes) : Scalar{};
    }
  }

  /// Returns whether the lane has an entry number `i`.
  SPTRSV_DEVICE bool has(int i) const { return end_ - begin_ > static_cast<Offset>(i * Lanes); }
  /// Returns the index of the first entry of the lane; 0 if it has none.
  SPTRSV_DEVICE Index first_index() const { return index_[0]; }
  /// Returns the value of the first entry of the lane; 0 if it has none.
  SPTRSV_DEVICE Scalar first_value() const { return value_[0]; }

  /// Calls `visit(index, value)` for the entries of the lane from number `skip` on. `skip` is 0 or 1.
  template <class Context, class Visit>
  SPTRSV_DEVICE void for_each(Context& ctx, int skip, Visit visit) const {
    SPTRSV_UNROLL
    for (int i = 0; i < Held; ++i) {
      if (i >= skip && has(i)) {
        visit(index_[i], value_[i]);
      }
    }
    for (Offset past = Held * Lanes; end_ - begin_ > past; past += Lanes) {
      const Offset e = begin_ + past;
      visit(ctx.load_constant(indices_ + e), HasValues ? ctx.load_constant(values_ + e) : Scalar{});
    }
  }

 private:
  const Index* indices_;
  const Scalar* values_;
  Offset begin_;  ///< first entry of the lane
  Offset end_;    ///< end of the entries of all lanes
  array_of<Index, Held> index_;
  array_of<Scalar, Held> value_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
