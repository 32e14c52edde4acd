// SPDX-License-Identifier: Apache-2.0
// The components of a row for several right-hand sides together. Kernels that take a scalar also take a pack.
#pragma once

#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// One scalar for each of `Columns` right-hand sides. The alignment lets one instruction move up to 16 bytes.
template <class Scalar, int Columns>
struct alignas(sizeof(Scalar) * Columns < 16 ? sizeof(Scalar) * Columns : 16) rhs_pack {
  static_assert(Columns > 1 && (Columns & (Columns - 1)) == 0,
                "a pack has a power of two of right-hand sides");
  array_of<Scalar, Columns> of;

  friend SPTRSV_HOST_DEVICE rhs_pack operator+(const rhs_pack& a, const rhs_pack& b) {
    return map([&](int k) { return a.of[k] + b.of[k]; });
  }
  friend SPTRSV_HOST_DEVICE rhs_pack operator-(const rhs_pack& a, const rhs_pack& b) {
    return map([&](int k) { return a.of[k] - b.of[k]; });
  }
  friend SPTRSV_HOST_DEVICE rhs_pack operator*(const rhs_pack& a, Scalar b) {
    return map([&](int k) { return a.of[k] * b; });
  }
  friend SPTRSV_HOST_DEVICE rhs_pack operator*(Scalar a, const rhs_pack& b) {
    return map([&](int k) { return a * b.of[k]; });
  }
  friend SPTRSV_HOST_DEVICE rhs_pack divide(const rhs_pack& a, Scalar b) {
    return map([&](int k) { return divide(a.of[k], b); });
  }

 private:
  /// Returns the pack whose element k is function(k).
  template <class Function>
  SPTRSV_HOST_DEVICE static rhs_pack map(const Function& function) {
    rhs_pack made;
    for (int k = 0; k < Columns; ++k) {
      made.of[k] = function(k);
    }
    return made;
  }
};

/// A pack is its own scalar type in kernels; its real type is that of its elements.
template <class Scalar, int Columns>
struct scalar_traits<rhs_pack<Scalar, Columns>> {
  using real = real_t<Scalar>;
  using scalar = rhs_pack<Scalar, Columns>;
};

/// Type of a component of x in a kernel that solves for `Columns` right-hand sides at a time.
template <class Scalar, int Columns>
using unknown_t = std::conditional_t<Columns == 1, Scalar, rhs_pack<Scalar, Columns>>;

/// Returns the number of right-hand sides to solve together: at most `max_rhs`, and at most as many as fit a
/// 32-byte sector of memory. More would only take registers.
template <class Scalar>
constexpr int rhs_in_sector(int max_rhs) {
  constexpr int fit = 32 / static_cast<int>(sizeof(Scalar));
  return max_rhs < fit ? max_rhs : fit;
}

/// Returns whether all elements are finite.
template <class Scalar, int Columns>
SPTRSV_HOST_DEVICE bool is_finite(const rhs_pack<Scalar, Columns>& unknown) {
  bool finite = true;
  for (int k = 0; k < Columns; ++k) {
    finite = finite && is_finite(unknown.of[k]);
  }
  return finite;
}

/// Returns element `k` of a component: of a pack, or the scalar itself.
template <class Scalar>
SPTRSV_HOST_DEVICE Scalar& rhs_value(Scalar& unknown, int) {
  return unknown;
}
template <class Scalar, int Columns>
SPTRSV_HOST_DEVICE Scalar& rhs_value(rhs_pack<Scalar, Columns>& unknown, int k) {
  return unknown.of[k];
}

}  // namespace sptrsv::SPTRSV_ABI::detail
