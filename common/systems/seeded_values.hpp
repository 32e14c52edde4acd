// Pseudo-random values that are the same on every machine and do not depend on the order of the calls.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace sptrsv_common {

/// Returns the value of the generator SplitMix64 for a state (Steele, Lea and Flood 2014). The distributions
/// of <random> differ between standard libraries, so nothing here uses them.
inline std::uint64_t split_mix(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

/// Returns a number in [0, 1) from 64 random bits.
inline double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Returns a number in [0, 1) that depends on `counter` and `seed` only.
inline double uniform(std::uint64_t counter, std::uint64_t seed) {
  return unit_interval(split_mix((counter + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u));
}

/// A value whose real part, and imaginary part if it is complex, lies in [-1, 1).
template <class Value>
struct signed_unit {
  static Value at(std::uint64_t counter, std::uint64_t seed) {
    return static_cast<Value>(2 * uniform(counter, seed) - 1);
  }
};
template <class Real>
struct signed_unit<std::complex<Real>> {
  static std::complex<Real> at(std::uint64_t counter, std::uint64_t seed) {
    return {signed_unit<Real>::at(2 * counter, seed), signed_unit<Real>::at(2 * counter + 1, seed)};
  }
};

/// Returns `size` values with parts in [-1, 1), for example a right-hand side.
template <class Value>
std::vector<Value> seeded_vector(std::int64_t size, std::uint64_t seed) {
  std::vector<Value> made;
  made.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    made.push_back(signed_unit<Value>::at(static_cast<std::uint64_t>(i), seed));
  }
  return made;
}

}  // namespace sptrsv_common
