// The contract: with zero pivots, NaN and Inf the result is that of serial substitution, and status() names
// the first row.
#pragma once

#include <algorithm>
#include <cmath>

#include "contract/contract_fixture.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {

template <class Types>
class ieee : public contract<Types> {
 public:
  using contract<Types>::contract;
  using typename contract<Types>::value_type;
  using kind = solve_status::kind;
  using real = detail::real_t<value_type>;
  using real_limits = std::numeric_limits<real>;

  static value_type infinity() { return make_value<value_type>(real_limits::infinity()); }
  static value_type nan() { return make_value<value_type>(real_limits::quiet_NaN()); }

  /// Returns the one of two rows or columns that comes first in the order of substitution.
  static std::int64_t first_of(const form& f, std::int64_t low, std::int64_t high) {
    const bool ascending = (f.part == uplo::lower) == (f.operation == op::none);
    return ascending ? low : high;
  }

  /// Returns the class of a component: finite, infinite (with its sign) or NaN. For complex numbers, and for
  /// policies that do not solve rows in the order of substitution, it distinguishes finite and non-finite
  /// only, because the order of the additions decides which parts are infinite or NaN.
  [[nodiscard]] int class_of(const value_type& v) const {
    if (detail::is_finite(detail::load_scalar(detail::as_scalar(&v)))) {
      return 0;
    }
    if (this->policy().growth > 1) {
      return 1;
    }
    if constexpr (is_complex<value_type>) {
      return 1;
    } else {
      return std::isnan(v) ? 2 : v > 0 ? 3 : 4;
    }
  }
  void expect_same_classes(const std::vector<value_type>& x, const std::vector<value_type>& expected,
                           const form& f) const {
    ASSERT_EQ(x.size(), expected.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(class_of(x[i]), class_of(expected[i]))
          << "component " << i << " is " << x[i] << " and not like " << expected[i] << ", " << f.name();
    }
  }

  template <class Solver>
  void expect_status(Solver& solver, kind code, std::int64_t row, const form& f) {
    const solve_status status = solver.status(this->where.stream());
    EXPECT_EQ(status.code, code) << f.name();
    if (code == kind::ok) {
      EXPECT_FALSE(status.row.has_value()) << f.name();
    } else {
      EXPECT_EQ(status.row.value_or(-1), row) << f.name();
    }
  }

  /// Compares an x that overflows at `row`. A policy that does not follow the order of substitution may find
  /// finite values for rows that need this row.
  void expect_overflow(const typename contract<Types>::matrix& a, const form& f,
                       const std::vector<value_type>& b, std::int64_t row) {
    if (this->policy().growth == 1) {
      expect_like_serial(a, f, b, kind::non_finite, row);
      return;
    }
    auto solver = this->analyze(a, f);
    const auto x = this->solve(solver, b);
    const auto expected = this->reference(a, f, b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(class_of(x[i]) == 0 || class_of(expected[i]) != 0) << "component " << i << ", " << f.name();
    }
    EXPECT_NE(class_of(x[static_cast<std::size_t>(row)]), 0) << f.name();
    expect_status(solver, kind::non_finite, row, f);
  }

  /// Solves, and compares the result with serial substitution and the status with the expected one.
  void expect_like_serial(const typename contract<Types>::matrix& a, const form& f,
                          const std::vector<value_type>& b, kind code, std::int64_t row) {
    auto solver = this->analyze(a, f);
    expect_same_classes(this->solve(solver, b), this->reference(a, f, b), f);
    expect_status(solver, code, row, f);
  }
};

SPTRSV_TEST_P(ieee, a_clean_solve_is_ok) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(70, 3, 2);
  for (const form& f : this->forms_for(20)) {
    const auto b = random_vector<value>(p.size, 3);
    this->expect_like_serial(this->make(p, f), f, b, solve_status::kind::ok, 0);
  }
}

SPTRSV_TEST_P(ieee, the_first_zero_pivot_is_named) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(70, 3, 2);
  const auto b = random_vector<value>(p.size, 3);
  for (const form& f : tried(all_forms())) {
    auto a = this->make(p, f);
    for (const std::int64_t row : {20, 41, 50}) {
      a.set(row, row, value(0));
    }
    const bool unit = f.diagonal == diag::unit;
    this->expect_like_serial(a, f, b, unit ? solve_status::kind::ok : solve_status::kind::zero_pivot,
                             this->first_of(f, 20, 50));
  }
}

