// Shared by the suites that need a GPU: device policies, a few types, and matrices large enough to fill it.
#pragma once

#include <vector>

#include "contract/contract_fixture.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

/// An array on the device and the layout of the matrix in it.
template <class Value>
struct device_vector {
  layout shape;
  buffer<Value> memory;

  [[nodiscard]] dense_view<const Value> in() const {
    return shape.view(static_cast<const Value*>(memory.data()));
  }
  [[nodiscard]] dense_view<Value> out() const { return shape.view(memory.data()); }
};

template <class Types>
class gpu_suite : public contract<Types> {
 public:
  using contract<Types>::contract;
  using typename contract<Types>::value_type;

  device_vector<value_type> random_rhs(const layout& shape, std::uint64_t seed) {
    return {shape,
            this->where.upload(random_vector<value_type>(static_cast<std::int64_t>(shape.extent), seed))};
  }
  device_vector<value_type> poisoned_solution(const layout& shape) {
    return {shape, this->where.upload(poisoned<value_type>(shape.extent))};
  }
};

}  // namespace sptrsv::testing
