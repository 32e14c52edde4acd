// The policies that can be measured.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "examples/support/policies.hpp"
#ifdef __CUDACC__
#include "sptrsv/policy/cusparse.hpp"
#endif

namespace sptrsv_benchmarks {

namespace support = sptrsv_examples;

#ifdef __CUDACC__
/// cuSPARSE as its users call it: without the checks and the watching that this library puts around it.
inline sptrsv::policy::cusparse plain_cusparse() {
  sptrsv::policy::cusparse policy;
  policy.validate = false;
  policy.watch = false;
  return policy;
}
#endif

/// What the others are compared with, if it is measured.
inline const char* baseline_name(bool has_gpu) { return has_gpu ? "cusparse" : "host_serial"; }

/// Calls `visit(policy)` for each.
template <class Visit>
void for_each_bench_policy(Visit visit) {
#ifdef __CUDACC__
  visit(plain_cusparse());
#endif
  support::for_each_policy(support::all_policies{}, visit);
}

/// Whether a policy is to be measured: the named ones, or, where none is named, those of the GPU if there is
/// one.
template <class Policy>
bool is_chosen(const Policy&, const std::vector<std::string>& names, bool has_gpu) {
  return names.empty() ? support::runs_on_host<Policy> != has_gpu
                       : std::find(names.begin(), names.end(), Policy::name) != names.end();
}

inline std::string bench_policy_names() {
  std::string names;
  for_each_bench_policy([&](const auto& policy) {
    names += (names.empty() ? "" : ", ") + std::string(std::decay_t<decltype(policy)>::name);
  });
  return names;
}

/// Throws support::usage_error for a name that no policy has, or one that needs a GPU where there is none.
inline void check_policy_names(const std::vector<std::string>& names, bool has_gpu) {
  for (const std::string& name : names) {
    bool known = false;
    for_each_bench_policy([&](const auto& policy) {
      using policy_type = std::decay_t<decltype(policy)>;
      if (name == policy_type::name) {
        known = true;
        if (!has_gpu && !support::runs_on_host<policy_type>) {
          throw support::usage_error("the policy " + name + " needs a GPU, and there is none");
        }
      }
    });
    if (!known) {
      throw support::usage_error("this build has no policy '" + name + "', it has " + bench_policy_names());
    }
  }
}

}  // namespace sptrsv_benchmarks
