// SPDX-License-Identifier: Apache-2.0
// The policies that a program offers by name: the one list of them, and their options as text.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/base/name_table.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/policy.hpp"
#include "sptrsv/scheme/text.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// A list of types of policies.
template <class... Policies>
struct policy_list {};

template <class... First, class... Second>
policy_list<First..., Second...> joined(policy_list<First...>, policy_list<Second...>);

/// The policies of the GPU; the first one is the default. To offer another policy, add a line here, and its
/// options to for_each_option().
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

/// The names of the values of an option.
constexpr auto names_of_values(bool) { return switch_names; }
constexpr auto names_of_values(policy::row_order o) { return names_in_order(o, "natural", "levels"); }
constexpr auto names_of_values(policy::orientation o) { return names_in_order(o, "rows", "columns"); }
constexpr auto names_of_values(policy::level_launches o) { return names_in_order(o, "fused", "separate"); }
constexpr auto names_of_values(policy::warp_form o) { return names_in_order(o, "one_row", "rows_by_length"); }
constexpr auto names_of_values(policy::thread_form o) {
  return names_in_order(o, "writing_first", "two_phase");
}
constexpr auto names_of_values(policy::dataflow_path o) {
  return names_in_order(o, "automatic", "row_per_thread", "partitioned", "single_block", "hybrid",
                        "natural_blocks");
}
constexpr auto names_of_values(policy::block_selector o) { return names_in_order(o, "fitted", "paper"); }
constexpr auto names_of_values(policy::triangle_kernel o) {
  return names_in_order(o, "chosen", "by_levels", "sync_free", "serial");
}
constexpr auto names_of_values(policy::square_kernel o) {
  return names_in_order(o, "chosen", "scalar_csr", "vector_csr", "scalar_dcsr", "vector_dcsr");
}

/// Calls `visit(name, member_of(policy))` if the policy has this member.
template <class Policy, class MemberOf, class Visit>
void visit_option(Policy& policy, const char* name, const MemberOf& member_of, const Visit& visit) {
  if constexpr (std::is_invocable_v<const MemberOf&, Policy&>) {
    visit(name, member_of(policy));
  }
}
#define SPTRSV_OPTION(member) \
  visit_option(               \
      p, #member, [](auto& of) -> decltype((of.member)) { return of.member; }, visit)

/// Calls `visit(name, member)` for each option of a policy; the name is that of the member. The order is that
/// of the members. A policy that has an option of another name adds it here.
template <class Policy, class Visit>
void for_each_option(Policy& p, Visit visit) {
  SPTRSV_OPTION(workers);
  SPTRSV_OPTION(by);
  SPTRSV_OPTION(path);
  SPTRSV_OPTION(order);
  SPTRSV_OPTION(form);
  SPTRSV_OPTION(launches);
  SPTRSV_OPTION(partitions);
  SPTRSV_OPTION(exact_order);
  SPTRSV_OPTION(max_growth);
  SPTRSV_OPTION(max_fill);
  SPTRSV_OPTION(shape);
  SPTRSV_OPTION(row_per_thread_levels);
  SPTRSV_OPTION(run_levels);
  SPTRSV_OPTION(blocks);
  SPTRSV_OPTION(selector);
  SPTRSV_OPTION(triangle);
  SPTRSV_OPTION(square);
  const auto visit_kernels = [&](const char*, auto& kernels) { for_each_option(kernels, visit); };
  visit_option(
      p, "", [](auto& of) -> decltype((of.kernels)) { return of.kernels; }, visit_kernels);
}
#undef SPTRSV_OPTION
template <class Visit>
void for_each_option(policy::automatic<>& p, Visit visit) {
  for_each_option(std::get<0>(p.candidates), visit);
}

/// Sets a member from a text. Returns what the text must be instead; empty if the member was set.
template <class T>
std::string set_option(T& member, std::string_view text) {
  if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
    return names_of_values(T{}).set(member, text);
  } else {
    return read_number(text, member) ? "" : std::is_integral_v<T> ? "an integer" : "a number";
  }
}

/// Sets the members that `settings` name. Throws `error` with errc::invalid_argument for an option that the
/// policy does not have, that is given twice, or whose value it does not take.
template <class Policy>
void set_options(Policy& policy, const std::vector<std::string>& settings) {
  const std::string problem = set_members(
      settings, [&](const auto& visit) { for_each_option(policy, visit); },
      [](auto& member, std::string_view text) { return set_option(member, text); });
  SPTRSV_EXPECTS(problem.empty(), errc::invalid_argument, "the policy ", Policy::name, " ", problem);
}
/// The options of scheme are the settings of a scheme, as parse_scheme takes them.
template <class Tuning>
void set_options(policy::basic_scheme<Tuning>& policy, const std::vector<std::string>& settings) {
  if (!settings.empty()) {
    policy.use = schemes::scheme_of(settings);
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail
