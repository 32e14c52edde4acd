// The executor: launches, copies, primitives, graphs, capture.
#include "emulator/executor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

struct large_storage {
  double values[1000];
};

/// Adds `amount` to every element.
struct add_agent {
  static constexpr int block_threads = 64;
  struct shared_storage {};
  struct params {
    int* data;
    int size;
    int amount;
  };
  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const int i = static_cast<int>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    if (i < p.size) {
      ctx.store(p.data + i, ctx.load(p.data + i) + p.amount);
    }
  }
};

TEST(Launch, RefusesWhatCudaRefuses) {
  device d;
  const executor on(&d);
  const auto idle = [](auto&, auto&) {};
  EXPECT_THROW(launch<64>(on, 0, idle), launch_failure);
  EXPECT_THROW(launch<1056>(on, 1, idle), launch_failure);
  EXPECT_NO_THROW(launch<1024>(on, 1, idle));
  EXPECT_THROW((launch<64, large_storage>(on, 1, idle, d.settings.shared_limit - 7999)), launch_failure);
  EXPECT_NO_THROW((launch<64, large_storage>(on, 1, idle, d.settings.shared_limit - 8000)));
  EXPECT_THROW(launch<1>(on, 1, [&](auto&, auto&) { launch<1>(on, 1, idle); }), launch_failure);
}

TEST(Launch, MayHaveFewerThreadsThanTheAgent) {
  device d;
  const executor on(&d);
  const auto data = zeros<int>(on, 128);
  on.launch<add_agent>(2, {data.data(), 128, 3}, 0, 32);
  std::vector<int> expected(128, 0);
  for (int i = 0; i < 128; ++i) {
    expected[static_cast<std::size_t>(i)] = i % 64 < 32 ? 3 : 0;
  }
  EXPECT_EQ(to_host(on, data), expected);
  for (const int threads : {0, 33, 96}) {
    EXPECT_THROW(on.launch<add_agent>(2, {data.data(), 128, 3}, 0, threads), launch_failure);
    EXPECT_THROW((void)on.resident_blocks<add_agent>(0, threads), launch_failure);
  }
}

TEST(Launch, NullStreamMeansTheDefaultDevice) {
  const executor on;
  const std::uint64_t before = default_device().counters.launches;
  const auto data = zeros<int>(on, 100);
  on.launch<add_agent>(2, {data.data(), 100, 3});
  EXPECT_EQ(to_host(on, data), std::vector<int>(100, 3));
  EXPECT_EQ(default_device().counters.launches, before + 1);
  EXPECT_EQ(on.stream(), nullptr);
  EXPECT_FALSE(on.is_capturing());
}

TEST(Launch, IndicesAreThoseOfCuda) {
  device d(with_schedule(schedule::random, 3));
  const executor on(&d);
  const auto count = zeros<int>(on, 7 * 40);
  launch<40>(on, 7, [count = count.data()](auto& ctx, nothing&) {
    if (ctx.block_threads() == 40 && ctx.grid_blocks() == 7) {
      ctx.atomic_add(count + ctx.block_rank() * 40 + ctx.thread_rank(), 1);
    }
  });
  EXPECT_EQ(to_host(on, count), std::vector<int>(7 * 40, 1));
}

TEST(Launch, SharedMemoryBelongsToTheBlockAndStartsUndefined) {
  struct storage {
    int values[64];
  };
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order, 2));
    const executor on(&d);
    const auto out = zeros<int>(on, 5 * 64);
    const auto poison = zeros<unsigned>(on, 5);
    launch<64, storage>(
        on, 5,
        [out = out.data(), poison = poison.data()](auto& ctx, storage& shared) {
          auto* const dynamic = static_cast<int*>(ctx.dynamic_shared());
          const int i = ctx.thread_rank();
          const int block = static_cast<int>(ctx.block_rank());
          if (i == 0) {
            ctx.store(poison + block, static_cast<unsigned>(shared.values[7]));
          }
          ctx.barrier();
          shared.values[i] = block;
          dynamic[i] = 100 * i;
          ctx.barrier();
          ctx.store(out + block * 64 + i, shared.values[63 - i] + dynamic[63 - i]);
        },
        64 * sizeof(int));
    const auto values = to_host(on, out);
    for (int i = 0; i < 5 * 64; ++i) {
      ASSERT_EQ(values[static_cast<std::size_t>(i)], i / 64 + 100 * (63 - i % 64));
    }
    if (order != schedule::random) {
      EXPECT_EQ(to_host(on, poison), std::vector<unsigned>(5, 0xcdcdcdcdu))
          << "in a block that follows another";
    }
  }
}

