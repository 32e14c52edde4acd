// SPDX-License-Identifier: Apache-2.0
// any_policy: a policy that is named at run time, and its analyses, which return an any_solver or
// any_factors; and the analyses that take the device or the host at run time.
//
// The umbrella does not include this header: it compiles every policy, unless the program links the compiled
// library (CMake: sptrsv::compiled), which has them compiled.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/any/any_batch.hpp"
#include "sptrsv/any/any_factors.hpp"
#include "sptrsv/any/any_incomplete.hpp"
#include "sptrsv/any/any_solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// A policy by its name, with its options: the names of the policy's members and their values, for example
/// `dataflow path=partitioned partitions=8`. Enumerators have their own names; `true` and `false` are `yes`
/// and `no`. The options of `scheme` are the settings that parse_scheme takes.
class any_policy {
 public:
  /// Constructs the default policy: automatic if the matrix is in device memory, otherwise host_parallel.
  /// analyze_any_factors takes supernodal instead, with that policy's backward error, if a sample finds that
  /// both factors in device memory are complete and have wide supernodes.
  any_policy() = default;
  /// Constructs a policy from a name and options, separated by blanks. An empty text is the default policy.
  /// `analyze` checks the text.
  any_policy(std::string text) : text_(std::move(text)) {}
  /// Constructs a policy from a name and options; see the constructor from std::string.
  any_policy(const char* text) : text_(text) {}

