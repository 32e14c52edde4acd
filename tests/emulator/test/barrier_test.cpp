// Barriers of the emulator: for a whole block, for its first threads, and numbered ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

constexpr schedule every_order[] = {schedule::in_order, schedule::reverse, schedule::random};

TEST(Barrier, NotReachedByAllIsAnError) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    for (const int absent : {0, 17, 63}) {
      device d(with_schedule(order));
      EXPECT_THROW(launch<64>(executor(&d), 2,
                              [=](auto& ctx, nothing&) {
                                if (ctx.thread_rank() != absent) {
                                  ctx.barrier();
                                }
                              }),
                   barrier_divergence);
    }
  }
}

TEST(Barrier, SeparatesWritersAndReadersOfSharedMemory) {
  struct storage {
    int values[64];
  };
  const auto reversed_twice = [](const executor& on) {
    const auto out = zeros<int>(on, 64);
    launch<64, storage>(on, 1, [out = out.data()](auto& ctx, storage& shared) {
      const int i = ctx.thread_rank();
      ctx.store(&shared.values[i], i);
      ctx.barrier();
      const int v = shared.values[63 - i];
      ctx.barrier();
      shared.values[i] = 2 * v;
      ctx.barrier();
      ctx.store(out + i, ctx.load(&shared.values[63 - i]));
    });
    std::vector<int> expected(64);
    for (int i = 0; i < 64; ++i) {
      expected[static_cast<std::size_t>(i)] = 2 * i;
    }
    return to_host(on, out) == expected;
  };
  EXPECT_EQ(successes(100, reversed_twice), 100);
}

TEST(Barrier, MissingBetweenSharedWriterAndReaderIsSeen) {
  struct storage {
    int values[64];
  };
  const auto unordered = [](const executor& on) {
    const auto out = zeros<int>(on, 64);
    launch<64, storage>(on, 1, [out = out.data()](auto& ctx, storage& shared) {
      ctx.store(&shared.values[ctx.thread_rank()], 7);
      ctx.store(out + ctx.thread_rank(), ctx.load(&shared.values[63 - ctx.thread_rank()]));
    });
    return to_host(on, out) == std::vector<int>(64, 7);
  };
  EXPECT_LT(successes_with_races(20, unordered), 2);
}

/// The first 64 of 96 threads pass values to each other in 5 steps; `meet(ctx)` separates writing and
/// reading.
template <class Meet>
bool hands_over_in_part_of_a_block(const executor& on, const Meet& meet) {
  struct storage {
    int values[64];
  };
  const auto out = zeros<int>(on, 96);
  launch<96, storage>(on, 2, [=, out = out.data()](auto& ctx, storage& shared) {
    const int i = ctx.thread_rank();
    int v = i;
    if (i < 64) {
      for (int step = 0; step < 5; ++step) {
        ctx.store(&shared.values[i], v);
        meet(ctx);
        v = ctx.load(&shared.values[(i + 1) % 64]);
        meet(ctx);
      }
      ctx.store(&shared.values[i], v);
    }
    ctx.barrier();
    if (ctx.block_rank() == 1) {
      ctx.store(out + i, ctx.load(&shared.values[i % 64]));
    }
  });
  std::vector<int> expected(96);
  for (int i = 0; i < 96; ++i) {
    expected[static_cast<std::size_t>(i)] = (i + 5) % 64;
  }
  return to_host(on, out) == expected;
}

TEST(NumberedBarrier, SeparatesWritersAndReadersInPartOfABlock) {
  const auto meets = [](const executor& on) {
    return hands_over_in_part_of_a_block(on, [](auto& ctx) { ctx.template barrier_wait<64>(1); });
  };
  for (const schedule order : every_order) {
    device d(with_schedule(order));
    EXPECT_TRUE(meets(executor(&d)));
  }
  EXPECT_EQ(successes(100, meets), 100);
}

