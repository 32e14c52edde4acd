// SPDX-License-Identifier: Apache-2.0
// The result of a search for the best partitions and the best shape of a partitioned solve.
#pragma once

#include <cstdint>
#include <limits>

#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/block_partition.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::dataflow::partitioned {

struct shape_choice {
  int shape_index = 0;
  std::int64_t partitions = 1;
  block_partition boxes;
  std::int64_t tiles = 0;  ///< of all partitions
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// The result of a search for the best shape.
struct search_result {
  shape_choice best;
  double hybrid_nanoseconds = 0;  ///< about the time of the best hybrid path, if it is wanted
  /// The cells of several tables, with that of the best choice. Empty if no hybrid path may be chosen.
  buffer<level_counts> cells;
  std::int64_t begin = 0;  ///< the first cell of the table of the best choice
  std::int64_t word = 0;   ///< the number that the work behind the predictions stored
};

}  // namespace sptrsv::detail::dataflow::partitioned