SPTRSV_TEST_P(ieee, a_nan_or_an_infinity_in_b_is_named) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(8, 9);
  for (const form& f : this->forms_for(21)) {
    const auto a = this->make(p, f);
    for (const value& bad : {this->nan(), this->infinity()}) {
      auto b = random_vector<value>(p.size, 3);
      b[13] = bad;
      b[40] = bad;
      this->expect_like_serial(a, f, b, solve_status::kind::non_finite, this->first_of(f, 13, 40));
    }
  }
}

SPTRSV_TEST_P(ieee, a_nan_or_an_infinity_among_the_values_is_named) {
  using value = typename TypeParam::value;
  const pattern p = patterns::chain(90);
  const auto b = random_vector<value>(p.size, 3);
  for (const form& f : this->forms_for(22)) {
    for (const value& bad : {this->nan(), this->infinity()}) {
      auto a = this->make(p, f);
      const std::int64_t row = f.part == uplo::lower ? 30 : 29;
      a.set(row, 59 - row, bad);  // the entry that couples 29 and 30
      const std::int64_t named = this->first_of(f, 30, 29);
      this->expect_like_serial(a, f, b, solve_status::kind::non_finite, named);
    }
  }
}

SPTRSV_TEST_P(ieee, signs_of_infinities_meet) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(80, 4, 9);
  for (const form& f : this->forms_for(23)) {
    const auto a = this->make(p, f);
    auto b = random_vector<value>(p.size, 3);
    b[5] = this->infinity();
    b[7] = -this->infinity();
    b[75] = this->infinity();
    b[77] = -this->infinity();
    this->expect_like_serial(a, f, b, solve_status::kind::non_finite, this->first_of(f, 5, 77));
  }
}

SPTRSV_TEST_P(ieee, an_overflow_is_named_and_no_zero_pivot) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(70, 3, 2);
  for (const form& f : this->forms_for(24)) {
    if (f.diagonal == diag::unit) {
      continue;
    }
    auto a = this->make(p, f);
    auto b = random_vector<value>(p.size, 3);
    for (const std::int64_t row : {33, 34}) {
      a.set(row, row, make_value<value>(TestFixture::real_limits::min()));
      b[static_cast<std::size_t>(row)] = make_value<value>(8);
    }
    this->expect_overflow(a, f, b, this->first_of(f, 33, 34));
  }
}

/// If the reciprocal of a pivot overflows or is too inexact, the policy must divide.
SPTRSV_TEST_P(ieee, extreme_pivots_divide_as_ieee_says) {
  using value = typename TypeParam::value;
  using limits = typename TestFixture::real_limits;
  const form f = this->forms_for(25).front();
  const pattern p = patterns::diagonal(40);
  const form diagonal_form{f.part, diag::non_unit, f.operation, f.by_columns, content::triangle, true};
  auto a = this->make(p, diagonal_form);
  std::vector<value> b(40, value(1));
  std::vector<value> expected(40);
  const double pivots[] = {limits::min() / 4, limits::max(), limits::min(), limits::max() / 2, 3};
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double pivot = pivots[i % 5];
    a.set(i, i, make_value<value>(pivot));
    b[at] = make_value<value>(pivot / 2);
    expected[at] = make_value<value>(0.5);
  }
  auto solver = this->analyze(a, diagonal_form);
  const auto x = this->solve(solver, b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(x[i], expected[i]) << "component " << i;
  }
  EXPECT_TRUE(solver.status(this->where.stream()).ok());
}

