// The device policies in the emulator, for double: the contract, random systems, hostile schedules, and the
// memory of an analysis.
#include "contract/analysis_memory_suite.hpp"
#include "contract/contract_suite.hpp"
#include "contract/random_suite.hpp"
#include "contract/schedule_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, double>;
SPTRSV_TEST_CONTRACT(emulator_f64, emulated);
SPTRSV_TEST_POLICIES(emulator_f64, random_systems, emulated);
SPTRSV_TEST_POLICIES(emulator_f64, schedules, emulated);
SPTRSV_TEST_POLICIES(emulator_f64, analysis_memory, emulated);

}  // namespace sptrsv::testing
