// Lower triangles in supernodal panels in the emulator.
#include "contract/supernodal_matrix_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(emulator, supernodal_matrices, supernodal_matrix_types<emulator_target>,
                               type_names);

}  // namespace sptrsv::testing
