// Atomics of the emulator.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "emulator/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

TEST(Atomic, OperationsAreAtomicAndReturnTheOldValue) {
  const auto right = [](const executor& on) {
    const auto values = to_device<std::int64_t>(on, {0, 1000, 500, 500, 7});
    const auto tickets = zeros<int>(on, 128);
    const auto sum = zeros<double>(on, 1);
    launch<32>(on, 4, [p = values.data(), tickets = tickets.data(), sum = sum.data()](auto& ctx, nothing&) {
      const auto i = std::int64_t{32} * ctx.block_rank() + ctx.thread_rank();
      ctx.atomic_add(tickets + ctx.atomic_add(p, 1), 1);
      ctx.atomic_sub(p + 1, 2);
      ctx.atomic_min(p + 2, i);
      ctx.atomic_max(p + 3, 500 + i);
      ctx.atomic_add(sum, 0.5);
      ctx.atomic_add(p, ctx.atomic_exchange(p + 4, std::int64_t{7}) - 7);
    });
    return to_host(on, values) == std::vector<std::int64_t>{128, 744, 0, 627, 7} &&
           to_host(on, tickets) == std::vector<int>(128, 1) && to_host(on, sum)[0] == 64;
  };
  EXPECT_EQ(successes(20, right), 20);
}

}  // namespace
}  // namespace sptrsv::emulator::testing