/// Some policies mark unsolved components by a NaN with all bits set. As input this NaN must act like any
/// other NaN, also in one part of a complex number.
SPTRSV_TEST_P(ieee, the_reserved_nan_does_not_hang) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(8, 9);
  const auto reserved = from_bytes<value>(0xff);
  for (const form& f : this->forms_for(26)) {
    auto a = this->make(p, f);
    auto b = random_vector<value>(p.size, 3);
    b[20] = reserved;
    this->expect_like_serial(a, f, b, solve_status::kind::non_finite, 20);
    b[20] = value(1);
    if constexpr (is_complex<value>) {
      reinterpret_cast<typename value::value_type*>(&b[20])[1] = from_bytes<typename value::value_type>(0xff);
      this->expect_like_serial(a, f, b, solve_status::kind::non_finite, 20);
      b[20] = value(1);
    }
    // All of b is NaN: the first row in the order of substitution is not finite.
    this->expect_like_serial(a, f, std::vector<value>(b.size(), reserved), solve_status::kind::non_finite,
                             this->first_of(f, 0, p.size - 1));
    if (f.diagonal == diag::non_unit) {
      a.set(30, 30, reserved);
      this->expect_like_serial(a, f, b, solve_status::kind::non_finite, 30);
    }
  }
}

SPTRSV_TEST_P(ieee, status_speaks_of_the_last_solve) {
  using value = typename TypeParam::value;
  const form f = this->forms_for(27).front();
  for (const pattern& p : {patterns::stencil_2d(6, 7), patterns::diagonal(170)}) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 2);
    this->expect_status(solver, solve_status::kind::ok, 0, f);  // none yet
    const auto clean = random_vector<value>(p.size, 3);
    for (const std::int64_t row : {std::int64_t{11}, std::int64_t{3}, p.size - 2, std::int64_t{3}}) {
      auto b = clean;
      b[static_cast<std::size_t>(row)] = this->nan();
      this->solve(solver, b);
      this->expect_status(solver, solve_status::kind::non_finite, row, f);
      this->expect_status(solver, solve_status::kind::non_finite, row, f);  // asking changes nothing
      const auto x = this->solve(solver, clean);
      this->expect_status(solver, solve_status::kind::ok, 0, f);
      this->expect_solved(a, f, p.name, clean, x);
    }
  }
}

/// status() names the first row over all right-hand sides; finite right-hand sides keep finite solutions.
SPTRSV_TEST_P(ieee, of_several_right_hand_sides) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(6, 7);
  for (const form& f : this->forms_for(28)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 5);
    const layout shape = row_major(p.size, 5, 1);
    auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
    b[shape.at(25, 1)] = this->nan();
    b[shape.at(17, 4)] = this->infinity();
    const auto x = this->solve(solver, shape, b);
    this->expect_status(solver, solve_status::kind::non_finite, this->first_of(f, 17, 25), f);
    for (std::int64_t j = 0; j < 5; ++j) {
      std::vector<value> b_j;
      std::vector<value> x_j;
      for (std::int64_t i = 0; i < p.size; ++i) {
        b_j.push_back(b[shape.at(i, j)]);
        x_j.push_back(x[shape.at(i, j)]);
      }
      this->expect_same_classes(x_j, this->reference(a, f, b_j), f);
    }
  }
}

/// A stored zero times a component that is not finite is NaN; an entry that is not stored takes no part.
SPTRSV_TEST_P(ieee, a_stored_zero_meets_what_is_not_finite) {
  using value = typename TypeParam::value;
  const pattern p = patterns::band(70, 6);
  for (const form& f : this->forms_for(29)) {
    auto a = this->make(p, f);
    for (std::int64_t row = 3; row < p.size; row += 3) {
      for (const std::int64_t distance : {1, 2, 5}) {
        const std::int64_t other = row - distance;
        if (other >= 0) {
          f.part == uplo::lower ? a.set(row, other, value(0)) : a.set(other, row, value(0));
        }
      }
    }
    for (const value& bad : {this->nan(), this->infinity()}) {
      auto b = random_vector<value>(p.size, 3);
      b[38] = bad;
      this->expect_like_serial(a, f, b, solve_status::kind::non_finite, 38);
    }
  }
}

