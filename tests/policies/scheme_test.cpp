// The policy scheme, in the emulator: all schemes that a search tries, features, the model that chooses, and
// what is refused.
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/papers/scheme/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/papers/scheme/scheduling.hpp"
#include "sptrsv/scheme/space.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects/scheme.hpp"

namespace sptrsv::testing {
namespace {

using types = case_types<emulator_target, double, std::int32_t, std::int32_t>;
using small_policy = policy::basic_scheme<small_schemes>;

struct few_launches : small_schemes {
  static constexpr std::int64_t max_launches = 9;
};

/// Blocks wait long enough for the others that they take groups as assigned if all are resident.
struct patient_schemes : small_schemes {
  static constexpr int patience = 400;
};

class Schemes : public on_target<types> {
 public:
  auto analyze(const matrix& a, const scheme& s, std::int64_t max_rhs = 1) {
    system_options options;
    options.max_rhs = max_rhs;
    return sptrsv::analyze(small_policy{s}, where.upload(a.by_rows), options, where.stream());
  }
  detail::schemes::system_features features(const pattern& p) {
    const auto a = where.upload(make(p, {}).by_rows);
    const emulator::executor on(where.stream());
    const auto t = detail::build_on_device(detail::pattern_of(a.view()), detail::triangle_form({}, false), on,
                                           on.default_resource());
    return detail::schemes::features_of(t, detail::levels_on_device(t, on, on.default_resource()), on,
                                        on.default_resource());
  }
};

/// The numbers in the flags repeat: a right-hand side that no solve has used since then is not taken for
/// solved.
TEST_F(Schemes, FencedFlagsOfEarlierSolvesAreNotTakenForThoseOfLaterOnes) {
  using engine = detail::engine<small_policy, double, std::int32_t, std::int32_t, emulator::executor>;
  const pattern p = patterns::chain(40);
  const auto a = make(p, {});
  const auto there = where.upload(a.by_rows);
  const emulator::executor on(where.stream());
  for (const char* const text : {"signal=fenced", "sw_rnnz=8 trans=merge_avg(32,8) signal=fenced"}) {
    engine of(small_policy{parse_scheme(text)}, detail::pattern_of(there.view()),
              detail::triangle_form({}, false), 2, on, on.default_resource());
    of.update_values(there.view().values, on);
    for (const std::int64_t jump : {-6, -4, -2, 0, 2, 4}) {
      auto scratch = of.make_workspace(on, on.default_resource());
      auto* const tickets = &scratch.buffers().state->tickets;
      const auto solve = [&](std::int64_t columns, std::uint64_t seed) {
        const layout shape = column_major(p.size, columns);
        const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), seed);
        const auto from = where.upload(b);
        auto to = where.upload(poisoned<double>(shape.extent));
        of.solve(1, shape.view(from.data()), shape.view(to.data()), scratch, on);
        expect_solved(a, {}, text, shape, b, where.download(to));
      };
      const auto drawn = [&] {
        unsigned long long number = 0;
        on.download(&number, tickets, sizeof(number));
        return number;
      };
      solve(2, 1);
      const unsigned long long blocks = drawn();
      solve(1, 2);
      // As if about 2^32 solves with one right-hand side had followed.
      const unsigned long long later = blocks * ((1ull << 32) + static_cast<unsigned long long>(jump));
      on.upload(tickets, &later, sizeof(later));
      for (int k = 0; k < 6; ++k) {
        solve(k % 3 == 2 ? 1 : 2, static_cast<std::uint64_t>(3 + k));
      }
      EXPECT_EQ(drawn(), later + 6 * blocks);
    }
  }
}

