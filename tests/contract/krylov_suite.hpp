// Krylov methods, the same on every target: held against residuals and direct solves in a wide type.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/generators/factors.hpp"
#include "contract/contract_fixture.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/krylov.hpp"
#include "support/counting_resource.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

/// A target and a value type; the policy solves with incomplete factors.
template <class Policy, class Target, class Value>
struct krylov_case : case_types<Target, Value, std::int32_t, std::int32_t> {
  using policy = Policy;
};
struct krylov_case_names {
  template <class Case>
  static std::string GetName(int) {
    return Case::name();
  }
};

enum class krylov_method { cg, bicgstab, gmres };
inline const krylov_method krylov_methods[] = {krylov_method::cg, krylov_method::bicgstab,
                                               krylov_method::gmres};

template <class Case>
class krylov_suite : public on_target<Case> {
 public:
  using typename on_target<Case>::value_type;
  using typename on_target<Case>::target;
  using stream_type = typename target::stream_type;
  using real = detail::real_t<value_type>;
  using number = std::complex<long double>;
  using csr = csr_matrix<value_type>;
  using vector = std::vector<value_type>;
  using workspace = krylov::workspace<value_type, stream_type>;

  static constexpr double epsilon = static_cast<double>(std::numeric_limits<real>::epsilon());
  static constexpr double tolerance = sizeof(real) == sizeof(double) ? 1e-10 : 1e-4;

