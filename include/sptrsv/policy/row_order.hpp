// The order in which a policy takes up the rows.
#pragma once

namespace sptrsv::policy {

enum class row_order {
  natural,  ///< the order of substitution; the analysis does not need the levels
  levels    ///< level by level, so that rows that can be solved together are neighbours
};

}  // namespace sptrsv::policy
