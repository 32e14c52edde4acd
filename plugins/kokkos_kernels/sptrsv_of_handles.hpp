// SPDX-License-Identifier: Apache-2.0
// The solvers of sptrsv that belong to handles of Kokkos Kernels, and what the specialisations beside this
// file share.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include <KokkosKernels_Handle.hpp>
#include <Kokkos_Core.hpp>

#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv_kokkos {

/// The type of sptrsv for a type of values of Kokkos; void if there is none.
template <class Scalar>
struct value_of {
  using type =
      std::conditional_t<std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>, Scalar, void>;
};
template <class Real>
struct value_of<Kokkos::complex<Real>> {
  using type = std::conditional_t<std::is_void_v<typename value_of<Real>::type>, void, std::complex<Real>>;
};

/// The signed integers with as many bits as T.
template <class T>
using integer_of = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;

/// How solves run in an execution space of Kokkos: on the host by several threads, unless said otherwise
/// below.
template <class ExecutionSpace>
struct execution {
  static constexpr bool is_known =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;
  using policy = sptrsv::policy::host_parallel;
  static sptrsv::host_stream stream(const ExecutionSpace&) { return {}; }
};
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct execution<Kokkos::Serial> {
  static constexpr bool is_known = true;
  using policy = sptrsv::policy::host_serial;
  static sptrsv::host_stream stream(const Kokkos::Serial&) { return {}; }
};
#endif
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct execution<Kokkos::Cuda> {
  static constexpr bool is_known = true;
  using policy = sptrsv::policy::automatic<>;
  static cudaStream_t stream(const Kokkos::Cuda& space) { return space.cuda_stream(); }
};
#endif

/// What solves for the handles of one type.
///
/// @tparam Handle a KokkosSparse::Experimental::SPTRSVHandle.
template <class Handle>
class solvers {
  using space = typename Handle::execution_space;
  using scalar = typename Handle::scalar_t;
  using value = typename value_of<scalar>::type;
  using index = integer_of<typename Handle::nnz_lno_t>;
  using offset = integer_of<typename Handle::size_type>;
  using policy = typename execution<space>::policy;
  using stream = decltype(execution<space>::stream(std::declval<space>()));

 public:
  /// Whether the library has these types. If not, Kokkos Kernels solves.
  static constexpr bool has_types = execution<space>::is_known && !std::is_void_v<value> &&
                                    std::is_signed_v<typename Handle::nnz_lno_t> &&
                                    sizeof(index) <= sizeof(offset);

  /// Returns whether sptrsv solves for this handle: not with supernodes of Kokkos Kernels, blocks, or
  /// cuSPARSE.
  static bool takes(Handle& handle) {
    using algorithm = KokkosSparse::Experimental::SPTRSVAlgorithm;
    const algorithm asked = handle.get_algorithm();
    return !handle.is_block_enabled() &&
           (asked == algorithm::SEQLVLSCHD_RP || asked == algorithm::SEQLVLSCHD_TP1 ||
            asked == algorithm::SEQLVLSCHD_TP1CHAIN);
  }

  /// Analyses the pattern for a handle, in place of what was analysed for it before. Waits for `on`, whose
  /// work may make the pattern. The solver belongs to the default instance of the execution space: others may
  /// end before it.
  template <class Offsets, class Indices>
  static void analyze(const space& on, Handle& handle, const Offsets& offsets, const Indices& indices) {
    using memory = typename Offsets::memory_space;
    release(handle);
    on.fence();
    const space always;
    const Kokkos::View<scalar*, memory> ones(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ones"),
                                             indices.extent(0));
    Kokkos::deep_copy(always, ones, scalar(1));
    const auto rows = static_cast<std::int64_t>(offsets.extent(0)) - 1;
    sptrsv::system_options options;
    options.part = handle.is_lower_tri() ? sptrsv::uplo::lower : sptrsv::uplo::upper;
    const sptrsv::csr_view<value, index, offset> triangle{rows,
                                                          rows,
                                                          static_cast<std::int64_t>(indices.extent(0)),
                                                          reinterpret_cast<const offset*>(offsets.data()),
                                                          reinterpret_cast<const index*>(indices.data()),
                                                          reinterpret_cast<const value*>(ones.data())};
    auto made = std::make_shared<solver>(
        sptrsv::analyze(policy{}, triangle, options, execution<space>::stream(always)));
    always.fence();
    handle.set_nrows(static_cast<typename Handle::size_type>(rows));
    handle.set_symbolic_complete();
    const std::lock_guard<std::mutex> lock(mutex());
    table()[&handle] = std::move(made);
  }

  /// Takes the values and solves.
  template <class Offsets, class Indices, class Values, class B, class X>
  static void solve(const space& on, Handle& handle, const Offsets& offsets, const Indices& indices,
                    const Values& values, const B& b, const X& x) {
    if (!handle.is_symbolic_complete() || find(handle) == nullptr) {
      analyze(on, handle, offsets, indices);
    }
    const std::shared_ptr<solver> found = find(handle);
    const auto where = execution<space>::stream(on);
    found->update_values({reinterpret_cast<const value*>(values.data()), values.extent(0)}, where);
    found->solve(view_of<const value>(b), view_of<value>(x), where);
  }

  /// Gives back what was analysed for a handle.
  static void release(const Handle& handle) {
    const std::lock_guard<std::mutex> lock(mutex());
    table().erase(&handle);
  }

 private:
  using solver = sptrsv::solver<policy, std::conditional_t<has_types, value, double>, index, offset, stream>;

  template <class T, class View>
  static sptrsv::dense_view<T> view_of(const View& v) {
    return {reinterpret_cast<T*>(v.data()), static_cast<std::int64_t>(v.extent(0)), 1,
            static_cast<std::int64_t>(v.stride(0)), 0};
  }
  static std::shared_ptr<solver> find(const Handle& handle) {
    const std::lock_guard<std::mutex> lock(mutex());
    const auto at = table().find(&handle);
    return at == table().end() ? nullptr : at->second;
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  /// The solvers by handle, which end with Kokkos: a destroyed handle does not say so.
  static std::map<const Handle*, std::shared_ptr<solver>>& table() {
    static std::map<const Handle*, std::shared_ptr<solver>> all;
    static const bool ends = (Kokkos::push_finalize_hook([] { all.clear(); }), true);
    static_cast<void>(ends);
    return all;
  }
};

/// Gives back the memory of the solver that belongs to a handle; call it before `destroy_sptrsv_handle`.
/// Otherwise it stays until Kokkos ends, or another handle has the address.
template <class KernelHandle>
void release(KernelHandle& handle) {
  using own = solvers<typename KernelHandle::SPTRSVHandleType>;
  if constexpr (own::has_types) {
    if (handle.get_sptrsv_handle() != nullptr) {
      own::release(*handle.get_sptrsv_handle());
    }
  }
}

}  // namespace sptrsv_kokkos