  /// Returns D (A + shift) D^H, where A is that of a grid, and D has unit numbers: Hermitian, if A is
  /// symmetric.
  static csr grid_system(std::int32_t x, std::int32_t y, double peclet, double shift = 0) {
    const auto a = sptrsv_common::convection_diffusion({x, y, 1}, peclet);
    csr made{a.rows, a.columns, a.row_offsets, a.column_indices, {}};
    const auto phase = [](std::int64_t i) {
      const auto k = static_cast<double>(i % 7);
      return is_complex<value_type> ? number(std::cos(k), std::sin(k)) : number(i % 7 < 4 ? 1 : -1);
    };
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (auto e = a.row_offsets[detail::at(i)]; e < a.row_offsets[detail::at(i) + 1]; ++e) {
        const auto column = a.column_indices[detail::at(e)];
        const number v =
            number(a.values[detail::at(e)] + (column == i ? shift : 0)) * phase(i) * std::conj(phase(column));
        made.values.push_back(
            make_value<value_type>(static_cast<double>(v.real()), static_cast<double>(v.imag())));
      }
    }
    return made;
  }
  /// Returns a matrix with the values of a dense one, by rows.
  static csr dense(std::int32_t n, const std::vector<double>& values) {
    csr a{n, n, {0}, {}, {}};
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = 0; j < n; ++j) {
        a.column_indices.push_back(j);
        a.values.push_back(make_value<value_type>(values[detail::at(i * n + j)]));
      }
      a.row_offsets.push_back((i + 1) * n);
    }
    return a;
  }
  static csr diagonal(const std::vector<double>& values) {
    csr a{static_cast<std::int64_t>(values.size()), static_cast<std::int64_t>(values.size()), {0}, {}, {}};
    for (const double v : values) {
      a.column_indices.push_back(static_cast<std::int32_t>(a.values.size()));
      a.values.push_back(make_value<value_type>(v));
      a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
    }
    return a;
  }
  static vector numbers(std::int64_t count, std::uint64_t seed) {
    return random_vector<value_type>(count, seed);
  }

  static number widened(value_type v) { return {std::real(v), std::imag(v)}; }
  /// Returns the norm of b - A x relative to that of b.
  static double residual_of(const csr& a, const vector& b, const vector& x) {
    long double square = 0;
    long double square_of_b = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      number left = widened(b[i]);
      for (auto e = detail::at(a.row_offsets[i]); e < detail::at(a.row_offsets[i + 1]); ++e) {
        left -= widened(a.values[e]) * widened(x[detail::at(a.column_indices[e])]);
      }
      square += std::norm(left);
      square_of_b += std::norm(widened(b[i]));
    }
    return static_cast<double>(std::sqrt(square / square_of_b));
  }
  /// Solves by elimination with pivots, in a wide type.
  static std::vector<number> direct_solution(const csr& a, const vector& b) {
    const std::size_t n = b.size();
    std::vector<std::vector<number>> rows(n, std::vector<number>(n + 1));
    for (std::size_t i = 0; i < n; ++i) {
      for (auto e = detail::at(a.row_offsets[i]); e < detail::at(a.row_offsets[i + 1]); ++e) {
        rows[i][detail::at(a.column_indices[e])] += widened(a.values[e]);
      }
      rows[i][n] = widened(b[i]);
    }
    for (std::size_t k = 0; k < n; ++k) {
      std::swap(rows[k], *std::max_element(
                             rows.begin() + static_cast<std::ptrdiff_t>(k), rows.end(),
                             [&](const auto& p, const auto& q) { return std::abs(p[k]) < std::abs(q[k]); }));
      for (std::size_t i = 0; i < n; ++i) {
        const number factor = i == k ? number(0) : rows[i][k] / rows[k][k];
        for (std::size_t j = k; factor != number(0) && j <= n; ++j) {
          rows[i][j] -= factor * rows[k][j];
        }
      }
    }
    std::vector<number> x(n);
    for (std::size_t k = 0; k < n; ++k) {
      x[k] = rows[k][n] / rows[k][k];
    }
    return x;
  }

  template <class Operator, class Preconditioner, class B, class X>
  krylov::result call(krylov_method which, Operator&& a, Preconditioner&& m, const B& b, X& x,
                      workspace& scratch, const krylov::options& o) {
    const stream_type stream = this->where.stream();
    switch (which) {
      case krylov_method::cg:
        return krylov::conjugate_gradients(a, m, b, x, scratch, o, stream);
      case krylov_method::bicgstab:
        return krylov::bicgstab(a, m, b, x, scratch, o, stream);
      default:
        return krylov::gmres(a, m, b, x, scratch, o, stream);
    }
  }
  /// Solves without a preconditioner, from the values of x, which are replaced.
  krylov::result solve(krylov_method which, const csr& a, const vector& b, vector& x,
                       const krylov::options& o = {}) {
    const auto there = this->where.upload(a);
    const auto from = this->where.upload(b);
    auto to = this->where.upload(x);
    workspace scratch(this->where.stream());
    const krylov::csr_operator product(there, this->where.stream());
    const krylov::result made = call(which, product, krylov::no_preconditioner{}, from, to, scratch, o);
    x = this->where.download(to);
    return made;
  }
  /// The same from 0.
  krylov::result solve(krylov_method which, const csr& a, const vector& b, const krylov::options& o = {}) {
    vector x(b.size());
    return solve(which, a, b, x, o);
  }
  static krylov::options at_most(std::int32_t iterations) {
    krylov::options o;
    o.tolerance = tolerance;
    o.max_iterations = iterations;
    return o;
  }

  /// Solves with M, or with M and A as callables, and checks what the result says. Returns the iterations.
  template <class Preconditioner>
  int check(krylov_method which, const csr& a, Preconditioner&& m, bool calls = false) {
    const stream_type stream = this->where.stream();
    const vector values = numbers(a.rows, 3);
    const auto there = this->where.upload(a);
    const auto b = this->where.upload(values);
    auto x = this->where.upload(vector(values.size()));
    workspace scratch(stream);
    krylov::options o = at_most(1000);
    o.keep_history = true;
    o.restart = 12;
    const krylov::csr_operator product(there, stream);
    const auto callable = [&](span<const value_type> u, span<value_type> v, stream_type on) {
      product.apply(u, v, on);
    };
    const krylov::result made =
        calls ? call(which, callable, m, b, x, scratch, o) : call(which, product, m, b, x, scratch, o);
    EXPECT_TRUE(made.converged()) << krylov::name_of(made.why);
    const double residual = residual_of(a, values, this->where.download(x));
    EXPECT_LE(residual, 1.001 * tolerance + 20 * epsilon);
    EXPECT_NEAR(made.residual, residual, 0.01 * residual + 20 * epsilon);
    EXPECT_EQ(made.history.size(), detail::at(made.iterations) + 1);
    EXPECT_NEAR(made.history.front(), 1, 1e-6);
    EXPECT_LE(made.history.back(), tolerance);
    EXPECT_GT(made.history[made.history.size() - 2], 0.9 * tolerance);
    EXPECT_GT(made.iterations, 2);
    return made.iterations;
  }
};
TYPED_TEST_SUITE_P(krylov_suite);

