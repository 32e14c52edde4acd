// The contract of the device policies, in the emulator, for double.
#include "solver/contract_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, double>;
SPTRSV_TEST_CONTRACT(emulator_f64, emulated);

}  // namespace sptrsv::testing
