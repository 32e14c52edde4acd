// SPDX-License-Identifier: Apache-2.0
// What stands around and between the solves with two factors: the permutations and the scalings of a system,
// checked and copied; and the diagonal D of L D L^T, which the matrix of L stores on its diagonal.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/factors_options.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::factors {

/// Names the first faults of a permutation. A number that is not below the number of rows means no fault.
struct order_faults {
  std::int64_t entry = std::numeric_limits<std::int64_t>::max();  ///< the first entry that is out of range
  std::int64_t row = std::numeric_limits<std::int64_t>::max();    ///< the first row that is not named once
};

/// Checks a permutation. Synchronises.
template <class Index, class Executor>
order_faults check_order(const Index* order, std::int64_t rows, const Executor& on,
                         memory_resource& resource) {
  order_faults found;
  if constexpr (simt::has_kernels<Executor>) {
    const auto named = make_buffer<Index>(rows, on, resource);
    const auto faults = upload_array(&found, 1, on, resource);
    on.fill_bytes(named.data(), 0xff, named.bytes());
    simt::for_each(on, rows,
                   mark_rows<Index>{order, rows, named.data(), &faults.data()->entry, &faults.data()->row});
    simt::for_each(on, rows, find_missing<Index>{named.data(), &faults.data()->row});
    found = download_value(faults.data(), on);
  } else {
    std::vector<std::uint32_t> counts(at(rows), 0);
    for (std::int64_t k = 0; k < rows; ++k) {
      if (order[k] < 0 || order[k] >= rows) {
        found.entry = std::min(found.entry, k);
      } else {
        ++counts[at(order[k])];
      }
    }
    found.row =
        std::find_if(counts.begin(), counts.end(), [](auto count) { return count != 1; }) - counts.begin();
  }
  return found;
}

/// A permutation and a scaling in memory of their own.
template <class Value, class Index, class Executor>
class row_transform {
  using scalar = scalar_t<Value>;

 public:
  /// Checks the permutation, and copies the arrays, which check_side() has accepted. Synchronises if there is
  /// a permutation.
  row_transform(span<const Index> order, span<const Value> scale, std::int64_t rows, const char* side,
                const Executor& on, memory_resource& resource) {
    if (order.size() > 0) {
      const order_faults found = check_order(order.data(), rows, on, resource);
      expect_of_row(found.entry >= rows, errc::index_out_of_range, found.entry, side,
                    "_order is no permutation: entry ", found.entry,
                    " is negative or not below the number of rows");
      expect_of_row(found.row >= rows, errc::invalid_argument, found.row, side,
                    "_order is no permutation: it does not name row ", found.row, " exactly once");
    }
    order_ = copy_of(order, on, resource);
    scale_ = copy_of(span<const scalar>(as_scalar(scale.data()), scale.size()), on, resource);
  }

  [[nodiscard]] bool is_identity() const { return order_.size() == 0 && scale_.size() == 0; }
  [[nodiscard]] std::size_t bytes() const { return order_.bytes() + scale_.bytes(); }

  /// Enqueues to(k) = scale from(order[k]) if `gathers`, else to(order[k]) = scale from(k). Enqueues nothing
  /// for the identity.
  void move(bool gathers, dense_view<const scalar> from, dense_view<scalar> to, bool conjugated,
            const Executor& on) const {
    if (!is_identity()) {
      simt::for_each(on, to.rows,
                     move_rows<scalar, Index>{order_.data(), scale_.data(), conjugated, gathers, from, to});
    }
  }

 private:
  buffer<Index> order_;
  buffer<scalar> scale_;
};

/// The permutations and scalings of both sides of a system: P_r and R, and P_c and C.
template <class Value, class Index, class Executor>
class side_transforms {
  using side = row_transform<Value, Index, Executor>;

 public:
  /// Synchronises if there is a permutation.
  side_transforms(const factors_options<Value, Index>& options, std::int64_t rows, const Executor& on,
                  memory_resource& resource)
      : rows_(options.row_order, options.row_scale, rows, "row", on, resource),
        columns_(options.column_order, options.column_scale, rows, "column", on, resource) {}

  [[nodiscard]] std::size_t bytes() const { return rows_.bytes() + columns_.bytes(); }
  /// Returns memory for `size` elements; none if nothing is permuted or scaled.
  [[nodiscard]] buffer<Value> make_vector(std::int64_t size, const Executor& on,
                                          memory_resource& resource) const {
    const bool is_needed = !rows_.is_identity() || !columns_.is_identity();
    return make_buffer<Value>(is_needed ? size : 0, on, resource);
  }

  /// Enqueues a solve of the system: solve(from, to) enqueues that of the factors. Where b or x is permuted
  /// or scaled, `vector` stands for it. `transposed`: the operation of the transposed system; op::none: the
  /// system itself.
  template <class Solve>
  void run(op transposed, dense_view<const Value> b, dense_view<Value> x, Value* vector, const Executor& on,
           const Solve& solve) const {
    const side& in = transposed == op::none ? rows_ : columns_;
    const side& out = transposed == op::none ? columns_ : rows_;
    const bool conjugated = transposed == op::conj_transpose;
    const auto moved = dense_view<Value>::column_major(vector, x.rows, x.columns, x.rows);
    in.move(true, as_scalars(b), as_scalars(moved), conjugated, on);
    solve(in.is_identity() ? b : dense_view<const Value>(moved), out.is_identity() ? x : moved);
    out.move(false, as_scalars(moved), as_scalars(x), conjugated, on);
  }

 private:
  side rows_;
  side columns_;
};

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
    if constexpr (simt::has_kernels<Executor>) {
      const auto on_device = upload_array(&found, 1, on, resource);
      on.fill_bytes(sources_.data(), 0xff, sources_.bytes());
      simt::for_each(on, a.entries,
                     find_diagonal<Index, Offset>{a, sources_.data(), &on_device.data()->duplicate});
      simt::for_each(on, a.size, find_missing<Offset>{sources_.data(), &on_device.data()->missing});
      found = download_value(on_device.data(), on);
    } else {
      simt::host_context ctx;
      for (std::int64_t m = a.size - 1; m >= 0; --m) {
        Offset& source = sources_.data()[m] = -1;
        for (Offset e = a.offsets[m]; e < a.offsets[m + 1]; ++e) {
          if (a.indices[e] == m) {
            found.duplicate = source >= 0 ? m : found.duplicate;
            source = a.value_index(ctx, m, e);
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
    simt::for_each(on, static_cast<std::int64_t>(values_.size()),
                   array_kernels::take_in_order<Scalar, Offset>{stored, sources_.data(), values_.data()});
  }
  /// Enqueues the division of each row of x by its entry.
  void divide(dense_view<Scalar> x, bool conjugated, const Executor& on) const {
    simt::for_each(on, static_cast<std::int64_t>(values_.size()),
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