TEST(NumberedBarrier, MissingInPartOfABlockIsSeen) {
  const auto does_not_meet = [](const executor& on) {
    return hands_over_in_part_of_a_block(on, [](auto&) {});
  };
  EXPECT_LT(successes_with_races(20, does_not_meet), 2);
}

TEST(NumberedBarrier, HoldsBackItsThreadsOnly) {
  // The other threads wait for a store that the first ones do after their barrier.
  for (const schedule order : every_order) {
    device d(with_schedule(order));
    const executor on(&d);
    const auto come = zeros<int>(on, 1);
    const auto wrong = zeros<int>(on, 1);
    launch<96>(on, 1, [come = come.data(), wrong = wrong.data()](auto& ctx, nothing&) {
      if (ctx.thread_rank() >= 32) {
        detail::simt::wait_until(ctx, come, [](int v) { return v == 64; });
        return;
      }
      ctx.atomic_add(come, 1);
      ctx.template barrier_wait<32>(1);
      if (ctx.load_relaxed(come) < 32) {
        ctx.atomic_add(wrong, 1);
      }
      ctx.atomic_add(come, 1);
    });
    EXPECT_EQ(to_host(on, wrong)[0], 0);
  }
}

TEST(NumberedBarrier, LargerThanTheBlockIsAnError) {
  device d;
  EXPECT_THROW(launch<96>(executor(&d), 1, [](auto& ctx, nothing&) { ctx.template barrier_wait<128>(1); }),
               barrier_divergence);
}

TEST(NumberedBarrier, OfTwoNumbersAreTwoBarriers) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    struct words {
      int small;
      int large;
    };
    launch<96, words>(executor(&d), 1, [](auto& ctx, words& shared) {
      if (ctx.thread_rank() == 0) {
        shared.small = 1;
        shared.large = 2;
      }
      if (ctx.thread_rank() < 32) {
        ctx.template barrier_wait<32>(1);
        EXPECT_EQ(shared.small, 1);
      }
      ctx.template barrier_wait<96>(2);
      EXPECT_EQ(shared.large, 2);
    });
  }
}

TEST(NumberedBarrier, OfTwoNumbersThatWaitForEachOtherIsADeadlock) {
  device d;
  const std::string text = fault_text<deadlock>([&] {
    launch<64>(executor(&d), 1, [](auto& ctx, nothing&) {
      if (ctx.thread_rank() % 2 == 0 && ctx.thread_rank() < 32) {
        ctx.template barrier_wait<32>(1);
      } else {
        ctx.template barrier_wait<64>(2);
      }
    });
  });
  EXPECT_TRUE(contains(text, "thread 0 is in a barrier with 16 of 32 threads")) << text;
}

TEST(NumberedBarrier, OfWhichSomeWaitForTheWholeBlockIsADeadlock) {
  device d;
  const std::string text = fault_text<deadlock>([&] {
    launch<96>(executor(&d), 1, [](auto& ctx, nothing&) {
      if (ctx.thread_rank() == 3 || ctx.thread_rank() >= 64) {
        ctx.barrier();
      } else {
        ctx.template barrier_wait<64>(1);
      }
    });
  });
  EXPECT_TRUE(contains(text, "thread 2 is in a barrier with 63 of 64 threads")) << text;
  EXPECT_TRUE(contains(text, "thread 3 is in a barrier with 33 of 96 threads")) << text;
}

