// The contract: several right-hand sides.
#pragma once

#include "contract/contract_fixture.hpp"

namespace sptrsv::testing {

template <class Types>
class right_hand_sides : public contract<Types> {
 public:
  using contract<Types>::contract;
};

inline std::vector<layout> layouts(std::int64_t rows, std::int64_t columns) {
  return {column_major(rows, columns), column_major(rows, columns, 5), row_major(rows, columns),
          row_major(rows, columns, 3), scattered(rows, columns)};
}

SPTRSV_TEST_P(right_hand_sides, in_any_layout_with_gaps) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(45, 3, 2);
  for (const form& f : this->forms_for(4)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 9);
    for (const std::int64_t columns : {2, 3, 4, 5, 9}) {
      for (const layout& shape : layouts(p.size, columns)) {
        const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
        this->expect_solved(a, f, p.name, shape, b, this->solve(solver, shape, b));
      }
    }
  }
}

SPTRSV_TEST_P(right_hand_sides, scaled_by_alpha) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(45, 3, 2);
  const value alpha = make_value<value>(-1.5, 0.25);
  for (const form& f : this->forms_for(5)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 3);
    const layout shape = row_major(p.size, 3, 1);
    const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
    this->expect_solved(a, f, p.name, shape, b, this->solve(solver, shape, b, alpha), alpha);
  }
}

SPTRSV_TEST_P(right_hand_sides, long_rows_and_deep_matrices) {
  using value = typename TypeParam::value;
  const std::vector<pattern> all = {patterns::dense(70), patterns::arrow_row(200), patterns::chain(150),
                                    patterns::layers(160, 40, 12)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const form& f : this->forms_for(i)) {
      const auto a = this->make(all[i], f);
      auto solver = this->analyze(a, f, 5);
      const layout shape = i % 2 == 0 ? column_major(a.size(), 5, 2) : row_major(a.size(), 5, 2);
      const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
      this->expect_solved(a, f, all[i].name, shape, b, this->solve(solver, shape, b));
    }
  }
}

/// A solver keeps its scratch memory between solves. Values that one solve leaves there must not reach the
/// next solve, whether it has more or fewer right-hand sides.
SPTRSV_TEST_P(right_hand_sides, in_changing_numbers_on_one_solver) {
  using value = typename TypeParam::value;
  for (const pattern& p : {patterns::stencil_2d(6, 9), patterns::diagonal(170)}) {
    for (const form& f : this->forms_for(6)) {
      const auto a = this->make(p, f);
      auto solver = this->analyze(a, f, 5);
      std::uint64_t seed = 1;
      for (const std::int64_t columns : {5, 1, 3, 5, 5, 1, 1, 1, 4, 2, 1, 5, 0, 0, 5, 0, 2, 3, 1, 5}) {
        const layout shape = column_major(p.size, columns);
        const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), ++seed);
        this->expect_solved(a, f, p.name, shape, b, this->solve(solver, shape, b));
      }
    }
  }
}

SPTRSV_TEST_P(right_hand_sides, in_place_with_gaps) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(45, 3, 2);
  for (const form& f : this->forms_for(7)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 4);
    for (const layout& shape : layouts(p.size, 4)) {
      const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
      auto both = this->where.upload(b);
      solver.solve(shape.view(static_cast<const value*>(both.data())), shape.view(both.data()),
                   this->where.stream());
      const auto x = this->where.download(both);
      EXPECT_TRUE(gaps_untouched(shape, b, x)) << shape.name;
      this->expect_solved(a, f, p.name, shape, b, x);
    }
  }
}

/// b and x may have different strides.
SPTRSV_TEST_P(right_hand_sides, of_another_layout_than_the_solution) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(45, 3, 2);
  const form f = this->forms_for(8).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 3);
  const layout of_b = row_major(p.size, 3, 2);
  const layout of_x = column_major(p.size, 3, 4);
  const auto b = random_vector<value>(static_cast<std::int64_t>(of_b.extent), 3);
  const auto from = this->where.upload(b);
  auto to = this->where.upload(poisoned<value>(of_x.extent));
  solver.solve(of_b.view(static_cast<const value*>(from.data())), of_x.view(to.data()), this->where.stream());
  const auto x = this->where.download(to);
  std::vector<value> b_like_x(of_x.extent);
  for (std::int64_t j = 0; j < 3; ++j) {
    for (std::int64_t i = 0; i < p.size; ++i) {
      b_like_x[of_x.at(i, j)] = b[of_b.at(i, j)];
    }
  }
  this->expect_solved(a, f, p.name, of_x, b_like_x, x);
}

/// A stride of 0 of b gives every right-hand side the same elements, or every row of one.
SPTRSV_TEST_P(right_hand_sides, that_repeat_by_a_stride_of_zero) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(45, 3, 2);
  const form f = this->forms_for(9).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 3);
  const auto b = random_vector<value>(p.size, 3);
  const auto from = this->where.upload(b);
  const layout of_x = column_major(p.size, 3);
  for (const bool repeats_columns : {true, false}) {
    auto to = this->where.upload(poisoned<value>(of_x.extent));
    solver.solve(
        dense_view<const value>(from.data(), p.size, 3, repeats_columns ? 1 : 0, repeats_columns ? 0 : 1),
        of_x.view(to.data()), this->where.stream());
    std::vector<value> repeated(of_x.extent);
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t i = 0; i < p.size; ++i) {
        repeated[of_x.at(i, j)] = b[static_cast<std::size_t>(repeats_columns ? i : j)];
      }
    }
    this->expect_solved(a, f, p.name, of_x, repeated, this->where.download(to));
  }
}

SPTRSV_TESTS(right_hand_sides, in_any_layout_with_gaps, scaled_by_alpha, long_rows_and_deep_matrices,
             in_changing_numbers_on_one_solver, in_place_with_gaps, of_another_layout_than_the_solution,
             that_repeat_by_a_stride_of_zero);

}  // namespace sptrsv::testing
