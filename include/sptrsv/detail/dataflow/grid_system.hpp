// The system as the kernel of dataflow sees it: the packed groups of all warps, and the internal rows of one.
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

/// The group's internal system, in which a lane holds its row: entry (row of the lane, r) stands in the
/// lane's column of a 32 x 32 array in shared memory, which no other lane touches.
template <class Scalar>
struct internal_rows {
  Scalar* own;           ///< entry r of this lane's row at own[32 * r]
  std::uint32_t needs;   ///< rows of the group that this lane's row needs, a bit each
  std::uint32_t needed;  ///< rows that any lane's row needs
};

/// Bytes of shared memory of a block of `threads` threads.
template <class Scalar>
constexpr std::size_t internal_bytes(int threads) {
  return static_cast<std::size_t>(threads) * group_rows * sizeof(Scalar);
}

}  // namespace sptrsv::detail::dataflow
