// The analysis of the device policies, in the emulator.
#include "contract/analysis_suite.hpp"
#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(emulator, analysis, every_index<emulator_target>, type_names);

/// The kernel that counts levels also waits for other blocks.
TEST(Levels, AreRightUnderEverySchedule) {
  using types = case_types<emulator_target, double, std::int32_t, std::int32_t>;
  struct suite : analysis<types> {
    void TestBody() override {}
  };
  const std::vector<pattern> all = {
      patterns::chain(1100),   patterns::stencil_2d(30, 35),  patterns::random(900, 3, 1),
      patterns::band(800, 10), patterns::layers(800, 200, 9), patterns::arrow_row(600),
      patterns::chain(100),    patterns::dense(150),          patterns::dense(120)};
  for (std::uint64_t seed = 0; seed < trials(30); ++seed) {
    for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
      suite s;
      s.where.device().settings = hostile_settings(seed, resident);
      s.compare(all[seed % all.size()], covering_forms(seed)[seed % 6]);
    }
  }
}

TEST(FindLargest, FindsTheLargestValueWhereverItStands) {
  emulator_target where;
  for (const std::size_t rows : {1U, 31U, 255U, 256U, 257U, 5000U}) {
    for (const std::size_t place : {std::size_t{0}, rows / 2, rows - 1}) {
      std::vector<std::int32_t> values(rows, 3);
      values[place] = 77;
      const buffer<std::int32_t> there(rows, where.resource(), where.on().stream());
      where.on().upload(there.data(), values.data(), there.bytes());
      const buffer<std::int32_t> largest(1, where.resource(), where.on().stream());
      where.on().fill_bytes(largest.data(), 0, largest.bytes());
      detail::simt::find_largest(where.on(), static_cast<std::int64_t>(rows),
                                 detail::array_kernels::element_of<std::int32_t>{there.data()},
                                 largest.data());
      EXPECT_EQ(where.download(largest), std::vector<std::int32_t>{77}) << place << " of " << rows;
    }
  }
}

}  // namespace sptrsv::testing
