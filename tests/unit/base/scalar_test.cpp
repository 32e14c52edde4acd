// The scalars of the kernels: complex pairs, and division.
#include "sptrsv/detail/base/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "support/layout.hpp"
#include "support/random.hpp"

namespace sptrsv::SPTRSV_ABI::detail {
namespace {

using sptrsv::testing::from_bytes;
using sptrsv::testing::random_source;

template <class Real>
class real_numbers : public ::testing::Test {};
using reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(real_numbers, reals);

TYPED_TEST(real_numbers, is_finite_tests_the_exponent) {
  using limits = std::numeric_limits<TypeParam>;
  for (const TypeParam v :
       {TypeParam{0}, limits::min(), limits::denorm_min(), limits::max(), -limits::max()}) {
    EXPECT_TRUE(is_finite(v));
    EXPECT_TRUE(is_finite(cplx<TypeParam>{v, v}));
  }
  for (const TypeParam v :
       {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), from_bytes<TypeParam>(0xff)}) {
    EXPECT_FALSE(is_finite(v));
    EXPECT_FALSE(is_finite(cplx<TypeParam>{v, 0}));
    EXPECT_FALSE(is_finite(cplx<TypeParam>{0, v}));
  }
}

/// The product with the reciprocal differs from the quotient by one ulp at most, and not at all if the
/// quotient is Inf or NaN.
TYPED_TEST(real_numbers, pivot_divisor_divides) {
  using limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> numbers = {0,
                                          -TypeParam{0},
                                          1,
                                          -3,
                                          limits::min(),
                                          limits::min() / 4,
                                          limits::denorm_min(),
                                          limits::max(),
                                          -limits::max() / 2,
                                          limits::infinity(),
                                          -limits::infinity(),
                                          limits::quiet_NaN()};
  for (const TypeParam pivot : numbers) {
    const pivot_divisor<TypeParam> divide_by(pivot);
    for (const TypeParam dividend : numbers) {
      const TypeParam expected = dividend / pivot;
      const TypeParam seen = divide_by(dividend);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(seen)) << dividend << " / " << pivot;
      } else if (std::isinf(expected) || expected == 0) {
        EXPECT_EQ(seen, expected) << dividend << " / " << pivot;
        EXPECT_EQ(std::signbit(seen), std::signbit(expected)) << dividend << " / " << pivot;
      } else {
        EXPECT_LE(std::fabs(seen - expected), 2 * limits::epsilon() * std::fabs(expected))
            << dividend << " / " << pivot;
      }
    }
  }
}

TYPED_TEST(real_numbers, complex_division_does_not_overflow_early) {
  using limits = std::numeric_limits<TypeParam>;
  using complex = cplx<TypeParam>;
  random_source source(1);
  for (const TypeParam scale : {TypeParam{1}, limits::max() / 8, limits::min() * 8}) {
    for (int i = 0; i < 200; ++i) {
      const auto part = [&] { return static_cast<TypeParam>(source.between(-1, 1)) * scale; };
      const complex divisor{part(), part()};
      const complex quotient{static_cast<TypeParam>(source.between(-1, 1)),
                             static_cast<TypeParam>(source.between(-1, 1))};
      const complex product = quotient * divisor;
      const complex seen = divide(product, divisor);
      // Products of values near the smallest one lose digits.
      const TypeParam tolerance = scale < 1 ? static_cast<TypeParam>(0.2) : 64 * limits::epsilon();
      EXPECT_NEAR(seen.re, quotient.re, tolerance);
      EXPECT_NEAR(seen.im, quotient.im, tolerance);
      if (scale == 1) {
        const complex by_pivot = pivot_divisor<complex>(divisor)(product);
        EXPECT_NEAR(by_pivot.re, quotient.re, tolerance);
        EXPECT_NEAR(by_pivot.im, quotient.im, tolerance);
      }
    }
  }
  const complex by_zero = divide(complex{1, 0}, complex{0, 0});
  EXPECT_FALSE(is_finite(by_zero));
}

TEST(ScalarTraits, MapEveryComplexClassToOnePair) {
  static_assert(std::is_same_v<scalar_t<std::complex<float>>, cplx<float>>);
  static_assert(std::is_same_v<scalar_t<const std::complex<double>>, cplx<double>>);
  static_assert(std::is_same_v<scalar_t<cplx<double>>, cplx<double>>);
  static_assert(std::is_same_v<scalar_t<double>, double>);
  static_assert(std::is_same_v<real_t<std::complex<float>>, float>);
  const std::complex<double> z(3, -4);
  EXPECT_EQ(load_scalar(as_scalar(&z)).re, 3);
  EXPECT_EQ(load_scalar(as_scalar(&z)).im, -4);
  EXPECT_EQ(conjugate(load_scalar(as_scalar(&z))).im, 4);
  EXPECT_EQ(conjugate(2.5), 2.5);
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail
