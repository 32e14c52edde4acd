// SPDX-License-Identifier: Apache-2.0
// The options of factors, and their description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI {

/// One factor of a factorisation: op(T), where T is a triangle of a stored matrix.
struct triangular_factor {
  uplo part = uplo::lower;         ///< T: the triangle of the stored matrix, before `operation`
  diag diagonal = diag::non_unit;  ///< the diagonal of T
  op operation = op::none;         ///< op
};

/// Options of the system A x = b whose factors are known: P_r R A C P_c = F_1 D F_2.
///
/// F_1 and F_2 are triangular. D is the identity, or the stored diagonal. R and C are diagonal scalings, P_r
/// and P_c are permutations: entry (k, l) of the product of the factors is
/// `row_scale[i] * A(i, j) * column_scale[j]` with `i = row_order[k]` and `j = column_order[l]`. The arrays
/// are in the memory space of the analysis, which copies them. An empty array stands for the identity.
///
/// @tparam Value type of the values.
/// @tparam Index type of the indices of the matrix.
template <class Value, class Index = std::int32_t>
struct factors_options {
  triangular_factor first{uplo::lower, diag::unit};  ///< F_1, which is solved first
  triangular_factor second{uplo::upper};             ///< F_2
  /// Whether D is the stored diagonal of the matrix of F_1, as an L D L^T factorisation leaves it. Both
  /// factors have a unit diagonal then.
  bool has_diagonal = false;
  /// What apply_transpose solves with: the transpose of A, or its conjugate transpose. op::none:
  /// apply_transpose is not available. It takes two more solvers, unless one factor is this operation of the
  /// other.
  op transposed = op::none;
  std::int64_t max_rhs = 1;        ///< largest number of right-hand sides of one call
  span<const Index> row_order;     ///< P_r: the row of A for each row of the factors
  span<const Index> column_order;  ///< P_c: the column of A for each column of the factors
  span<const Value> row_scale;     ///< R, by row of A
  span<const Value> column_scale;  ///< C, by column of A

  /// Returns the options of L U in one matrix: L is unit lower, U upper. These are the defaults.
  static factors_options lu() { return {}; }
  /// Returns the options of L L^H: L is lower.
  static factors_options cholesky() {
    factors_options made;
    made.first = {uplo::lower};
    made.second = {uplo::lower, diag::non_unit, op::conj_transpose};
    return made;
  }
  /// Returns the options of L D L^op: L is unit lower, D is stored on its diagonal, and `operation` is
  /// op::conj_transpose or op::transpose.
  static factors_options ldl(op operation = op::conj_transpose) {
    factors_options made;
    made.second = {uplo::lower, diag::unit, operation};
    made.has_diagonal = true;
    return made;
  }

  /// Sets `row_order` and `column_order`: the factors are those of A with rows and columns in this order.
  void order_by(span<const Index> order) { row_order = column_order = order; }
};

/// Description of factors.
struct factors_info {
  /// The solvers: of F_1, F_2, then those of apply_transpose if it has solvers of its own, in the order of
  /// its solves.
  std::vector<solver_info> solvers;
  std::int64_t rows = 0;  ///< rows of the system
  /// Bytes of memory without workspaces: solvers, permutations, scalings. What a solver shares with that of
  /// its transpose (policy::supernodal) counts for both.
  std::size_t bytes = 0;
  std::size_t workspace_bytes = 0;  ///< bytes of memory of one workspace
  /// The largest number of bytes that the analysis had allocated at one time, a workspace included; 0 for
  /// host policies, whose memory is not counted.
  std::size_t analysis_peak_bytes = 0;
};

}  // namespace sptrsv::SPTRSV_ABI
