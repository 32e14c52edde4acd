// When stores become visible, and which old values loads may see.
#include "emulator/memory/memory_model.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "emulator/test/support.hpp"

namespace sptrsv::emulator::testing {
namespace {

namespace simt = sptrsv::detail::simt;

constexpr auto is_set = [](int v) { return v != 0; };

/// Returns whether consume(ctx, data, flag) in block 1 is 42, while block 0 calls produce(ctx, data, flag).
template <class Produce, class Consume>
bool message_arrives(const executor& on, const Produce& produce, const Consume& consume) {
  const auto data = zeros<int>(on, 2);  // in one sector of the cache
  const auto flag = zeros<int>(on, 1);
  const auto result = zeros<int>(on, 1);
  launch<1>(on, 2, [=, data = data.data(), flag = flag.data(), result = result.data()](auto& ctx, nothing&) {
    if (ctx.block_rank() == 0) {
      produce(ctx, data, flag);
    } else {
      ctx.store(result, consume(ctx, data, flag));
    }
  });
  return to_host(on, result)[0] == 42;
}

constexpr auto store_then_flag = [](auto& ctx, int* data, int* flag) {
  ctx.store(data, 42);
  ctx.store_relaxed(flag, 1);
};
constexpr auto store_fence_flag = [](auto& ctx, int* data, int* flag) {
  ctx.store(data, 42);
  ctx.fence();
  ctx.store_relaxed(flag, 1);
};
constexpr auto store_half_fence_flag = [](auto& ctx, int* data, int* flag) {
  ctx.store(data, 42);
  ctx.fence_release();
  ctx.store_relaxed(flag, 1);
};
constexpr auto wait_fence_load = [](auto& ctx, const int* data, const int* flag) {
  simt::wait_until(ctx, flag, is_set);
  ctx.fence();
  return ctx.load(data);
};
constexpr auto wait_half_fence_load = [](auto& ctx, const int* data, const int* flag) {
  ctx.load(data + 1);
  simt::wait_until(ctx, flag, is_set);
  ctx.fence_acquire();
  return ctx.load(data);
};
constexpr auto acquire_then_load = [](auto& ctx, const int* data, const int* flag) {
  ctx.load(data + 1);
  while (ctx.load_acquire(flag) == 0) {
    ctx.pause(flag);
  }
  return ctx.load(data);
};

TEST(Visibility, FlagWithoutFenceOvertakesItsData) {
  const auto arrives = [](const executor& on) {
    return message_arrives(on, store_then_flag, wait_fence_load);
  };
  const int right = successes(100, arrives);
  EXPECT_GT(right, 10);
  EXPECT_LT(right, 90);
}

TEST(Visibility, FenceAndReleaseOrderFlagAndData) {
  const auto arrives = [](const executor& on) {
    return message_arrives(on, store_fence_flag, wait_fence_load) &&
           message_arrives(on, store_fence_flag, acquire_then_load) &&
           message_arrives(on, store_half_fence_flag, wait_fence_load) &&
           message_arrives(on, store_half_fence_flag, acquire_then_load) &&
           message_arrives(on, store_half_fence_flag, wait_half_fence_load) &&
           message_arrives(on, store_half_fence_flag, acquire_then_load) &&
           message_arrives(on, store_half_fence_flag, wait_half_fence_load);
  };
  EXPECT_EQ(successes(100, arrives), 100);
}

TEST(Visibility, HalfFencesOrderOneSideOnly) {
  const auto published_by_acquire = [](const executor& on) {
    return message_arrives(
        on,
        [](auto& ctx, int* data, int* flag) {
          ctx.store(data, 42);
          ctx.fence_acquire();
          ctx.store_relaxed(flag, 1);
        },
        wait_fence_load);
  };
  EXPECT_LT(successes(100, published_by_acquire), 90);
  const auto seen_after_release = [](const executor& on) {
    return message_arrives(on, store_fence_flag, [](auto& ctx, const int* data, const int* flag) {
      ctx.load(data + 1);
      simt::wait_until(ctx, flag, is_set);
      ctx.fence_release();
      return ctx.load(data);
    });
  };
  EXPECT_LT(successes(100, seen_after_release), 90);
}

constexpr auto wait_then = [](const auto& load) {
  return [=](auto& ctx, const int* data, const int* flag) {
    simt::wait_until(ctx, flag, is_set);
    return load(ctx, data);
  };
};

/// A load after a poll may be answered before the poll ends, or by what an SM has cached.
TEST(Visibility, LoadMayReturnAnOldValueUntilAnAcquire) {
  const auto arrivals = [](const auto& load) {
    return successes(
        100, [&](const executor& on) { return message_arrives(on, store_fence_flag, wait_then(load)); });
  };
  const int weak = arrivals([](auto& ctx, const int* data) { return ctx.load(data); });
  const int words = arrivals([](auto& ctx, const int* data) {
    int two[2];
    ctx.template load_words<2>(data, two);
    return two[0];
  });
  const int relaxed = arrivals([](auto& ctx, const int* data) { return ctx.load_relaxed(data); });
  for (const int right : {weak, words, relaxed}) {
    EXPECT_GT(right, 10);
    EXPECT_LT(right, 90);
  }
  EXPECT_EQ(arrivals([](auto& ctx, const int* data) {
              ctx.fence_acquire();
              return ctx.load_relaxed(data);
            }),
            100);
}

/// The same for a block that starts after the block that has published, on an SM that has held the old value.
TEST(Visibility, BlockMayFindWhatAnEarlierBlockOfItsSMHasCached) {
  const auto arrives = [](bool acquires) {
    return [=](const executor& on) {
      const auto data = zeros<int>(on, 1);
      const auto turn = zeros<int>(on, 1);
      const auto result = zeros<int>(on, 1);
      launch<1>(on, 2,
                [=, data = data.data(), turn = turn.data(), result = result.data()](auto& ctx, nothing&) {
                  if (ctx.atomic_add(turn, 1) == 0) {
                    ctx.store(data, 42);
                    ctx.fence_release();
                  } else {
                    if (acquires) {
                      ctx.fence_acquire();
                    }
                    ctx.store(result, ctx.load(data));
                  }
                });
      return to_host(on, result)[0] == 42;
    };
  };
  EXPECT_EQ(successes(100, arrives(true), 1), 100);
  EXPECT_LT(successes(100, arrives(false), 1), 90);
}

TEST(Visibility, AtomicOperationsSeeTheLatestValue) {
  const auto arrives = [](const executor& on) {
    return message_arrives(on, store_fence_flag, [](auto& ctx, int* data, const int* flag) {
      simt::wait_until(ctx, flag, is_set);
      return ctx.atomic_add(data, 0);
    });
  };
  EXPECT_EQ(successes(100, arrives), 100);
}

/// What a relaxed load has seen, later loads of the thread from the same address see, too.
TEST(Visibility, LoadsOfOneAddressKeepTheirOrderAfterARelaxedOne) {
  const auto arrives = [](const executor& on) {
    return message_arrives(
        on, [](auto& ctx, int* data, int*) { ctx.store_relaxed(data, 42); },
        [](auto& ctx, const int* data, const int*) {
          simt::wait_until(ctx, data, is_set);
          const int relaxed = ctx.load_relaxed(data);
          const int weak = ctx.load(data);
          return relaxed == 42 ? weak : 0;
        });
  };
  EXPECT_EQ(successes(100, arrives), 100);
}

TEST(Visibility, PollsEndAlthoughTheirFirstLoadsMayBeOld) {
  device d(with_schedule(schedule::random));
  d.settings.stale_probability = 1;
  EXPECT_TRUE(message_arrives(executor(&d), store_fence_flag, wait_fence_load));
}

/// Lane 0 waits and acquires, then `Meet` lets all 32 lanes load; block 0 publishes.
template <class Meet>
int acquired_together(const Meet& meet) {
  return successes(100, [&](const executor& on) {
    const auto data = zeros<int>(on, 32);
    const auto flag = zeros<int>(on, 1);
    const auto out = zeros<int>(on, 32);
    launch<32>(on, 2, [=, data = data.data(), flag = flag.data(), out = out.data()](auto& ctx, nothing&) {
      const int i = ctx.thread_rank();
      const auto warp = ctx.template group<32>();
      if (ctx.block_rank() == 0) {
        ctx.store(data + i, 42);
        meet(ctx, warp);
        if (i == 0) {
          ctx.fence_release();
          ctx.store_relaxed(flag, 1);
        }
        return;
      }
      ctx.load(data + i);
      if (i == 0) {
        simt::wait_until(ctx, flag, is_set);
        ctx.fence();
      }
      meet(ctx, warp);
      ctx.store(out + i, ctx.load(data + i));
    });
    return to_host(on, out) == std::vector<int>(32, 42);
  });
}

TEST(Visibility, BarrierAndTileSyncHandOnWhatOneThreadReleasesOrAcquires) {
  EXPECT_EQ(acquired_together([](auto& ctx, const auto&) { ctx.barrier(); }), 100);
  EXPECT_EQ(acquired_together([](auto&, const auto& warp) { warp.sync(); }), 100);
  EXPECT_LT(acquired_together([](auto&, const auto& warp) { warp.shuffle(0, 0); }), 90);
}

TEST(Visibility, BarrierAloneDoesNotPublishToOtherBlocks) {
  const auto arrives = [](const executor& on) {
    return message_arrives(
        on,
        [](auto& ctx, int* data, int* flag) {
          ctx.store(data, 42);
          ctx.barrier();
          ctx.store_relaxed(flag, 1);
        },
        wait_fence_load);
  };
  EXPECT_LT(successes(100, arrives), 90);
}

TEST(Visibility, BarrierPublishesToTheBlock) {
  const auto all_arrive = [](const executor& on) {
    const auto data = zeros<int>(on, 128);
    const auto out = zeros<int>(on, 128);
    launch<128>(on, 1, [data = data.data(), out = out.data()](auto& ctx, nothing&) {
      const int i = ctx.thread_rank();
      for (int round = 1; round <= 3; ++round) {
        ctx.store(data + i, round * i);
        ctx.barrier();
        ctx.store(out + i, ctx.load(data + 127 - i));
        ctx.barrier();
      }
    });
    const auto values = to_host(on, out);
    bool right = true;
    for (int i = 0; i < 128; ++i) {
      right = right && values[static_cast<std::size_t>(i)] == 3 * (127 - i);
    }
    return right;
  };
  EXPECT_EQ(successes(50, all_arrive), 50);
}

TEST(Visibility, ThreadSeesItsOwnStores) {
  device d;
  d.settings.drain_probability = 0;
  const executor on(&d);
  const auto data = zeros<std::uint32_t>(on, 2);
  const auto out = zeros<std::uint64_t>(on, 2);
  launch<1>(on, 1, [data = data.data(), out = out.data()](auto& ctx, nothing&) {
    ctx.store(data, 1u);
    ctx.store(data, 2u);
    ctx.store_relaxed(data + 1, 3u);
    ctx.store(out, ctx.load(reinterpret_cast<const std::uint64_t*>(data)));
    ctx.store(out + 1, std::uint64_t{ctx.atomic_add(data, 5u)} + ctx.load_relaxed(data));
  });
  EXPECT_EQ(to_host(on, out), (std::vector<std::uint64_t>{0x300000002u, 2 + 7}));
  EXPECT_EQ(to_host(on, data), (std::vector<std::uint32_t>{7, 3}));
}

TEST(Visibility, ThreadNeverSeesAnOlderValueThanItsOwn) {
  const auto right = [](const executor& on) {
    const auto data = zeros<int>(on, 2);
    const auto wrong = zeros<int>(on, 1);
    launch<2>(on, 2, [data = data.data(), wrong = wrong.data()](auto& ctx, nothing&) {
      for (int i = 1; i <= 20; ++i) {
        ctx.load(data + 1);  // brings the sector into the cache
        if (ctx.block_rank() == 0 && ctx.thread_rank() == 0) {
          ctx.store(data, i);
          if (ctx.load(data) != i) {
            ctx.store(wrong, 1);
          }
        }
      }
    });
    return to_host(on, wrong)[0] == 0;
  };
  EXPECT_EQ(successes(100, right), 100);
}

TEST(Visibility, StoresToOneAddressKeepTheirOrder) {
  const auto ascends = [](const executor& on) {
    const auto data = zeros<int>(on, 1);
    const auto wrong = zeros<int>(on, 1);
    launch<1>(on, 2, [data = data.data(), wrong = wrong.data()](auto& ctx, nothing&) {
      int last = 0;
      for (int i = 1; i <= 20; ++i) {
        if (ctx.block_rank() == 0) {
          ctx.store_relaxed(data, i);
          if (i % 7 == 0) {
            ctx.barrier();  // moves the stores to the buffer of the block
          }
        } else {
          const int now = ctx.load_relaxed(data);
          if (now < last) {
            ctx.store(wrong, 1);
          }
          last = now;
        }
      }
    });
    return to_host(on, wrong)[0] == 0 && to_host(on, data)[0] == 20;
  };
  EXPECT_EQ(successes(100, ascends), 100);
}

TEST(Visibility, ComplexValueCanBeSeenHalfWritten) {
  const auto whole = [](const executor& on) {
    const auto data = zeros<std::complex<double>>(on, 1);
    const auto result = zeros<std::complex<double>>(on, 1);
    launch<1>(on, 2, [data = data.data(), result = result.data()](auto& ctx, nothing&) {
      if (ctx.block_rank() == 0) {
        ctx.store(data, std::complex<double>(1, 1));
        return;
      }
      std::complex<double> seen = ctx.load(data);
      while (seen == 0.0) {
        ctx.pause(data);
        ctx.fence();
        seen = ctx.load(data);
      }
      ctx.store(result, seen);
    });
    return to_host(on, result)[0] == std::complex<double>(1, 1);
  };
  EXPECT_LT(successes(100, whole), 100);
}

TEST(Visibility, StoresArriveInTheEndEvenIfNothingForcesThem) {
  for (const schedule order : {schedule::in_order, schedule::random}) {
    device d(with_schedule(order));
    d.settings.drain_probability = 0;
    EXPECT_TRUE(message_arrives(
        executor(&d), [](auto& ctx, int* data, int*) { ctx.store(data, 42); },
        [](auto& ctx, const int* data, const int*) { return simt::wait_until(ctx, data, is_set); }));
  }
}

TEST(Visibility, EndOfTheLaunchPublishesAll) {
  device d;
  d.settings.drain_probability = 0;
  const executor on(&d);
  const auto data = uninitialised<int>(on, 10000);
  launch<100>(on, 10, [data = data.data()](auto& ctx, nothing&) {
    for (int i = 0; i < 10; ++i) {
      const int at = (static_cast<int>(ctx.block_rank()) * 100 + ctx.thread_rank()) * 10 + i;
      ctx.store(data + at, at);
      if (i == 4) {
        ctx.barrier();
      }
    }
  });
  const auto values = to_host(on, data);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace
}  // namespace sptrsv::emulator::testing
