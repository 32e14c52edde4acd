// SPDX-License-Identifier: Apache-2.0
// Nested dissection by METIS, where <metis.h> is installed. A program that includes this header links METIS;
// no other header of the library includes it.
#pragma once

#if __has_include(<metis.h>)
#include <metis.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "sptrsv/error.hpp"
#include "sptrsv/orderings.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Returns the nested dissection ordering of METIS (METIS_NodeND): little fill and few levels in complete
/// factors. The matrix is in host memory; see sptrsv/orderings.hpp.
///
/// @param a csr_view, csc_view or owning matrix in host memory.
/// @throws error errc::unsupported if METIS cannot count the entries or fails.
template <class Matrix>
auto nested_dissection(const Matrix& a) {
  using index = typename Matrix::view_type::index_type;
  const auto g = detail::orderings::graph_of(a, "nested_dissection");
  SPTRSV_EXPECTS(static_cast<std::int64_t>(g.vertices.size()) <= std::numeric_limits<idx_t>::max(),
                 errc::unsupported, "nested_dissection: METIS cannot count so many entries");
  auto size = static_cast<idx_t>(g.size());
  std::vector<idx_t> offsets(g.offsets.begin(), g.offsets.end());
  std::vector<idx_t> neighbours(g.vertices.begin(), g.vertices.end());
  std::vector<idx_t> order(static_cast<std::size_t>(size));
  std::vector<idx_t> place(order.size());
  if (size > 0) {
    SPTRSV_EXPECTS(METIS_NodeND(&size, offsets.data(), neighbours.data(), nullptr, nullptr, order.data(),
                                place.data()) == METIS_OK,
                   errc::unsupported, "nested_dissection: METIS failed");
  }
  return std::vector<index>(order.begin(), order.end());
}

}  // namespace sptrsv::SPTRSV_ABI
#endif
