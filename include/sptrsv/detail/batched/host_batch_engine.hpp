// SPDX-License-Identifier: Apache-2.0
// The engine of a batch on the host, which solves one system after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/checked_product.hpp"
#include "sptrsv/detail/batched/batched_engine.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::detail::batched {

template <class Scalar, class Index, class Offset>
class engine<Scalar, Index, Offset, host_executor> {
  using one_system = detail::engine<policy::host_serial, Scalar, Index, Offset, host_executor>;

 public:
  engine(const pattern_view<Index, Offset>& a, const triangle_form& form, const batch_options& batch,
         const host_executor& on, memory_resource& resource)
      : systems_(batch.systems),
        size_(a.size),
        entries_(a.entries),
        values_(at(checked_product(systems_, entries_))),
        one_(policy::host_serial{}, a, form, 1, on, resource) {}

  void update_values(const Scalar* values, std::int64_t stride, const host_executor&) {
    for (std::int64_t s = 0; s < (entries_ > 0 ? systems_ : 0); ++s) {
      for (std::int64_t e = 0; e < entries_; ++e) {
        values_[at(s * entries_ + e)] = load_scalar(values + s * stride + e);
      }
    }
  }

  void solve(Scalar alpha, const operand<const Scalar>& b, const operand<Scalar>& x,
             std::int64_t right_hand_sides, const host_executor& on) {
    const auto of = [&](const auto& all, std::int64_t s) {
      return dense_view(all.data + s * all.system_stride, size_, right_hand_sides, all.row_stride,
                        all.column_stride);
    };
    fault_ = {};
    for (std::int64_t s = 0; s < systems_; ++s) {
      one_.update_values(values_.data() + s * entries_, on);
      one_.solve(alpha, of(b, s), of(x, s), scratch_, on);
      const std::int64_t index = one_.first_nonfinite_index(scratch_, on);
      if (index >= 0 && fault_.system < 0) {
        fault_ = {s, index, one_.is_zero_pivot(index, scratch_, on)};
      }
    }
  }

  [[nodiscard]] fault first_fault(const host_executor&) const { return fault_; }

  void describe(solver_info& info, const host_executor& on) const {
    one_.describe(info, on);
    info.policy = policy::host_serial::name;
    info.solver_bytes += values_.size() * sizeof(Scalar);
  }

 private:
  std::int64_t systems_;
  std::int64_t size_;
  std::int64_t entries_;
  std::vector<Scalar> values_;  ///< by system and stored entry
  one_system one_;
  typename one_system::workspace scratch_;
  fault fault_;
};

}  // namespace sptrsv::detail::batched
