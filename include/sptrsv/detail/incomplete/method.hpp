// SPDX-License-Identifier: Apache-2.0
// What the incomplete factorisations on host and device share: the methods, what is done to pivots, and the
// interface of the engines.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI {

/// How an incomplete factorisation is made.
enum class incomplete_method {
  lu,       ///< A ~ L U; L has a unit diagonal
  cholesky  ///< A ~ L L^H; entries above the diagonal are not used
};

namespace detail::incomplete {

using method = incomplete_method;

/// Name of a method in messages.
template <method Method>
inline constexpr const char* name = Method == method::lu ? "incomplete_lu" : "incomplete_cholesky";

/// What a factorisation does to diagonal entries of A and to pivots, in the precision of the factors.
template <class Scalar>
struct pivot_rule {
  using real = real_t<Scalar>;

  real diagonal_factor;  ///< factor of the diagonal entries of A
  real boost_below;      ///< pivots up to this magnitude are replaced; negative: none is
  real boost_to;         ///< what replaces them

  /// Returns the rule that pivot_options describe. Throws if they are wrong.
  template <class Options>
  static pivot_rule of(const Options& pivots) {
    const auto check = [](double value, const char* what) {
      SPTRSV_EXPECTS(value >= 0 && value <= static_cast<double>(std::numeric_limits<real>::max()),
                     errc::invalid_argument,
                     std::string("pivot_options: ") + what + " is negative or not finite in this precision");
    };
    check(pivots.diagonal_shift, "diagonal_shift");
    check(pivots.boost_below, "boost_below");
    check(pivots.boost_to, "boost_to");
    return {static_cast<real>(1 + pivots.diagonal_shift),
            static_cast<real>(pivots.boost_to > 0 ? pivots.boost_below : -1.0),
            static_cast<real>(pivots.boost_to)};
  }

  SPTRSV_HOST_DEVICE Scalar shifted(Scalar diagonal) const {
    if constexpr (is_complex_v<Scalar>) {
      return {diagonal.re * diagonal_factor, diagonal.im * diagonal_factor};
    } else {
      return diagonal * diagonal_factor;
    }
  }
};

/// Where a factorisation breaks down, as one number: the numbers ascend with the row, and a zero pivot comes
/// before another value that is not finite.
struct breakdown {
  std::int64_t row;
  bool is_zero_pivot;

  SPTRSV_HOST_DEVICE std::int64_t number() const { return 2 * row + (is_zero_pivot ? 0 : 1); }
};

/// Returns |v|^2.
template <class Scalar>
SPTRSV_HOST_DEVICE real_t<Scalar> squared(Scalar v) {
  if constexpr (is_complex_v<Scalar>) {
    return v.re * v.re + v.im * v.im;
  } else {
    return v * v;
  }
}

/// Returns 1 / sqrt(v) with an error of at most 2 ulp: infinite for 0, and NaN for a negative number.
SPTRSV_HOST_DEVICE float reciprocal_root(float v) { return 1 / std::sqrt(v); }
SPTRSV_HOST_DEVICE double reciprocal_root(double v) {
#if defined(__CUDA_ARCH__)
  return rsqrt(v);
#else
  return 1 / std::sqrt(v);
#endif
}

/// Returns the pivot, which may be boosted; for Cholesky its square. `value`: of the diagonal entry after all
/// steps; `square_sum`: for Cholesky, what is still to be subtracted from it.
template <method Method, class Scalar>
SPTRSV_HOST_DEVICE Scalar boosted_pivot(const pivot_rule<Scalar>& rule, Scalar value,
                                        real_t<Scalar> square_sum, bool& boosted) {
  if constexpr (Method == method::lu) {
    boosted = magnitude(value) <= rule.boost_below;
    return boosted ? from_real<Scalar>(rule.boost_to) : value;
  } else {
    const real_t<Scalar> square = real_part(value) - square_sum;
    boosted = rule.boost_below >= 0 && square <= rule.boost_below;
    return from_real<Scalar>(boosted ? rule.boost_to : square);
  }
}

/// Returns the status of a factorisation. `first_breakdown`: number of its first breakdown; -1: there is
/// none.
inline factor_status status_of(std::int64_t first_breakdown, std::int64_t boosted_pivots) {
  factor_status made;
  made.boosted_pivots = boosted_pivots;
  if (first_breakdown >= 0) {
    made.code = first_breakdown % 2 == 0 ? solve_status::kind::zero_pivot : solve_status::kind::non_finite;
    made.row = first_breakdown / 2;
  }
  return made;
}

/// The host side of a factorisation; Scalar is scalar_t<Value>. The second one is for the host.
///
///   engine(const pattern_view<Index, Offset>&, executor, resource);
///   void factorize(const Scalar* values, const pivot_rule<Scalar>&, executor);  // only enqueues
///   const Scalar* factors() const;                                              // by stored entry
///   factor_status status(executor) const;                                       // synchronises
///   void describe(incomplete_info&, executor) const;
template <class Tuning, method Method, class Scalar, class Index, class Offset, class Executor>
class engine;

}  // namespace detail::incomplete
}  // namespace sptrsv::SPTRSV_ABI
