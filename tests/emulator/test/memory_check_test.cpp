// Reads and writes that the emulator refuses.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

/// Runs `body(ctx, data, shared)` in thread 5 of block 2.
struct four_values {
  int values[4];
};
template <class T, class Body>
void run_on(const executor& on, T* data, const Body& body) {
  launch<8, four_values>(
      on, 4,
      [=](auto& ctx, four_values& shared) {
        if (ctx.block_rank() == 2 && ctx.thread_rank() == 5) {
          body(ctx, data, shared);
        }
      },
      64);
}

TEST(Bounds, EveryKindOfAccessIsChecked) {
  device d;
  const executor on(&d);
  const auto before = zeros<int>(on, 10);
  const auto data = zeros<int>(on, 10);
  const auto after = zeros<int>(on, 10);
  const auto refuses = [&](const auto& body) { EXPECT_THROW(run_on(on, data.data(), body), out_of_bounds); };
  refuses([](auto& ctx, int* p, four_values&) { ctx.load(p + 10); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.load_constant(p - 1); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.load_relaxed(p + 64); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.store(p + 10, 1); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.store_relaxed(p - 64, 1); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.atomic_add(p + 10, 1); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.pause(p + 10); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.load(reinterpret_cast<std::int64_t*>(p + 8) + 1); });
  refuses([](auto& ctx, int*, four_values&) { ctx.load(static_cast<const int*>(nullptr)); });
  refuses([](auto& ctx, int*, four_values& shared) { ctx.load(shared.values + 4); });
  refuses([](auto& ctx, int*, four_values&) { ctx.store(static_cast<int*>(ctx.dynamic_shared()) + 16, 1); });
  refuses([](auto& ctx, int*, four_values&) {
    const int on_the_stack = 1;
    ctx.load(&on_the_stack);
  });
  const std::string text = fault_text<out_of_bounds>(
      [&] { run_on(on, data.data(), [](auto& ctx, int* p, four_values&) { ctx.store(p + 10, 1); }); });
  EXPECT_TRUE(contains(text, "block 2, thread 5: store: 4 bytes at 0x")) << text;
  EXPECT_TRUE(contains(text, "(of 40 bytes), whose offset 40 this would be")) << text;
}

TEST(Bounds, CopiesOfTheHostAreChecked) {
  device d;
  const executor on(&d);
  const auto data = zeros<int>(on, 10);
  std::vector<int> host(11);
  EXPECT_THROW(on.download(host.data(), data.data(), 44), out_of_bounds);
  EXPECT_THROW(on.upload(data.data(), host.data(), 44), out_of_bounds);
  EXPECT_THROW(on.fill_bytes(data.data() + 1, 0, 40), out_of_bounds);
  EXPECT_THROW(on.copy(data.data(), data.data() + 5, 24), out_of_bounds);
  EXPECT_THROW(on.upload(host.data(), host.data(), 40), out_of_bounds);
  EXPECT_THROW(on.download(data.data(), data.data(), 40), out_of_bounds);
  EXPECT_NO_THROW(on.download(nullptr, nullptr, 0));
}

TEST(Bounds, MisalignedAccessIsRefused) {
  device d;
  const executor on(&d);
  const auto data = zeros<int>(on, 10);
  EXPECT_THROW(run_on(on, data.data(),
                      [](auto& ctx, int* p, four_values&) { ctx.load(reinterpret_cast<double*>(p + 1)); }),
               misaligned_access);
  int words[4] = {};
  run_on(on, data.data(), [&](auto& ctx, int* p, four_values&) {
    ctx.template load_relaxed_words<4>(p + 4, words);
    ctx.template load_words<4>(p + 4, words);
    ctx.template store_relaxed_words<2>(p + 2, words);
  });
  EXPECT_THROW(
      run_on(on, data.data(),
             [&](auto& ctx, int* p, four_values&) { ctx.template load_relaxed_words<4>(p + 2, words); }),
      misaligned_access);
  EXPECT_THROW(run_on(on, data.data(),
                      [&](auto& ctx, int* p, four_values&) { ctx.template load_words<4>(p + 2, words); }),
               misaligned_access);
  EXPECT_THROW(
      run_on(on, data.data(),
             [&](auto& ctx, int* p, four_values&) { ctx.template store_relaxed_words<2>(p + 1, words); }),
      misaligned_access);
}

TEST(Lifetime, UseAfterFreeIsRefused) {
  device d;
  const executor on(&d);
  auto data = zeros<int>(on, 10);
  int* const stale = data.data();
  EXPECT_EQ(executor::why_unreachable(stale + 9), "");
  EXPECT_EQ(d.live_bytes(), 40u);
  data = zeros<int>(on, 10);
  EXPECT_EQ(d.live_bytes(), 40u);
  EXPECT_NE(data.data(), stale);
  EXPECT_NE(executor::why_unreachable(stale), "");
  EXPECT_NE(executor::why_unreachable(&d), "");
  const std::string text = fault_text<use_after_free>(
      [&] { run_on(on, stale, [](auto& ctx, int* p, four_values&) { ctx.store(p + 3, 1); }); });
  EXPECT_TRUE(contains(text, "offset 12 of buffer #")) << text;
  data = {};
  EXPECT_EQ(d.live_bytes(), 0u);
}

TEST(Lifetime, MemoryIsAlignedAndLimited) {
  device d;
  d.settings.memory_limit = 1000;
  const executor on(&d);
  std::vector<buffer<char>> buffers;
  for (std::size_t size : {1u, 300u, 256u}) {
    buffers.push_back(zeros<char>(on, size));
    EXPECT_EQ(address_of(buffers.back().data()) % 256, 0u);
  }
  try {
    zeros<char>(on, 444);
    ADD_FAILURE();
  } catch (const sptrsv::error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
  }
  zeros<char>(on, 443);
}

TEST(Initialisation, UninitialisedReadIsRefused) {
  device d;
  const executor on(&d);
  const auto data = uninitialised<int>(on, 10);
  const auto refuses = [&](const auto& body) {
    EXPECT_THROW(run_on(on, data.data(), body), uninitialised_read);
  };
  refuses([](auto& ctx, int* p, four_values&) { ctx.load(p); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.load_constant(p + 1); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.load_acquire(p + 2); });
  refuses([](auto& ctx, int* p, four_values&) { ctx.atomic_add(p + 3, 1); });
  on.fill_bytes(data.data() + 4, 0, 4);
  refuses([](auto& ctx, int* p, four_values&) { ctx.load(reinterpret_cast<std::int64_t*>(p + 4)); });
  refuses([](auto& ctx, int* p, four_values&) {
    ctx.store(p + 6, 1);  // pending: half of the value that is read
    ctx.load(reinterpret_cast<std::int64_t*>(p + 6));
  });
  int host = 0;
  EXPECT_THROW(on.download(&host, data.data() + 8, 4), uninitialised_read);
  EXPECT_THROW(on.exclusive_scan(data.data() + 8, data.data() + 8, 2, on.default_resource()),
               uninitialised_read);
  const auto twin = zeros<int>(on, 10);
  on.copy(twin.data(), data.data(), data.bytes());
  EXPECT_THROW(on.download(&host, twin.data() + 8, 4), uninitialised_read);
  EXPECT_NO_THROW(on.download(&host, twin.data() + 4, 4));

  EXPECT_NO_THROW(run_on(on, data.data(), [](auto& ctx, int* p, four_values&) {
    ctx.store(p + 9, 1);
    ctx.load(p + 9);
  }));
  EXPECT_NO_THROW(on.download(&host, data.data() + 9, 4));
  d.settings.check_initialised = false;
  EXPECT_NO_THROW(run_on(on, data.data(), [](auto& ctx, int* p, four_values&) { ctx.load(p); }));
}

TEST(Constant, WrittenInTheSameLaunchIsRefused) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    const executor on(&d);
    const auto data = zeros<std::int64_t>(on, 2);
    const auto run = [&](std::int64_t* written) {
      launch<1>(on, 2, [=, read = data.data()](auto& ctx, nothing&) {
        if (ctx.block_rank() == 0) {
          ctx.load_constant(read);
        } else {
          ctx.store(written, std::int64_t{1});
        }
      });
    };
    EXPECT_THROW(run(data.data()), constant_violation);
    EXPECT_NO_THROW(run(data.data() + 1));
    EXPECT_NO_THROW(launch<1>(on, 1, [p = data.data()](auto& ctx, nothing&) {
      ctx.load_constant(p + 1);  // written by the launch before
    }));
    EXPECT_THROW(launch<1>(on, 1,
                           [p = data.data()](auto& ctx, nothing&) {
                             ctx.load_constant(reinterpret_cast<const int*>(p) + 1);
                             ctx.atomic_add(reinterpret_cast<int*>(p), 1);  // the other half of the same word
                             ctx.atomic_add(p, 1);
                           }),
                 constant_violation);
  }
}

TEST(Constant, SharedMemoryIsRefused) {
  device d;
  const executor on(&d);
  EXPECT_THROW(run_on(on, static_cast<int*>(nullptr),
                      [](auto& ctx, int*, four_values& shared) { ctx.load_constant(shared.values); }),
               constant_violation);
}

TEST(DirectAccessDeathTest, DeviceAddressCannotBeDereferenced) {
  device d;
  const executor on(&d);
  const auto data = zeros<int>(on, 10);
  const volatile int* const p = data.data();
  EXPECT_DEATH({ [[maybe_unused]] const int v = *p; }, "dereferenced directly");
}

}  // namespace
}  // namespace sptrsv::emulator::testing
