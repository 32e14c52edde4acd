// SPDX-License-Identifier: Apache-2.0
// The options that several policies have.
#pragma once

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// The order in which a policy starts the rows.
enum class row_order {
  natural,  ///< the order of substitution; the analysis does not compute levels
  levels    ///< level by level: rows that can be solved together are neighbours
};

/// How a policy hands on the components of x.
enum class orientation {
  rows,    ///< a row gathers the components that it needs; the order of additions is fixed
  columns  ///< a column adds its products to the sums of the rows that need them; any order of additions
};

}  // namespace sptrsv::SPTRSV_ABI::policy
