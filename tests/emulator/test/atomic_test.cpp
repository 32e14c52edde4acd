// Atomics of the emulator.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "emulator/test/support.hpp"

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
      ctx.atomic_add(p + 1, -2);
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

TEST(Atomic, ReductionsOfAllThreadsAddUp) {
  const auto right = [](const executor& on) {
    const auto count = zeros<int>(on, 1);
    const auto sums = zeros<double>(on, 2);
    const auto seen = zeros<double>(on, 128);
    launch<32>(on, 4, [count = count.data(), sums = sums.data(), seen = seen.data()](auto& ctx, nothing&) {
      const auto i = 32 * static_cast<int>(ctx.block_rank()) + ctx.thread_rank();
      ctx.reduce_add(count, 3);
      ctx.reduce_add(sums + 1, 0.5);
      ctx.reduce_add(sums + 1, 0.25);
      ctx.store(seen + i, ctx.load_relaxed(sums + 1));  // its own, and maybe others'
    });
    bool own = true;
    for (const double s : to_host(on, seen)) {
      own = own && s >= 0.75 && s <= 96;
    }
    return own && to_host(on, count)[0] == 384 && to_host(on, sums) == std::vector<double>{0, 96};
  };
  EXPECT_EQ(successes(50, right), 50);
}

/// Block 0 adds to a sum and then to a count; block 1 waits for the count and reads the sum.
template <class Between>
bool sum_comes_before_count(const executor& on, const Between& between) {
  const auto sum = zeros<double>(on, 1);
  const auto count = zeros<int>(on, 1);
  const auto seen = zeros<double>(on, 1);
  launch<1>(on, 2, [=, sum = sum.data(), count = count.data(), seen = seen.data()](auto& ctx, nothing&) {
    if (ctx.block_rank() == 0) {
      ctx.reduce_add(sum, 42.0);
      between(ctx);
      ctx.reduce_add(count, 1);
    } else {
      while (ctx.load_acquire(count) == 0) {
        ctx.pause(count);
      }
      ctx.store(seen, ctx.load_relaxed(sum));
    }
  });
  return to_host(on, seen)[0] == 42;
}

TEST(Atomic, AReductionMayBeSeenBeforeAnEarlierOne) {
  const int right =
      successes(100, [](const executor& on) { return sum_comes_before_count(on, [](auto&) {}); });
  EXPECT_GT(right, 10);
  EXPECT_LT(right, 90);
}

TEST(Atomic, AFenceOrdersReductions) {
  EXPECT_EQ(
      successes(
          100, [](const executor& on) { return sum_comes_before_count(on, [](auto& ctx) { ctx.fence(); }); }),
      100);
}

TEST(Atomic, AFenceOfTheBlockIsNoneForOthers) {
  const int right = successes(100, [](const executor& on) {
    return sum_comes_before_count(on, [](auto& ctx) { ctx.fence_block(); });
  });
  EXPECT_LT(right, 90);
}

struct counted_sum {
  double sum;
  int count;
};

/// The same among the threads of one block, in shared memory. `acquire(ctx)` comes before the sum is read.
template <class Between, class Acquire>
bool shared_sum_comes_before_count(const executor& on, const Between& between, const Acquire& acquire) {
  const auto result = zeros<double>(on, 1);
  launch<64, counted_sum>(on, 1, [=, result = result.data()](auto& ctx, counted_sum& shared) {
    if (ctx.thread_rank() == 0) {
      shared.sum = 0;
      shared.count = 0;
    }
    ctx.barrier();
    if (ctx.thread_rank() == 63) {
      ctx.reduce_add(&shared.sum, 42.0);
      between(ctx);
      ctx.reduce_add(&shared.count, 1);
    } else if (ctx.thread_rank() == 0) {
      while (ctx.load_shared(&shared.count) == 0) {
        ctx.pause(&shared.count);
      }
      acquire(ctx);
      ctx.store(result, ctx.load_shared(&shared.sum));
    }
  });
  return to_host(on, result)[0] == 42;
}

TEST(Atomic, FencesOfTheBlockOrderReductionsInSharedMemory) {
  const auto count = [](const auto& between, const auto& acquire) {
    return successes(100,
                     [&](const executor& on) { return shared_sum_comes_before_count(on, between, acquire); });
  };
  const auto fence = [](auto& ctx) { ctx.fence_block(); };
  const auto none = [](auto&) {};
  EXPECT_EQ(count(fence, fence), 100);
  for (const int right : {count(none, fence), count(fence, none)}) {
    EXPECT_GT(right, 10);
    EXPECT_LT(right, 90);
  }
}

TEST(Atomic, MistakesAreNamed) {
  const executor on;
  const auto memory = uninitialised<int>(on, 1);
  EXPECT_TRUE(contains(fault_text<uninitialised_read>([&] {
                         launch<1>(on, 1, [p = memory.data()](auto& ctx, nothing&) { ctx.reduce_add(p, 1); });
                       }),
                       "reduce_add"));
  EXPECT_TRUE(contains(fault_text<out_of_bounds>([&] {
                         launch<1>(on, 1, [p = memory.data()](auto& ctx, nothing&) { ctx.load_shared(p); });
                       }),
                       "load_shared"));
}

}  // namespace
}  // namespace sptrsv::emulator::testing
