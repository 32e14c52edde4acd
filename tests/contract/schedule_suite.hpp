// Device policies under schedules that are very rare on a GPU: blocks start in any order, few at a time;
// threads are interrupted anywhere; stores become visible late. Every solve must end, with the same bits if
// the policy guarantees them.
#pragma once

#include "contract/contract_fixture.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

template <class Types>
class schedules : public contract<Types> {
 public:
  using contract<Types>::contract;
  using typename contract<Types>::value_type;

  emulator::device& device() { return this->where.device(); }

  /// Solves many times with one solver, with changing numbers of right-hand sides and changing schedules. In
  /// some solves all blocks are resident, so that what such a solve leaves behind meets the others.
  void solve_under_all(const pattern& p, std::uint32_t resident, std::uint64_t count) {
    const form f = this->forms_for(p.entries.size() + resident).front();
    {
      device().settings = {};
      const auto a = this->make(p, f);
      auto solver = this->analyze(a, f, 3);
      struct task {
        layout shape;
        std::vector<value_type> b;
        std::vector<value_type> x;
      };
      std::vector<task> tasks;  // all different: what an earlier solve left behind must not do
      for (const std::int64_t columns : {1, 2, 3, 1, 2, 3, 1}) {
        const layout shape = column_major(p.size, columns);
        const auto b = random_vector<value_type>(static_cast<std::int64_t>(shape.extent), tasks.size());
        tasks.push_back({shape, b, this->solve(solver, shape, b)});
        this->expect_solved(a, f, p.name, shape, b, tasks.back().x);
      }
      random_source source(resident);
      for (std::uint64_t i = 0; i < count; ++i) {
        device().settings = hostile_settings(i, i % 5 == 1 ? 0 : resident);
        const task& t = tasks[static_cast<std::size_t>(source.below(7))];
        this->expect_repeated(solver, a, f, p.name, t.shape, t.b, this->solve(solver, t.shape, t.b), t.x);
        ASSERT_FALSE(this->HasFailure()) << resident << " resident blocks, settings " << i;
        EXPECT_TRUE(solver.status(this->where.stream()).ok());
      }
    }
    EXPECT_EQ(device().live_bytes(), 0u);
  }

  /// Analyses, updates values and solves under the same schedule.
  void analyze_under_all(const pattern& p, std::uint32_t resident, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      device().settings = hostile_settings(i, resident);
      this->check(p, this->forms_for(i).front());
      EXPECT_EQ(device().live_bytes(), 0u);
    }
  }
};

SPTRSV_TEST_P(schedules, of_a_chain_many_blocks_deep) {
  for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
    this->solve_under_all(patterns::chain(100), resident, trials(36));
  }
}
SPTRSV_TEST_P(schedules, of_a_stencil) {
  for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
    this->solve_under_all(patterns::stencil_2d(8, 9), resident, trials(36));
  }
}
SPTRSV_TEST_P(schedules, of_a_dense_triangle) {
  for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
    this->solve_under_all(patterns::dense(45), resident, trials(36));
  }
}
SPTRSV_TEST_P(schedules, of_wide_levels) {
  for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
    this->solve_under_all(patterns::layers(120, 40, 7), resident, trials(36));
  }
}
SPTRSV_TEST_P(schedules, of_long_rows_and_columns) {
  for (const std::uint32_t resident : {1u, 3u, 0u}) {
    this->solve_under_all(patterns::arrow_row(100), resident, trials(20));
    this->solve_under_all(patterns::arrow_column(100), resident, trials(20));
    this->solve_under_all(patterns::power_law(90, 2), resident, trials(20));
  }
}
SPTRSV_TEST_P(schedules, of_the_analysis_and_a_solve) {
  for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
    this->analyze_under_all(patterns::random(60, 3, 2), resident, trials(12));
  }
}

/// NaN and Inf reach the rows that need them under any schedule.
SPTRSV_TEST_P(schedules, with_values_that_are_not_finite) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(6, 9);
  const form f = this->forms_for(1).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  auto b = random_vector<value>(p.size, 3);
  b[30] = from_bytes<value>(0xff);
  b[12] = make_value<value>(std::numeric_limits<double>::infinity());
  const auto expected = this->solve(solver, b);
  const auto status = solver.status(this->where.stream());
  for (std::uint64_t i = 0; i < trials(40); ++i) {
    this->device().settings = hostile_settings(i, i % 4);
    const auto x = this->solve(solver, b);
    if (solver.info().bit_reproducible) {
      ASSERT_TRUE(same_bits(x, expected)) << "settings " << i;
    }
    for (std::size_t k = 0; k < x.size(); ++k) {
      ASSERT_EQ(detail::is_finite(detail::load_scalar(detail::as_scalar(&x[k]))),
                detail::is_finite(detail::load_scalar(detail::as_scalar(&expected[k]))))
          << "component " << k << ", settings " << i;
    }
    ASSERT_EQ(solver.status(this->where.stream()).row, status.row) << "settings " << i;
  }
}

SPTRSV_TESTS(schedules, of_a_chain_many_blocks_deep, of_a_stencil, of_a_dense_triangle, of_wide_levels,
             of_long_rows_and_columns, of_the_analysis_and_a_solve, with_values_that_are_not_finite);

}  // namespace sptrsv::testing
