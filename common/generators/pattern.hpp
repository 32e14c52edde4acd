// The pattern of a lower triangle, which all generators make. Generators draw from a seeded stream of random
// numbers that is the same on every machine, so each name stands for one matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/systems/seeded_values.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_common {

/// Number of a row and column, or of a vertex of the graph of a matrix.
using vertex = std::int32_t;

/// A lower triangle stored by rows. The columns of a row ascend, so the diagonal is the last entry. Most
/// generators make no values, because the time of a solve does not depend on them; programs seed the values.
struct pattern {
  std::vector<vertex> row_offsets{0};
  std::vector<vertex> columns;
  std::vector<double> values;  ///< of all entries; empty if the generator makes no values

  [[nodiscard]] vertex rows() const { return static_cast<vertex>(row_offsets.size() - 1); }
  /// Appends the diagonal entry of the row whose columns were appended last.
  void end_row() {
    SPTRSV_EXPECTS(columns.size() < static_cast<std::size_t>(std::numeric_limits<vertex>::max()),
                   sptrsv::errc::invalid_argument, "a generated matrix has more entries than 32 bits count");
    columns.push_back(rows());
    row_offsets.push_back(static_cast<vertex>(columns.size()));
  }
};

/// A stream of random numbers (SplitMix64).
class random_stream {
 public:
  explicit random_stream(std::uint64_t seed) : state_(seed * 0xd1342543de82ef95u) {}

  std::uint64_t bits() { return split_mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Returns a number in [0, 1).
  double uniform() { return unit_interval(bits()); }
  /// Returns a number in [0, bound).
  vertex below(vertex bound) {
    return static_cast<vertex>((bits() >> 32) * static_cast<std::uint64_t>(bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Makes a pattern of `n` rows. `columns_of(i, out)` appends the off-diagonal columns of row i to `out`, all
/// < i, in any order; a column that it appends twice counts once.
template <class ColumnsOf>
pattern pattern_of_rows(vertex n, ColumnsOf columns_of) {
  pattern made;
  made.row_offsets.reserve(static_cast<std::size_t>(n) + 1);
  for (vertex i = 0; i < n; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(made.columns.size());
    columns_of(i, made.columns);
    const auto begin = made.columns.begin() + first;
    if (!std::is_sorted(begin, made.columns.end())) {
      std::sort(begin, made.columns.end());
    }
    made.columns.erase(std::unique(begin, made.columns.end()), made.columns.end());
    made.end_row();
  }
  return made;
}

/// An off-diagonal entry of a matrix, or an edge of its graph.
struct entry {
  vertex row;
  vertex column;
};

/// Makes the pattern of the strictly lower `entries` and the diagonal. Entries may be repeated. `new_number`,
/// if it is not empty, holds the new number of each row and column.
inline pattern pattern_of_entries(vertex n, const std::vector<entry>& entries,
                                  const std::vector<vertex>& new_number = {}) {
  const auto moved = [&](entry e) {
    const auto number = [&](vertex v) {
      return new_number.empty() ? v : new_number[static_cast<std::size_t>(v)];
    };
    return entry{number(e.row), number(e.column)};
  };
  std::vector<vertex> offsets(static_cast<std::size_t>(n) + 1, 0);
  for (const entry& e : entries) {
    const entry m = moved(e);
    offsets[static_cast<std::size_t>(m.row) + 1] += m.column < m.row ? 1 : 0;
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<vertex> columns(static_cast<std::size_t>(offsets.back()));
  std::vector<vertex> cursor(offsets.begin(), offsets.end() - 1);
  for (const entry& e : entries) {
    const entry m = moved(e);
    if (m.column < m.row) {
      columns[static_cast<std::size_t>(cursor[static_cast<std::size_t>(m.row)]++)] = m.column;
    }
  }
  return pattern_of_rows(n, [&](vertex i, std::vector<vertex>& out) {
    const auto row = static_cast<std::size_t>(i);
    out.insert(out.end(), columns.begin() + offsets[row], columns.begin() + offsets[row + 1]);
  });
}

/// Returns each edge in both directions: the off-diagonal entries of a symmetric matrix.
inline std::vector<entry> both_directions(const std::vector<entry>& edges) {
  std::vector<entry> made;
  made.reserve(2 * edges.size());
  for (const entry& e : edges) {
    made.push_back(e);
    made.push_back({e.column, e.row});
  }
  return made;
}

/// Makes the lower triangle of the symmetric matrix with these edges.
inline pattern pattern_of_edges(vertex n, const std::vector<entry>& edges,
                                const std::vector<vertex>& new_number = {}) {
  return pattern_of_entries(n, both_directions(edges), new_number);
}

/// Returns 0 ... n - 1 in random order (Fisher and Yates).
inline std::vector<vertex> random_permutation(vertex n, std::uint64_t seed) {
  random_stream random(seed);
  std::vector<vertex> made(static_cast<std::size_t>(n));
  std::iota(made.begin(), made.end(), 0);
  for (vertex i = n - 1; i > 0; --i) {
    std::swap(made[static_cast<std::size_t>(i)], made[static_cast<std::size_t>(random.below(i + 1))]);
  }
  return made;
}

}  // namespace sptrsv_common
