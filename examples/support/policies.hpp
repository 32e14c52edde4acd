// The policies that a program offers by name.
#pragma once

#include <string>

#include "placement.hpp"
#include "sptrsv/policy.hpp"

namespace sptrsv_examples {

template <class... Policies>
struct policy_list {};

template <class... First, class... Second>
policy_list<First..., Second...> joined(policy_list<First...>, policy_list<Second...>);

/// A new policy is one line here. The first of each side is its default.
using device_policies = policy_list<sptrsv::policy::automatic<>,       //
                                    sptrsv::policy::sync_free_warp,    //
                                    sptrsv::policy::sync_free_thread,  //
                                    sptrsv::policy::sync_free_fused,   //
                                    sptrsv::policy::level_set,         //
                                    sptrsv::policy::dataflow,          //
                                    sptrsv::policy::self_scheduled,    //
                                    sptrsv::policy::scheme,            //
                                    sptrsv::policy::sync_free_column,  //
                                    sptrsv::policy::recursive_block,   //
                                    sptrsv::policy::column_block,      //
                                    sptrsv::policy::row_block>;
using host_policies = policy_list<sptrsv::policy::host_parallel, sptrsv::policy::host_serial>;

/// Those of the GPU need nvcc.
#ifdef __CUDACC__
using all_policies = decltype(joined(device_policies{}, host_policies{}));
#else
using all_policies = host_policies;
#endif

template <class First, class... Rest>
std::string first_name(policy_list<First, Rest...>) {
  return First::name;
}
inline std::string default_policy(bool on_host) {
  return on_host ? first_name(host_policies{}) : first_name(device_policies{});
}

/// Calls `visit(policy)` for each of the list.
template <class... Policies, class Visit>
void for_each_policy(policy_list<Policies...>, Visit visit) {
  (visit(Policies{}), ...);
}

inline bool has_policy(const std::string& name) {
  bool found = false;
  for_each_policy(all_policies{}, [&](auto policy) { found = found || name == decltype(policy)::name; });
  return found;
}

inline std::string policy_names() {
  std::string names;
  for_each_policy(all_policies{}, [&](auto policy) {
    names += (names.empty() ? "" : ", ") + std::string(decltype(policy)::name);
  });
  return names;
}

}  // namespace sptrsv_examples
