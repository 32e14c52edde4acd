// The policies that programs offer by name.
#pragma once

#include <algorithm>
#include <string>

#include "common/command_line/arguments.hpp"
#include "sptrsv/detail/any_solver/policy_list.hpp"

namespace sptrsv_common {

using sptrsv::detail::all_policies;
using sptrsv::detail::device_policies;
using sptrsv::detail::for_each_policy;
using sptrsv::detail::host_policies;
using sptrsv::detail::policy_list;

/// Returns the name of the default policy of a side.
inline std::string default_policy(bool on_host) {
  return on_host ? names_of(host_policies{}).front() : names_of(device_policies{}).front();
}

/// Returns whether this build has a policy of this name.
inline bool has_policy(const std::string& name) {
  const auto names = names_of(all_policies{});
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the names of all policies of this build, separated by commas.
inline std::string policy_names() { return joined_names(names_of(all_policies{})); }

}  // namespace sptrsv_common
