// What a generator makes: the pattern of a lower triangle. All of them draw from a seeded stream of random
// numbers that is the same on every machine, so a name stands for one matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/error.hpp"

namespace sptrsv_benchmarks {

using vertex = std::int32_t;

/// A lower triangle by rows: columns ascend and the diagonal stands last in each row. Most have no values:
/// whoever needs them seeds them, since the time of a solve does not depend on them.
struct pattern {
  std::vector<vertex> row_offsets{0};
  std::vector<vertex> columns;
  std::vector<double> values;  ///< of all entries, or of none

  [[nodiscard]] vertex rows() const { return static_cast<vertex>(row_offsets.size() - 1); }
  void end_row() {
    SPTRSV_EXPECTS(columns.size() < static_cast<std::size_t>(std::numeric_limits<vertex>::max()),
                   sptrsv::errc::invalid_argument, "a generated matrix has more entries than 32 bits count");
    columns.push_back(rows());
    row_offsets.push_back(static_cast<vertex>(columns.size()));
  }
};

/// SplitMix64 (Steele, Lea and Flood 2014). The distributions of <random> differ between standard libraries.
class random_stream {
 public:
  explicit random_stream(std::uint64_t seed) : state_(seed * 0xd1342543de82ef95u) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// In [0, bound).
  vertex below(vertex bound) {
    return static_cast<vertex>((bits() >> 32) * static_cast<std::uint64_t>(bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Rows from their off-diagonal columns: `columns_of(i, out)` appends columns < i in any order; what it
/// appends twice counts once.
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

/// The strictly lower ones of `entries` (which may repeat), and the diagonal. `place_of`, if not empty, is
/// the new number of each row and column.
inline pattern pattern_of_entries(vertex n, const std::vector<entry>& entries,
                                  const std::vector<vertex>& place_of = {}) {
  const auto moved = [&](entry e) {
    const auto place = [&](vertex v) { return place_of.empty() ? v : place_of[static_cast<std::size_t>(v)]; };
    return entry{place(e.row), place(e.column)};
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

/// Both directions of each edge: the pattern of a symmetric matrix.
inline std::vector<entry> both_directions(const std::vector<entry>& edges) {
  std::vector<entry> made;
  made.reserve(2 * edges.size());
  for (const entry& e : edges) {
    made.push_back(e);
    made.push_back({e.column, e.row});
  }
  return made;
}

/// The lower triangle of the symmetric matrix with these edges.
inline pattern pattern_of_edges(vertex n, const std::vector<entry>& edges,
                                const std::vector<vertex>& place_of = {}) {
  return pattern_of_entries(n, both_directions(edges), place_of);
}

/// 0 ... n - 1 in random order (Fisher and Yates).
inline std::vector<vertex> random_permutation(vertex n, std::uint64_t seed) {
  random_stream random(seed);
  std::vector<vertex> made(static_cast<std::size_t>(n));
  std::iota(made.begin(), made.end(), 0);
  for (vertex i = n - 1; i > 0; --i) {
    std::swap(made[static_cast<std::size_t>(i)], made[static_cast<std::size_t>(random.below(i + 1))]);
  }
  return made;
}

}  // namespace sptrsv_benchmarks
