// SPDX-License-Identifier: Apache-2.0
// The diagonal D of L D L^T, which the matrix of L stores on its diagonal.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::factors {

/// The diagonal of a stored matrix: where it is stored, and its values.
template <class Scalar, class Offset, class Executor>
class stored_diagonal {
 public:
  /// Constructs no diagonal: the identity.
  stored_diagonal() = default;
  /// Finds the diagonal of a valid pattern. Synchronises. Throws for the first row without an entry, or with
  /// two.
  template <class Index>
  stored_diagonal(const pattern_view<Index, Offset>& a, const Executor& on, memory_resource& resource)
      : sources_(make_buffer<Offset>(a.size, on, resource)),
        values_(make_buffer<Scalar>(a.size, on, resource)) {
    faults found;
    if constexpr (has_kernels<Executor>) {
      const auto on_device = upload_array(&found, 1, on, resource);
      on.fill_bytes(sources_.data(), 0xff, sources_.bytes());
      simt::for_each(on, a.entries,
                     find_diagonal<Index, Offset>{a, sources_.data(), &on_device.data()->duplicate});
      simt::for_each(on, a.size, find_missing<Offset>{sources_.data(), &on_device.data()->missing});
      found = download_value(on_device.data(), on);
    } else {
      for (std::int64_t m = a.size - 1; m >= 0; --m) {
        Offset& source = sources_.data()[m] = -1;
        for (Offset e = a.offsets[m]; e < a.offsets[m + 1]; ++e) {
          if (a.indices[e] == m) {
            found.duplicate = source >= 0 ? m : found.duplicate;
            source = e;
          }
        }
        found.missing = source < 0 ? m : found.missing;
      }
    }
    if (found.duplicate < a.size) {
      throw_pattern_fault(pattern_fault::duplicate, found.duplicate, a.by_columns);
    }
    if (found.missing < a.size) {
      throw_pattern_fault(pattern_fault::diagonal, found.missing, a.by_columns);
    }
  }

  /// Enqueues the copy of the values. `stored`: by stored entry.
  void update_values(const Scalar* stored, const Executor& on) {
    for_each(on, static_cast<std::int64_t>(values_.size()),
             gather_values<Scalar, Offset>{stored, sources_.data(), values_.data()});
  }
  /// Enqueues the division of each row of x by its entry.
  void divide(dense_view<Scalar> x, bool conjugated, const Executor& on) const {
    for_each(on, static_cast<std::int64_t>(values_.size()),
             divide_rows<Scalar>{values_.data(), conjugated, x});
  }
  [[nodiscard]] bool is_identity() const { return values_.size() == 0; }
  /// Returns an entry of a diagonal that is not the identity. Synchronises.
  [[nodiscard]] Scalar entry(std::int64_t row, const Executor& on) const {
    return download_value(values_.data() + row, on);
  }
  /// By row: the index of the entry in the stored matrix, and its value.
  [[nodiscard]] const Offset* sources() const { return sources_.data(); }
  [[nodiscard]] const Scalar* values() const { return values_.data(); }
  [[nodiscard]] std::size_t bytes() const { return sources_.bytes() + values_.bytes(); }

 private:
  struct faults {
    std::int64_t duplicate = std::numeric_limits<std::int64_t>::max();
    std::int64_t missing = std::numeric_limits<std::int64_t>::max();
  };

  buffer<Offset> sources_;  ///< by row
  buffer<Scalar> values_;   ///< by row
};

/// Returns what an application met: `solves` are what its solves met. A value that is not finite comes before
/// growth. A bad entry of the diagonal between the solves shows in the second one.
template <class Scalar, class Offset, class Executor>
factors_status status_of(const std::array<solve_status, 2>& solves, bool was_transposed,
                         const stored_diagonal<Scalar, Offset, Executor>& diagonal, const Executor& on) {
  const auto is_finite = [](const solve_status& s) { return s.ok() || s.code == solve_status::kind::growth; };
  const bool in_first = !is_finite(solves[0]) || (is_finite(solves[1]) && !solves[0].ok());
  const solve_status& met = solves[in_first ? 0 : 1];
  if (met.ok()) {
    return {};
  }
  if (!in_first && !is_finite(met) && !diagonal.is_identity()) {
    const Scalar pivot = diagonal.entry(*met.row, on);
    if (pivot == Scalar{} || !detail::is_finite(pivot)) {
      return {pivot == Scalar{} ? solve_status::kind::zero_pivot : solve_status::kind::non_finite, met.row,
              factor_part::diagonal};
    }
  }
  return {met.code, met.row, in_first != was_transposed ? factor_part::first : factor_part::second};
}

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
