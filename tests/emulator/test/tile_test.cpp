// Tile collectives of the emulator.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/test/support.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::emulator::testing {
namespace {

namespace simt = sptrsv::detail::simt;

/// Every collective against its definition, for one tile size.
template <int Lanes>
void check_tile(const executor& on) {
  const auto wrong = zeros<int>(on, 1);
  launch<64>(on, 2, [wrong = wrong.data()](auto& ctx, nothing&) {
    const auto tile = ctx.template group<Lanes>();
    const int me = tile.rank();
    const int base = ctx.thread_rank() - me;
    const auto expect = [&](bool right) {
      if (!right) {
        ctx.atomic_add(wrong, 1);
      }
    };
    expect(me == ctx.thread_rank() % Lanes && tile.index() == ctx.thread_rank() / Lanes);
    struct pair {
      double first;
      int second;
    };
    const pair v{0.5 * ctx.thread_rank(), me};
    for (int i = 0; i < Lanes; ++i) {
      const pair got = tile.shuffle(v, i);
      expect(got.first == 0.5 * (base + i) && got.second == i);
      expect(tile.shuffle_xor(me, i) == (me ^ i));
      expect(tile.ballot(me == i) == std::uint32_t{1} << i);
      expect(tile.any(me == i));
      expect(tile.all(me == i) == (Lanes == 1));
    }
    tile.sync();
    expect(!tile.any(false) && tile.all(true));
    expect(simt::reduce(tile, me, Lanes, simt::plus{}) == Lanes * (Lanes - 1) / 2);
    expect(simt::reduce(tile, me, Lanes, simt::maximum{}) == Lanes - 1);
    expect(simt::reduce(tile, me, Lanes, simt::minimum{}) == 0);
    expect(simt::reduce(tile, me, Lanes, simt::bit_or{}) == Lanes - 1);
    expect(simt::exclusive_sum(tile, me) == me * (me - 1) / 2);
  });
  EXPECT_EQ(to_host(on, wrong)[0], 0) << Lanes << " lanes";
}

TEST(Tile, CollectivesOfEverySize) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    const executor on(&d);
    check_tile<1>(on);
    check_tile<2>(on);
    check_tile<4>(on);
    check_tile<8>(on);
    check_tile<16>(on);
    check_tile<32>(on);
  }
}

/// The product of matrices that a warp holds, against its definition.
TEST(Tile, MultipliesMatrices) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    const executor on(&d);
    const auto a = [](int m, int k) { return 1.0 + 10 * m + k; };
    const auto b = [](int k, int n) { return 0.5 * k - n; };
    const auto c = [](int m, int n) { return 100.0 * m + n; };
    const auto out = zeros<double>(on, 64);
    launch<32>(on, 1, [=, out = out.data()](auto& ctx, nothing&) {
      const auto warp = ctx.template group<32>();
      const int row = warp.rank() / 4;
      const int quarter = warp.rank() % 4;
      double sums[2] = {c(row, 2 * quarter), c(row, 2 * quarter + 1)};
      warp.multiply_add(a(row, quarter), b(quarter, row), sums);
      ctx.store(out + 8 * row + 2 * quarter, sums[0]);
      ctx.store(out + 8 * row + 2 * quarter + 1, sums[1]);
    });
    const auto found = to_host(on, out);
    for (int m = 0; m < 8; ++m) {
      for (int n = 0; n < 8; ++n) {
        double expected = c(m, n);
        for (int k = 0; k < 4; ++k) {
          expected += a(m, k) * b(k, n);
        }
        EXPECT_EQ(found[static_cast<std::size_t>(8 * m + n)], expected) << m << ", " << n;
      }
    }
  }
}

