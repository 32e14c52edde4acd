// The columns that two rows share: which, and how many columns are read.
#include "sptrsv/detail/incomplete/host_engine.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace sptrsv::testing {
namespace {

using column_list = std::vector<std::int64_t>;
using pair_list = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns the pairs (slot, position in `other`) and the number of columns of `other` that were read.
std::pair<pair_list, std::int64_t> shared(const column_list& row, const column_list& other) {
  std::map<std::int64_t, std::int64_t> slots;
  for (const std::int64_t column : row) {
    slots.emplace(column, static_cast<std::int64_t>(slots.size()));
  }
  pair_list found;
  std::int64_t reads = 0;
  detail::incomplete::for_each_shared_column(
      0, static_cast<std::int64_t>(row.size()),
      [&](std::int64_t slot) { return row[static_cast<std::size_t>(slot)]; },
      [&](std::int64_t column) { return slots.count(column) > 0 ? slots[column] : -1; },
      static_cast<std::int64_t>(other.size()),
      [&](std::int64_t p) {
        ++reads;
        return other[static_cast<std::size_t>(p)];
      },
      [&](std::int64_t slot, std::int64_t p) { found.emplace_back(slot, p); });
  return {found, reads};
}

TEST(SharedColumns, AreFoundInAscendingOrder) {
  std::mt19937 draw(1);
  for (int i = 0; i < 2000; ++i) {
    column_list row;
    column_list other;
    const bool is_short = i % 2 == 0;
    for (std::int64_t column = 0; column < 200; ++column) {
      if (draw() % (is_short ? 60 : 4) == 0) {
        row.push_back(column);
      }
      if (draw() % 8 != 0) {
        other.push_back(column);
      }
    }
    pair_list expected;
    for (std::size_t slot = 0; slot < row.size(); ++slot) {
      for (std::size_t p = 0; p < other.size(); ++p) {
        if (row[slot] == other[p]) {
          expected.emplace_back(slot, p);
        }
      }
    }
    EXPECT_EQ(shared(row, other).first, expected);
  }
}

/// Every row of a matrix with a full first row and column needs the first row.
TEST(SharedColumns, OfAFullRowAreSearched) {
  column_list full;
  for (std::int64_t column = 0; column < 40000; ++column) {
    full.push_back(column);
  }
  EXPECT_LE(shared({39999}, full).second, 17);
  EXPECT_LE(shared({7, 20000, 39999}, full).second, 3 * 17);
  EXPECT_EQ(shared({}, full).second, 0);
  EXPECT_EQ(shared(full, {5, 6}).second, 2);
}

}  // namespace
}  // namespace sptrsv::testing
