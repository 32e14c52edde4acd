// What is particular to dataflow, in the emulator: which path it takes, and what it refuses to walk.
#include <string>

#include "solver/contract_fixture.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

using policy::dataflow_path;

/// Fewer components than steps that are under way.
struct tiny_window : dataflow_tuning {
  static constexpr int single_block_x_ring_size = 64;
};
/// So that a walk promises to be faster.
struct slow_partitioned : dataflow_tuning {
  static constexpr double partitioned_tile_ns[] = {500, 500, 500, 500, 500, 500, 500, 500, 500, 500};
};
struct narrow_single_block : slow_partitioned {
  static constexpr double single_block_rows_per_level = 2;
};

/// A step takes 1 ms, a hand-off 10, an entry that comes through memory 100.
struct round_costs : dataflow_tuning {
  static constexpr double partitioned_tile_ns[] = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6};
  static constexpr double partitioned_hop_ns = 1e7;
  static constexpr double partitioned_global_entry_ns = 1e8;
  static constexpr double partitioned_launch_ns = 0;
};

/// Parts cost nothing.
struct free_hops : dataflow_tuning {
  static constexpr double partitioned_hop_ns = 0;
  static constexpr double partitioned_global_entry_ns = 0;
  static constexpr double partitioned_poll_ns = 0;
};

/// As if every system were large, and boxes cost nothing.
struct cheap_boxes : dataflow_tuning {
  static constexpr std::int64_t partitioned_small_entries = 0;
  static constexpr double partitioned_boxes_factor = 0;
};

/// And large enough for planes.
struct cheap_planes : cheap_boxes {
  static constexpr std::int64_t partitioned_plane_entries = 0;
};

/// So that two launches cost no more than one.
struct free_launches : dataflow_tuning {
  static constexpr double row_per_thread_launch_ns = 0;
  static constexpr double partitioned_launch_ns = 0;
  static constexpr double row_per_thread_level_ns = 200;
};

struct small_records : dataflow_tuning {
  static constexpr std::int64_t partitioned_max_bytes = 4096;
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
    EXPECT_FALSE(is_single_block(kernel_for(p, policy::basic_dataflow<Tuning>{}))) << p.name;
  }

  static bool is_single_block(const std::string& kernel) {
    return kernel.find("one block walks ") != std::string::npos;
  }
  static bool is_partitioned(const std::string& kernel) {
    return kernel.find("a relay of ") != std::string::npos;
  }
  static bool is_grid(const std::string& kernel) {
    return kernel.find("a thread for each of ") != std::string::npos;
  }
};

TEST_F(DataflowPath, IsAWalkWhereRowsFollowEachOther) {
  for (const pattern& p : {patterns::chain(600), patterns::band(257, 12)}) {
    EXPECT_TRUE(is_single_block(kernel_for(p))) << p.name << ": " << kernel_for(p);
  }
}

TEST_F(DataflowPath, IsARelayWhereLevelsAreNarrow) {
  for (const pattern& p : {patterns::stencil_2d(24, 24), patterns::layers(1000, 8, 3)}) {
    EXPECT_TRUE(is_partitioned(kernel_for(p))) << p.name << ": " << kernel_for(p);
  }
}

TEST_F(DataflowPath, IsTheGridWhereLevelsAreWide) {
  for (const pattern& p : {patterns::diagonal(1500), patterns::arrow_column(1500),
                           patterns::layers(2000, 500, 3), patterns::random(2000, 0.2, 3)}) {
    EXPECT_TRUE(is_grid(kernel_for(p))) << p.name << ": " << kernel_for(p);
  }
}

TEST_F(DataflowPath, IsTheGridWhereTheRecordsOfARelayWouldBeTooLarge) {
  const pattern p = patterns::stencil_2d(24, 24);
  EXPECT_TRUE(is_grid(kernel_for(p, policy::basic_dataflow<small_records>{})));
  EXPECT_THROW(kernel_for(p, policy::basic_dataflow<small_records>{dataflow_path::relay}), error);
}

