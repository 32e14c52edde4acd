// The unknowns of a row for several right-hand sides side by side, which are solved together: one scalar to
// the kernels that take either.
#pragma once

#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::detail {

/// One scalar for each of `Columns` right-hand sides. Aligned so that one instruction moves 16 bytes of it.
template <class Scalar, int Columns>
struct alignas(sizeof(Scalar) * Columns < 16 ? sizeof(Scalar) * Columns : 16) rhs_pack {
  static_assert(Columns > 1 && (Columns & (Columns - 1)) == 0);
  Scalar of[Columns];

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
  template <class Function>
  SPTRSV_HOST_DEVICE static rhs_pack map(const Function& function) {
    rhs_pack made;
    for (int k = 0; k < Columns; ++k) {
      made.of[k] = function(k);
    }
    return made;
  }
};

template <class Scalar, int Columns>
struct scalar_traits<rhs_pack<Scalar, Columns>> {
  using real = real_t<Scalar>;
  using scalar = rhs_pack<Scalar, Columns>;
};

/// Of a kernel that solves for `Columns` right-hand sides at a time.
template <class Scalar, int Columns>
using unknown_t = std::conditional_t<Columns == 1, Scalar, rhs_pack<Scalar, Columns>>;

/// How many right-hand sides of a kernel that would have `most` fit a sector of memory: more would only take
/// registers.
template <class Scalar>
constexpr int rhs_in_sector(int most) {
  constexpr int fit = 32 / static_cast<int>(sizeof(Scalar));
  return most < fit ? most : fit;
}

template <class Scalar, int Columns>
SPTRSV_HOST_DEVICE bool is_finite(const rhs_pack<Scalar, Columns>& unknown) {
  bool finite = true;
  for (int k = 0; k < Columns; ++k) {
    finite = finite && is_finite(unknown.of[k]);
  }
  return finite;
}

/// The k-th of an unknown's scalars.
template <class Scalar>
SPTRSV_HOST_DEVICE Scalar& rhs_value(Scalar& unknown, int) {
  return unknown;
}
template <class Scalar, int Columns>
SPTRSV_HOST_DEVICE Scalar& rhs_value(rhs_pack<Scalar, Columns>& unknown, int k) {
  return unknown.of[k];
}

}  // namespace sptrsv::detail
