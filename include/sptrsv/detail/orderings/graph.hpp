// SPDX-License-Identifier: Apache-2.0
// The graph of a matrix on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail::orderings {

/// The undirected graph of A + A^T without the diagonal: the neighbours of each row, ascending.
template <class Index, class Offset>
class graph {
 public:
  /// Reads the pattern of a square matrix, which is checked. `taker`: see check_space.
  template <class Matrix>
  graph(const Matrix& matrix, const char* taker) {
    const auto view = view_of(matrix);
    const pattern_view<Index, Offset> a = pattern_of(view);
    check_shape<typename Matrix::view_type::value_type>(view.rows, view.columns, a, system_options{});
    check_on_host(view, taker);
    SPTRSV_EXPECTS(a.entries <= max_count<Offset> / 2, errc::unsupported,
                   std::to_string(a.entries) + " entries: the offset type cannot count those of A + A^T");
    lists_ = undirected_edges<Index, Offset>(a, [](std::int64_t, Index) { return true; });
    remove_duplicates();
  }

  [[nodiscard]] std::int64_t size() const { return lists_.size(); }
  [[nodiscard]] Offset degree(Index v) const { return static_cast<Offset>(end(v) - begin(v)); }
  [[nodiscard]] const Index* begin(Index v) const { return lists_.begin(v); }
  [[nodiscard]] const Index* end(Index v) const { return lists_.end(v); }
  [[nodiscard]] const std::vector<Offset>& offsets() const { return lists_.offsets; }
  [[nodiscard]] const std::vector<Index>& neighbours() const { return lists_.vertices; }

 private:
  void remove_duplicates() {
    auto& [offsets, neighbours] = lists_;
    Offset kept = 0;
    Offset first = 0;
    for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {
      const auto begin = neighbours.begin() + first;
      first = offsets[v + 1];
      std::sort(begin, neighbours.begin() + first);
      const auto end = std::unique(begin, neighbours.begin() + first);
      kept = static_cast<Offset>(std::copy(begin, end, neighbours.begin() + kept) - neighbours.begin());
      offsets[v + 1] = kept;
    }
    neighbours.resize(static_cast<std::size_t>(kept));
  }

  vertex_lists<Index, Offset> lists_;
};

template <class Matrix>
using graph_of = graph<typename Matrix::view_type::index_type, typename Matrix::view_type::offset_type>;

}  // namespace sptrsv::SPTRSV_ABI::detail::orderings
