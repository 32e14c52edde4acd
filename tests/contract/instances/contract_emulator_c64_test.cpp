// The device policies in the emulator, for std::complex<float>: the contract, random systems, and hostile
// schedules.
#include "contract/contract_suite.hpp"
#include "contract/random_suite.hpp"
#include "contract/schedule_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, std::complex<float>>;
SPTRSV_TEST_CONTRACT(emulator_c64, emulated);
SPTRSV_TEST_POLICIES(emulator_c64, random_systems, emulated);
SPTRSV_TEST_POLICIES(emulator_c64, schedules, emulated);

}  // namespace sptrsv::testing
