// The suite of lower triangles in supernodal panels.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/supernodal_matrix.hpp"
#include "support/counting_resource.hpp"
#include "support/effort.hpp"
#include "support/failing_resource.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

template <class Types>
class supernodal_matrices : public on_target<Types> {
 public:
  using typename on_target<Types>::matrix;
  using typename on_target<Types>::value_type;
  using typename on_target<Types>::index_type;
  using typename on_target<Types>::offset_type;
  using panels = supernodal_matrix<value_type, index_type, offset_type>;

  /// Returns the values of a matrix by column, with the rows of each column.
  static std::vector<std::vector<std::pair<std::int64_t, value_type>>> columns_of(const matrix& a) {
    std::vector<std::vector<std::pair<std::int64_t, value_type>>> columns(static_cast<std::size_t>(a.size()));
    const auto& c = a.by_columns;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      for (auto e = static_cast<std::size_t>(c.column_offsets[j]);
           e < static_cast<std::size_t>(c.column_offsets[j + 1]); ++e) {
        columns[j].emplace_back(c.row_indices[e], c.values[e]);
      }
    }
    return columns;
  }

  /// Returns a lower triangle in panels of up to `width` columns. What lies above
  /// the diagonal is NaN, and the panels are apart by `gap` values, which are NaN, too.
  static panels to_panels(const matrix& a, std::int64_t width, std::int64_t gap = 0) {
    const auto columns = columns_of(a);
    const auto unused = static_cast<value_type>(std::numeric_limits<double>::quiet_NaN());
    panels made;
    made.rows = a.size();
    made.first_columns.push_back(0);
    made.row_offsets.push_back(0);
    made.value_offsets.push_back(0);
    for (std::int64_t first = 0; first < a.size(); first += width) {
      const std::int64_t end = std::min(first + width, a.size());
      std::set<std::int64_t> rows;
      for (std::int64_t j = first; j < end; ++j) {
        rows.insert(j);
        for (const auto& [row, value] : columns[static_cast<std::size_t>(j)]) {
          rows.insert(row);
        }
      }
      const std::vector<std::int64_t> list(rows.begin(), rows.end());
      for (std::int64_t j = first; j < end; ++j) {
        for (const std::int64_t row : list) {
          made.values.push_back(row < j ? unused : value_type(0));
        }
        for (const auto& [row, value] : columns[static_cast<std::size_t>(j)]) {
          const auto i = std::lower_bound(list.begin(), list.end(), row) - list.begin();
          made.values[made.values.size() - list.size() + static_cast<std::size_t>(i)] = value;
        }
      }
      made.values.insert(made.values.end(), static_cast<std::size_t>(gap), unused);
      made.row_indices.insert(made.row_indices.end(), list.begin(), list.end());
      made.first_columns.push_back(static_cast<index_type>(end));
      made.row_offsets.push_back(static_cast<offset_type>(made.row_indices.size()));
      made.value_offsets.push_back(static_cast<offset_type>(made.values.size()));
    }
    return made;
  }

  auto upload(const panels& a) { return to_device(a, this->where.stream()); }

  /// Solves with the panels, and expects a solution.
  void check(const pattern& p, const form& f, std::int64_t width, std::int64_t gap = 0) {
    const matrix a = this->make(p, f);
    const std::string name = p.name + ", panels of " + std::to_string(width);
    const panels stored = to_panels(a, width, gap);
    auto there = upload(stored);
    auto solver = sptrsv::analyze(policy::supernodal{}, there, f.options(6), this->where.stream());
    // The solver keeps no reference to the pattern.
    this->where.on().fill_bytes(there.row_indices.data(), 0x55, there.row_indices.bytes());
    for (const std::int64_t rhs : {1, 3, 6}) {
      const layout shape = column_major(a.size(), rhs);
      const auto b = random_vector<value_type>(static_cast<std::int64_t>(shape.extent), 3);
      this->expect_solved(a, f, name, shape, b, this->solve(solver, shape, b));
    }
  }
};
TYPED_TEST_SUITE_P(supernodal_matrices);

