// SPDX-License-Identifier: Apache-2.0
// By rows or by columns: how components of x are handed on.
#pragma once

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// How a policy hands on the components of x.
enum class orientation {
  rows,    ///< a row gathers the components that it needs; the order of additions is fixed
  columns  ///< a column adds its products to the sums of the rows that need them; any order of additions
};

}  // namespace sptrsv::SPTRSV_ABI::policy
