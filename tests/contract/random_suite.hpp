// Device policies on drawn systems under drawn schedules. Solutions are held against the componentwise
// backward error. Repeated solves must give the same bits where the policy guarantees this.
//
//   SPTRSV_RANDOM_SEED     seed of the first system (default: 1); system k has the seed SPTRSV_RANDOM_SEED +
//   k SPTRSV_RANDOM_SYSTEMS  systems of each case (default: 40)
//
// A failure names the seed of its system, which is drawn alone with SPTRSV_RANDOM_SYSTEMS=1.
#pragma once

#include <exception>
#include <string>

#include "contract/contract_fixture.hpp"
#include "support/effort.hpp"
#include "support/emulator_target.hpp"
#include "support/random_systems.hpp"

namespace sptrsv::testing {

/// Draws a schedule of `hostile_settings`.
inline emulator::device_settings draw_schedule(random_source& source) {
  constexpr std::uint32_t residents[] = {0, 0, 1, 2, 3, 5};
  const std::int64_t number = source.below(8) == 0 ? source.below(2) : 2 + source.below(1 << 30);
  return hostile_settings(static_cast<std::uint64_t>(number), residents[source.below(6)]);
}

template <class Types>
class random_systems : public contract<Types> {
 public:
  using contract<Types>::contract;
  using typename contract<Types>::matrix;
  using typename contract<Types>::value_type;
  static constexpr int solves_per_system = 4;

  /// Analyses a system that is drawn with this seed, and solves it `solves_per_system` times. Before each
  /// solve it draws the schedule, the right-hand sides, their layout, alpha, whether x is b, whether the
  /// values are replaced, and the workspace.
  void check_system(std::uint64_t seed) {
    random_source source(random_source(seed).bits() + turn_of(this->policy().case_name));
    const pattern p = draw_pattern(source);
    const form f = draw_form(source);
    constexpr std::int64_t most_rhs[] = {1, 1, 1, 2, 3, 4, 5, 9};
    const std::int64_t max_rhs = most_rhs[source.below(8)];
    device().settings = draw_schedule(source);
    SCOPED_TRACE(p.name + ", " + f.name() + ", max_rhs " + std::to_string(max_rhs));
    matrix a = this->make(p, f, source.bits());
    auto solver = this->analyze(a, f, max_rhs);
    auto further = solver.make_workspace(this->where.stream());

    solve_task task;
    for (int k = 0; k < solves_per_system && !this->HasFailure(); ++k) {
      device().settings = draw_schedule(source);
      const bool repeats = k > 0 && source.below(3) == 0;
      if (!repeats) {
        if (source.coin()) {
          for (value_type& v : a.values()) {  // the order of the entries stays the same
            v *= make_value<value_type>((source.coin() ? 1 : -1) * source.between(0.75, 1));
          }
          solver.update_values(this->where.upload(a.values()), this->where.stream());
          updated_ = true;
        }
        task = draw_task(source, p.size, max_rhs);
      }
      SCOPED_TRACE("solve " + std::to_string(k) + (repeats ? ", repeated" : ""));
      check_solve(source, solver, source.coin() ? &further : nullptr, a, f, p, task, repeats);
    }
  }

  emulator::device& device() { return this->where.device(); }

 private:
  using solver_type = any_solver<Types>;

  /// The right-hand sides of a solve, contiguous by columns; and their solutions, once they are known.
  struct solve_task {
    std::int64_t columns = 0;
    value_type alpha{};
    std::vector<value_type> b;
    std::vector<value_type> x;
  };

  static solve_task draw_task(random_source& source, std::int64_t rows, std::int64_t max_rhs) {
    solve_task task;
    task.columns = source.below(16) == 0 ? 0 : 1 + source.below(max_rhs);
    task.alpha = source.coin() ? value_type(1) : random_value<value_type>(source, 2);
    task.b = random_vector<value_type>(rows * task.columns, source.bits());
    return task;
  }

