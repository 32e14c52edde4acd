// SPDX-License-Identifier: Apache-2.0
// The engine of the incomplete factorisations on the host: the textbook loops, written to be read. It is the
// oracle of the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/incomplete/method.hpp"
#include "sptrsv/host/executor.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Calls visit(slot, p) for each column that a row shares with another one, ascending. The row has the
/// ascending columns column_of(slot) for the slots first ... last - 1, and slot_of(column) is the slot of a
/// column, or negative. The other row has the ascending columns column_at(p) for p in [0, length); none of
/// them is the column of another slot. A much longer row is searched and not read: so a full row that all
/// rows need does not take quadratic time.
template <class ColumnOf, class SlotOf, class ColumnAt, class Visit>
void for_each_shared_column(std::int64_t first, std::int64_t last, const ColumnOf& column_of,
                            const SlotOf& slot_of, std::int64_t length, const ColumnAt& column_at,
                            const Visit& visit) {
  constexpr std::int64_t much_longer = 16;  // a search takes about so many steps
  if (length <= much_longer * (last - first)) {
    for (std::int64_t p = 0; p < length; ++p) {
      if (const std::int64_t slot = slot_of(column_at(p)); slot >= 0) {
        visit(slot, p);
      }
    }
    return;
  }
  std::int64_t begin = 0;
  for (std::int64_t slot = first; slot < last && begin < length; ++slot) {
    const std::int64_t wanted = column_of(slot);
    for (std::int64_t end = length; begin < end;) {
      const std::int64_t middle = begin + (end - begin) / 2;
      column_at(middle) < wanted ? begin = middle + 1 : end = middle;
    }
    if (begin < length && column_at(begin) == wanted) {
      visit(slot, begin);
    }
  }
}

template <class Tuning, method Method, class Scalar, class Index, class Offset>
class engine<Tuning, Method, Scalar, Index, Offset, host_executor> {
 public:
  engine(const pattern_view<Index, Offset>& a, const host_executor& on, memory_resource& resource)
      : factors_(at(a.entries), resource, on.stream()), slot_of_column_(at(a.size), Index{-1}) {
    const auto triangle_of = [&](uplo part) {
      const triangle_form form(system_options{part}, a.by_columns);
      validate_on_host(a, form);
      return build_on_host(a, form);
    };
    const host_triangle<Index, Offset> lower = triangle_of(uplo::lower);
    const auto upper = Method == method::lu ? triangle_of(uplo::upper) : host_triangle<Index, Offset>{};
    std::vector<Index> level_of_row;
    levels_ = find_levels(lower.row_offsets, lower.columns, level_of_row);
    for (std::size_t row = 0; row < at(a.size); ++row) {
      for (auto e = at(lower.row_offsets[row]); e < at(lower.row_offsets[row + 1]); ++e) {
        entries_.push_back({lower.columns[e], lower.sources[e]});
      }
      diagonals_.push_back(entries_.size());
      entries_.push_back({static_cast<Index>(row), lower.diagonal_sources[row]});
      if (Method == method::lu) {  // the upper triangle counts rows and columns from the last one
        const std::size_t from_end = at(a.size) - 1 - row;
        for (auto e = at(upper.row_offsets[from_end + 1]); e-- > at(upper.row_offsets[from_end]);) {
          entries_.push_back({static_cast<Index>(a.size - 1 - upper.columns[e]), upper.sources[e]});
        }
      }
      longest_row_ = std::max(longest_row_, entries_.size() - begins_.back());
      begins_.push_back(entries_.size());
    }
  }

  void factorize(const Scalar* values, const pivot_rule<Scalar>& rule, const host_executor&) {
    for (std::size_t e = 0; e < factors_.size(); ++e) {
      store_scalar(factors_.data() + e, load_scalar(values + e));
    }
    status_ = {};
    for (std::size_t row = 0; row < diagonals_.size(); ++row) {
      open_row(row, rule);
      Method == method::lu ? eliminate() : substitute();
      close_row(row, rule);
    }
  }

  [[nodiscard]] const Scalar* factors() const { return factors_.data(); }
  [[nodiscard]] factor_status status(const host_executor&) const { return status_; }

  template <class Info>
  void describe(Info& info, const host_executor& on) const {
    info.device = on.device_name();
    info.levels = levels_;
    info.longest_row = static_cast<std::int64_t>(longest_row_);
    info.bytes = factors_.bytes() + entries_.size() * sizeof(entry) +
                 (begins_.size() + diagonals_.size()) * sizeof(std::size_t) +
                 slot_of_column_.size() * sizeof(Index);
  }

 private:
  struct entry {
    Index column;
    Offset source;  ///< index in the stored matrix
  };

