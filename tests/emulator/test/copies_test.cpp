// Asynchronous copies from global to shared memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

/// The content of the target until a copy is done, and of fresh shared memory, unless the schedule is random.
constexpr int garbage = static_cast<int>(0xcdcdcdcdu);

/// Returns whether 64 threads find in shared memory the data that others have copied, in pieces of `Bytes`
/// bytes.
template <int Bytes>
bool arrives(const executor& on) {
  struct storage {
    alignas(16) int values[256];
  };
  constexpr int words = Bytes / 4;
  std::vector<int> numbers;
  for (int i = 0; i < 64 * words; ++i) {
    numbers.push_back(100 + i);
  }
  const auto from = to_device<int>(on, numbers);
  const auto out = zeros<int>(on, numbers.size());
  launch<64, storage>(on, 1, [from = from.data(), out = out.data()](auto& ctx, storage& shared) {
    const int mine = words * ctx.thread_rank();
    ctx.template copy_async<Bytes>(shared.values + mine, from + mine);
    ctx.commit_copies();
    ctx.template wait_copies<0>();
    ctx.barrier();
    const int other = words * (63 - ctx.thread_rank());
    for (int i = 0; i < words; ++i) {
      ctx.store(out + other + i, shared.values[other + i]);
    }
  });
  return to_host(on, out) == numbers;
}

TEST(Copies, AreThereAfterTheWait) {
  for (const schedule order : {schedule::in_order, schedule::reverse}) {
    device d(with_schedule(order));
    const executor on(&d);
    EXPECT_TRUE(arrives<4>(on) && arrives<8>(on) && arrives<16>(on));
  }
  EXPECT_EQ(successes(50, arrives<4>), 50);
  EXPECT_EQ(successes(50, arrives<8>), 50);
  EXPECT_EQ(successes(50, arrives<16>), 50);
}

/// Runs one thread in one block; returns the result of `body(ctx, shared, data)`.
struct four {
  alignas(16) int values[4];
};
template <class Body>
int run_alone(const executor& on, const std::vector<int>& numbers, const Body& body) {
  const auto data = to_device<int>(on, numbers);
  const auto out = zeros<int>(on, 1);
  launch<1, four>(on, 1, [=, data = data.data(), out = out.data()](auto& ctx, four& shared) {
    ctx.store(out, body(ctx, shared, data));
  });
  return to_host(on, out)[0];
}

TEST(Copies, AreDoneAtTheirStartOrAtTheWait) {
  // If the source changes in between, the copy has the old or the new value.
  const auto copied = [](const executor& on) {
    return run_alone(on, {1}, [](auto& ctx, four& shared, int* data) {
      ctx.template copy_async<4>(shared.values, data);
      ctx.commit_copies();
      ctx.store(data, 2);
      ctx.template wait_copies<0>();
      return shared.values[0];
    });
  };
  device late(with_schedule(schedule::in_order));
  EXPECT_EQ(copied(executor(&late)), 2);
  device early(with_schedule(schedule::reverse));
  EXPECT_EQ(copied(executor(&early)), 1);
  const int early_ones = successes(100, [&](const executor& on) { return copied(on) == 1; });
  EXPECT_GT(early_ones, 20);
  EXPECT_LT(early_ones, 80);
}

TEST(Copies, ReadBeforeTheWaitAreGarbage) {
  const auto read_early = [](const executor& on) {
    return run_alone(on, {1}, [](auto& ctx, four& shared, int* data) {
      shared.values[0] = 7;
      ctx.template copy_async<4>(shared.values, data);
      ctx.commit_copies();
      return shared.values[0];
    });
  };
  device late(with_races(with_schedule(schedule::in_order)));
  EXPECT_EQ(read_early(executor(&late)), garbage) << "not even what was there before";
  EXPECT_LT(successes_with_races(100, [&](const executor& on) { return read_early(on) == 1; }), 80);
}

TEST(Copies, OfEachThreadAreWaitedForByThatThread) {
  struct storage {
    int value;
  };
  const auto waited_for_by_another = [](const executor& on) {
    const auto data = to_device<int>(on, {1});
    const auto out = zeros<int>(on, 1);
    launch<2, storage>(on, 1, [data = data.data(), out = out.data()](auto& ctx, storage& shared) {
      if (ctx.thread_rank() == 0) {
        ctx.template copy_async<4>(&shared.value, data);
        ctx.commit_copies();
      }
      ctx.barrier();
      if (ctx.thread_rank() == 1) {
        ctx.template wait_copies<0>();
        ctx.store(out, shared.value);
      }
    });
    return to_host(on, out)[0] == 1;
  };
  device late(with_races(with_schedule(schedule::in_order)));
  EXPECT_FALSE(waited_for_by_another(executor(&late)));
  EXPECT_LT(successes_with_races(100, waited_for_by_another), 80);
}

