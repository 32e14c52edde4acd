// Incomplete Cholesky factorisation without fill, IC(0) (Meijerink and van der Vorst 1977; Saad, Iterative
// Methods for Sparse Linear Systems, section 10.3).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_examples {

/// The lower triangle of `a`, diagonal included.
template <class Real, class Index, class Offset>
sptrsv::csr_matrix<Real, Index, Offset> lower_triangle(const sptrsv::csr_matrix<Real, Index, Offset>& a) {
  sptrsv::csr_matrix<Real, Index, Offset> l;
  l.rows = l.columns = a.rows;
  l.row_offsets.reserve(a.row_offsets.size());
  l.row_offsets.push_back(0);
  l.column_indices.reserve((a.values.size() + a.row_offsets.size()) / 2);
  l.values.reserve((a.values.size() + a.row_offsets.size()) / 2);
  for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]);
         e < static_cast<std::size_t>(a.row_offsets[row + 1]); ++e) {
      if (static_cast<std::size_t>(a.column_indices[e]) <= row) {
        l.column_indices.push_back(a.column_indices[e]);
        l.values.push_back(a.values[e]);
      }
    }
    l.row_offsets.push_back(static_cast<Offset>(l.values.size()));
  }
  return l;
}

/// L with the pattern of the lower triangle of A, such that L L^T agrees with A on that pattern. A is
/// symmetric positive definite, its columns ascend, its diagonal is stored. `report(done, total)` counts
/// rows. Throws where a pivot is not positive: IC(0) exists for M-matrices, not for every positive definite
/// one.
template <class Real, class Index, class Offset>
sptrsv::csr_matrix<Real, Index, Offset> incomplete_cholesky(
    const sptrsv::csr_matrix<Real, Index, Offset>& a,
    const std::function<void(std::int64_t, std::int64_t)>& report = {}) {
  auto l = lower_triangle(a);
  const auto begin = [&](Index row) {
    return static_cast<std::size_t>(l.row_offsets[static_cast<std::size_t>(row)]);
  };
  const auto diagonal = [&](Index row) { return begin(static_cast<Index>(row + 1)) - 1; };

  for (Index i = 0; i < static_cast<Index>(l.rows); ++i) {
    SPTRSV_EXPECTS(begin(i) <= diagonal(i) && l.column_indices[diagonal(i)] == i,
                   sptrsv::errc::missing_diagonal,
                   "IC(0): row " + std::to_string(i) + " has no diagonal entry");
    for (std::size_t e = begin(i); e <= diagonal(i); ++e) {
      // l_ij = (a_ij - sum over k < j of l_ik l_jk) / l_jj, for j = i the square root
      const Index j = l.column_indices[e];
      Real sum = l.values[e];
      for (std::size_t p = begin(i), q = begin(j); p < e && q < diagonal(j);) {
        const Index k = l.column_indices[p];
        const Index other = l.column_indices[q];
        sum -= k == other ? l.values[p] * l.values[q] : Real(0);
        p += k <= other ? 1 : 0;
        q += other <= k ? 1 : 0;
      }
      SPTRSV_EXPECTS(j != i || sum > 0, sptrsv::errc::invalid_argument,
                     "IC(0): the pivot of row " + std::to_string(i) + " is not positive");
      l.values[e] = j == i ? std::sqrt(sum) : sum / l.values[diagonal(j)];
    }
    if (report && i % 65536 == 0) {
      report(i, l.rows);
    }
  }
  return l;
}

}  // namespace sptrsv_examples
