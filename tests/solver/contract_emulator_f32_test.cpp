// The contract of the device policies, in the emulator, for float.
#include "solver/contract_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, float>;
SPTRSV_TEST_CONTRACT(emulator_f32, emulated);

}  // namespace sptrsv::testing
