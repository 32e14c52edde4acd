// What a launch of the relay's kernel is given, and what the threads of a block share.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"
#include "sptrsv/detail/solve_pages.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::dataflow {

template <class Scalar>
struct relay_params {
  std::int32_t size;  ///< of the system
  std::int32_t parts;
  std::int32_t window;  ///< a power of two
  bool reversed;
  const std::int32_t* part_places;  ///< parts + 1: the first place of each
  const relay_warp_start* starts;   ///< by part and warp of the block
  const unsigned char* records;
  launch_share share;
  solve_pages<Scalar> pages;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// What the threads of a block share beside rings and window. They read the numbers from here, because
/// otherwise the compiler derives them from special registers and parameters at each use, which is slow.
struct relay_start {
  block_start block;
  std::uint64_t records;  ///< their address
  std::int32_t window_address;
  std::int32_t window;
};

}  // namespace sptrsv::detail::dataflow
