// The emulator's random numbers. Each step draws one, so the generator is xorshift64* and not one of
// <random>.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptrsv::emulator {

/// The probability of an event, in units of 2^-32.
using chance = std::uint64_t;

inline chance chance_of(double probability) { return static_cast<chance>(probability * 4294967296.0); }

class random_source {
 public:
  /// Mixes the seed as splitmix64 does, so that neighbouring seeds give unrelated sequences.
  explicit random_source(std::uint64_t seed) {
    seed += 0x9e3779b97f4a7c15u;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    state_ = (seed ^ (seed >> 31)) | 1u;
  }

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }

  /// Returns a number in [0, count), for count < 2^32.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(((next() >> 32) * count) >> 32); }

  bool happens(chance probability) { return (next() >> 32) < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace sptrsv::emulator
