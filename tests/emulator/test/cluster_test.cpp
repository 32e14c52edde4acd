// Several devices: what orders stores and messages from one to another, and which errors are reported.
#include "emulator/cluster.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "emulator/test/cluster_support.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::emulator::testing {
namespace {

constexpr std::size_t payload = 0, flag = 2, result = 3, source = 4, word_count = 8;

/// Device 0 calls send(ctx, words), which is to store 42 to `payload` and then 1 to `flag` of device 1.
/// Device 1 waits for the flag and keeps what receive(ctx, its data) returns. Returns in how many schedules
/// of 100 that was 42.
template <class Send, class Receive>
int arrivals(const Send& send, const Receive& receive, std::uint32_t blocks = 1) {
  return right_results(
      2, word_count,
      [=](auto& ctx, int rank, const symmetric_words& words) {
        if (rank == 0) {
          send(ctx, words);
        } else if (ctx.block_rank() == 0) {
          word* const mine = words.of_device[1];
          wait_for(ctx, mine + flag);
          ctx.store(mine + result, receive(ctx, mine + payload));
        }
      },
      [](const auto& results) { return results[1][result] == 42; }, blocks);
}

constexpr auto fence_and_load = [](auto& ctx, const word* p) {
  ctx.system_scope().fence();
  return ctx.load(p);
};

/// Returns a sender that stores directly, with order(ctx) between data and flag.
template <class Order>
auto store_with(const Order& order) {
  return [=](auto& ctx, const symmetric_words& words) {
    ctx.system_scope().store_relaxed(words.of_device[1] + payload, 42);
    order(ctx);
    ctx.system_scope().store_relaxed(words.of_device[1] + flag, 1);
  };
}
/// Returns a sender of two puts, with order(ctx) between them.
template <class Order>
auto put_with(const Order& order) {
  return [=](auto& ctx, const symmetric_words& words) {
    word* const mine = words.of_device[0];
    ctx.store(mine + source, 42);
    ctx.store(mine + source + 1, 1);
    ctx.put(1, mine + payload, mine + source, sizeof(word));
    order(ctx);
    ctx.put(1, mine + flag, mine + source + 1, sizeof(word));
  };
}

void expect_sometimes(int right) {
  EXPECT_GT(right, 5);
  EXPECT_LT(right, 95);
}

TEST(Cluster, StoresToAnotherDeviceAreOrderedByASystemFenceOnly) {
  expect_sometimes(arrivals(store_with([](auto&) {}), fence_and_load));
  expect_sometimes(arrivals(store_with([](auto& ctx) { ctx.fence(); }), fence_and_load));
  EXPECT_EQ(arrivals(store_with([](auto& ctx) { ctx.system_scope().fence(); }), fence_and_load), 100);
}

TEST(Cluster, ASystemFenceAlsoOrdersStoresOfOtherThreadsThatItsThreadHasAcquired) {
  const auto send = [](bool releases) {
    return [=](auto& ctx, const symmetric_words& words) {
      word* const local_flag = words.of_device[0] + flag;
      if (ctx.block_rank() == 0) {
        ctx.system_scope().store_relaxed(words.of_device[1] + payload, 42);
        if (releases) {
          ctx.fence();
        }
        ctx.store_relaxed(local_flag, 1);
      } else {
        sptrsv::detail::simt::wait_until(ctx, local_flag, [](word v) { return v != 0; });
        ctx.fence();
        ctx.system_scope().fence();
        ctx.system_scope().store_relaxed(words.of_device[1] + flag, 1);
      }
    };
  };
  EXPECT_EQ(arrivals(send(true), fence_and_load, 2), 100);
  expect_sometimes(arrivals(send(false), fence_and_load, 2));
}

TEST(Cluster, AnAcquireOfTheDeviceDoesNotCoverWhatOtherDevicesStore) {
  // The load before the wait is what a cache of the device would hold.
  const auto arrivals_with = [](const auto& acquire) {
    return arrivals(store_with([](auto& ctx) { ctx.system_scope().fence(); }), [=](auto& ctx, const word* p) {
      acquire(ctx);
      return ctx.load(p);
    });
  };
  expect_sometimes(arrivals_with([](auto&) {}));
  expect_sometimes(arrivals_with([](auto& ctx) { ctx.fence(); }));
  EXPECT_EQ(arrivals_with([](auto& ctx) { ctx.system_scope().fence(); }), 100);
}

TEST(Cluster, StoresToOneWordStayInOrder) {
  EXPECT_EQ(right_results(
                2, word_count,
                [](auto& ctx, int rank, const symmetric_words& words) {
                  if (rank == 0) {
                    for (word v = 1; v <= 10; ++v) {
                      ctx.system_scope().store_relaxed(words.of_device[1] + payload, v);
                    }
                    return;
                  }
                  word* const mine = words.of_device[1];
                  for (word last = 0; last < 10;) {
                    const word now = ctx.system_scope().load_relaxed(mine + payload);
                    if (now < last) {
                      ctx.store(mine + result, 1);
                    }
                    last = now > last ? now : last;
                    ctx.pause(mine + payload);
                  }
                },
                [](const auto& results) { return results[1][result] == 0; }),
            100);
}

TEST(Cluster, PutsAreOrderedByOrderAndCompletion) {
  expect_sometimes(arrivals(put_with([](auto&) {}), fence_and_load));
  expect_sometimes(arrivals(put_with([](auto& ctx) { ctx.system_scope().fence(); }), fence_and_load));
  EXPECT_EQ(arrivals(put_with([](auto& ctx) { ctx.order_puts(); }), fence_and_load), 100);
  EXPECT_EQ(arrivals(put_with([](auto& ctx) { ctx.complete_puts(); }), fence_and_load), 100);
}

TEST(Cluster, TheSignalOfAPutFollowsItsData) {
  EXPECT_EQ(arrivals(
                [](auto& ctx, const symmetric_words& words) {
                  word* const mine = words.of_device[0];
                  ctx.store(mine + source, 42);
                  ctx.put_signal(1, mine + payload, mine + source, sizeof(word), mine + flag, 1);
                },
                fence_and_load),
            100);
}

/// Device 0 sends data to device 1 and then a flag to device 2, which hands it on to device 1.
TEST(Cluster, OrderHoldsForEachTargetSeparately) {
  const auto arrivals_with = [](const auto& order) {
    return right_results(
        3, word_count,
        [=](auto& ctx, int rank, const symmetric_words& words) {
          word* const mine = words.of_device[rank];
          if (rank == 0) {
            ctx.store(mine + source, 42);
            ctx.store(mine + source + 1, 1);
            ctx.put(1, mine + payload, mine + source, sizeof(word));
            order(ctx);
            ctx.put(2, mine + flag, mine + source + 1, sizeof(word));
          } else if (rank == 2) {
            wait_for(ctx, mine + flag);
            ctx.system_scope().fence();
            ctx.system_scope().store_relaxed(words.of_device[1] + flag, 1);
          } else {
            wait_for(ctx, mine + flag);
            ctx.store(mine + result, fence_and_load(ctx, mine + payload));
          }
        },
        [](const auto& results) { return results[1][result] == 42; });
  };
  expect_sometimes(arrivals_with([](auto& ctx) { ctx.order_puts(); }));
  EXPECT_EQ(arrivals_with([](auto& ctx) { ctx.complete_puts(); }), 100);
}

TEST(Cluster, WordsOfAPutArriveEachByItself) {
  const auto seen = [](std::size_t state) {  // old old, old new, new old, new new
    return right_results(
        2, word_count,
        [](auto& ctx, int rank, const symmetric_words& words) {
          word* const mine = words.of_device[rank];
          if (rank == 0) {
            ctx.store(mine + source, 7);
            ctx.store(mine + source + 1, 7);
            ctx.put(1, mine + payload, mine + source, 2 * sizeof(word));
            ctx.system_scope().store_relaxed(words.of_device[1] + source, 1);
            return;
          }
          wait_for(ctx, mine + source);
          const word first = ctx.system_scope().load_relaxed(mine);
          const word second = ctx.system_scope().load_relaxed(mine + 1);
          ctx.store(mine + result, 10 * first + second);
        },
        [=](const auto& results) {
          constexpr word states[] = {0, 7, 70, 77};
          return results[1][result] == states[state];
        });
  };
  const int counts[] = {seen(0), seen(1), seen(2), seen(3)};
  EXPECT_EQ(counts[0] + counts[1] + counts[2] + counts[3], 100);
  for (const int count : counts) {
    EXPECT_GT(count, 0);
  }
}

/// A device may begin its next launch while another device is still in the one before.
TEST(Cluster, StreamsRunIndependently) {
  const int ahead = right_results(
      2, word_count,
      [](auto& ctx, int rank, const symmetric_words& words) {
        word* const mine = words.of_device[rank];
        if (rank == 0) {
          const word launch = ctx.load(mine + source) + 1;
          ctx.store(mine + source, launch);
          ctx.system_scope().store_relaxed(words.of_device[1] + payload, launch);
          return;
        }
        const word launch = ctx.load(mine + source) + 1;
        ctx.store(mine + source, launch);
        if (launch == 1) {
          word seen = wait_for(ctx, mine + payload);
          for (int i = 0; i < 100; ++i) {
            seen = ctx.system_scope().load_relaxed(mine + payload);
          }
          ctx.store(mine + result, seen);
        }
      },
      [](const auto& results) { return results[1][result] == 2; }, 1, 2);
  expect_sometimes(ahead);
}

TEST(Cluster, StoresAreCompleteWhenAStreamIs) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    cluster devices(3, with_schedule(order));
    const auto results =
        run_together(devices, word_count, [](auto& ctx, int rank, const symmetric_words& words) {
          ctx.system_scope().store_relaxed(words.of_device[(rank + 1) % 3] + payload,
                                           static_cast<word>(rank) + 5);
          ctx.store(words.of_device[rank] + source, 9);
          ctx.put(rank, words.of_device[rank] + flag, words.of_device[rank] + source, sizeof(word));
        });
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(results[rank][payload], (rank + 2) % 3 + 5);
      EXPECT_EQ(results[rank][flag], 9u);
    }
  }
}

