// What the suites that need a real GPU share: device policies, a few types, matrices large enough to fill it.
#pragma once

#include <vector>

#include "solver/contract_fixture.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using gpu_f64 = device_policies_with<gpu_target, double, std::int32_t, std::int32_t>;
using gpu_c64 = device_policies_with<gpu_target, std::complex<float>, std::int32_t, std::int64_t>;

/// An array on the device and the layout of what lies in it.
template <class Value>
struct device_vector {
  layout shape;
  buffer<Value> memory;

  [[nodiscard]] dense_view<const Value> in() const {
    return shape.view(static_cast<const Value*>(memory.data()));
  }
  [[nodiscard]] dense_view<Value> out() const { return shape.view(memory.data()); }
};

template <class Case>
class gpu_suite : public contract<Case> {
 public:
  using typename contract<Case>::value_type;

  device_vector<value_type> random_rhs(const layout& shape, std::uint64_t seed) {
    return {shape,
            this->where.upload(random_vector<value_type>(static_cast<std::int64_t>(shape.extent), seed))};
  }
  device_vector<value_type> poisoned_solution(const layout& shape) {
    return {shape, this->where.upload(poisoned<value_type>(shape.extent))};
  }
};

}  // namespace sptrsv::testing
