// The device policies in the emulator, for std::complex<double>: the contract, random systems, and the memory
// of solvers.
#include "contract/contract_suite.hpp"
#include "contract/random_suite.hpp"
#include "contract/resource_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using emulated = device_policies<emulator_target, std::complex<double>>;
SPTRSV_TEST_CONTRACT(emulator_c128, emulated);
SPTRSV_TEST_POLICIES(emulator_c128, random_systems, emulated);
SPTRSV_TEST_POLICIES(emulator_c128, resources, emulated);

}  // namespace sptrsv::testing
