// Sweeps, the same on every target: held against loops over the rows in a wide type.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/sweeps.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

template <class Policy, class Target, class Value, class Index = std::int32_t, class Offset = Index>
struct sweeps_case : case_types<Target, Value, Index, Offset> {
  using policy = Policy;

  static std::string name() {
    return std::string(Policy::name) + "_" + case_types<Target, Value, Index, Offset>::name();
  }
};
struct sweeps_case_names {
  template <class Case>
  static std::string GetName(int) {
    return Case::name();
  }
};

template <class Case>
class sweeps_suite : public on_target<Case> {
 public:
  using typename on_target<Case>::value_type;
  using typename on_target<Case>::matrix;
  using real = detail::real_t<value_type>;
  using number = std::complex<long double>;
  using policy_type = typename Case::policy;

  static matrix make_stored(const pattern& p, bool by_columns, std::uint64_t seed) {
    form f;
    f.by_columns = by_columns;
    f.holds = seed % 2 == 0 ? content::ascending : content::general;
    matrix a = on_target<Case>::make(p, f, seed);
    for (std::int64_t i = 0; i < p.size; ++i) {
      a.set(i, i, make_value<value_type>(4 + static_cast<double>(i % 3), 1));
    }
    return a;
  }

  /// Sweeps over the rows as textbooks do.
  static void reference(const matrix& a, double relaxation, bool forward, const std::vector<number>& b,
                        std::vector<number>& x) {
    const auto size = static_cast<std::size_t>(a.size());
    std::vector<std::vector<number>> dense(size, std::vector<number>(size));
    a.visit([&](const auto& stored) {
      const auto pattern = detail::pattern_of(stored.view());
      for (std::size_t m = 0; m < size; ++m) {
        for (auto e = pattern.offsets[m]; e < pattern.offsets[m + 1]; ++e) {
          const auto minor = static_cast<std::size_t>(pattern.indices[e]);
          const value_type v = a.values()[static_cast<std::size_t>(e)];
          dense[a.is_csc ? minor : m][a.is_csc ? m : minor] = {std::real(v), std::imag(v)};
        }
      }
    });
    const auto w = static_cast<long double>(relaxation);
    for (std::size_t step = 0; step < size; ++step) {
      const std::size_t i = forward ? step : size - 1 - step;
      number sum = b[i];
      for (std::size_t j = 0; j < size; ++j) {
        sum -= j == i ? number(0) : dense[i][j] * x[j];
      }
      x[i] = (1 - w) * x[i] + w * sum / dense[i][i];
    }
  }
  static std::vector<number> wide(const std::vector<value_type>& v, std::size_t begin, std::size_t count) {
    std::vector<number> made;
    for (std::size_t i = begin; i < begin + count; ++i) {
      made.push_back({std::real(v[i]), std::imag(v[i])});
    }
    return made;
  }
  /// The matrices are dominated by their diagonals, so errors do not grow.
  static void expect_near(const std::vector<value_type>& seen, std::size_t begin,
                          const std::vector<number>& expected, const std::string& name) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const number x(std::real(seen[begin + i]), std::imag(seen[begin + i]));
      ASSERT_LE(std::abs(x - expected[i]), 60 * std::numeric_limits<real>::epsilon())
          << name << ": row " << i;
    }
  }

  void check(const matrix& a, double relaxation, sweep_direction direction, int count,
             const std::string& name) {
    const auto size = static_cast<std::size_t>(a.size());
    const layout shape = column_major(a.size(), 2);
    const auto b = random_vector<value_type>(static_cast<std::int64_t>(shape.extent), 1);
    const auto start = random_vector<value_type>(static_cast<std::int64_t>(shape.extent), 2);
    a.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      auto s = analyze_sweeps(policy_type{}, there, {relaxation, true, 2}, this->where.stream());
      const auto from = this->where.upload(b);
      auto to = this->where.upload(start);
      s.relax(direction, shape.view(static_cast<const value_type*>(from.data())), shape.view(to.data()),
              count, this->where.stream());
      const auto relaxed = this->where.download(to);
      this->where.overwrite(to, b);  // in place
      s.apply(shape.view(static_cast<const value_type*>(to.data())), shape.view(to.data()),
              this->where.stream());
      const auto applied = this->where.download(to);
      EXPECT_TRUE(s.status(this->where.stream()).ok()) << name;
      for (std::size_t k = 0; k < 2; ++k) {
        const auto rhs = wide(b, k * size, size);
        auto x = wide(start, k * size, size);
        for (int i = 0; i < count; ++i) {
          if (direction != sweep_direction::backward) {
            reference(a, relaxation, true, rhs, x);
          }
          if (direction != sweep_direction::forward) {
            reference(a, relaxation, false, rhs, x);
          }
        }
        expect_near(relaxed, k * size, x, name);
        std::vector<number> z(size);
        reference(a, relaxation, true, rhs, z);
        reference(a, relaxation, false, rhs, z);
        expect_near(applied, k * size, z, name + ", applied");
      }
    });
  }
};
TYPED_TEST_SUITE_P(sweeps_suite);

