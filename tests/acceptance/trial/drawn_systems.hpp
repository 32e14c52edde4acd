// Draws systems for the trial: the small ones of the random suite, and larger ones that have many thread
// blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/cases.hpp"
#include "support/random_systems.hpp"

namespace sptrsv_trial {

namespace support = sptrsv::testing;

enum class system_size { small, large };

/// Draws a pattern of some hundred to 20,000 rows. Its levels are few enough for policies that launch a
/// kernel per level.
inline support::pattern draw_large_pattern(support::random_source& source) {
  namespace common = sptrsv_common;
  using common::vertex;
  const auto seed = source.bits();
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return static_cast<vertex>(low + source.below(high - low + 1));
  };
  const auto lower = [](const common::pattern& made, const char* name) {
    return support::strictly_lower(made, name);
  };
  switch (source.below(14)) {
    case 0:
      return support::patterns::chain(between(300, 900));
    case 1:
      return lower(common::star_stencil({between(20, 130), between(20, 130), 1}), "star");
    case 2:
      return lower(common::star_stencil({between(8, 26), between(8, 26), between(8, 26)}), "star");
    case 3:
      return lower(common::box_stencil({between(6, 14), between(6, 14), between(6, 14)}), "box");
    case 4: {
      const vertex n = between(2000, 20000);
      return lower(common::random_band(n, between(n / 200, n), static_cast<int>(between(1, 10)), seed),
                   "random_band");
    }
    case 5:
      return lower(common::kkt_two_levels(between(500, 8000), between(300, 4000), seed), "kkt");
    case 6:
      return lower(common::power_law_random(between(1000, 8000), 5, {source.coin(), source.coin()}, seed),
                   "power_law_random");
    case 7:
      return lower(common::kronecker(static_cast<int>(between(8, 11)), 8, seed), "kronecker");
    case 8:
      return lower(common::random_geometric(between(1000, 10000), 5, seed), "geometric");
    case 9:
      return lower(common::triangulated_mesh(static_cast<int>(between(4, 6)), seed), "mesh");
    case 10:
      return lower(common::road_network(static_cast<std::uint32_t>(between(8, 24)), seed), "road");
    case 11:
      return lower(common::complete_cholesky_of_grid({between(8, 24), between(8, 24), 1}), "cholesky");
    case 12:
      return lower(source.coin() ? common::arrow_last_row(between(300, 20000))
                                 : common::arrow_first_column(between(300, 20000)),
                   "arrow");
    default: {
      const std::vector<std::string>& kinds = common::renumberings();
      const std::string& kind =
          kinds[static_cast<std::size_t>(source.below(static_cast<std::int64_t>(kinds.size())))];
      return lower(common::renumbered(common::star_stencil({between(20, 90), between(20, 90), 1}), kind),
                   ("star_" + kind).c_str());
    }
  }
}

inline support::pattern draw_pattern_of(system_size size, support::random_source& source) {
  return size == system_size::small ? support::draw_pattern(source) : draw_large_pattern(source);
}

/// Returns the random numbers of a case: those of the round's seed, other ones for each policy.
inline support::random_source source_of_case(std::uint64_t seed, const std::string& policy) {
  return support::random_source(support::random_source(seed).bits() + support::turn_of(policy));
}

}  // namespace sptrsv_trial