TEST(Launch, HostThreadsTakeTurns) {
  device d(with_schedule(schedule::random));
  const auto work = [&] {
    const executor on(&d);
    for (int i = 0; i < 20; ++i) {
      const auto data = zeros<int>(on, 300);
      on.launch<add_agent>(5, {data.data(), 300, i});
      EXPECT_EQ(to_host(on, data), std::vector<int>(300, i));
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(d.live_bytes(), 0u);
}

TEST(ResidentBlocks, IsWhatTheDeviceHolds) {
  device d;
  const executor on(&d);
  EXPECT_EQ(on.resident_blocks<add_agent>(), d.settings.occupancy);
  d.settings.resident_blocks = 3;
  EXPECT_EQ(on.resident_blocks<add_agent>(1000), 3u);
  EXPECT_THROW((void)on.resident_blocks<add_agent>(d.settings.shared_limit + 1), launch_failure);
}

TEST(Primitives, ExclusiveScanInPlace) {
  device d;
  const executor on(&d);
  const auto data = to_device<std::int64_t>(on, {3, 1, 4, 1, 5});
  on.exclusive_scan(data.data(), data.data(), 5, on.default_resource());
  EXPECT_EQ(to_host(on, data), (std::vector<std::int64_t>{0, 3, 4, 8, 9}));
  on.exclusive_scan(data.data(), data.data(), 0, on.default_resource());
  EXPECT_THROW(on.exclusive_scan(data.data(), data.data(), 6, on.default_resource()), out_of_bounds);
}

TEST(Primitives, SortPairsIsStableAndLooksAtTheLowBitsOnly) {
  device d;
  const executor on(&d);
  const auto keys = to_device<std::uint32_t>(on, {3, 0xf1, 2, 1, 3, 0});
  const auto values = to_device<double>(on, {0, 1, 2, 3, 4, 5});
  const auto sorted_keys = uninitialised<std::uint32_t>(on, 6);
  const auto sorted_values = uninitialised<double>(on, 6);
  on.sort_pairs(keys.data(), sorted_keys.data(), values.data(), sorted_values.data(), 6, 2,
                on.default_resource());
  EXPECT_EQ(to_host(on, sorted_keys), (std::vector<std::uint32_t>{0, 0xf1, 1, 2, 3, 3}));
  EXPECT_EQ(to_host(on, sorted_values), (std::vector<double>{5, 1, 3, 2, 0, 4}));
  on.sort_pairs(keys.data(), sorted_keys.data(), values.data(), sorted_values.data(), 6, 32,
                on.default_resource());
  EXPECT_EQ(to_host(on, sorted_values), (std::vector<double>{5, 3, 2, 0, 4, 1}));
}

TEST(Primitives, SortPairsInPlaceTakesNoMemoryAndMayExchangeBuffers) {
  device d;
  const executor on(&d);
  for (const int key_bits : {2, 9}) {
    auto keys = to_device<std::uint32_t>(on, {3, 0x71, 2, 1, 3, 0});
    auto other_keys = uninitialised<std::uint32_t>(on, 6);
    auto values = to_device<double>(on, {0, 1, 2, 3, 4, 5});
    auto other_values = uninitialised<double>(on, 6);
    const std::uint64_t allocations = d.counters.allocations;
    on.sort_pairs_in_place(keys, other_keys, values, other_values, key_bits, on.default_resource());
    EXPECT_EQ(d.counters.allocations, allocations);
    EXPECT_EQ(to_host(on, values), key_bits == 2 ? (std::vector<double>{5, 1, 3, 2, 0, 4})
                                                 : (std::vector<double>{5, 3, 2, 0, 4, 1}));
    EXPECT_EQ(to_host(on, keys), key_bits == 2 ? (std::vector<std::uint32_t>{0, 0x71, 1, 2, 3, 3})
                                               : (std::vector<std::uint32_t>{0, 1, 2, 3, 3, 0x71}));
  }
}

TEST(Graph, RecordsNowAndRunsLater) {
  device d;
  const executor on(&d);
  const auto data = zeros<int>(on, 100);
  const auto twin = zeros<int>(on, 100);
  graph g;
  on.replay(g);
  EXPECT_EQ(d.counters.replays, 1u) << "of an empty graph";
  {
    add_agent::params p{data.data(), 100, 5};
    g = on.record([&](const executor& recorder) {
      EXPECT_TRUE(recorder.is_capturing());
      recorder.fill_bytes(data.data(), 0, data.bytes());
      recorder.launch<add_agent>(2, p);
      p.amount = 1;
      recorder.launch<add_agent>(2, p);
      recorder.copy(twin.data(), data.data(), data.bytes());
      EXPECT_THROW(recorder.launch<add_agent>(0, p), launch_failure);
    });
    p.amount = 100;
  }
  EXPECT_EQ(g.size(), 4u);
  EXPECT_EQ(d.counters.launches, 0u);
  EXPECT_EQ(to_host(on, data), std::vector<int>(100, 0));
  graph moved = std::move(g);
  for (int i = 0; i < 2; ++i) {
    on.replay(moved);
    EXPECT_EQ(to_host(on, twin), std::vector<int>(100, 6));
  }
  EXPECT_EQ(d.counters.launches, 4u);
  EXPECT_EQ(d.counters.replays, 3u);
}

TEST(Graph, RefusesWhatSynchronisesOrAllocates) {
  device d;
  const executor on(&d);
  const auto data = zeros<int>(on, 4);
  int host = 0;
  const auto refuses = [&](const auto& call) {
    EXPECT_THROW((void)on.record(call), capture_violation);
    EXPECT_FALSE(on.is_capturing());
    d.capturing = true;
    EXPECT_TRUE(on.is_capturing());
    EXPECT_THROW(call(on), capture_violation);
    d.capturing = false;
  };
  refuses([&](const executor& e) { e.upload(data.data(), &host, 4); });
  refuses([&](const executor& e) { e.download(&host, data.data(), 4); });
  refuses([&](const executor& e) { e.synchronize(); });
  refuses([&](const executor& e) { e.exclusive_scan(data.data(), data.data(), 4, e.default_resource()); });
  refuses([&](const executor& e) { zeros<int>(e, 1); });
  refuses([&](const executor& e) {
    graph g;
    e.replay(g);
  });
  d.capturing = true;
  EXPECT_NO_THROW(on.launch<add_agent>(1, {data.data(), 4, 1}));
  d.capturing = false;
  EXPECT_EQ(to_host(on, data), std::vector<int>(4, 1));
}

}  // namespace
}  // namespace sptrsv::emulator::testing
