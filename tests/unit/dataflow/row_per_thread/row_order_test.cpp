// How many slots the rows of the row_per_thread path take, at most.
#include "sptrsv/detail/dataflow/row_per_thread/row_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sptrsv/policy/dataflow_tuning.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

/// Sorts rows in short sections.
struct short_sections : experimental::dataflow_tuning {
  static constexpr std::int64_t length_scope = 1024;
};

/// A triangle of rows of 0 to `longest` entries, some of them long: the entries are the first columns. Their
/// levels are arbitrary ones: only the order depends on them.
struct random_rows {
  detail::device_triangle<std::int32_t, std::int32_t> triangle;
  detail::row_levels<std::int32_t> levels;

  random_rows(std::int64_t size, std::int64_t longest, std::int64_t count, unsigned seed,
              emulator_target& where) {
    std::minstd_rand random(seed);
    std::vector<std::int32_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> of_row;
    std::vector<std::int32_t> numbers;
    for (std::int64_t row = 0; row < size; ++row) {
      const auto most = static_cast<unsigned>(seed % 2 == 0 ? longest : random() % 8 == 0 ? longest : 3);
      const auto length = row < longest ? 0 : static_cast<std::int32_t>(random() % (most + 1));
      for (std::int32_t column = 0; column < length; ++column) {
        columns.push_back(column);
      }
      triangle.longest_row = std::max<std::int64_t>(triangle.longest_row, length);
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
      const auto drawn = static_cast<std::int64_t>(random()) % count;
      of_row.push_back(static_cast<std::int32_t>(1 + (row < count ? row : drawn)));
      numbers.push_back(static_cast<std::int32_t>(row));
    }
    triangle.size = size;
    triangle.row_offsets = where.upload(offsets);
    triangle.columns = where.upload(columns);
    levels.count = count;
    levels.of_row = where.upload(of_row);
    levels.numbers = where.upload(numbers);
  }
};

template <class Tuning>
void expect_enough_slots() {
  using namespace detail::dataflow::row_per_thread;
  emulator_target where;
  int bounded = 0;
  for (const std::int64_t longest : {1, 5, 30, 63, 80}) {
    for (const std::int64_t levels : {1, 2, 7}) {
      for (unsigned seed = 1; seed <= 4; ++seed) {
        const random_rows rows(4000 + 7 * static_cast<std::int64_t>(seed), longest, levels, seed, where);
        const std::int64_t most = slots_without_count<Tuning>(rows.triangle, levels);
        const auto order =
            order_rows<Tuning>(rows.triangle, rows.levels, nullptr, where.on(), where.resource());
        const std::int64_t slots = where.download(order.slices).back();
        if (most >= 0) {
          EXPECT_LE(slots, most) << longest << ", " << levels << ", " << seed;
          EXPECT_LE(8 * most, 9 * rows.triangle.entries());
          ++bounded;
        }
      }
    }
  }
  EXPECT_GT(bounded, 3);
}

TEST(RowOrder, HasNoMoreSlotsThanArePredicted) { expect_enough_slots<experimental::dataflow_tuning>(); }
TEST(RowOrder, HasNoMoreSlotsInShortSections) { expect_enough_slots<short_sections>(); }

}  // namespace
}  // namespace sptrsv::testing