  /// Solves in drawn layouts, checks the solution and stores it in the task, or compares it with that of the
  /// task.
  void check_solve(random_source& source, solver_type& solver, typename solver_type::workspace* scratch,
                   const matrix& a, const form& f, const pattern& p, solve_task& task, bool repeats) {
    const layout of_x = draw_layout(source, p.size, task.columns);
    const bool in_place = source.below(4) == 0;
    const layout of_b = in_place ? of_x : draw_layout(source, p.size, task.columns);
    SCOPED_TRACE(std::to_string(task.columns) + " columns, b " + of_b.name + ", x " + of_x.name +
                 (in_place ? ", in place" : ""));
    const layout packed = column_major(p.size, task.columns);

    std::vector<value_type> b = random_vector<value_type>(static_cast<std::int64_t>(of_b.extent), 1);
    copy(packed, task.b, of_b, b);
    auto from = this->where.upload(b);
    const std::vector<value_type> before = in_place ? b : poisoned<value_type>(of_x.extent);
    auto apart = this->where.upload(before);
    auto& to = in_place ? from : apart;
    const auto b_view = of_b.view(static_cast<const value_type*>(from.data()));
    const auto x_view = of_x.view(to.data());
    const auto stream = this->where.stream();
    if (scratch != nullptr) {
      solver.solve(b_view, x_view, task.alpha, *scratch, stream);
    } else {
      solver.solve(b_view, x_view, task.alpha, stream);
    }

    const std::vector<value_type> spread = this->where.download(to);
    EXPECT_TRUE(gaps_untouched(of_x, before, spread)) << "wrote between the columns or rows of x";
    EXPECT_TRUE(in_place || same_bits(this->where.download(from), b)) << "wrote to b";
    std::vector<value_type> x(packed.extent);
    copy(of_x, spread, packed, x);
    const solve_status status = scratch != nullptr ? solver.status(*scratch, stream) : solver.status(stream);
    const bool may_grow = updated_ && this->policy().growth > 1;
    if (!may_grow || status.code != solve_status::kind::growth) {
      EXPECT_TRUE(task.columns == 0 || status.ok())
          << "status " << static_cast<int>(status.code) << " of row " << status.row.value_or(-1);
      this->expect_solved(a, f, p.name, packed, task.b, x, task.alpha);
    }
    if (repeats) {
      EXPECT_TRUE(!solver.info().bit_reproducible || same_bits(x, task.x)) << "other bits than before";
    }
    task.x = std::move(x);
  }

  static void copy(const layout& from_shape, const std::vector<value_type>& from, const layout& to_shape,
                   std::vector<value_type>& to) {
    for (std::int64_t j = 0; j < from_shape.columns; ++j) {
      for (std::int64_t i = 0; i < from_shape.rows; ++i) {
        to[to_shape.at(i, j)] = from[from_shape.at(i, j)];
      }
    }
  }

  bool updated_ = false;  // whether the latest values are others than those of the analysis
};

SPTRSV_TEST_P(random_systems, are_solved_under_random_schedules) {
  const std::uint64_t first = environment_number("SPTRSV_RANDOM_SEED", 1);
  const std::uint64_t count = environment_number("SPTRSV_RANDOM_SYSTEMS", trials(40));
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    SCOPED_TRACE("to repeat: SPTRSV_RANDOM_SEED=" + std::to_string(seed) +
                 " SPTRSV_RANDOM_SYSTEMS=1 with --gtest_filter='*/random_systems/" +
                 this->policy().case_name + ".*'");
    try {
      this->check_system(seed);
    } catch (const error& refused) {
      if (!this->policy().may_refuse || refused.code() != errc::unsupported) {
        ADD_FAILURE() << refused.what();
      }
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
    ASSERT_FALSE(this->HasFailure());
    ASSERT_EQ(this->device().live_bytes(), 0u);
  }
}

SPTRSV_TESTS(random_systems, are_solved_under_random_schedules);

}  // namespace sptrsv::testing
