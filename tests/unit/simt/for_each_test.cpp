// Kernels with a group of lanes for each element.
#include "sptrsv/detail/simt/for_each.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

/// The arguments that one lane of a group gets.
struct seen_by_lane {
  std::int64_t element;
  std::int32_t rank;
  std::int32_t sum;      ///< of the ranks of the group, counted from 1
  std::uint32_t odd;     ///< the lanes of the group with an odd rank
  std::uint32_t anyone;  ///< whether a lane of the warp has the element 3
};

struct look_around {
  seen_by_lane* seen;  ///< by element, then by rank
  std::int64_t count;

  template <class Context, class Group>
  SPTRSV_DEVICE void operator()(Context& ctx, const Group& group, std::int64_t i) const {
    const seen_by_lane own{i, group.rank(), group.sum(group.rank() + 1), group.ballot(group.rank() % 2 == 1),
                           group.any_of_warp(i == 3) ? 1u : 0u};
    if (i < count) {
      ctx.store(seen + i * group.lanes + group.rank(), own);
    }
  }
};

TEST(ForEachByGroups, CallsTheBodyWithAllLanesOfEachGroup) {
  emulator_target where;
  for (const int lanes : {1, 2, 8, 32}) {
    for (const std::int64_t count : {1, 5, 33, 300}) {
      SCOPED_TRACE(std::to_string(lanes) + " lanes, " + std::to_string(count) + " elements");
      const auto there =
          where.upload(std::vector<seen_by_lane>(static_cast<std::size_t>(count * lanes), seen_by_lane{}));
      detail::simt::for_each_by_groups(where.on(), lanes, count, look_around{there.data(), count});
      const auto seen = where.download(there);
      for (std::size_t k = 0; k < seen.size(); ++k) {
        const auto element = static_cast<std::int64_t>(k) / lanes;
        const int rank = static_cast<int>(k) % lanes;
        const bool with_3 = element / (32 / lanes) == 3 / (32 / lanes);
        ASSERT_EQ(seen[k].element, element);
        ASSERT_EQ(seen[k].rank, rank);
        ASSERT_EQ(seen[k].sum, lanes * (lanes + 1) / 2);
        ASSERT_EQ(seen[k].odd, lanes == 32 ? 0xaaaaaaaau : 0xaaaaaaaau & ((1u << lanes) - 1u));
        ASSERT_EQ(seen[k].anyone, with_3 && (count > 3 || lanes < 32) ? 1u : 0u);
      }
    }
  }
}

TEST(ForEachByGroups, LaunchesNothingForNoElements) {
  emulator_target where;
  const auto before = where.device().counters.launches;
  detail::simt::for_each_by_groups(where.on(), 8, 0, look_around{nullptr, 0});
  EXPECT_EQ(where.device().counters.launches, before);
}

}  // namespace
}  // namespace sptrsv::testing
