// SPDX-License-Identifier: Apache-2.0
// Orderings of a matrix that change how many levels its factors have, how well they approximate it, and how
// much fill a complete factorisation has. An ordering is a vector: element k is the row and column of A that
// becomes row and column k. factors_options::order_by takes it.
//
// The functions of this header read the pattern of a square matrix in host memory. They work on the pattern
// of A + A^T; values may be anything. All of them are deterministic. For a malformed matrix they throw error
// as structure_of does; errc::unsupported if the offset type cannot count twice the entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail::orderings {

/// Returns the undirected graph of A + A^T without the diagonal: the neighbours of each row, ascending. Reads
/// the pattern of a square matrix, which is checked. `taker`: see check_space.
template <class Matrix>
auto graph_of(const Matrix& matrix, const char* taker) {
  using view_type = typename Matrix::view_type;
  using index = typename view_type::index_type;
  using offset = typename view_type::offset_type;
  const view_type view = view_of(matrix);
  const pattern_view<index, offset> a = pattern_of(view);
  check_shape<typename view_type::value_type>(view.rows, view.columns, a, system_options{});
  check_on_host(view, taker);
  SPTRSV_EXPECTS(a.entries <= max_count<offset> / 2, errc::unsupported, a.entries,
                 " entries: the offset type cannot count those of A + A^T");
  auto graph = undirected_edges<index, offset>(a, [](std::int64_t, index) { return true; });
  auto& [offsets, neighbours] = graph;
  offset kept = 0;
  offset first = 0;
  for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {  // removes what is there twice
    const auto begin = neighbours.begin() + first;
    first = offsets[v + 1];
    std::sort(begin, neighbours.begin() + first);
    const auto end = std::unique(begin, neighbours.begin() + first);
    kept = static_cast<offset>(std::copy(begin, end, neighbours.begin() + kept) - neighbours.begin());
    offsets[v + 1] = kept;
  }
  neighbours.resize(at(kept));
  return graph;
}

}  // namespace detail::orderings

/// A partition of the rows into colours: rows of one colour do not need each other.
template <class Index>
struct colouring {
  std::vector<Index> colour_of_row;  ///< by row, from 0
  std::int64_t colours = 0;          ///< number of colours

  /// Returns the rows sorted by colour; rows of one colour keep their order. Throws errc::invalid_argument if
  /// a colour is not below `colours`, or if there are more colours than rows.
  [[nodiscard]] std::vector<Index> order() const {
    SPTRSV_EXPECTS(colours >= 0 && colours <= static_cast<std::int64_t>(colour_of_row.size()) &&
                       std::all_of(colour_of_row.begin(), colour_of_row.end(),
                                   [&](Index c) { return c >= 0 && c < colours; }),
                   errc::invalid_argument, "a row has a colour that is not below the number of colours, ",
                   colours);
    std::vector<Index> offsets;
    return detail::group_entries(colour_of_row.data(), colour_of_row.size(), colours, offsets);
  }
};

