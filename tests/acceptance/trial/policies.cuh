// All forms of the GPU policies behind one interface. Only policies_f64.cu and policies_c64.cu compile their
// kernels.
#pragma once

#include <complex>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/any_solver.hpp"
#include "support/cases.hpp"
#include "support/gpu_target.cuh"
#include "trial.hpp"

namespace sptrsv_trial {

namespace support = sptrsv::testing;

/// The GPU can no longer be used by this process.
struct device_lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class gpu : public support::gpu_target {
 public:
  /// Waits for the stream. Returns the error that CUDA holds and clears it; empty if there is none. Throws
  /// device_lost if the error stays.
  std::string error() {
    cudaError_t status = cudaStreamSynchronize(stream());
    if (status == cudaSuccess) {
      status = cudaGetLastError();
    }
    if (status == cudaSuccess) {
      return {};
    }
    static_cast<void>(cudaGetLastError());
    if (cudaStreamSynchronize(stream()) != cudaSuccess) {
      throw device_lost(std::string("the GPU is lost: ") + cudaGetErrorString(status));
    }
    return cudaGetErrorString(status);
  }
};

using f64 = support::case_types<gpu, double, std::int32_t, std::int32_t>;
using c64 = support::case_types<gpu, std::complex<float>, std::int32_t, std::int64_t>;

template <class Types>
using policy_pointer = const support::tested_policy<Types>*;

/// Returns all forms of all GPU policies. They live to the end of the process.
template <class Types>
const std::vector<policy_pointer<Types>>& all_policies();
template <>
const std::vector<policy_pointer<f64>>& all_policies<f64>();
template <>
const std::vector<policy_pointer<c64>>& all_policies<c64>();

/// Returns whether the options choose a form. `name`: with its types.
template <class Types>
bool is_chosen(const trial_options& options, const std::string& name) {
  bool chosen = options.policies.empty();
  for (const std::string& given : options.policies) {
    chosen = chosen || given == name || given + "_" + Types::name() == name;
  }
  return chosen;
}

/// Returns the forms that the options choose.
template <class Types>
std::vector<policy_pointer<Types>> chosen_policies(const trial_options& options) {
  std::vector<policy_pointer<Types>> chosen;
  for (const policy_pointer<Types> policy : all_policies<Types>()) {
    if (is_chosen<Types>(options, policy->case_name)) {
      chosen.push_back(policy);
    }
  }
  return chosen;
}

/// Calls `visit(policy)` for each form that the options choose, of all types.
template <class Visit>
void for_each_policy(const trial_options& options, Visit visit) {
  for (const policy_pointer<f64> policy : chosen_policies<f64>(options)) {
    visit(*policy);
  }
  for (const policy_pointer<c64> policy : chosen_policies<c64>(options)) {
    visit(*policy);
  }
}

}  // namespace sptrsv_trial
