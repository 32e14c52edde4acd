// Utilities of the tests of several devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {

using word = std::uint64_t;

/// The symmetric words of each device.
struct symmetric_words {
  static constexpr int most_devices = 4;
  word* of_device[most_devices] = {};
};

/// Runs `body(ctx, rank, words)` on all devices together, in `blocks` blocks of one thread each, `launches`
/// times one after the other. Returns what the `count` words of each device are then; they start at 0.
template <class Body>
std::vector<std::vector<word>> run_together(cluster& devices, std::size_t count, const Body& body,
                                            std::uint32_t blocks = 1, int launches = 1) {
  symmetric_words words;
  std::vector<std::vector<word>> results(static_cast<std::size_t>(devices.size()));
  devices.run([&](int rank) {
    const executor on(&devices.at(rank));
    const auto mine = zeros<word>(on, count);
    devices.make_symmetric(rank, mine.data(), mine.bytes());
    words.of_device[rank] = mine.data();
    devices.meet(rank);
    const auto kernel = [rank, words, &body](auto& ctx, nothing&) { body(ctx, rank, words); };
    for (int i = 0; i < launches; ++i) {
      on.launch_together<body_agent<1, nothing, decltype(kernel)>>(blocks, {kernel});
    }
    results[static_cast<std::size_t>(rank)] = to_host(on, mine);
  });
  return results;
}

/// Returns the number of random schedules, of 100, after which `is_right(words of all devices)` is true.
template <class Body, class IsRight>
int right_results(int devices, std::size_t count, const Body& body, const IsRight& is_right,
                  std::uint32_t blocks = 1, int launches = 1) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    cluster c(devices, with_schedule(schedule::random, 0, seed));
    found += is_right(run_together(c, count, body, blocks, launches)) ? 1 : 0;
  }
  return found;
}

/// Polls a word with system scope until it is not 0. Returns it.
template <class Context>
word wait_for(Context& ctx, const word* p) {
  word value = ctx.system_scope().load_relaxed(p);
  while (value == 0) {
    ctx.pause(p);
    value = ctx.system_scope().load_relaxed(p);
  }
  return value;
}

}  // namespace sptrsv::emulator::testing