  /// Returns the name and the options as they were given.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

namespace detail {

/// Says which policies analyze_any() knows: those of a translation unit of nvcc or of another compiler, or
/// those of the compiled library. It keeps their functions apart if a program has all three.
struct device_build;
struct host_build;
struct compiled_build;
#if defined(SPTRSV_COMPILED)
using this_build = compiled_build;
#elif defined(__CUDACC__)
using this_build = device_build;
#else
using this_build = host_build;
#endif

/// The class any_* for a matrix with a type of views.
template <template <class, class, class, class> class Any, class View>
using any_of =
    Any<typename View::value_type, typename View::index_type, typename View::offset_type, stream_handle>;
template <class View>
using factors_options_of = factors_options<typename View::value_type, typename View::index_type>;

// The definitions are in detail/any_solver/analyze.hpp, or in the compiled library.
template <class Build, class View>
any_of<any_solver, View> analyze_any(const any_policy& policy, const View& a, const system_options& options,
                                     stream_handle stream, memory_resource* resource);
/// `second` is null if both factors are stored in `first`.
template <class Build, class View>
any_of<any_factors, View> analyze_any_factors(const any_policy& policy, const View& first, const View* second,
                                              const factors_options_of<View>& options, stream_handle stream,
                                              memory_resource* resource);
template <class Build, class View>
any_of<any_incomplete, View> analyze_any_incomplete(incomplete_method method, const View& a,
                                                    const incomplete_options& options, stream_handle stream,
                                                    memory_resource* resource);
template <class Build, class View>
any_of<any_batch, View> analyze_any_batch(const View& a, span<const typename View::value_type> values,
                                          const batch_options& batch, const system_options& options,
                                          stream_handle stream, memory_resource* resource);
template <class Build>
std::vector<std::string> any_policy_names();

/// Returns the view of a matrix that a policy which is named at run time takes. `TakesBlocks`: whether the
/// matrix may be one of blocks.
template <bool TakesBlocks = false, class Matrix>
auto view_for_any_policy(const Matrix& a) {
  auto view = view_of(a);
  using index = typename decltype(view)::index_type;
  using offset = typename decltype(view)::offset_type;
  static_assert((TakesBlocks && is_block_view<decltype(view)>) ||
                    std::is_same_v<decltype(pattern_of(view)), pattern_view<index, offset>>,
                "a policy that is named at run time takes matrices by rows or by columns, and its analyze "
                "those of blocks");
#ifdef SPTRSV_COMPILED
  static_assert(std::is_same_v<index, offset> &&
                    (std::is_same_v<index, std::int32_t> || std::is_same_v<index, std::int64_t>),
                "the compiled library has indices and offsets of one type, std::int32_t or std::int64_t");
#endif
  return view;
}

}  // namespace detail

/// Analyses `a` for a policy that is chosen at run time; otherwise as analyze with a policy
/// (sptrsv/solver.hpp).
///
/// @param policy the policy: a text converts to it.
/// @param a csr_view, csc_view, bsr_view or owning matrix, in the memory space that the policy works in.
/// @param options the triangle, the operation, and the largest number of right-hand sides.
/// @param stream the stream of the analysis; host policies ignore it.
/// @param resource source of memory; null: the default of the policy's side.
/// @return the solver, an `any_solver<Value, Index, Offset>` of the types of the matrix.
/// @throws error errc::invalid_argument for a name that is none of any_policy_names(), and for an option that
///   the policy does not have; errc::parse_error for settings of `scheme` that are no text of a scheme; and
///   what analyze with a policy throws.
template <class Matrix, class Build = detail::this_build,
          class = decltype(detail::view_of(std::declval<const Matrix&>()))>
auto analyze(const any_policy& policy, const Matrix& a, const system_options& options = {},
             stream_handle stream = {}, memory_resource* resource = nullptr) {
  return detail::analyze_any<Build>(policy, detail::view_for_any_policy<true>(a), options, stream, resource);
}

/// Analyses factors that are stored in one matrix for a policy that is chosen at run time; otherwise as
/// analyze_factors with a policy (sptrsv/factors.hpp).
///
/// @param policy, stream, resource as in analyze.
/// @param a csr_view, csc_view or owning matrix that holds both factors, in the memory space that the policy
///   works in.
/// @param options how the factors, permutations and scalings make up the system.
/// @return the factors, an `any_factors<Value, Index, Offset>` of the types of the matrix.
/// @throws error as analyze with a policy that is chosen at run time, and as analyze_factors with a policy.
template <class Matrix, class Build = detail::this_build, class View = typename Matrix::view_type>
auto analyze_factors(
    const any_policy& policy, const Matrix& a,
    const factors_options<typename View::value_type, typename View::index_type>& options = {},
    stream_handle stream = {}, memory_resource* resource = nullptr) {
  const auto view = detail::view_for_any_policy(a);
  return detail::analyze_any_factors<Build>(policy, view, static_cast<decltype(&view)>(nullptr), options,
                                            stream, resource);
}
/// Analyses factors that are stored in two matrices; otherwise as the other overload.
///
/// @param policy, options, stream, resource as in the other overload.
/// @param first the matrix of F_1.
/// @param second the matrix of F_2, of the same size and types, and stored alike: both by rows or both by
///   columns.
template <class First, class Second, class Build = detail::this_build, class View = typename First::view_type,
          class = typename Second::view_type>
auto analyze_factors(
    const any_policy& policy, const First& first, const Second& second,
    const factors_options<typename View::value_type, typename View::index_type>& options = {},
    stream_handle stream = {}, memory_resource* resource = nullptr) {
  const auto first_view = detail::view_for_any_policy(first);
  const auto second_view = detail::view_for_any_policy(second);
  static_assert(std::is_same_v<decltype(first_view), decltype(second_view)>,
                "a policy that is named at run time takes factors of the same types that are stored alike");
  return detail::analyze_any_factors<Build>(policy, first_view, &second_view, options, stream, resource);
}

/// Analyses the pattern of `a` for an incomplete factorisation whose method is chosen at run time, and
/// enqueues the factorisation; otherwise as analyze_incomplete_lu and analyze_incomplete_cholesky.
///
/// @param method LU or Cholesky.
/// @param a csr_view, csc_view or owning matrix. In device memory it is factorised on the device, in host
///   memory on the host.
/// @param options what the factorisation does to pivots, and the level of fill.
/// @param stream, resource as in analyze.
/// @return the factorisation, an `any_incomplete<Value, Index, Offset>` of the types of the matrix.
template <class Matrix, class Build = detail::this_build>
auto analyze_incomplete(incomplete_method method, const Matrix& a, const incomplete_options& options = {},
                        stream_handle stream = {}, memory_resource* resource = nullptr) {
  return detail::analyze_any_incomplete<Build>(method, detail::view_for_any_policy(a), options, stream,
                                               resource);
}

/// Analyses the pattern of `a` once for all systems of a batch, on the device if the matrix is in device
/// memory and otherwise on the host; otherwise as analyze_batch (sptrsv/batched.hpp).
///
/// @param a csr_view, csc_view or owning matrix: the pattern of all systems.
/// @param values the values of all systems, in the memory space of the matrix.
/// @param batch the number of systems, and the distance between their values.
/// @param options the triangle, the operation, and the largest number of right-hand sides, of all systems.
/// @param stream, resource as in analyze.
/// @return the batch, an `any_batch<Value, Index, Offset>` of the types of the matrix.
/// @throws error as analyze_batch. The size of a system is not limited on the host.
template <class Matrix, class Build = detail::this_build, class View = typename Matrix::view_type>
auto analyze_any_batch(const Matrix& a, span<const typename View::value_type> values,
                       const batch_options& batch, const system_options& options = {},
                       stream_handle stream = {}, memory_resource* resource = nullptr) {
  return detail::analyze_any_batch<Build>(detail::view_for_any_policy(a), values, batch, options, stream,
                                          resource);
}

/// Returns the names of the policies that analyze knows: without nvcc, and without a compiled library of
/// nvcc, those of the host.
template <class Build = detail::this_build>
std::vector<std::string> any_policy_names() {
  return detail::any_policy_names<Build>();
}

}  // namespace sptrsv::SPTRSV_ABI

#ifndef SPTRSV_COMPILED
#include "sptrsv/detail/any_solver/analyze.hpp"
#endif
