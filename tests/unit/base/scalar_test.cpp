// The scalars of the kernels: division, and the value that is its own flag.
#include "sptrsv/detail/base/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "emulator/test/support.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"
#include "support/layout.hpp"
#include "support/random.hpp"

namespace sptrsv::detail {
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
      const TypeParam tolerance = scale < 1 ? TypeParam{0.2} : 64 * limits::epsilon();
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
  EXPECT_EQ(as_scalar(&z)->re, 3);
  EXPECT_EQ(as_scalar(&z)->im, -4);
  EXPECT_EQ(conjugate(*as_scalar(&z)).im, 4);
  EXPECT_EQ(conjugate(2.5), 2.5);
}

// --- the flag
// -----------------------------------------------------------------------------------------------

template <class Scalar>
class flags : public ::testing::Test {};
using scalars = ::testing::Types<float, double, cplx<float>, cplx<double>>;
TYPED_TEST_SUITE(flags, scalars);

/// A published value never reads as pending, and passes unchanged unless it has the reserved bits.
TYPED_TEST(flags, pass_every_value_on) {
  using flag = value_flag<TypeParam>;
  using word = typename flag::word;
  using namespace sptrsv::emulator::testing;
  std::vector<TypeParam> numbers;
  for (const unsigned char byte : {0x00, 0x3f, 0x7f, 0x80, 0xbf, 0xfe, 0xff}) {
    numbers.push_back(from_bytes<TypeParam>(byte));
  }
  TypeParam half_reserved = from_bytes<TypeParam>(0x3f);  // only the last word is reserved
  std::memset(reinterpret_cast<unsigned char*>(&half_reserved) + sizeof(TypeParam) - sizeof(word), 0xff,
              sizeof(word));
  numbers.push_back(half_reserved);

  emulator::device d(with_schedule(emulator::schedule::random, 0, 5));
  const emulator::executor on(&d);
  const std::size_t words = numbers.size() * flag::words;
  const auto memory = to_device(on, std::vector<word>(words, flag::pending));
  const auto in = to_device(on, numbers);
  const auto out = uninitialised<TypeParam>(on, numbers.size());
  launch<64>(on, 1,
             [=, memory = memory.data(), in = in.data(), out = out.data(), count = numbers.size()](auto& ctx,
                                                                                                   nothing&) {
               const auto i = static_cast<std::size_t>(ctx.thread_rank() / 2);
               if (i < count && ctx.thread_rank() % 2 == 0) {
                 flag::publish(ctx, memory + i * flag::words, ctx.load_constant(in + i));
               } else if (i < count) {
                 const auto seen = flag::try_load(ctx, memory + i * flag::words);
                 ctx.store(out + i, flag::wait(ctx, memory + i * flag::words, seen));
               }
             });
  const auto passed = to_host(on, out);
  const auto stored = to_host(on, memory);
  for (const word w : stored) {
    EXPECT_NE(w, flag::pending);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    word sent[flag::words];
    word got[flag::words];
    std::memcpy(sent, &numbers[i], sizeof(sent));
    std::memcpy(got, &passed[i], sizeof(got));
    for (int w = 0; w < flag::words; ++w) {
      EXPECT_EQ(got[w], sent[w] == flag::pending ? flag::canonical_nan : sent[w]) << i << ", word " << w;
    }
  }
  real_t<TypeParam> nan;
  const word canonical = flag::canonical_nan;
  std::memcpy(&nan, &canonical, sizeof(nan));
  EXPECT_TRUE(std::isnan(nan));
}

}  // namespace
}  // namespace sptrsv::detail
