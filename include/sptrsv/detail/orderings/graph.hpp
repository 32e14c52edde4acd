// SPDX-License-Identifier: Apache-2.0
// The graph of a matrix on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail::orderings {

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

}  // namespace sptrsv::SPTRSV_ABI::detail::orderings
