// The contract of the host policies.
#include "contract/contract_suite.hpp"
#include "support/subjects/host.hpp"

namespace sptrsv::testing {

SPTRSV_TEST_CONTRACT(host_f32, host_policies<float>);
SPTRSV_TEST_CONTRACT(host_f64, host_policies<double>);

}  // namespace sptrsv::testing
