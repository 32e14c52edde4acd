// Incomplete factorisations in single precision, on the host and in the emulator.
#include "contract/incomplete_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(host_single, incomplete, incomplete_single_types<host_target>, type_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator_single, incomplete, incomplete_single_types<emulator_target>,
                               type_names);

}  // namespace sptrsv::testing
