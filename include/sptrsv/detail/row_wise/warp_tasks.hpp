// What each warp does where warps do different things: consecutive places, found by the analysis.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/runs.hpp"

namespace sptrsv::detail::row_wise {

/// Warp w solves the rows at the places first_solve_index[w] ... first_solve_index[w + 1] - 1: at most 32.
template <class Index>
struct warp_tasks {
  std::int64_t count = 0;
  buffer<Index> first_solve_index;  ///< count + 1
};

/// `starts(ctx, place)` says whether a task starts at the place: it does at the first, and after 32 places
/// without one. Synchronises.
template <class Index, class Starts, class Executor>
warp_tasks<Index> make_warp_tasks(std::int64_t size, const Starts& starts, const Executor& on,
                                  const analysis_memory& memory) {
  runs<Index> made = make_runs<Index>(size, starts, on, memory);
  return {made.count, std::move(made.first)};
}

}  // namespace sptrsv::detail::row_wise
