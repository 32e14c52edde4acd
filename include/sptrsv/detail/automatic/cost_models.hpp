// The cost models of this library's policies; none is included for it. sync_free_column has none: its rows
// stand in the order of substitution, and the time of that is not told by a profile. The host policies have
// none either.
#pragma once

#include <limits>

#include "sptrsv/detail/automatic/cost_model.hpp"
#include "sptrsv/detail/choices.hpp"

namespace sptrsv::policy {

template <class Tuning>
struct basic_dataflow;
template <class Tuning>
struct basic_level_set;
template <class Tuning>
struct basic_self_scheduled;
template <class Tuning>
struct basic_sync_free_fused;
template <class Tuning>
struct basic_sync_free_thread;
template <class Tuning>
struct basic_sync_free_warp;
struct cusparse;

}  // namespace sptrsv::policy

namespace sptrsv::detail {

/// {launch, level, level_entry, byte, long_entry}, as benchmarks/fit_costs.py prints them, for the default
/// form of each policy; fp64, one right-hand side, one NVIDIA H200.
namespace costs {

// Fitted to the 101 systems of docs/benchmark/report.md, "All times"; dataflow with --paths dataflow=2.
inline constexpr linear_cost dataflow[]{{3.69e+03, 52.8, 0.413, 0.0417, 133},
                                        {3.24e+03, 507, 9.77, 0.000522, 0.0354}};
inline constexpr linear_cost level_set[]{{3.12e+03, 1.48e+03, 19.2, 0.00135, 5.66}};
inline constexpr linear_cost sync_free_warp[]{{2.23e+03, 563, 4.02, 0.00546, 4.18}};
inline constexpr linear_cost cusparse[]{{588, 1.36e+03, 4.03, 0.00126, 20.2}};

// Solved from three grids, docs/performance.md, "Other policies on Li and Zhang's largest grids", with a
// launch of 3 us. They have no long rows. A thread takes one four entries a trip of 262 ns to L2, warps are
// taken to need for it what sync_free_warp needs.
inline constexpr linear_cost sync_free_thread[]{{3e+03, 478, 80.3, 0.00029, 65}};
inline constexpr linear_cost sync_free_fused[]{{3e+03, 701, 71.9, 0.000109, 4.18}};
inline constexpr linear_cost self_scheduled[]{{3e+03, 1.62e+03, 0, 0.00811, 4.18}};

}  // namespace costs

/// A policy with rows in level order, as it was measured. In the order of substitution its time depends on
/// how dependent rows lie, so that form is not preferred to anything.
template <const auto& Paths>
struct level_order_cost_model {
  template <class Policy>
  static double nanoseconds(const Policy& chosen, const system_profile& system) {
    return chosen.order == policy::row_order::levels ? linear_cost_model<Paths>::nanoseconds(chosen, system)
                                                     : std::numeric_limits<double>::infinity();
  }
};

template <class Tuning>
struct cost_model<policy::basic_dataflow<Tuning>> : linear_cost_model<costs::dataflow> {};
template <class Tuning>
struct cost_model<policy::basic_level_set<Tuning>> : linear_cost_model<costs::level_set> {};
template <class Tuning>
struct cost_model<policy::basic_self_scheduled<Tuning>> : level_order_cost_model<costs::self_scheduled> {};
template <class Tuning>
struct cost_model<policy::basic_sync_free_fused<Tuning>> : level_order_cost_model<costs::sync_free_fused> {};
template <class Tuning>
struct cost_model<policy::basic_sync_free_thread<Tuning>> : level_order_cost_model<costs::sync_free_thread> {
};
template <class Tuning>
struct cost_model<policy::basic_sync_free_warp<Tuning>> : level_order_cost_model<costs::sync_free_warp> {};

template <>
struct cost_model<policy::cusparse> {
  template <class Policy>
  static double nanoseconds(const Policy& chosen, const system_profile& system) {
    return system.offset_bytes == system.index_bytes  // what cuSPARSE does not refuse
               ? linear_cost_model<costs::cusparse>::nanoseconds(chosen, system)
               : std::numeric_limits<double>::infinity();
  }
};

}  // namespace sptrsv::detail
