// The values that memory held before. A weak or relaxed load may be answered early: with a value that was
// read before an earlier load of the thread, or that the cache of the SM has held since another thread, also
// of an earlier block, has loaded it. Only an acquire or a fence orders the load after what came before. So
// the load may return any value that the word had at the thread's last acquire or later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/memory/memory.hpp"

namespace sptrsv::emulator {

/// The thread that wrote a value.
struct version_writer {
  std::uint32_t launch;  // see grid::number
  std::uint32_t block;
  int thread;
  bool is_remote;  // whether it ran on another device than the one whose memory it wrote
};

/// The latest values of the words that a launch has changed. Times are numbers of changes to memory.
class value_history {
 public:
  /// A value of an aligned word of 8 bytes.
  struct version {
    std::uint64_t until;  ///< time of the change that replaced the value
    std::uint64_t bits;
    version_writer replaced_by;
  };

  value_history() : words_(4096) {}

  /// Forgets everything.
  void start_launch() { ++launch_; }

  /// Records the word of `a`, which holds `bits` and is about to be changed. `now`: time of the change.
  void record(address_type a, std::uint64_t bits, std::uint64_t now, version_writer by) {
    word& w = words_[slot(a)];
    if (w.launch != launch_ || w.address != a >> 3) {
      w.launch = launch_;
      w.address = a >> 3;
      w.count = 0;
    }
    w.versions[w.count++ % kept] = {now, bits, by};
  }

  /// Forgets the values of the word of `a`.
  void forget(address_type a) {
    word& w = words_[slot(a)];
    if (w.address == a >> 3) {
      w.count = 0;
    }
  }

  /// Returns the number of older values of the word of `a` that a load may return, the latest ones first. A
  /// value is too old if `hides(version)` is true for it or for a later one.
  template <class Hides>
  std::size_t versions(address_type a, const Hides& hides, std::array<const version*, 4>& found) const {
    const word& w = words_[slot(a)];
    if (w.launch != launch_ || w.address != a >> 3) {
      return 0;
    }
    std::size_t count = 0;
    for (std::size_t i = w.count; i > 0 && count < kept && w.count - i < kept; --i) {
      const version& v = w.versions[(i - 1) % kept];
      if (hides(v)) {
        break;
      }
      found[count++] = &v;
    }
    return count;
  }

 private:
  static constexpr std::size_t kept = 4;

  struct word {
    std::uint64_t launch = 0;
    address_type address = 0;
    std::size_t count = 0;
    std::array<version, kept> versions;
  };

  /// Words that share a slot forget each other, which only makes the emulator less adversarial.
  [[nodiscard]] std::size_t slot(address_type a) const { return ((a >> 3) ^ (a >> 15)) % words_.size(); }

  std::vector<word> words_;
  std::uint64_t launch_ = 1;
};

}  // namespace sptrsv::emulator