TYPED_TEST_P(krylov_suite, solve_systems) {
  using suite = krylov_suite<TypeParam>;
  const auto symmetric = suite::grid_system(36, 30, 0, 1);
  const auto general = suite::grid_system(36, 30, 0.5, 1);
  const auto stream = this->where.stream();
  const auto symmetric_there = this->where.upload(symmetric);
  const auto general_there = this->where.upload(general);
  const auto ic = analyze_incomplete_cholesky(symmetric_there, {}, stream);
  const auto ilu = analyze_incomplete_lu(general_there, {}, stream);
  const typename TypeParam::policy chosen;
  auto of_ic = analyze_factors(chosen, ic.view(symmetric_there),
                               factors_options<typename suite::value_type>::cholesky(), stream);
  auto of_ilu = analyze_factors(chosen, ilu.view(general_there), {}, stream);
  for (const krylov_method which : krylov_methods) {
    SCOPED_TRACE(static_cast<int>(which));
    const auto& a = which == krylov_method::cg ? symmetric : general;
    const int plain = this->check(which, a, krylov::no_preconditioner{});
    EXPECT_LE(std::abs(this->check(which, a, krylov::no_preconditioner{}, true) - plain), 2);
    const int factored =
        which == krylov_method::cg ? this->check(which, a, of_ic) : this->check(which, a, of_ilu);
    EXPECT_LT(2 * factored, plain);
  }
}

TYPED_TEST_P(krylov_suite, are_near_direct_solutions) {
  using suite = krylov_suite<TypeParam>;
  for (const krylov_method which : krylov_methods) {
    for (const double peclet : {0.0, 1.5}) {
      if (which == krylov_method::cg && peclet != 0) {
        continue;
      }
      const auto a = suite::grid_system(7, 5, peclet);
      const auto b = suite::numbers(a.rows, 7);
      const auto expected = suite::direct_solution(a, b);
      std::vector<typename suite::value_type> x = suite::numbers(a.rows, 9);  // an initial guess
      krylov::options o;
      o.tolerance = 50 * suite::epsilon;
      const krylov::result made = this->solve(which, a, b, x, o);
      EXPECT_TRUE(made.converged()) << static_cast<int>(which) << krylov::name_of(made.why);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(std::abs(suite::widened(x[i]) - expected[i]), 2e4 * suite::epsilon) << "row " << i;
      }
    }
  }
}

TYPED_TEST_P(krylov_suite, start_from_what_is_known) {
  using suite = krylov_suite<TypeParam>;
  const auto a = suite::grid_system(6, 5, 0);
  const auto b = suite::numbers(a.rows, 7);
  for (const krylov_method which : krylov_methods) {
    auto x = suite::numbers(a.rows, 1);
    krylov::options o = suite::at_most(100);
    o.keep_history = true;
    krylov::result made = this->solve(which, a, std::vector<typename suite::value_type>(b.size()), x, o);
    EXPECT_TRUE(made.converged());
    EXPECT_EQ(made.iterations, 0);
    EXPECT_EQ(made.residual, 0);
    EXPECT_EQ(x, std::vector<typename suite::value_type>(b.size()));

    EXPECT_TRUE(this->solve(which, a, b, x, o).converged());
    const auto solution = x;
    o.tolerance *= 1.01;
    made = this->solve(which, a, b, x, o);  // x is the solution
    EXPECT_TRUE(made.converged());
    EXPECT_EQ(made.iterations, 0);
    EXPECT_EQ(made.history, std::vector<double>{made.residual});
    EXPECT_EQ(x, solution);

    // The first iteration finds the solution.
    const auto identity = suite::diagonal(std::vector<double>(30, 1.0));
    made = this->solve(which, identity, b, o);
    EXPECT_TRUE(made.converged()) << static_cast<int>(which) << krylov::name_of(made.why);
    EXPECT_EQ(made.iterations, 1);
    std::vector<typename suite::value_type> nothing;
    EXPECT_TRUE(this->solve(which, suite::diagonal({}), nothing, nothing).converged());
  }
}

/// The norm of b is 3 times the square root of the number of rows.
TYPED_TEST_P(krylov_suite, end_at_an_absolute_tolerance) {
  using suite = krylov_suite<TypeParam>;
  const auto a = suite::grid_system(7, 5, 0);
  const std::vector<typename suite::value_type> b(detail::at(a.rows),
                                                  make_value<typename suite::value_type>(3));
  const double norm = 3 * std::sqrt(static_cast<double>(a.rows));
  for (const krylov_method which : krylov_methods) {
    krylov::options relative = suite::at_most(100);
    relative.tolerance = 1e-2;
    const krylov::result expected = this->solve(which, a, b, relative);
    for (const double smaller : {0.0, 1e-4}) {  // the larger of both counts
      krylov::options o = suite::at_most(100);
      o.tolerance = smaller;
      o.absolute_tolerance = 1e-2 * norm;
      krylov::result made = this->solve(which, a, b, o);
      EXPECT_TRUE(made.converged()) << krylov::name_of(made.why);
      EXPECT_EQ(made.iterations, expected.iterations);
      EXPECT_LE(made.residual, 1.0001e-2);
      o.absolute_tolerance = 1.01 * norm;
      made = this->solve(which, a, b, o);
      EXPECT_TRUE(made.converged() && made.iterations == 0) << made.iterations;
    }
  }
}

TYPED_TEST_P(krylov_suite, name_the_reason) {
  using suite = krylov_suite<TypeParam>;
  using krylov::reason;
  const auto a = suite::grid_system(6, 5, 0);
  const auto b = suite::numbers(a.rows, 7);
  const auto ones = [](std::size_t n) {
    return std::vector<typename suite::value_type>(n, make_value<typename suite::value_type>(1));
  };
  const auto expect = [](const krylov::result& made, reason why, int iterations) {
    EXPECT_EQ(made.why, why) << krylov::name_of(made.why);
    EXPECT_EQ(made.iterations, iterations);
  };
  for (const krylov_method which : krylov_methods) {
    SCOPED_TRACE(static_cast<int>(which));
    expect(this->solve(which, a, b, suite::at_most(4)), reason::iteration_limit, 4);
    expect(this->solve(which, a, b, suite::at_most(0)), reason::iteration_limit, 0);
    for (const double bad : {std::nan(""), static_cast<double>(std::numeric_limits<float>::infinity())}) {
      auto of_b = b;
      of_b[17] = make_value<typename suite::value_type>(bad);
      expect(this->solve(which, a, of_b), reason::not_finite, 0);
      auto of_x = ones(b.size());
      of_x[3] = of_b[17];
      expect(this->solve(which, a, b, of_x), reason::not_finite, 0);
      auto of_a = a;
      of_a.values[20] = of_b[17];
      expect(this->solve(which, of_a, b), reason::not_finite, 0);
    }
    krylov::options exact = suite::at_most(500);
    exact.tolerance = 0.01 * suite::epsilon;
    const krylov::result made = this->solve(which, a, b, exact);
    EXPECT_EQ(made.why, reason::stagnation) << krylov::name_of(made.why);
    EXPECT_LE(made.residual, 10 * suite::epsilon);
  }
  EXPECT_EQ(this->solve(krylov_method::cg, suite::grid_system(6, 5, 1), b).why, reason::not_symmetric);
  krylov::options trusting;
  trusting.check_symmetry = false;
  trusting.max_iterations = 20;
  EXPECT_NE(this->solve(krylov_method::cg, suite::grid_system(6, 5, 1), b, trusting).why,
            reason::not_symmetric);
  expect(this->solve(krylov_method::cg, suite::diagonal({1, 2, -3, 4}), ones(4)),
         reason::not_positive_definite, 1);
  expect(this->solve(krylov_method::cg, suite::diagonal({-1, -2}), ones(2)), reason::not_positive_definite,
         0);
  // p^H A p = 0, w^H A y = 0, and A maps the residual to 0.
  expect(this->solve(krylov_method::cg, suite::dense(2, {1, 0, 0, -1}), ones(2)),
         reason::not_positive_definite, 0);
  expect(this->solve(krylov_method::bicgstab, suite::dense(2, {0, 1, -1, 0}), ones(2)), reason::breakdown, 0);
  expect(this->solve(krylov_method::gmres, suite::dense(2, {1, -1, 1, -1}), ones(2)), reason::breakdown, 1);
  // After an iteration that has left 0.15 of the residual, w^H r = 0: the method starts again from x.
  EXPECT_TRUE(
      this->solve(krylov_method::bicgstab, suite::dense(3, {-2, 1, 0, 0, -2, -2, -1, -2, -1}), ones(3))
          .converged());
  // GMRES finds the solution where BiCGStab breaks down.
  EXPECT_TRUE(this->solve(krylov_method::gmres, suite::dense(2, {0, 1, -1, 0}), ones(2)).converged());
}

TYPED_TEST_P(krylov_suite, use_any_operators) {
  using suite = krylov_suite<TypeParam>;
  using value = typename suite::value_type;
  const auto a = suite::grid_system(9, 8, 0);
  const auto there = this->where.upload(a);
  const auto stream = this->where.stream();
  const krylov::csr_operator product(there, stream);
  const auto b = this->where.upload(suite::numbers(a.rows, 3));
  auto x = this->where.upload(std::vector<value>(b.size()));
  typename suite::workspace scratch(stream);
  // The negative of a preconditioner that is positive definite; and one that throws.
  const auto minus = suite::diagonal(std::vector<double>(72, -0.25));
  const auto minus_there = this->where.upload(minus);
  const krylov::csr_operator negative(minus_there, stream);
  EXPECT_EQ(this->call(krylov_method::cg, product, negative, b, x, scratch, suite::at_most(100)).why,
            krylov::reason::not_positive_definite);
  EXPECT_TRUE(
      this->call(krylov_method::bicgstab, product, negative, b, x, scratch, suite::at_most(100)).converged());
  const auto fails = [](span<const value>, span<value>, typename suite::stream_type) {
    throw error(errc::io_error, "of the user");
  };
  const auto seen = failure::of([&] {
    auto again = this->where.upload(std::vector<value>(b.size()));
    this->call(krylov_method::gmres, product, fails, b, again, scratch, suite::at_most(100));
  });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->code, errc::io_error);
  // A NaN of the preconditioner ends the iteration in which it is met.
  const auto nans = this->where.upload(suite::diagonal(std::vector<double>(72, std::nan(""))));
  const krylov::csr_operator broken(nans, stream);
  for (const krylov_method which : krylov_methods) {
    auto again = this->where.upload(std::vector<value>(b.size()));
    const krylov::result made = this->call(which, product, broken, b, again, scratch, suite::at_most(100));
    EXPECT_EQ(made.why, krylov::reason::not_finite) << static_cast<int>(which);
    EXPECT_LE(made.iterations, 1);
  }
}

