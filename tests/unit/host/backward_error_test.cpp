// The oracle of the solver's tests refuses wrong solutions.
#include "sptrsv/host/backward_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "sptrsv/policy/host_serial.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {
namespace {

template <class Value>
class oracle : public ::testing::Test {
 public:
  using real = detail::real_t<Value>;

  static backward_error_result error_of(const stored_matrix<Value, std::int32_t, std::int32_t>& a,
                                        const form& f, const std::vector<Value>& b,
                                        const std::vector<Value>& x, Value alpha = Value(1)) {
    return a.visit([&](const auto& m) { return backward_error(m, f.options(), b, x, alpha); });
  }
  static std::vector<Value> solve(const stored_matrix<Value, std::int32_t, std::int32_t>& a, const form& f,
                                  const std::vector<Value>& b, Value alpha = Value(1)) {
    std::vector<Value> x(b.size());
    a.visit([&](const auto& m) {
      auto solver = analyze(policy::host_serial{}, m, f.options());
      solver.solve(b, x, alpha);
    });
    return x;
  }
};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(oracle, value_types);

TYPED_TEST(oracle, accepts_substitution_and_refuses_the_smallest_wrong_entry) {
  const pattern p = patterns::random(40, 4, 1);
  const auto b = random_vector<TypeParam>(40, 2);
  for (const content holds : {content::triangle, content::general}) {
    for (const form& f : all_forms(holds)) {
      const auto a = make_matrix<TypeParam>(p, f);
      const auto x = this->solve(a, f, b);
      const auto good = this->error_of(a, f, b, x);
      EXPECT_TRUE(good.ok()) << f.name() << ": " << good.error;
      EXPECT_LT(good.bound, 1e-3);
      for (const std::size_t i : {0U, 17U, 39U}) {
        auto wrong = x;
        wrong[i] += make_value<TypeParam>(8 * good.bound * (1 + std::abs(x[i])));
        EXPECT_FALSE(this->error_of(a, f, b, wrong).ok()) << f.name() << ", component " << i;
      }
    }
  }
}

TYPED_TEST(oracle, refuses_the_solution_of_another_system) {
  const pattern p = patterns::random(40, 4, 1);
  const auto b = random_vector<TypeParam>(40, 2);
  const auto forms = all_forms(content::general);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto a = make_matrix<TypeParam>(p, forms[i]);
    const auto x = this->solve(a, forms[i], b);
    for (std::size_t j = 0; j < forms.size(); ++j) {
      const bool conjugated_only = !is_complex<TypeParam> && forms[i].operation != op::none &&
                                   forms[j].operation != op::none && forms[i].part == forms[j].part &&
                                   forms[i].diagonal == forms[j].diagonal;
      if (i == j || conjugated_only || forms[i].by_columns != forms[j].by_columns) {
        continue;
      }
      EXPECT_FALSE(this->error_of(a, forms[j], b, x).ok()) << forms[i].name() << " / " << forms[j].name();
    }
  }
}

TYPED_TEST(oracle, knows_alpha) {
  const pattern p = patterns::stencil_2d(5, 6);
  const auto a = make_matrix<TypeParam>(p, {});
  const auto b = random_vector<TypeParam>(30, 2);
  const TypeParam alpha = make_value<TypeParam>(-2.5, 1);
  const auto x = this->solve(a, {}, b, alpha);
  EXPECT_TRUE(this->error_of(a, {}, b, x, alpha).ok());
  EXPECT_FALSE(this->error_of(a, {}, b, x).ok());
  EXPECT_FALSE(this->error_of(a, {}, b, this->solve(a, {}, b), alpha).ok());
}

TYPED_TEST(oracle, refuses_what_is_not_finite) {
  const auto a = make_matrix<TypeParam>(patterns::diagonal(5), {});
  const auto b = random_vector<TypeParam>(5, 2);
  const auto x = this->solve(a, {}, b);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (std::size_t i = 0; i < 5; ++i) {
      auto wrong = x;
      wrong[i] = make_value<TypeParam>(bad);
      const auto result = this->error_of(a, {}, b, wrong);
      EXPECT_FALSE(result.ok());
      EXPECT_TRUE(std::isinf(result.error));
    }
  }
}

TYPED_TEST(oracle, looks_at_every_right_hand_side_through_its_strides) {
  const pattern p = patterns::band(20, 3);
  const auto a = make_matrix<TypeParam>(p, {});
  const layout shape = row_major(20, 4, 3);
  const auto b = random_vector<TypeParam>(static_cast<std::int64_t>(shape.extent), 2);
  std::vector<TypeParam> x(shape.extent, from_bytes<TypeParam>(0xff));
  auto solver =
      analyze(policy::host_serial{}, a.by_rows, system_options{uplo::lower, diag::non_unit, op::none, 4});
  solver.solve(shape.view(b.data()), shape.view(x.data()));
  const auto error = [&] {
    return backward_error(a.by_rows, {}, shape.view(static_cast<const TypeParam*>(b.data())),
                          shape.view(static_cast<const TypeParam*>(x.data())));
  };
  EXPECT_TRUE(error().ok());
  for (std::int64_t j = 0; j < 4; ++j) {
    TypeParam& component = x[shape.at(19, j)];
    const TypeParam right = component;
    component += make_value<TypeParam>(0.01);
    EXPECT_FALSE(error().ok()) << "column " << j;
    component = right;
  }
}

TEST(BackwardError, OfNothingIsZero) {
  const auto a = make_matrix<double>(patterns::diagonal(0), {});
  EXPECT_TRUE(oracle<double>::error_of(a, {}, {}, {}).ok());
  const auto one = make_matrix<double>(patterns::diagonal(1), {});
  EXPECT_EQ(oracle<double>::error_of(one, {}, {0.0}, {0.0}).error, 0.0);
}

}  // namespace
}  // namespace sptrsv::testing
