// The contract of the device policies, in the emulator, for std::complex<float>.
#include "solver/contract_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, std::complex<float>>;
SPTRSV_TEST_CONTRACT(emulator_c64, emulated);

}  // namespace sptrsv::testing
