// What is particular to dataflow, in the emulator: which path it takes, and what it refuses to walk.
#include <string>

#include "solver/contract_fixture.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

using policy::dataflow_path;

/// Fewer components than steps that are under way.
struct tiny_window : dataflow_tuning {
  static constexpr int walk_window = 64;
};
/// Almost every system is large, and looked at on the host only if it has two rows a level.
struct large_systems : dataflow_tuning {
  static constexpr std::int64_t host_entries = 20;
  static constexpr std::int64_t walk_rows_per_level = 2;
};

class DataflowPath : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  /// Solves, and returns what info() says of the kernel.
  template <class Tuning = dataflow_tuning>
  std::string kernel_for(const pattern& p, policy::basic_dataflow<Tuning> how = {}) {
    const auto a = make(p, {});
    auto solver = sptrsv::analyze(how, where.upload(a.by_rows), {}, where.stream());
    const auto b = random_vector<double>(p.size, 7);
    expect_solved(a, {}, p.name, b, solve(solver, b));
    return solver.info().kernels.at(0);
  }

  template <class Tuning>
  void expect_refused(const pattern& p) {
    try {
      kernel_for(p, policy::basic_dataflow<Tuning>{dataflow_path::walk});
      ADD_FAILURE() << p.name << " should not be walked";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::unsupported);
      EXPECT_NE(std::string(e.what()).find("cannot be walked"), std::string::npos) << e.what();
    }
    EXPECT_TRUE(is_grid(kernel_for(p, policy::basic_dataflow<Tuning>{}))) << p.name;
  }

  static bool is_walk(const std::string& kernel) {
    return kernel.find("one block walks ") != std::string::npos;
  }
  static bool is_grid(const std::string& kernel) {
    return kernel.find("a thread for each of ") != std::string::npos;
  }
};

TEST_F(DataflowPath, IsAWalkWhereLevelsAreNarrow) {
  for (const pattern& p : {patterns::chain(600), patterns::stencil_2d(24, 24), patterns::band(257, 12),
                           patterns::layers(1000, 4, 3)}) {
    EXPECT_TRUE(is_walk(kernel_for(p))) << p.name << ": " << kernel_for(p);
  }
}

TEST_F(DataflowPath, IsTheGridWhereLevelsAreWide) {
  for (const pattern& p : {patterns::diagonal(1500), patterns::arrow_column(1500),
                           patterns::layers(2000, 500, 3), patterns::random(2000, 0.2, 3)}) {
    EXPECT_TRUE(is_grid(kernel_for(p))) << p.name << ": " << kernel_for(p);
  }
}

TEST_F(DataflowPath, IsTheOneAskedFor) {
  const std::string by_levels = kernel_for(patterns::chain(100), policy::dataflow{dataflow_path::grid});
  EXPECT_NE(by_levels.find("100 rows in level order, 0 of them partial"), std::string::npos) << by_levels;
  const std::string natural =
      kernel_for(patterns::chain(100), policy::dataflow{dataflow_path::grid, policy::group_order::natural});
  EXPECT_NE(natural.find("100 rows in the order of substitution"), std::string::npos) << natural;
  EXPECT_TRUE(is_walk(kernel_for(patterns::diagonal(1500), policy::dataflow{dataflow_path::walk})));
}

/// 32 coupled rows take as long as seven steps of 32 rows that are not.
TEST_F(DataflowPath, WalksInTheShapeThatPromisesToBeTheFastest) {
  EXPECT_NE(kernel_for(patterns::chain(600))
                .find("steps of 32 rows, 1 lanes each, 2 entries a lane, rows of a step coupled"),
            std::string::npos);
  EXPECT_NE(kernel_for(patterns::stencil_2d(24, 24))
                .find("48 steps of 32 rows, 1 lanes each, 4 entries a lane; window"),
            std::string::npos);
}

/// Each row of more than 32 entries hands them to partial rows.
TEST_F(DataflowPath, CutsLongRowsOnTheGrid) {
  const std::string kernel = kernel_for(patterns::arrow_row(101), policy::dataflow{dataflow_path::grid});
  EXPECT_NE(kernel.find("104 rows in level order, 3 of them partial"), std::string::npos) << kernel;
}

TEST_F(DataflowPath, RefusesToWalkWithAWindowThatIsTooShort) {
  expect_refused<tiny_window>(patterns::chain(600));
}

TEST_F(DataflowPath, OfLargeSystemsIsTheGridWhereLevelsAreWideOnAverage) {
  using policy_type = policy::basic_dataflow<large_systems>;
  EXPECT_TRUE(is_walk(kernel_for(patterns::chain(100), policy_type{})));
  EXPECT_TRUE(is_walk(kernel_for(patterns::block_diagonal(66, 33), policy_type{})));
  const pattern three_wide = patterns::block_diagonal(99, 33);
  EXPECT_TRUE(is_grid(kernel_for(three_wide, policy_type{})));
  EXPECT_TRUE(is_walk(kernel_for(three_wide, policy::dataflow{}))) << "although the walk is faster";
  EXPECT_TRUE(is_walk(kernel_for(three_wide, policy_type{dataflow_path::walk})));
  EXPECT_TRUE(is_grid(kernel_for(patterns::arrow_row(101), policy_type{}))) << "with rows that are cut";
}

TEST_F(DataflowPath, RefusesToWalkOnADeviceWithLittleSharedMemory) {
  where.device().settings.shared_limit = 24 * 1024;
  expect_refused<dataflow_tuning>(patterns::chain(600));
}

}  // namespace
}  // namespace sptrsv::testing
