// The device policies in the emulator, for double: the contract, random systems, and hostile schedules.
#include "contract/contract_suite.hpp"
#include "contract/random_suite.hpp"
#include "contract/schedule_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, double>;
SPTRSV_TEST_CONTRACT(emulator_f64, emulated);
SPTRSV_TEST_POLICIES(emulator_f64, random_systems, emulated);
SPTRSV_TEST_POLICIES(emulator_f64, schedules, emulated);

}  // namespace sptrsv::testing