TEST_F(DataflowPath, IsTheOneAskedFor) {
  const std::string by_levels = kernel_for(patterns::chain(100), policy::dataflow{dataflow_path::grid});
  EXPECT_NE(by_levels.find("100 rows in level order, 0 of them partial"), std::string::npos) << by_levels;
  const std::string natural =
      kernel_for(patterns::chain(100), policy::dataflow{dataflow_path::grid, policy::group_order::natural});
  EXPECT_NE(natural.find("100 rows in the order of substitution"), std::string::npos) << natural;
  EXPECT_TRUE(is_single_block(kernel_for(patterns::diagonal(1500), policy::dataflow{dataflow_path::walk})));
  const std::string parts = kernel_for(
      patterns::diagonal(1500), policy::dataflow{dataflow_path::relay, policy::group_order::levels, 3});
  EXPECT_NE(parts.find("a relay of 3 parts"), std::string::npos) << parts;
}

TEST_F(DataflowPath, SaysWhatItPredicted) {
  const auto plan_of = [&](const pattern& p, const policy::dataflow& how = {}) {
    const auto a = make(p, {});
    return sptrsv::analyze(how, where.upload(a.by_rows), {}, where.stream()).info().plan;
  };
  const std::string start = ", by the predicted time of a solve: ";
  EXPECT_EQ(plan_of(patterns::chain(600)).rfind("walk" + start + "walk 0.0", 0), 0u)
      << plan_of(patterns::chain(600));
  EXPECT_EQ(plan_of(patterns::stencil_2d(24, 24)).rfind("relay" + start + "relay 0.00", 0), 0u)
      << plan_of(patterns::stencil_2d(24, 24));
  const std::string wide = plan_of(patterns::diagonal(1500));
  EXPECT_EQ(wide.rfind("grid" + start + "relay 0.00", 0), 0u) << wide;
  EXPECT_NE(wide.find(", grid 0.00"), std::string::npos) << wide;
  EXPECT_EQ(plan_of(patterns::chain(10), policy::dataflow{dataflow_path::relay})
                .rfind("relay, as asked for; predicted: relay 0.00", 0),
            0u);
  EXPECT_EQ(plan_of(patterns::chain(10), policy::dataflow{dataflow_path::grid}), "");
}

/// Eight levels of 200 rows, and a chain whose rows need some of these, too.
pattern wide_and_narrow() {
  pattern p = patterns::layers(1600, 200, 3);
  p.name = "wide_and_narrow";
  p.size = 1680;
  for (std::int64_t i = 1600; i < p.size; ++i) {
    p.entries.push_back({i, 7 * i % 1600});
    p.entries.push_back({i, i - 1});
  }
  return p;
}

TEST_F(DataflowPath, CutsLevelsWhereTheFirstAreWideAndTheOthersNarrow) {
  const auto info_of = [&](const pattern& p, const policy::basic_dataflow<free_launches>& how) {
    const auto a = make(p, {});
    auto solver = sptrsv::analyze(how, where.upload(a.by_rows), {}, where.stream());
    const auto b = random_vector<double>(p.size, 7);
    expect_solved(a, {}, p.name, b, solve(solver, b));
    return solver.info();
  };
  policy::basic_dataflow<free_launches> how;
  const auto cut = info_of(wide_and_narrow(), how);
  EXPECT_EQ(cut.plan.rfind("segments, by the predicted time of a solve: 8 levels on the grid 0.00", 0), 0u)
      << cut.plan;
  EXPECT_NE(cut.plan.find(" and 80 by a relay 0.00"), std::string::npos) << cut.plan;
  EXPECT_EQ(cut.levels, 88);
  ASSERT_EQ(cut.kernels.size(), 2u);
  EXPECT_TRUE(is_grid(cut.kernels[0])) << cut.kernels[0];
  EXPECT_TRUE(is_partitioned(cut.kernels[1])) << cut.kernels[1];
  for (const pattern& p : {patterns::stencil_2d(24, 24), patterns::layers(2000, 500, 3)}) {
    EXPECT_EQ(info_of(p, how).kernels.size(), 1u) << p.name << ": " << info_of(p, how).plan;
  }

  how.path = dataflow_path::segments;
  how.first_levels = 5;
  const auto asked = info_of(wide_and_narrow(), how);
  EXPECT_EQ(asked.plan.rfind("segments, as asked for; predicted: 5 levels on the grid 0.00", 0), 0u)
      << asked.plan;
  how.first_levels = 1000;  // all but the last
  EXPECT_EQ(info_of(patterns::chain(10), how).plan.rfind("segments, as asked for; predicted: 9 levels", 0),
            0u);
  EXPECT_TRUE(is_grid(info_of(patterns::diagonal(100), how).kernels.at(0))) << "there is one level";
}

