// The emulator as a target of the suites (targets.hpp).
#pragma once

#include "emulator/executor.hpp"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// Holds the device before the base that names it is made.
struct owned_device {
  explicit owned_device(const emulator::device_settings& settings) : owned(settings) {}
  emulator::device owned;
};

/// A device of its own, so that its schedule can be chosen and its leaks counted.
class emulator_target : private owned_device, public device_target<emulator::device*> {
 public:
  static constexpr const char* name = "emulator";
  static constexpr bool is_slow = true;

  explicit emulator_target(const emulator::device_settings& settings = {})
      : owned_device(settings), device_target(&owned) {}

  [[nodiscard]] emulator::device& device() { return owned; }
};

}  // namespace sptrsv::testing
