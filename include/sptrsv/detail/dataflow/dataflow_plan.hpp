// The result of planning: the path that solves a system, and the facts that led to it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sptrsv/detail/dataflow/hybrid/hybrid_path.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_path.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_path.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_path.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::detail::dataflow {

/// The facts of a system that the planner knows when it has chosen a path and has built nothing for it.
struct system_facts {
  std::int64_t entries = 0;      ///< with the pivots that are stored
  std::int64_t longest_row = 0;  ///< its entries without the pivot
  std::int64_t levels = 0;       ///< 0 if the analysis did not count them
  std::int64_t most_levels = 0;  ///< the same, or with the levels of partial rows, if these were counted
  /// Share of the levels that would be left if the rows of a row block did not need each other; 0 if it was
  /// not counted.
  double levels_left = 0;
  double nanoseconds = 0;  ///< predicted time of a solve with max_rhs right-hand sides, if one was predicted
  bool is_single_block = false;
  bool is_row_per_thread = false;
};

/// The path is a variant. All paths have the same members: a name, a type `workspace`, update_values,
/// make_workspace, solve, first_nonfinite_index, is_zero_pivot and describe.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
struct plan {
  using row_per_thread_path = row_per_thread::path<Tuning, Scalar, Index, Offset, Executor>;
  using partitioned_path = partitioned::path<Tuning, Scalar, Executor>;
  using single_block_path = single_block::path<Tuning, Scalar, Offset, Executor>;
  using hybrid_path = hybrid::path<row_per_thread_path, partitioned_path>;
  using path_type = std::variant<row_per_thread_path, partitioned_path, single_block_path, hybrid_path>;
  /// The memory of one solve in flight; the path says which kind it needs.
  using workspace = std::variant<double_buffer_storage<Scalar>, single_block::scratch>;

  path_type path;
  std::int64_t levels = 0;  ///< of the system; 0 if the analysis did not count them
  double nanoseconds = 0;   ///< predicted time of a solve with max_rhs right-hand sides, if one was predicted
  std::vector<predicted_time> predictions{};  ///< of all paths that were considered
  std::string text{};                         ///< which path was chosen and why
};

}  // namespace sptrsv::detail::dataflow