/// The types of values and indices in turn.
template <class Target>
using supernodal_matrix_types =
    ::testing::Types<case_types<Target, double, std::int32_t, std::int32_t>,
                     case_types<Target, std::complex<float>, std::int32_t, std::int64_t>>;

/// Returns the forms of a lower triangle by columns.
inline std::vector<form> forms_of_panels() {
  std::vector<form> forms;
  for (const op operation : {op::none, op::transpose, op::conj_transpose}) {
    for (const diag diagonal : {diag::non_unit, diag::unit}) {
      forms.push_back({uplo::lower, diagonal, operation, true});
    }
  }
  return forms;
}

TYPED_TEST_P(supernodal_matrices, are_solved_in_all_forms) {
  std::vector<pattern> all = {patterns::dense(40), patterns::chain(30), patterns::band(50, 6),
                              patterns::arrow_row(33)};
  std::size_t turn = 0;
  for (const pattern& p : all) {
    for (const form& f : forms_of_panels()) {
      const std::int64_t widths[] = {1, 3, 8, p.size};
      this->check(p, f, widths[turn % 4], static_cast<std::int64_t>(turn % 3));
      ++turn;
    }
  }
}

/// Columns of one panel with different rows have zeros in it.
TYPED_TEST_P(supernodal_matrices, may_be_padded) {
  for (const form& f : {form{}, form{uplo::lower, diag::non_unit, op::transpose}}) {
    form stored = f;
    stored.by_columns = true;
    this->check(patterns::stencil_2d(7, 6), stored, 5);
    this->check(patterns::diagonal(20), stored, 7);
  }
}

TYPED_TEST_P(supernodal_matrices, take_new_values) {
  form f;
  f.by_columns = true;
  const pattern p = patterns::dense(30);
  const auto first = this->make(p, f, 1);
  const auto second = this->make(p, f, 2);
  const auto there = this->upload(this->to_panels(first, 6));
  auto solver = sptrsv::analyze(policy::supernodal{}, there, f.options(), this->where.stream());
  const auto values = this->where.upload(this->to_panels(second, 6).values);
  solver.update_values({values.data(), values.size()}, this->where.stream());
  const auto b = random_vector<typename TestFixture::value_type>(p.size, 3);
  this->expect_solved(second, f, p.name, b, this->solve(solver, b));
  EXPECT_TRUE(solver.status(this->where.stream()).ok());
  EXPECT_EQ(failure::of([&] {
              solver.update_values({values.data(), values.size() - 1}, this->where.stream());
            })->code,
            errc::size_mismatch);
}

TYPED_TEST_P(supernodal_matrices, name_the_row_of_a_zero_pivot) {
  form f;
  f.by_columns = true;
  const pattern p = patterns::band(40, 5);
  auto a = this->make(p, f);
  a.set(17, 17, typename TestFixture::value_type(0));
  const auto there = this->upload(this->to_panels(a, 4));
  auto solver = sptrsv::analyze(policy::supernodal{}, there, f.options(), this->where.stream());
  this->solve(solver, random_vector<typename TestFixture::value_type>(p.size, 3));
  const solve_status status = solver.status(this->where.stream());
  EXPECT_EQ(status.code, solve_status::kind::zero_pivot);
  EXPECT_EQ(status.row, 17);
}

