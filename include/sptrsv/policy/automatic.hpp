// SPDX-License-Identifier: Apache-2.0
// The policy automatic, the default, and analyze without a policy.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {
namespace policy {

template <class Tuning>
struct basic_supernodal;

}  // namespace policy

namespace detail {

/// These constants say whether a policy is dataflow, or supernodal, with any tuning.
template <class Policy>
inline constexpr bool is_dataflow = false;
template <class Tuning>
inline constexpr bool is_dataflow<policy::basic_dataflow<Tuning>> = true;
template <class Policy>
inline constexpr bool is_supernodal = false;
template <class Tuning>
inline constexpr bool is_supernodal<policy::basic_supernodal<Tuning>> = true;

}  // namespace detail

namespace policy {

/// The default policy. `automatic<>` is dataflow, the fastest of all policies that keep the order of
/// substitution. `automatic<dataflow, supernodal>` is for programs that also solve with complete factors: it
/// takes supernodal for those with wide supernodes, which may have a larger backward error (see
/// basic_supernodal), and dataflow for all other patterns.
///
/// - With two candidates, a sample of the pattern decides, which takes one short kernel. The analysis is then
///   that of the chosen candidate. The second candidate costs compile time.
/// - Any single policy may be the only candidate, also one of the host.
/// - Everything else is as with the chosen policy: the kernels, whether results repeat in every bit, what
///   `analyze` refuses. `info().chosen` is its name.
///
/// @tparam Candidates policies; none: dataflow.
template <class... Candidates>
struct automatic {
  static constexpr const char* name = "automatic";  ///< in solver_info and in messages
  /// A std::tuple of the candidates.
  using candidate_list = std::conditional_t<sizeof...(Candidates) == 0, std::tuple<dataflow>,  //
                                            std::tuple<Candidates...>>;
  static_assert(sizeof...(Candidates) <= 1 ||
                    (sizeof...(Candidates) == 2 && (detail::is_dataflow<Candidates> || ...) &&
                     (detail::is_supernodal<Candidates> || ...)),
                "policy::automatic takes one policy, or dataflow and supernodal");
  using first = std::tuple_element_t<0, candidate_list>;  ///< the first candidate
  /// Stream type of the solver: that of the candidates.
  using default_stream = typename first::default_stream;

  candidate_list candidates{};  ///< the candidates with their members
};

}  // namespace policy

/// Analyses `a` with the default policy, policy::automatic<>, on the GPU; see analyze with a policy
/// (sptrsv/solver.hpp).
///
/// @param a csr_view, csc_view, bsr_view or owning matrix in device memory.
/// @param options the system and the largest number of right-hand sides.
/// @param stream cudaStream_t; the function synchronises it.
/// @param resource source of device memory; null: the default of the stream's device.
/// @return the solver, a `solver<policy::automatic<>, Value, Index, Offset>`.
template <class Matrix, class Stream = stream_handle,
          class = decltype(detail::view_of(std::declval<const Matrix&>()))>
auto analyze(const Matrix& a, const system_options& options = {}, Stream stream = {},
             memory_resource* resource = nullptr) {
  static_assert(!std::is_same_v<Stream, host_stream>,
                "analyze without a policy solves on the GPU; on the host name one (policy::host_parallel)");
  return analyze(policy::automatic<>{}, a, options, stream, resource);
}

}  // namespace sptrsv::SPTRSV_ABI

#include "sptrsv/detail/automatic/automatic_engine.hpp"
