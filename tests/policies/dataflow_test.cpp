// The policy dataflow, in the emulator: which path it takes, and which systems a path refuses.
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/dataflow.hpp"

namespace sptrsv::testing {
namespace {

using policy::dataflow_path;

/// Returns the default shapes of the partitioned path, all with this time of a tile.
constexpr auto shapes_with_tile_time(double nanoseconds) {
  std::array<experimental::partitioned_shape, std::size(experimental::dataflow_tuning::partitioned_shapes)>
      shapes{};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    shapes[i] = experimental::dataflow_tuning::partitioned_shapes[i];
    shapes[i].tile_ns = nanoseconds;
  }
  return shapes;
}

/// The x ring buffer has fewer components than the tiles that are under way.
struct tiny_x_ring : experimental::dataflow_tuning {
  static constexpr int single_block_x_ring_size = 64;
};
/// One shape for each of the paths that need much shared memory.
struct one_shape_each : experimental::dataflow_tuning {
  static constexpr experimental::partitioned_shape partitioned_shapes[] = {{1, 32, 2, 4, 1, false, 1, 65}};
  static constexpr int partitioned_x_ring_size = 64;
  static constexpr experimental::single_block_shape single_block_shapes[] = {{8, 4, 2, 3, 265}};
};
/// The kernel of the partitioned path needs more shared memory than those of the analysis.
struct long_x_ring : one_shape_each {
  static constexpr int partitioned_x_ring_size = 4096;
};
/// The single_block path is predicted to be faster.
struct slow_partitioned : experimental::dataflow_tuning {
  static constexpr auto partitioned_shapes = shapes_with_tile_time(500);
  static constexpr double natural_blocks_rows_per_level = 0;  // not considered
};
struct narrow_single_block : slow_partitioned {
  static constexpr double single_block_rows_per_level = 2;
};

/// A tile takes 1 ms, a hand-off 10 ms, a global entry 100 ms.
struct round_costs : experimental::dataflow_tuning {
  static constexpr auto partitioned_shapes = shapes_with_tile_time(1e6);
  static constexpr double partitioned_hop_ns = 1e7;
  static constexpr double partitioned_global_entry_ns = 1e8;
  static constexpr double partitioned_launch_ns = 0;
};

/// Several partitions cost no more than one.
struct free_hops : experimental::dataflow_tuning {
  static constexpr double partitioned_hop_ns = 0;
  static constexpr double partitioned_global_entry_ns = 0;
  static constexpr double partitioned_poll_ns = 0;
};

/// Every system counts as large, and boxes cost nothing.
struct cheap_boxes : experimental::dataflow_tuning {
  static constexpr std::int64_t partitioned_small_entries = 0;
  static constexpr double partitioned_boxes_factor = 0;
};

/// Every system is also large enough for partitions of whole planes.
struct cheap_planes : cheap_boxes {
  static constexpr std::int64_t partitioned_plane_entries = 0;
};

/// Two launches cost no more than one.
struct free_launches : experimental::dataflow_tuning {
  static constexpr double row_per_thread_launch_ns = 0;
  static constexpr double partitioned_launch_ns = 0;
  static constexpr double row_per_thread_level_ns = 200;
};

/// Every system is expected to take the row_per_thread path, or none.
template <class Base, bool Expected>
struct expecting_row_per_thread : Base {
  static constexpr std::int64_t wide_enough_for_rows = Expected ? 0 : std::int64_t{1} << 40;
  static constexpr std::int64_t flat_levels = 0;
};

struct small_packed_slices : experimental::dataflow_tuning {
  static constexpr std::int64_t partitioned_max_bytes = 4096;
};

class DataflowPath : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  template <class Tuning = experimental::dataflow_tuning>
  auto analyze(const pattern& p, const policy::basic_dataflow<Tuning>& how = {}, std::int64_t max_rhs = 1) {
    return sptrsv::analyze(how, where.upload(make(p, {}).by_rows),
                           {uplo::lower, diag::non_unit, op::none, max_rhs}, where.stream());
  }
  template <class Tuning = experimental::dataflow_tuning>
  solver_info info_for(const pattern& p, const policy::basic_dataflow<Tuning>& how = {},
                       std::int64_t max_rhs = 1) {
    return analyze(p, how, max_rhs).info();
  }

  /// Solves, and returns the description of the solver.
  template <class Tuning = experimental::dataflow_tuning>
  solver_info solve_and_describe(const pattern& p, const policy::basic_dataflow<Tuning>& how = {}) {
    auto solver = analyze(p, how);
    const auto b = random_vector<double>(p.size, 7);
    expect_solved(make(p, {}), {}, p.name, b, solve(solver, b));
    return solver.info();
  }
  /// Solves, and returns the first kernel.
  template <class Tuning = experimental::dataflow_tuning>
  kernel_info kernel_for(const pattern& p, const policy::basic_dataflow<Tuning>& how = {}) {
    return solve_and_describe(p, how).kernels.at(0);
  }
  /// Solves, and returns the path.
  template <class Tuning = experimental::dataflow_tuning>
  std::string path_for(const pattern& p, const policy::basic_dataflow<Tuning>& how = {}) {
    return solve_and_describe(p, how).path;
  }

  template <class Tuning>
  void expect_refused(const pattern& p, dataflow_path path, const std::string& name) {
    try {
      analyze(p, policy::basic_dataflow<Tuning>{path});
      ADD_FAILURE() << p.name << " should be refused";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::unsupported);
      EXPECT_NE(std::string(e.what()).find("the path " + name + " cannot solve this system"),
                std::string::npos)
          << e.what();
    }
    EXPECT_NE(path_for(p, policy::basic_dataflow<Tuning>{}), name) << p.name;
  }
  template <class Tuning>
  void expect_single_block_refused(const pattern& p) {
    expect_refused<Tuning>(p, dataflow_path::single_block, "single_block");
  }

  /// Returns the names of the predictions in their order; expects times between 0 and 1 ms.
  static std::vector<std::string> predicted_paths(const solver_info& info) {
    std::vector<std::string> names;
    for (const predicted_time& prediction : info.predictions) {
      EXPECT_GT(prediction.nanoseconds, 0) << prediction.name;
      EXPECT_LT(prediction.nanoseconds, 1e6) << prediction.name;
      names.push_back(prediction.name);
    }
    return names;
  }
  using names = std::vector<std::string>;
  using boxes = std::array<std::int64_t, 3>;
  static constexpr boxes no_boxes{};
};

TEST_F(DataflowPath, IsSingleBlockWhereRowsFollowEachOther) {
  for (const pattern& p : {patterns::chain(600), patterns::band(257, 12)}) {
    EXPECT_EQ(path_for(p), "single_block") << p.name;
  }
}

/// Returns the lower triangle of a grid with some rows for each point: they need all rows of the point, of
/// the point to the left, and of the point below.
pattern unknowns_on_grid(std::int64_t width, std::int64_t height, std::int64_t unknowns) {
  return patterns::where("unknowns", width * height * unknowns, [=](std::int64_t i, std::int64_t j) {
    const std::int64_t a = i / unknowns;
    const std::int64_t b = j / unknowns;
    return a == b || b == a - width || (b == a - 1 && a % width > 0);
  });
}

TEST_F(DataflowPath, IsNaturalBlocksWhereRowsStandInBlocks) {
  for (const std::int64_t unknowns : {3, 4, 6}) {
    const solver_info info = solve_and_describe(unknowns_on_grid(8, 25, unknowns), policy::dataflow{});
    EXPECT_EQ(info.path, "natural_blocks") << unknowns;
    EXPECT_EQ(info.kernels.at(0).tile_rows, unknowns);
    EXPECT_EQ(predicted_paths(info), (names{"natural_blocks", "partitioned"}));
  }
  for (const std::int64_t unknowns : {1, 2}) {  // the analysis would take longer than a hundred solves gain
    EXPECT_NE(path_for(unknowns_on_grid(8, 25, unknowns)), "natural_blocks") << unknowns;
  }
}

TEST_F(DataflowPath, RefusesNaturalBlocksOnADeviceWithLittleSharedMemory) {
  where.device().settings.shared_limit = 8 * 1024;
  expect_refused<experimental::dataflow_tuning>(patterns::random(4000, 4, 1), dataflow_path::natural_blocks,
                                                "natural_blocks");
}

/// The x ring buffer takes all the shared memory of the device but the static part of the kernel.
TEST_F(DataflowPath, IsNaturalBlocksWhereTheRingBufferTakesAllSharedMemory) {
  where.device().settings.shared_limit = 400 * 3 * sizeof(double);
  policy::dataflow how{dataflow_path::natural_blocks};
  how.shape = 0;
  const solver_info info = solve_and_describe(patterns::chain(3000), how);
  EXPECT_EQ(info.kernels.at(0).x_ring_size, 398 * 3);
}

TEST_F(DataflowPath, IsPartitionedWhereLevelsAreNarrow) {
  for (const pattern& p : {patterns::stencil_2d(24, 24), patterns::layers(1000, 8, 3)}) {
    EXPECT_EQ(path_for(p), "partitioned") << p.name;
  }
}

TEST_F(DataflowPath, IsRowPerThreadWhereLevelsAreWide) {
  for (const pattern& p : {patterns::diagonal(1500), patterns::arrow_column(1500),
                           patterns::layers(2000, 500, 3), patterns::layers(9000, 1500, 3)}) {
    EXPECT_EQ(path_for(p), "row_per_thread") << p.name;
  }
}

/// What is expected saves a wait for the device, and changes nothing if another path is chosen.
TEST_F(DataflowPath, DoesNotDependOnThePathThatWasExpected) {
  const auto see = [&](const pattern& p, auto tuning) {
    const auto waits = where.device().counters.synchronizations;
    auto solver = analyze(p, policy::basic_dataflow<decltype(tuning)>{});
    const auto of_analysis = where.device().counters.synchronizations - waits;
    const solver_info info = solver.info();
    return std::make_tuple(info.path, info.plan, info.solver_bytes,
                           solve(solver, random_vector<double>(p.size, 7)), of_analysis);
  };
  const auto compare = [&](const pattern& p, const std::string& path, std::uint64_t saved, auto tuning) {
    using base = decltype(tuning);
    const auto expected = see(p, expecting_row_per_thread<base, true>{});
    const auto other = see(p, expecting_row_per_thread<base, false>{});
    EXPECT_EQ(std::get<0>(expected), path) << p.name;
    EXPECT_EQ(std::get<1>(expected), std::get<1>(other)) << p.name;
    EXPECT_EQ(std::get<2>(expected), std::get<2>(other)) << p.name;
    EXPECT_TRUE(same_bits(std::get<3>(expected), std::get<3>(other))) << p.name;
    EXPECT_EQ(std::get<4>(expected) + saved, std::get<4>(other)) << p.name;
  };
  compare(patterns::layers(2000, 500, 3), "row_per_thread", 1, experimental::dataflow_tuning{});
  compare(patterns::layers(4500, 1500, 2), "row_per_thread", 1, experimental::dataflow_tuning{});
  compare(patterns::stencil_3d(8, 8, 8), "partitioned", 0, experimental::dataflow_tuning{});
  compare(patterns::stencil_3d(8, 8, 8), "row_per_thread", 0, small_packed_slices{});
}

/// Two wide levels, and rows that are stored in order: the host waits for the triangle and its levels only.
/// The slots are not counted before there is room for them.
TEST_F(DataflowPath, WaitsOnceForFewWideLevels) {
  const std::int64_t half = 3000;
  pattern p{"two_levels", 2 * half, {}};
  for (std::int64_t row = half; row < p.size; ++row) {
    for (std::int64_t k = 0; k < (row % 2 == 0 ? 5 : 2); ++k) {
      p.entries.push_back({row, row % 1000 + 400 * k});
    }
  }
  const auto stored = where.upload(make(p, {}).by_rows);
  const auto waits = where.device().counters.synchronizations;
  auto solver = sptrsv::analyze(policy::dataflow{}, stored, {}, where.stream());
  EXPECT_EQ(where.device().counters.synchronizations - waits, 2u) << "the report, the words of the workspace";
  EXPECT_EQ(solver.info().path, "row_per_thread");
  solve(solver, random_vector<double>(p.size, 7));
}

TEST_F(DataflowPath, IsRowPerThreadWhereThePackedSlicesWouldBeTooLarge) {
  const pattern p = patterns::stencil_2d(24, 24);
  const solver_info info = solve_and_describe(p, policy::basic_dataflow<small_packed_slices>{});
  EXPECT_EQ(info.path, "row_per_thread");
  EXPECT_EQ(predicted_paths(info), names{"row_per_thread"});
  EXPECT_NE(info.plan.find("the packed slices of the partitioned path are too large"), std::string::npos)
      << info.plan;
  EXPECT_THROW(analyze(p, policy::basic_dataflow<small_packed_slices>{dataflow_path::partitioned}), error);
  policy::basic_dataflow<small_packed_slices> hybrid{dataflow_path::hybrid};
  hybrid.row_per_thread_levels = 10;
  EXPECT_EQ(solve_and_describe(p, hybrid).path, "row_per_thread");
}

TEST_F(DataflowPath, IsTheOneAskedFor) {
  const policy::dataflow by_levels{dataflow_path::row_per_thread};
  const solver_info levels = solve_and_describe(patterns::chain(100), by_levels);
  EXPECT_EQ(levels.path, "row_per_thread");
  EXPECT_EQ(levels.kernels.at(0).levels, 100);
  EXPECT_EQ(levels.kernels.at(0).partial_rows, 0);
  const policy::dataflow natural_order{dataflow_path::row_per_thread, policy::row_order::natural};
  const solver_info natural = solve_and_describe(patterns::chain(100), natural_order);
  EXPECT_EQ(natural.path, "row_per_thread");
  EXPECT_EQ(natural.kernels.at(0).levels, 0);
  EXPECT_EQ(path_for(patterns::diagonal(1500), policy::dataflow{dataflow_path::single_block}),
            "single_block");
  const policy::dataflow three{dataflow_path::partitioned, policy::row_order::levels, 3};
  const solver_info partitioned = solve_and_describe(patterns::diagonal(1500), three);
  EXPECT_EQ(partitioned.path, "partitioned");
  EXPECT_EQ(partitioned.kernels.at(0).partitions, 3);
}

/// Checks the words that describe each kernel; the other tests read fields.
TEST_F(DataflowPath, SaysWhatItsKernelsDo) {
  const auto expect_words = [&](const pattern& p, const policy::dataflow& how, const std::string& words) {
    const std::string text = info_for(p, how).kernels.at(0).text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  const policy::dataflow row_per_thread{dataflow_path::row_per_thread};
  expect_words(patterns::chain(100), row_per_thread,
               "one thread for each of 100 rows in level order, 0 of them partial rows");
  expect_words(patterns::arrow_row(101), row_per_thread, "115 rows in level order, 14 of them partial");
  expect_words(patterns::chain(100), {dataflow_path::row_per_thread, policy::row_order::natural},
               "100 rows in the order of substitution");
  expect_words(patterns::chain(600), {dataflow_path::single_block},
               "tiles of 32 coupled rows, 1 lanes per row, 2 entries per lane");
  expect_words(patterns::dense(12), {dataflow_path::natural_blocks},
               "steps of natural blocks of at most 6 rows, 4 lanes per block, 6 groups of 1 warps, x ring "
               "buffer of 2 blocks, 0 partial blocks");
  expect_words(patterns::diagonal(1500), {dataflow_path::partitioned, policy::row_order::levels, 3},
               "one block for each of 3 partitions, ");
}

TEST_F(DataflowPath, SaysWhatItPredicted) {
  EXPECT_EQ(predicted_paths(info_for(patterns::chain(600))), (names{"single_block", "partitioned"}));
  EXPECT_EQ(predicted_paths(info_for(patterns::stencil_2d(24, 24))),
            (names{"partitioned", "row_per_thread"}));
  EXPECT_EQ(predicted_paths(info_for(patterns::diagonal(1500))), names{"row_per_thread"});
  const solver_info wide = info_for(patterns::arrow_column(1500));
  EXPECT_EQ(predicted_paths(wide), names{"row_per_thread"});
  EXPECT_GT(wide.predictions.at(0).nanoseconds, 0);
  const policy::dataflow partitioned{dataflow_path::partitioned};
  EXPECT_EQ(predicted_paths(info_for(patterns::chain(10), partitioned)).at(0), "partitioned");
  const solver_info natural = info_for(patterns::chain(10), policy::dataflow{dataflow_path::row_per_thread});
  EXPECT_EQ(predicted_paths(natural), names{});
  EXPECT_EQ(natural.plan, "");
}

/// Checks the words that describe the choice; the other tests read fields.
TEST_F(DataflowPath, SaysWhyItChoseThePath) {
  const auto expect_start = [&](const pattern& p, const policy::dataflow& how, const std::string& start) {
    const std::string plan = info_for(p, how).plan;
    EXPECT_EQ(plan.rfind(start, 0), 0u) << plan;
  };
  expect_start(patterns::chain(600), {}, "single_block, by the predicted time of a solve: single_block 0.0");
  expect_start(patterns::stencil_2d(24, 24), {},
               "partitioned, by the predicted time of a solve: partitioned 0.00");
  expect_start(patterns::diagonal(1500), {}, "row_per_thread: no row needs another one");
  expect_start(patterns::arrow_column(1500), {},
               "row_per_thread: few levels, which are wide; predicted: row_per_thread 0.00");
  expect_start(patterns::chain(10), {dataflow_path::partitioned},
               "partitioned, as asked for; predicted: partitioned 0.00");
}

/// Its kernel hands nothing on. Solves that follow each other, and the status, tell the solves apart as
/// usual.
TEST_F(DataflowPath, SolvesDiagonalSystemsInEveryForm) {
  const std::int64_t rows = 700;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    for (const form& f : covering_forms(turn)) {
      const auto a = make(patterns::diagonal(rows), f);
      a.visit([&](const auto& stored) {
        auto solver = sptrsv::analyze(policy::dataflow{}, where.upload(stored), f.options(5), where.stream());
        for (const layout& shape : {single(rows), column_major(rows, 5, 3), row_major(rows, 4, 1),
                                    scattered(rows, 2), single(rows)}) {
          const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), 7);
          expect_solved(a, f, "diagonal", shape, b, solve(solver, shape, b, -1.5), -1.5);
          EXPECT_TRUE(solver.status(where.stream()).ok());
          auto bad = b;
          bad[shape.at(650, shape.columns - 1)] = std::numeric_limits<double>::infinity();
          solve(solver, shape, bad);
          EXPECT_EQ(solver.status(where.stream()).row, 650) << f.name() << ", " << shape.name;
        }
      });
    }
  }
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

TEST_F(DataflowPath, IsHybridWhereTheFirstLevelsAreWideAndTheOthersNarrow) {
  policy::basic_dataflow<free_launches> how;
  const solver_info cut = solve_and_describe(wide_and_narrow(), how);
  EXPECT_EQ(cut.path, "hybrid");
  EXPECT_EQ(cut.plan.rfind("hybrid, by the predicted time of a solve: 8 levels by row_per_thread 0.00", 0),
            0u)
      << cut.plan;
  EXPECT_NE(cut.plan.find(", 80 by partitioned 0.00"), std::string::npos) << cut.plan;
  EXPECT_EQ(predicted_paths(cut), (names{"hybrid", "single path"}));
  EXPECT_EQ(cut.levels, 88);
  ASSERT_EQ(cut.kernels.size(), 2u);
  EXPECT_EQ(cut.kernels[0].levels, 8) << cut.kernels[0].text;
  EXPECT_EQ(cut.kernels[0].partitions, 0) << cut.kernels[0].text;
  EXPECT_GT(cut.kernels[1].partitions, 0) << cut.kernels[1].text;
  for (const pattern& p : {patterns::stencil_2d(24, 24), patterns::layers(2000, 500, 3)}) {
    const solver_info uncut = solve_and_describe(p, how);
    EXPECT_EQ(uncut.kernels.size(), 1u) << p.name << ": " << uncut.plan;
    EXPECT_NE(uncut.path, "hybrid") << p.name;
  }

  how.path = dataflow_path::hybrid;
  how.row_per_thread_levels = 5;
  const solver_info asked = solve_and_describe(wide_and_narrow(), how);
  EXPECT_EQ(asked.path, "hybrid");
  EXPECT_EQ(asked.kernels.at(0).levels, 5);
  EXPECT_EQ(asked.plan.rfind("hybrid, as asked for; predicted: 5 levels by row_per_thread 0.00", 0), 0u)
      << asked.plan;
  how.row_per_thread_levels = 1000;  // all but the last
  const solver_info almost_all = solve_and_describe(patterns::chain(10), how);
  EXPECT_EQ(almost_all.path, "hybrid");
  EXPECT_EQ(almost_all.kernels.at(0).levels, 9);
  EXPECT_EQ(path_for(patterns::diagonal(100), how), "row_per_thread") << "there is one level";
}

/// Zero pivots are found in the rows of both kernels.
TEST_F(DataflowPath, FindsZeroPivotsInBothHalvesOfAHybrid) {
  const pattern p = wide_and_narrow();
  policy::basic_dataflow<free_launches> how{dataflow_path::hybrid};
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

TEST_F(DataflowPath, PredictsWhatPartitionsWaitFor) {
  where.device().settings.resident_blocks = 2;
  // In milliseconds.
  const auto predicted = [&](const pattern& p, int partitions, int shape, std::int64_t max_rhs = 1) {
    policy::basic_dataflow<round_costs> how{dataflow_path::partitioned, policy::row_order::levels,
                                            partitions};
    how.shape = shape;
    const solver_info info = info_for(p, how, max_rhs);
    EXPECT_EQ(info.path, "partitioned");
    EXPECT_EQ(info.predictions.at(0).name, "partitioned");
    return info.predictions.at(0).nanoseconds * 1e-6;
  };
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 1, 0), 10);
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 2, 0), 120) << "one global entry and one hand-off";
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 5, 0), 150) << "one global entry each, four hand-offs";
  EXPECT_DOUBLE_EQ(predicted(patterns::diagonal(320), 2, 0), 6.5) << "five tiles, 1.3 times as long";
  // Further rounds of right-hand sides take 1.5 times as long. The first partition begins the second round
  // while the other one waits for the first round.
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 1, 0, 2), 10);
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 1, 0, 7), 55);
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 1, 9, 7), 25) << "two rounds of four right-hand sides";
  EXPECT_DOUBLE_EQ(predicted(patterns::chain(10), 2, 0, 2), 229) << "rows 4 and 6, two global entries";
}

TEST_F(DataflowPath, TakesTheBoxesOfAGridAsPartitions) {
  const policy::basic_dataflow<cheap_boxes> partitioned{dataflow_path::partitioned};
  for (std::uint64_t seed = 0; seed < trials(12); ++seed) {
    where.device().settings = hostile_settings(seed, seed % 2 == 0 ? 0 : 16);
    for (const pattern& p :
         {patterns::stencil_3d(9, 10, 11), patterns::stencil_3d(6, 7, 20), patterns::stencil_3d(31, 5, 4)}) {
      const kernel_info kernel = kernel_for(p, partitioned);
      const auto [x, y, z] = kernel.boxes;
      EXPECT_GT(x * y * z, 1) << p.name << ": " << kernel.text;
      EXPECT_EQ(x * y * z, kernel.partitions) << p.name << ": " << kernel.text;
      EXPECT_NE(kernel.text.find("boxes of a grid"), std::string::npos) << p.name << ": " << kernel.text;
    }
  }
  for (const pattern& p : {patterns::stencil_2d(24, 40), patterns::band(800, 10), patterns::chain(600)}) {
    const kernel_info kernel = kernel_for(p, partitioned);
    EXPECT_EQ(kernel.boxes, no_boxes) << p.name << ": " << kernel.text;
    EXPECT_EQ(kernel.text.find("boxes"), std::string::npos) << p.name << ": " << kernel.text;
  }
}

TEST_F(DataflowPath, TakesPlanesAsPartitionsWhereRowsNeedNeighboursAheadOfThem) {
  const pattern p = patterns::stencil_3d_27(7, 8, 9);
  for (std::uint64_t seed = 0; seed < trials(6); ++seed) {
    where.device().settings = hostile_settings(seed, seed % 2 == 0 ? 0 : 16);
    const kernel_info kernel =
        kernel_for(p, policy::basic_dataflow<cheap_planes>{dataflow_path::partitioned});
    EXPECT_EQ(kernel.boxes, (boxes{1, 1, kernel.partitions})) << kernel.text;
    EXPECT_GT(kernel.partitions, 1) << kernel.text;
    EXPECT_EQ(kernel.lanes_per_row, 1) << kernel.text;
    EXPECT_EQ(kernel.x_ring_size, 2048) << kernel.text;
  }
  const kernel_info kept = kernel_for(p, policy::basic_dataflow<cheap_boxes>{dataflow_path::partitioned});
  EXPECT_EQ(kept.boxes, no_boxes) << kept.text;
}

/// The rows in the middle look like those of a grid, but some rows before them need a later box.
TEST_F(DataflowPath, TakesNoBoxesThatWouldWaitForLaterOnes) {
  pattern p = patterns::stencil_3d(9, 10, 11);
  for (std::int64_t row = 100; row < 200; ++row) {
    p.entries.push_back({row, row - 90 + 5});
  }
  const kernel_info kernel = kernel_for(p, policy::basic_dataflow<cheap_boxes>{dataflow_path::partitioned});
  EXPECT_EQ(kernel.boxes, no_boxes) << kernel.text;
}

TEST_F(DataflowPath, RefusesVeryManyPartitions) {
  try {
    analyze(patterns::chain(600),
            policy::dataflow{dataflow_path::partitioned, policy::row_order::levels, 257});
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("the path partitioned cannot solve this system"), std::string::npos)
        << e.what();
  }
}

TEST_F(DataflowPath, HasTheShapeThatIsPredictedToBeFastest) {
  const kernel_info chain = kernel_for(patterns::chain(600));
  EXPECT_EQ(chain.tile_rows, 32) << chain.text;
  EXPECT_EQ(chain.lanes_per_row, 1) << chain.text;
  EXPECT_NE(chain.text.find("2 entries per lane"), std::string::npos) << chain.text;
  const kernel_info short_rows = kernel_for(patterns::stencil_2d(24, 24));
  EXPECT_EQ(short_rows.tile_rows, 32) << short_rows.text;
  EXPECT_EQ(short_rows.lanes_per_row, 1) << short_rows.text;
  const kernel_info long_rows = kernel_for(patterns::layers(1200, 24, 14));
  EXPECT_EQ(long_rows.lanes_per_row, 2) << long_rows.text;
}

TEST_F(DataflowPath, HasTheShapeAskedFor) {
  policy::dataflow how{dataflow_path::partitioned};
  how.shape = 5;
  EXPECT_EQ(kernel_for(patterns::chain(100), how).tile_rows, 16);
  EXPECT_EQ(kernel_for(patterns::chain(100), how).lanes_per_row, 4);
  how.shape = 6;
  EXPECT_EQ(kernel_for(patterns::chain(100), how).x_ring_size, 2048);
  how.shape = 9;
  EXPECT_EQ(kernel_for(patterns::chain(100), how).rhs_together, 2);
  how.shape = 10;
  EXPECT_THROW(kernel_for(patterns::chain(100), how), error);
  how.path = dataflow_path::single_block;
  EXPECT_THROW(kernel_for(patterns::chain(100), how), error);
  how.path = dataflow_path::natural_blocks;
  EXPECT_THROW(kernel_for(patterns::chain(100), how), error);
  how.shape = 3;
  EXPECT_EQ(kernel_for(patterns::chain(100), how).tile_rows, 6);
  how.path = dataflow_path::single_block;
  how.shape = 1;
  EXPECT_EQ(kernel_for(patterns::chain(100), how).tile_rows, 8);
  EXPECT_EQ(kernel_for(patterns::chain(100), how).lanes_per_row, 4);
}

TEST_F(DataflowPath, SolvesRightHandSidesTogetherWhereTheDeviceHasNoRoomForThemSideBySide) {
  const auto kernel_for_rhs = [&](std::int64_t max_rhs) {
    const policy::dataflow partitioned{dataflow_path::partitioned};
    return info_for(patterns::stencil_2d(24, 24), partitioned, max_rhs).kernels.at(0);
  };
  where.device().settings.resident_blocks = 2;
  EXPECT_EQ(kernel_for_rhs(8).rhs_together, 2);
  EXPECT_NE(kernel_for_rhs(8).text.find(", 2 right-hand sides together"), std::string::npos);
  EXPECT_EQ(kernel_for_rhs(1).rhs_together, 1);
  where.device().settings.resident_blocks = 16;
  EXPECT_EQ(kernel_for_rhs(8).rhs_together, 1);
}

/// The row of 101 entries gives entries to partial rows.
TEST_F(DataflowPath, SplitsLongRowsOnRowPerThread) {
  const kernel_info kernel =
      kernel_for(patterns::arrow_row(101), policy::dataflow{dataflow_path::row_per_thread});
  EXPECT_EQ(kernel.partial_rows, 14);
  EXPECT_EQ(kernel.levels, 4);
}

/// In wide levels a partial row for each row costs more than it saves, if there are many.
TEST_F(DataflowPath, SplitsFewerRowsWhereLevelsAreWide) {
  const auto partial_rows = [&](std::int64_t first, std::int64_t length) {
    const auto p =
        patterns::where("wide", 1400, [=](auto i, auto j) { return i >= first && j < length && j < first; });
    return kernel_for(p).partial_rows;
  };
  EXPECT_EQ(partial_rows(1300, 14), 100) << "few rows are long";
  EXPECT_EQ(partial_rows(700, 14), 0);
  EXPECT_EQ(partial_rows(700, 60), 700) << "the levels are not known before rows are split";
}

/// Every other row of the second level has eight entries, the others have one: in the same slice all of them
/// would take eight slots.
TEST_F(DataflowPath, SortsTheRowsOfALevelByLengthOnRowPerThread) {
  const pattern p =
      patterns::where("uneven", 192, [](auto i, auto j) { return i >= 64 && j < (i % 2 == 0 ? 1 : 8); });
  const auto a = make(p, {});
  const policy::dataflow row_per_thread{dataflow_path::row_per_thread};
  auto solver = sptrsv::analyze(row_per_thread, where.upload(a.by_rows), {}, where.stream());
  const auto b = random_vector<double>(p.size, 7);
  expect_solved(a, {}, p.name, b, solve(solver, b));
  constexpr std::size_t slot_bytes = sizeof(double) + sizeof(std::int32_t) + 1;
  EXPECT_LT(solver.info().solver_bytes, 128 * 8 * slot_bytes);
}

/// If the columns of a row ascend, the position of its diagonal tells the positions of all its entries, and
/// no map of 4 bytes per entry is kept. Some of the rows are split.
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
  for (const dataflow_path path : {dataflow_path::row_per_thread, dataflow_path::partitioned}) {
    const policy::dataflow how{path};
    EXPECT_LT(bytes_of(how, content::ascending) + 2 * p.entries.size(), bytes_of(how, content::general));
  }
}

/// Arrays by stored entry are empty. Entries stored by columns are sorted into rows first.
TEST_F(DataflowPath, SolvesASystemWithoutStoredEntries) {
  const pattern p = patterns::diagonal(70);
  const form f{uplo::lower, diag::unit, op::none, true, content::triangle, false};
  const auto a = make(p, f);
  const auto b = random_vector<double>(p.size, 7);
  for (const dataflow_path path : {dataflow_path::row_per_thread, dataflow_path::partitioned}) {
    const policy::dataflow how{path};
    auto solver = sptrsv::analyze(how, where.upload(a.by_columns), f.options(), where.stream());
    expect_solved(a, f, p.name, b, solve(solver, b));
  }
}

/// The device holds 8 blocks. 150 rows per partition are enough if there are many levels.
TEST_F(DataflowPath, HasTheNumberOfPartitionsThatIsPredictedToBeFastest) {
  const policy::basic_dataflow<free_hops> how{};
  const solver_info many_levels = solve_and_describe(patterns::stencil_2d(8, 150), how);
  EXPECT_EQ(many_levels.path, "partitioned");
  EXPECT_EQ(many_levels.kernels.at(0).partitions, 8);
  const solver_info few_levels = solve_and_describe(patterns::stencil_2d(20, 60), how);
  EXPECT_EQ(few_levels.path, "partitioned");
  EXPECT_EQ(few_levels.kernels.at(0).partitions, 4);
}

TEST_F(DataflowPath, RefusesSingleBlockWithAnXRingBufferThatIsTooShort) {
  expect_single_block_refused<tiny_x_ring>(patterns::chain(600));
}

TEST_F(DataflowPath, IsNotSingleBlockWhereLevelsAreWideOnAverage) {
  using policy_type = policy::basic_dataflow<narrow_single_block>;
  EXPECT_EQ(path_for(patterns::chain(100), policy_type{}), "single_block");
  EXPECT_EQ(path_for(patterns::block_diagonal(66, 33), policy_type{}), "single_block");
  const pattern three_wide = patterns::block_diagonal(99, 33);
  EXPECT_NE(path_for(three_wide, policy_type{}), "single_block");
  EXPECT_EQ(path_for(three_wide, policy::basic_dataflow<slow_partitioned>{}), "single_block")
      << "it is faster without the limit";
  EXPECT_EQ(path_for(three_wide, policy_type{dataflow_path::single_block}), "single_block");
}

TEST_F(DataflowPath, RefusesSingleBlockOnADeviceWithLittleSharedMemory) {
  where.device().settings.shared_limit = 24 * 1024;
  expect_single_block_refused<experimental::dataflow_tuning>(patterns::chain(600));
  EXPECT_EQ(path_for(patterns::chain(600)), "row_per_thread") << "nor is there room for partitioned";
}

/// A block may have all the shared memory of the device: its dynamic and its static part together.
TEST_F(DataflowPath, IsPartitionedWhereSharedMemoryJustSuffices) {
  using shape = detail::dataflow::partitioned::shapes_of<long_x_ring>::type;
  const policy::basic_dataflow<long_x_ring> how{dataflow_path::partitioned};
  shape::for_each([&](auto s, int) {
    using layout = detail::dataflow::partitioned::shared_layout<double, decltype(s)>;
    using agent = detail::dataflow::partitioned::agent<double, decltype(s)>;
    where.device().settings.shared_limit =
        layout::bytes(layout::x_ring_size(long_x_ring::partitioned_x_ring_size)) +
        sizeof(typename agent::shared_storage);
  });
  EXPECT_EQ(path_for(patterns::chain(600), how), "partitioned");
  --where.device().settings.shared_limit;
  EXPECT_THROW(path_for(patterns::chain(600), how), error);
}

TEST_F(DataflowPath, IsSingleBlockWhereSharedMemoryJustSuffices) {
  using shape = detail::dataflow::single_block::shapes_of<one_shape_each>::type;
  const policy::basic_dataflow<one_shape_each> how{dataflow_path::single_block};
  shape::for_each([&](auto s, int) {
    const auto values = detail::dataflow::single_block::values_of<decltype(s)>();
    const auto needed = detail::dataflow::single_block::shared_memory<double, decltype(s)>::bytes(
        2 * values.reload_distance() * values.rows);
    where.device().settings.shared_limit = needed + 16;  // an empty struct, and its padding
  });
  EXPECT_EQ(path_for(patterns::chain(600), how), "single_block");
  where.device().settings.shared_limit -= 16;
  expect_single_block_refused<one_shape_each>(patterns::chain(600));
}

/// Entries in single precision: a solve gives the bits of the same path with the rounded matrix.
template <class Value>
class SingleEntries : public on_target<case_types<emulator_target, Value, std::int32_t, std::int32_t>> {
 public:
  using base = on_target<case_types<emulator_target, Value, std::int32_t, std::int32_t>>;
  static constexpr auto by_rows = policy::dataflow{dataflow_path::row_per_thread};

  /// The values of the systems are exact in float, and their products with this are not.
  static constexpr double needs_double = 1 + 1e-9;

  static Value rounded(Value v) {
    if constexpr (is_complex<Value>) {
      return {static_cast<float>(v.real()), static_cast<float>(v.imag())};
    } else {
      return static_cast<float>(v);
    }
  }

  void check(const pattern& p, const form& f, std::int64_t rhs, const std::string& name) {
    auto a = this->make(p, f);
    for (Value& v : a.values()) {
      v *= needs_double;
    }
    auto rounded_a = a;
    for (Value& v : rounded_a.values()) {
      v = rounded(v);
    }
    const system_options options{f.part, f.diagonal, f.operation, rhs};
    const auto b = random_vector<Value>(p.size * rhs, 7);
    const auto solved = [&](const auto& policy, const auto& stored_as, const auto& later) {
      return stored_as.visit([&](const auto& stored) {
        const auto there = this->where.upload(stored);
        auto solver = sptrsv::analyze(policy, there, options, this->where.stream());
        const auto values = this->where.upload(later.values());
        solver.update_values(values, this->where.stream());
        const auto from = this->where.upload(b);
        const auto to = this->where.upload(std::vector<Value>(b.size()));
        solver.solve(dense_view<const Value>::column_major(from.data(), p.size, rhs, p.size),
                     dense_view<Value>::column_major(to.data(), p.size, rhs, p.size), Value(1),
                     this->where.stream());
        EXPECT_TRUE(solver.status(this->where.stream()).ok()) << name;
        return detail::download_array(to.data(), static_cast<std::int64_t>(b.size()), this->where.on());
      });
    };
    const auto expected = solved(by_rows, rounded_a, rounded_a);
    EXPECT_TRUE(same_bits(solved(policy::dataflow_single{}, a, a), expected)) << name;
    EXPECT_FALSE(same_bits(solved(by_rows, a, a), expected) && p.entries.size() > 9) << name << ": exact";
  }

  void check_all() {
    std::uint64_t seed = 0;
    for (const pattern& p : {patterns::diagonal(40), patterns::chain(70), patterns::stencil_2d(9, 10),
                             patterns::stencil_3d(4, 5, 4), patterns::dense(40), patterns::arrow_row(60)}) {
      for (const auto holds : {content::triangle, content::general}) {
        for (const bool upper : {false, true}) {
          form f;
          f.holds = holds;
          f.part = upper ? uplo::upper : uplo::lower;
          f.by_columns = seed % 2 == 1;
          f.operation = seed % 3 == 0 ? op::conj_transpose : op::none;
          this->where.device().settings = hostile_settings(seed, seed % 3);
          check(p, f, seed % 4 == 3 ? 3 : 1, p.name + ", seed " + std::to_string(seed));
          ++seed;
        }
      }
    }
  }

  void TestBody() override {}
};

TEST(DataflowSingle, HasTheBitsOfTheRoundedMatrix) {
  SingleEntries<double>().check_all();
  SingleEntries<std::complex<double>>().check_all();
}

/// The backward error with the rounded matrix is that of substitution, and an entry takes 4 bytes less.
TEST_F(DataflowPath, SingleEntriesHaveTheErrorOfSubstitution) {
  const pattern p = patterns::stencil_3d(7, 8, 9);
  auto a = make(p, {});
  for (double& v : a.values()) {
    v *= SingleEntries<double>::needs_double;
  }
  auto solver = sptrsv::analyze(policy::dataflow_single{}, where.upload(a.by_rows), {}, where.stream());
  const auto b = random_vector<double>(p.size, 7);
  const auto x = solve(solver, b);
  for (double& v : a.values()) {
    v = SingleEntries<double>::rounded(v);
  }
  expect_solved(a, {}, p.name, b, x);
  EXPECT_EQ(solver.info().path, "row_per_thread");
  const auto in_double = info_for(p, policy::dataflow{dataflow_path::row_per_thread});
  EXPECT_LE(solver.info().solver_bytes + 4 * p.entries.size(), in_double.solver_bytes);
}

TEST_F(DataflowPath, SingleEntriesOutOfRangeAreReported) {
  const pattern p = patterns::chain(40);
  for (const double value : {1e39, 1e-50}) {
    auto a = make(p, {});
    a.set(17, 17, value);
    const auto there = where.upload(a.by_rows);
    auto solver = sptrsv::analyze(policy::dataflow_single{}, there, {}, where.stream());
    solve(solver, random_vector<double>(p.size, 7));
    const solve_status status = solver.status(where.stream());
    if (value < 1) {
      EXPECT_EQ(status.code, solve_status::kind::zero_pivot);
      EXPECT_EQ(status.row.value_or(-1), 17);
    }
  }
}

TEST_F(DataflowPath, SingleEntriesNeedThePathAndTheOrder) {
  const auto refused = [&](const policy::dataflow_single& how) {
    try {
      analyze(patterns::chain(9), how);
      return false;
    } catch (const error& e) {
      return e.code() == errc::unsupported;
    }
  };
  policy::dataflow_single how;
  EXPECT_FALSE(refused(how));
  how.exact_order = false;
  EXPECT_TRUE(refused(how));
  EXPECT_FALSE(refused({dataflow_path::row_per_thread}));
  for (const auto path : {dataflow_path::partitioned, dataflow_path::single_block, dataflow_path::hybrid}) {
    EXPECT_TRUE(refused({path}));
  }
}

/// A real triangle and complex vectors: the parts are solved as two right-hand sides.
TEST_F(DataflowPath, RealTrianglesTakeComplexVectors) {
  using complex = std::complex<double>;
  const pattern p = patterns::stencil_2d(7, 9);
  for (const std::int64_t columns : {1, 3}) {
    auto solver = analyze(p, policy::dataflow{}, 2 * columns);
    const auto b = random_vector<complex>(p.size * columns, 3);
    const auto from = where.upload(b);
    const auto to = where.upload(std::vector<complex>(b.size()));
    solver.solve(real_view(dense_view<const complex>::row_major(from.data(), p.size, columns, columns)),
                 real_view(dense_view<complex>::row_major(to.data(), p.size, columns, columns)), 1.0,
                 where.stream());
    const auto x = detail::download_array(to.data(), static_cast<std::int64_t>(b.size()), where.on());
    for (std::int64_t c = 0; c < columns; ++c) {
      for (const bool imaginary : {false, true}) {
        std::vector<double> part_of_b;
        std::vector<double> part_of_x;
        for (std::int64_t i = 0; i < p.size; ++i) {
          const auto k = static_cast<std::size_t>(i * columns + c);
          part_of_b.push_back(imaginary ? b[k].imag() : b[k].real());
          part_of_x.push_back(imaginary ? x[k].imag() : x[k].real());
        }
        expect_solved(make(p, {}), {}, p.name, part_of_b, part_of_x);
      }
    }
  }
  std::vector<complex> one(2);
  EXPECT_THROW(real_view(dense_view<complex>::column_major(one.data(), 1, 2, 1 + 1)), error);
}

}  // namespace
}  // namespace sptrsv::testing
