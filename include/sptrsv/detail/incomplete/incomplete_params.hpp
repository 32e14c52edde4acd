// SPDX-License-Identifier: Apache-2.0
// The parameters of the kernel of an incomplete factorisation, and its state in device memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/method.hpp"
#include "sptrsv/detail/incomplete/operands.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::detail::incomplete {

/// What consecutive factorisations share, in device memory. Pairs are indexed by the number of the
/// factorisation mod 2.
struct factor_state {
  alignas(128) unsigned long long tickets;       ///< drawn so far
  alignas(128) std::int64_t first_breakdown[2];  ///< smallest breakdown (see there); all_finite: none
  std::int64_t boosted_pivots[2];                ///< pivots that were replaced
};

/// Parameters of the kernel.
template <class Scalar, class Index, class Offset>
struct factor_params {
  /// Returns the address of an operand.
  template <method Method>
  SPTRSV_DEVICE const typename value_flag<Scalar>::word* address_of(const operand<Index, Offset>& of) const {
    return value_flag<Scalar>::address(Method == method::cholesky && of.slot < 0 ? reciprocals : factors,
                                       of.source);
  }

  std::int64_t size;          ///< rows
  std::int64_t tasks;         ///< tickets that select rows
  std::uint32_t draws;        ///< tickets that are drawn in a launch: one more for each warp
  std::int64_t shared_slots;  ///< longest row that is in shared memory
  const Index* rows;          ///< these are from `elimination`
  const Offset* row_offsets;
  const Index* diagonal_slots;
  const Offset* sources;
  const std::int64_t* first_operands;
  const operand<Index, Offset>* operands;
  const Scalar* a;                             ///< by entry of the stored matrix
  typename value_flag<Scalar>::word* factors;  ///< by entry of the stored matrix
  /// Cholesky: the reciprocals of the pivots, by solve index.
  typename value_flag<Scalar>::word* reciprocals;
  Scalar* long_rows;  ///< the values of A by entry in level order; null if all rows are in shared memory
  factor_state* state;
  pivot_rule<Scalar> rule;
};

}  // namespace sptrsv::detail::incomplete