/// Each fault is reported with the supernode that has it, by the number of its first column.
TYPED_TEST_P(supernodal_matrices, are_checked) {
  using stored_panels = typename TestFixture::panels;
  form f;
  f.by_columns = true;
  const stored_panels good = this->to_panels(this->make(patterns::band(30, 5), f), 6);
  const auto expect = [&](errc code, std::int64_t row, const std::string& name, const auto& damage,
                          const system_options& options = {}) {
    stored_panels bad = good;
    damage(bad);
    const auto seen = failure::of([&] {
      const auto there = this->upload(bad);
      static_cast<void>(sptrsv::analyze(policy::supernodal{}, there, options, this->where.stream()));
    });
    ASSERT_TRUE(seen.has_value()) << name << ": accepted";
    EXPECT_EQ(seen->code, code) << name << ": " << seen->message;
    EXPECT_EQ(seen->row.value_or(-1), row) << name << ": " << seen->message;
  };
  const auto offsets = errc::offsets_not_monotone;
  expect(offsets, 1, "first column not 0", [](stored_panels& a) { a.first_columns[0] = 1; });
  expect(offsets, 6, "empty supernode", [](stored_panels& a) { a.first_columns[2] = 6; });
  expect(offsets, 12, "negative column", [](stored_panels& a) { a.first_columns[3] = -1; });
  expect(offsets, 24, "last column", [](stored_panels& a) { a.first_columns[5] = 29; });
  expect(offsets, 0, "rows before the array", [](stored_panels& a) { a.row_offsets[0] = -1; });
  expect(offsets, 6, "too few rows", [](stored_panels& a) { a.row_offsets[2] = a.row_offsets[1] + 5; });
  expect(offsets, 24, "rows beyond the array", [](stored_panels& a) { a.row_offsets[5] += 1; });
  expect(offsets, 0, "values before the array", [](stored_panels& a) { a.value_offsets[0] = -1; });
  expect(offsets, 12, "panels overlap", [](stored_panels& a) { a.value_offsets[3] -= 1; });
  expect(offsets, 24, "values beyond the array", [](stored_panels& a) { a.value_offsets[5] += 1; });
  expect(errc::index_out_of_range, 18, "row beyond the matrix",
         [](stored_panels& a) { a.row_indices[static_cast<std::size_t>(a.row_offsets[4]) - 1] = 30; });
  expect(errc::index_out_of_range, 0, "negative row", [](stored_panels& a) { a.row_indices[2] = -1; });
  expect(errc::invalid_argument, 6, "rows not in order", [](stored_panels& a) {
    std::swap(a.row_indices[static_cast<std::size_t>(a.row_offsets[2]) - 1],
              a.row_indices[static_cast<std::size_t>(a.row_offsets[2]) - 2]);
  });
  expect(errc::invalid_argument, 12, "a row twice", [](stored_panels& a) {
    a.row_indices[static_cast<std::size_t>(a.row_offsets[3]) - 1] =
        a.row_indices[static_cast<std::size_t>(a.row_offsets[3]) - 2];
  });
  expect(errc::invalid_argument, 12, "not its own columns",
         [](stored_panels& a) { a.row_indices[static_cast<std::size_t>(a.row_offsets[2]) + 1] = 14; });
  expect(errc::unsupported, -1, "an upper triangle", [](stored_panels&) {}, {uplo::upper});
  expect(errc::size_mismatch, -1, "different lengths", [](stored_panels& a) { a.value_offsets.pop_back(); });
  expect(offsets, -1, "no supernodes", [](stored_panels& a) {
    a.first_columns.resize(1);
    a.row_offsets.resize(1);
    a.value_offsets.resize(1);
  });
}

TYPED_TEST_P(supernodal_matrices, may_be_empty) {
  const auto there = this->upload(typename TestFixture::panels{});
  auto solver = sptrsv::analyze(policy::supernodal{}, there, {}, this->where.stream());
  EXPECT_EQ(solver.rows(), 0);
  EXPECT_TRUE(solver.status(this->where.stream()).ok());
}

/// A transposed solver shares the panels and their values, whichever direction was analysed first.
TYPED_TEST_P(supernodal_matrices, are_shared_with_the_transpose) {
  using scalar = typename TestFixture::value_type;
  for (const pattern& p : {patterns::dense(40), patterns::stencil_2d(7, 6), patterns::arrow_row(33)}) {
    for (const form& f : tried(all_forms())) {
      if (f.operation == op::transpose) {
        continue;  // the transposed solver of the others
      }
      const auto a = this->make(p, f, 1);
      const auto other = this->make(p, f, 2);
      a.visit([&](const auto& stored) {
        const auto there = this->where.upload(stored);
        auto solver = sptrsv::analyze(policy::supernodal{}, there, f.options(6), this->where.stream());
        form transposed = f;
        transposed.operation = f.operation == op::none ? op::conj_transpose : op::none;
        auto back = solver.transposed(op::conj_transpose, this->where.stream());
        for (const auto* values : {&a, &other}) {
          const auto array = this->where.upload(values->values());
          (values == &a ? solver : back).update_values({array.data(), array.size()}, this->where.stream());
          for (const std::int64_t rhs : {1, 6}) {
            const layout shape = column_major(a.size(), rhs);
            const auto b = random_vector<scalar>(static_cast<std::int64_t>(shape.extent), 3);
            const scalar alpha = make_value<scalar>(0.5, 2);
            this->expect_solved(*values, f, p.name, shape, b, this->solve(solver, shape, b, alpha), alpha);
            this->expect_solved(*values, transposed, p.name, shape, b, this->solve(back, shape, b, alpha),
                                alpha);
          }
        }
      });
    }
  }
}

