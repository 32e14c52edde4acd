// SPDX-License-Identifier: Apache-2.0
// The type in which a solver keeps the entries of a triangle: that of the values, or a narrower one.
#pragma once

#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::detail {

/// The scalar with the same form and single precision.
template <class Scalar>
struct single_of {
  using type = float;
};
template <class Real>
struct single_of<cplx<Real>> {
  using type = cplx<float>;
};

/// The type of a stored entry.
template <class Scalar, entry_storage Storage>
using stored_entry_t =
    std::conditional_t<Storage == entry_storage::as_values, Scalar, typename single_of<Scalar>::type>;

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

}  // namespace sptrsv::detail
