// SPDX-License-Identifier: Apache-2.0
// The values of a triangle on the device, in the order of the analysis.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns whether a pivot is zero and is that of one row. Runs once per pivot.
template <class Stored, class Index>
struct is_zero_pivot_of_row {
  const Stored* diagonal;
  const Index* substitution_indices;  ///< by index of the diagonal; null if the two indices are the same
  std::int64_t substitution_index;    ///< of the row

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t row = substitution_indices == nullptr
                                 ? i
                                 : static_cast<std::int64_t>(ctx.load_constant(substitution_indices + i));
    return row == substitution_index && ctx.load_constant(diagonal + i) == Stored{};
  }
};

/// Values of the entries and of the diagonal, gathered from the stored matrix and kept as a `Stored`.
template <class Scalar, class Executor, class Stored = Scalar>
class device_values {
 public:
  /// Allocates `entries` values and `pivots` diagonal entries (0: the diagonal is unit).
  device_values(std::int64_t entries, std::int64_t pivots, const Executor& on, memory_resource& resource)
      : values_(make_buffer<Stored>(entries, on, resource)),
        diagonal_(make_buffer<Stored>(pivots, on, resource)) {}

  /// Gathers the values from the stored matrix: entry k from index sources[k], pivot p from
  /// diagonal_sources[p]. Source -1 gives an entry 0 and a pivot 1.
  template <class Offset>
  void gather(const Scalar* stored, const Offset* sources, const Offset* diagonal_sources, bool conjugated,
              const Executor& on) {
    const auto entries = static_cast<std::int64_t>(values_.size());
    const auto pivots = static_cast<std::int64_t>(diagonal_.size());
    simt::for_each(on, entries + pivots,
                   triangle_kernels::gather_all_values<Scalar, Offset, Stored>{
                       {stored, sources, values_.data(), conjugated},
                       {stored, diagonal_sources, diagonal_.data(), conjugated, pivot_divisor<Scalar>::one()},
                       entries});
  }

  [[nodiscard]] Stored* values() { return values_.data(); }
  [[nodiscard]] const Stored* values() const { return values_.data(); }
  /// Returns null if the diagonal is unit.
  [[nodiscard]] Stored* diagonal() { return diagonal_.data(); }
  [[nodiscard]] const Stored* diagonal() const { return diagonal_.data(); }
  [[nodiscard]] std::size_t bytes() const { return values_.bytes() + diagonal_.bytes(); }

  /// Returns whether the pivot of a row is zero. `substitution_indices`: by index of the triangle's order;
  /// null if it is the order of substitution. `flag`: see simt::any_of. Synchronises.
  template <class Index>
  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const Index* substitution_indices,
                                   std::uint32_t* flag, const Executor& on) const {
    return simt::any_of(
        on, static_cast<std::int64_t>(diagonal_.size()),
        is_zero_pivot_of_row<Stored, Index>{diagonal_.data(), substitution_indices, substitution_index},
        flag);
  }

 private:
  buffer<Stored> values_;
  buffer<Stored> diagonal_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
