// The baseline cuSPARSE as a subject of the suites.
#pragma once

#include "common/cusparse/policy.hpp"
#include "gpu/gpu_fixture.cuh"

namespace sptrsv::testing {

struct cusparse : subject<sptrsv_common::cusparse::policy> {
  static constexpr const char* name = "cusparse";
};
struct cusparse_row_major : subject<sptrsv_common::cusparse::policy> {
  static constexpr const char* name = "cusparse_row_major";
  static policy_type make() {
    policy_type policy;
    policy.layout = sptrsv_common::cusparse::rhs_layout::row_major;
    return policy;
  }
};
/// cuSPARSE on the arrays of A: its own analysis, and its transposed solves.
struct cusparse_as_stored : subject<sptrsv_common::cusparse::policy> {
  static constexpr const char* name = "cusparse_as_stored";
  static policy_type make() {
    policy_type policy;
    policy.validate = false;
    return policy;
  }
};
/// The policy as benchmarks use it.
struct cusparse_bare : subject<sptrsv_common::cusparse::policy> {
  static constexpr const char* name = "cusparse_bare";
  static policy_type make() {
    policy_type policy;
    policy.validate = false;
    policy.watch = false;
    return policy;
  }
};

/// The index types that cuSPARSE takes, for each value type.
template <class Value, class... Subjects>
using cusparse_cases = case_list<suite_case<gpu_target, Subjects, Value, std::int32_t, std::int32_t>...,
                                 suite_case<gpu_target, Subjects, Value, std::int64_t, std::int64_t>...>;

}  // namespace sptrsv::testing
