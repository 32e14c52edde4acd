// Incomplete Cholesky factorisation without fill, IC(0) (Meijerink and van der Vorst 1977; Saad, Iterative
// Methods for Sparse Linear Systems, section 10.3).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "common/systems/lower_triangle.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_examples {

/// Returns L with the pattern of the lower triangle of A, such that L L^T agrees with A on that pattern. `a`:
/// A, symmetric positive definite, with ascending columns and a complete diagonal. `report(done, total)`:
/// called every 65536 rows. Throws sptrsv::error if a pivot is not positive: IC(0) exists for
/// M-matrices, not for every positive definite matrix.
template <class Real, class Index, class Offset>
sptrsv::csr_matrix<Real, Index, Offset> incomplete_cholesky(
    const sptrsv::csr_matrix<Real, Index, Offset>& a,
    const std::function<void(std::int64_t, std::int64_t)>& report = {}) {
  auto l = sptrsv_common::lower_triangle(a);
  const auto begin = [&](Index row) {
    return static_cast<std::size_t>(l.row_offsets[static_cast<std::size_t>(row)]);
  };
  const auto diagonal = [&](Index row) { return begin(static_cast<Index>(row + 1)) - 1; };

  for (Index i = 0; i < static_cast<Index>(l.rows); ++i) {
    SPTRSV_EXPECTS(begin(i) <= diagonal(i) && l.column_indices[diagonal(i)] == i,
                   sptrsv::errc::missing_diagonal,
                   "IC(0): row " + std::to_string(i) + " has no diagonal entry");
    for (std::size_t e = begin(i); e <= diagonal(i); ++e) {
      // l_ij = (a_ij - sum over k < j of l_ik l_jk) / l_jj; for j = i the square root of the sum
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
