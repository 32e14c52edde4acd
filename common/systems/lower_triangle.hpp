// The lower triangle of a matrix.
#pragma once

#include <cstddef>

#include "sptrsv/matrix.hpp"

namespace sptrsv_common {

/// Returns the entries of `a` on and below the diagonal, in the order in which `a` stores them.
template <class Value, class Index, class Offset>
sptrsv::csr_matrix<Value, Index, Offset> lower_triangle(const sptrsv::csr_matrix<Value, Index, Offset>& a) {
  sptrsv::csr_matrix<Value, Index, Offset> lower;
  lower.rows = lower.columns = a.rows;
  lower.row_offsets.reserve(a.row_offsets.size());
  lower.row_offsets.push_back(0);
  lower.column_indices.reserve((a.values.size() + a.row_offsets.size()) / 2);
  lower.values.reserve((a.values.size() + a.row_offsets.size()) / 2);
  for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]);
         e < static_cast<std::size_t>(a.row_offsets[row + 1]); ++e) {
      if (static_cast<std::size_t>(a.column_indices[e]) <= row) {
        lower.column_indices.push_back(a.column_indices[e]);
        lower.values.push_back(a.values[e]);
      }
    }
    lower.row_offsets.push_back(static_cast<Offset>(lower.values.size()));
  }
  return lower;
}

}  // namespace sptrsv_common
