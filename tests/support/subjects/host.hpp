// Policies of the host under test.
#pragma once

#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "support/cases.hpp"

namespace sptrsv::testing {

struct host_serial : subject<policy::host_serial> {
  static constexpr const char* name = "host_serial";
};
struct host_parallel : subject<policy::host_parallel> {
  static constexpr const char* name = "host_parallel";
};
struct host_parallel_1 : subject<policy::host_parallel> {
  static constexpr const char* name = "host_parallel_1";
  static policy_type make() { return {1}; }
};
struct host_parallel_3 : subject<policy::host_parallel> {
  static constexpr const char* name = "host_parallel_3";
  static policy_type make() { return {3}; }
};

/// The host policies with one value type.
template <class Value>
using host_policies = case_list<suite_case<host_target, host_serial, Value, std::int32_t, std::int32_t>,
                                suite_case<host_target, host_serial, Value, std::int64_t, std::int64_t>,
                                suite_case<host_target, host_serial, Value, std::int32_t, std::int64_t>,
                                suite_case<host_target, host_parallel_3, Value, std::int32_t, std::int32_t>,
                                suite_case<host_target, host_parallel_3, Value, std::int64_t, std::int64_t>,
                                suite_case<host_target, host_parallel_3, Value, std::int32_t, std::int64_t>,
                                suite_case<host_target, host_parallel, Value, std::int32_t, std::int32_t>,
                                suite_case<host_target, host_parallel_1, Value, std::int32_t, std::int64_t>>;

}  // namespace sptrsv::testing
