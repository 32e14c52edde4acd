// The values of a triangle on the device, in the order of the analysis.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail {

/// Values of the entries and of the diagonal, gathered from the stored matrix.
template <class Scalar, class Executor>
class device_values {
 public:
  /// Allocates `entries` values and `pivots` diagonal entries (0: the diagonal is unit).
  device_values(std::int64_t entries, std::int64_t pivots, const Executor& on, memory_resource& resource)
      : values_(make_buffer<Scalar>(entries, on, resource)),
        diagonal_(make_buffer<Scalar>(pivots, on, resource)) {}

  /// Gathers the values from the stored matrix: entry k from index sources[k], pivot p from
  /// diagonal_sources[p]. Source -1 gives an entry 0 and a pivot 1.
  template <class Offset>
  void gather(const Scalar* stored, const Offset* sources, const Offset* diagonal_sources, bool conjugated,
              const Executor& on) {
    const auto entries = static_cast<std::int64_t>(values_.size());
    const auto pivots = static_cast<std::int64_t>(diagonal_.size());
    simt::for_each(on, entries + pivots,
                   triangle_kernels::gather_all_values<Scalar, Offset>{
                       {stored, sources, values_.data(), conjugated},
                       {stored, diagonal_sources, diagonal_.data(), conjugated, pivot_divisor<Scalar>::one()},
                       entries});
  }

  [[nodiscard]] Scalar* values() { return values_.data(); }
  [[nodiscard]] const Scalar* values() const { return values_.data(); }
  /// Returns null if the diagonal is unit.
  [[nodiscard]] Scalar* diagonal() { return diagonal_.data(); }
  [[nodiscard]] const Scalar* diagonal() const { return diagonal_.data(); }
  [[nodiscard]] std::size_t bytes() const { return values_.bytes() + diagonal_.bytes(); }

  /// Returns true if the pivot at this index of the triangle's order is zero. Synchronises.
  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const Executor& on) const {
    if (diagonal_.size() == 0) {
      return false;
    }
    Scalar pivot;
    on.download(&pivot, diagonal_.data() + substitution_index, sizeof(pivot));
    return pivot == Scalar{};
  }

 private:
  buffer<Scalar> values_;
  buffer<Scalar> diagonal_;
};

}  // namespace sptrsv::detail
