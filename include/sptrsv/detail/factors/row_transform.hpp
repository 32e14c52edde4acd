// SPDX-License-Identifier: Apache-2.0
// The permutations and the scalings of a system, checked and copied.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/factors_options.hpp"
#include "sptrsv/memory/memory_resource.hpp"

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
  if constexpr (has_kernels<Executor>) {
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
    const std::string order_name = std::string(side) + "_order";
    if (order.size() > 0) {
      const order_faults found = check_order(order.data(), rows, on, resource);
      if (found.entry < rows) {
        throw error(errc::index_out_of_range,
                    order_name + " is no permutation: entry " + std::to_string(found.entry) +
                        " is negative or not below the number of rows",
                    found.entry);
      }
      if (found.row < rows) {
        throw error(errc::invalid_argument,
                    order_name + " is no permutation: it does not name row " + std::to_string(found.row) +
                        " exactly once",
                    found.row);
      }
    }
    order_ = copy_of_array(order.data(), order.size(), on, resource);
    scale_ = copy_of_array(as_scalar(scale.data()), scale.size(), on, resource);
  }

  [[nodiscard]] bool is_identity() const { return order_.size() == 0 && scale_.size() == 0; }
  [[nodiscard]] std::size_t bytes() const { return order_.bytes() + scale_.bytes(); }

  /// Enqueues to(k) = scale from(order[k]) if `gathers`, else to(order[k]) = scale from(k). Enqueues nothing
  /// for the identity.
  void move(bool gathers, dense_view<const scalar> from, dense_view<scalar> to, bool conjugated,
            const Executor& on) const {
    if (!is_identity()) {
      for_each(on, to.rows,
               move_rows<scalar, Index>{order_.data(), scale_.data(), conjugated, gathers, from, to});
    }
  }

 private:
  template <class T>
  static buffer<T> copy_of_array(const T* from, std::size_t size, const Executor& on,
                                 memory_resource& resource) {
    buffer<T> made(size, resource, on.stream());
    on.copy(made.data(), from, made.bytes());
    return made;
  }

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

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