/// Returns the text of the error that `body` causes on two devices.
template <class Fault, class Body>
std::string fault_of(const Body& body, const device_settings& settings = {}, std::uint32_t blocks = 1) {
  cluster devices(2, settings);
  return fault_text<Fault>([&] { run_together(devices, word_count, body, blocks); });
}

TEST(Cluster, MemoryOfAnotherDeviceIsReachedBySystemStoresOnly) {
  const auto on_first = [](const auto& access) {
    return fault_of<remote_access>([=](auto& ctx, int rank, const symmetric_words& words) {
      if (rank == 0) {
        access(ctx, words.of_device[1]);
      }
    });
  };
  const std::string text = on_first([](auto& ctx, word* other) { ctx.load(other); });
  EXPECT_TRUE(contains(text, "device 0, block 0, thread 0: load of buffer #")) << text;
  EXPECT_TRUE(contains(text, "memory of another device")) << text;
  EXPECT_NE(on_first([](auto& ctx, word* other) { ctx.store(other, 1); }), "");
  EXPECT_NE(on_first([](auto& ctx, word* other) { ctx.store_relaxed(other, 1); }), "");
  EXPECT_NE(on_first([](auto& ctx, word* other) { ctx.atomic_add(other, 1); }), "");
  EXPECT_NE(on_first([](auto& ctx, word* other) { ctx.system_scope().load_relaxed(other); }), "");
  EXPECT_NE(on_first([](auto& ctx, word* other) { ctx.load_constant(other); }), "");
  EXPECT_NE(on_first([](auto& ctx, word* other) { ctx.put(1, other, other, sizeof(word)); }), "");
}

