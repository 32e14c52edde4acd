// Schedules and deadlocks of the emulator.
#include "emulator/scheduler.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

namespace simt = sptrsv::detail::simt;

/// Each block waits for the block before it in the order that `order` defines.
template <class Order>
void run_chain(const executor& on, std::uint32_t blocks, const Order& order) {
  const buffer<int> done = zeros<int>(on, blocks);
  const buffer<std::uint32_t> ticket = zeros<std::uint32_t>(on, 1);
  launch<32>(on, blocks, [=, done = done.data(), ticket = ticket.data()](auto& ctx, nothing&) {
    if (ctx.thread_rank() == 0) {
      const std::uint32_t place = order(ctx, ticket);
      if (place > 0) {
        simt::wait_until(ctx, done + place - 1, [](int v) { return v != 0; });
      }
      ctx.fence_release();
      ctx.store_relaxed(done + place, 1);
    }
  });
  EXPECT_EQ(to_host(on, done), std::vector<int>(blocks, 1));
}
constexpr auto by_rank = [](auto& ctx, std::uint32_t*) { return ctx.block_rank(); };
constexpr auto by_ticket = [](auto& ctx, std::uint32_t* ticket) { return ctx.atomic_add(ticket, 1u); };

TEST(Schedule, WaitingInBlockOrderDeadlocksUnlessAllAreResident) {
  device in_order(with_schedule(schedule::in_order, 2));
  run_chain(executor(&in_order), 20, by_rank);
  device all(with_schedule(schedule::reverse));
  run_chain(executor(&all), 20, by_rank);

  device reverse(with_schedule(schedule::reverse, 2));
  EXPECT_THROW(run_chain(executor(&reverse), 20, by_rank), deadlock);
  const int passed = successes(
      20,
      [](const executor& on) { return fault_text<deadlock>([&] { run_chain(on, 20, by_rank); }).empty(); },
      4);
  EXPECT_LT(passed, 5);
}

TEST(Schedule, WaitingInTicketOrderNeverDeadlocks) {
  for (const std::uint32_t resident : {1u, 2u, 5u, 0u}) {
    device reverse(with_schedule(schedule::reverse, resident));
    run_chain(executor(&reverse), 20, by_ticket);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      device d(with_schedule(schedule::random, resident, seed));
      run_chain(executor(&d), 20, by_ticket);
    }
  }
}

TEST(Schedule, BlocksStartInTheOrderAskedFor) {
  const auto starts = [](schedule order) {
    device d(with_schedule(order, 1));
    const executor on(&d);
    const auto ticket = zeros<int>(on, 1);
    const auto rank = zeros<int>(on, 8);
    launch<1>(on, 8, [ticket = ticket.data(), rank = rank.data()](auto& ctx, nothing&) {
      ctx.store(rank + ctx.atomic_add(ticket, 1), static_cast<int>(ctx.block_rank()));
    });
    return to_host(on, rank);
  };
  EXPECT_EQ(starts(schedule::in_order), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(starts(schedule::reverse), (std::vector<int>{7, 6, 5, 4, 3, 2, 1, 0}));
  const auto shuffled = starts(schedule::random);
  EXPECT_NE(shuffled, starts(schedule::in_order));
  EXPECT_EQ(shuffled, starts(schedule::random)) << "the seed decides, and nothing else";
}

TEST(Deadlock, ReportSaysWhoWaitsForWhat) {
  device d(with_schedule(schedule::reverse, 2));
  const executor on(&d);
  const std::string text = fault_text<deadlock>([&] { run_chain(on, 20, by_rank); });
  EXPECT_TRUE(contains(text, "block 19, thread 0 polls buffer #")) << text;
  EXPECT_TRUE(contains(text, "+ 72 (of 80 bytes) at 0x")) << text;  // done[18]
  EXPECT_TRUE(contains(text, ", which holds 00 00 00 00\n")) << text;
  EXPECT_TRUE(contains(text, "2 blocks are resident, 18 of 20 have not started")) << text;
}

TEST(Deadlock, ReportIsBounded) {
  device d;
  const executor on(&d);
  const auto flag = zeros<int>(on, 1);
  const std::string text = fault_text<deadlock>([&] {
    launch<256>(on, 10, [flag = flag.data()](auto& ctx, nothing&) {
      simt::wait_until(ctx, flag, [](int v) { return v != 0; });
    });
  });
  EXPECT_TRUE(contains(text, "and 2552 more threads wait")) << text;
  EXPECT_LT(text.size(), 2000u);
}

TEST(Deadlock, IsFoundUnderEveryScheduleAndWithSpuriousWakeups) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    d.settings.spurious_wake_probability = 0.05;
    const executor on(&d);
    const auto flags = zeros<int>(on, 64);
    EXPECT_THROW(launch<64>(on, 2,
                            [flags = flags.data()](auto& ctx, nothing&) {
                              const int* mine = flags + ctx.thread_rank();
                              simt::wait_until(ctx, mine, [](int v) { return v != 0; });
                              ctx.store(flags + (ctx.thread_rank() + 1) % 64, 1);
                            }),
                 deadlock);
  }
}

