// Factors, the same on every target. Solutions are held against the product of dense matrices, to within the
// componentwise backward errors of two substitutions, the permutations and the scalings.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/factors.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

/// A policy on a target, with types.
template <class Policy, class Target, class Value, class Index = std::int32_t, class Offset = Index>
struct factors_case : case_types<Target, Value, Index, Offset> {
  using policy = Policy;

  static std::string name() {
    return std::string(Policy::name) + "_" + case_types<Target, Value, Index, Offset>::name();
  }
};

/// A dense square matrix in a wide type.
class dense_matrix {
 public:
  using number = std::complex<long double>;

  explicit dense_matrix(std::int64_t size) : size_(size), values_(static_cast<std::size_t>(size * size)) {}

  [[nodiscard]] std::int64_t size() const { return size_; }
  number& at(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i * size_ + j)]; }
  [[nodiscard]] number at(std::int64_t i, std::int64_t j) const {
    return values_[static_cast<std::size_t>(i * size_ + j)];
  }

  [[nodiscard]] dense_matrix times(const dense_matrix& other) const {
    dense_matrix made(size_);
    for (std::int64_t i = 0; i < size_; ++i) {
      for (std::int64_t k = 0; k < size_; ++k) {
        for (std::int64_t j = 0; j < size_; ++j) {
          made.at(i, j) += at(i, k) * other.at(k, j);
        }
      }
    }
    return made;
  }
  [[nodiscard]] dense_matrix with_operation(op operation) const {
    dense_matrix made(size_);
    for (std::int64_t i = 0; i < size_; ++i) {
      for (std::int64_t j = 0; j < size_; ++j) {
        const number value = operation == op::none ? at(i, j) : at(j, i);
        made.at(i, j) = operation == op::conj_transpose ? std::conj(value) : value;
      }
    }
    return made;
  }
  [[nodiscard]] dense_matrix magnitudes() const {
    dense_matrix made(size_);
    for (std::size_t k = 0; k < values_.size(); ++k) {
      made.values_[k] = std::abs(values_[k]);
    }
    return made;
  }

 private:
  std::int64_t size_;
  std::vector<number> values_;
};

template <class Case>
class factors_suite : public on_target<Case> {
 public:
  using typename on_target<Case>::value_type;
  using typename on_target<Case>::index_type;
  using typename on_target<Case>::offset_type;
  using typename on_target<Case>::target;
  using typename on_target<Case>::matrix;
  using policy_type = typename Case::policy;
  using real = detail::real_t<value_type>;
  using options_type = factors_options<value_type, index_type>;
  using number = dense_matrix::number;

  /// The options with their arrays in host memory.
  struct problem {
    options_type options;
    std::vector<index_type> row_order{};
    std::vector<index_type> column_order{};
    std::vector<value_type> row_scale{};
    std::vector<value_type> column_scale{};

    [[nodiscard]] std::int64_t row(std::int64_t k) const {
      return row_order.empty() ? k : static_cast<std::int64_t>(row_order[static_cast<std::size_t>(k)]);
    }
    [[nodiscard]] std::int64_t column(std::int64_t k) const {
      return column_order.empty() ? k : static_cast<std::int64_t>(column_order[static_cast<std::size_t>(k)]);
    }
  };

  static number wide(value_type v) { return {std::real(v), std::imag(v)}; }
  static number scale_of(const std::vector<value_type>& scale, std::int64_t i) {
    return scale.empty() ? number(1) : wide(scale[static_cast<std::size_t>(i)]);
  }

