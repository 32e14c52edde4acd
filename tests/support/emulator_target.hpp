// The emulator as a target of the suites (targets.hpp).
#pragma once

#include "emulator/executor.hpp"
#include "support/effort.hpp"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// A base class that constructs the device before the base class that refers to it.
struct owned_device {
  explicit owned_device(const emulator::device_settings& settings) : owned(settings) {}
  emulator::device owned;
};

/// A target that owns a device, so that a test can choose the schedule and count leaks.
class emulator_target : private owned_device, public device_target<emulator::device*> {
 public:
  static constexpr const char* name = "emulator";
  static constexpr bool is_slow = true;

  explicit emulator_target(const emulator::device_settings& settings = {})
      : owned_device(settings), device_target(&owned) {}

  [[nodiscard]] emulator::device& device() { return owned; }
};

/// Returns schedule `i` of a series that is harder than a GPU: blocks start in any order, `resident` of them
/// at a time (0: all), threads are interrupted anywhere, stores become visible late, weak loads see old
/// values. Every schedule shows the same data races, so only some look for them, which takes time.
inline emulator::device_settings hostile_settings(std::uint64_t i, std::uint64_t resident) {
  emulator::device_settings s;
  s.resident_blocks = static_cast<std::uint32_t>(resident);
  s.step_limit = 20'000'000;                                     // a live-lock is to end soon
  s.seed = environment_number("SPTRSV_RANDOM_SEED", 1) - 1 + i;  // the nightly run has others
  s.check_races = i % 4 == 0;
  if (i < 2) {
    s.order = i == 0 ? emulator::schedule::in_order : emulator::schedule::reverse;
    return s;
  }
  const double drains[] = {0.1, 0, 1, 0.01};
  const double stales[] = {0, 0.5, 1};
  const double switches[] = {0.5, 0.01, 0.1, 0.1, 0.1};
  s.order = emulator::schedule::random;
  s.drain_probability = drains[i % 4];
  s.stale_probability = stales[i % 3];
  s.switch_probability = switches[i % 5];
  return s;
}

}  // namespace sptrsv::testing
