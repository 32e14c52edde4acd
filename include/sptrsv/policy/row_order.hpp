// SPDX-License-Identifier: Apache-2.0
// The order in which a policy starts the rows.
#pragma once

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// The order in which a policy starts the rows.
enum class row_order {
  natural,  ///< the order of substitution; the analysis does not compute levels
  levels    ///< level by level: rows that can be solved together are neighbours
};

}  // namespace sptrsv::SPTRSV_ABI::policy