/// A pivot and a component of either segment are found.
TEST_F(DataflowPath, FindsBadComponentsInBothSegments) {
  const pattern p = wide_and_narrow();
  policy::basic_dataflow<free_launches> how{dataflow_path::segments};
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{1650}}) {
    auto a = make(p, {});
    a.by_rows.values[static_cast<std::size_t>(a.by_rows.row_offsets[static_cast<std::size_t>(bad) + 1]) - 1] =
        0;
    auto solver = sptrsv::analyze(how, where.upload(a.by_rows), {}, where.stream());
    solve(solver, random_vector<double>(p.size, 7));
    EXPECT_EQ(solver.status().code, solve_status::kind::zero_pivot) << bad;
    EXPECT_EQ(solver.status().row, bad);
  }
}

TEST_F(DataflowPath, CountsWhatPartsOfARelayWaitFor) {
  where.device().settings.resident_blocks = 2;
  const auto predicted = [&](const pattern& p, int parts, int shape, std::int64_t max_rhs = 1) {
    policy::basic_dataflow<round_costs> how{dataflow_path::relay, policy::group_order::levels, parts};
    how.shape = shape;
    const auto a = make(p, {});
    return sptrsv::analyze(how, where.upload(a.by_rows), {uplo::lower, diag::non_unit, op::none, max_rhs},
                           where.stream())
        .info()
        .plan;
  };
  const auto expect = [](const std::string& plan, const std::string& time) {
    EXPECT_EQ(plan.rfind("relay, as asked for; predicted: relay " + time, 0), 0u) << plan;
  };
  expect(predicted(patterns::chain(10), 1, 0), "10 ms");
  expect(predicted(patterns::chain(10), 2, 0), "120 ms");  // one entry from the part before, by one hand-off
  expect(predicted(patterns::chain(10), 5, 0), "150 ms");  // one for each part, four hand-offs
  expect(predicted(patterns::diagonal(320), 2, 0), "6.5 ms");  // five steps of 32 rows, 1.3 times as long
  // Further rounds take 1.5 times as long. The first part begins the second while the other waits for the
  // first.
  expect(predicted(patterns::chain(10), 1, 0, 2), "10 ms");
  expect(predicted(patterns::chain(10), 1, 0, 7), "55 ms");
  expect(predicted(patterns::chain(10), 1, 9, 7), "25 ms");   // two rounds of four right-hand sides
  expect(predicted(patterns::chain(10), 2, 0, 2), "229 ms");  // four rows and six, two entries
}

TEST_F(DataflowPath, DealsTheBoxesOfAGrid) {
  const policy::basic_dataflow<cheap_boxes> relay{dataflow_path::relay};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    where.device().settings = hostile_settings(seed, seed % 2 == 0 ? 0 : 16);
    for (const pattern& p :
         {patterns::stencil_3d(9, 10, 11), patterns::stencil_3d(6, 7, 20), patterns::stencil_3d(31, 5, 4)}) {
      const std::string kernel = kernel_for(p, relay);
      EXPECT_NE(kernel.find("boxes of a grid"), std::string::npos) << p.name << ": " << kernel;
    }
  }
  for (const pattern& p : {patterns::stencil_2d(24, 40), patterns::band(800, 10), patterns::chain(600)}) {
    const std::string kernel = kernel_for(p, relay);
    EXPECT_EQ(kernel.find("boxes of a grid"), std::string::npos) << p.name << ": " << kernel;
  }
}

TEST_F(DataflowPath, PartsOnlyThePlanesOfAGridWhoseRowsLookAhead) {
  const policy::basic_dataflow<cheap_planes> relay{dataflow_path::relay};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    where.device().settings = hostile_settings(seed, seed % 2 == 0 ? 0 : 16);
    const std::string kernel = kernel_for(patterns::stencil_3d_27(7, 8, 9), relay);
    EXPECT_NE(kernel.find(" parts, 1 x 1 x "), std::string::npos) << kernel;
    EXPECT_NE(kernel.find("1 lanes each; window of 2048"), std::string::npos) << kernel;
  }
  const std::string kept =
      kernel_for(patterns::stencil_3d_27(7, 8, 9), policy::basic_dataflow<cheap_boxes>{dataflow_path::relay});
  EXPECT_EQ(kept.find("boxes of a grid"), std::string::npos) << kept;
}

