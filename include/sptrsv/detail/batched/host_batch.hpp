// A batch on the host: one solver, which solves one system after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/batch.hpp"
#include "sptrsv/detail/batched/checks.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::batched {

/// Triangular systems with one pattern in host memory, with the functions of batched_solver. Calls are
/// complete when they return.
template <class Value, class Index, class Offset>
class host_batch {
 public:
  using value_type = Value;
  using index_type = Index;
  using offset_type = Offset;
  using stream_type = host_stream;

  /// Analyses the pattern.
  template <class View>
  host_batch(const View& a, span<const Value> values, const batch_options& batch,
             const system_options& options)
      : entries_(a.entries),
        systems_(batch.systems),
        value_stride_(batch.value_stride == 0 ? a.entries : batch.value_stride),
        one_(analyze(policy::host_serial{}, first_system(a, values, batch), options)) {
    update_values(values);
  }

  void update_values(span<const Value> values, host_stream = {}) {
    check(values);
    values_.resize(static_cast<std::size_t>(systems_ * entries_));
    for (std::int64_t s = 0; s < (entries_ > 0 ? systems_ : 0); ++s) {
      std::copy_n(values.data() + s * value_stride_, entries_, values_.data() + s * entries_);
    }
  }

  void solve(batch_view<const Value> b, batch_view<Value> x, Value alpha, host_stream = {}) {
    const bool has_work = check_operands(b, x, {systems_, one_.rows(), one_.max_rhs()});
    if (has_work) {
      check_space<host_executor>(b.data, 1, "b", "a batch");
      check_space<host_executor>(x.data, 1, "x", "a batch");
    }
    status_ = {};
    if (!has_work) {
      return;
    }
    for (std::int64_t s = 0; s < systems_; ++s) {
      one_.update_values({values_.data() + s * entries_, static_cast<std::size_t>(entries_)});
      one_.solve({b.data + s * b.system_stride, b.rows, b.columns, b.row_stride, b.column_stride},
                 {x.data + s * x.system_stride, x.rows, x.columns, x.row_stride, x.column_stride}, alpha);
      const solve_status met = one_.status();
      if (!met.ok() && status_.ok()) {
        status_ = {met.code, s, met.row};
      }
    }
  }

  [[nodiscard]] batch_status status(host_stream = {}) const { return status_; }
  [[nodiscard]] solver_info info() const {
    solver_info result = one_.info();
    result.solver_bytes += values_.size() * sizeof(Value);
    return result;
  }
  [[nodiscard]] std::int64_t systems() const noexcept { return systems_; }
  [[nodiscard]] std::int64_t rows() const noexcept { return one_.rows(); }
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return one_.max_rhs(); }

 private:
  void check(span<const Value> values) const {
    const std::int64_t needed = check_values(values.size(), systems_, entries_, value_stride_);
    check_space<host_executor>(values.data(), needed, "the array of values", "a batch");
  }
  /// Checks the options, and returns the matrix of the first system; without systems its values are zeros.
  template <class View>
  View first_system(View a, span<const Value> values, const batch_options& batch) {
    check_options(batch, a.entries, sizeof(Value));
    check(values);
    if (systems_ == 0) {
      values_.resize(static_cast<std::size_t>(entries_));
    }
    a.values = systems_ == 0 ? values_.data() : values.data();
    return a;
  }

  std::int64_t entries_;
  std::int64_t systems_;
  std::int64_t value_stride_;
  std::vector<Value> values_;
  solver<policy::host_serial, Value, Index, Offset, host_stream> one_;
  batch_status status_;
};

}  // namespace sptrsv::detail::batched
