// The contract of the host policies, for complex numbers.
#include "contract/contract_suite.hpp"
#include "support/subjects/host.hpp"

namespace sptrsv::testing {

SPTRSV_TEST_CONTRACT(host_c64, host_policies<std::complex<float>>);
SPTRSV_TEST_CONTRACT(host_c128, host_policies<std::complex<double>>);

}  // namespace sptrsv::testing