  static dense_matrix to_dense(const matrix& a) {
    dense_matrix made(a.size());
    a.visit([&](const auto& stored) {
      const auto pattern = detail::pattern_of(stored.view());
      for (std::int64_t m = 0; m < pattern.size; ++m) {
        for (auto e = pattern.offsets[m]; e < pattern.offsets[m + 1]; ++e) {
          const auto minor = static_cast<std::int64_t>(pattern.indices[e]);
          made.at(a.is_csc ? minor : m, a.is_csc ? m : minor) = wide(a.values()[static_cast<std::size_t>(e)]);
        }
      }
    });
    return made;
  }
  static dense_matrix factor_of(const dense_matrix& stored, const triangular_factor& f) {
    dense_matrix t(stored.size());
    for (std::int64_t i = 0; i < stored.size(); ++i) {
      for (std::int64_t j = 0; j < stored.size(); ++j) {
        const bool inside = f.part == uplo::lower ? j < i : j > i;
        t.at(i, j) = inside ? stored.at(i, j) : number(0);
      }
      t.at(i, i) = f.diagonal == diag::unit ? number(1) : stored.at(i, i);
    }
    return t.with_operation(f.operation);
  }
  /// The product of the factors, and the product of their magnitudes.
  struct product {
    dense_matrix exact;
    dense_matrix magnitudes;
    std::int64_t longest_row;
  };
  static product product_of(const matrix& first, const matrix& second, const options_type& options) {
    const dense_matrix stored = to_dense(first);
    const dense_matrix f1 = factor_of(stored, options.first);
    const dense_matrix f2 = factor_of(to_dense(second), options.second);
    dense_matrix d(stored.size());
    for (std::int64_t i = 0; i < stored.size(); ++i) {
      d.at(i, i) = options.has_diagonal ? stored.at(i, i) : number(1);
    }
    return {f1.times(d).times(f2), f1.magnitudes().times(d.magnitudes()).times(f2.magnitudes()),
            stored.size()};
  }

  /// Checks that op(A) x = b, where `operation` is op::none or that of apply_transpose.
  static void expect_applied(const product& m, const problem& p, op operation, const layout& shape,
                             const std::vector<value_type>& b, const std::vector<value_type>& x,
                             const std::string& name) {
    const std::int64_t size = shape.rows;
    const dense_matrix exact = m.exact.with_operation(operation);
    const dense_matrix magnitudes = m.magnitudes.with_operation(operation);
    const bool is_transposed = operation != op::none;
    const auto conjugated = [&](number v) { return operation == op::conj_transpose ? std::conj(v) : v; };
    const long double bound =
        3 * 4 * static_cast<long double>(size + 4) * std::numeric_limits<real>::epsilon();
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      std::vector<number> y;
      std::vector<number> z;
      for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t i = p.row(k);
        const std::int64_t j = p.column(k);
        const number r = conjugated(scale_of(p.row_scale, i));
        const number s = conjugated(scale_of(p.column_scale, j));
        const std::int64_t in = is_transposed ? j : i;
        const std::int64_t out = is_transposed ? i : j;
        y.push_back(wide(b[shape.at(in, c)]) * (is_transposed ? s : r));
        z.push_back(wide(x[shape.at(out, c)]) / (is_transposed ? r : s));
      }
      for (std::int64_t k = 0; k < size; ++k) {
        number residual = y[static_cast<std::size_t>(k)];
        long double terms = std::abs(residual);
        for (std::int64_t l = 0; l < size; ++l) {
          residual -= exact.at(k, l) * z[static_cast<std::size_t>(l)];
          terms += std::abs(magnitudes.at(k, l)) * std::abs(z[static_cast<std::size_t>(l)]);
        }
        ASSERT_LE(std::abs(residual), bound * terms) << name << ": row " << k << ", right-hand side " << c;
      }
    }
  }

  /// Returns a matrix with both triangles.
  static matrix make_stored(const pattern& p, bool by_columns, std::uint64_t seed = 1) {
    form f;
    f.by_columns = by_columns;
    f.holds = seed % 2 == 0 ? content::ascending : content::general;
    return on_target<Case>::make(p, f, seed);
  }

  /// Returns the options of each way to store factors.
  static std::vector<std::pair<std::string, options_type>> all_options() {
    options_type upper_cholesky;  // R^H R, in the upper triangle
    upper_cholesky.first = {uplo::upper, diag::non_unit, op::conj_transpose};
    upper_cholesky.second = {uplo::upper};
    options_type crout;
    crout.first = {uplo::lower};
    crout.second = {uplo::upper, diag::unit};
    return {{"LU", options_type::lu()},     {"LL^H", options_type::cholesky()},
            {"LDL^H", options_type::ldl()}, {"LDL^T", options_type::ldl(op::transpose)},
            {"R^H R", upper_cholesky},      {"Crout", crout}};
  }

  static problem transformed(const options_type& options, std::int64_t size, std::uint64_t seed) {
    problem made{options};
    random_source source(seed);
    const auto draw_order = [&] {
      std::vector<index_type> order;
      for (std::int64_t k = 0; k < size; ++k) {
        order.push_back(static_cast<index_type>(k));
      }
      source.shuffle(order);
      return order;
    };
    const auto draw_scale = [&] {
      std::vector<value_type> scale;
      for (std::int64_t k = 0; k < size; ++k) {
        scale.push_back(random_pivot<value_type>(source));
      }
      return scale;
    };
    if (seed % 2 != 0) {
      made.row_order = draw_order();
      made.column_scale = draw_scale();
    }
    if (seed % 3 != 0) {
      made.column_order = draw_order();
    }
    if (seed % 5 != 0) {
      made.row_scale = draw_scale();
    }
    return made;
  }

  /// Analyses on the target, with `second` in a matrix of its own if it is another object than `first`.
  auto analyze_on_target(const matrix& first, const matrix& second, const problem& p) {
    const auto row_order = this->where.upload(p.row_order);
    const auto column_order = this->where.upload(p.column_order);
    const auto row_scale = this->where.upload(p.row_scale);
    const auto column_scale = this->where.upload(p.column_scale);
    options_type options = p.options;
    options.row_order = row_order;
    options.column_order = column_order;
    options.row_scale = row_scale;
    options.column_scale = column_scale;
    return first.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      if (&first == &second) {
        return analyze_factors(policy_type{}, there, options, this->where.stream());
      }
      return second.visit([&](const auto& other) {
        const auto other_there = this->where.upload(other);
        return analyze_factors(policy_type{}, there, other_there, options, this->where.stream());
      });
    });
  }

  /// Applies and returns x. `in_place`: x is b.
  template <class Factors>
  std::vector<value_type> apply(Factors& f, op operation, const layout& shape,
                                const std::vector<value_type>& b, bool in_place = false) {
    auto from = this->where.upload(b);
    auto to = this->where.upload(in_place ? b : poisoned<value_type>(shape.extent));
    const auto input = shape.view(static_cast<const value_type*>(in_place ? to.data() : from.data()));
    if (operation == op::none) {
      f.apply(input, shape.view(to.data()), this->where.stream());
    } else {
      f.apply_transpose(input, shape.view(to.data()), this->where.stream());
    }
    return this->where.download(to);
  }

  /// Analyses, applies in several ways, and checks.
  void check(const matrix& first, const matrix& second, const problem& p, const std::string& name) {
    const product m = product_of(first, second, p.options);
    auto f = analyze_on_target(first, second, p);
    const std::int64_t size = first.size();
    const op operations[] = {op::none, p.options.transposed};  // nvcc 13.0 drops this list from the loop
    for (const op operation : operations) {
      for (const layout& shape : {single(size), column_major(size, 3, 2), row_major(size, 2)}) {
        if (shape.columns > p.options.max_rhs) {
          continue;
        }
        const auto b = random_vector<value_type>(static_cast<std::int64_t>(shape.extent), 5);
        const auto x = apply(f, operation, shape, b);
        expect_applied(m, p, operation, shape, b, x, name + ", " + shape.name);
        expect_applied(m, p, operation, shape, b, apply(f, operation, shape, b, true), name + ", in place");
        EXPECT_TRUE(f.status(this->where.stream()).ok()) << name;
      }
    }
  }

  std::optional<failure> failure_of(const problem& p, const matrix& a) {
    return failure::of([&] { this->analyze_on_target(a, a, p); });
  }
};
TYPED_TEST_SUITE_P(factors_suite);

