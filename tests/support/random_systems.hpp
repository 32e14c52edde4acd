// Draws systems: a pattern of one of many families, a form of storage, and the layout of right-hand sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/generators/bands.hpp"
#include "common/generators/cholesky.hpp"
#include "common/generators/grids.hpp"
#include "common/generators/irregular.hpp"
#include "common/generators/networks.hpp"
#include "common/generators/orderings.hpp"
#include "common/generators/renumberings.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"
#include "support/patterns.hpp"
#include "support/random.hpp"

namespace sptrsv::testing {

/// Returns the entries below the diagonal of a generated lower triangle.
inline pattern strictly_lower(const sptrsv_common::pattern& lower, const std::string& name) {
  pattern made{name + "_" + std::to_string(lower.rows()), lower.rows(), {}};
  for (std::int64_t i = 0; i < made.size; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = lower.row_offsets[row]; e < lower.row_offsets[row + 1] - 1; ++e) {
      made.entries.push_back({i, lower.columns[static_cast<std::size_t>(e)]});
    }
  }
  return made;
}

/// Returns the lower triangle of L + L^T, rows and columns in random order.
inline pattern renumbered_at_random(const pattern& lower, std::uint64_t seed) {
  std::vector<sptrsv_common::entry> edges;
  for (const position& e : lower.entries) {
    edges.push_back(
        {static_cast<sptrsv_common::vertex>(e.row), static_cast<sptrsv_common::vertex>(e.column)});
  }
  const auto n = static_cast<sptrsv_common::vertex>(lower.size);
  return strictly_lower(sptrsv_common::pattern_of_edges(n, edges, sptrsv_common::random_permutation(n, seed)),
                        lower.name + "_renumbered");
}

/// Draws a family, its parameters, and for every fourth pattern a random order of the rows. A pattern has at
/// most 64 rows, few of them at most 300.
inline pattern draw_pattern(random_source& source) {
  namespace common = sptrsv_common;
  using common::vertex;
  const auto seed = source.bits();
  const auto size = static_cast<vertex>(source.below(16) == 0 ? source.below(301) : source.below(65));
  const auto up_to = [&](std::int64_t bound) { return static_cast<vertex>(1 + source.below(bound)); };
  const auto draw_grid = [&] {
    const bool solid = source.coin();
    return solid ? common::grid{up_to(4), up_to(4), up_to(4)} : common::grid{up_to(8), up_to(8), 1};
  };
  const auto draw_family = [&]() -> pattern {
    switch (source.below(24)) {
      case 0:
        return patterns::diagonal(size);
      case 1:
        return patterns::chain(size);
      case 2:
        return patterns::dense(size % 50);
      case 3:
        return patterns::arrow_row(size);
      case 4:
        return patterns::arrow_column(size);
      case 5:
        return patterns::band(size, up_to(12));
      case 6:
        return patterns::block_diagonal(size, up_to(40));
      case 7: {
        const vertex width = up_to(33);
        return patterns::layers(size, width, up_to(width));
      }
      case 8:
        return patterns::random(size, source.between(0.5, 12), seed);
      case 9:
        return patterns::power_law(size, seed);
      case 10:
        return strictly_lower(common::block_bidiagonal(up_to(8), up_to(8)), "block_bidiagonal");
      case 11:
        return strictly_lower(common::random_band(size, up_to(size + 1), up_to(6), seed), "random_band");
      case 12:
      case 13:
        return strictly_lower(common::star_stencil(draw_grid()), "star");
      case 14:
        return strictly_lower(common::box_stencil(draw_grid()), "box");
      case 15:
        return strictly_lower(common::kkt_two_levels(up_to(40), up_to(24), seed), "kkt");
      case 16:
        return strictly_lower(
            common::power_law_random(size, source.between(1, 9), {source.coin(), source.coin()}, seed),
            "power_law_random");
      case 17:
        return strictly_lower(common::kronecker(up_to(6), up_to(8), seed), "kronecker");
      case 18:
        return strictly_lower(common::random_geometric(8 + size, source.between(2, 8), seed), "geometric");
      case 19:
        return strictly_lower(common::triangulated_mesh(up_to(3), seed), "mesh");
      case 20:
        return strictly_lower(common::road_network(static_cast<std::uint32_t>(up_to(3)), seed), "road");
      case 21:
        return strictly_lower(common::complete_cholesky_of_grid(draw_grid()), "cholesky");
      case 22:
        return strictly_lower(common::incomplete_cholesky_of_grid(draw_grid(), common::ordering::rcm), "rcm");
      default: {
        const std::vector<std::string>& kinds = common::renumberings();
        const std::string& kind =
            kinds[static_cast<std::size_t>(source.below(static_cast<std::int64_t>(kinds.size())))];
        return strictly_lower(common::renumbered(common::star_stencil(draw_grid()), kind), "star_" + kind);
      }
    }
  };
  const pattern drawn = draw_family();
  return source.below(4) == 0 ? renumbered_at_random(drawn, seed) : drawn;
}

/// Draws one of the ways to store a system.
inline form draw_form(random_source& source) {
  constexpr op operations[] = {op::none, op::transpose, op::conj_transpose};
  constexpr content contents[] = {content::triangle, content::general, content::ascending};
  form f;
  f.part = source.coin() ? uplo::lower : uplo::upper;
  f.diagonal = source.coin() ? diag::unit : diag::non_unit;
  f.operation = operations[source.below(3)];
  f.by_columns = source.coin();
  f.holds = contents[source.below(3)];
  f.stores_diagonal = f.diagonal == diag::non_unit || source.coin();
  return f;
}

/// Draws a layout by columns, by rows or scattered, with gaps of at most five elements.
inline layout draw_layout(random_source& source, std::int64_t rows, std::int64_t columns) {
  switch (source.below(5)) {
    case 0:
    case 1:
      return column_major(rows, columns, source.below(6));
    case 2:
    case 3:
      return row_major(rows, columns, source.below(6));
    default:
      return scattered(rows, columns);
  }
}

}  // namespace sptrsv::testing
