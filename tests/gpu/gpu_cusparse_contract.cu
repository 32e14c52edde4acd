// The contract for the policy cusparse, without the suite `ieee`: cuSPARSE does not document its results for
// zero pivots and NaN.
#include "contract/bad_input_suite.hpp"
#include "contract/contract_lifetime.hpp"
#include "contract/contract_rhs.hpp"
#include "contract/contract_solves.hpp"
#include "gpu/gpu_cusparse.cuh"

namespace sptrsv::testing {

using cusparse_f32 = cusparse_cases<float, cusparse>;
using cusparse_f64 = cusparse_cases<double, cusparse>;
using cusparse_c64 = cusparse_cases<std::complex<float>, cusparse>;
using cusparse_c128 = cusparse_cases<std::complex<double>, cusparse>;
SPTRSV_TEST_POLICIES(cusparse_f32, solves, cusparse_f32);
SPTRSV_TEST_POLICIES(cusparse_f64, solves, cusparse_f64);
SPTRSV_TEST_POLICIES(cusparse_c64, solves, cusparse_c64);
SPTRSV_TEST_POLICIES(cusparse_c128, solves, cusparse_c128);
SPTRSV_TEST_POLICIES(cusparse_f64, lifetimes, cusparse_f64);
SPTRSV_TEST_POLICIES(cusparse_c64, lifetimes, cusparse_c64);
SPTRSV_TEST_POLICIES(cusparse_f64, bad_input, cusparse_f64);
SPTRSV_TEST_POLICIES(cusparse_f64, host_memory_for_a_device_policy, cusparse_f64);

using cusparse_both_layouts_f32 = cusparse_cases<float, cusparse, cusparse_row_major>;
using cusparse_both_layouts_f64 = cusparse_cases<double, cusparse, cusparse_row_major>;
using cusparse_both_layouts_c64 = cusparse_cases<std::complex<float>, cusparse, cusparse_row_major>;
using cusparse_both_layouts_c128 = cusparse_cases<std::complex<double>, cusparse, cusparse_row_major>;
SPTRSV_TEST_POLICIES(cusparse_f32, right_hand_sides, cusparse_both_layouts_f32);
SPTRSV_TEST_POLICIES(cusparse_f64, right_hand_sides, cusparse_both_layouts_f64);
SPTRSV_TEST_POLICIES(cusparse_c64, right_hand_sides, cusparse_both_layouts_c64);
SPTRSV_TEST_POLICIES(cusparse_c128, right_hand_sides, cusparse_both_layouts_c128);

}  // namespace sptrsv::testing