/// Two matrices are the upper and the lower half of one of 16 rows.
TEST(Tile, MultipliesTwoMatrices) {
  device d(with_schedule(schedule::random));
  const executor on(&d);
  const auto a = [](int m, int k) { return 1.0 + 10 * m + k; };
  const auto b = [](int k, int n) { return 0.5 * k - n; };
  const auto out = zeros<double>(on, 128);
  launch<32>(on, 1, [=, out = out.data()](auto& ctx, nothing&) {
    const auto warp = ctx.template group<32>();
    const int row = warp.rank() / 4;
    const int quarter = warp.rank() % 4;
    const double of_a[2] = {a(row, quarter), a(row + 8, quarter)};
    double sums[2][2] = {{1, 2}, {3, 4}};
    warp.multiply_add(of_a, b(quarter, row), sums[0], sums[1]);
    for (int i = 0; i < 4; ++i) {
      ctx.store(out + 8 * (row + i / 2 * 8) + 2 * quarter + i % 2, sums[i / 2][i % 2]);
    }
  });
  const auto found = to_host(on, out);
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      double expected = m / 8 * 2 + n % 2 + 1;
      for (int k = 0; k < 4; ++k) {
        expected += a(m, k) * b(k, n);
      }
      EXPECT_EQ(found[static_cast<std::size_t>(8 * m + n)], expected) << m << ", " << n;
    }
  }
}

TEST(Tile, SizesMayAlternate) {
  const auto sums = [](const executor& on) {
    const auto out = zeros<int>(on, 32);
    launch<32>(on, 1, [out = out.data()](auto& ctx, nothing&) {
      const auto small = ctx.template group<4>();
      const auto large = ctx.template group<32>();
      int v = 1;
      for (int i = 0; i < 3; ++i) {
        v = simt::reduce(small, v, 4, simt::plus{});
        v = simt::reduce(large, v, 32, simt::plus{}) / 32;
      }
      ctx.store(out + ctx.thread_rank(), v);
    });
    return to_host(on, out) == std::vector<int>(32, 64);
  };
  EXPECT_EQ(successes(50, sums), 50);
}

template <class Body>
void expect_tile_divergence(const Body& body) {
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    device d(with_schedule(order));
    EXPECT_THROW(launch<64>(executor(&d), 1, body), tile_divergence);
  }
}

TEST(Tile, LaneThatHasEndedIsAnError) {
  expect_tile_divergence([](auto& ctx, nothing&) {
    if (ctx.thread_rank() != 5) {
      ctx.template group<16>().sync();
    }
  });
}

TEST(Tile, TwoSizesAtOnceAreAnError) {
  expect_tile_divergence([](auto& ctx, nothing&) {
    if (ctx.thread_rank() % 2 == 0) {
      ctx.template group<8>().shuffle(0, 0);
    } else {
      ctx.template group<32>().shuffle(0, 0);
    }
  });
}

TEST(Tile, TwoOperationsAtOnceAreAnError) {
  expect_tile_divergence([](auto& ctx, nothing&) {
    const auto tile = ctx.template group<8>();
    if (tile.rank() == 0) {
      tile.sync();
    } else {
      tile.shuffle(0, 0);
    }
  });
}

TEST(Tile, SourceOutsideIsAnError) {
  expect_tile_divergence([](auto& ctx, nothing&) { ctx.template group<8>().shuffle(1, 8); });
  expect_tile_divergence([](auto& ctx, nothing&) { ctx.template group<8>().shuffle_xor(1, 8); });
}

TEST(Tile, LaneInABarrierIsADeadlock) {
  device d;
  const std::string text = fault_text<deadlock>([&] {
    launch<64>(executor(&d), 1, [](auto& ctx, nothing&) {
      if (ctx.thread_rank() == 3) {
        ctx.barrier();
      }
      ctx.template group<32>().sync();
      if (ctx.thread_rank() != 3) {
        ctx.barrier();
      }
    });
  });
  EXPECT_TRUE(contains(text, "thread 0 is in sync of a tile with 31 of 32 lanes")) << text;
  EXPECT_TRUE(contains(text, "thread 3 is in a barrier with 33 of 64 threads")) << text;
}

TEST(Tile, CutByTheEndOfTheBlockIsAnError) {
  device d;
  EXPECT_THROW(launch<48>(executor(&d), 1, [](auto& ctx, nothing&) { ctx.template group<32>().sync(); }),
               tile_divergence);
}

}  // namespace
}  // namespace sptrsv::emulator::testing