  [[nodiscard]] Scalar factor(const entry& e) const { return load_scalar(factors_.data() + e.source); }
  [[nodiscard]] pivot_divisor<Scalar> pivot_of(Index row) const {
    return pivot_divisor<Scalar>(factor(entries_[diagonals_[at(row)]]));
  }

  /// Copies the row of A to values_ and records the slot of each column.
  void open_row(std::size_t row, const pivot_rule<Scalar>& rule) {
    row_ = entries_.data() + begins_[row];
    below_ = diagonals_[row] - begins_[row];
    values_.resize(begins_[row + 1] - begins_[row]);
    for (std::size_t slot = 0; slot < values_.size(); ++slot) {
      slot_of_column_[at(row_[slot].column)] = static_cast<Index>(slot);
      values_[slot] = factor(row_[slot]);
    }
    values_[below_] = rule.shifted(values_[below_]);
  }

  /// Calls visit(value, factor) for the values in the slots first ... last - 1 whose column is that of one of
  /// the entries begin ... end - 1, which are part of an earlier row, and for the factor there.
  template <class Visit>
  void for_each_shared(std::size_t first, std::size_t last, std::size_t begin, std::size_t end,
                       const Visit& visit) {
    const entry* const other = entries_.data() + begin;
    for_each_shared_column(
        static_cast<std::int64_t>(first), static_cast<std::int64_t>(last),
        [&](std::int64_t slot) { return std::int64_t{row_[slot].column}; },
        [&](std::int64_t column) { return std::int64_t{slot_of_column_[at(column)]}; },
        static_cast<std::int64_t>(end - begin), [&](std::int64_t p) { return std::int64_t{other[p].column}; },
        [&](std::int64_t slot, std::int64_t p) { visit(values_[at(slot)], factor(other[p])); });
  }

  /// LU: a_ij -= l_ik u_kj for each k.
  void eliminate() {
    for (std::size_t step = 0; step < below_; ++step) {
      const auto k = at(row_[step].column);
      const Scalar multiplier = pivot_of(row_[step].column)(values_[step]);
      values_[step] = multiplier;
      for_each_shared(step + 1, values_.size(), diagonals_[k] + 1, begins_[k + 1],
                      [&](Scalar& value, Scalar other) { value = value - multiplier * other; });
    }
  }

  /// Cholesky: l_ik = (a_ik - sum of l_ij conj(l_kj)) / l_kk for each k.
  void substitute() {
    real_t<Scalar> square_sum{};
    for (std::size_t step = 0; step < below_; ++step) {
      const auto k = at(row_[step].column);
      Scalar sum{};
      for_each_shared(0, step, begins_[k], diagonals_[k],
                      [&](Scalar value, Scalar other) { sum = sum + value * conjugate(other); });
      values_[step] = pivot_of(row_[step].column)(values_[step] - sum);
      square_sum += squared(values_[step]);
    }
    values_[below_] = from_real<Scalar>(real_part(values_[below_]) - square_sum);
  }

  /// Finishes the pivot, stores the row, and records what it met.
  void close_row(std::size_t row, const pivot_rule<Scalar>& rule) {
    bool boosted = false;
    Scalar& pivot = values_[below_];
    pivot = boosted_pivot<Method>(rule, pivot, real_t<Scalar>{}, boosted);
    if (Method == method::cholesky) {
      pivot = from_real<Scalar>(std::sqrt(real_part(pivot)));
    }
    status_.boosted_pivots += boosted ? 1 : 0;
    bool is_bad = pivot == Scalar{};
    for (std::size_t slot = 0; slot < values_.size(); ++slot) {
      store_scalar(factors_.data() + row_[slot].source, values_[slot]);
      slot_of_column_[at(row_[slot].column)] = Index{-1};
      is_bad = is_bad || !is_finite(values_[slot]);
    }
    if (is_bad && status_.ok()) {
      status_.code = pivot == Scalar{} ? solve_status::kind::zero_pivot : solve_status::kind::non_finite;
      status_.row = static_cast<std::int64_t>(row);
    }
  }

  buffer<Scalar> factors_;              ///< by entry of the stored matrix
  std::vector<entry> entries_;          ///< those that the method uses, by row, columns ascending
  std::vector<std::size_t> begins_{0};  ///< by row: its first entry; size + 1
  std::vector<std::size_t> diagonals_;  ///< by row: its diagonal entry
  std::int64_t levels_ = 0;
  std::size_t longest_row_ = 0;
  const entry* row_ = nullptr;         ///< the current row
  std::size_t below_ = 0;              ///< its entries below the diagonal; the slot of the diagonal entry
  std::vector<Scalar> values_;         ///< its values, by slot
  std::vector<Index> slot_of_column_;  ///< -1: the current row has no entry there
  factor_status status_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
