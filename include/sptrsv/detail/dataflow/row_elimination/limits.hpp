// SPDX-License-Identifier: Apache-2.0
// The limits that decide which rows are rewritten.
#pragma once

#include <cstdint>

namespace sptrsv::detail::dataflow::row_elimination {

/// Limits of a rewritten row.
struct limits {
  double growth;             ///< largest growth, as basic_dataflow::max_growth
  double fill;               ///< largest fill, as basic_dataflow::max_fill; at least 1
  std::int64_t entries;      ///< number of entries that a rewritten row may always have
  std::int64_t longest_row;  ///< entries of a row that is rewritten, at most
};

}  // namespace sptrsv::detail::dataflow::row_elimination
