// SPDX-License-Identifier: Apache-2.0
// The policy automatic, the default, and analyze without a policy.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "sptrsv/cost_model.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {
namespace policy {

/// The default policy: the candidate whose cost model predicts the fastest solve of `max_rhs` right-hand
/// sides. `automatic<>` is `automatic<dataflow>`. Each further candidate costs compile time.
/// `automatic<dataflow, supernodal>` is for programs that also solve with complete factors: it takes
/// supernodal for those with wide supernodes, which may have a larger backward error (see basic_supernodal),
/// and dataflow for all other patterns.
///
/// - A single candidate is analysed directly and needs no cost model. For several candidates, the analysis
///   first looks at a sample of the pattern, which takes one short kernel. If the sample leaves several
///   candidates, it counts rows, entries and levels, which takes about as long as the analysis of
///   sync_free_thread. Then it analyses the chosen candidate only.
/// - A candidate is any policy with a cost_model (a static_assert names a policy without). All candidates run
///   on the GPU, or all on the host. Among equal predictions the first candidate is taken.
/// - Everything else is as with the chosen policy: the kernels, whether results repeat in every bit, what
///   `analyze` refuses. `info().chosen` is its name, and `info().predictions` has all predicted times, if
///   several candidates were compared.
///
/// @tparam Candidates policies; none: dataflow.
template <class... Candidates>
struct automatic {
  static constexpr const char* name = "automatic";  ///< in solver_info and in messages
  /// A std::tuple of the candidates.
  using candidate_list = std::conditional_t<sizeof...(Candidates) == 0, std::tuple<dataflow>,  //
                                            std::tuple<Candidates...>>;
  /// Stream type of the solver: that of the candidates.
  using default_stream = typename std::tuple_element_t<0, candidate_list>::default_stream;

  candidate_list candidates{};  ///< the candidates with their members
};

}  // namespace policy

/// Analyses `a` with the default policy, policy::automatic<>, on the GPU; see analyze with a policy
/// (sptrsv/solver.hpp).
///
/// @param a csr_view, csc_view or owning matrix in device memory.
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
#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
