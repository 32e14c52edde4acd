// The policy automatic: which candidate it takes, what it costs; and the contract with two candidates.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "contract/contract_suite.hpp"
#include "contract/resource_suite.hpp"
#include "contract/schedule_suite.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "support/emulator_target.hpp"
#include "support/kernel_fields.hpp"
#include "support/subjects/dataflow.hpp"
#include "support/subjects/supernodal.hpp"

namespace sptrsv::testing {

/// Takes one or the other candidate, depending on the system. `growth`: see supernodal_subject.
template <class... Candidates>
struct of_two : subject<policy::automatic<Candidates...>> {
  static constexpr double growth = 8;
  static constexpr bool holds_indices = false;
  static policy::automatic<Candidates...> make() {
    policy::automatic<Candidates...> made;
    std::get<policy::basic_supernodal<small_panels>>(made.candidates).max_growth = growth;
    return made;
  }
};
struct dataflow_first : of_two<policy::basic_dataflow<small_groups>, policy::basic_supernodal<small_panels>> {
  static constexpr const char* name = "dataflow_first";
};
struct supernodal_first
    : of_two<policy::basic_supernodal<small_panels>, policy::basic_dataflow<small_groups>> {
  static constexpr const char* name = "supernodal_first";
};

using of_two_candidates =
    case_list<suite_case<emulator_target, dataflow_first, double, std::int32_t, std::int32_t>,
              suite_case<emulator_target, supernodal_first, double, std::int64_t, std::int64_t>>;
SPTRSV_TEST_CONTRACT(automatic, of_two_candidates);
SPTRSV_TEST_POLICIES(automatic, resources, of_two_candidates);
SPTRSV_TEST_POLICIES(automatic, schedules, of_two_candidates);

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

/// Returns the pattern of a complete factor with three supernodes: two leaves and their parent. Its transpose
/// from the last row to the first is another pattern.
pattern two_leaves(std::int64_t width) {
  return patterns::where("two leaves", 3 * width,
                         [=](auto i, auto j) { return i / width == j / width || i >= 2 * width; });
}

using takes_supernodes = policy::automatic<policy::dataflow, policy::supernodal>;

TEST_F(Automatic, FindsTheSupernodesOfCompleteFactorsInAllForms) {
  const auto chosen_for = [&](const pattern& p, const form& f) {
    return info_with(takes_supernodes{}, p, f).chosen;
  };
  const pattern factor = two_leaves(64);
  for (const content holds : {content::triangle, content::ascending}) {
    for (const form& f : all_forms(holds)) {
      EXPECT_EQ(chosen_for(factor, f), "supernodal") << f.name();
    }
  }
  form random_order;
  random_order.holds = content::general;
  EXPECT_EQ(chosen_for(factor, random_order), "dataflow");
}

TEST_F(Automatic, TakesSupernodalForCompleteFactorsOnly) {
  const auto chosen_for = [&](const pattern& p) { return info_with(takes_supernodes{}, p).chosen; };
  EXPECT_EQ(chosen_for(patterns::dense(100)), "supernodal");
  EXPECT_EQ(chosen_for(patterns::dense(400)), "supernodal");
  for (const pattern& p : {two_leaves(8), patterns::stencil_2d(20, 20), patterns::stencil_3d(6, 6, 6),
                           patterns::random(400, 8, 1), patterns::random(200, 20, 1), patterns::chain(50),
                           patterns::diagonal(50), patterns::band(300, 20), patterns::band(2000, 64)}) {
    EXPECT_EQ(chosen_for(p), "dataflow") << p.name;
  }
  pattern hole = patterns::dense(100);  // no elimination leaves it
  hole.entries.erase(std::find_if(hole.entries.begin(), hole.entries.end(),
                                  [](const position& e) { return e.row == 90 && e.column == 40; }));
  EXPECT_EQ(chosen_for(hole), "dataflow");
}

TEST_F(Automatic, SaysWhatItTookAndSolvesAsThatPolicy) {
  const pattern factor = patterns::dense(200);
  const solver_info of_factor = info_with(takes_supernodes{}, factor);
  EXPECT_EQ(of_factor.policy, "automatic");
  EXPECT_EQ(of_factor.plan, "supernodal, by a sample of the pattern");
  EXPECT_EQ(fields_of(of_factor.kernels), fields_of(info_with(policy::supernodal{}, factor).kernels));
  EXPECT_EQ(info_with(policy::automatic<policy::supernodal, policy::dataflow>{}, factor).chosen,
            "supernodal");

  const pattern stencil = patterns::stencil_3d(6, 6, 6);
  const solver_info of_stencil = info_with(takes_supernodes{}, stencil);
  const solver_info alone = info_with(policy::dataflow{}, stencil);
  EXPECT_EQ(of_stencil.plan, "dataflow, by a sample of the pattern; " + alone.plan);
  EXPECT_EQ(of_stencil.path, alone.path);
  EXPECT_EQ(of_stencil.predictions.size(), alone.predictions.size());
  EXPECT_EQ(info_with(policy::automatic<policy::supernodal, policy::dataflow>{}, stencil).chosen, "dataflow");

  const auto a = make(factor, {});
  auto solver = sptrsv::analyze(takes_supernodes{}, where.upload(a.by_rows), {}, where.stream());
  const auto b = random_vector<double>(factor.size, 1);
  expect_solved(a, {}, "factor", b, solve(solver, b));
}

/// A sample of the pattern is one launch and one allocation, and is drawn only if rows are long enough for
/// wide supernodes.
TEST_F(Automatic, AnalysesTheChosenCandidateOnly) {
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
    sptrsv::analyze(takes_supernodes{}, there, {}, where.stream());
    FAIL() << "should have thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::missing_diagonal);
    EXPECT_EQ(e.row(), 1);
  }
}

/// Both candidates have their members.
TEST_F(Automatic, PassesTheOptionsOfTheCandidates) {
  takes_supernodes policy;
  std::get<0>(policy.candidates).path = policy::dataflow_path::row_per_thread;
  EXPECT_EQ(info_with(policy, patterns::chain(40)).path, "row_per_thread");
}

TEST(AutomaticOnTheHost, IsItsOnlyCandidate) {
  const auto a = make_matrix<double, std::int32_t, std::int32_t>(patterns::chain(9), {}).by_rows;
  EXPECT_EQ(sptrsv::analyze(policy::automatic<policy::host_serial>{}, a).info().chosen, "host_serial");
}

}  // namespace
}  // namespace sptrsv::testing