TEST(Copies, AreWaitedForByGroups) {
  device d(with_races(with_schedule(schedule::in_order)));  // each copy as late as it may be
  const executor on(&d);
  const auto data = to_device<int>(on, {1, 2, 3, 4});
  const auto out = zeros<int>(on, 6 * 4);
  launch<1, four>(on, 1, [data = data.data(), out = out.data()](auto& ctx, four& shared) {
    int line = 0;
    const auto look = [&] {
      for (int i = 0; i < 4; ++i) {
        ctx.store(out + 4 * line + i, shared.values[i]);
      }
      ++line;
    };
    ctx.template copy_async<4>(shared.values, data);
    ctx.commit_copies();
    ctx.template copy_async<4>(shared.values + 1, data + 1);
    ctx.template copy_async<4>(shared.values + 2, data + 2);
    ctx.commit_copies();
    ctx.template copy_async<4>(shared.values + 3, data + 3);
    ctx.template wait_copies<2>();
    look();
    ctx.template wait_copies<1>();
    look();
    ctx.commit_copies();  // the last copy and nothing else
    ctx.template wait_copies<2>();
    look();
    ctx.commit_copies();  // a group without copies is one, too
    ctx.template wait_copies<2>();
    look();
    ctx.commit_copies();
    ctx.template wait_copies<2>();
    look();
    ctx.template wait_copies<0>();
    look();
  });
  const int g = garbage;
  EXPECT_EQ(to_host(on, out), (std::vector<int>{g, g, g, g,  // two groups may be under way
                                                1, g, g, g,  // all but the last group
                                                1, g, g, g,  // a third one has come
                                                1, 2, 3, g,  // a fourth one
                                                1, 2, 3, 4,  // and a fifth one
                                                1, 2, 3, 4}));
}

TEST(Copies, WithoutACommitAreNotWaitedFor) {
  device d(with_races(with_schedule(schedule::in_order)));
  EXPECT_EQ(run_alone(executor(&d), {1},
                      [](auto& ctx, four& shared, int* data) {
                        ctx.template copy_async<4>(shared.values, data);
                        ctx.template wait_copies<0>();
                        return shared.values[0];
                      }),
            garbage);
}

TEST(Copies, OfABlockThatHasEndedDoNotReachTheNextOne) {
  for (const schedule order : {schedule::in_order, schedule::reverse}) {
    device d(with_schedule(order, 1));
    const executor on(&d);
    const auto data = to_device<int>(on, {1});
    const auto out = zeros<int>(on, 3);
    launch<1, four>(on, 3, [data = data.data(), out = out.data()](auto& ctx, four& shared) {
      shared.values[0] = 7;
      ctx.template wait_copies<0>();
      ctx.store(out + ctx.block_rank(), shared.values[0]);
      ctx.template copy_async<4>(shared.values, data);
      ctx.commit_copies();
    });
    EXPECT_EQ(to_host(on, out), std::vector<int>(3, 7));
  }
}

TEST(Copies, GoFromGlobalToSharedMemoryOnly) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    const executor on(&d);
    const auto refusal = [&](const auto& body) {
      return fault_text<out_of_bounds>([&] {
        run_alone(on, {1, 2, 3, 4}, [=](auto& ctx, four& shared, int* data) {
          body(ctx, shared, data);
          ctx.commit_copies();
          ctx.template wait_copies<0>();
          return 0;
        });
      });
    };
    const std::string text =
        refusal([](auto& ctx, four&, int* data) { ctx.template copy_async<4>(data, data + 1); });
    EXPECT_TRUE(contains(text, "block 0, thread 0: copy_async to buffer #")) << text;
    EXPECT_TRUE(contains(text, "which is not shared memory")) << text;
    EXPECT_TRUE(contains(refusal([](auto& ctx, four& shared, int*) {
                           ctx.template copy_async<4>(shared.values, shared.values + 1);
                         }),
                         "which is not global memory"));
    EXPECT_NE(refusal([](auto& ctx, four& shared, int* data) {
                ctx.template copy_async<4>(shared.values + 4, data);
              }),
              "");
    EXPECT_NE(refusal([](auto& ctx, four& shared, int* data) {
                ctx.template copy_async<4>(shared.values, data + 4);
              }),
              "");
    EXPECT_NE(refusal([](auto& ctx, four& shared, int*) {
                const int on_the_stack = 1;
                ctx.template copy_async<4>(shared.values, &on_the_stack);
              }),
              "");
  }
}

TEST(Copies, AreAligned) {
  device d;
  const executor on(&d);
  const auto refuses = [&](const auto& body) {
    EXPECT_THROW(run_alone(on, {1, 2, 3, 4},
                           [=](auto& ctx, four& shared, int* data) {
                             body(ctx, shared, data);
                             return 0;
                           }),
                 misaligned_access);
  };
  refuses([](auto& ctx, four& shared, int* data) { ctx.template copy_async<8>(shared.values + 1, data); });
  refuses([](auto& ctx, four& shared, int* data) { ctx.template copy_async<8>(shared.values, data + 1); });
  refuses([](auto& ctx, four& shared, int* data) { ctx.template copy_async<16>(shared.values, data + 2); });
}

struct bulk_target {
  alignas(16) int values[64];
  std::uint64_t arrival;
};
/// A warp copies 64 values twice and writes them doubled; `wait` says whether it waits for the copies.
bool doubles_by_bulk(const executor& on, bool wait) {
  std::vector<int> numbers;
  std::vector<int> doubled;
  for (int i = 0; i < 128; ++i) {
    numbers.push_back(i + 1);
    doubled.push_back(2 * (i + 1));
  }
  const auto data = to_device<int>(on, numbers);
  const auto out = zeros<int>(on, numbers.size());
  launch<32, bulk_target>(on, 1, [=, data = data.data(), out = out.data()](auto& ctx, bulk_target& shared) {
    const auto warp = ctx.template group<32>();
    if (warp.rank() == 0) {
      ctx.begin_bulk(&shared.arrival);
    }
    ctx.barrier();
    for (int half = 0; half < 2; ++half) {
      ctx.copy_bulk(shared.values, data + 64 * half, 256, &shared.arrival, warp.rank());
      if (wait) {
        ctx.wait_bulk(&shared.arrival, half == 1);
      }
      for (int i = 63 - warp.rank(); i >= 0; i -= 32) {
        ctx.store(out + 64 * half + i, 2 * shared.values[i]);
      }
      warp.sync();
      if (!wait) {
        ctx.wait_bulk(&shared.arrival, half == 1);
      }
      warp.sync();
    }
  });
  return to_host(on, out) == doubled;
}

TEST(BulkCopies, AreThereAfterTheWait) {
  EXPECT_EQ(successes(50, [](const executor& on) { return doubles_by_bulk(on, true); }), 50);
  EXPECT_LT(successes_with_races(50, [](const executor& on) { return doubles_by_bulk(on, false); }), 40);
}

TEST(BulkCopies, AreAlignedAndOneAtATime) {
  device d(with_schedule(schedule::in_order));
  const executor on(&d);
  const auto run = [&](int first, int bytes, int copies) {
    const auto data = to_device<int>(on, std::vector<int>(64, 1));
    launch<1, bulk_target>(on, 1, [=, data = data.data()](auto& ctx, bulk_target& shared) {
      ctx.begin_bulk(&shared.arrival);
      for (int i = 0; i < copies; ++i) {
        ctx.copy_bulk(shared.values, data + first, bytes, &shared.arrival, 0);
      }
      ctx.wait_bulk(&shared.arrival, false);
    });
  };
  EXPECT_NO_THROW(run(4, 64, 1));
  EXPECT_NO_THROW(run(0, 0, 1));
  EXPECT_THROW(run(1, 64, 1), misaligned_access);
  EXPECT_THROW(run(0, 8, 1), misaligned_access);
  EXPECT_THROW(run(32, 256, 1), out_of_bounds);
  EXPECT_THROW(run(0, 64, 2), out_of_bounds);
}

TEST(BulkCopies, ThatNobodyBeginsAreWaitedForInVain) {
  device d;
  EXPECT_THROW((launch<1, bulk_target>(executor(&d), 1,
                                       [](auto& ctx, bulk_target& shared) {
                                         ctx.begin_bulk(&shared.arrival);
                                         ctx.wait_bulk(&shared.arrival, false);
                                       })),
               deadlock);
}

TEST(Copies, OfUninitialisedMemoryAreRefused) {
  device d;
  const executor on(&d);
  const auto data = uninitialised<int>(on, 4);
  EXPECT_THROW((launch<1, four>(on, 1,
                                [data = data.data()](auto& ctx, four& shared) {
                                  ctx.template copy_async<16>(shared.values, data);
                                  ctx.commit_copies();
                                  ctx.template wait_copies<0>();
                                })),
               uninitialised_read);
}

}  // namespace
}  // namespace sptrsv::emulator::testing
