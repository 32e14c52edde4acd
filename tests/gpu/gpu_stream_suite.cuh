// Several solves in flight on one solver, each with its own stream and workspace.
#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <thread>

#include "gpu/gpu_fixture.cuh"

namespace sptrsv::testing {

/// One block allows the next kernel of the stream to begin at once, then follows `ring`, a permutation with
/// one cycle, for a long time, and writes only then.
template <class Value>
__global__ void copy_late(const Value* from, Value* to, std::int64_t count, const std::int32_t* ring,
                          int steps) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  std::int32_t at = 0;
  for (int step = 0; step < steps; ++step) {
    at = ring[at];
  }
  for (std::int64_t i = threadIdx.x; at >= 0 && i < count; i += blockDim.x) {
    to[i] = from[i];
  }
}

template <class Types>
class gpu_streams : public gpu_suite<Types> {
 public:
  using gpu_suite<Types>::gpu_suite;
  using typename contract<Types>::value_type;

  /// `count` streams solve `rounds` times each; every solution is compared with that of a solve alone.
  void solve_together(const pattern& p, std::size_t count, std::size_t rounds) {
    const form f = this->forms_for(count).front();
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 3);
    // Three right-hand sides take turns, so that values left by an earlier solve are not taken for a
    // solution.
    struct lane {
      owned_stream stream;
      layout shape;
      std::vector<device_vector<value_type>> b;
      std::vector<std::vector<value_type>> expected;
      std::vector<device_vector<value_type>> x;
    };
    std::vector<lane> lanes(count);
    for (std::size_t i = 0; i < count; ++i) {
      lane& l = lanes[i];
      l.shape = column_major(p.size, static_cast<std::int64_t>(i % 3) + 1);
      for (std::size_t k = 0; k < 3; ++k) {
        l.b.push_back(this->random_rhs(l.shape, 3 * i + k + 1));
        const auto b = this->where.download(l.b[k].memory);
        l.expected.push_back(this->solve(solver, l.shape, b));
        this->expect_solved(a, f, p.name, l.shape, b, l.expected[k]);
      }
      for (std::size_t r = 0; r < rounds; ++r) {
        l.x.push_back(this->poisoned_solution(l.shape));
      }
    }
    using workspace = decltype(solver.make_workspace());
    std::vector<workspace> workspaces;
    for (lane& l : lanes) {
      workspaces.push_back(solver.make_workspace(l.stream.get()));
    }
    for (std::size_t r = 0; r < rounds; ++r) {
      for (std::size_t i = 0; i < count; ++i) {
        solver.solve(lanes[i].b[r % 3].in(), lanes[i].x[r].out(), value_type(1), workspaces[i],
                     lanes[i].stream.get());
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(solver.status(workspaces[i], lanes[i].stream.get()).ok());
      for (std::size_t r = 0; r < rounds; ++r) {
        this->expect_repeated(solver, a, f, p.name, lanes[i].shape,
                              this->where.download(lanes[i].b[r % 3].memory),
                              this->where.download(lanes[i].x[r].memory), lanes[i].expected[r % 3]);
        ASSERT_FALSE(this->HasFailure()) << "stream " << i << ", round " << r;
      }
    }
  }
};

SPTRSV_TEST_P(gpu_streams, two) { this->solve_together(patterns::stencil_2d(60, 70), 2, 50); }
SPTRSV_TEST_P(gpu_streams, four) { this->solve_together(patterns::stencil_3d(14, 15, 16), 4, 50); }
SPTRSV_TEST_P(gpu_streams, four_with_deep_waits) { this->solve_together(patterns::chain(1500), 4, 15); }
SPTRSV_TEST_P(gpu_streams, sixteen) { this->solve_together(patterns::random(700, 12, 3), 16, 20); }

/// Several streams use the solver's own workspace one after the other, ordered by events.
SPTRSV_TEST_P(gpu_streams, one_after_the_other_on_one_workspace) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(40, 50);
  const form f = this->forms_for(3).front();
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 2);
  const layout shape = column_major(p.size, 2);
  std::vector<device_vector<value>> b;
  std::vector<std::vector<value>> expected;
  for (std::uint64_t k = 0; k < 3; ++k) {
    b.push_back(this->random_rhs(shape, k));
    expected.push_back(this->solve(solver, shape, this->where.download(b.back().memory)));
  }
  const owned_stream streams[3];
  cudaEvent_t done;
  SPTRSV_CUDA_CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  std::vector<device_vector<value>> x;
  for (int i = 0; i < 60; ++i) {
    x.push_back(this->poisoned_solution(shape));
  }
  for (int i = 0; i < 60; ++i) {
    const cudaStream_t stream = streams[i % 3].get();
    if (i > 0) {
      SPTRSV_CUDA_CHECK(cudaStreamWaitEvent(stream, done, 0));
    }
    solver.solve(b[static_cast<std::size_t>(i % 3)].in(), x[static_cast<std::size_t>(i)].out(), stream);
    SPTRSV_CUDA_CHECK(cudaEventRecord(done, stream));
  }
  SPTRSV_CUDA_CHECK(cudaEventSynchronize(done));
  SPTRSV_CUDA_CHECK(cudaEventDestroy(done));
  for (std::size_t i = 0; i < x.size(); ++i) {
    this->expect_repeated(solver, a, f, p.name, shape, this->where.download(b[i % 3].memory),
                          this->where.download(x[i].memory), expected[i % 3]);
    ASSERT_FALSE(this->HasFailure()) << "solve " << i;
  }
}

/// A kernel before a solve or an update on the stream allows them to begin early, and ends late.
SPTRSV_TEST_P(gpu_streams, after_a_kernel_that_lets_others_begin_early) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(30, 40);
  const form f = this->forms_for(5).front();
  auto a = this->make(p, f);
  auto solver = this->analyze(a, f);
  std::vector<std::int32_t> next(1000);
  for (std::size_t i = 0; i < next.size(); ++i) {
    next[i] = static_cast<std::int32_t>((i + 77) % next.size());
  }
  const auto ring = this->where.upload(next);
  const auto stream = this->where.stream();
  const auto write_late = [&](const auto& from, auto& to) {
    copy_late<<<1, 256, 0, stream>>>(from.data(), to.data(), static_cast<std::int64_t>(to.size()),
                                     ring.data(), 5000);
    SPTRSV_CUDA_CHECK(cudaGetLastError());
  };
  auto values = this->where.upload(std::vector<value>(a.values().size(), value(0)));
  auto b = this->where.upload(std::vector<value>(static_cast<std::size_t>(p.size), value(0)));
  for (std::uint64_t i = 0; i < 3; ++i) {
    a.values() = this->make(p, f, 50 + i).values();
    const auto content = random_vector<value>(p.size, 100 + i);
    const auto new_values = this->where.upload(a.values());
    const auto new_b = this->where.upload(content);
    auto x = this->where.upload(poisoned<value>(content.size()));
    write_late(new_values, values);
    solver.update_values(values, stream);
    write_late(new_b, b);
    const layout shape = single(p.size);
    solver.solve(shape.view(static_cast<const value*>(b.data())), shape.view(x.data()), stream);
    this->expect_solved(a, f, p.name, content, this->where.download(x));
  }
}

/// The solve is the first use of the device by this thread.
SPTRSV_TEST_P(gpu_streams, from_a_thread_that_has_not_used_the_device) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(20, 21);
  const form f = this->forms_for(1).front();
  const auto a = this->make(p, f);
  const auto solver = this->analyze(a, f);
  const auto b = this->random_rhs(single(p.size), 1);
  auto x = this->poisoned_solution(single(p.size));
  auto own = solver.make_workspace(this->where.stream());
  std::string message;
  std::thread([&] {
    try {
      solver.solve(b.in(), x.out(), value(1), own, this->where.stream());
    } catch (const std::exception& e) {
      message = e.what();
    }
  }).join();
  EXPECT_EQ(message, "");
  this->expect_solved(a, f, p.name, this->where.download(b.memory), this->where.download(x.memory));
}

/// A solve on a workspace does not change the solver: threads of the host may share it.
SPTRSV_TEST_P(gpu_streams, four_from_four_threads) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(30, 31);
  const form f = this->forms_for(4).front();
  const auto a = this->make(p, f);
  const auto solver = this->analyze(a, f);
  const layout shape = single(p.size);
  std::vector<device_vector<value>> b;
  std::vector<std::vector<value>> expected;
  auto own = solver.make_workspace(this->where.stream());
  for (std::uint64_t k = 0; k < 3; ++k) {
    b.push_back(this->random_rhs(shape, k));
    auto x = this->poisoned_solution(shape);
    solver.solve(b[k].in(), x.out(), value(1), own, this->where.stream());
    expected.push_back(this->where.download(x.memory));
    this->expect_solved(a, f, p.name, this->where.download(b[k].memory), expected[k]);
  }
  std::vector<std::vector<value>> right_hand_sides;
  for (const auto& one : b) {
    right_hand_sides.push_back(this->where.download(one.memory));
  }
  const bool reproducible = solver.info().bit_reproducible;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      gpu_target here;  // a stream of its own
      auto workspace = solver.make_workspace(here.stream());
      for (std::size_t i = 0; i < 21; ++i) {
        auto to = here.upload(poisoned<value>(shape.extent));
        solver.solve(b[i % 3].in(), shape.view(to.data()), value(1), workspace, here.stream());
        const auto x = here.download(to);
        const bool right =
            reproducible ? same_bits(x, expected[i % 3]) : this->is_solved(a, f, right_hand_sides[i % 3], x);
        wrong += right && solver.status(workspace, here.stream()).ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  EXPECT_EQ(wrong, 0);
}

SPTRSV_TESTS(gpu_streams, two, four, four_with_deep_waits, sixteen, four_from_four_threads,
             one_after_the_other_on_one_workspace, after_a_kernel_that_lets_others_begin_early,
             from_a_thread_that_has_not_used_the_device);

}  // namespace sptrsv::testing
