// All kernels of the GPU policies for double with 32-bit indices and offsets.
#include "policies_of.cuh"

namespace sptrsv_trial {

template <>
const std::vector<policy_pointer<f64>>& all_policies<f64>() {
  using namespace sptrsv_common;
  static const auto all = make_policies<f64>(decltype(joined(device_policies{}, tuned_device_policies{})){});
  return all;
}

}  // namespace sptrsv_trial
