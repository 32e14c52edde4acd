// Memory of solvers in the emulator, and calls that a solve must not make.
#pragma once

#include "contract/contract_fixture.hpp"
#include "support/counting_resource.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

template <class Types>
class resources : public contract<Types> {
 public:
  using contract<Types>::contract;

  emulator::device& device() { return this->where.device(); }
};

SPTRSV_TEST_P(resources, everything_is_given_back) {
  for (const form& f : tried(all_forms())) {
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

/// Whatever call of a solve fails: there is no status, and the next solve on the workspace is right.
SPTRSV_TEST_P(resources, a_solve_that_fails_half_way_spoils_no_later_one) {
  using value = typename TypeParam::value;
  const form f{};
  const auto stream = this->where.stream();
  for (const pattern& p : {patterns::stencil_2d(7, 8), patterns::random(90, 3, 1)}) {
    const auto a = this->make(p, f);
    const layout shape = column_major(p.size, 2);
    const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 1);
    const auto from = this->where.upload(b);
    auto to = this->where.upload(poisoned<value>(shape.extent));
    auto solver = this->analyze(a, f, 2);
    auto scratch = solver.make_workspace(stream);
    const auto solve = [&] {
      solver.solve(shape.view(from.data()), shape.view(to.data()), value(1), scratch, stream);
    };
    bool fails = true;
    for (std::int64_t call = 0; fails; ++call) {
      this->device().calls_before_failure = call;
      try {
        solve();
        fails = false;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::cuda_error) << e.what();
      }
      this->device().calls_before_failure = -1;
      if (fails) {
        EXPECT_THROW(static_cast<void>(solver.status(scratch, stream)), error);
        this->device().capturing = true;  // the reset of a workspace is not to be captured
        EXPECT_THROW(solve(), error);
        this->device().capturing = false;
        auto moved = std::move(scratch);
        scratch = std::move(moved);
      }
      for (int again = 0; again < 2; ++again) {
        this->where.overwrite(to, poisoned<value>(shape.extent));
        solve();
        this->expect_solved(a, f, p.name, shape, b, this->where.download(to));
        EXPECT_TRUE(solver.status(scratch, stream).ok());
      }
    }
  }
}

/// Whatever call of update_values fails: solves refuse to use values of both sets, until it succeeds.
SPTRSV_TEST_P(resources, values_that_are_replaced_half_way_are_not_used) {
  using value = typename TypeParam::value;
  const form f{};
  const pattern p = patterns::random(90, 3, 1);
  const auto a = this->make(p, f);
  auto other = a;
  for (value& v : other.values()) {
    v = value(4) * v;
  }
  const auto values = this->where.upload(a.values());
  const auto others = this->where.upload(other.values());
  const auto b = random_vector<value>(p.size, 1);
  auto solver = this->analyze(a, f);
  bool fails = true;
  for (std::int64_t call = 0; fails; ++call) {
    solver.update_values(values, this->where.stream());
    this->device().calls_before_failure = call;
    try {
      solver.update_values(others, this->where.stream());
      fails = false;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::cuda_error) << e.what();
    }
    this->device().calls_before_failure = -1;
    if (fails) {
      EXPECT_THROW(this->solve(solver, b), error);
      solver.update_values(others, this->where.stream());
    }
    this->expect_solved(other, f, p.name, b, this->solve(solver, b));
  }
}

/// Whatever call of an analysis fails: it leaves no memory, and the next one works.
SPTRSV_TEST_P(resources, an_analysis_that_fails_leaves_nothing) {
  const form f{};
  const auto a = this->make(patterns::random(40, 3, 1), f);
  a.visit([&](const auto& stored) {
    const auto there = this->where.upload(stored);
    const std::size_t before = this->device().live_bytes();
    std::int64_t fails = 1;
    for (std::int64_t call = 0; fails == 1; ++call) {
      fails = 0;
      this->device().calls_before_failure = call;
      try {
        this->policy().analyze(there, f.options(), this->where.stream());
      } catch (const error& e) {
        fails = 1;
        EXPECT_EQ(e.code(), errc::cuda_error) << e.what();
      }
      this->device().calls_before_failure = -1;
      EXPECT_EQ(this->device().live_bytes(), before) << "call " << call;
    }
  });
  this->check(patterns::random(40, 3, 1), f);
}

/// The row of a zero pivot is found on the device.
SPTRSV_TEST_P(resources, status_copies_no_arrays_to_the_host) {
  using value = typename TypeParam::value;
  const pattern p = patterns::band(600, 2);
  const form f{};
  auto a = this->make(p, f);
  a.set(450, 450, value(0));
  auto solver = this->analyze(a, f);
  this->solve(solver, random_vector<value>(p.size, 3));
  const std::uint64_t before = this->device().counters.downloaded_bytes;
  const solve_status status = solver.status(this->where.stream());
  EXPECT_LT(this->device().counters.downloaded_bytes - before, 1024u) << "600 row indices take more";
  EXPECT_EQ(status.code, solve_status::kind::zero_pivot);
  EXPECT_EQ(status.row.value_or(-1), 450);
}

/// Values that a kernel must treat in a slower way leave nothing behind.
SPTRSV_TEST_P(resources, bad_values_slow_down_no_later_solve) {
  using value = typename TypeParam::value;
  using limits = std::numeric_limits<detail::real_t<value>>;
  const pattern p = patterns::band(90, 3);
  for (const diag diagonal : {diag::unit, diag::non_unit}) {
    const form f{uplo::lower, diagonal};
    const auto good = this->make(p, f);
    auto solver = this->analyze(good, f);
    const auto b = random_vector<value>(p.size, 3);
    const auto steps_of_two_solves = [&] {  // a solve may depend on the parity of its number
      const std::uint64_t before = this->device().counters.steps;
      this->solve(solver, b);
      this->solve(solver, b);
      return this->device().counters.steps - before;
    };
    steps_of_two_solves();
    const std::uint64_t steps = steps_of_two_solves();
    for (const double bad : {limits::quiet_NaN() * 1.0, limits::denorm_min() * 1.0, 0.0}) {
      auto changed = good;
      for (std::int64_t row = 1; row < p.size; ++row) {
        changed.set(row, row - 1, make_value<value>(bad));
      }
      solver.update_values(this->where.upload(changed.values()), this->where.stream());
      steps_of_two_solves();
      solver.update_values(this->where.upload(good.values()), this->where.stream());
      steps_of_two_solves();
      EXPECT_LT(steps_of_two_solves(), steps + steps / 4) << bad << ", " << f.name();
    }
  }
}

/// Solves after the temporaries of analyze are freed; the emulator refuses accesses to freed memory.
SPTRSV_TEST_P(resources, nothing_refers_to_the_temporaries_of_analyze) {
  const pattern p = patterns::power_law(60, 1);
  for (const form& f : tried(all_forms(content::general))) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 2);
    const auto b = random_vector<typename TypeParam::value>(p.size, 2);
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
  }
}

SPTRSV_TESTS(resources, everything_is_given_back, everything_comes_from_the_given_resource,
             solve_and_update_values_neither_allocate_nor_synchronise, running_out_of_memory_leaks_nothing,
             a_solve_that_fails_half_way_spoils_no_later_one, values_that_are_replaced_half_way_are_not_used,
             an_analysis_that_fails_leaves_nothing, status_copies_no_arrays_to_the_host,
             bad_values_slow_down_no_later_solve, nothing_refers_to_the_temporaries_of_analyze);

}  // namespace sptrsv::testing
