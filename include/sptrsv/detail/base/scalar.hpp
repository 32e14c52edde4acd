// SPDX-License-Identifier: Apache-2.0
// The scalar types of kernels. All complex types of the interface become one plain pair, so that std::complex
// and cuda::std::complex share their kernels and no kernel needs an operator that exists on the host only.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sptrsv/types.hpp"

// What the compiler is told of functions and loops in device code. Without nvcc they are ordinary ones.
#ifdef __CUDACC__
#define SPTRSV_DEVICE __device__ __forceinline__
#define SPTRSV_HOST_DEVICE __host__ __device__ __forceinline__
#define SPTRSV_UNROLL _Pragma("unroll")
#define SPTRSV_NO_UNROLL _Pragma("unroll 1")
#else
#define SPTRSV_DEVICE inline
#define SPTRSV_HOST_DEVICE inline
#define SPTRSV_UNROLL
#define SPTRSV_NO_UNROLL
#endif

/// Stand around SPTRSV_HOST_DEVICE templates that call a context: nvcc would warn that the functions of the
/// device's context do not run on the host, and those of the host's context not on the device.
#ifdef __CUDACC__
#define SPTRSV_BEGIN_ANY_CONTEXT _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 20011, 20014")
#define SPTRSV_END_ANY_CONTEXT _Pragma("nv_diagnostic pop")
#else
#define SPTRSV_BEGIN_ANY_CONTEXT
#define SPTRSV_END_ANY_CONTEXT
#endif

namespace sptrsv::SPTRSV_ABI::detail {

/// A complex number, real part first: the layout that std::complex guarantees.
template <class Real>
struct cplx {
  Real re;
  Real im;

  friend SPTRSV_HOST_DEVICE cplx operator+(cplx a, cplx b) { return {a.re + b.re, a.im + b.im}; }
  friend SPTRSV_HOST_DEVICE cplx operator-(cplx a, cplx b) { return {a.re - b.re, a.im - b.im}; }
  friend SPTRSV_HOST_DEVICE cplx operator*(cplx a, cplx b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend SPTRSV_HOST_DEVICE bool operator==(cplx a, cplx b) { return a.re == b.re && a.im == b.im; }
};

/// Maps a value type of the interface to its real type and to the scalar type that kernels compute with.
template <class Value, class = void>
struct scalar_traits;

template <class Value>
struct scalar_traits<Value, std::enable_if_t<std::is_same_v<Value, float> || std::is_same_v<Value, double>>> {
  using real = Value;
  using scalar = Value;
};
/// For complex classes with the layout of std::complex: std::, cuda::std:: and thrust::complex.
template <class Value>
struct scalar_traits<Value, std::enable_if_t<std::is_floating_point_v<typename Value::value_type>>> {
  static_assert(sizeof(Value) == 2 * sizeof(typename Value::value_type), "not a complex number");
  using real = typename Value::value_type;
  using scalar = cplx<real>;
};
template <class Real>
struct scalar_traits<cplx<Real>> {
  using real = Real;
  using scalar = cplx<Real>;
};

template <class Value>
using scalar_t = typename scalar_traits<std::remove_cv_t<Value>>::scalar;
template <class Value>
using real_t = typename scalar_traits<std::remove_cv_t<Value>>::real;

template <class Scalar>
inline constexpr bool is_complex_v = !std::is_same_v<Scalar, real_t<Scalar>>;

/// The type of a stored entry: the scalar, or one of the same form and single precision.
template <class Scalar, entry_storage Storage>
using stored_entry_t = std::conditional_t<Storage == entry_storage::as_values, Scalar,
                                          std::conditional_t<is_complex_v<Scalar>, cplx<float>, float>>;

/// Returns the number as a To. It is rounded if To is narrower.
template <class To, class From>
SPTRSV_HOST_DEVICE To entry_cast(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_complex_v<From>) {
    return {static_cast<real_t<To>>(v.re), static_cast<real_t<To>>(v.im)};
  } else {
    return static_cast<To>(v);
  }
}

/// Returns the object of type To that has the bits of `from`; std::bit_cast of C++20.
template <class To, class From>
SPTRSV_HOST_DEVICE To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// Returns the complex conjugate; the value itself if it is real.
SPTRSV_HOST_DEVICE float conjugate(float v) { return v; }
SPTRSV_HOST_DEVICE double conjugate(double v) { return v; }
template <class Real>
SPTRSV_HOST_DEVICE cplx<Real> conjugate(cplx<Real> v) {
  return {v.re, -v.im};
}

SPTRSV_HOST_DEVICE float real_part(float v) { return v; }
SPTRSV_HOST_DEVICE double real_part(double v) { return v; }
template <class Real>
SPTRSV_HOST_DEVICE Real real_part(cplx<Real> v) {
  return v.re;
}

SPTRSV_BEGIN_ANY_CONTEXT
/// Loads an index or an offset as the type that rows and entries are counted in.
template <class Context, class Index>
SPTRSV_HOST_DEVICE std::int64_t load_index(Context& ctx, const Index* p) {
  return static_cast<std::int64_t>(ctx.load_constant(p));
}
SPTRSV_END_ANY_CONTEXT

/// Returns a value of the stored matrix, which does not change during the launch, as the system has it.
template <class Context, class Scalar>
SPTRSV_DEVICE Scalar load_value(Context& ctx, const Scalar* stored, bool conjugated) {
  const Scalar value = ctx.load_constant(stored);
  return conjugated ? conjugate(value) : value;
}

/// Returns whether the value is neither infinite nor NaN. It tests the exponent bits, so the result is right
/// under any floating-point option of the compiler.
SPTRSV_HOST_DEVICE bool is_finite(float v) {
  return (bit_cast<std::uint32_t>(v) & 0x7f800000u) != 0x7f800000u;
}
SPTRSV_HOST_DEVICE bool is_finite(double v) {
  return (bit_cast<std::uint64_t>(v) & 0x7ff0000000000000u) != 0x7ff0000000000000u;
}
template <class Real>
SPTRSV_HOST_DEVICE bool is_finite(cplx<Real> v) {
  return is_finite(v.re) && is_finite(v.im);
}

/// Returns a number between the absolute value and 1.5 times the absolute value.
SPTRSV_HOST_DEVICE float magnitude(float v) { return std::fabs(v); }
SPTRSV_HOST_DEVICE double magnitude(double v) { return std::fabs(v); }
template <class Real>
SPTRSV_HOST_DEVICE Real magnitude(cplx<Real> v) {
  return std::fabs(v.re) + std::fabs(v.im);
}

/// Returns whether a multiplication with the reciprocal `v` may replace the division: `v` is finite and not
/// subnormal, so it has all its digits.
SPTRSV_HOST_DEVICE bool is_safe_factor(float v) { return is_finite(v) && std::fabs(v) >= 1.17549435e-38f; }
SPTRSV_HOST_DEVICE bool is_safe_factor(double v) {
  return is_finite(v) && std::fabs(v) >= 2.2250738585072014e-308;
}

template <class Real>
SPTRSV_HOST_DEVICE bool is_safe_factor(cplx<Real> v) {
  return is_finite(v) && is_safe_factor(std::fabs(v.re) + std::fabs(v.im));
}

/// Returns a / b.
SPTRSV_HOST_DEVICE float divide(float a, float b) { return a / b; }
SPTRSV_HOST_DEVICE double divide(double a, double b) { return a / b; }
/// Returns a / b by Smith's algorithm, which overflows only where the quotient does, except for extreme
/// ratios. If `b` is zero, both parts are divided by zero: Inf or NaN, as in real arithmetic.
template <class Real>
SPTRSV_HOST_DEVICE cplx<Real> divide(cplx<Real> a, cplx<Real> b) {
  if (b.re == Real{0} && b.im == Real{0}) {
    return {a.re / b.re, a.im / b.re};
  }
  if (std::fabs(b.re) >= std::fabs(b.im)) {
    const Real ratio = b.im / b.re;
    const Real denominator = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / denominator, (a.im - a.re * ratio) / denominator};
  }
  const Real ratio = b.re / b.im;
  const Real denominator = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / denominator, (a.im * ratio - a.re) / denominator};
}

/// Returns the NaN that kernels store instead of a reciprocal that must not replace the division. A product
/// with it is not finite, and the kernel then divides.
template <class Scalar>
SPTRSV_HOST_DEVICE Scalar must_divide() {
  return divide(Scalar{}, Scalar{});
}

/// Returns the real number `v` as a Scalar.
template <class Scalar>
SPTRSV_HOST_DEVICE Scalar from_real(real_t<Scalar> v) {
  if constexpr (is_complex_v<Scalar>) {
    return {v, 0};
  } else {
    return v;
  }
}

/// Divides by a pivot that is known long before the dividend. The constructor computes the reciprocal, which
/// is the slow part. If it is not safe, operator() divides: no pivot gives a wrong Inf or NaN.
template <class Scalar>
class pivot_divisor {
 public:
  /// Computes the reciprocal.
  SPTRSV_HOST_DEVICE explicit pivot_divisor(Scalar pivot)
      : pivot_(pivot), reciprocal_(divide(one(), pivot)), safe_(is_safe_factor(reciprocal_)) {}
  /// Returns whether a multiplication with the reciprocal may replace the division.
  SPTRSV_HOST_DEVICE bool is_safe() const { return safe_; }
  SPTRSV_HOST_DEVICE Scalar reciprocal() const { return reciprocal_; }

  /// Returns dividend / pivot.
  SPTRSV_HOST_DEVICE Scalar operator()(Scalar dividend) const {
    return safe_ ? dividend * reciprocal_ : divide(dividend, pivot_);
  }

  /// Returns 1, the pivot of a unit diagonal.
  static SPTRSV_HOST_DEVICE Scalar one() { return from_real<Scalar>(1); }

 private:
  Scalar pivot_;
  Scalar reciprocal_;
  bool safe_;
};

/// Returns the array of the user as an array of the kernels' scalar type. Its elements remain objects of the
/// user's type, and a compiler for the host may assume that no access to a cplx changes them. So code of the
/// host accesses them by load_scalar and store_scalar only.
template <class Value>
scalar_t<Value>* as_scalar(Value* p) {
  return reinterpret_cast<scalar_t<Value>*>(p);
}
template <class Value>
const scalar_t<Value>* as_scalar(const Value* p) {
  return reinterpret_cast<const scalar_t<Value>*>(p);
}

/// Returns an element of an array from as_scalar. The parts of a complex number are accessed as real numbers,
/// which C++ permits for std::complex ([complex.numbers.general]).
template <class Scalar>
Scalar load_scalar(const Scalar* p) {
  if constexpr (is_complex_v<Scalar>) {
    const auto* const parts = reinterpret_cast<const real_t<Scalar>*>(p);
    return {parts[0], parts[1]};
  } else {
    return *p;
  }
}
/// Stores an element to an array from as_scalar.
template <class Scalar>
void store_scalar(Scalar* p, Scalar v) {
  if constexpr (is_complex_v<Scalar>) {
    auto* const parts = reinterpret_cast<real_t<Scalar>*>(p);
    parts[0] = v.re;
    parts[1] = v.im;
  } else {
    *p = v;
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail
