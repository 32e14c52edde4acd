// Patterns of strictly lower triangles: small systems with different dependencies between rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace sptrsv::testing {

struct position {
  std::int64_t row;
  std::int64_t column;
};

/// The entries below the diagonal, sorted by row, then by column.
struct pattern {
  std::string name;
  std::int64_t size = 0;
  std::vector<position> entries;
};

namespace patterns {

/// Returns all entries (row, column) with column < row for which `holds` is true.
template <class Holds>
pattern where(const std::string& name, std::int64_t size, Holds holds) {
  pattern made{name + "_" + std::to_string(size), size, {}};
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (holds(i, j)) {
        made.entries.push_back({i, j});
      }
    }
  }
  return made;
}

inline pattern diagonal(std::int64_t size) {
  return where("diagonal", size, [](auto, auto) { return false; });
}
/// One level for each row: the deepest pattern.
inline pattern chain(std::int64_t size) {
  pattern made{"chain_" + std::to_string(size), size, {}};
  for (std::int64_t i = 1; i < size; ++i) {
    made.entries.push_back({i, i - 1});
  }
  return made;
}
/// A chain whose first rows need another row, too: narrow, and different from its upper triangle read
/// backwards.
inline pattern uneven_chain(std::int64_t size) {
  return where("uneven_chain", size,
               [=](auto i, auto j) { return j == i - 1 || (i < size / 3 && j == i - 5); });
}
inline pattern dense(std::int64_t size) {
  return where("dense", size, [](auto, auto) { return true; });
}
/// The last row needs all others: one long row.
inline pattern arrow_row(std::int64_t size) {
  return where("arrow_row", size, [=](auto i, auto) { return i == size - 1; });
}
/// All rows need the first: one long column.
inline pattern arrow_column(std::int64_t size) {
  return where("arrow_column", size, [](auto, auto j) { return j == 0; });
}
inline pattern band(std::int64_t size, std::int64_t width) {
  return where("band", size, [=](auto i, auto j) { return i - j <= width; });
}
inline pattern block_diagonal(std::int64_t size, std::int64_t block) {
  return where("block_diagonal", size, [=](auto i, auto j) { return i / block == j / block; });
}
/// Several levels of `width` rows; each row needs some rows of the level before.
inline pattern layers(std::int64_t size, std::int64_t width, std::int64_t needed) {
  return where("layers", size,
               [=](auto i, auto j) { return i / width == j / width + 1 && (j + i * 7) % width < needed; });
}

/// Every entry with the same probability; about `mean` entries in each row.
inline pattern random(std::int64_t size, double mean, std::uint64_t seed) {
  random_source source(seed);
  return where("random", size,
               [&](auto i, auto) { return source.fraction() * static_cast<double>(i) < mean; });
}

/// Few rows and few columns have many entries, most have few.
inline pattern power_law(std::int64_t size, std::uint64_t seed) {
  random_source source(seed);
  const auto draw = [&](std::int64_t below) {  // density of u^3: small numbers are likely
    const double u = source.fraction();
    return static_cast<std::int64_t>(u * u * u * static_cast<double>(below));
  };
  std::set<std::pair<std::int64_t, std::int64_t>> chosen;
  for (std::int64_t e = 0; size > 1 && e < 4 * size; ++e) {
    const std::int64_t row = size - 1 - draw(size - 1);  // late rows are long
    chosen.insert({row, draw(row)});                     // early columns are long
  }
  pattern made{"power_law_" + std::to_string(size), size, {}};
  for (const auto& [row, column] : chosen) {
    made.entries.push_back({row, column});
  }
  return made;
}

/// The lower half of the 5-point stencil on a grid, rows numbered along x first.
inline pattern stencil_2d(std::int64_t nx, std::int64_t ny) {
  pattern made{"stencil_" + std::to_string(nx) + "x" + std::to_string(ny), nx * ny, {}};
  for (std::int64_t i = 0; i < nx * ny; ++i) {
    if (i >= nx) {
      made.entries.push_back({i, i - nx});
    }
    if (i % nx > 0) {
      made.entries.push_back({i, i - 1});
    }
  }
  return made;
}

/// The lower half of the 7-point stencil.
inline pattern stencil_3d(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  pattern made{"stencil_" + std::to_string(nx) + "x" + std::to_string(ny) + "x" + std::to_string(nz),
               nx * ny * nz,
               {}};
  for (std::int64_t i = 0; i < made.size; ++i) {
    if (i >= nx * ny) {
      made.entries.push_back({i, i - nx * ny});
    }
    if (i / nx % ny > 0) {
      made.entries.push_back({i, i - nx});
    }
    if (i % nx > 0) {
      made.entries.push_back({i, i - 1});
    }
  }
  return made;
}

/// The lower half of the 27-point stencil.
inline pattern stencil_3d_27(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  pattern made{"stencil27_" + std::to_string(nx) + "x" + std::to_string(ny) + "x" + std::to_string(nz),
               nx * ny * nz,
               {}};
  for (std::int64_t i = 0; i < made.size; ++i) {
    for (std::int64_t step = 0; step < 13; ++step) {
      const std::int64_t x = i % nx + step % 3 - 1;
      const std::int64_t y = i / nx % ny + step / 3 % 3 - 1;
      const std::int64_t z = i / (nx * ny) + step / 9 - 1;
      if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0) {
        made.entries.push_back({i, (z * ny + y) * nx + x});
      }
    }
  }
  return made;
}

/// Returns patterns that are small enough for every combination of options.
inline std::vector<pattern> smallest() {
  return {diagonal(0), diagonal(1), chain(2), dense(5), arrow_row(7), arrow_column(6), random(23, 2.5, 1)};
}

/// Returns patterns with sizes around those of a warp and a block, and with every kind of structure.
inline std::vector<pattern> small() {
  return {diagonal(33),
          chain(31),
          chain(32),
          chain(33),
          dense(31),
          dense(32),
          dense(33),
          arrow_row(127),
          arrow_row(128),
          arrow_row(129),
          arrow_column(127),
          arrow_column(128),
          arrow_column(129),
          band(127, 3),
          band(128, 9),
          band(129, 1),
          random(128, 3, 2),
          random(129, 8, 3),
          power_law(127, 4),
          power_law(257, 5),
          stencil_2d(11, 12),
          stencil_3d(5, 5, 6),
          block_diagonal(96, 8),
          block_diagonal(130, 33),
          layers(160, 40, 3)};
}

/// Returns patterns so deep that blocks wait for blocks, with rows for 1, 8 and 32 lanes.
inline std::vector<pattern> deep() {
  return {chain(600), stencil_2d(24, 24), dense(129), band(257, 12), random(500, 6, 6)};
}

}  // namespace patterns
}  // namespace sptrsv::testing
