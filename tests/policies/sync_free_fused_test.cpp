// The policy sync_free_fused, in the emulator: which rows get a warp, and which rows a thread.
#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/sync_free.hpp"

namespace sptrsv::testing {

using fused_case = suite_case<emulator_target, sync_free_fused_natural, double, std::int32_t, std::int32_t>;

class FusedWarps : public contract_of<fused_case> {
 public:
  kernel_info kernel_for(const pattern& p) { return analyze(make(p, {}), {}).info().kernels.at(0); }
  std::int64_t warps_for(const pattern& p) { return kernel_for(p).warps; }
};

/// 32 rows with three entries on average count as long rows here.
TEST_F(FusedWarps, HoldAsManyRowsAsTheirAverageLengthSays) {
  EXPECT_EQ(warps_for(patterns::diagonal(70)), 3);
  EXPECT_EQ(warps_for(patterns::chain(1)), 1);
  EXPECT_EQ(warps_for(patterns::dense(6)), 1);  // 15 entries in 6 rows
  EXPECT_EQ(warps_for(patterns::dense(7)), 7);  // 21 in 7
  const auto uneven = patterns::where("uneven", 100, [](auto i, auto j) {
    return i >= 32 && i < 64 && j < (i % 2 == 0 ? 6 : 0);  // 96 entries in the second 32 rows
  });
  EXPECT_EQ(warps_for(uneven), 35);
  EXPECT_NE(kernel_for(uneven).text.find(" 35 warps"), std::string::npos) << kernel_for(uneven).text;
}

}  // namespace sptrsv::testing
