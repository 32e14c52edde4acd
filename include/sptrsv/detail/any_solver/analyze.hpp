// SPDX-License-Identifier: Apache-2.0
// The analyses that take their policy, the method of a factorisation, or the side at run time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sptrsv/any/any_policy.hpp"
#include "sptrsv/batched.hpp"
#include "sptrsv/detail/any_solver/policy_list.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

// All functions here are templates over the build, because a program may have translation units of nvcc and
// of another compiler, in which their definitions differ.

/// Returns whether this build computes on the device for a matrix whose offsets are there.
template <class Build>
bool is_on_device([[maybe_unused]] const void* offsets) {
#ifdef __CUDACC__
  // Memory of another GPU, too: then the analysis says so.
  return offsets != nullptr &&
         (cuda_executor::is_device_only_memory(offsets) || cuda_executor::why_unreachable(offsets).empty());
#else
  return false;
#endif
}

template <class Build>
std::vector<std::string> any_policy_names() {
  return names_of(all_policies{});
}

/// The end of the message about an unknown policy: it names the reason if this build has no policies of the
/// GPU.
#ifdef __CUDACC__
inline constexpr const char* without_cuda = "";
#else
inline constexpr const char* without_cuda =
    "; this build has no CUDA, which those of the GPU need: build the library where nvcc is";
#endif

/// Returns what `analyze_by(policy, stream)` returns for the policy that the text names, its options set.
/// `offsets`: of the matrix, whose memory decides if the text names none.
template <class Build, class Any, class AnalyzeBy>
Any analyze_by_name(const any_policy& policy, const void* offsets, stream_handle stream,
                    const AnalyzeBy& analyze_by) {
  std::vector<std::string> settings = words_of(policy.text());
  if (settings.empty()) {
    settings.push_back(is_on_device<Build>(offsets) ? names_of(device_policies{}).front()
                                                    : names_of(host_policies{}).front());
  }
  const std::string own_name = settings.front();
  settings.erase(settings.begin());
  std::optional<Any> made;
  std::string names;
  for_each_policy(all_policies{}, [&](auto chosen) {
    names += (names.empty() ? "" : ", ") + std::string(decltype(chosen)::name);
    if (own_name == decltype(chosen)::name) {
      set_options(chosen, settings);
      made.emplace(analyze_by(chosen, stream_as<typename decltype(chosen)::default_stream>(stream)));
    }
  });
  SPTRSV_EXPECTS(made.has_value(), errc::invalid_argument, "there is no policy '", own_name,
                 "'; the policies are ", names, without_cuda);
  return std::move(*made);
}

template <class Build, class View>
any_of<any_solver, View> analyze_any(const any_policy& policy, const View& a, const system_options& options,
                                     stream_handle stream, memory_resource* resource) {
  return analyze_by_name<Build, any_of<any_solver, View>>(
      policy, pattern_of(a).offsets, stream,
      [&](const auto& chosen, auto own) { return analyze(chosen, a, options, own, resource); });
}

#ifdef __CUDACC__
/// Returns whether a triangle in device memory is a complete factor with wide supernodes. Synchronises.
/// Throws what an analysis throws for sizes and arrays.
template <class View>
bool suits_supernodal(const View& a, const triangular_factor& factor, stream_handle stream,
                      memory_resource* resource) {
  const system_options options{factor.part, factor.diagonal, factor.operation, 1};
  const auto pattern = pattern_of(a);
  check_shape<typename View::value_type>(a.rows, a.columns, pattern, options);
  check_spaces<cuda_executor>(pattern, policy::automatic<>::name);
  const cuda_executor on(stream);
  return !on.is_capturing() &&
         automatic::has_wide_supernodes(pattern, triangle_form(options, pattern.by_columns), on,
                                        resource_or_default(resource, on));
}
#endif

/// Without a policy, complete factors on the device whose supernodes are wide take supernodal.
template <class Build, class View>
any_of<any_factors, View> analyze_any_factors(const any_policy& policy, const View& first, const View* second,
                                              const factors_options_of<View>& options, stream_handle stream,
                                              memory_resource* resource) {
#ifdef __CUDACC__
  if (words_of(policy.text()).empty() && is_on_device<Build>(pattern_of(first).offsets) &&
      suits_supernodal(first, options.first, stream, resource) &&
      suits_supernodal(second == nullptr ? first : *second, options.second, stream, resource)) {
    return analyze_any_factors<Build>(any_policy(policy::supernodal::name), first, second, options, stream,
                                      resource);
  }
#endif
  return analyze_by_name<Build, any_of<any_factors, View>>(
      policy, pattern_of(first).offsets, stream, [&](const auto& chosen, auto own) {
        return second == nullptr ? analyze_factors(chosen, first, options, own, resource)
                                 : analyze_factors(chosen, first, *second, options, own, resource);
      });
}

/// Calls `analyze_on(stream, resource)` with the stream of the side whose memory holds the offsets.
template <class Build, class Analyze>
auto on_side_of([[maybe_unused]] const void* offsets, [[maybe_unused]] stream_handle stream,
                const Analyze& analyze_on) {
#ifdef __CUDACC__
  if (is_on_device<Build>(offsets)) {
    return analyze_on(stream);
  }
#endif
  return analyze_on(host_stream{});
}

template <class Build, class View>
any_of<any_incomplete, View> analyze_any_incomplete(incomplete_method method, const View& a,
                                                    const incomplete_options& options, stream_handle stream,
                                                    memory_resource* resource) {
  return on_side_of<Build>(pattern_of(a).offsets, stream, [&](auto own) {
    using made = any_of<any_incomplete, View>;
    return method == incomplete_method::lu ? made(analyze_incomplete_lu(a, options, own, resource))
                                           : made(analyze_incomplete_cholesky(a, options, own, resource));
  });
}

template <class Build, class View>
any_of<any_batch, View> analyze_any_batch(const View& a, span<const typename View::value_type> values,
                                          const batch_options& batch, const system_options& options,
                                          stream_handle stream, memory_resource* resource) {
  return on_side_of<Build>(pattern_of(a).offsets, stream, [&](auto own) {
    return any_of<any_batch, View>(analyze_batch(a, values, batch, options, own, resource));
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail
