// The policy sync_free_warp, in the emulator: rows that share a warp.
#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/sync_free.hpp"

namespace sptrsv::testing {

using shared_case = suite_case<emulator_target, sync_free_warp_shared, double, std::int32_t, std::int32_t>;

class SharedWarps : public contract_of<shared_case> {
 public:
  kernel_info kernel_for(const pattern& p) { return analyze(make(p, {}), {}).info().kernels.at(0); }
  std::int64_t warps_for(const pattern& p) { return kernel_for(p).warps; }
};

/// A lane takes four entries: 32 rows with at most 4 entries share a warp, or 16 rows with 5 to 8 entries.
TEST_F(SharedWarps, HoldRowsOfOneLevelByTheirLength) {
  EXPECT_EQ(warps_for(patterns::diagonal(64)), 2);
  EXPECT_EQ(warps_for(patterns::diagonal(65)), 3);
  EXPECT_EQ(warps_for(patterns::chain(5)), 5);
  EXPECT_EQ(warps_for(patterns::layers(96, 32, 4)), 3);
  EXPECT_EQ(warps_for(patterns::layers(96, 32, 5)), 5);
  const auto mixed = patterns::where("mixed", 72, [](auto i, auto j) {
    return i >= 32 && j < (i % 2 == 0 ? 3 : 12);  // the second level: 20 rows of 3 entries, 20 of 12
  });
  EXPECT_EQ(warps_for(mixed), 5);
  EXPECT_NE(kernel_for(mixed).text.find(" 5 warps"), std::string::npos) << kernel_for(mixed).text;
}

TEST_F(SharedWarps, NeedLevelOrder) {
  const auto a = where.upload(make(patterns::chain(3), {}).by_rows);
  const policy::sync_free_warp natural{policy::row_order::natural, policy::warp_form::rows_by_length};
  try {
    sptrsv::analyze(natural, a, {}, where.stream());
    FAIL() << "should have thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("row_order::levels"), std::string::npos) << e.what();
  }
}

}  // namespace sptrsv::testing
