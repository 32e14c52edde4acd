// Krylov methods in the emulator, in the types other than double.
#include "contract/krylov_suite.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

template <class Value>
using in_emulator = krylov_case<policy::sync_free_thread, emulator_target, Value>;
using krylov_types_cases =
    ::testing::Types<in_emulator<float>, in_emulator<std::complex<float>>, in_emulator<std::complex<double>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, krylov_suite, krylov_types_cases, krylov_case_names);

}  // namespace sptrsv::testing
