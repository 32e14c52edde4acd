// The device policies in the emulator, for float: the contract, random systems, and bad input.
#include "contract/bad_input_suite.hpp"
#include "contract/contract_suite.hpp"
#include "contract/random_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, float>;
SPTRSV_TEST_CONTRACT(emulator_f32, emulated);
SPTRSV_TEST_POLICIES(emulator_f32, random_systems, emulated);
SPTRSV_TEST_POLICIES(emulator_f32, bad_input, emulated);
SPTRSV_TEST_POLICIES(emulator_f32, host_memory_for_a_device_policy, emulated);

}  // namespace sptrsv::testing
