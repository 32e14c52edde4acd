// The rows of each warp, where warps solve different numbers of rows. The analysis finds them.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/runs.hpp"

namespace sptrsv::detail::row_wise {

/// Warp w solves the rows with solve indices first_solve_index[w] ... first_solve_index[w + 1] - 1, at most
/// 32.
template <class Index>
struct warp_tasks {
  std::int64_t count = 0;
  buffer<Index> first_solve_index;  ///< by warp; count + 1 elements
};

/// Makes the tasks. `starts(ctx, solve_index)` returns true if a task starts at this row. It must return true
/// for row 0 and after at most 32 rows. Synchronises.
template <class Index, class Starts, class Executor>
warp_tasks<Index> make_warp_tasks(std::int64_t size, const Starts& starts, const Executor& on,
                                  const analysis_memory& memory) {
  runs<Index> made = make_runs<Index>(size, starts, on, memory);
  return {made.count, std::move(made.first)};
}

}  // namespace sptrsv::detail::row_wise