TEST(Cluster, MemoryOfAnotherDeviceMustBeSymmetric) {
  cluster devices(2);
  word* of_device[2] = {};
  const std::string text = fault_text<remote_access>([&] {
    devices.run([&](int rank) {
      const executor on(&devices.at(rank));
      const auto mine = zeros<word>(on, 1);
      of_device[rank] = mine.data();
      devices.meet(rank);
      const auto kernel = [to = of_device[1 - rank]](auto& ctx, nothing&) {
        ctx.system_scope().store_relaxed(to, 1);
      };
      on.launch_together<body_agent<1, nothing, decltype(kernel)>>(1, {kernel});
    });
  });
  EXPECT_TRUE(contains(text, "memory of another device that is not symmetric")) << text;
  EXPECT_EQ(devices.at(0).live_bytes() + devices.at(1).live_bytes(), 0u);
}

TEST(Cluster, PollOfDeviceScopeDoesNotFindWhatAnotherDeviceStores) {
  const std::string text = fault_of<remote_access>([](auto& ctx, int rank, const symmetric_words& words) {
    if (rank == 0) {
      ctx.system_scope().store_relaxed(words.of_device[1], 1);
    } else {
      sptrsv::detail::simt::wait_until(ctx, words.of_device[1], [](word v) { return v != 0; });
    }
  });
  EXPECT_TRUE(contains(text, "which another device has stored; poll it with system scope")) << text;
}

