// SPDX-License-Identifier: Apache-2.0
// The policies that a program offers by name: the one list of them.
#pragma once

#include <string>
#include <vector>

#include "sptrsv/policy.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// A list of types of policies.
template <class... Policies>
struct policy_list {};

template <class... First, class... Second>
policy_list<First..., Second...> joined(policy_list<First...>, policy_list<Second...>);

/// The policies of the GPU; the first one is the default. To offer another policy, add a line here, and its
/// options to policy_options.hpp.
using device_policies = policy_list<policy::automatic<>,       //
                                    policy::sync_free_warp,    //
                                    policy::sync_free_thread,  //
                                    policy::sync_free_fused,   //
                                    policy::level_set,         //
                                    policy::dataflow,          //
                                    policy::self_scheduled,    //
                                    policy::scheme,            //
                                    policy::sync_free_column,  //
                                    policy::recursive_block,   //
                                    policy::column_block,      //
                                    policy::row_block,         //
                                    policy::supernodal>;
/// The policies of the host; the first one is the default.
using host_policies = policy_list<policy::host_parallel, policy::host_serial>;

/// The policies of this build. The policies of the GPU need nvcc.
#ifdef __CUDACC__
using all_policies = decltype(joined(device_policies{}, host_policies{}));
#else
using all_policies = host_policies;
#endif

/// Calls `visit(policy)` for each policy of the list.
template <class... Policies, class Visit>
void for_each_policy(policy_list<Policies...>, Visit visit) {
  (visit(Policies{}), ...);
}

/// Returns the names of the policies of a list.
template <class... Policies>
std::vector<std::string> names_of(policy_list<Policies...>) {
  return {Policies::name...};
}

}  // namespace sptrsv::SPTRSV_ABI::detail
