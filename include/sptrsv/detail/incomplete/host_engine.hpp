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
#include "sptrsv/detail/incomplete/incomplete_engine.hpp"
#include "sptrsv/detail/incomplete/shared_columns.hpp"
#include "sptrsv/host/executor.hpp"

namespace sptrsv::detail::incomplete {

template <class Tuning, method Method, class Scalar, class Index, class Offset>
class engine<Tuning, Method, Scalar, Index, Offset, host_executor> {
  using real = real_t<Scalar>;

 public:
  engine(const pattern_view<Index, Offset>& a, const host_executor& on, memory_resource& resource)
      : size_(a.size), factors_(at(a.entries), resource, on.stream()) {
    const triangle_form lower_form(system_options{uplo::lower}, a.by_columns);
    const triangle_form upper_form(system_options{uplo::upper}, a.by_columns);
    validate_on_host(a, lower_form);
    lower_ = build_on_host(a, lower_form);
    levels_ = find_levels(lower_.row_offsets, lower_.columns, slot_of_column_);
    if constexpr (Method == method::lu) {
      validate_on_host(a, upper_form);
      upper_ = build_on_host(a, upper_form);
    }
    slot_of_column_.assign(at(a.size), Index{-1});
  }

  void factorize(const Scalar* values, const pivot_rule<Scalar>& rule, const host_executor&) {
    for (std::size_t e = 0; e < factors_.size(); ++e) {
      store_scalar(factors_.data() + e, load_scalar(values + e));
    }
    found_ = {};
    for (std::int64_t row = 0; row < size_; ++row) {
      open_row(row, rule);
      Method == method::lu ? eliminate() : substitute();
      close_row(row, rule);
    }
  }

  [[nodiscard]] const Scalar* factors() const { return factors_.data(); }
  [[nodiscard]] findings found(const host_executor&) const { return found_; }

  template <class Info>
  void describe(Info& info, const host_executor& on) const {
    info.device = on.device_name();
    info.levels = levels_;
    info.longest_row = longest_row();
    info.bytes =
        factors_.bytes() + bytes_of(lower_) + bytes_of(upper_) + slot_of_column_.size() * sizeof(Index);
  }

 private:
  using triangle = host_triangle<Index, Offset>;

  [[nodiscard]] Scalar factor(Offset e) const { return load_scalar(factors_.data() + e); }
  [[nodiscard]] pivot_divisor<Scalar> pivot(Index row) const {
    return pivot_divisor<Scalar>(factor(lower_.diagonal_sources[at(row)]));
  }
  /// Calls `visit(column, source)` for the entries of a row below (above) the diagonal, columns ascending.
  template <class Visit>
  void visit_lower(std::int64_t row, const Visit& visit) const {
    const auto r = at(row);
    for (Offset e = lower_.row_offsets[r]; e < lower_.row_offsets[r + 1]; ++e) {
      visit(lower_.columns[at(e)], lower_.sources[at(e)]);
    }
  }
  template <class Visit>
  void visit_upper(std::int64_t row, const Visit& visit) const {
    if (upper_.row_offsets.empty()) {
      return;
    }
    const auto r = at(size_ - 1 - row);  // it counts from the last row
    for (Offset e = upper_.row_offsets[r + 1]; e-- > upper_.row_offsets[r];) {
      visit(static_cast<Index>(size_ - 1 - upper_.columns[at(e)]), upper_.sources[at(e)]);
    }
  }

  /// Copies the row of A to row_ and records the slot of each column.
  void open_row(std::int64_t row, const pivot_rule<Scalar>& rule) {
    row_.clear();
    const auto add = [&](Index column, Offset source) {
      slot_of_column_[at(column)] = static_cast<Index>(row_.size());
      row_.push_back({column, source, factor(source)});
    };
    visit_lower(row, add);
    below_ = row_.size();
    add(static_cast<Index>(row), lower_.diagonal_sources[at(row)]);
    row_[below_].value = rule.shifted(row_[below_].value);
    visit_upper(row, add);
  }