/// The rows in the middle look like a grid's, but some before them need a box that comes later.
TEST_F(DataflowPath, DoesNotDealBoxesThatWouldWaitForLaterOnes) {
  pattern p = patterns::stencil_3d(9, 10, 11);
  for (std::int64_t row = 100; row < 200; ++row) {
    p.entries.push_back({row, row - 90 + 5});
  }
  const std::string kernel = kernel_for(p, policy::basic_dataflow<cheap_boxes>{dataflow_path::relay});
  EXPECT_EQ(kernel.find("boxes of a grid"), std::string::npos) << kernel;
}

TEST_F(DataflowPath, RefusesARelayOfVeryManyParts) {
  const auto a = make(patterns::chain(600), {});
  try {
    const policy::dataflow many{dataflow_path::relay, policy::group_order::levels, 257};
    static_cast<void>(sptrsv::analyze(many, where.upload(a.by_rows), {}, where.stream()));
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("no relay of this system"), std::string::npos) << e.what();
  }
}

TEST_F(DataflowPath, HasTheShapeThatPromisesToBeTheFastest) {
  EXPECT_NE(kernel_for(patterns::chain(600))
                .find("steps of 32 rows, 1 lanes each, 2 entries a lane, rows of a step coupled"),
            std::string::npos);
  const std::string short_rows = kernel_for(patterns::stencil_2d(24, 24));
  EXPECT_NE(short_rows.find("steps of 32 rows, 1 lanes each"), std::string::npos) << short_rows;
  const std::string long_rows = kernel_for(patterns::layers(1200, 24, 14));
  EXPECT_NE(long_rows.find("rows, 4 lanes each"), std::string::npos) << long_rows;
}

TEST_F(DataflowPath, HasTheShapeAskedFor) {
  policy::dataflow how{dataflow_path::relay};
  how.shape = 5;
  EXPECT_NE(kernel_for(patterns::chain(100), how).find("steps of 16 rows, 4 lanes each"), std::string::npos);
  how.shape = 6;
  EXPECT_NE(kernel_for(patterns::chain(100), how).find("window of 2048 components"), std::string::npos);
  how.shape = 9;
  EXPECT_NE(kernel_for(patterns::chain(100), how).find("2 right-hand sides together"), std::string::npos);
  how.shape = 10;
  EXPECT_THROW(kernel_for(patterns::chain(100), how), error);
  how.path = dataflow_path::walk;
  EXPECT_THROW(kernel_for(patterns::chain(100), how), error);
  how.shape = 1;
  EXPECT_NE(kernel_for(patterns::chain(100), how).find("steps of 8 rows, 4 lanes each"), std::string::npos);
}

TEST_F(DataflowPath, SolvesRightHandSidesTogetherWhereTheDeviceHasNoRoomForThemSideBySide) {
  const auto a = make(patterns::stencil_2d(24, 24), {});
  const auto kernel_for_rhs = [&](std::int64_t max_rhs) {
    const system_options options{uplo::lower, diag::non_unit, op::none, max_rhs};
    const policy::dataflow relay{dataflow_path::relay};
    return sptrsv::analyze(relay, where.upload(a.by_rows), options, where.stream()).info().kernels.at(0);
  };
  where.device().settings.resident_blocks = 2;
  EXPECT_NE(kernel_for_rhs(8).find(", 2 right-hand sides together"), std::string::npos) << kernel_for_rhs(8);
  EXPECT_EQ(kernel_for_rhs(1).find("together"), std::string::npos) << kernel_for_rhs(1);
  where.device().settings.resident_blocks = 16;
  EXPECT_EQ(kernel_for_rhs(8).find("together"), std::string::npos) << kernel_for_rhs(8);
}

/// Each row of more than 32 entries hands them to partial rows.
TEST_F(DataflowPath, CutsLongRowsOnTheGrid) {
  const std::string kernel = kernel_for(patterns::arrow_row(101), policy::dataflow{dataflow_path::grid});
  EXPECT_NE(kernel.find("104 rows in level order, 3 of them partial"), std::string::npos) << kernel;
}

