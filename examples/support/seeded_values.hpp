// Pseudo-random numbers that are the same on every machine, whatever the order in which they are asked for.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace sptrsv_examples {

/// A number in [0, 1) that depends on `counter` and `seed` only (SplitMix64, Steele, Lea and Flood 2014).
/// The distributions of <random> differ between standard libraries.
inline double uniform(std::uint64_t counter, std::uint64_t seed) {
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Parts in [-1, 1); for real types there is one part.
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

/// `size` values with parts in [-1, 1): a right-hand side.
template <class Value>
std::vector<Value> seeded_vector(std::int64_t size, std::uint64_t seed) {
  std::vector<Value> made;
  made.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    made.push_back(signed_unit<Value>::at(static_cast<std::uint64_t>(i), seed));
  }
  return made;
}

}  // namespace sptrsv_examples