TYPED_TEST_P(factors_suite, solve_with_both_factors) {
  std::uint64_t turn = 0;
  for (const pattern& p : {patterns::stencil_2d(5, 4), patterns::random(24, 3, 1), patterns::chain(33),
                           patterns::dense(12), patterns::diagonal(1), patterns::diagonal(0)}) {
    for (auto [name, options] : this->all_options()) {
      ++turn;
      const auto a = this->make_stored(p, turn % 2 == 0, turn);
      options.max_rhs = turn % 3 == 0 ? 1 : 3;
      this->check(a, a, {options}, p.name + ", " + name);
      const auto other = this->make_stored(p, a.is_csc, turn + 100);
      this->check(a, other, {options}, p.name + ", " + name + " in two matrices");
    }
  }
}

TYPED_TEST_P(factors_suite, permute_and_scale) {
  std::uint64_t turn = 0;
  for (const pattern& p : {patterns::stencil_2d(5, 4), patterns::random(24, 3, 1)}) {
    for (auto [name, options] : this->all_options()) {
      options.max_rhs = 3;
      for (int k = 0; k < 3; ++k) {
        ++turn;
        const auto a = this->make_stored(p, turn % 2 == 0, turn);
        this->check(a, a, this->transformed(options, p.size, turn), p.name + ", " + name);
      }
    }
  }
}

TYPED_TEST_P(factors_suite, apply_the_transpose) {
  const pattern p = patterns::random(24, 3, 1);
  std::uint64_t turn = 0;
  for (auto [name, options] : this->all_options()) {
    for (const op transposed : {op::transpose, op::conj_transpose}) {
      ++turn;
      const auto a = this->make_stored(p, turn % 2 == 0, turn);
      options.transposed = transposed;
      options.max_rhs = 2;
      const auto system = this->transformed(options, p.size, turn);
      const bool has_conjugated_factor =
          is_complex<typename TestFixture::value_type> &&
          ((options.first.operation != op::none && options.first.operation != transposed) ||
           (options.second.operation != op::none && options.second.operation != transposed));
      if (has_conjugated_factor) {
        const auto seen = this->failure_of(system, a);
        ASSERT_TRUE(seen.has_value()) << name;
        EXPECT_EQ(seen->code, errc::unsupported) << name;
        continue;
      }
      this->check(a, a, system, name);
      auto f = this->analyze_on_target(a, a, system);
      const bool shares = options.second.part == options.first.part;  // one factor is that of the other
      EXPECT_EQ(f.info().solvers.size(), shares ? 2u : 4u) << name;
    }
  }
}

/// <inv(A) b, c> = <b, inv(A^H) c>. The matrix is well-conditioned, so the difference is a small multiple of
/// eps.
TYPED_TEST_P(factors_suite, are_adjoint) {
  const pattern p = patterns::stencil_2d(6, 5);
  for (const bool permuted : {false, true}) {
    for (const bool is_cholesky : {false, true}) {
      const auto a = this->make_stored(p, false);
      auto options = is_cholesky ? TestFixture::options_type::cholesky() : TestFixture::options_type::lu();
      options.transposed = op::conj_transpose;
      auto f = this->analyze_on_target(
          a, a, permuted ? this->transformed(options, p.size, 7) : typename TestFixture::problem{options});
      const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
      const auto c = random_vector<typename TestFixture::value_type>(p.size, 2);
      const auto x = this->apply(f, op::none, single(p.size), b);
      const auto y = this->apply(f, op::conj_transpose, single(p.size), c);
      dense_matrix::number left = 0;
      dense_matrix::number right = 0;
      long double terms = 0;
      for (std::size_t i = 0; i < b.size(); ++i) {
        left += this->wide(x[i]) * std::conj(this->wide(c[i]));
        right += this->wide(b[i]) * std::conj(this->wide(y[i]));
        terms += std::abs(this->wide(x[i])) + std::abs(this->wide(y[i]));
      }
      EXPECT_LE(std::abs(left - right),
                100 * std::numeric_limits<typename TestFixture::real>::epsilon() * terms);
    }
  }
}

