// Utilities of the emulator's own tests: kernels written as lambdas, and vectors copied to and from a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "emulator/executor.hpp"

namespace sptrsv::emulator::testing {

struct nothing {};

/// An agent that calls body(ctx, shared).
template <int Threads, class Shared, class Body>
struct body_agent {
  static constexpr int block_threads = Threads;
  using shared_storage = Shared;
  struct params {
    std::remove_const_t<Body> body;  // for Clang, a struct with a const closure cannot be copied trivially
  };
  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    p.body(ctx, shared);
  }
};

template <int Threads, class Shared = nothing, class Body>
void launch(const executor& on, std::uint32_t blocks, const Body& body, std::size_t dynamic_bytes = 0) {
  on.launch<body_agent<Threads, Shared, Body>>(blocks, {body}, dynamic_bytes);
}

template <class T>
buffer<T> uninitialised(const executor& on, std::size_t size) {
  return buffer<T>(size, on.default_resource(), on.stream());
}
template <class T>
buffer<T> zeros(const executor& on, std::size_t size) {
  buffer<T> made = uninitialised<T>(on, size);
  on.fill_bytes(made.data(), 0, made.bytes());
  return made;
}
template <class T>
buffer<T> to_device(const executor& on, const std::vector<T>& values) {
  buffer<T> made = uninitialised<T>(on, values.size());
  on.upload(made.data(), values.data(), made.bytes());
  return made;
}
template <class T>
std::vector<T> to_host(const executor& on, const buffer<T>& from) {
  std::vector<T> values(from.size());
  on.download(values.data(), from.data(), from.bytes());
  return values;
}

inline device_settings with_schedule(schedule order, std::uint32_t resident_blocks = 0,
                                     std::uint64_t seed = 0) {
  device_settings s;
  s.order = order;
  s.resident_blocks = resident_blocks;
  s.seed = seed;
  return s;
}

/// Returns the settings without the check for data races, for tests of what a race does.
inline device_settings with_races(device_settings s) {
  s.check_races = false;
  return s;
}

/// Returns the number of random schedules, of `count`, for which succeeds(executor) is true.
template <class Succeeds>
int successes(int count, const Succeeds& succeeds, std::uint32_t resident_blocks = 0) {
  int found = 0;
  for (int seed = 0; seed < count; ++seed) {
    device d(with_schedule(schedule::random, resident_blocks, static_cast<std::uint64_t>(seed)));
    found += succeeds(executor(&d)) ? 1 : 0;
  }
  return found;
}

/// Does the same without the check for data races.
template <class Succeeds>
int successes_with_races(int count, const Succeeds& succeeds) {
  int found = 0;
  for (int seed = 0; seed < count; ++seed) {
    device d(with_races(with_schedule(schedule::random, 0, static_cast<std::uint64_t>(seed))));
    found += succeeds(executor(&d)) ? 1 : 0;
  }
  return found;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns the text of the exception of type `Fault` that `action` throws; empty if it throws none.
template <class Fault, class Action>
std::string fault_text(const Action& action) {
  try {
    action();
  } catch (const Fault& e) {
    return e.what();
  }
  return {};
}

}  // namespace sptrsv::emulator::testing
