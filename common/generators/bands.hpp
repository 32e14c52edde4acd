// Matrices with entries near the diagonal. They have long chains of dependent rows and little parallelism.
#pragma once

#include <algorithm>
#include <vector>

#include "pattern.hpp"

namespace sptrsv_common {

/// Each row depends on the row before it only, so each level has one row.
inline pattern bidiagonal_chain(vertex n) {
  return pattern_of_rows(n, [](vertex i, std::vector<vertex>& out) {
    if (i > 0) {
      out.push_back(i - 1);
    }
  });
}

/// Dense blocks on the diagonal and directly below it, as in a chain of coupled systems.
inline pattern block_bidiagonal(vertex blocks, vertex size) {
  return pattern_of_rows(blocks * size, [=](vertex i, std::vector<vertex>& out) {
    for (vertex j = std::max(i / size - 1, 0) * size; j < i; ++j) {
      out.push_back(j);
    }
  });
}

/// A full band with `half_width` off-diagonal entries per row.
inline pattern dense_band(vertex n, vertex half_width) {
  return pattern_of_rows(n, [=](vertex i, std::vector<vertex>& out) {
    for (vertex j = std::max(0, i - half_width); j < i; ++j) {
      out.push_back(j);
    }
  });
}

/// Each row draws `per_row` columns from the last `width` columns; repeated draws count once.
inline pattern random_band(vertex n, vertex width, int per_row, std::uint64_t seed) {
  random_stream random(seed);
  return pattern_of_rows(n, [&](vertex i, std::vector<vertex>& out) {
    const vertex first = std::max(0, i - width);
    for (int k = 0; i > 0 && k < per_row; ++k) {
      out.push_back(first + random.below(i - first));
    }
  });
}

}  // namespace sptrsv_common
