// What is particular to sync_free_warp, in the emulator: rows that share a warp.
#include "solver/contract_fixture.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using shared_case = suite_case<emulator_target, sync_free_warp_shared, double, std::int32_t, std::int32_t>;

class SharedWarps : public contract_of<shared_case> {
 public:
  /// What info() says of it; it names the number of warps.
  std::string kernel_for(const pattern& p) { return analyze(make(p, {}), {}).info().kernels.at(0); }
};

/// Four entries fill a lane: rows of up to 4 entries share a warp with 31 others, of 5 to 8 with 15.
TEST_F(SharedWarps, HoldRowsOfOneLevelByTheirLength) {
  EXPECT_NE(kernel_for(patterns::diagonal(64)).find(" 2 warps"), std::string::npos);
  EXPECT_NE(kernel_for(patterns::diagonal(65)).find(" 3 warps"), std::string::npos);
  EXPECT_NE(kernel_for(patterns::chain(5)).find(" 5 warps"), std::string::npos);
  EXPECT_NE(kernel_for(patterns::layers(96, 32, 4)).find(" 3 warps"), std::string::npos);
  EXPECT_NE(kernel_for(patterns::layers(96, 32, 5)).find(" 5 warps"), std::string::npos);
  const auto mixed = patterns::where("mixed", 72, [](auto i, auto j) {
    return i >= 32 && j < (i % 2 == 0 ? 3 : 12);  // the second level: 20 rows of 3 entries, 20 of 12
  });
  EXPECT_NE(kernel_for(mixed).find(" 5 warps"), std::string::npos) << kernel_for(mixed);
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
