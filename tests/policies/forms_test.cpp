// The forms that a policy offers: the kernels that run are those that were asked for.
#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects.hpp"

namespace sptrsv::testing {
namespace {

template <class Subject>
class form_of : public contract_of<suite_case<emulator_target, Subject, double, std::int32_t, std::int32_t>> {
 public:
  void TestBody() override {}

  /// Returns the launches and the graph replays of a solve.
  emulator::device_counters solve_counts(const pattern& p) {
    const auto a = this->make(p, {});
    auto solver = this->analyze(a, {});
    const auto b = random_vector<double>(p.size, 1);
    const emulator::device_counters before = this->where.device().counters;
    this->expect_solved(a, {}, p.name, b, this->solve(solver, b));
    emulator::device_counters counts = this->where.device().counters;
    counts.launches -= before.launches;
    counts.replays -= before.replays;
    return counts;
  }
  kernel_info kernel(const pattern& p) { return this->analyze(this->make(p, {}), {}).info().kernels.at(0); }
  bool is_reproducible() {
    return this->analyze(this->make(patterns::chain(3), {}), {}).info().bit_reproducible;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LevelSetForms, SeparateLaunchesEachLevelAndRecordsNothing) {
  const pattern p = patterns::stencil_2d(8, 9);  // 16 levels
  const auto separate = form_of<level_set_separate>().solve_counts(p);
  EXPECT_EQ(separate.launches, 16u + 2u);  // b is gathered, x scattered
  EXPECT_EQ(separate.replays, 0u);
  EXPECT_EQ(form_of<level_set_columns_separate>().solve_counts(p).launches, 16u + 2u);
  const auto fused = form_of<level_set>().solve_counts(p);
  EXPECT_EQ(fused.launches, 1u + 2u);
  EXPECT_EQ(fused.replays, 1u);
}

struct wide_from_20 : experimental::self_scheduled_tuning {
  static constexpr int narrow_unknowns_per_level = 20;
  static constexpr int narrow_entries_per_row = 3;
};
struct twenty : subject<policy::basic_self_scheduled<wide_from_20>> {
  static constexpr const char* name = "twenty";
};
TEST(SelfScheduledForms, EightLanesTakeAnUnknownWhereLevelsAreWideAndRowsShort) {
  EXPECT_EQ(form_of<twenty>().kernel(patterns::layers(80, 20, 3)).lanes_per_row, 8);
  EXPECT_EQ(form_of<twenty>().kernel(patterns::layers(76, 19, 3)).lanes_per_row, 32);
  EXPECT_EQ(form_of<twenty>().kernel(patterns::layers(80, 20, 5)).lanes_per_row, 32);
  EXPECT_EQ(form_of<twenty>().solve_counts(patterns::layers(80, 20, 3)).launches, 1u);
}

TEST(SelfScheduledForms, AreNamed) {
  const pattern p = patterns::stencil_2d(8, 9);
  const kernel_info columns = form_of<self_scheduled>().kernel(p);
  EXPECT_TRUE(contains(columns.text, "by columns")) << columns.text;
  EXPECT_TRUE(contains(columns.text, "in level order")) << columns.text;
  EXPECT_EQ(columns.levels, 16);
  const kernel_info rows = form_of<self_scheduled_rows_natural>().kernel(p);
  EXPECT_TRUE(contains(rows.text, "by rows")) << rows.text;
  EXPECT_TRUE(contains(rows.text, "in natural order")) << rows.text;
  EXPECT_EQ(rows.levels, 0);
}

TEST(ReproducibleForms, AreThoseThatAddInAFixedOrder) {
  EXPECT_TRUE(form_of<sync_free_warp>().is_reproducible());
  EXPECT_TRUE(form_of<level_set>().is_reproducible());
  EXPECT_TRUE(form_of<self_scheduled_rows>().is_reproducible());
  EXPECT_FALSE(form_of<sync_free_column>().is_reproducible());
  EXPECT_FALSE(form_of<level_set_columns>().is_reproducible());
  EXPECT_FALSE(form_of<self_scheduled>().is_reproducible());
}

/// A solve is one launch: no other kernel prepares the counters and sums or resets them.
TEST(SyncFreeColumnForms, AreOneLaunch) {
  EXPECT_EQ(form_of<sync_free_column>().solve_counts(patterns::random(200, 4, 1)).launches, 1u);
  EXPECT_EQ(form_of<sync_free_column_global>().solve_counts(patterns::random(200, 4, 1)).launches, 1u);
}

}  // namespace
}  // namespace sptrsv::testing
