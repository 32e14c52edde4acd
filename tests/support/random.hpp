// Random numbers that are the same on every platform (the distributions of <random> are not).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/systems/seeded_values.hpp"

namespace sptrsv::testing {

/// SplitMix64 (Steele, Lea and Flood 2014).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() { return sptrsv_common::split_mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Returns an integer in [0, bound).
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(bound));
  }
  /// Returns a value in [0, 1), a multiple of 2^-20: exact in every value type.
  double fraction() { return static_cast<double>(bits() >> 44) / 1048576.0; }
  double between(double low, double high) { return low + (high - low) * fraction(); }
  bool coin() { return (bits() >> 63) != 0; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace sptrsv::testing