TYPED_TEST_P(factors_suite, follow_new_values) {
  const pattern p = patterns::stencil_2d(7, 6);
  for (auto [name, options] : this->all_options()) {
    const auto old = this->make_stored(p, false, 1);
    const auto a = this->make_stored(p, false, 3);  // the same pattern in the same order
    auto changed = old;
    std::copy(a.values().rbegin(), a.values().rend(), changed.values().begin());
    for (std::int64_t i = 0; i < p.size; ++i) {
      changed.set(i, i, make_value<typename TestFixture::value_type>(2, 1));
    }
    options.transposed =
        is_complex<typename TestFixture::value_type> && options.second.operation == op::transpose
            ? op::transpose
            : op::conj_transpose;
    const auto system = this->transformed(options, p.size, 7);
    auto f = this->analyze_on_target(old, old, system);
    const auto values = this->where.upload(changed.values());
    f.update_values(values, this->where.stream());
    const auto m = this->product_of(changed, changed, options);
    const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
    const op operations[] = {op::none, options.transposed};
    for (const op operation : operations) {
      this->expect_applied(m, system, operation, single(p.size), b,
                           this->apply(f, operation, single(p.size), b), name);
    }
  }
}

TYPED_TEST_P(factors_suite, follow_new_values_of_two_matrices) {
  const pattern p = patterns::stencil_2d(5, 4);
  auto options = TestFixture::options_type::lu();
  options.transposed = op::transpose;
  const auto first = this->make_stored(p, false, 2);
  const auto second = this->make_stored(p, false, 4);
  auto f = this->analyze_on_target(first, second, {options});
  const auto first_values = this->where.upload(second.values());  // the patterns are the same
  const auto second_values = this->where.upload(first.values());
  f.update_values(first_values, second_values, this->where.stream());
  const auto m = this->product_of(second, first, options);
  const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
  for (const op operation : {op::none, op::transpose}) {
    this->expect_applied(m, {options}, operation, single(p.size), b,
                         this->apply(f, operation, single(p.size), b), "two matrices");
  }
}

/// Workspaces are independent, and a moved object keeps them.
TYPED_TEST_P(factors_suite, have_workspaces) {
  const pattern p = patterns::stencil_2d(6, 5);
  const auto a = this->make_stored(p, false);
  auto options = TestFixture::options_type::lu();
  options.transposed = op::transpose;
  const auto system = this->transformed(options, p.size, 7);
  auto made = this->analyze_on_target(a, a, system);
  const auto stream = this->where.stream();
  auto scratch = made.make_workspace(stream);
  const auto f = std::move(made);
  const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
  const auto m = this->product_of(a, a, options);
  const auto from = this->where.upload(b);
  auto to = this->where.upload(poisoned<typename TestFixture::value_type>(b.size()));
  f.apply(from, to, scratch, stream);
  this->expect_applied(m, system, op::none, single(p.size), b, this->where.download(to), "a workspace");
  f.apply_transpose(from, to, scratch, stream);
  this->expect_applied(m, system, op::transpose, single(p.size), b, this->where.download(to), "transposed");
  EXPECT_TRUE(f.status(scratch, stream).ok());
  auto others = this->analyze_on_target(a, a, system);
  auto foreign = others.make_workspace(stream);
  const auto refused = [&](auto&& action) {
    const auto seen = failure::of(action);
    return seen && seen->code == errc::invalid_argument;
  };
  EXPECT_TRUE(refused([&] { f.apply(from, to, foreign, stream); }));
  EXPECT_TRUE(refused([&] { made.apply(from, to, stream); })) << "moved from";
  typename decltype(others)::workspace nothing;
  EXPECT_TRUE(refused([&] { f.apply(from, to, nothing, stream); }));
}

TYPED_TEST_P(factors_suite, say_what_they_met) {
  using kind = solve_status::kind;
  const pattern p = patterns::stencil_2d(6, 5);
  const auto expect = [&](const typename TestFixture::options_type& options, std::int64_t row, kind code,
                          factor_part part, typename TestFixture::value_type bad, op operation,
                          const std::string& name) {
    auto a = this->make_stored(p, false);
    if (row >= 0) {
      a.set(row, row, bad);
    }
    auto f = this->analyze_on_target(a, a, {options});
    auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
    this->apply(f, operation, single(p.size), b);
    const factors_status seen = f.status(this->where.stream());
    EXPECT_EQ(seen.code, code) << name;
    ASSERT_TRUE(seen.part.has_value()) << name;
    EXPECT_EQ(*seen.part, part) << name;
    EXPECT_EQ(seen.row.value_or(-1), row) << name;
  };
  expect(TestFixture::options_type::lu(), 12, kind::zero_pivot, factor_part::second, 0, op::none, "LU");
  expect(TestFixture::options_type::cholesky(), 12, kind::zero_pivot, factor_part::first, 0, op::none,
         "LL^H");
  expect(TestFixture::options_type::ldl(), 12, kind::zero_pivot, factor_part::diagonal, 0, op::none, "LDL^H");
  expect(TestFixture::options_type::ldl(), 12, kind::non_finite, factor_part::diagonal,
         typename TestFixture::value_type(std::numeric_limits<typename TestFixture::real>::quiet_NaN()),
         op::none, "NaN in D");
  auto transposed = TestFixture::options_type::lu();
  transposed.transposed = op::transpose;
  expect(transposed, 12, kind::zero_pivot, factor_part::second, 0, op::transpose, "LU transposed");
}

TYPED_TEST_P(factors_suite, refuse_bad_input) {
  const pattern p = patterns::chain(6);
  const auto a = this->make_stored(p, false);
  const auto expect = [](const std::optional<failure>& seen, errc code, std::int64_t row,
                         const std::string& words) {
    ASSERT_TRUE(seen.has_value()) << words << ": accepted";
    EXPECT_EQ(seen->code, code) << seen->message;
    EXPECT_EQ(seen->row.value_or(-1), row) << seen->message;
    EXPECT_TRUE(seen->mentions(words)) << seen->message;
  };
  const auto ordered = [&](std::vector<typename TestFixture::index_type> rows,
                           std::vector<typename TestFixture::index_type> columns) {
    return this->failure_of(typename TestFixture::problem{{}, std::move(rows), std::move(columns)}, a);
  };
  expect(ordered({0, 1, 2, 2, 4, 5}, {}), errc::invalid_argument, 2, "row_order is no permutation");
  expect(ordered({}, {0, 1, 1, 3, 4, 5}), errc::invalid_argument, 1, "column_order is no permutation");
  expect(ordered({0, 1, 2, 6, 4, 5}, {}), errc::index_out_of_range, 3, "row_order");
  expect(ordered({0, 1, -1, 3, 4, 5}, {}), errc::index_out_of_range, 2, "row_order");
  expect(ordered({0, 1, 2}, {}), errc::size_mismatch, -1, "row_order has 3 elements");
  expect(
      this->failure_of(
          typename TestFixture::problem{{}, {}, {}, {}, std::vector<typename TestFixture::value_type>(2)}, a),
      errc::size_mismatch, -1, "column_scale has 2 elements");
  auto options = TestFixture::options_type::lu();
  options.has_diagonal = true;
  expect(this->failure_of(typename TestFixture::problem{options}, a), errc::invalid_argument, -1,
         "must be unit");
  options.has_diagonal = false;
  options.max_rhs = 0;
  expect(this->failure_of(typename TestFixture::problem{options}, a), errc::invalid_argument, -1, "max_rhs");

  const auto larger = this->make_stored(patterns::chain(7), false);
  expect(failure::of([&] { this->analyze_on_target(a, larger, typename TestFixture::problem{}); }),
         errc::size_mismatch, -1, "has 6 rows, that of the second 7");
  const auto raw = [&](const raw_matrix& bad, const typename TestFixture::options_type& of) {
    const raw_arrays<typename TestFixture::target, typename TestFixture::value_type,
                     typename TestFixture::index_type, typename TestFixture::offset_type>
        there(this->where, bad);
    return there.visit([&](const auto& view) {
      return failure::of(
          [&] { analyze_factors(typename TestFixture::policy_type{}, view, of, this->where.stream()); });
    });
  };
  const auto ldl = TestFixture::options_type::ldl();
  expect(raw(raw_matrix::of({{0}, {0}, {2}}), {}), errc::missing_diagonal, 1, "diagonal");
  expect(raw(raw_matrix::of({{0}, {0}, {2}}), ldl), errc::missing_diagonal, 1, "diagonal");
  expect(raw(raw_matrix::of({{0}, {1, 1}, {2}}), ldl), errc::duplicate_entry, 1, "twice");

  auto f = this->analyze_on_target(a, a, typename TestFixture::problem{});
  const auto stream = this->where.stream();
  const auto b = this->where.upload(std::vector<typename TestFixture::value_type>(6));
  auto x = this->where.upload(std::vector<typename TestFixture::value_type>(6));
  auto shorter = this->where.upload(std::vector<typename TestFixture::value_type>(5));
  expect(failure::of([&] { f.apply(shorter, x, stream); }), errc::size_mismatch, -1, "b has 5 rows");
  expect(failure::of([&] { f.apply(b, shorter, stream); }), errc::size_mismatch, -1, "x has 5 rows");
  expect(failure::of([&] { f.update_values(shorter, stream); }), errc::size_mismatch, -1, "5 values");
  expect(failure::of([&] { f.apply_transpose(b, x, stream); }), errc::invalid_argument, -1, "transposed");
  const auto other = this->make_stored(p, false, 2);
  auto two = this->analyze_on_target(a, other, typename TestFixture::problem{});
  expect(failure::of([&] { two.update_values(b, stream); }), errc::invalid_argument, -1, "two arrays");
}

