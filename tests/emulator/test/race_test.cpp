// The check of shared memory for data races: a race is found in every schedule, and what is ordered is none.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

struct storage {
  alignas(16) int values[64];
  int flag;
};

/// Returns the texts of the race that `body(ctx, shared)` has in a block of `Threads` threads, under several
/// schedules, one for each line; empty if no schedule shows one. Fails if only some of them do.
template <int Threads, class Body>
std::string race_in(const Body& body) {
  std::string texts;
  int found = 0;
  int schedules = 0;
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    for (std::uint64_t seed = 0; seed < (order == schedule::random ? 20 : 1); ++seed) {
      device d(with_schedule(order, 0, seed));
      const std::string text =
          fault_text<data_race>([&] { launch<Threads, storage>(executor(&d), 2, body, 512); });
      texts += text.empty() ? "" : text + "\n";
      found += text.empty() ? 0 : 1;
      ++schedules;
    }
  }
  EXPECT_TRUE(found == 0 || found == schedules) << found << " of " << schedules;
  return texts;
}

#if defined(__SANITIZE_THREAD__)
constexpr bool sees_direct_accesses = true;
#else
constexpr bool sees_direct_accesses = false;  // with another sanitizer; see tests/emulator/CMakeLists.txt
#endif

/// Thread i writes value i, `between(ctx)` is called, and thread i reads the value of another thread.
template <class Write, class Between, class Read>
std::string race_of(const Write& write, const Between& between, const Read& read) {
  return race_in<64>([=](auto& ctx, storage& shared) {
    const int i = ctx.thread_rank();
    write(ctx, shared.values + i);
    between(ctx);
    read(ctx, shared.values + (i / 32 * 32 + (i + 1) % 32));
  });
}

constexpr auto write_directly = [](auto&, int* p) { *p = 1; };
constexpr auto read_directly = [](auto&, const int* p) {
  static_cast<void>(*static_cast<const volatile int*>(p));
};
constexpr auto write_weakly = [](auto& ctx, int* p) { ctx.store(p, 1); };
constexpr auto read_weakly = [](auto& ctx, const int* p) { ctx.load(p); };
constexpr auto nothing_between = [](auto&) {};

TEST(Race, OfAWriteAndAReadNamesKernelAddressAndThreads) {
  const std::string text = race_of(write_weakly, nothing_between, read_weakly);
  EXPECT_TRUE(contains(text, "of shared storage + ")) << text;
  EXPECT_TRUE(contains(text, "thread ")) << text;
  EXPECT_TRUE(
      contains(text, "neither happens before the other, in kernel sptrsv::emulator::testing::body_agent"))
      << text;
}

TEST(Race, OfDirectAccessesIsFound) {
  if (!sees_direct_accesses) {
    GTEST_SKIP() << "this build has another sanitizer, so that the compiler does not report direct accesses";
  }
  EXPECT_NE(race_in<64>([](auto&, storage& shared) { shared.values[3] = 1; }), "");
  EXPECT_NE(race_in<64>([](auto& ctx, storage& shared) {
              if (ctx.thread_rank() == 40) {
                shared.values[3] = 1;
              } else if (ctx.thread_rank() == 7) {
                ctx.store_shared_at(0, shared.values[3]);
              }
            }),
            "");
  EXPECT_EQ(race_in<64>([](auto& ctx, storage& shared) {
              shared.values[ctx.thread_rank()] = 1;
              ctx.barrier();
              ctx.store_shared_at(4 * ctx.thread_rank(), shared.values[63 - ctx.thread_rank()]);
            }),
            "");
}

TEST(Race, IsPreventedByBarriersAndSyncsOnly) {
  const auto expect = [](bool races, const auto& between) {
    EXPECT_EQ(race_of(write_weakly, between, read_weakly) != "", races);
    EXPECT_EQ(race_of(read_weakly, between, write_weakly) != "", races);
    EXPECT_EQ(race_of(write_weakly, between, write_weakly) != "", races);
    EXPECT_EQ(race_of(read_weakly, between, read_weakly), "");
  };
  expect(true, nothing_between);
  expect(true, [](auto& ctx) { ctx.template group<32>().shuffle(1, 0); });
  expect(true, [](auto& ctx) { static_cast<void>(ctx.template group<32>().ballot(true)); });
  expect(true, [](auto& ctx) { ctx.fence(); });
  expect(true, [](auto& ctx) { ctx.template group<16>().sync(); });
  expect(false, [](auto& ctx) { ctx.template group<32>().sync(); });
  expect(false, [](auto& ctx) { ctx.barrier(); });
  expect(false, [](auto& ctx) { ctx.template barrier_wait<64>(3); });
  expect(true, [](auto& ctx) { ctx.template barrier_arrive<64>(3); });
}

/// Warp 0 stores a value and hands on its turn by a numbered barrier, as the partitioned kernel does.
template <bool HandsOnEarly>
std::string race_of_turns() {
  return race_in<64>([](auto& ctx, storage&) {
    const int address = 4 * (ctx.thread_rank() % 32);
    if (ctx.thread_rank() < 32) {
      if (HandsOnEarly) {
        ctx.template barrier_arrive<64>(1);
      }
      ctx.store_shared_at(address, 1);
      if (!HandsOnEarly) {
        ctx.template barrier_arrive<64>(1);
      }
    } else {
      ctx.template barrier_wait<64>(1);
      ctx.template load_shared_at<int>(address);
    }
  });
}

TEST(Race, OfATurnThatIsHandedOnBeforeTheStoreIsFound) {
  EXPECT_EQ(race_of_turns<false>(), "");
  const std::string text = race_of_turns<true>();
  EXPECT_TRUE(contains(text, "dynamic shared memory + ")) << text;
}

TEST(Race, AThreadThatOnlyArrivesIsNotOrderedAfterTheOthers) {
  EXPECT_NE(race_in<64>([](auto& ctx, storage& shared) {
              if (ctx.thread_rank() < 32) {
                ctx.template barrier_arrive<64>(1);
                ctx.load(shared.values + ctx.thread_rank());
              } else {
                ctx.store(shared.values + ctx.thread_rank() - 32, 1);
                ctx.template barrier_wait<64>(1);
              }
            }),
            "");
}

TEST(Race, AtomicAccessesAreNone) {
  const auto add = [](auto& ctx, int*) { ctx.reduce_add(static_cast<int*>(ctx.dynamic_shared()), 1); };
  const auto clear = [](auto& ctx, int*) {
    if (ctx.thread_rank() == 0) {
      ctx.store(static_cast<int*>(ctx.dynamic_shared()), 0);
    }
  };
  const auto look = [](auto& ctx, int*) { ctx.load_shared(static_cast<const int*>(ctx.dynamic_shared())); };
  const auto barrier = [](auto& ctx) { ctx.barrier(); };
  EXPECT_EQ(race_of(add, nothing_between, look), "");
  EXPECT_EQ(race_of(clear, barrier, add), "");
  EXPECT_NE(race_of(clear, nothing_between, add), "");
  EXPECT_NE(race_of(add, nothing_between, clear), "");
}

/// Thread 0 stores a value and sets a flag; thread 63 polls the flag and reads the value.
template <class Release, class Acquire>
std::string race_of_message(const Release& release, const Acquire& acquire) {
  return race_in<64>([=](auto& ctx, storage& shared) {
    if (ctx.thread_rank() == 0) {
      shared.flag = 0;
    }
    ctx.barrier();
    if (ctx.thread_rank() == 0) {
      ctx.store(shared.values, 42);
      release(ctx);
      ctx.store_relaxed(&shared.flag, 1);
    } else if (ctx.thread_rank() == 63) {
      while (ctx.load_shared(&shared.flag) == 0) {
        ctx.pause(&shared.flag);
      }
      acquire(ctx);
      ctx.load(shared.values);
    }
  });
}

TEST(Race, IsPreventedByFencesAroundAFlag) {
  const auto fence = [](auto& ctx) { ctx.fence_block(); };
  EXPECT_EQ(race_of_message(fence, fence), "");
  EXPECT_EQ(race_of_message([](auto& ctx) { ctx.fence_release(); }, [](auto& ctx) { ctx.fence_acquire(); }),
            "");
  EXPECT_NE(race_of_message(nothing_between, fence), "");
  EXPECT_NE(race_of_message(fence, nothing_between), "");
}

/// A thread copies a value; `between(ctx)` comes before the first access, `read` says which thread reads.
template <class Between>
std::string race_of_copy(int reader, const Between& between) {
  static device source_device;
  const executor on(&source_device);
  const auto data = to_device<int>(on, {1, 2, 3, 4});
  return race_in<64>([=, data = data.data()](auto& ctx, storage& shared) {
    if (ctx.thread_rank() == 0) {
      ctx.template copy_async<16>(shared.values, data);
      ctx.commit_copies();
    }
    between(ctx);
    if (ctx.thread_rank() == reader) {
      ctx.load(shared.values + 3);
    }
  });
}