TEST(Cluster, DeadlockNamesWhoWaitsOnEachDevice) {
  const std::string text = fault_of<deadlock>([](auto& ctx, int rank, const symmetric_words& words) {
    if (rank == 1) {
      wait_for(ctx, words.of_device[1] + flag);
    }
  });
  EXPECT_TRUE(contains(text, "device 0 has ended")) << text;
  EXPECT_TRUE(contains(text, "device 1, block 0, thread 0 polls buffer #")) << text;
  EXPECT_TRUE(contains(text, "+ 16 (of 64 bytes)")) << text;
}

/// Block 0 of device 0 waits for device 1, which waits for block 1 of device 0.
TEST(Cluster, TooFewResidentBlocksAreADeadlock) {
  const auto body = [](auto& ctx, int rank, const symmetric_words& words) {
    word* const mine = words.of_device[rank];
    if (rank == 0 && ctx.block_rank() == 0) {
      wait_for(ctx, mine + flag);
    } else if (rank == 0) {
      ctx.system_scope().store_relaxed(words.of_device[1] + flag, 1);
    } else if (ctx.block_rank() == 0) {
      wait_for(ctx, mine + flag);
      ctx.system_scope().store_relaxed(words.of_device[0] + flag, 1);
    }
  };
  const std::string text = fault_of<deadlock>(body, with_schedule(schedule::in_order, 1), 2);
  EXPECT_TRUE(contains(text, "1 blocks are resident, 1 of 2 have not started and cannot before")) << text;
  EXPECT_EQ(fault_of<deadlock>(body, with_schedule(schedule::in_order, 2), 2), "");
}

TEST(Cluster, HostThreadThatEndsReleasesThoseThatWaitForIt) {
  cluster devices(3);
  EXPECT_EQ(fault_text<std::domain_error>([&] {
              devices.run([&](int rank) {
                if (rank == 1) {
                  throw std::domain_error("first");
                }
                devices.meet(rank);
              });
            }),
            "first");
  const std::string text = fault_text<launch_failure>([&] {
    devices.run([&](int rank) {
      if (rank != 2) {
        devices.meet(rank);
      }
    });
  });
  EXPECT_TRUE(contains(text, "the host thread of device 2, which has ended")) << text;
}

TEST(Cluster, ADeviceThatDoesNotLaunchLeavesTheOthersInADeadlock) {
  cluster devices(2);
  const std::string text = fault_text<deadlock>([&] {
    devices.run([&](int rank) {
      const executor on(&devices.at(rank));
      const auto mine = zeros<word>(on, 1);
      const auto kernel = [p = mine.data()](auto& ctx, nothing&) { wait_for(ctx, p); };
      if (rank == 0) {
        on.launch_together<body_agent<1, nothing, decltype(kernel)>>(1, {kernel});
        on.synchronize();
      }
      devices.meet(rank);
    });
  });
  EXPECT_TRUE(contains(text, "device 1 has ended")) << text;
}

TEST(Cluster, WhatIsEnqueuedAfterALaunchRunsAfterIt) {
  cluster devices(2);
  std::vector<word> found(2);
  devices.run([&](int rank) {
    const executor on(&devices.at(rank));
    const auto mine = zeros<word>(on, 1);
    {
      const auto other = zeros<word>(on, 1);
      const auto kernel = [p = other.data()](auto& ctx, nothing&) { ctx.store(p, 3); };
      on.launch_together<body_agent<1, nothing, decltype(kernel)>>(1, {kernel});
      on.copy(mine.data(), other.data(), sizeof(word));
    }
    EXPECT_EQ(devices.at(rank).live_bytes(), 2 * sizeof(word));
    on.download(&found[static_cast<std::size_t>(rank)], mine.data(), sizeof(word));
    EXPECT_EQ(devices.at(rank).live_bytes(), sizeof(word));
  });
  EXPECT_EQ(found, (std::vector<word>{3, 3}));
  EXPECT_NE(fault_text<launch_failure>([] {
              device alone;
              const auto kernel = [](auto&, nothing&) {};
              executor(&alone).launch_together<body_agent<1, nothing, decltype(kernel)>>(1, {kernel});
            }),
            "");
}

TEST(Cluster, SymmetricBuffersHaveOneSize) {
  cluster devices(2);
  EXPECT_NE(fault_text<launch_failure>([&] {
              devices.run([&](int rank) {
                const executor on(&devices.at(rank));
                const auto mine = zeros<word>(on, 1 + static_cast<std::size_t>(rank));
                devices.make_symmetric(rank, mine.data(), mine.bytes());
              });
            }),
            "");
}

}  // namespace
}  // namespace sptrsv::emulator::testing
