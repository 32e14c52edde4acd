// Kernels like those of the library: a look-back scan and a polling solve.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "emulator/test/support.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::emulator::testing {
namespace {

namespace simt = sptrsv::detail::simt;

/// Inclusive scan in one pass (Merrill and Garland, decoupled look-back). With status 1 a word holds the sum
/// of a block, with status 2 the sum of all blocks up to it.
struct look_back_agent {
  static constexpr int block_threads = 64;
  struct shared_storage {
    std::uint32_t place;
    std::uint32_t before;
    std::uint32_t values[block_threads];
  };
  struct params {
    const std::uint32_t* in;
    std::uint32_t* out;
    std::uint64_t* status;
    std::uint32_t* ticket;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const int i = ctx.thread_rank();
    const std::uint32_t place = detail::draw_block_ticket(ctx, shared.place, p.ticket);
    shared.values[i] = ctx.load_constant(p.in + place * block_threads + i);
    ctx.barrier();
    std::uint32_t sum = 0;
    for (int k = 0; k <= i; ++k) {
      sum += shared.values[k];
    }
    if (i == block_threads - 1) {
      ctx.store_relaxed(p.status + place, packed(1, sum));
      shared.before = look_back(ctx, p.status, place);
      ctx.store_relaxed(p.status + place, packed(2, shared.before + sum));
    }
    ctx.barrier();
    ctx.store(p.out + place * block_threads + i, shared.before + sum);
  }

 private:
  static std::uint64_t packed(std::uint64_t state, std::uint32_t sum) { return state << 32 | sum; }

  template <class Context>
  SPTRSV_DEVICE static std::uint32_t look_back(Context& ctx, const std::uint64_t* status,
                                               std::uint32_t place) {
    std::uint32_t sum = 0;
    while (place-- > 0) {
      const std::uint64_t word =
          simt::wait_until(ctx, status + place, [](std::uint64_t w) { return w != 0; });
      sum += static_cast<std::uint32_t>(word);
      if (word >> 32 == 2) {
        break;
      }
    }
    return sum;
  }
};

TEST(LookBackScan, PassesUnderEverySchedule) {
  constexpr std::uint32_t blocks = 20;
  constexpr std::uint32_t size = blocks * look_back_agent::block_threads;
  const auto scans = [](const executor& on) {
    const auto in = to_device(on, std::vector<std::uint32_t>(size, 3));
    const auto out = uninitialised<std::uint32_t>(on, size);
    const auto status = zeros<std::uint64_t>(on, blocks);
    const auto ticket = zeros<std::uint32_t>(on, 1);
    on.launch<look_back_agent>(blocks, {in.data(), out.data(), status.data(), ticket.data()});
    const auto values = to_host(on, out);
    for (std::uint32_t i = 0; i < size; ++i) {
      if (values[i] != 3 * (i + 1)) {
        return false;
      }
    }
    return true;
  };
  for (const std::uint32_t resident : {0u, 1u, 3u}) {
    for (const schedule order : {schedule::in_order, schedule::reverse}) {
      device d(with_schedule(order, resident));
      EXPECT_TRUE(scans(executor(&d)));
    }
    EXPECT_EQ(successes(100, scans, resident), 100);
  }
}

struct host_system {
  std::vector<int> offsets{0};
  std::vector<int> columns;
  std::vector<double> values;
  std::vector<double> b;
  std::vector<double> x;
};

/// `size` rows of up to 20 entries and a diagonal, which is the last of its row.
host_system random_system(int size) {
  std::mt19937 random(7);
  host_system s;
  for (int row = 0; row < size; ++row) {
    std::vector<int> columns;
    for (int k = 0; k < 20 && row > 0; ++k) {
      columns.push_back(static_cast<int>(random() % static_cast<unsigned>(row)));
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    double sum = s.b.emplace_back(static_cast<double>(random() % 100));
    for (const int column : columns) {
      s.columns.push_back(column);
      s.values.push_back(static_cast<double>(1 + random() % 9) / 100);
      sum -= s.values.back() * s.x[static_cast<std::size_t>(column)];
    }
    s.columns.push_back(row);
    s.values.push_back(2);
    s.x.push_back(sum / 2);
    s.offsets.push_back(static_cast<int>(s.columns.size()));
  }
  return s;
}

/// One warp per row; each row waits for the flags of its columns. One test omits the fence of the consumer.
template <bool Fence>
struct solve_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    const int* offsets;
    const int* columns;
    const double* values;
    const double* b;
    double* x;
    int* solved;
    std::uint32_t* ticket;
    int size;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::uint32_t ticket = warp.rank() == 0 ? ctx.atomic_add(p.ticket, 1u) : 0;
    const int row = static_cast<int>(warp.shuffle(ticket, 0));
    if (row >= p.size) {
      return;
    }
    const int diagonal = ctx.load_constant(p.offsets + row + 1) - 1;
    double sum = 0;
    for (int e = ctx.load_constant(p.offsets + row) + warp.rank(); e < diagonal; e += 32) {
      const int column = ctx.load_constant(p.columns + e);
      simt::wait_until(ctx, p.solved + column, [](int v) { return v != 0; });
      if constexpr (Fence) {
        ctx.fence();
      }
      sum += ctx.load_constant(p.values + e) * ctx.load(p.x + column);
    }
    sum = simt::reduce(warp, sum, 32, simt::plus{});
    if (warp.rank() == 0) {
      ctx.store(p.x + row, (ctx.load_constant(p.b + row) - sum) / ctx.load_constant(p.values + diagonal));
      ctx.fence_release();
      ctx.store_relaxed(p.solved + row, 1);
    }
  }
};

template <bool Fence>
double largest_error(const executor& on, const host_system& s) {
  const std::size_t size = s.b.size();
  const auto offsets = to_device(on, s.offsets);
  const auto columns = to_device(on, s.columns);
  const auto values = to_device(on, s.values);
  const auto b = to_device(on, s.b);
  const auto x = zeros<double>(on, size);
  const auto solved = zeros<int>(on, size);
  const auto ticket = zeros<std::uint32_t>(on, 1);
  on.launch<solve_agent<Fence>>(static_cast<std::uint32_t>((size + 3) / 4),
                                {offsets.data(), columns.data(), values.data(), b.data(), x.data(),
                                 solved.data(), ticket.data(), static_cast<int>(size)});
  const auto result = to_host(on, x);
  double error = 0;
  for (std::size_t i = 0; i < size; ++i) {
    error = std::max(error, std::abs(result[i] - s.x[i]));
  }
  return error;
}

TEST(PollingSolve, ThousandRowsUnderEverySchedule) {
  const host_system s = random_system(1000);
  for (const schedule order : {schedule::in_order, schedule::reverse, schedule::random}) {
    for (const std::uint32_t resident : {0u, 1u, 8u}) {
      device d(with_schedule(order, resident, 3));
      const auto start = std::chrono::steady_clock::now();
      EXPECT_LT(largest_error<true>(executor(&d), s), 1e-10);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      RecordProperty(
          "schedule_" + std::to_string(static_cast<int>(order)) + "_resident_" + std::to_string(resident),
          std::to_string(time.count()) + " s, " + std::to_string(d.counters.switches) + " switches");
    }
  }
}

TEST(PollingSolve, ConsumerWithoutFenceIsCaught) {
  const host_system s = random_system(200);
  EXPECT_EQ(successes(10, [&](const executor& on) { return largest_error<true>(on, s) < 1e-10; }), 10);
  EXPECT_LT(successes(
                10, [&](const executor& on) { return largest_error<false>(on, s) < 1e-10; }, 8),
            10);
}

}  // namespace
}  // namespace sptrsv::emulator::testing
