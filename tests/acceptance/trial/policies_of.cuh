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
class form_policy final : public support::tested_policy<Types> {
  using base = support::tested_policy<Types>;
  using typename base::csc;
  using typename base::csr;
  using typename base::stream_type;
  using solver = support::any_solver<Types>;

 public:
  explicit form_policy(const sptrsv_common::policy_form<Policy>& form) : policy_(form.policy) {
    this->case_name = form.name + "_" + Types::name();
    this->policy_name = Policy::name;
    this->may_refuse = form.may_refuse;
    this->growth = form.growth;
  }
  solver analyze(const csr& a, const sptrsv::system_options& options, stream_type stream,
                 sptrsv::memory_resource* resource) const override {
    return solver::holding([&] { return sptrsv::analyze(policy_, a, options, stream, resource); });
  }
  solver analyze(const csc& a, const sptrsv::system_options& options, stream_type stream,
                 sptrsv::memory_resource* resource) const override {
    return solver::holding([&] { return sptrsv::analyze(policy_, a, options, stream, resource); });
  }

 private:
  Policy policy_;
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