TYPED_TEST_P(sweeps_suite, are_those_of_textbooks) {
  std::uint64_t turn = 0;
  for (const pattern& p : {patterns::stencil_2d(6, 5), patterns::random(40, 9, 1), patterns::dense(50),
                           patterns::dense(90), patterns::diagonal(1), patterns::diagonal(0)}) {
    for (const sweep_direction direction :
         {sweep_direction::forward, sweep_direction::backward, sweep_direction::symmetric}) {
      ++turn;
      const auto a = this->make_stored(p, turn % 2 == 0, turn);
      const double relaxations[] = {1, 1.5, 0.75};
      this->check(a, relaxations[turn / 3 % 3], direction, 1 + static_cast<int>(turn % 3), p.name);
    }
  }
}

TYPED_TEST_P(sweeps_suite, follow_new_values) {
  const pattern p = patterns::stencil_2d(6, 5);
  const auto stream = this->where.stream();
  for (const double relaxation : {1.0, 1.3}) {
    const auto old = this->make_stored(p, false, 2);
    const auto a = this->make_stored(p, false, 4);
    const auto there = this->where.upload(old.by_rows);
    auto s = analyze_sweeps(typename TestFixture::policy_type{}, there, {relaxation}, stream);
    const auto values = this->where.upload(a.values());
    s.update_values(values, stream);
    const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
    const auto from = this->where.upload(b);
    auto x = this->where.upload(b);
    s.relax(sweep_direction::symmetric, from, x, 2, stream);
    auto expected = this->wide(b, 0, b.size());
    for (int k = 0; k < 4; ++k) {
      this->reference(a, relaxation, k % 2 == 0, this->wide(b, 0, b.size()), expected);
    }
    this->expect_near(this->where.download(x), 0, expected, "new values");
  }
}

TYPED_TEST_P(sweeps_suite, refuse_bad_input_and_name_rows) {
  const auto stream = this->where.stream();
  auto a = this->make_stored(patterns::chain(6), false, 2);
  const typename TestFixture::policy_type chosen;
  const auto there = this->where.upload(a.by_rows);
  for (const double bad : {0.0, 2.0, -1.0, std::nan("")}) {
    const auto seen = failure::of([&] { analyze_sweeps(chosen, there, {bad}, stream); });
    ASSERT_TRUE(seen.has_value()) << bad;
    EXPECT_EQ(seen->code, errc::invalid_argument);
  }
  const auto values = random_vector<typename TestFixture::value_type>(6, 1);
  const auto b = this->where.upload(values);
  auto x = this->where.upload(values);
  auto preconditioner = analyze_sweeps(chosen, there, {1, false}, stream);
  const auto seen = failure::of([&] { preconditioner.relax(sweep_direction::forward, b, x, 1, stream); });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->code, errc::invalid_argument);
  auto smoother = analyze_sweeps(chosen, there, {1.5}, stream);
  EXPECT_EQ(failure::of([&] { smoother.update_values(b, stream); })->code, errc::size_mismatch);
  EXPECT_GT(smoother.info().bytes, preconditioner.info().bytes);

  a.set(3, 3, 0);
  const auto changed = this->where.upload(a.values());
  smoother.update_values(changed, stream);
  smoother.relax(sweep_direction::forward, b, x, 1, stream);
  const factors_status status = smoother.status(stream);
  EXPECT_EQ(status.code, solve_status::kind::zero_pivot);
  EXPECT_EQ(status.part, factor_part::first);
  EXPECT_EQ(status.row, 3);
}

/// A matrix of blocks gives the bits of the same matrix by single rows.
TYPED_TEST_P(sweeps_suite, of_matrices_of_blocks) {
  const pattern p = patterns::stencil_2d(6, 5);
  const auto stream = this->where.stream();
  const auto blocks = to_bsr(this->make_stored(p, false, 2).by_rows, 3, block_order::by_columns);
  const auto there = this->where.upload(blocks);
  const auto rows_there = this->where.upload(to_csr(blocks));
  const auto b = random_vector<typename TestFixture::value_type>(p.size, 1);
  const auto from = this->where.upload(b);
  const auto relaxed = [&](const auto& a) {
    auto s = analyze_sweeps(typename TestFixture::policy_type{}, a, {1.3, true}, stream);
    s.update_values(a.values, stream);
    auto x = this->where.upload(b);
    s.relax(sweep_direction::symmetric, from, x, 2, stream);
    return this->where.download(x);
  };
  EXPECT_TRUE(same_bits(relaxed(there), relaxed(rows_there)));
}

REGISTER_TYPED_TEST_SUITE_P(sweeps_suite, of_matrices_of_blocks, are_those_of_textbooks, follow_new_values,
                            refuse_bad_input_and_name_rows);

}  // namespace sptrsv::testing
