// Accesses to the user's complex numbers. They are compiled with -O2 -fstrict-aliasing
// (tests/CMakeLists.txt): the compiler then assumes that an access to a cplx and one to a std::complex never
// concern the same memory.
#include <gtest/gtest.h>

#include <complex>

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {
namespace {

#if defined(__GNUC__) || defined(__clang__)
#define SPTRSV_TEST_NOINLINE __attribute__((noinline))
#else
#define SPTRSV_TEST_NOINLINE
#endif

// In these functions both pointers are to the same number, which the compiler cannot know.

template <class Real>
SPTRSV_TEST_NOINLINE Real read_what_the_user_wrote(std::complex<Real>* user, cplx<Real>* scalar, Real v) {
  store_scalar(scalar, cplx<Real>{1, 1});
  *user = std::complex<Real>(v, v);
  return load_scalar(scalar).re;
}
template <class Real>
SPTRSV_TEST_NOINLINE Real write_what_the_user_reads(std::complex<Real>* user, cplx<Real>* scalar, Real v) {
  *user = std::complex<Real>(1, 1);
  store_scalar(scalar, cplx<Real>{v, v});
  return user->real() + user->imag();
}
template <class Real>
SPTRSV_TEST_NOINLINE Real in_a_loop(std::complex<Real>* user, cplx<Real>* scalar, Real v) {
  Real sum = 0;
  for (int i = 0; i < 4; ++i) {
    user[i] = std::complex<Real>(v, v);
    sum += load_scalar(scalar + i).re;
    store_scalar(scalar + i, cplx<Real>{v + 1, 0});
    sum += user[i].real();
  }
  return sum;
}

template <class Real>
class scalar_access : public ::testing::Test {};
using reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(scalar_access, reals);

TYPED_TEST(scalar_access, sees_what_the_user_writes_and_the_other_way_round) {
  std::complex<TypeParam> numbers[4] = {};
  cplx<TypeParam>* const scalars = as_scalar(numbers);
  EXPECT_EQ(read_what_the_user_wrote<TypeParam>(numbers, scalars, 2), 2);
  EXPECT_EQ(write_what_the_user_reads<TypeParam>(numbers, scalars, 2), 4);
  EXPECT_EQ(in_a_loop<TypeParam>(numbers, scalars, 2), 4 * (2 + 3));
}

TYPED_TEST(scalar_access, is_the_number_itself) {
  std::complex<TypeParam> number(3, -4);
  EXPECT_TRUE((load_scalar(as_scalar(&number)) == cplx<TypeParam>{3, -4}));
  store_scalar(as_scalar(&number), cplx<TypeParam>{5, 6});
  EXPECT_EQ(number, std::complex<TypeParam>(5, 6));
  TypeParam real = 7;
  EXPECT_EQ(load_scalar(as_scalar(&real)), 7);
  store_scalar(as_scalar(&real), TypeParam{8});
  EXPECT_EQ(real, 8);
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail
