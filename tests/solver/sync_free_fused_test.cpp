// What is particular to sync_free_fused, in the emulator: which rows get a warp, and which a thread.
#include "solver/contract_fixture.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using fused_case = suite_case<emulator_target, sync_free_fused_natural, double, std::int32_t, std::int32_t>;

class FusedWarps : public contract_of<fused_case> {
 public:
  /// What info() says of it; it names the number of warps.
  std::string kernel_for(const pattern& p) { return analyze(make(p, {}), {}).info().kernels.at(0); }
};

/// Three entries on average make 32 rows long ones here.
TEST_F(FusedWarps, HoldAsManyRowsAsTheirAverageLengthSays) {
  EXPECT_NE(kernel_for(patterns::diagonal(70)).find(" 3 warps"), std::string::npos);
  EXPECT_NE(kernel_for(patterns::chain(1)).find(" 1 warps"), std::string::npos);
  EXPECT_NE(kernel_for(patterns::dense(6)).find(" 1 warps"), std::string::npos);  // 15 entries in 6 rows
  EXPECT_NE(kernel_for(patterns::dense(7)).find(" 7 warps"), std::string::npos);  // 21 in 7
  const auto uneven = patterns::where("uneven", 100, [](auto i, auto j) {
    return i >= 32 && i < 64 && j < (i % 2 == 0 ? 6 : 0);  // 96 entries in the second 32 rows
  });
  EXPECT_NE(kernel_for(uneven).find(" 35 warps"), std::string::npos) << kernel_for(uneven);
}

}  // namespace sptrsv::testing