/// Every scheme is tried under different schedules, on a mesh, on wide levels, and on rows of very different
/// lengths.
TEST_F(Schemes, OfTheReducedSpaceSolveUnderAnySchedule) {
  const std::vector<pattern> patterns{patterns::stencil_2d(8, 9), patterns::layers(120, 40, 7),
                                      patterns::power_law(90, 2)};
  std::uint64_t turn = 0;
  for (const scheme& s : reduced_schemes()) {
    for (const pattern& p : patterns) {
      SCOPED_TRACE(to_string(s));
      const auto a = make(p, {});
      where.device().settings = {};
      auto solver = analyze(a, s, 3);
      for (const std::int64_t columns : {1, 3}) {
        const layout shape = column_major(p.size, columns);
        const auto b = random_vector<double>(static_cast<std::int64_t>(shape.extent), turn);
        where.device().settings = hostile_settings(turn, turn % 4);
        const auto x = solve(solver, shape, b);
        expect_solved(a, {}, p.name, shape, b, x);
        where.device().settings = hostile_settings(turn + 1, (turn + 1) % 3);
        EXPECT_TRUE(same_bits(solve(solver, shape, b), x));
        ++turn;
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

/// A solve may not take groups as assigned because an earlier one did, when all blocks were resident.
TEST_F(Schemes, DecideAnewInEachSolveHowGroupsAreTaken) {
  const pattern p = patterns::stencil_2d(8, 9);
  const auto a = make(p, {});
  const auto b = random_vector<double>(p.size, 1);
  for (std::uint64_t i = 2; i < 10; ++i) {
    where.device().settings = {};
    auto solver = sptrsv::analyze(policy::basic_scheme<patient_schemes>{parse_scheme(scheme_dealt::text)},
                                  where.upload(a.by_rows), {}, where.stream());
    for (const std::uint32_t resident : {0u, 0u, 1u, 2u}) {  // two solves each of either parity
      where.device().settings = hostile_settings(i, resident);
      expect_solved(a, {}, p.name, b, solve(solver, b));
    }
  }
}

TEST_F(Schemes, SayWhatTheyAre) {
  const auto a = make(patterns::chain(10), {});
  const scheme s = parse_scheme("nw=2 trans=merge_fixed(4)");
  const solver_info info = analyze(a, s).info();
  EXPECT_EQ(info.plan, to_string(s));
  const kernel_info& kernel = info.kernels.at(0);
  EXPECT_NE(kernel.text.find(" 3 nodes in all, 1 launches, 1 of them wait"), std::string::npos)
      << kernel.text;
  EXPECT_EQ(kernel.launches, 1);
  EXPECT_EQ(kernel.waiting_launches, 1);
  EXPECT_EQ(info.levels, 10);
}

/// The level of a node is one more than the largest level of the nodes that its rows need, although the graph
/// keeps few of these edges.
TEST_F(Schemes, KeepTheLevelsOfNodesWithFewEdges) {
  const emulator::executor on(where.stream());
  memory_resource& resource = on.default_resource();
  for (const pattern& p :
       {patterns::stencil_2d(30, 40), patterns::power_law(300, 2), patterns::layers(300, 60, 7)}) {
    const auto a = make(p, {});
    const std::int32_t* const offsets = a.by_rows.row_offsets.data();
    const auto uploaded = where.upload(a.by_rows);
    const auto t = detail::build_on_device(detail::pattern_of(uploaded.view()),
                                           detail::triangle_form({}, false), on, resource);
    const auto graph = detail::schemes::transform(t, detail::levels_on_device(t, on, resource),
                                                  parse_scheme("trans=merge_fixed(16)"), on, resource);
    std::vector<std::int64_t> level(static_cast<std::size_t>(graph.nodes.count), 1);
    std::int64_t levels = 1;
    for (std::int64_t row = 0; row < p.size; ++row) {
      const auto node = static_cast<std::size_t>(row / 16);
      for (std::int32_t e = offsets[row]; e < offsets[row + 1]; ++e) {
        const auto needed =
            static_cast<std::size_t>(a.by_rows.column_indices[static_cast<std::size_t>(e)] / 16);
        level[node] = needed < node ? std::max(level[node], level[needed] + 1) : level[node];
      }
      levels = std::max(levels, level[node]);
    }
    EXPECT_EQ(graph.levels.count, levels) << p.name;
    std::vector<std::int32_t> order(graph.levels.rows.size());
    on.download(order.data(), graph.levels.rows.data(), graph.levels.rows.bytes());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [&](std::int32_t k, std::int32_t l) {
      return level[static_cast<std::size_t>(k)] < level[static_cast<std::size_t>(l)];
    })) << p.name;
    if (p.name.find("stencil") != std::string::npos) {
      EXPECT_LE(graph.edges.entries(), 4 * graph.nodes.count);  // of 16 and more
    }
  }
}

/// Four levels of 32 rows are four launches, which do not wait, unless rows of a node need each other.
TEST_F(Schemes, LaunchWideLevelsAloneAndWithoutWaits) {
  const auto a = make(patterns::where("layers", 128, [](auto i, auto j) { return j == i - 32; }), {});
  // Launches, and those of them that wait.
  const auto launches = [&](const matrix& of, const char* scheme_text) {
    const kernel_info kernel = analyze(of, parse_scheme(scheme_text)).info().kernels.at(0);
    return std::pair(kernel.launches, kernel.waiting_launches);
  };
  using counts = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(launches(a, "nw=2 alpha_level=0"), counts(4, 0));
  EXPECT_EQ(launches(a, "nw=2 alpha_level=1"), counts(4, 0));  // 32 > 8 * 2
  EXPECT_EQ(launches(a, "nw=2 alpha_level=2"), counts(1, 1));
  EXPECT_EQ(launches(a, "nw=2"), counts(1, 1));
  const auto chain = make(patterns::chain(8), {});
  EXPECT_EQ(launches(chain, "nw=2 alpha_level=0 trans=merge_fixed(2)"), counts(4, 4));
}

TEST_F(Schemes, AreRefusedWithTheReason) {
  const auto a = make(patterns::chain(10), {});
  scheme bad;
  bad.sub_warps = 3;
  try {
    static_cast<void>(analyze(a, bad));
    ADD_FAILURE() << "taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("ng=3"), std::string::npos);
  }
  try {
    const auto there = where.upload(a.by_rows);
    static_cast<void>(sptrsv::analyze(policy::basic_scheme<few_launches>{parse_scheme("alpha_level=0")},
                                      there, {}, where.stream()));
    ADD_FAILURE() << "taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("10 launches"), std::string::npos) << e.what();
  }
}

TEST_F(Schemes, FeaturesAreThoseOfTheTriangle) {
  const auto chain = features(patterns::chain(5));  // rows of 1, 2, 2, 2, 2 entries
  EXPECT_EQ(chain.rows, 5);
  EXPECT_EQ(chain.entries, 9);
  EXPECT_EQ(chain.row_max, 2);
  EXPECT_EQ(chain.levels, 5);
  EXPECT_DOUBLE_EQ(chain.row_mean, 1.8);
  EXPECT_NEAR(chain.row_variation, std::sqrt(17.0 / 5 - 1.8 * 1.8) / 1.8, 1e-12);
  EXPECT_NEAR(chain.level_variation, chain.row_variation, 1e-12);
  EXPECT_NEAR(chain.dependency, 0.8, 1e-9);
  const auto layers = features(patterns::where("two", 8, [](auto i, auto j) { return j == i - 4; }));
  EXPECT_EQ(layers.levels, 2);
  EXPECT_EQ(layers.level_max, 8);
  EXPECT_DOUBLE_EQ(layers.level_mean, 6);
  EXPECT_NEAR(layers.level_variation, 2.0 / 6, 1e-12);
  EXPECT_NEAR(layers.dependency, 4 * 0.25 / 8, 1e-9);
}

using detail::schemes::scheme_model;

std::vector<float> zeros(std::size_t count) { return std::vector<float>(count); }

/// A network with two hidden units, of which one is active, and two schemes.
scheme_model tiny_model() {
  std::vector<float> first = zeros(2 * 10);
  first[0] = 1;
  first[10] = -1;
  return {{"ng=2", "ng=4 alpha_level=0"},
          1,
          zeros(10),
          std::vector<float>(10, 1),
          {{{first, {-2, 2}}, {{1, 0, 0, 1}, zeros(2)}, {{0, 1, 1, 0}, zeros(2)}}}};
}

/// Three networks that ignore their input: one gives the first scheme a high probability, two give the second
/// one a slightly higher probability.
scheme_model voting_model() {
  return {{"ng=2", "ng=4"},
          3,
          zeros(10),
          std::vector<float>(10, 1),
          {{{zeros(3 * 2 * 10), zeros(3 * 2)},
            {zeros(3 * 2 * 2), zeros(3 * 2)},
            {zeros(3 * 2 * 2), {100, 0, 0, 1.1F, 0, 1.1F}}}}};
}

TEST(SchemeModel, TakesTheHighestScoreThatCanBeLaunched) {
  using detail::schemes::choose_scheme;
  detail::schemes::system_features few;
  few.levels = 20;
  detail::schemes::system_features many = few;
  many.rows = 1000;  // log(1001) > 2
  EXPECT_EQ(choose_scheme(few, 100, tiny_model()).sub_warps, 2);
  EXPECT_EQ(choose_scheme(many, 100, tiny_model()).sub_warps, 4);
  EXPECT_EQ(choose_scheme(many, 19, tiny_model()).sub_warps, 2);
  EXPECT_EQ(problem_of(choose_scheme(many, 100)), "");
}

/// The sums of the probabilities are 1 + 0.5 + 0.5 and 0.5 + 0.75 + 0.75.
TEST(SchemeModel, TakesTheMeanOfTheProbabilities) {
  const auto scores = detail::schemes::scores(voting_model(), {});
  EXPECT_NEAR(scores.at(0), 2, 1e-6);
  EXPECT_NEAR(scores.at(1), 0.5 + 2 / (1 + std::exp(-1.1)), 1e-6);
}

TEST(SchemeModel, KnowsOnlySchemes) {
  for (const char* text : detail::schemes::model_table::schemes) {
    EXPECT_EQ(to_string(parse_scheme(text)), text);
  }
}

/// m / 10^e: 1.5 = 1500 / 10^3, 0, -1e-10 = -1000 / 10^13.
TEST(SchemeModel, ReadsPackedNumbers) {
  detail::schemes::packed_numbers numbers("IbEID2sMy00D");
  EXPECT_EQ(numbers.take(2), (std::vector<float>{1.5F, 0}));
  EXPECT_EQ(numbers.take(1), (std::vector<float>{-1e-10F}));
}

TEST(SchemeQueues, GiveWhatComesNextToWhoHasLeast) {
  const detail::schemes::group_facts<int> facts{{5, 1, 1, 1, 1, 9}, {{}, {0}, {0, 1}, {}, {3}, {}}};
  const std::vector<detail::schemes::node_launch> one{{0, 6, true, true, 0, 2}};
  const auto balanced = detail::schemes::make_queues(facts, one, 1, warp_scheduling::balance);
  EXPECT_EQ(balanced.offsets, (std::vector<int>{0, 1, 6}));
  EXPECT_EQ(balanced.vertices, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  const auto near = detail::schemes::make_queues(facts, one, 1, warp_scheduling::locality);
  EXPECT_EQ(near.offsets, (std::vector<int>{0, 3, 6}));  // 1 and 2 with 0, 4 with 3
  EXPECT_EQ(near.vertices, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  const std::vector<detail::schemes::node_launch> two{{0, 3, true, true, 0, 1}, {3, 3, true, true, 1, 1}};
  const auto later = detail::schemes::make_queues(facts, two, 2, warp_scheduling::locality);
  EXPECT_EQ(later.offsets, (std::vector<int>{0, 1, 3, 5, 6}));  // 4 is near 3, with the warp that has less
  EXPECT_EQ(later.vertices, (std::vector<int>{0, 1, 2, 0, 2, 1}));
}

}  // namespace
}  // namespace sptrsv::testing
