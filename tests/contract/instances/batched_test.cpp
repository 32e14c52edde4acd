// Batches of systems in the emulator.
#include "contract/batched_suite.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(emulator, batched, batched_types<emulator_target>, type_names);

struct emulated_batch : batched<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
  void TestBody() override {}
};

/// Every schedule gives the same bits. Rows of one lane and of several, slices of several stages, systems of
/// several warps, and warps with fewer systems than they have room for.
TEST(Batched, GiveTheSameBitsUnderEverySchedule) {
  emulated_batch s;
  const std::vector<pattern> all = {patterns::stencil_2d(8, 7),  patterns::dense(30),
                                    patterns::layers(80, 40, 5), patterns::random(50, 6, 3),
                                    patterns::chain(30),         patterns::arrow_row(40)};
  std::uint64_t seed = 0;
  for (const pattern& p : all) {
    for (const int lanes : {4, 8, 32}) {
      s.where.device().settings = {};
      const form f = emulated_batch::forms_in_turn(seed).front();
      const auto a = s.make_systems(p, f, 5, 0, 1);
      auto solver = s.analyze_systems(a, f, lanes, 2);
      const auto shape = s.shape_of(batch_order::systems_last, 5, p.size, 2);
      const auto b = random_vector<double>(10 * p.size, 3);
      const auto expected = s.solve_batch(solver, shape, b);
      s.expect_batch_solved(a, f, p.name, shape, b, expected);
      for (std::uint64_t i = 0; i < 8; ++i) {
        s.where.device().settings = hostile_settings(seed++, i % 3);
        solver.update_values(s.where.upload(a.values()), s.where.stream());
        ASSERT_TRUE(same_bits(s.solve_batch(solver, shape, b), expected))
            << p.name << ", " << lanes << " lanes";
        ASSERT_TRUE(solver.status(s.where.stream()).ok());
      }
    }
  }
}

/// update_values() and solve() neither allocate nor synchronise, and nothing is left behind.
TEST(Batched, AreSolvedInACapture) {
  emulated_batch s;
  {
    const form f;
    const auto a = s.make_systems(patterns::stencil_2d(6, 6), f, 4, 0, 1);
    auto solver = s.analyze_systems(a, f, 0);
    const auto values = s.where.upload(a.values());
    const auto b = s.where.upload(random_vector<double>(4 * 36, 1));
    const auto view = batch_view<double>::contiguous(b.data(), 4, 36);
    const auto before = s.where.device().counters;
    s.where.device().capturing = true;
    solver.update_values(values, s.where.stream());
    solver.solve(view, view, s.where.stream());
    s.where.device().capturing = false;
    EXPECT_EQ(s.where.device().counters.allocations, before.allocations);
    EXPECT_EQ(s.where.device().counters.synchronizations, before.synchronizations);
  }
  EXPECT_EQ(s.where.device().live_bytes(), 0u);
}

}  // namespace sptrsv::testing
