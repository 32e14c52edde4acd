// The system as the kernel of the grid path sees it: the packed groups of all warps, and the internal rows of one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/dataflow/groups.hpp"
#include "sptrsv/detail/solve_pages.hpp"

namespace sptrsv::detail::dataflow {

template <class Scalar, class Index, class Offset>
struct system_params {
  std::int64_t size;
  std::int64_t groups;
  bool reversed;
  const Index* gates;  ///< by group: a place two or three levels earlier, -1 if none; null: no gates
  const Offset* offsets;
  const std::int32_t* external_width;
  const Index* columns;
  const Scalar* values;
  const Offset* long_offsets;
  const Index* long_columns;
  const Scalar* long_values;
  const Scalar* diagonal;          ///< by place; null if it is unit
  const Index* position_of_place;  ///< null where rows stand in the order of substitution
  solve_pages<Scalar> pages;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// The group's internal system: entry (this lane's row, q) stands at own[q * rows of the group] in shared
/// memory.
template <class Scalar>
struct internal_rows {
  Scalar* own;
  std::uint32_t needs;   ///< rows of the group that this lane's row needs, a bit each
  std::uint32_t needed;  ///< rows that any row needs
};

/// Scalars of shared memory that a group of `rows` rows takes.
SPTRSV_HOST_DEVICE constexpr int internal_scalars(int rows) { return rows * rows; }

}  // namespace sptrsv::detail::dataflow
