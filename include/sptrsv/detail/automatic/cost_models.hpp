// SPDX-License-Identifier: Apache-2.0
// The cost models of this library's policies. The policies are declared, not included.
//
// Some policies have no model. sync_free_column solves rows in the order of substitution, and a profile does
// not determine the time of that order. For scheme a profile does not determine which scheme is chosen, and
// on systems with some long rows it takes ten times as long as a fitted line predicts. column_block,
// row_block and the host policies have no model either.
#pragma once

#include <limits>

#include "sptrsv/cost_model.hpp"
#include "sptrsv/policy/block_tuning.hpp"
#include "sptrsv/policy/row_order.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

template <block_cut Cut, class Tuning>
struct basic_block;
template <class Tuning>
struct basic_dataflow;
template <class Tuning>
struct basic_level_set;
template <class Tuning>
struct basic_self_scheduled;
template <class Tuning>
struct basic_supernodal;
template <class Tuning>
struct basic_sync_free_fused;
template <class Tuning>
struct basic_sync_free_thread;
template <class Tuning>
struct basic_sync_free_warp;

}  // namespace sptrsv::SPTRSV_ABI::policy

namespace sptrsv::SPTRSV_ABI {
namespace detail {

/// {launch, level, level_entry, byte, long_entry}, as `benchmarks/python fit-costs` prints them, for the
/// default form of each policy: fp64, one right-hand side, one NVIDIA H200.
namespace costs {

// Fitted to the 107 systems of docs/benchmark/report.md by `benchmarks/python fit-costs results.json --paths
// dataflow=3`.
inline constexpr linear_cost dataflow[]{{2.67e+04, 56.7, 0, 0.00638, 20.8},
                                        {6.84e+03, 18.1, 34.3, 0.00079, 241},
                                        {2.45e+03, 715, 0, 0.000556, 0.0466}};
inline constexpr linear_cost level_set[]{{3.05e+03, 1.45e+03, 32.6, 0.00132, 5.82}};
inline constexpr linear_cost self_scheduled[]{{0, 888, 23.4, 0.00751, 1.72}};
inline constexpr linear_cost sync_free_fused[]{{2.42e+03, 707, 4.08, 0.000941, 6.21}};
inline constexpr linear_cost sync_free_thread[]{{538, 718, 2.4, 0.00084, 207}};
inline constexpr linear_cost sync_free_warp[]{{2.32e+03, 525, 3.48, 0.00587, 4.28}};
inline constexpr linear_cost recursive_block[]{{4.53e+03, 642, 7.98, 0.000953, 7.56}};

}  // namespace costs

/// The model of a policy with rows in level order, as it was measured. In the order of substitution the time
/// depends on where dependent rows are, so that form is never preferred.
template <const auto& Paths>
struct level_order_cost_model {
  template <class Policy>
  static double nanoseconds(const Policy& chosen, const system_profile& system) {
    return chosen.order == policy::row_order::levels ? linear_cost_model<Paths>::nanoseconds(chosen, system)
                                                     : std::numeric_limits<double>::infinity();
  }
};

}  // namespace detail

template <class Tuning>
struct cost_model<policy::basic_dataflow<Tuning>> : linear_cost_model<detail::costs::dataflow> {};
template <class Tuning>
struct cost_model<policy::basic_level_set<Tuning>> : linear_cost_model<detail::costs::level_set> {};

/// The model of recursive_block with its own choice of the number of blocks and of the kernels, as it was
/// measured. Other forms are never preferred.
template <class Tuning>
struct cost_model<policy::basic_block<policy::block_cut::recursive, Tuning>> {
  template <class Policy>
  static double nanoseconds(const Policy& chosen, const system_profile& system) {
    using kernels = decltype(chosen.kernels);
    const bool was_measured = chosen.blocks == 0 && chosen.kernels.selector == kernels{}.selector &&
                              chosen.kernels.triangle == kernels{}.triangle &&
                              chosen.kernels.square == kernels{}.square;
    return was_measured ? linear_cost_model<detail::costs::recursive_block>::nanoseconds(chosen, system)
                        : std::numeric_limits<double>::infinity();
  }
};

template <class Tuning>
struct cost_model<policy::basic_self_scheduled<Tuning>>
    : detail::level_order_cost_model<detail::costs::self_scheduled> {};
template <class Tuning>
struct cost_model<policy::basic_sync_free_fused<Tuning>>
    : detail::level_order_cost_model<detail::costs::sync_free_fused> {};
template <class Tuning>
struct cost_model<policy::basic_sync_free_thread<Tuning>>
    : detail::level_order_cost_model<detail::costs::sync_free_thread> {};
template <class Tuning>
struct cost_model<policy::basic_sync_free_warp<Tuning>>
    : detail::level_order_cost_model<detail::costs::sync_free_warp> {};

/// The model of supernodal for complete factors with wide supernodes: a hand-off for each supernode on the
/// longest path of the tree, and the bytes of the panels. The constants fit six factors on one NVIDIA H200,
/// see docs/lab_log/automatic.md.
template <class Tuning>
struct cost_model<policy::basic_supernodal<Tuning>> {
  template <class Policy>
  static double nanoseconds(const Policy&, const system_profile& s) {
    constexpr double launch = 1.5e4;
    constexpr double hand_off = 700;
    constexpr double hand_off_in_path = 3e3;  // of a tree that is one path: nothing else runs meanwhile
    constexpr double byte = 3.2e-4;
    constexpr double pack = 8;  // right-hand sides that take as long as the first one
    if (s.supernode_columns == 0) {
      return std::numeric_limits<double>::infinity();
    }
    const double supernodes = static_cast<double>(s.levels) / s.supernode_columns;
    const double bytes = static_cast<double>(s.value_bytes) *
                         (static_cast<double>(s.entries) + 3 * static_cast<double>(s.rows));
    const double one = (s.levels == s.rows ? hand_off_in_path : hand_off) * supernodes + byte * bytes;
    return launch + one * (1 + static_cast<double>(s.rhs - 1) / pack);
  }
};

}  // namespace sptrsv::SPTRSV_ABI