/// Values that are not finite, in the matrix at `analyze` or in update_values, and in b, in any place. With
/// zero pivots they meet stored zeros, infinities of both signs and one another.
SPTRSV_TEST_P(ieee, whatever_is_not_finite_spreads_as_in_substitution) {
  using value = typename TypeParam::value;
  const value bad[] = {this->nan(), this->infinity(), -this->infinity(), value(0)};
  random_source source(turn_of(this->policy().case_name));
  for (int trial = 0; trial < 12; ++trial) {
    const form f{source.coin() ? uplo::lower : uplo::upper, source.coin() ? diag::unit : diag::non_unit};
    const std::int64_t size = 2 + source.below(60);
    const std::int64_t width = 1 + source.below(4);
    const pattern p = patterns::band(size, width);
    const auto spoil = [&](auto& a) {
      for (int count = 0; count < 2; ++count) {
        const std::int64_t row = source.below(size);
        const std::int64_t column = std::max<std::int64_t>(0, row - source.below(width + 1));
        const value entry = bad[source.below(4)];
        f.part == uplo::lower ? a.set(row, column, entry) : a.set(column, row, entry);
      }
    };
    auto a = this->make(p, f);
    if (trial % 3 != 0) {
      spoil(a);
    }
    auto b = random_vector<value>(size, 3);
    if (trial % 3 != 1) {
      b[static_cast<std::size_t>(source.below(size))] = bad[source.below(3)];
    }
    auto solver = this->analyze(a, f);
    for (const bool updates : {false, true}) {
      if (updates) {
        spoil(a);
        solver.update_values(this->where.upload(a.values()), this->where.stream());
      }
      const auto expected = this->reference(a, f, b);
      this->expect_same_classes(this->solve(solver, b), expected, f);
      const auto is_bad = [&](const value& v) { return this->class_of(v) != 0; };
      const bool all_finite = std::none_of(expected.begin(), expected.end(), is_bad);
      EXPECT_EQ(solver.status(this->where.stream()).code == solve_status::kind::ok ||
                    solver.status(this->where.stream()).code == solve_status::kind::growth,
                all_finite)
          << f.name();
    }
  }
}

/// Values that were not finite, or zero, leave nothing behind.
SPTRSV_TEST_P(ieee, bad_values_are_forgotten) {
  using value = typename TypeParam::value;
  const pattern p = patterns::band(70, 3);
  for (const form& f : this->forms_for(31)) {
    const auto good = this->make(p, f);
    auto solver = this->analyze(good, f);
    const auto b = random_vector<value>(p.size, 3);
    const auto before = this->solve(solver, b);
    for (const value& bad : {this->nan(), this->infinity(), value(0),
                             make_value<value>(TestFixture::real_limits::denorm_min())}) {
      auto a = good;
      for (value& v : a.values()) {
        v = bad;
      }
      solver.update_values(this->where.upload(a.values()), this->where.stream());
      this->solve(solver, b);
      solver.update_values(this->where.upload(good.values()), this->where.stream());
      this->expect_repeated(solver, good, f, p.name, b, this->solve(solver, b), before);
      this->expect_status(solver, solve_status::kind::ok, 0, f);
    }
  }
}

SPTRSV_TEST_P(ieee, alpha_may_be_infinite) {
  using value = typename TypeParam::value;
  for (const pattern& p : {patterns::diagonal(40), patterns::chain(90), patterns::random(70, 3, 2)}) {
    for (const form& f : this->forms_for(30)) {
      const auto a = this->make(p, f);
      const auto b = random_vector<value>(p.size, 3);
      auto solver = this->analyze(a, f);
      for (const value& alpha : {this->infinity(), -this->infinity()}) {
        this->expect_same_classes(this->solve(solver, b, alpha), this->reference(a, f, b, alpha), f);
      }
    }
  }
}

SPTRSV_TESTS(ieee, a_clean_solve_is_ok, the_first_zero_pivot_is_named, a_nan_or_an_infinity_in_b_is_named,
             a_nan_or_an_infinity_among_the_values_is_named, signs_of_infinities_meet,
             an_overflow_is_named_and_no_zero_pivot, extreme_pivots_divide_as_ieee_says,
             the_reserved_nan_does_not_hang, status_speaks_of_the_last_solve, of_several_right_hand_sides,
             a_stored_zero_meets_what_is_not_finite, whatever_is_not_finite_spreads_as_in_substitution,
             bad_values_are_forgotten, alpha_may_be_infinite);

}  // namespace sptrsv::testing