TEST(Deadlock, IsNotSeenInAPollThatWaitsForAnotherAddressThanItPausesAt) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    const executor on(&d);
    const auto flags = zeros<int>(on, 2);
    launch<64>(on, 1, [flags = flags.data()](auto& ctx, nothing&) {
      if (ctx.thread_rank() == 0) {
        ctx.store_relaxed(flags + 1, 1);
        return;
      }
      while (ctx.load_relaxed(flags) == 0 && ctx.load_relaxed(flags + 1) == 0) {
        ctx.pause(flags);
      }
    });
  }
}

TEST(Deadlock, IsNotSeenInABoundedPoll) {
  device d;
  const executor on(&d);
  const auto flag = zeros<int>(on, 1);
  launch<1>(on, 1, [flag = flag.data()](auto& ctx, nothing&) {
    for (int i = 0; i < 10 && ctx.load_relaxed(flag) == 0; ++i) {
      ctx.pause(flag);
    }
  });
}

TEST(Schedule, PollingWithoutPauseEnds) {
  for (const schedule order : {schedule::in_order, schedule::reverse}) {
    device d(with_schedule(order));
    const executor on(&d);
    const auto flag = zeros<int>(on, 1);
    launch<2>(on, 1, [flag = flag.data()](auto& ctx, nothing&) {
      ctx.atomic_add(flag, 1);
      while (ctx.load_relaxed(flag) != 2) {
      }
    });
  }
}

TEST(Schedule, LiveLockEndsAtTheStepLimit) {
  device d;
  d.settings.step_limit = 10000;
  const executor on(&d);
  const auto flag = zeros<int>(on, 1);
  EXPECT_THROW(launch<2>(on, 1,
                         [flag = flag.data()](auto& ctx, nothing&) {
                           for (;;) {
                             ctx.atomic_add(flag, 1);
                           }
                         }),
               step_limit_exceeded);
}

TEST(Scheduler, ExceptionOfAnAgentReachesTheCaller) {
  device d;
  const executor on(&d);
  for (int i = 0; i < 3; ++i) {  // and leaves the device usable
    EXPECT_THROW(launch<64>(on, 3,
                            [](auto& ctx, nothing&) {
                              ctx.template group<32>().sync();
                              if (ctx.block_rank() == 1 && ctx.thread_rank() == 40) {
                                throw std::domain_error("from an agent");
                              }
                              ctx.barrier();
                            }),
                 std::domain_error);
    run_chain(on, 20, by_rank);
  }
}

TEST(Scheduler, StackOverflowIsCaught) {
  device d;
  const auto overflow = [&] {
    launch<2>(executor(&d), 1, [](auto&, nothing&) {
      volatile unsigned char large[fiber_pool::stack_bytes + 64];
      for (auto& byte : large) {
        byte = 1;
      }
    });
  };
#ifdef SPTRSV_EMULATOR_ASAN
  // Either AddressSanitizer or the canary detects the overflow, depending on the memory below the stack.
  const auto overflow_and_die = [&] {
    try {
      overflow();
    } catch (const stack_overflow&) {
      std::fputs("stack_overflow", stderr);
      std::abort();
    }
  };
  EXPECT_DEATH(overflow_and_die(), "AddressSanitizer|stack_overflow");
#else
  EXPECT_THROW(overflow(), stack_overflow);
#endif
}

}  // namespace
}  // namespace sptrsv::emulator::testing
