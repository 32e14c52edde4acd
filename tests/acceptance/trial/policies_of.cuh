// The forms of common/policies as policies for the suites: compiles all kernels of the GPU policies.
#pragma once

#include <deque>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/policies/policy_forms.hpp"
#include "policies.cuh"

namespace sptrsv_trial {

/// A form of a policy.
template <class Types, class Policy>
class form_policy final : public support::tested_policy_of<Types, Policy> {
 public:
  explicit form_policy(const sptrsv_common::policy_form<Policy>& form)
      : support::tested_policy_of<Types, Policy>(form.policy) {
    this->case_name = form.name + "_" + Types::name();
    this->may_refuse = form.may_refuse;
    this->growth = form.growth;
  }
};

/// Returns all forms of the policies of a list.
template <class Types, class... Policies>
std::vector<const support::tested_policy<Types>*> make_policies(
    sptrsv_common::policy_list<Policies...> list) {
  static std::deque<std::unique_ptr<support::tested_policy<Types>>> owned;
  std::vector<const support::tested_policy<Types>*> made;
  sptrsv_common::for_each_form(list, [&](const auto& form) {
    using policy = std::decay_t<decltype(form.policy)>;
    owned.push_back(std::make_unique<form_policy<Types, policy>>(form));
    made.push_back(owned.back().get());
  });
  return made;
}

}  // namespace sptrsv_trial
