// The kernels of a solve as values that compare.
#pragma once

#include <tuple>
#include <vector>

#include "sptrsv/options.hpp"

namespace sptrsv::testing {

/// Returns all fields. A structured binding names all members, so that this does not compile if one is
/// missing.
inline auto fields_of(const kernel_info& kernel) {
  const auto& [text, launches, waiting_launches, levels, warps, lanes_per_row, partial_rows, rewritten_rows,
               levels_together, partitions, boxes, tiles, tile_rows, x_ring_size, rhs_together] = kernel;
  return std::tuple(text, launches, waiting_launches, levels, warps, lanes_per_row, partial_rows,
                    rewritten_rows, levels_together, partitions, boxes, tiles, tile_rows, x_ring_size,
                    rhs_together);
}

inline auto fields_of(const std::vector<kernel_info>& kernels) {
  std::vector<decltype(fields_of(kernel_info{}))> all;
  for (const kernel_info& kernel : kernels) {
    all.push_back(fields_of(kernel));
  }
  return all;
}

}  // namespace sptrsv::testing
