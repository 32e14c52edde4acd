// The policies that can be measured, in all their forms, by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/policies/policy_forms.hpp"
#ifdef __CUDACC__
#include "common/cusparse/policy.hpp"
#endif

namespace sptrsv_benchmarks {

namespace common = sptrsv_common;

#ifdef __CUDACC__
/// Returns cuSPARSE as its users call it, without the checks of the pattern and of the solution that this
/// library adds.
inline common::policy_form<common::cusparse::policy> plain_cusparse() {
  common::policy_form<common::cusparse::policy> form{common::cusparse::policy::name,
                                                     "the solver of cuSPARSE"};
  form.policy.validate = false;
  form.policy.watch = false;
  return form;
}
#endif

/// Returns the name of the policy with which the others are compared if it is measured.
inline const char* baseline_name(bool has_gpu) { return has_gpu ? "cusparse" : "host_serial"; }

/// Calls `visit(form)` for each form that is compiled for these types.
template <class Value, class Index, class Visit>
void for_each_bench_form(Visit visit) {
#ifdef __CUDACC__
  visit(plain_cusparse());
#endif
  common::for_each_form<Value, Index>(visit);
}

/// Returns all forms. The types double and int32_t have all of them.
inline std::vector<common::form_entry> bench_forms() {
  std::vector<common::form_entry> forms;
  for_each_bench_form<double, std::int32_t>(
      [&](const auto& form) { forms.push_back(common::entry_of(form)); });
  return forms;
}

inline bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns whether one of the forms with these names solves on the host.
inline bool any_on_host(const std::vector<std::string>& names) {
  const std::vector<common::form_entry> known = bench_forms();
  return std::any_of(known.begin(), known.end(), [&](const common::form_entry& form) {
    return form.on_host && is_one_of(form.name, names);
  });
}

}  // namespace sptrsv_benchmarks
