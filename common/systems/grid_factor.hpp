// The complete Cholesky factor of a grid, row by row: a program that has only some of its rows need not make
// the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/generators/cholesky.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_common {

/// The factor L of the 5-point or 7-point matrix of a grid in nested dissection order, with random values and
/// a dominant diagonal. The columns of row i are the ancestors, in the elimination tree and below i, of the
/// neighbours of point i (Liu 1990). The object holds the tree, but no entry of L.
class grid_factor {
 public:
  explicit grid_factor(const grid& g)
      : grid_(g),
        new_number_(nested_dissection(g).new_number()),
        point_(new_number_.size()),
        parent_(new_number_.size(), -1),
        first_entry_(new_number_.size() + 1, 0) {
    for (std::size_t p = 0; p < point_.size(); ++p) {
      point_[static_cast<std::size_t>(new_number_[p])] = static_cast<vertex>(p);
    }
    find_tree();
    std::vector<vertex> seen(point_.size(), -1);
    for (vertex i = 0; i < rows(); ++i) {
      std::int64_t length = 1;
      visit_row(i, seen, [&](vertex) { ++length; });
      first_entry_[static_cast<std::size_t>(i) + 1] = first_entry_[static_cast<std::size_t>(i)] + length;
    }
  }

  [[nodiscard]] vertex rows() const { return static_cast<vertex>(point_.size()); }
  [[nodiscard]] std::int64_t entries() const { return first_entry_.back(); }

  /// Returns the first of the rows of part `part` of `parts`, which have about the same number of entries.
  [[nodiscard]] vertex first_row(int part, int parts) const {
    const std::int64_t before = entries() * part / parts;
    const auto at = std::lower_bound(first_entry_.begin(), first_entry_.end(), before);
    return static_cast<vertex>(at - first_entry_.begin());
  }

  /// Returns rows [begin, end) of L, with the column indices of L.
  [[nodiscard]] sptrsv::csr_matrix<double> make_rows(vertex begin, vertex end) const {
    sptrsv::csr_matrix<double> made{end - begin, rows(), {0}, {}, {}};
    std::vector<vertex> seen(point_.size(), -1);
    for (vertex i = begin; i < end; ++i) {
      const std::size_t first = made.column_indices.size();
      visit_row(i, seen, [&](vertex j) { made.column_indices.push_back(j); });
      std::sort(made.column_indices.begin() + static_cast<std::ptrdiff_t>(first), made.column_indices.end());
      const auto length = static_cast<double>(made.column_indices.size() - first + 1);
      for (std::size_t e = first; e < made.column_indices.size(); ++e) {
        const auto counter =
            static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint32_t>(made.column_indices[e]);
        made.values.push_back((2 * uniform(counter, 1) - 1) / length);
      }
      made.column_indices.push_back(i);
      made.values.push_back(1 + uniform(static_cast<std::uint64_t>(i), 2));
      made.row_offsets.push_back(static_cast<std::int32_t>(made.column_indices.size()));
    }
    return made;
  }

 private:
  /// Calls visit(j) for each neighbour j < i of point i, in the new numbers.
  template <class Visit>
  void visit_neighbours(vertex i, const Visit& visit) const {
    const vertex p = point_[static_cast<std::size_t>(i)];
    const vertex steps[] = {1, grid_.x, grid_.x * grid_.y};
    const vertex at[] = {p % grid_.x, p / grid_.x % grid_.y, p / (grid_.x * grid_.y)};
    const vertex sizes[] = {grid_.x, grid_.y, grid_.z};
    for (int d = 0; d < 3; ++d) {
      for (const vertex side : {-1, 1}) {
        if (at[d] + side >= 0 && at[d] + side < sizes[d]) {
          const vertex j = new_number_[static_cast<std::size_t>(p + side * steps[d])];
          if (j < i) {
            visit(j);
          }
        }
      }
    }
  }
  /// Finds the elimination tree, with paths that are shortened to the roots of the subtrees.
  void find_tree() {
    std::vector<vertex> ancestor(point_.size(), -1);
    for (vertex i = 0; i < rows(); ++i) {
      visit_neighbours(i, [&](vertex j) {
        while (j >= 0 && j != i) {
          const vertex next = std::exchange(ancestor[static_cast<std::size_t>(j)], i);
          if (next < 0) {
            parent_[static_cast<std::size_t>(j)] = i;
          }
          j = next;
        }
      });
    }
  }
  /// Calls visit(j) for each column j < i of row i. `seen`: by column, the row that has visited it last.
  template <class Visit>
  void visit_row(vertex i, std::vector<vertex>& seen, const Visit& visit) const {
    visit_neighbours(i, [&](vertex j) {
      for (; j != i && seen[static_cast<std::size_t>(j)] != i; j = parent_[static_cast<std::size_t>(j)]) {
        seen[static_cast<std::size_t>(j)] = i;
        visit(j);
      }
    });
  }

  grid grid_;
  std::vector<vertex> new_number_;         // by point
  std::vector<vertex> point_;              // by new number
  std::vector<vertex> parent_;             // in the elimination tree; -1: root
  std::vector<std::int64_t> first_entry_;  // by row, rows + 1
};

}  // namespace sptrsv_common