/// The transposed solver lives on when the other one is gone, and gives everything back at its end.
TYPED_TEST_P(supernodal_matrices, outlive_the_solver_that_they_share) {
  using scalar = typename TestFixture::value_type;
  form f;
  f.by_columns = true;
  form transposed = f;
  transposed.operation = op::transpose;
  const pattern p = patterns::dense(40);
  const auto a = this->make(p, f);
  const auto there = this->where.upload(a.by_columns);
  auto first =
      std::make_optional(sptrsv::analyze(policy::supernodal{}, there, f.options(), this->where.stream()));
  auto second = first->transposed(op::transpose, this->where.stream());
  auto third = second.transposed(op::transpose, this->where.stream());
  const std::size_t alone = first->info().solver_bytes;
  EXPECT_LE(second.info().solver_bytes, alone + alone / 2);
  first.reset();
  const auto b = random_vector<scalar>(p.size, 3);
  this->expect_solved(a, transposed, p.name, b, this->solve(second, b));
  const auto last = std::move(third);
  EXPECT_EQ(failure::of([&] { static_cast<void>(third.transposed()); })->code, errc::invalid_argument);
  EXPECT_EQ(failure::of([&] { static_cast<void>(second.transposed(op::none)); })->code,
            errc::invalid_argument);
}

/// Whichever allocation of `analyze` or `transposed` fails: the error says so, everything is given back, and
/// a solver that was there before still solves.
TYPED_TEST_P(supernodal_matrices, lose_nothing_without_memory) {
  form f;
  f.by_columns = true;
  const pattern p = patterns::stencil_2d(7, 6);
  const auto a = this->make(p, f);
  const auto there = this->upload(this->to_panels(a, 5));
  const auto stream = this->where.stream();
  const auto b = random_vector<typename TestFixture::value_type>(p.size, 3);
  int of_analyze = 0;
  int of_transposed = 0;
  for (std::size_t number = 1;; ++number) {
    failing_resource failing(this->where.resource(), number);
    counting_resource counted(failing);
    bool analyzed = false;
    const auto failed = failure::of([&] {
      auto solver = sptrsv::analyze(policy::supernodal{}, there, f.options(6), stream, &counted);
      analyzed = true;
      const std::size_t before = counted.live_bytes();
      const auto transposed =
          failure::of([&] { static_cast<void>(solver.transposed(op::transpose, stream)); });
      EXPECT_EQ(counted.live_bytes(), before) << "allocation " << number;
      of_transposed += transposed ? 1 : 0;
      EXPECT_EQ(transposed.has_value(), failing.has_refused()) << "allocation " << number;
      EXPECT_TRUE(!transposed || transposed->code == errc::out_of_memory) << transposed->message;
      this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    });
    EXPECT_EQ(failed.has_value(), !analyzed);
    EXPECT_TRUE(!failed || failed->code == errc::out_of_memory) << failed->message;
    of_analyze += failed ? 1 : 0;
    EXPECT_EQ(counted.live_bytes(), 0u) << "allocation " << number;
    EXPECT_EQ(counted.mistakes(), 0u) << "allocation " << number;
    if (!failing.has_refused()) {
      break;
    }
  }
  EXPECT_GT(of_analyze, 5);
  EXPECT_GT(of_transposed, 1);
}

REGISTER_TYPED_TEST_SUITE_P(supernodal_matrices, are_solved_in_all_forms, may_be_padded, take_new_values,
                            name_the_row_of_a_zero_pivot, are_checked, may_be_empty,
                            are_shared_with_the_transpose, outlive_the_solver_that_they_share,
                            lose_nothing_without_memory);

}  // namespace sptrsv::testing