  /// Calls visit(value, p) for the entries of row_ in the slots first ... last - 1 whose column is one of the
  /// `length` ascending columns column_at(p) of another row.
  template <class ColumnAt, class Visit>
  void for_each_shared(std::size_t first, std::size_t last, Offset length, const ColumnAt& column_at,
                       const Visit& visit) {
    const auto entry_of = [&](std::int64_t slot) -> entry& { return row_[at(slot)]; };
    for_each_shared_column(
        static_cast<std::int64_t>(first), static_cast<std::int64_t>(last),
        [&](std::int64_t slot) { return std::int64_t{entry_of(slot).column}; },
        [&](std::int64_t column) { return std::int64_t{slot_of_column_[at(column)]}; }, std::int64_t{length},
        column_at, [&](std::int64_t slot, std::int64_t p) { visit(entry_of(slot).value, p); });
  }

  /// LU: a_ij -= l_ik u_kj for each k.
  void eliminate() {
    for (std::size_t step = 0; step < below_; ++step) {
      const Scalar multiplier = pivot(row_[step].column)(row_[step].value);
      row_[step].value = multiplier;
      // The upper rows count rows, and columns in descending order, from the last one.
      const auto k = at(size_ - 1 - row_[step].column);
      const auto end = at(upper_.row_offsets[k + 1]) - 1;
      for_each_shared(
          step + 1, row_.size(), upper_.row_offsets[k + 1] - upper_.row_offsets[k],
          [&](std::int64_t p) { return size_ - 1 - upper_.columns[end - at(p)]; },
          [&](Scalar& value, std::int64_t p) {
            value = value - multiplier * factor(upper_.sources[end - at(p)]);
          });
    }
  }

  /// Cholesky: l_ik = (a_ik - sum of l_ij conj(l_kj)) / l_kk for each k.
  void substitute() {
    real square_sum{};
    for (std::size_t step = 0; step < below_; ++step) {
      Scalar sum{};
      const auto k = at(row_[step].column);
      const auto begin = at(lower_.row_offsets[k]);
      for_each_shared(
          0, step, lower_.row_offsets[k + 1] - lower_.row_offsets[k],
          [&](std::int64_t p) { return std::int64_t{lower_.columns[begin + at(p)]}; },
          [&](const Scalar& value, std::int64_t p) {
            const Offset source = lower_.sources[begin + at(p)];
            sum = sum + value * conjugate(factor(source));
          });
      row_[step].value = pivot(row_[step].column)(row_[step].value - sum);
      square_sum += squared(row_[step].value);
    }
    row_[below_].value = from_real<Scalar>(real_part(row_[below_].value) - square_sum);
  }

  /// Finishes the pivot, stores the row, and records what it met.
  void close_row(std::int64_t row, const pivot_rule<Scalar>& rule) {
    Scalar& last = row_[below_].value;
    bool boosted = false;
    if constexpr (Method == method::lu) {
      boosted = rule.boosts(last);
      last = boosted ? from_real<Scalar>(rule.boost_to) : last;
    } else {
      boosted = rule.boosts_square(real_part(last));
      last = from_real<Scalar>(std::sqrt(boosted ? rule.boost_to : real_part(last)));
    }
    found_.boosted_pivots += boosted ? 1 : 0;
    bool is_bad = is_zero(last);
    for (const entry& e : row_) {
      store_scalar(factors_.data() + e.source, e.value);
      slot_of_column_[at(e.column)] = Index{-1};
      is_bad = is_bad || !is_finite(e.value);
    }
    if (is_bad && found_.first_breakdown < 0) {
      found_.first_breakdown = breakdown{row, is_zero(last)}.number();
    }
  }

  [[nodiscard]] std::int64_t longest_row() const {
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < size_; ++row) {
      std::int64_t length = 1;
      const auto count = [&](Index, Offset) { ++length; };
      visit_lower(row, count);
      visit_upper(row, count);
      longest = std::max(longest, length);
    }
    return longest;
  }
  static std::size_t bytes_of(const triangle& t) {
    return t.columns.size() * sizeof(Index) +
           (t.row_offsets.size() + t.sources.size() + t.diagonal_sources.size()) * sizeof(Offset);
  }

  struct entry {
    Index column;
    Offset source;  ///< index in the stored matrix
    Scalar value;
  };

  std::int64_t size_;
  std::int64_t levels_ = 0;
  buffer<Scalar> factors_;  ///< by entry of the stored matrix
  triangle lower_;
  triangle upper_;                     ///< empty for Cholesky
  std::vector<entry> row_;             ///< the current row
  std::size_t below_ = 0;              ///< its entries below the diagonal; the slot of the diagonal entry
  std::vector<Index> slot_of_column_;  ///< -1: the current row has no entry there
  findings found_;
};

}  // namespace sptrsv::detail::incomplete
