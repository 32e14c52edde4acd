// SPDX-License-Identifier: Apache-2.0
// The permutation and the scaling of one side of a system, checked and copied.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
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
    const auto counts = make_zeros<std::uint32_t>(rows, on, resource);
    const auto faults = upload_array(&found, 1, on, resource);
    simt::for_each(on, rows, count_rows<Index>{order, rows, counts.data(), &faults.data()->entry});
    simt::for_each(on, rows, find_uncounted{counts.data(), &faults.data()->row});
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
template <class Scalar, class Index, class Executor>
class row_transform {
 public:
  /// Checks the sizes and the places of the arrays. `side`: "row" or "column", for messages.
  static void check(span<const Index> order, span<const Scalar> scale, std::int64_t rows,
                    const std::string& side) {
    const auto check_array = [&](const auto& array, const std::string& name) {
      SPTRSV_EXPECTS(static_cast<std::int64_t>(array.size()) == rows || array.size() == 0,
                     errc::size_mismatch,
                     name + " has " + std::to_string(array.size()) + " elements, the system has " +
                         std::to_string(rows) + " rows");
      check_space<Executor>(array.data(), static_cast<std::int64_t>(array.size()), name.c_str(),
                            "the analysis");
    };
    check_array(order, side + "_order");
    check_array(scale, side + "_scale");
  }

  /// Checks the permutation, and copies the arrays, which check() has accepted. Synchronises if there is a
  /// permutation.
  row_transform(span<const Index> order, span<const Scalar> scale, std::int64_t rows, const char* side,
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
    order_ = copy_of_array(order, on, resource);
    scale_ = copy_of_array(scale, on, resource);
  }

  [[nodiscard]] bool is_identity() const { return order_.size() == 0 && scale_.size() == 0; }
  [[nodiscard]] std::size_t bytes() const { return order_.bytes() + scale_.bytes(); }

  /// Enqueues to(k) = scale from(order[k]).
  void gather(dense_view<const Scalar> from, dense_view<Scalar> to, bool conjugated,
              const Executor& on) const {
    for_each(on, to.rows, move_rows<Scalar, Index>{map(conjugated), true, from, to});
  }
  /// Enqueues to(order[k]) = scale from(k).
  void scatter(dense_view<const Scalar> from, dense_view<Scalar> to, bool conjugated,
               const Executor& on) const {
    for_each(on, to.rows, move_rows<Scalar, Index>{map(conjugated), false, from, to});
  }

 private:
  template <class T>
  static buffer<T> copy_of_array(span<const T> from, const Executor& on, memory_resource& resource) {
    buffer<T> made(from.size(), resource, on.stream());
    on.copy(made.data(), from.data(), made.bytes());
    return made;
  }
  [[nodiscard]] row_map<Scalar, Index> map(bool conjugated) const {
    return {order_.data(), scale_.data(), conjugated};
  }

  buffer<Index> order_;
  buffer<Scalar> scale_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
