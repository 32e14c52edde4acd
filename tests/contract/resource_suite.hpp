// Memory of solvers in the emulator, and calls that a solve must not make.
#pragma once

#include "contract/contract_fixture.hpp"
#include "support/counting_resource.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

template <class Types>
class resources : public contract<Types> {
 public:
  using contract<Types>::contract;

  emulator::device& device() { return this->where.device(); }
};

SPTRSV_TEST_P(resources, everything_is_given_back) {
  for (const form& f : all_forms()) {
    {
      auto solver = this->analyze(this->make(patterns::random(40, 3, 1), f), f, 2);
      auto workspace = solver.make_workspace(this->where.stream());
      EXPECT_GT(this->device().live_bytes(), 0u);
      auto other = std::move(solver);
      auto third = this->analyze(this->make(patterns::chain(9), f), f);
      third = std::move(other);
    }
    EXPECT_EQ(this->device().live_bytes(), 0u) << f.name();
  }
}

SPTRSV_TEST_P(resources, everything_comes_from_the_given_resource) {
  using value = typename TypeParam::value;
  emulator::device other;  // serves the memory; the solver's device must not be asked
  counting_resource counted(other.resource());
  const form f{};
  const auto a = this->make(patterns::stencil_2d(7, 8), f);
  const auto there = this->where.upload(a.by_rows);
  const auto b = this->where.upload(random_vector<value>(56, 1));
  auto x = this->where.upload(poisoned<value>(56));
  const auto stream = this->where.stream();
  const std::uint64_t allocations_elsewhere = this->device().counters.allocations;
  {
    auto solver = this->policy().analyze(there, f.options(2), stream, &counted);
    const solver_info info = solver.info();
    EXPECT_EQ(counted.live_bytes(), info.solver_bytes + info.workspace_bytes);
    EXPECT_EQ(counted.largest_bytes(), info.analysis_peak_bytes);
    const std::size_t allocations = counted.allocations();
    solver.solve(b, x, stream);
    solver.update_values(there.values, stream);
    solver.solve(b, x, stream);
    EXPECT_EQ(counted.allocations(), allocations);
    {
      auto more = solver.make_workspace(stream);
      EXPECT_EQ(counted.live_bytes(), info.solver_bytes + 2 * info.workspace_bytes);
      counting_resource of_workspace(other.resource());
      auto elsewhere = solver.make_workspace(stream, &of_workspace);
      EXPECT_EQ(counted.live_bytes(), info.solver_bytes + 2 * info.workspace_bytes);
      EXPECT_EQ(of_workspace.live_bytes(), info.workspace_bytes);
      solver.solve(b, x, value(1), elsewhere, stream);
    }
    EXPECT_EQ(counted.live_bytes(), info.solver_bytes + info.workspace_bytes);
  }
  EXPECT_EQ(this->device().counters.allocations, allocations_elsewhere);
  EXPECT_EQ(counted.live_bytes(), 0u);
  EXPECT_EQ(counted.mistakes(), 0u);
}

SPTRSV_TEST_P(resources, solve_and_update_values_neither_allocate_nor_synchronise) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(7, 8);
  const form f{};
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 3);
  auto workspace = solver.make_workspace(this->where.stream());
  const auto values = this->where.upload(a.values());
  const layout shape = column_major(p.size, 3);
  const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 1);
  const auto from = this->where.upload(b);
  auto to = this->where.upload(poisoned<value>(shape.extent));
  const span<const value> one_b(from.data(), 56);
  const span<value> one_x(to.data(), 56);
  const auto stream = this->where.stream();
  for (const bool capturing : {false, true}) {
    const emulator::device_counters before = this->device().counters;
    this->device().capturing = capturing;  // refuses what a stream refuses that records a graph
    solver.update_values(values, stream);
    solver.solve(one_b, one_x, stream);
    solver.solve(one_b, one_x, value(1), workspace, stream);
    solver.solve(shape.view(from.data()), shape.view(to.data()), stream);
    this->device().capturing = false;
    EXPECT_EQ(this->device().counters.allocations, before.allocations);
    EXPECT_EQ(this->device().counters.synchronizations, before.synchronizations);
    EXPECT_GT(this->device().counters.launches, before.launches);
    this->expect_solved(a, f, p.name, shape, b, this->where.download(to));
    this->where.overwrite(to, poisoned<value>(shape.extent));
  }
}

/// If any allocation fails, the error says so and no memory is leaked.
SPTRSV_TEST_P(resources, running_out_of_memory_leaks_nothing) {
  for (const bool by_columns : {false, true}) {
    const form f{uplo::lower, diag::non_unit, op::none, by_columns, content::general, true};
    const auto a = this->make(patterns::random(40, 3, 1), f);
    a.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      const std::size_t before = this->device().live_bytes();
      int refused = 0;
      for (std::size_t limit = before;; limit += 256) {
        this->device().settings.memory_limit = limit;
        bool refuses = false;
        try {
          this->policy().analyze(there, f.options(), this->where.stream());
        } catch (const error& e) {
          refuses = true;
          EXPECT_EQ(e.code(), errc::out_of_memory) << e.what();
        }
        EXPECT_EQ(this->device().live_bytes(), before) << "limit " << limit;
        if (!refuses) {
          break;
        }
        ++refused;
      }
      EXPECT_GT(refused, 5);
    });
  }
}

/// Solves after the temporaries of analyze are freed; the emulator refuses accesses to freed memory.
SPTRSV_TEST_P(resources, nothing_refers_to_the_temporaries_of_analyze) {
  const pattern p = patterns::power_law(60, 1);
  for (const form& f : all_forms(content::general)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 2);
    const auto b = random_vector<typename TypeParam::value>(p.size, 2);
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
  }
}

SPTRSV_TESTS(resources, everything_is_given_back, everything_comes_from_the_given_resource,
             solve_and_update_values_neither_allocate_nor_synchronise, running_out_of_memory_leaks_nothing,
             nothing_refers_to_the_temporaries_of_analyze);

}  // namespace sptrsv::testing