/// Returns the reverse Cuthill-McKee ordering: a small bandwidth, many levels, and often fewer iterations
/// with an incomplete factorisation. Each connected component is searched breadth-first from a row far away
/// from the others (George and Liu 1979), neighbours by degree.
///
/// @param a csr_view, csc_view or owning matrix in host memory.
template <class Matrix>
auto reverse_cuthill_mckee(const Matrix& a) {
  using index = typename Matrix::view_type::index_type;
  const auto g = detail::orderings::graph_of(a, "reverse_cuthill_mckee");
  std::vector<index> order;
  std::vector<index> depth(detail::at(g.size()), index{-1});  // -1: not seen
  order.reserve(depth.size());
  // Appends the component of `root` to `order` in breadth-first order and returns the largest depth.
  const auto search = [&](index root) {
    std::size_t next = order.size();
    order.push_back(root);
    depth[detail::at(root)] = 0;
    while (next < order.size()) {
      const index v = order[next++];
      const auto first = static_cast<std::ptrdiff_t>(order.size());
      for (const index* w = g.begin(v); w != g.end(v); ++w) {
        if (depth[detail::at(*w)] < 0) {
          depth[detail::at(*w)] = static_cast<index>(depth[detail::at(v)] + 1);
          order.push_back(*w);
        }
      }
      std::stable_sort(order.begin() + first, order.end(),
                       [&](index v1, index v2) { return g.degree(v1) < g.degree(v2); });
    }
    return depth[detail::at(order.back())];
  };
  for (index v = 0; v < static_cast<index>(g.size()); ++v) {
    if (depth[detail::at(v)] >= 0) {
      continue;
    }
    const std::size_t begin = order.size();
    index root = v;
    index deepest = -1;
    for (index found = search(root); found > deepest; found = search(root)) {
      deepest = found;
      // Of the rows that are farthest away, the one with the fewest neighbours is the next root.
      root = order.back();
      for (std::size_t k = order.size(); k-- > begin && depth[detail::at(order[k])] == found;) {
        root = g.degree(order[k]) < g.degree(root) ? order[k] : root;
      }
      for (std::size_t k = begin; k < order.size(); ++k) {
        depth[detail::at(order[k])] = -1;
      }
      order.resize(begin);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// Returns a colouring: each row takes, in the order of the rows, the smallest colour that no neighbour has.
/// A matrix in the order of its colours has factors without fill-in with as many levels as colours.
///
/// @param a csr_view, csc_view or owning matrix in host memory.
template <class Matrix>
auto greedy_colouring(const Matrix& a) {
  using index = typename Matrix::view_type::index_type;
  const auto g = detail::orderings::graph_of(a, "greedy_colouring");
  const auto size = detail::at(g.size());
  colouring<index> made;
  made.colour_of_row.assign(size, index{-1});
  std::vector<index> taken_by(size + 1, index{-1});  // by colour: the last row with such a neighbour
  for (index v = 0; v < static_cast<index>(g.size()); ++v) {
    for (const index* w = g.begin(v); w != g.end(v); ++w) {
      const index colour = made.colour_of_row[detail::at(*w)];
      if (colour >= 0) {
        taken_by[detail::at(colour)] = v;
      }
    }
    index colour = 0;
    while (taken_by[detail::at(colour)] == v) {
      ++colour;
    }
    made.colour_of_row[detail::at(v)] = colour;
    made.colours = std::max(made.colours, static_cast<std::int64_t>(colour) + 1);
  }
  return made;
}

/// Returns the inverse of a permutation: element order[k] is k.
///
/// @param order each number below its size once.
/// @throws error errc::index_out_of_range, or errc::invalid_argument if it is no permutation, with the
///   element.
template <class Index>
std::vector<Index> inverse_order(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size(), Index{-1});
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto row = static_cast<std::int64_t>(order[k]);
    const auto where = static_cast<std::int64_t>(k);
    detail::expect_of_row(row >= 0 && row < static_cast<std::int64_t>(order.size()), errc::index_out_of_range,
                          where, "entry ", k, " of the order is negative or not below its size");
    detail::expect_of_row(inverse[detail::at(row)] < 0, errc::invalid_argument, where, "entry ", k,
                          " of the order repeats row ", row);
    inverse[detail::at(row)] = static_cast<Index>(k);
  }
  return inverse;
}

/// A matrix with rows and columns in another order.
template <class Value, class Index, class Offset>
struct reordered_matrix {
  csr_matrix<Value, Index, Offset> matrix;  ///< columns of a row ascend
  std::vector<Offset> sources;              ///< by entry: its index in the values of the original matrix

  /// Replaces the values by those of the original matrix, in its order.
  ///
  /// @throws error errc::size_mismatch if the number of values is another one, or if `matrix` was moved from;
  ///   errc::invalid_argument for a null pointer; errc::wrong_memory_space.
  void update_values(span<const Value> original) {
    SPTRSV_EXPECTS(original.size() == sources.size(), errc::size_mismatch, "update_values got ",
                   original.size(), " values for a matrix of ", sources.size(), " entries");
    SPTRSV_EXPECTS(matrix.values.size() == sources.size(), errc::size_mismatch, "the reordered matrix has ",
                   matrix.values.size(), " values and ", sources.size(),
                   " sources: it was moved from or changed");
    detail::check_space<detail::host_executor>(original.data(), static_cast<std::int64_t>(sources.size()),
                                               "the array of values", "update_values");
    for (std::size_t e = 0; e < sources.size(); ++e) {
      matrix.values[e] = original[detail::at(sources[e])];
    }
  }
};

/// Returns the matrix in a new order: entry (k, l) is entry (order[k], order[l]) of `a`. Host memory.
///
/// @param a a square matrix by rows.
/// @param order the row of `a` for each row of the result.
/// @throws error errc::size_mismatch if the order or an array of `a` has another size; as to_csc for a
///   malformed matrix; see inverse_order.
template <class Value, class Index, class Offset>
reordered_matrix<Value, Index, Offset> reordered(const csr_matrix<Value, Index, Offset>& a,
                                                 const std::vector<Index>& order) {
  SPTRSV_EXPECTS(static_cast<std::int64_t>(order.size()) == a.rows && a.rows == a.columns,
                 errc::size_mismatch, "an order of ", order.size(), " rows for a matrix of ", a.rows, " x ",
                 a.columns);
  detail::check_on_host(a.view(), "reordered");
  const std::vector<Index> place = inverse_order(order);
  reordered_matrix<Value, Index, Offset> made;
  made.matrix.rows = made.matrix.columns = a.rows;
  made.matrix.row_offsets.push_back(0);
  std::vector<std::pair<Index, Offset>> row;
  for (const Index from : order) {
    row.clear();
    for (Offset e = a.row_offsets[detail::at(from)]; e < a.row_offsets[detail::at(from) + 1]; ++e) {
      row.emplace_back(place[detail::at(a.column_indices[detail::at(e)])], e);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, source] : row) {
      made.matrix.column_indices.push_back(column);
      made.sources.push_back(source);
    }
    made.matrix.row_offsets.push_back(static_cast<Offset>(made.sources.size()));
  }
  made.matrix.values.resize(made.sources.size());
  made.update_values(a.values);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI
