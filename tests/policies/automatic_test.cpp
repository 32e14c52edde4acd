// The policy automatic: which candidate it takes, what it tells the cost models, what it costs; and the
// contract with each of several candidates.
#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/cusparse/policy.hpp"
#include "contract/contract_suite.hpp"
#include "contract/resource_suite.hpp"
#include "contract/schedule_suite.hpp"
#include "support/emulator_target.hpp"
#include "support/kernel_fields.hpp"
#include "support/subjects.hpp"

namespace sptrsv::testing {

/// The tuning of a policy whose predicted time is a constant.
template <class Tuning, int Nanoseconds>
struct priced : Tuning {};
template <int Nanoseconds>
using priced_levels = policy::basic_level_set<priced<mixed_levels, Nanoseconds>>;
template <int Nanoseconds>
using priced_threads = policy::basic_sync_free_thread<priced<small_thread_blocks, Nanoseconds>>;
template <int Nanoseconds>
using priced_dataflow = policy::basic_dataflow<priced<small_groups, Nanoseconds>>;

/// The tuning of a policy whose cost model keeps its arguments, and predicts a short time for few levels
/// only.
struct watched_tuning : small_thread_blocks {
  static inline system_profile seen;
};
using watched = policy::basic_sync_free_thread<watched_tuning>;

}  // namespace sptrsv::testing

namespace sptrsv::SPTRSV_ABI {

template <int Nanoseconds>
struct fixed_price {
  template <class Policy>
  static double nanoseconds(const Policy&, const system_profile&) {
    return Nanoseconds;
  }
};
template <class Tuning, int Nanoseconds>
struct cost_model<policy::basic_level_set<testing::priced<Tuning, Nanoseconds>>> : fixed_price<Nanoseconds> {
};
template <class Tuning, int Nanoseconds>
struct cost_model<policy::basic_sync_free_thread<testing::priced<Tuning, Nanoseconds>>>
    : fixed_price<Nanoseconds> {};
template <class Tuning, int Nanoseconds>
struct cost_model<policy::basic_dataflow<testing::priced<Tuning, Nanoseconds>>> : fixed_price<Nanoseconds> {};

template <>
struct cost_model<testing::watched> {
  static double nanoseconds(const testing::watched&, const system_profile& system) {
    testing::watched_tuning::seen = system;
    return system.levels <= 5 ? 10 : 1000;
  }
};

template <>
struct cost_model<policy::host_serial> {
  static double nanoseconds(const policy::host_serial&, const system_profile& system) {
    return static_cast<double>(system.entries + system.longest_column);
  }
};
template <>
struct cost_model<policy::host_parallel> {
  static double nanoseconds(const policy::host_parallel&, const system_profile& system) {
    return static_cast<double>(100 * system.levels);
  }
};

}  // namespace sptrsv::SPTRSV_ABI

namespace sptrsv::testing {

struct takes_first : subject<policy::automatic<priced_levels<1>, priced_threads<2>, priced_dataflow<3>>> {
  static constexpr const char* name = "takes_first";
};
struct takes_second : subject<policy::automatic<priced_levels<3>, priced_threads<2>, priced_dataflow<3>>> {
  static constexpr const char* name = "takes_second";
};
struct takes_third : subject<policy::automatic<priced_levels<3>, priced_threads<2>, priced_dataflow<1>>> {
  static constexpr const char* name = "takes_third";
};
/// Takes one or the other candidate, depending on the system.
struct takes_both : subject<policy::automatic<priced_levels<100>, watched>> {
  static constexpr const char* name = "takes_both";
};

using chosen = case_list<suite_case<emulator_target, takes_first, double, std::int32_t, std::int32_t>,
                         suite_case<emulator_target, takes_second, double, std::int32_t, std::int32_t>,
                         suite_case<emulator_target, takes_third, double, std::int64_t, std::int64_t>,
                         suite_case<emulator_target, takes_both, double, std::int32_t, std::int64_t>>;
SPTRSV_TEST_CONTRACT(automatic, chosen);
SPTRSV_TEST_POLICIES(automatic, resources, chosen);
SPTRSV_TEST_POLICIES(automatic, schedules, chosen);

namespace {

class Automatic : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  template <class Policy>
  solver_info info_with(const Policy& policy, const pattern& p, const form& f = {}, std::int64_t rhs = 1) {
    return make(p, f).visit([&](const auto& stored) {
      return sptrsv::analyze(policy, where.upload(stored), f.options(rhs), where.stream()).info();
    });
  }
};

using named_time = std::pair<std::string, double>;
std::vector<named_time> names_and_times(const solver_info& info) {
  std::vector<named_time> all;
  for (const predicted_time& prediction : info.predictions) {
    all.emplace_back(prediction.name, prediction.nanoseconds);
  }
  return all;
}

TEST_F(Automatic, TakesTheCheapestAndSaysWhy) {
  const pattern p = patterns::stencil_2d(6, 7);
  const solver_info first = info_with(takes_first::make(), p);
  EXPECT_EQ(first.policy, "automatic");
  EXPECT_EQ(first.plan,
            "level_set, by the predicted time of a solve: level_set 1e-06 ms, sync_free_thread 2e-06 ms, "
            "dataflow 3e-06 ms");
  EXPECT_EQ(first.chosen, "level_set");
  EXPECT_EQ(first.path, "");
  EXPECT_EQ(names_and_times(first),
            (std::vector<named_time>{{"level_set", 1}, {"sync_free_thread", 2}, {"dataflow", 3}}));
  EXPECT_EQ(fields_of(first.kernels), fields_of(info_with(level_set_mixed::make(), p).kernels));
  const solver_info second = info_with(takes_second::make(), p);
  EXPECT_EQ(second.chosen, "sync_free_thread");
  EXPECT_EQ(second.kernels.at(0).text.rfind("sync_free_thread: ", 0), 0u) << second.kernels.at(0).text;
  const solver_info third = info_with(takes_third::make(), p);
  EXPECT_EQ(third.chosen, "dataflow");
  EXPECT_EQ(third.path, "partitioned");
  EXPECT_EQ(third.predictions.at(2).name, "dataflow");
  EXPECT_EQ(third.predictions.at(3).name, "partitioned");
  EXPECT_EQ(third.levels, 12);
}

TEST_F(Automatic, ChoosesForTheSystem) {
  EXPECT_EQ(info_with(takes_both::make(), patterns::chain(5)).chosen, "sync_free_thread");
  EXPECT_EQ(info_with(takes_both::make(), patterns::chain(6)).chosen, "level_set");
}

TEST_F(Automatic, TellsTheModelsWhatTheSystemIs) {
  const pattern p = patterns::where("arrows", 9, [](auto i, auto j) { return j == 0 || (i == 8 && j > 3); });
  for (const form& f : all_forms(content::general)) {
    SCOPED_TRACE(f.name());
    info_with(takes_both::make(), p, f, 3);
    const system_profile seen = watched_tuning::seen;
    EXPECT_EQ(seen.rows, 9);
    EXPECT_EQ(seen.entries, 9 + 8 + 4);
    EXPECT_EQ(seen.levels, 3);
    // Rows and columns are those of op(T), which may be the transposed pattern.
    EXPECT_EQ(std::max(seen.longest_row, seen.longest_column), 8);
    EXPECT_EQ(std::min(seen.longest_row, seen.longest_column), 5);
    EXPECT_EQ(seen.longest_row, info_with(level_set::make(), p, f).longest_row);
    EXPECT_EQ(seen.rhs, 3);
    EXPECT_EQ(seen.value_bytes, sizeof(double));
    EXPECT_EQ(seen.index_bytes, sizeof(std::int32_t));
    EXPECT_EQ(seen.offset_bytes, sizeof(std::int32_t));
  }
}

/// Returns the pattern of a complete factor with three supernodes: two leaves and their parent. Its transpose
/// from the last row to the first is another pattern.
pattern two_leaves(std::int64_t width) {
  return patterns::where("two leaves", 3 * width,
                         [=](auto i, auto j) { return i / width == j / width || i >= 2 * width; });
}

using takes_supernodes = policy::automatic<policy::dataflow, policy::supernodal>;

TEST_F(Automatic, FindsTheSupernodesOfCompleteFactorsInAllForms) {
  const auto columns_of = [&](const pattern& p, const form& f) {
    info_with(takes_both::make(), p, f);
    return watched_tuning::seen.supernode_columns;
  };
  const pattern factor = two_leaves(64);
  for (const content holds : {content::triangle, content::ascending}) {
    for (const form& f : all_forms(holds)) {
      const double columns = columns_of(factor, f);
      EXPECT_GT(columns, 16) << f.name();
      EXPECT_LT(columns, 64) << f.name();
    }
  }
  EXPECT_GT(columns_of(patterns::dense(100), {}), 16);
  EXPECT_EQ(watched_tuning::seen.levels, 100) << "a tree without leaves is a path";
  EXPECT_EQ(columns_of(two_leaves(8), {}), 0) << "too narrow";
  EXPECT_EQ(watched_tuning::seen.levels, 16) << "counted";
  form random_order;
  random_order.holds = content::general;
  EXPECT_EQ(columns_of(factor, random_order), 0);
  EXPECT_EQ(columns_of(patterns::stencil_2d(20, 20), {}), 0);
  EXPECT_EQ(columns_of(patterns::random(400, 8, 1), {}), 0);
  EXPECT_EQ(columns_of(patterns::chain(50), {}), 0);
  EXPECT_EQ(columns_of(patterns::diagonal(50), {}), 0);
  EXPECT_EQ(columns_of(patterns::band(300, 20), {}), 0);
  pattern hole = patterns::dense(100);  // no elimination leaves it
  hole.entries.erase(std::find_if(hole.entries.begin(), hole.entries.end(),
                                  [](const position& e) { return e.row == 90 && e.column == 40; }));
  EXPECT_EQ(columns_of(hole, {}), 0);
}

TEST_F(Automatic, TakesSupernodalForCompleteFactorsOnly) {
  const pattern factor = patterns::dense(200);
  const solver_info of_factor = info_with(takes_supernodes{}, factor);
  EXPECT_EQ(of_factor.chosen, "supernodal");
  EXPECT_EQ(of_factor.predictions.size(), 2u);
  const solver_info of_stencil = info_with(takes_supernodes{}, patterns::stencil_3d(6, 6, 6));
  EXPECT_EQ(of_stencil.chosen, "dataflow");
  EXPECT_EQ(of_stencil.plan.rfind("dataflow, the only candidate for this pattern; ", 0), 0u)
      << of_stencil.plan;

  const auto a = make(factor, {});
  auto solver = sptrsv::analyze(takes_supernodes{}, where.upload(a.by_rows), {}, where.stream());
  const auto b = random_vector<double>(factor.size, 1);
  expect_solved(a, {}, "factor", b, solve(solver, b));
}

/// A sample of the pattern is one launch and one allocation, and is drawn only if rows are long enough for
/// wide supernodes.
TEST_F(Automatic, CountsNoLevelsOfAPatternWithoutSupernodes) {
  emulator::device_counters& counters = where.device().counters;
  const auto cost_of = [&](const auto& policy, const pattern& p) {
    const auto a = where.upload(make(p, {}).by_rows);
    const emulator::device_counters before = counters;
    sptrsv::analyze(policy, a, {}, where.stream());
    return std::pair(counters.launches - before.launches, counters.allocations - before.allocations);
  };
  const pattern sparse = patterns::stencil_2d(6, 7);
  EXPECT_EQ(cost_of(takes_supernodes{}, sparse), cost_of(policy::dataflow{}, sparse));
  const pattern long_rows = patterns::random(200, 20, 1);
  const auto [launches, allocations] = cost_of(policy::dataflow{}, long_rows);
  EXPECT_EQ(cost_of(takes_supernodes{}, long_rows), std::pair(launches + 1, allocations + 1));
}

TEST_F(Automatic, SamplesMalformedPatternsWithoutHarm) {
  const auto fails_with = [&](csr_matrix<double> a, errc code) {
    try {
      sptrsv::analyze(takes_supernodes{}, where.upload(a), {}, where.stream());
      ADD_FAILURE() << "should have thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code);
    }
  };
  const auto good = make(patterns::dense(30), {}).by_rows;
  for (const std::int32_t wrong : {-1, 30, 1 << 30, INT32_MIN, INT32_MAX}) {
    for (std::size_t e = 0; e < good.column_indices.size(); e += 7) {
      csr_matrix<double> a = good;
      a.column_indices[e] = wrong;
      fails_with(a, errc::index_out_of_range);
    }
    csr_matrix<double> a = good;
    a.row_offsets[15] = wrong;
    if (wrong != 30) {
      fails_with(a, errc::offsets_not_monotone);
    }
  }
}

TEST_F(Automatic, TakesTheFirstOfEqualCandidatesEachWithItsMembers) {
  policy::automatic<priced_levels<1>, priced_levels<1>> levels;
  EXPECT_TRUE(info_with(levels, patterns::chain(4)).bit_reproducible);
  std::get<0>(levels.candidates).by = policy::orientation::columns;
  EXPECT_FALSE(info_with(levels, patterns::chain(4)).bit_reproducible);
}

/// In the library's own cost models a level takes recursive_block less time than level_set, and
/// sync_free_warp the least time.
TEST_F(Automatic, TakesRecursiveBlockIfItIsPredictedToBeFastest) {
  const auto a = make(patterns::chain(40), {});
  const auto there = where.upload(a.by_rows);
  const policy::automatic<policy::level_set, policy::recursive_block> either;
  auto solver = sptrsv::analyze(either, there, {}, where.stream(), &where.resource());
  EXPECT_EQ(solver.info().chosen, "recursive_block");
  EXPECT_EQ(solver.info().kernels.at(0).text.rfind("block: ", 0), 0u) << solver.info().kernels.at(0).text;
  const auto b = random_vector<double>(40, 1);
  expect_solved(a, {}, "chain", b, solve(solver, b));
  const policy::automatic<policy::sync_free_warp, policy::recursive_block> another;
  EXPECT_EQ(info_with(another, patterns::chain(40)).chosen, "sync_free_warp");
}

/// Compares launches and allocations of the analysis.
TEST_F(Automatic, WithOneCandidateAnalysesNothingElse) {
  const auto a = where.upload(make(patterns::stencil_2d(6, 7), {}).by_rows);
  emulator::device_counters& counters = where.device().counters;
  const auto cost_of = [&](auto analyse) {
    const emulator::device_counters before = counters;
    const solver_info info = analyse().info();
    return std::tuple(counters.launches - before.launches, counters.allocations - before.allocations,
                      fields_of(info.kernels), info.solver_bytes, info.workspace_bytes);
  };
  const auto alone = cost_of([&] { return sptrsv::analyze(policy::dataflow{}, a, {}, where.stream()); });
  EXPECT_GT(std::get<0>(alone), 0u);
  EXPECT_EQ(cost_of([&] { return sptrsv::analyze(policy::automatic<>{}, a, {}, where.stream()); }), alone);
  EXPECT_EQ(cost_of([&] { return sptrsv::analyze(a, {}, where.stream()); }), alone);
}

TEST_F(Automatic, IsTheDefaultOfAnalyze) {
  const auto a = make(patterns::random(40, 3, 1), {});
  const auto there = where.upload(a.by_rows);
  auto solver = sptrsv::analyze(there, {}, where.stream(), &where.resource());
  EXPECT_EQ(solver.info().policy, "automatic");
  EXPECT_EQ(solver.info().plan.rfind("dataflow, the only candidate", 0), 0u) << solver.info().plan;
  const auto b = random_vector<double>(40, 1);
  expect_solved(a, {}, "random", b, solve(solver, b));
}

TEST_F(Automatic, ThrowsWhatItsCandidatesThrow) {
  const csr_matrix<double> no_diagonal{2, 2, {0, 1, 2}, {0, 0}, {1, 1}};
  const auto there = where.upload(no_diagonal);
  try {
    sptrsv::analyze(takes_first::make(), there, {}, where.stream());
    FAIL() << "should have thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::missing_diagonal);
    EXPECT_EQ(e.row(), 1);
  }
}

/// The candidates may be host policies.
TEST(AutomaticOnTheHost, ChoosesToo) {
  const policy::automatic<policy::host_serial, policy::host_parallel> either;
  const auto info_for = [&](const pattern& p) {
    return sptrsv::analyze(either, make_matrix<double, std::int32_t, std::int32_t>(p, {}).by_rows).info();
  };
  const solver_info serial = info_for(patterns::chain(9));
  EXPECT_EQ(serial.chosen, "host_serial");
  EXPECT_EQ(names_and_times(serial), (std::vector<named_time>{{"host_serial", 18}, {"host_parallel", 900}}));
  EXPECT_EQ(serial.plan,
            "host_serial, by the predicted time of a solve: host_serial 1.8e-05 ms, host_parallel 0.0009 ms");
  EXPECT_EQ(info_for(patterns::arrow_column(200)).chosen, "host_parallel");
}

TEST(CostModel, IsMissedWhereThereIsNone) {
  struct unknown {};
  EXPECT_TRUE(has_cost_model<policy::dataflow>);
  EXPECT_TRUE(has_cost_model<policy::level_set>);
  EXPECT_TRUE(has_cost_model<policy::recursive_block>);
  EXPECT_TRUE(has_cost_model<policy::self_scheduled>);
  EXPECT_TRUE(has_cost_model<policy::supernodal>);
  EXPECT_TRUE(has_cost_model<policy::sync_free_fused>);
  EXPECT_TRUE(has_cost_model<policy::sync_free_thread>);
  EXPECT_TRUE(has_cost_model<policy::sync_free_warp>);
  EXPECT_TRUE(has_cost_model<sptrsv_common::cusparse::policy>);
  EXPECT_FALSE(has_cost_model<policy::sync_free_column>);
  EXPECT_FALSE(has_cost_model<unknown>);
}

inline constexpr linear_cost two_ways[] = {{1000, 10, 2, 0.5, 3}, {3000, 0, 0, 0, 0}};

TEST(CostModel, AddsUpItsConstantsAndSweepsForFourRightHandSides) {
  system_profile system;
  system.rows = 10;
  system.entries = 30;  // 2 a row beside the diagonal
  system.levels = 4;
  system.longest_row = 7;
  system.value_bytes = 8;
  system.index_bytes = 4;
  system.offset_bytes = 8;
  const double hops = 4 * (10 + 2 * 2) + 3 * 7;
  const double matrix = 30 * 12 + 10 * 8;
  EXPECT_DOUBLE_EQ(two_ways[0](system), 1000 + hops + 0.5 * (matrix + 3 * 10 * 8));
  system.rhs = 4;
  EXPECT_DOUBLE_EQ(two_ways[0](system), 1000 + hops + 0.5 * (matrix + 3 * 10 * 8 * 4));
  system.rhs = 5;
  EXPECT_DOUBLE_EQ(two_ways[0](system), 1000 + 2 * hops + 0.5 * (2 * matrix + 3 * 10 * 8 * 5));
  const auto least = [&] { return linear_cost_model<two_ways>::nanoseconds(0, system); };
  EXPECT_DOUBLE_EQ(least(), two_ways[0](system));
  system.levels = 1000;
  EXPECT_DOUBLE_EQ(least(), 3000);
  EXPECT_DOUBLE_EQ(two_ways[0](system_profile{}), 1000) << "of nothing";
}

TEST(CostModel, PrefersRecursiveBlockWhereEntriesAreMany) {
  system_profile system;
  system.value_bytes = 8;
  system.index_bytes = system.offset_bytes = 4;
  const auto nanoseconds = [&](const auto& policy) { return predicted_nanoseconds(policy, system); };
  system.rows = 400'000;
  system.entries = 25 * system.rows;
  system.levels = 500;
  system.longest_row = 50;
  EXPECT_LT(nanoseconds(policy::recursive_block{}), nanoseconds(policy::sync_free_warp{}));
  EXPECT_LT(nanoseconds(policy::recursive_block{}), nanoseconds(policy::level_set{}));
  system.rows = 4000;
  system.entries = 3 * system.rows;
  system.longest_row = 2;
  EXPECT_GT(nanoseconds(policy::recursive_block{}), nanoseconds(policy::sync_free_warp{}));
}

TEST(CostModel, PrefersSupernodalToDataflowForWideSupernodesInABushyTree) {
  system_profile system;
  system.value_bytes = 8;
  system.index_bytes = system.offset_bytes = 4;
  const auto is_preferred = [&] {
    return predicted_nanoseconds(policy::supernodal{}, system) <
           predicted_nanoseconds(policy::dataflow{}, system);
  };
  system.rows = 262'144;  // L by CHOLMOD with METIS of a 5-point matrix on 512 x 512 points
  system.entries = 10'304'601;
  system.levels = 1467;
  system.longest_row = 1000;
  system.supernode_columns = 29;
  EXPECT_TRUE(is_preferred());
  system.supernode_columns = 0;
  EXPECT_FALSE(is_preferred());
  system.rows = system.levels = 60'000;  // a band of 64
  system.entries = 65 * system.rows;
  system.longest_row = 64;
  system.supernode_columns = 21;
  EXPECT_FALSE(is_preferred());
}

TEST(CostModel, PrefersNothingToWhatItCannotTellOrWillBeRefused) {
  const double never = std::numeric_limits<double>::infinity();
  system_profile system;
  system.index_bytes = 4;
  system.offset_bytes = 8;
  EXPECT_EQ(predicted_nanoseconds(policy::sync_free_warp{policy::row_order::natural}, system), never);
  EXPECT_LT(predicted_nanoseconds(policy::sync_free_warp{}, system), never);
  EXPECT_LT(predicted_nanoseconds(policy::recursive_block{}, system), never);
  EXPECT_EQ(predicted_nanoseconds(policy::recursive_block{1}, system), never);
  EXPECT_EQ(predicted_nanoseconds(policy::recursive_block{0, {policy::block_selector::paper}}, system),
            never);
  EXPECT_EQ(predicted_nanoseconds(sptrsv_common::cusparse::policy{}, system), never);
  system.offset_bytes = 4;
  EXPECT_LT(predicted_nanoseconds(sptrsv_common::cusparse::policy{}, system), never);
}

}  // namespace
}  // namespace sptrsv::testing