/// Matrices of blocks give the bits of the same matrices by single rows.
TYPED_TEST_P(factors_suite, of_matrices_of_blocks) {
  const pattern p = patterns::stencil_2d(6, 5);
  const auto stream = this->where.stream();
  for (auto [name, options] : this->all_options()) {
    const auto blocks = to_bsr(this->make_stored(p, false, 1).by_rows, 3);
    const auto others = to_bsr(this->make_stored(p, false, 2).by_rows, 3, block_order::by_columns);
    const auto first = this->where.upload(blocks);
    const auto second = this->where.upload(others);
    const auto first_rows = this->where.upload(to_csr(blocks));
    const auto second_rows = this->where.upload(to_csr(others));
    const typename TestFixture::policy_type policy{};
    auto of_one = analyze_factors(policy, first, options, stream);
    auto rows_of_one = analyze_factors(policy, first_rows, options, stream);
    auto of_two = analyze_factors(policy, first, second, options, stream);
    auto rows_of_two = analyze_factors(policy, first_rows, second_rows, options, stream);
    of_two.update_values(first.values, second.values, stream);
    const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
    const auto applied = [&](auto& f) { return this->apply(f, op::none, single(p.size), b); };
    EXPECT_TRUE(same_bits(applied(of_one), applied(rows_of_one))) << name;
    EXPECT_TRUE(same_bits(applied(of_two), applied(rows_of_two))) << name;
  }
}

REGISTER_TYPED_TEST_SUITE_P(factors_suite, of_matrices_of_blocks, solve_with_both_factors, permute_and_scale,
                            apply_the_transpose, are_adjoint, follow_new_values,
                            follow_new_values_of_two_matrices, have_workspaces, say_what_they_met,
                            refuse_bad_input);

}  // namespace sptrsv::testing
