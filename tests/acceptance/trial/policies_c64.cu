// All kernels of the GPU policies for std::complex<float> with 32-bit indices and 64-bit offsets.
#include "policies_of.cuh"

namespace sptrsv_trial {

template <>
const std::vector<policy_pointer<c64>>& all_policies<c64>() {
  static const auto all = make_policies<c64>(sptrsv_common::device_policies{});
  return all;
}

}  // namespace sptrsv_trial
