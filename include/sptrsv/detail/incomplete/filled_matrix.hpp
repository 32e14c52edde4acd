// SPDX-License-Identifier: Apache-2.0
// The matrix that an incomplete factorisation with fill-in factorises: A with the zeros that fill in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/analysis/pattern_copy.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/detail/incomplete/fill_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// The pattern of the factors, and the values of A on it, where the executor computes. Both are stored as A
/// is.
template <class Scalar, class Index, class Offset, class Executor>
class filled_matrix {
 public:
  /// Finds the pattern of the factors of `a`. Synchronises. Throws as fill_in::of.
  template <method Method>
  static filled_matrix of(const pattern_view<Index, Offset>& a, std::int64_t fill_level, const Executor& on,
                          memory_resource& resource) {
    const auto found = [&] {
      if constexpr (factors::has_kernels<Executor>) {
        return fill_in<Method, Index, Offset>::of(pattern_copy(a, on).view(), fill_level);
      } else {
        return fill_in<Method, Index, Offset>::of(a, fill_level);
      }
    }();
    const auto entries = static_cast<std::int64_t>(found.indices.size());
    filled_matrix made;
    made.offsets_ = upload(found.offsets, on, resource);
    made.indices_ = upload(found.indices, on, resource);
    made.sources_ = upload(found.sources, on, resource);
    made.values_ = make_buffer<Scalar>(entries, on, resource);
    made.pattern_ = {a.size, entries, made.offsets_.data(), made.indices_.data(), a.by_columns};
    return made;
  }

  [[nodiscard]] const pattern_view<Index, Offset>& pattern() const { return pattern_; }
  [[nodiscard]] std::size_t bytes() const {
    return offsets_.bytes() + indices_.bytes() + sources_.bytes() + values_.bytes();
  }

  /// Enqueues the copy of the values of A and returns where they are, by entry of the factors.
  const Scalar* take_values(const Scalar* a, const Executor& on) const {
    factors::for_each(on, pattern_.entries,
                      factors::gather_values<Scalar, Offset, true>{a, sources_.data(), values_.data()});
    return values_.data();
  }

 private:
  pattern_view<Index, Offset> pattern_{};
  buffer<Offset> offsets_;
  buffer<Index> indices_;
  buffer<Offset> sources_;
  buffer<Scalar> values_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