TEST(Race, OfAnAsynchronousCopyIsPreventedByItsWaitAndABarrier) {
  const auto wait = [](auto& ctx) { ctx.template wait_copies<0>(); };
  const auto wait_too_little = [](auto& ctx) { ctx.template wait_copies<1>(); };
  const auto wait_and_meet = [](auto& ctx) {
    ctx.template wait_copies<0>();
    ctx.barrier();
  };
  const auto meet_and_wait = [](auto& ctx) {
    ctx.barrier();
    ctx.template wait_copies<0>();
  };
  EXPECT_EQ(race_of_copy(0, wait), "");
  EXPECT_NE(race_of_copy(0, wait_too_little), "");
  EXPECT_NE(race_of_copy(0, [](auto& ctx) { ctx.barrier(); }), "");
  EXPECT_EQ(race_of_copy(63, wait_and_meet), "");
  EXPECT_NE(race_of_copy(63, meet_and_wait), "");
  EXPECT_NE(race_of_copy(63, wait), "");
}

TEST(Race, OfAnAsynchronousCopyAndAnEarlierReadIsFound) {
  device where;
  const executor on(&where);
  const auto data = to_device<int>(on, {1, 2, 3, 4});
  const auto body = [data = data.data()](const auto& between) {
    return [=](auto& ctx, storage& shared) {
      if (ctx.thread_rank() == 0) {
        shared.values[1] = 5;
      }
      ctx.barrier();
      ctx.load(shared.values + 1);
      between(ctx);
      if (ctx.thread_rank() == 32) {
        ctx.template copy_async<8>(shared.values, data);
        ctx.commit_copies();
        ctx.template wait_copies<0>();
      }
    };
  };
  EXPECT_NE(race_in<64>(body(nothing_between)), "");
  EXPECT_NE(race_in<64>(body([](auto& ctx) { ctx.template group<32>().sync(); })), "");
  EXPECT_EQ(race_in<64>(body([](auto& ctx) { ctx.barrier(); })), "");
}

/// A warp copies a value in bulk twice and reads it; the lanes that `waits` wait for the copy.
template <class Waits, class After>
std::string race_of_bulk_copy(const Waits& waits, const After& after) {
  device where;
  const executor on(&where);
  const auto data = to_device<int>(on, {1, 2, 3, 4});
  return race_in<32>([=, data = data.data()](auto& ctx, storage& shared) {
    const auto warp = ctx.template group<32>();
    auto* const arrival = static_cast<std::uint64_t*>(ctx.dynamic_shared());
    if (warp.rank() == 0) {
      ctx.begin_bulk(arrival);
    }
    ctx.barrier();
    for (int round = 0; round < 2; ++round) {
      ctx.copy_bulk(shared.values, data, 16, arrival, warp.rank());
      if (waits(warp.rank())) {
        ctx.wait_bulk(arrival, round % 2 == 1);
      }
      after(warp);
      ctx.load(shared.values + 2);
      warp.sync();
    }
  });
}

TEST(Race, OfABulkCopyIsPreventedByItsWait) {
  const auto sync = [](const auto& warp) { warp.sync(); };
  const auto vote = [](const auto& warp) { static_cast<void>(warp.all(true)); };
  EXPECT_EQ(race_of_bulk_copy([](int) { return true; }, sync), "");
  EXPECT_EQ(race_of_bulk_copy([](int) { return true; }, vote), "");
  EXPECT_EQ(race_of_bulk_copy([](int lane) { return lane == 5 || lane == 0; }, sync), "");
  EXPECT_NE(race_of_bulk_copy([](int lane) { return lane != 5; }, vote), "");
}

TEST(Race, IsNotSeenBetweenBlocksOnOneAfterTheOther) {
  device d(with_schedule(schedule::in_order, 1));
  EXPECT_NO_THROW((launch<64, storage>(executor(&d), 3, [](auto& ctx, storage& shared) {
    if (ctx.thread_rank() == static_cast<int>(ctx.block_rank())) {
      ctx.store(shared.values, 1);
    }
  })));
}

TEST(Race, IsNotLookedForWhereTheSettingsSaySo) {
  device d;
  d.settings.check_races = false;
  EXPECT_NO_THROW((
      launch<64, storage>(executor(&d), 1, [](auto& ctx, storage& shared) { ctx.store(shared.values, 1); })));
}

}  // namespace
}  // namespace sptrsv::emulator::testing
