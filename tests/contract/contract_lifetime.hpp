// The contract: the lifetimes of patterns, values and workspaces are independent.
#pragma once

#include "contract/contract_fixture.hpp"
#include "sptrsv/host/structure.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {

template <class Types>
class lifetimes : public contract<Types> {
 public:
  using contract<Types>::contract;
};

SPTRSV_TEST_P(lifetimes, new_values_for_the_same_pattern) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(60, 4, 2);
  const auto b = random_vector<value>(p.size, 3);
  for (const form& f : this->forms_for(9)) {
    auto a = this->make(p, f);
    auto solver = this->analyze(a, f);
    const auto old_x = this->solve(solver, b);
    const auto old = a;
    a.values() = this->make(p, f, 77).values();
    {
      const auto values = this->where.upload(a.values());
      solver.update_values(values, this->where.stream());
      // The array may be freed as soon as the call is complete on the stream.
    }
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    solver.update_values(this->where.upload(old.values()), this->where.stream());
    this->expect_repeated(solver, old, f, p.name, b, this->solve(solver, b), old_x);
  }
}

SPTRSV_TEST_P(lifetimes, changes_of_the_array_of_values_count_only_after_update_values) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(60, 4, 2);
  const form f = this->forms_for(10).front();
  auto a = this->make(p, f);
  const auto b = random_vector<value>(p.size, 3);
  a.visit([&](const auto& stored) {
    auto there = this->where.upload(stored);
    auto solver = this->policy().analyze(there, f.options(), this->where.stream());
    const auto old_x = this->solve(solver, b);
    auto changed = a;
    changed.values() = this->make(p, f, 78).values();
    this->where.overwrite(there.values, changed.values());
    this->expect_repeated(solver, a, f, p.name, b, this->solve(solver, b), old_x);
    solver.update_values(there.values, this->where.stream());
    this->expect_solved(changed, f, p.name, b, this->solve(solver, b));
  });
}

/// `analyze` copies what it needs.
SPTRSV_TEST_P(lifetimes, the_matrix_may_be_overwritten_after_analyze) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(60, 4, 2);
  const auto b = random_vector<value>(p.size, 3);
  for (const bool by_columns : {false, true}) {
    form f = this->forms_for(11).front();
    f.by_columns = by_columns;
    const auto a = this->make(p, f);
    a.visit([&](const auto& stored) {
      auto there = this->where.upload(stored);
      auto solver = this->policy().analyze(there, f.options(), this->where.stream());
      const auto ruin = [&](auto& array) {
        this->where.overwrite(array, poisoned<std::decay_t<decltype(*array.data())>>(array.size()));
      };
      if constexpr (std::is_same_v<std::decay_t<decltype(stored)>, std::decay_t<decltype(a.by_rows)>>) {
        ruin(there.row_offsets);
        ruin(there.column_indices);
      } else {
        ruin(there.column_offsets);
        ruin(there.row_indices);
      }
      ruin(there.values);
      this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    });
  }
}

/// Policies without this guarantee must solve the system again within their bound.
SPTRSV_TEST_P(lifetimes, repeated_solves_give_the_same_bits) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(90, 9, 2);
  const form f = this->forms_for(12).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 3);
  const layout shapes[] = {column_major(p.size, 3), single(p.size), column_major(p.size, 3)};
  std::vector<std::vector<value>> b;
  std::vector<std::vector<value>> x;
  for (const layout& shape : shapes) {
    b.push_back(random_vector<value>(static_cast<std::int64_t>(shape.extent), b.size()));
    x.push_back(this->solve(solver, shape, b.back()));
  }
  for (std::size_t i = 0; i < 20; ++i) {
    const layout& shape = shapes[i % 3];
    this->expect_repeated(solver, a, f, p.name, shape, b[i % 3], this->solve(solver, shape, b[i % 3]),
                          x[i % 3]);
    ASSERT_FALSE(this->HasFailure()) << "solve " << i;
  }
  auto again = this->analyze(a, f, 3);
  this->expect_repeated(again, a, f, p.name + " on a second solver", shapes[0], b[0],
                        this->solve(again, shapes[0], b[0]), x[0]);
}

SPTRSV_TEST_P(lifetimes, workspaces_are_independent) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(7, 8);
  const form f = this->forms_for(13).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 3);
  auto first = solver.make_workspace(this->where.stream());
  auto second = solver.make_workspace(this->where.stream());
  std::uint64_t seed = 0;
  const auto solve_on = [&](auto& workspace, std::int64_t columns, bool ruined) {
    const layout shape = column_major(p.size, columns);
    auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), ++seed);
    if (ruined) {
      b[0] = make_value<value>(std::numeric_limits<double>::infinity());
    }
    const auto from = this->where.upload(b);
    auto to = this->where.upload(poisoned<value>(shape.extent));
    solver.solve(shape.view(static_cast<const value*>(from.data())), shape.view(to.data()), value(1),
                 workspace, this->where.stream());
    if (!ruined) {
      this->expect_solved(a, f, p.name, shape, b, this->where.download(to));
    }
  };
  for (int i = 0; i < 3; ++i) {
    solve_on(first, 1 + i, true);
    solve_on(second, 3 - i, false);
    EXPECT_FALSE(solver.status(first, this->where.stream()).ok());
    EXPECT_TRUE(solver.status(second, this->where.stream()).ok());
    solve_on(second, 1, true);
    solve_on(first, 2, false);
    const auto b = random_vector<value>(p.size, ++seed);
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    EXPECT_TRUE(solver.status(first, this->where.stream()).ok());
    EXPECT_FALSE(solver.status(second, this->where.stream()).ok());
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
  }
  auto moved = std::move(first);
  solve_on(moved, 3, false);
}

SPTRSV_TEST_P(lifetimes, a_solver_can_be_moved) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(50, 3, 2);
  const form f = this->forms_for(14).front();
  const auto a = this->make(p, f);
  const auto c = this->make(patterns::chain(20), f);
  const auto b = random_vector<value>(p.size, 3);
  auto solver = this->analyze(a, f);
  const auto x = this->solve(solver, b);
  auto moved = std::move(solver);
  this->expect_repeated(moved, a, f, p.name, b, this->solve(moved, b), x);
  const auto assign = [&](const auto& of_a, const auto& of_c) {
    return this->policy().analyze_and_assign(this->where.upload(of_a), this->where.upload(of_c), f.options(),
                                             this->where.stream());
  };
  auto assigned = a.is_csc ? assign(a.by_columns, c.by_columns) : assign(a.by_rows, c.by_rows);
  this->expect_repeated(assigned, a, f, p.name, b, this->solve(assigned, b), x);
  EXPECT_EQ(assigned.rows(), p.size);
}

SPTRSV_TEST_P(lifetimes, an_empty_system) {
  using value = typename TypeParam::value;
  for (const form& f : tried(all_forms())) {
    const auto a = this->make(patterns::diagonal(0), f);
    auto solver = this->analyze(a, f, 3);
    EXPECT_TRUE(this->solve(solver, {}).empty());
    EXPECT_TRUE(this->solve(solver, column_major(0, 3), {}).empty());
    solver.update_values(span<const value>{}, this->where.stream());
    EXPECT_TRUE(solver.status(this->where.stream()).ok());
    EXPECT_EQ(solver.info().rows, 0);
    EXPECT_EQ(solver.info().levels, 0);
  }
}

SPTRSV_TEST_P(lifetimes, info_tells_what_was_decided) {
  for (std::size_t i = 0; i < 3; ++i) {
    const pattern p = i == 0   ? patterns::stencil_2d(8, 9)
                      : i == 1 ? patterns::dense(40)
                               : patterns::diagonal(9);
    for (const form& f : this->forms_for(15 + i)) {
      const auto a = this->make(p, f);
      const auto info = this->analyze(a, f, 2).info();
      const auto structure = a.visit([&](const auto& m) { return structure_of(m, f.options()); });
      EXPECT_EQ(info.policy, this->policy().policy_name);
      EXPECT_FALSE(info.device.empty());
      EXPECT_FALSE(info.kernels.empty());
      for (const kernel_info& kernel : info.kernels) {
        EXPECT_FALSE(kernel.text.empty());
      }
      EXPECT_EQ(info.rows, p.size);
      EXPECT_EQ(info.longest_row, structure.longest_row) << p.name << ", " << f.name();
      EXPECT_TRUE(info.levels == 0 || info.levels == structure.levels) << p.name << ", " << f.name();
      const std::int64_t off_diagonal = static_cast<std::int64_t>(p.entries.size());
      EXPECT_EQ(info.entries, off_diagonal + (f.diagonal == diag::unit ? 0 : p.size))
          << p.name << ", " << f.name();
      EXPECT_EQ(info.ignored_entries, static_cast<std::int64_t>(a.values().size()) - info.entries)
          << p.name << ", " << f.name();
      const std::size_t index_bytes = this->policy().holds_indices ? sizeof(typename TypeParam::index) : 0;
      EXPECT_GE(info.solver_bytes,
                static_cast<std::size_t>(off_diagonal) * (sizeof(typename TypeParam::value) + index_bytes));
    }
  }
}

/// If the wrong triangle is named, the triangle has no entry beside its diagonal, and the others are ignored.
SPTRSV_TEST_P(lifetimes, info_counts_the_entries_of_the_other_triangle) {
  const pattern p = patterns::chain(20);
  for (form f : this->forms_for(18)) {
    f.holds = content::triangle;
    const auto a = this->make(p, f);
    const std::int64_t diagonal = f.stores_diagonal ? p.size : 0;
    const bool unit = f.diagonal == diag::unit;
    EXPECT_EQ(this->analyze(a, f).info().ignored_entries, unit ? diagonal : 0) << f.name();
    f.part = f.part == uplo::lower ? uplo::upper : uplo::lower;
    const auto info = this->analyze(a, f).info();
    EXPECT_EQ(info.entries, unit ? 0 : p.size) << f.name();
    EXPECT_EQ(info.ignored_entries, 19 + (unit ? diagonal : 0)) << f.name();
  }
}

/// More right-hand sides may need more scratch memory only; the solver's own memory depends on the matrix.
SPTRSV_TEST_P(lifetimes, bytes_depend_on_the_matrix_and_max_rhs_only) {
  const pattern p = patterns::stencil_2d(8, 9);
  const form f{};
  const auto one = this->analyze(this->make(p, f, 1), f, 1).info();
  const auto other = this->analyze(this->make(p, f, 2), f, 1).info();
  const auto three = this->analyze(this->make(p, f, 1), f, 3).info();
  EXPECT_EQ(one.solver_bytes, other.solver_bytes);
  EXPECT_EQ(one.workspace_bytes, other.workspace_bytes);
  EXPECT_EQ(one.solver_bytes, three.solver_bytes);
  EXPECT_LE(one.workspace_bytes, three.workspace_bytes);
}

SPTRSV_TESTS(lifetimes, new_values_for_the_same_pattern,
             changes_of_the_array_of_values_count_only_after_update_values,
             the_matrix_may_be_overwritten_after_analyze, repeated_solves_give_the_same_bits,
             workspaces_are_independent, a_solver_can_be_moved, an_empty_system, info_tells_what_was_decided,
             info_counts_the_entries_of_the_other_triangle, bytes_depend_on_the_matrix_and_max_rhs_only);

}  // namespace sptrsv::testing
