// The policies that can be measured, in all their forms, by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/policy_forms.hpp"
#ifdef __CUDACC__
#include "sptrsv/policy/cusparse.hpp"
#endif

namespace sptrsv_benchmarks {

namespace support = sptrsv_examples;

#ifdef __CUDACC__
/// cuSPARSE as its users call it: without the checks and the watching that this library puts around it.
inline support::policy_form<sptrsv::policy::cusparse> plain_cusparse() {
  support::policy_form<sptrsv::policy::cusparse> form{sptrsv::policy::cusparse::name, "the vendor's solver"};
  form.policy.validate = false;
  form.policy.watch = false;
  return form;
}
#endif

/// What the others are compared with, if it is measured.
inline const char* baseline_name(bool has_gpu) { return has_gpu ? "cusparse" : "host_serial"; }

/// Calls `visit(form)` for each that is compiled for these types.
template <class Value, class Index, class Visit>
void for_each_bench_form(Visit visit) {
#ifdef __CUDACC__
  visit(plain_cusparse());
#endif
  support::for_each_form<Value, Index>(visit);
}

/// All of them: no types have more than these.
inline std::vector<support::form_entry> bench_forms() {
  std::vector<support::form_entry> forms;
  for_each_bench_form<double, std::int32_t>(
      [&](const auto& form) { forms.push_back(support::entry_of(form)); });
  return forms;
}

inline std::string bench_form_names() {
  std::string names;
  for (const support::form_entry& form : bench_forms()) {
    names += (names.empty() ? "" : ", ") + form.name;
  }
  return names;
}

/// The forms that are meant by the names given to --policies: none means each policy of the GPU in its
/// default form (of the host where there is no GPU), "all" all forms there. Throws support::usage_error for a
/// name that no form has, or one that needs a GPU where there is none.
inline std::vector<std::string> choose_forms(const std::vector<std::string>& names, bool has_gpu) {
  const std::vector<support::form_entry> known = bench_forms();
  std::vector<std::string> chosen;
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    for (const support::form_entry& form : known) {
      if (form.on_host != has_gpu && (form.is_default || !names.empty())) {
        chosen.push_back(form.name);
      }
    }
    return chosen;
  }
  for (const std::string& name : names) {
    const auto form = std::find_if(known.begin(), known.end(),
                                   [&](const support::form_entry& entry) { return entry.name == name; });
    if (form == known.end()) {
      throw support::usage_error("this build has no policy '" + name + "', it has " + bench_form_names());
    }
    if (!form->on_host && !has_gpu) {
      throw support::usage_error("the policy " + name + " needs a GPU, and there is none");
    }
    chosen.push_back(name);
  }
  return chosen;
}

inline bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether one of the forms computes on the host.
inline bool any_on_host(const std::vector<std::string>& names) {
  const std::vector<support::form_entry> known = bench_forms();
  return std::any_of(known.begin(), known.end(), [&](const support::form_entry& form) {
    return form.on_host && is_one_of(form.name, names);
  });
}

}  // namespace sptrsv_benchmarks
