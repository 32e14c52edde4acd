// analyze() with a policy that is chosen at run time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sptrsv/any_policy.hpp"
#include "sptrsv/detail/any_solver/policy_list.hpp"
#include "sptrsv/detail/any_solver/policy_options.hpp"

namespace sptrsv::detail {

/// Returns the name of the policy that solves if the user names none: by the memory that the matrix is in.
inline std::string default_name([[maybe_unused]] const void* offsets) {
#ifdef __CUDACC__
  if (cuda_executor::can_access(offsets)) {
    return first_name(device_policies{});
  }
#endif
  return first_name(host_policies{});
}

/// The functions are templates over the build so that a program may have translation units of nvcc and of
/// another compiler, whose policies differ.
template <class Build>
std::vector<std::string> any_policy_names() {
  std::vector<std::string> names;
  for_each_policy(all_policies{}, [&](auto policy) { names.emplace_back(decltype(policy)::name); });
  return names;
}

template <class Build, class View>
any_solver<typename View::value_type, typename View::index_type, typename View::offset_type> analyze_any(
    const any_policy& policy, const View& a, const system_options& options, stream_handle stream,
    memory_resource* resource) {
  policy_text text(policy.text());
  if (text.name.empty()) {
    text.name = default_name(pattern_of(a).offsets);
  }
  SPTRSV_EXPECTS(has_name(all_policies{}, text.name), errc::invalid_argument,
                 "there is no policy '" + text.name + "'; the policies are " + names_of(all_policies{}));
  std::optional<any_solver<typename View::value_type, typename View::index_type, typename View::offset_type>>
      made;
  for_each_policy(all_policies{}, [&](auto chosen) {
    using policy_type = decltype(chosen);
    if (text.name == policy_type::name) {
      set_options(chosen, text.settings);
      if constexpr (std::is_same_v<typename policy_type::default_stream, host_stream>) {
        made.emplace(analyze(chosen, a, options, host_stream{}, resource));
      } else {
        made.emplace(analyze(chosen, a, options, stream, resource));
      }
    }
  });
  return std::move(*made);
}

}  // namespace sptrsv::detail