/// Every other row of the second level has eight entries, the others one: side by side they would take eight
/// slots each.
TEST_F(DataflowPath, KeepsRowsOfALevelThatAreAboutAsLongTogetherOnTheGrid) {
  const pattern p =
      patterns::where("uneven", 192, [](auto i, auto j) { return i >= 64 && j < (i % 2 == 0 ? 1 : 8); });
  const auto a = make(p, {});
  const policy::dataflow grid{dataflow_path::grid};
  auto solver = sptrsv::analyze(grid, where.upload(a.by_rows), {}, where.stream());
  const auto b = random_vector<double>(p.size, 7);
  expect_solved(a, {}, p.name, b, solve(solver, b));
  constexpr std::size_t slot_bytes = sizeof(double) + sizeof(std::int32_t) + 1;
  EXPECT_LT(solver.info().solver_bytes, 128 * 8 * slot_bytes);
}

/// Where the columns of a row ascend it is enough to know where its diagonal is stored: there is no place or
/// source of 4 bytes an entry. Some of the rows are cut.
TEST_F(DataflowPath, HoldsNoMapOfTheEntriesWhereRowsAscend) {
  const pattern p = patterns::random(300, 28, 1);
  const auto bytes_of = [&](const policy::dataflow& how, content holds) {
    form f;
    f.holds = holds;
    const auto a = make(p, f);
    auto solver = sptrsv::analyze(how, where.upload(a.by_rows), f.options(), where.stream());
    const auto b = random_vector<double>(p.size, 7);
    expect_solved(a, f, p.name, b, solve(solver, b));
    return solver.info().solver_bytes;
  };
  for (const dataflow_path path : {dataflow_path::grid, dataflow_path::relay}) {
    const policy::dataflow how{path};
    EXPECT_LT(bytes_of(how, content::ascending) + 2 * p.entries.size(), bytes_of(how, content::general));
  }
}

/// Arrays by stored entry have no bytes then. By columns entries are sorted: rows are not taken as they
/// stand.
TEST_F(DataflowPath, SolvesASystemOfWhichNothingIsStored) {
  const pattern p = patterns::diagonal(70);
  const form f{uplo::lower, diag::unit, op::none, true, content::triangle, false};
  const auto a = make(p, f);
  const auto b = random_vector<double>(p.size, 7);
  for (const dataflow_path path : {dataflow_path::grid, dataflow_path::relay}) {
    const policy::dataflow how{path};
    auto solver = sptrsv::analyze(how, where.upload(a.by_columns), f.options(), where.stream());
    expect_solved(a, f, p.name, b, solve(solver, b));
  }
}

/// Of 8 blocks that the device holds: 150 rows a part are enough where there are many levels.
TEST_F(DataflowPath, HasAsManyPartsAsPromiseToBeTheFastest) {
  const std::string kernel = kernel_for(patterns::stencil_2d(8, 150), policy::basic_dataflow<free_hops>{});
  EXPECT_NE(kernel.find("a relay of 8 parts"), std::string::npos) << kernel;
  const std::string few_levels =
      kernel_for(patterns::stencil_2d(20, 60), policy::basic_dataflow<free_hops>{});
  EXPECT_NE(few_levels.find("a relay of 4 parts"), std::string::npos) << few_levels;
}

TEST_F(DataflowPath, RefusesToWalkWithAWindowThatIsTooShort) {
  expect_refused<tiny_window>(patterns::chain(600));
}

TEST_F(DataflowPath, IsNoWalkWhereLevelsAreWideOnAverage) {
  using policy_type = policy::basic_dataflow<narrow_single_block>;
  EXPECT_TRUE(is_single_block(kernel_for(patterns::chain(100), policy_type{})));
  EXPECT_TRUE(is_single_block(kernel_for(patterns::block_diagonal(66, 33), policy_type{})));
  const pattern three_wide = patterns::block_diagonal(99, 33);
  EXPECT_FALSE(is_single_block(kernel_for(three_wide, policy_type{})));
  EXPECT_TRUE(is_single_block(kernel_for(three_wide, policy::basic_dataflow<slow_partitioned>{})))
      << "although the walk is faster";
  EXPECT_TRUE(is_single_block(kernel_for(three_wide, policy_type{dataflow_path::walk})));
}

TEST_F(DataflowPath, RefusesToWalkOnADeviceWithLittleSharedMemory) {
  where.device().settings.shared_limit = 24 * 1024;
  expect_refused<dataflow_tuning>(patterns::chain(600));
  EXPECT_TRUE(is_grid(kernel_for(patterns::chain(600)))) << "nor is there room for a relay";
}

}  // namespace
}  // namespace sptrsv::testing
