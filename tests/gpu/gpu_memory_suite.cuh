// On the GPU: the source of memory, that a solve only enqueues, and matrices that fill the device.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "gpu/gpu_fixture.cuh"
#include "support/counting_resource.hpp"

namespace sptrsv::testing {

/// A memory resource other than the default ones, so that the test sees allocations from those.
class plain_resource final : public memory_resource {
  void* do_allocate(std::size_t bytes, stream_handle) override {
    void* p = nullptr;
    SPTRSV_CUDA_CHECK(cudaMalloc(&p, bytes));
    return p;
  }
  void do_deallocate(void* p, std::size_t, stream_handle stream) noexcept override {
    static_cast<void>(cudaStreamSynchronize(stream));
    static_cast<void>(cudaFree(p));
  }
};

/// Watches a memory pool: bytes_more() is the largest growth of its used memory since construction.
class pool_watch {
 public:
  explicit pool_watch(cudaMemPool_t pool) : pool_(pool) {
    std::uint64_t reset = 0;
    SPTRSV_CUDA_CHECK(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &reset));
    before_ = get(cudaMemPoolAttrUsedMemCurrent);
  }
  [[nodiscard]] std::uint64_t bytes_more() const { return get(cudaMemPoolAttrUsedMemHigh) - before_; }

 private:
  [[nodiscard]] std::uint64_t get(cudaMemPoolAttr attribute) const {
    std::uint64_t bytes = 0;
    SPTRSV_CUDA_CHECK(cudaMemPoolGetAttribute(pool_, attribute, &bytes));
    return bytes;
  }

  cudaMemPool_t pool_;
  std::uint64_t before_ = 0;
};

/// Returns CUDA's default pool of the device.
inline cudaMemPool_t cuda_default_pool() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

/// Keeps a stream busy until `open` is called. Gives up after a minute, so that a failure ends.
class gate {
 public:
  void close(cudaStream_t stream) { SPTRSV_CUDA_CHECK(cudaLaunchHostFunc(stream, &gate::wait, this)); }
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void wait(void* self) {
    auto& g = *static_cast<gate*>(self);
    std::unique_lock<std::mutex> lock(g.mutex_);
    g.changed_.wait_for(lock, std::chrono::minutes(1), [&] { return g.open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

template <class Types>
class gpu_memory : public gpu_suite<Types> {
 public:
  using gpu_suite<Types>::gpu_suite;
};

SPTRSV_TEST_P(gpu_memory, everything_comes_from_the_given_resource) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(30, 40);
  const form f{};
  const auto a = this->make(p, f);
  plain_resource plain;
  counting_resource counted(plain);
  const auto stream = this->where.stream();
  auto b = this->random_rhs(single(p.size), 1);
  auto x = this->poisoned_solution(b.shape);
  {
    const auto there = this->where.upload(a.by_rows);
    SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream));
    const pool_watch of_library(default_device_resource().pool_handle());
    const pool_watch of_cuda(cuda_default_pool());
    auto solver = this->policy().analyze(there, f.options(2), stream, &counted);
    const auto info = solver.info();
    EXPECT_EQ(counted.live_bytes(), info.solver_bytes + info.workspace_bytes);
    EXPECT_EQ(counted.largest_bytes(), info.analysis_peak_bytes);
    const std::size_t allocations = counted.allocations();
    for (int i = 0; i < 3; ++i) {
      solver.solve(b.in(), x.out(), stream);
      solver.update_values(there.values, stream);
    }
    EXPECT_TRUE(solver.status(stream).ok());
    EXPECT_EQ(counted.allocations(), allocations);
    {
      auto more = solver.make_workspace(stream);
      EXPECT_EQ(counted.live_bytes(), info.solver_bytes + 2 * info.workspace_bytes);
      solver.solve(b.in(), x.out(), value(1), more, stream);
    }
    EXPECT_EQ(counted.live_bytes(), info.solver_bytes + info.workspace_bytes);
    EXPECT_EQ(of_library.bytes_more(), 0u) << "something was allocated elsewhere";
    EXPECT_EQ(of_cuda.bytes_more(), 0u) << "something was allocated elsewhere";
  }
  EXPECT_EQ(counted.live_bytes(), 0u);
  EXPECT_EQ(counted.mistakes(), 0u);
  EXPECT_EQ(counted.streams(), std::set<stream_handle>{stream});
}

/// The stream is blocked during the calls: a call that synchronised would not return.
SPTRSV_TEST_P(gpu_memory, solve_and_update_values_only_enqueue) {
  const pattern p = patterns::stencil_2d(30, 40);
  const form f{};
  const auto a = this->make(p, f);
  auto solver = this->analyze(a, f, 3);
  const auto stream = this->where.stream();
  const auto values = this->where.upload(a.values());
  const auto one = this->random_rhs(single(p.size), 1);
  const auto three = this->random_rhs(column_major(p.size, 3), 1);
  auto x_one = this->poisoned_solution(one.shape);
  auto x_three = this->poisoned_solution(three.shape);
  const auto enqueue = [&] {
    solver.update_values(values, stream);
    solver.solve(one.in(), x_one.out(), stream);
    solver.solve(three.in(), x_three.out(), stream);
  };
  enqueue();  // loads the kernels, which may synchronise
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream));
  gate closed;
  closed.close(stream);
  enqueue();
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  closed.open();
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream));
  this->expect_solved(a, f, p.name, this->where.download(one.memory), this->where.download(x_one.memory));
}

SPTRSV_TEST_P(gpu_memory, matrices_that_fill_the_device) {
  using value = typename TypeParam::value;
  const pattern all[] = {patterns::stencil_2d(300, 300),   patterns::stencil_3d(40, 41, 42),
                         patterns::chain(20000),           patterns::dense(700),
                         patterns::band(3000, 40),         patterns::power_law(20000, 3),
                         patterns::layers(8000, 2000, 30), patterns::arrow_row(6000),
                         patterns::arrow_column(6000)};
  std::size_t i = 0;
  for (const pattern& p : all) {
    const form f = this->forms_for(++i).front();
    const auto a = this->make(p, f);
    std::optional<decltype(this->analyze(a, f, 3))> made;
    try {
      made.emplace(this->analyze(a, f, 3));
    } catch (const error& e) {
      ASSERT_TRUE(this->policy().may_refuse && e.code() == errc::unsupported) << e.what();
      continue;
    }
    auto& solver = *made;
    const layout shapes[] = {single(p.size), row_major(p.size, 3), single(p.size), single(p.size)};
    std::vector<std::vector<value>> b;
    std::vector<std::vector<value>> x;
    for (const layout& shape : shapes) {
      b.push_back(random_vector<value>(static_cast<std::int64_t>(shape.extent), b.size()));
      x.push_back(this->solve(solver, shape, b.back()));
      this->expect_solved(a, f, p.name, shape, b.back(), x.back());
    }
    random_source source(1);
    for (int round = 0; round < 15; ++round) {
      const auto which = static_cast<std::size_t>(source.below(4));
      this->expect_repeated(solver, a, f, p.name, shapes[which], b[which],
                            this->solve(solver, shapes[which], b[which]), x[which]);
      ASSERT_FALSE(this->HasFailure()) << "round " << round;
    }
  }
}

SPTRSV_TESTS(gpu_memory, everything_comes_from_the_given_resource, solve_and_update_values_only_enqueue,
             matrices_that_fill_the_device);

}  // namespace sptrsv::testing
