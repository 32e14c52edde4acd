// The contract of the device policies, in the emulator, for std::complex<double>.
#include "solver/contract_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, std::complex<double>>;
SPTRSV_TEST_CONTRACT(emulator_c128, emulated);

}  // namespace sptrsv::testing
