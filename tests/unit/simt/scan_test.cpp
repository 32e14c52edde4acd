// Prefix sums in one kernel, against serial sums.
#include "sptrsv/detail/simt/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/emulator_target.hpp"
#include "support/random.hpp"

namespace sptrsv::testing {
namespace {

/// Replaces each count by the sum of the counts before it.
struct sum_in_place {
  std::int64_t* values;
  std::int64_t* largest;

  struct item {
    std::int64_t count;
  };
  template <class Context>
  item load(Context& ctx, std::int64_t i) const {
    return {ctx.load(values + i)};
  }
  template <class Context>
  void store(Context& ctx, std::int64_t i, const item& own, std::int64_t before) const {
    EXPECT_EQ(own.count, ctx.load(values + i));
    ctx.store(values + i, before);
  }
  template <class Context, class Warp>
  void finish(Context& ctx, const Warp& warp, const item& own) const {
    const std::int64_t of_warp = detail::simt::reduce(warp, own.count, 32, detail::simt::maximum{});
    if (warp.rank() == 0) {
      ctx.atomic_max(largest, of_warp);
    }
  }
};

class Scan : public ::testing::Test {
 public:
  emulator_target where;
  detail::simt::scan_words words{where.resource()};

  void check(std::size_t size, std::uint64_t seed, std::int64_t most = 1000) {
    SCOPED_TRACE(std::to_string(size) + " elements, seed " + std::to_string(seed));
    random_source source(seed);
    std::vector<std::int64_t> counts(size);
    for (std::int64_t& count : counts) {
      count = source.below(most);
    }
    const auto there = where.upload(counts);
    const auto largest = where.upload(std::vector<std::int64_t>{0});
    words.scan(where.on(), static_cast<std::int64_t>(size), sum_in_place{there.data(), largest.data()});
    const std::int64_t greatest = *std::max_element(counts.begin(), counts.end());
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), std::int64_t{0});
    EXPECT_EQ(where.download(there), counts);
    EXPECT_EQ(where.download(largest), std::vector<std::int64_t>{greatest});
  }
};

TEST_F(Scan, IsASerialSumUnderHostileSchedules) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    for (const std::uint32_t resident : {1u, 2u, 0u}) {
      where.device().settings = hostile_settings(seed, resident);
      for (const std::size_t size : {1U, 31U, 33U, 256U, 257U, 1500U}) {
        check(size, seed);
      }
    }
  }
}

/// More than 256 tiles are under way together, so that a block finds no total among the 256 tiles before it,
/// and looks back again.
TEST_F(Scan, LooksBackAgain) {
  for (const std::uint64_t seed : {2U, 5U}) {
    where.device().settings = hostile_settings(seed, 0);
    check(256 * 300 + 7, seed);
  }
}

TEST_F(Scan, HasRoomForLargeSums) { check(700, 1, std::int64_t{1} << 45); }

/// The words are filled once for 255 scans, and a scan of more tiles gets new ones.
TEST_F(Scan, SharesItsWordsWithEarlierScans) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    check(300 + 17 * (seed % 40), seed);
  }
  check(200'000, 1);
  check(600, 2);
}

}  // namespace
}  // namespace sptrsv::testing
