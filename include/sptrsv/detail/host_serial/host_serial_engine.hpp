// SPDX-License-Identifier: Apache-2.0
// The engine of host_serial. It is written to be read and shares only the validation with the other policies.
#pragma once

#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Scalar, class Index, class Offset>
class engine<policy::host_serial, Scalar, Index, Offset, host_executor> {
 public:
  struct workspace {
    std::int64_t first_nonfinite = -1;

    void reset(const host_executor&) {}
  };

  engine(const policy::host_serial&, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t, const host_executor&, memory_resource&)
      : size_(a.size), form_(form) {
    validate_on_host(a, form);
    offsets_.push_back(0);
    simt::host_context ctx;
    for (std::int64_t m = 0; m < size_; ++m) {
      for (Offset e = a.offsets[m]; e < a.offsets[m + 1]; ++e) {
        if (inside_triangle(m, a.indices[e]) || (a.indices[e] == m && !form.unit)) {
          indices_.push_back(a.indices[e]);
          sources_.push_back(a.value_index(ctx, m, e));
        }
      }
      offsets_.push_back(static_cast<Offset>(indices_.size()));
    }
    values_.resize(indices_.size());
  }

  void update_values(const Scalar* values, const host_executor&) {
    for (std::size_t e = 0; e < values_.size(); ++e) {
      const Scalar value = load_scalar(values + sources_[e]);
      values_[e] = form_.conjugated ? conjugate(value) : value;
    }
  }

  workspace make_workspace(const host_executor&, memory_resource&) const { return {}; }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const host_executor&) const {
    scratch.first_nonfinite = -1;
    for (std::int64_t k = 0; k < x.columns; ++k) {
      const auto element = [&](std::int64_t i) { return x.data + i * x.row_stride + k * x.column_stride; };
      for (std::int64_t i = 0; i < size_; ++i) {
        store_scalar(element(i), alpha * load_scalar(b.data + i * b.row_stride + k * b.column_stride));
      }
      for (std::int64_t step = 0; step < size_; ++step) {
        const std::int64_t i = form_.reversed ? size_ - 1 - step : step;
        if (form_.transposed) {
          eliminate_column(i, element);
        } else {
          substitute_row(i, element);
        }
        if (!is_finite(load_scalar(element(i))) &&
            (scratch.first_nonfinite < 0 || step < scratch.first_nonfinite)) {
          scratch.first_nonfinite = step;
        }
      }
    }
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const host_executor&) const {
    return scratch.first_nonfinite;
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace&, const host_executor&) const {
    const std::int64_t i = form_.reversed ? size_ - 1 - substitution_index : substitution_index;
    return !form_.unit && diagonal(i) == Scalar{};
  }

  void describe(solver_info& info, const host_executor& on) const {
    info.device = on.device_name();
    info.kernels = {
        kernel_info{form_.transposed ? "serial substitution by columns" : "serial substitution by rows"}};
    std::vector<std::int64_t> length(static_cast<std::size_t>(size_), 0);  // by row of op(T)
    info.entries = form_.unit ? 0 : size_;
    for (std::int64_t m = 0; m < size_; ++m) {
      for (Offset e = begin(m); e < begin(m + 1); ++e) {
        if (index(e) != m) {
          ++info.entries;
          ++length[at(form_.transposed ? index(e) : m)];
        }
      }
    }
    info.longest_row = size_ == 0 ? 0 : *std::max_element(length.begin(), length.end());
    info.solver_bytes = (offsets_.size() + sources_.size()) * sizeof(Offset) +
                        indices_.size() * sizeof(Index) + values_.size() * sizeof(Scalar);
  }

 private:
  Offset begin(std::int64_t major) const { return offsets_[at(major)]; }
  Index index(Offset e) const { return indices_[at(e)]; }
  Scalar value(Offset e) const { return values_[at(e)]; }

  /// Returns true if the entry (major i, minor j) is strictly inside the triangle. By rows, x_j is solved
  /// before x_i; by columns, x_j is solved after x_i.
  bool inside_triangle(std::int64_t i, std::int64_t j) const {
    return form_.transposed == form_.reversed ? j < i : j > i;
  }

  Scalar diagonal(std::int64_t i) const {
    for (Offset e = begin(i); e < begin(i + 1); ++e) {
      if (index(e) == i) {
        return value(e);
      }
    }
    return Scalar{};
  }

  // `element` returns the address of a component of x.

  /// Computes x_i = (x_i - sum of a_ij x_j over the solved j) / a_ii.
  template <class Element>
  void substitute_row(std::int64_t i, Element element) const {
    Scalar sum = load_scalar(element(i));
    Scalar pivot{};
    const Offset end = begin(i + 1);
    for (Offset e = begin(i); e < end; ++e) {
      const std::int64_t j = index(e);
      if (j == i) {
        pivot = value(e);
      } else {
        sum = sum - value(e) * load_scalar(element(j));
      }
    }
    store_scalar(element(i), form_.unit ? sum : divide(sum, pivot));
  }

  /// Computes x_i = x_i / a_ii, then x_j = x_j - a_ji x_i for the unsolved j.
  template <class Element>
  void eliminate_column(std::int64_t i, Element element) const {
    const Scalar sum = load_scalar(element(i));
    const Scalar solved = form_.unit ? sum : divide(sum, diagonal(i));
    store_scalar(element(i), solved);
    for (Offset e = begin(i); e < begin(i + 1); ++e) {
      if (index(e) != i) {
        Scalar* const other = element(index(e));
        store_scalar(other, load_scalar(other) - value(e) * solved);
      }
    }
  }

  std::int64_t size_;
  triangle_form form_;
  // The entries of the triangle, by row (column) of the stored matrix; the diagonal unless it is unit.
  std::vector<Offset> offsets_;
  std::vector<Index> indices_;
  std::vector<Offset> sources_;  ///< by entry: its index in the stored matrix
  std::vector<Scalar> values_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
