// Random matrices, and matrices with very long rows or columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "pattern.hpp"

namespace sptrsv_common {

/// Each row draws `per_row` columns from all earlier columns; repeated draws count once.
inline pattern uniform_random(vertex n, int per_row, std::uint64_t seed) {
  random_stream random(seed);
  return pattern_of_rows(n, [&](vertex i, std::vector<vertex>& out) {
    for (int k = 0; i > 0 && k < per_row; ++k) {
      out.push_back(random.below(i));
    }
  });
}

/// Which of the two distributions follow a power law: the lengths of rows, the frequencies of columns.
struct power_law {
  bool rows = false;
  bool columns = false;
};

/// About `mean` off-diagonal entries per row. With a power law in rows, the length of a row is
/// Pareto-distributed with exponent 2.5. With a power law in columns, the k-th most frequent column is drawn
/// with a frequency proportional to k^(-2/3), and the frequent columns are scattered over the matrix.
inline pattern power_law_random(vertex n, double mean, power_law where, std::uint64_t seed) {
  random_stream random(seed);
  const std::vector<vertex> column_of_rank = random_permutation(n, seed + 1);
  const auto length = [&] {
    const double shortest = mean / 3;  // the mean of this Pareto distribution is 3 times its minimum
    return where.rows ? shortest * std::pow(1 - random.uniform(), -1 / 1.5) : mean;
  };
  const auto column_before = [&](vertex i) {
    for (int attempt = 0; where.columns && attempt < 16; ++attempt) {
      const double rank = static_cast<double>(n) * std::pow(random.uniform(), 3);
      const vertex column = column_of_rank[static_cast<std::size_t>(rank)];
      if (column < i) {
        return column;
      }
    }
    return random.below(i);
  };
  return pattern_of_rows(n, [&](vertex i, std::vector<vertex>& out) {
    const auto draws = static_cast<vertex>(std::min(length(), static_cast<double>(i)));
    for (vertex k = 0; k < draws; ++k) {
      out.push_back(column_before(i));
    }
  });
}

/// The first column is full, the rest is diagonal: all rows wait for the first row.
inline pattern arrow_first_column(vertex n) {
  return pattern_of_rows(n, [](vertex i, std::vector<vertex>& out) {
    if (i > 0) {
      out.push_back(0);
    }
  });
}

/// The last row is full, the rest is diagonal: the last row waits for all others.
inline pattern arrow_last_row(vertex n) {
  return pattern_of_rows(n, [=](vertex i, std::vector<vertex>& out) {
    for (vertex j = 0; i == n - 1 && j < i; ++j) {
      out.push_back(j);
    }
  });
}

/// The lower triangle of a KKT matrix [H J^T; J -D] with a diagonal H. Rows of variables depend on no other
/// row; rows of constraints depend on 2 to 9 variables of a neighbourhood. The matrix has two levels.
inline pattern kkt_two_levels(vertex variables, vertex constraints, std::uint64_t seed) {
  random_stream random(seed);
  constexpr vertex neighbourhood = 2000;  // variables
  return pattern_of_rows(variables + constraints, [&](vertex i, std::vector<vertex>& out) {
    if (i < variables) {
      return;
    }
    const auto centre = static_cast<std::int64_t>(i - variables) * variables / constraints;
    const auto first = static_cast<vertex>(std::max<std::int64_t>(0, centre - neighbourhood / 2));
    const vertex terms = 2 + random.below(8);
    for (vertex k = 0; k < terms; ++k) {
      out.push_back(first + random.below(std::min(neighbourhood, variables - first)));
    }
  });
}

}  // namespace sptrsv_common
