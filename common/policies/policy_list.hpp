// The policies that programs offer by name.
#pragma once

#include <string>
#include <vector>

#include "common/command_line/arguments.hpp"
#include "common/measurement/placement.hpp"
#include "sptrsv/policy.hpp"

namespace sptrsv_common {

/// A list of types of policies.
template <class... Policies>
struct policy_list {};

template <class... First, class... Second>
policy_list<First..., Second...> joined(policy_list<First...>, policy_list<Second...>);

/// The policies of the GPU; the first one is the default. To offer another policy, add a line here.
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
                                    sptrsv::policy::row_block,         //
                                    sptrsv::policy::supernodal>;
/// The policies of the host; the first one is the default.
using host_policies = policy_list<sptrsv::policy::host_parallel, sptrsv::policy::host_serial>;

/// The policies of this build. The policies of the GPU need nvcc.
#ifdef __CUDACC__
using all_policies = decltype(joined(device_policies{}, host_policies{}));
#else
using all_policies = host_policies;
#endif

template <class First, class... Rest>
std::string first_name(policy_list<First, Rest...>) {
  return First::name;
}
/// Returns the name of the default policy of a side.
inline std::string default_policy(bool on_host) {
  return on_host ? first_name(host_policies{}) : first_name(device_policies{});
}

/// Calls `visit(policy)` for each policy of the list.
template <class... Policies, class Visit>
void for_each_policy(policy_list<Policies...>, Visit visit) {
  (visit(Policies{}), ...);
}

/// Returns whether this build has a policy of this name.
inline bool has_policy(const std::string& name) {
  bool found = false;
  for_each_policy(all_policies{}, [&](auto policy) { found = found || name == decltype(policy)::name; });
  return found;
}

/// Returns the names of all policies of this build, separated by commas.
inline std::string policy_names() {
  std::vector<std::string> names;
  for_each_policy(all_policies{}, [&](auto policy) { names.push_back(decltype(policy)::name); });
  return joined_names(names);
}

}  // namespace sptrsv_common