TYPED_TEST_P(krylov_suite, refuse_bad_input) {
  using suite = krylov_suite<TypeParam>;
  using value = typename suite::value_type;
  const auto stream = this->where.stream();
  const auto a = suite::grid_system(3, 2, 0);
  const auto there = this->where.upload(a);
  const krylov::csr_operator product(there, stream);
  const auto b = this->where.upload(suite::numbers(6, 1));
  auto x = this->where.upload(suite::numbers(6, 2));
  auto shorter = this->where.upload(suite::numbers(5, 2));
  typename suite::workspace scratch(stream);
  const auto code_of = [&](const auto& op, span<const value> from, span<value> to,
                           typename suite::workspace& with, const krylov::options& o = {}) {
    std::vector<errc> seen;
    for (const krylov_method which : krylov_methods) {
      const auto f =
          failure::of([&] { this->call(which, op, krylov::no_preconditioner{}, from, to, with, o); });
      seen.push_back(f ? f->code : errc::io_error);
    }
    EXPECT_EQ(seen, std::vector<errc>(3, seen[0]));
    return seen[0];
  };
  EXPECT_EQ(code_of(product, b, shorter, scratch), errc::size_mismatch);
  EXPECT_EQ(code_of(product, shorter, span<value>(x.data(), 5), scratch), errc::size_mismatch);
  EXPECT_EQ(code_of(product, b, span<value>(nullptr, 6), scratch), errc::invalid_argument);
  EXPECT_EQ(code_of(product, span<const value>(nullptr, 6), x, scratch), errc::invalid_argument);
  EXPECT_EQ(code_of(product, x, x, scratch), errc::invalid_argument);
  for (int k = 0; k < 7; ++k) {
    krylov::options o;
    o.absolute_tolerance = k == 5 ? -1 : k == 6 ? std::nan("") : 0;
    o.tolerance = k == 0 ? -1 : k == 1 ? std::nan("") : o.tolerance;
    o.max_iterations = k == 2 ? -1 : o.max_iterations;
    o.restart = k == 3 ? 0 : o.restart;
    o.check_interval = k == 4 ? 0 : o.check_interval;
    EXPECT_EQ(code_of(product, b, x, scratch, o), errc::invalid_argument) << k;
  }
  typename suite::workspace taken(std::move(scratch));
  EXPECT_EQ(code_of(product, b, x, scratch), errc::invalid_argument);
  EXPECT_EQ(code_of(product, b, x, taken), errc::io_error);  // no error
  scratch = std::move(taken);
  EXPECT_EQ(code_of(product, b, x, taken), errc::invalid_argument);
  const auto code_of_matrix = [&](const auto& of) {
    return failure::of([&] { krylov::csr_operator(of, stream); })->code;
  };
  const csr_view<value> view = there.view();
  EXPECT_EQ(
      code_of_matrix(csr_view<value>{6, 5, view.entries, view.row_offsets, view.column_indices, view.values}),
      errc::not_square);
  EXPECT_EQ(
      code_of_matrix(csr_view<value>{6, 6, view.entries, view.row_offsets, view.column_indices, nullptr}),
      errc::invalid_argument);
}

/// Iterations that the host launches after the last one change nothing, whether the method has converged or
/// reached its limit.
TYPED_TEST_P(krylov_suite, repeat_in_every_bit) {
  using suite = krylov_suite<TypeParam>;
  using value = typename suite::value_type;
  using krylov::repetition;
  const auto a = suite::grid_system(36, 30, 0, 2);
  const auto there = this->where.upload(a);
  const auto stream = this->where.stream();
  const krylov::csr_operator product(there, stream);
  const auto b = this->where.upload(suite::numbers(a.rows, 3));
  for (const krylov_method which : krylov_methods) {
    counting_resource counted(this->where.resource());
    typename suite::workspace scratch(stream, &counted);
    for (const std::int32_t limit : {4, 100}) {
      krylov::options o = suite::at_most(limit);
      o.tolerance = 1e-3;
      o.restart = 3;
      o.keep_history = true;
      std::vector<value> first;
      krylov::result expected;
      std::size_t allocations = 0;
      for (const auto how : {repetition::launches, repetition::graphs, repetition::on_device}) {
        for (const int interval : {1, 8}) {
          o.repeat = how;
          o.check_interval = interval;
          auto x = this->where.upload(std::vector<value>(b.size()));
          const krylov::result made =
              this->call(which, product, krylov::no_preconditioner{}, b, x, scratch, o);
          const auto seen = this->where.download(x);
          if (allocations == 0) {
            allocations = counted.allocations();
            first = seen;
            expected = made;
            EXPECT_EQ(made.converged(), limit == 100) << krylov::name_of(made.why) << made.iterations;
          }
          EXPECT_TRUE(same_bits(seen, first));
          EXPECT_EQ(made.history, expected.history);
          EXPECT_EQ(made.residual, expected.residual);
          EXPECT_EQ(counted.allocations(), allocations) << "a workspace that is used again allocates";
        }
        if (TypeParam::target::is_slow) {
          break;  // the emulator has one way only
        }
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(krylov_suite, solve_systems, are_near_direct_solutions, start_from_what_is_known,
                            end_at_an_absolute_tolerance, name_the_reason, use_any_operators,
                            refuse_bad_input, repeat_in_every_bit);

}  // namespace sptrsv::testing
