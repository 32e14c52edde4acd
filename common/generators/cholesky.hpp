// Complete Cholesky factors of grids in nested dissection order. They have supernodes: narrow ones at the
// leaves of the elimination tree, dense triangles at its root. The factorisation is symbolic: it makes the
// pattern only.
#pragma once

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "grids.hpp"
#include "orderings.hpp"
#include "pattern.hpp"

namespace sptrsv_common {

/// Nested dissection (George 1973) of a regular grid: the points of a plane across the longest side get the
/// last numbers, and the two halves are numbered in the same way.
class nested_dissection {
 public:
  explicit nested_dissection(const grid& g) : grid_(g), new_number_(static_cast<std::size_t>(g.points())) {
    split({{0, 0, 0}, {g.x, g.y, g.z}});
  }
  /// Returns the new number of each point.
  [[nodiscard]] const std::vector<vertex>& new_number() const { return new_number_; }

 private:
  struct box {
    vertex low[3];
    vertex high[3];
  };
  static constexpr vertex leaf = 4;  // points; a box with at most so many in each direction is not split

  void split(const box& b) {
    int longest = 0;
    for (int d = 0; d < 3; ++d) {
      if (b.low[d] >= b.high[d]) {
        return;
      }
      longest = b.high[d] - b.low[d] > b.high[longest] - b.low[longest] ? d : longest;
    }
    if (b.high[longest] - b.low[longest] <= leaf) {
      number(b);
      return;
    }
    const vertex middle = (b.low[longest] + b.high[longest]) / 2;
    box left = b;
    box right = b;
    box separator = b;
    left.high[longest] = separator.low[longest] = middle;
    right.low[longest] = separator.high[longest] = middle + 1;
    split(left);
    split(right);
    number(separator);
  }

  void number(const box& b) {
    for (vertex z = b.low[2]; z < b.high[2]; ++z) {
      for (vertex y = b.low[1]; y < b.high[1]; ++y) {
        for (vertex x = b.low[0]; x < b.high[0]; ++x) {
          new_number_[static_cast<std::size_t>((z * grid_.y + y) * grid_.x + x)] = next_++;
        }
      }
    }
  }

  grid grid_;
  vertex next_ = 0;
  std::vector<vertex> new_number_;
};

/// Returns the pattern of the Cholesky factor L of a matrix A with the lower triangle `a`: column j of L has
/// the rows of column j of A and of the columns whose parent in the elimination tree is j (George and Liu
/// 1981).
inline pattern symbolic_cholesky(const pattern& a) {
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<std::vector<vertex>> column(n);  // by column: rows below the diagonal, ascending
  std::vector<std::vector<vertex>> children(n);
  for (vertex i = 0; i < a.rows(); ++i) {
    for (vertex e = a.row_offsets[static_cast<std::size_t>(i)];
         e < a.row_offsets[static_cast<std::size_t>(i) + 1] - 1; ++e) {
      column[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])].push_back(i);
    }
  }
  std::vector<vertex> row_lengths(n, 1);
  std::vector<vertex> merged;
  for (std::size_t j = 0; j < n; ++j) {
    auto& rows = column[j];
    for (const vertex child : children[j]) {
      const auto& below = column[static_cast<std::size_t>(child)];  // its first row is j
      merged.clear();
      std::set_union(rows.begin(), rows.end(), below.begin() + 1, below.end(), std::back_inserter(merged));
      rows.swap(merged);
    }
    if (!rows.empty()) {
      children[static_cast<std::size_t>(rows.front())].push_back(static_cast<vertex>(j));
    }
    for (const vertex i : rows) {
      ++row_lengths[static_cast<std::size_t>(i)];
    }
  }
  pattern factor;
  factor.row_offsets.resize(n + 1);
  std::partial_sum(row_lengths.begin(), row_lengths.end(), factor.row_offsets.begin() + 1);
  factor.columns.resize(static_cast<std::size_t>(factor.row_offsets.back()));
  std::vector<vertex> cursor(factor.row_offsets.begin(), factor.row_offsets.end() - 1);
  for (std::size_t j = 0; j < n; ++j) {
    factor.columns[static_cast<std::size_t>(factor.row_offsets[j + 1]) - 1] = static_cast<vertex>(j);
    for (const vertex i : column[j]) {
      factor.columns[static_cast<std::size_t>(cursor[static_cast<std::size_t>(i)]++)] =
          static_cast<vertex>(j);
    }
  }
  return factor;
}

/// Returns the complete factor of the 5-point or 7-point matrix of a grid in nested dissection order.
inline pattern complete_cholesky_of_grid(const grid& g) {
  return symbolic_cholesky(pattern_of_edges(g.points(), star_edges(g), nested_dissection(g).new_number()));
}

}  // namespace sptrsv_common