/// An ordered barrier: three groups of 32 threads take 30 turns, each adding 1 to all words; `turn(ctx,
/// group)` waits for the turn of the group, `pass(ctx, next)` starts that of the next one.
template <class Turn, class Pass>
bool groups_count(const executor& on, const Turn& turn, const Pass& pass) {
  struct words {
    int of[32];
  };
  const auto out = zeros<int>(on, 32);
  launch<96, words>(on, 2, [=, out = out.data()](auto& ctx, words& shared) {
    const int lane = ctx.thread_rank() % 32;
    const int group = ctx.thread_rank() / 32;
    for (int step = group; step < 30; step += 3) {
      if (step > 0) {
        turn(ctx, 1 + group);
      }
      // The word of another lane: the stores of the whole group before must be visible.
      int* const word = &shared.of[(lane + step) % 32];
      ctx.store(word, step == 0 ? 1 : ctx.load(word) + 1);
      if (step < 29) {
        pass(ctx, 1 + (group + 1) % 3);
      } else if (ctx.block_rank() == 1) {
        ctx.store(out + lane, ctx.load(word));
      }
    }
  });
  return to_host(on, out) == std::vector<int>(32, 30);
}

TEST(NumberedBarrier, OrdersGroups) {
  const auto takes_turns = [](const executor& on) {
    return groups_count(
        on, [](auto& ctx, int id) { ctx.template barrier_wait<64>(id); },
        [](auto& ctx, int id) { ctx.template barrier_arrive<64>(id); });
  };
  for (const schedule order : every_order) {
    device d(with_schedule(order));
    EXPECT_TRUE(takes_turns(executor(&d)));
  }
  EXPECT_EQ(successes(100, takes_turns), 100);
}

TEST(NumberedBarrier, MissingIsSeen) {
  const auto does_not_wait = [](const executor& on) {
    return groups_count(
        on, [](auto&, int) {}, [](auto&, int) {});
  };
  EXPECT_LT(successes_with_races(20, does_not_wait), 2);
}

TEST(NumberedBarrier, ThatNobodyOpensIsADeadlock) {
  device d;
  const std::string text = fault_text<deadlock>([&] {
    launch<64>(executor(&d), 1, [](auto& ctx, nothing&) {
      if (ctx.thread_rank() < 32) {
        ctx.template barrier_wait<64>(3);
      }
    });
  });
  EXPECT_TRUE(contains(text, "thread 0 is in a barrier with 32 of 64 threads")) << text;
}

TEST(NumberedBarrier, ThatIsLeftHalfFullIsAnError) {
  device d;
  EXPECT_THROW(launch<64>(executor(&d), 1,
                          [](auto& ctx, nothing&) {
                            if (ctx.thread_rank() < 32) {
                              ctx.template barrier_arrive<64>(3);
                            }
                          }),
               barrier_divergence);
}

TEST(NumberedBarrier, OfWhichThreadsDisagreeIsAnError) {
  device d;
  EXPECT_THROW(launch<96>(executor(&d), 1,
                          [](auto& ctx, nothing&) {
                            if (ctx.thread_rank() < 32) {
                              ctx.template barrier_arrive<64>(3);
                            } else {
                              ctx.template barrier_arrive<96>(3);
                            }
                          }),
               barrier_divergence);
  EXPECT_THROW(launch<32>(executor(&d), 1, [](auto& ctx, nothing&) { ctx.template barrier_arrive<32>(16); }),
               barrier_divergence);
}

TEST(SharedAddress, ReadsAndWritesDynamicSharedMemoryWithinItsBounds) {
  device d;
  launch<32>(
      executor(&d), 1,
      [](auto& ctx, nothing&) {
        const int word = ctx.shared_address(ctx.dynamic_shared()) + 8 * ctx.thread_rank();
        ctx.store_shared_at(word, 0.5 * ctx.thread_rank());
        EXPECT_EQ(ctx.template load_shared_at<double>(word), 0.5 * ctx.thread_rank());
        EXPECT_EQ(static_cast<const double*>(ctx.dynamic_shared())[ctx.thread_rank()],
                  0.5 * ctx.thread_rank());
      },
      256);
  for (const int beyond : {-8, 256, 252}) {
    EXPECT_THROW(
        launch<32>(
            executor(&d), 1,
            [=](auto& ctx, nothing&) { static_cast<void>(ctx.template load_shared_at<double>(beyond)); },
            256),
        out_of_bounds);
  }
}

}  // namespace
}  // namespace sptrsv::emulator::testing
