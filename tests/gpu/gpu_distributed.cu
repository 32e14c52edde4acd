// Distributed solves on GPUs: several PEs on each, and PEs on different GPUs where there are several.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "distributed/distributed_solve.hpp"
#include "sptrsv/distributed.hpp"
#include "sptrsv/distributed/thread_team.cuh"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {
namespace {

/// Hardware queues for the streams of all PEs of a GPU (thread_team.cuh); CUDA reads it when it starts.
const int queues_are_set = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);

int gpu_count() {
  int count = 0;
  SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

/// Returns the GPUs of PEs that are dealt to the first `gpus` ones.
std::vector<int> dealt(int pes, int gpus) {
  std::vector<int> devices;
  for (int pe = 0; pe < pes; ++pe) {
    devices.push_back(pe % gpus);
  }
  return devices;
}

/// PEs that are threads, each with a stream of its own.
class gpu_pes {
 public:
  explicit gpu_pes(const std::vector<int>& devices) : team_(devices) {}

  template <class Body>
  void run(const Body& body) {
    team_.run([&](thread_team::member& pe) {
      const owned_stream stream;
      body(pe, detail::cuda_executor(stream.get()));
    });
  }

 private:
  thread_team team_;
};

std::vector<pattern> patterns_to_solve() {
  return {patterns::chain(500), factor_of_grid(40, 50), patterns::dense(700), patterns::random(3000, 8, 5),
          factor_of_grid(12, 12, 12)};
}

/// Solves on 1, 2, 4 and 8 PEs that are dealt to `gpus` GPUs.
template <class Value>
void solve_everything(int gpus) {
  std::size_t rotation = 0;
  for (const int pes : {1, 2, 4, 8}) {
    for (const pattern& p : patterns_to_solve()) {
      const auto plans = plans_for(pes);
      for (const form& f : covering_forms(rotation)) {
        gpu_pes on(dealt(pes, gpus));
        check_solves<Value, experimental::supernodal_tuning>({p, f, plans[rotation++ % plans.size()]}, on);
        ASSERT_FALSE(::testing::Test::HasFailure()) << pes << " PEs on " << gpus << " GPUs";
      }
    }
  }
}

TEST(GpuDistributed, SeveralPesShareAGpu) { solve_everything<double>(1); }

/// These solves end under compute-sanitizer, which lets the kernels of a GPU run one after the other.
TEST(GpuDistributed, NoPesShareAGpu) {
  std::size_t rotation = 0;
  for (int pes = 1; pes <= std::min(gpu_count(), 4); ++pes) {
    for (const pattern& p : {patterns::random(300, 8, 5), factor_of_grid(30, 20), factor_of_grid(8, 8, 8)}) {
      for (auto plan : plans_for(pes)) {
        for (const pe_transport how : {pe_transport::direct, pe_transport::puts}) {
          plan.sends = how;
          const auto forms = covering_forms(rotation);
          gpu_pes on(dealt(pes, pes));
          check_solves<double, experimental::supernodal_tuning>({p, forms[rotation++ % forms.size()], plan},
                                                                on);
          ASSERT_FALSE(::testing::Test::HasFailure()) << pes << " PEs, " << p.name;
        }
      }
    }
  }
}

TEST(GpuDistributed, PesHaveGpusOfTheirOwn) {
  if (gpu_count() < 2) {
    GTEST_SKIP() << "this machine has one GPU";
  }
  solve_everything<double>(gpu_count());
  solve_everything<std::complex<float>>(gpu_count());
}

TEST(GpuDistributed, FourPesSolveWhatIsTooLargeForOne) {
  check_memory_limit(factor_of_grid(16, 16, 16),
                     [](int pes) { return std::make_unique<gpu_pes>(dealt(pes, std::min(gpu_count(), 2))); });
}

/// Enqueues 200 solves at a time, 50 times; the PEs run ahead of each other. The additions have a fixed
/// order, so that all solutions have the same bits.
void solve_many_times(const std::vector<int>& devices) {
  const auto pes = static_cast<int>(devices.size());
  const auto a = make_matrix<double>(factor_of_grid(12, 12, 12), form{}).by_rows;
  const auto b = random_vector<double>(a.rows, 7);
  std::vector<double> first(b.size());
  std::vector<double> last(b.size());
  gpu_pes on_gpus(devices);
  on_gpus.run([&](thread_team::member& pe, const detail::cuda_executor& on) {
    pe_solver<experimental::supernodal_tuning, double, thread_team::member, detail::cuda_executor> solver(
        slice(a, pe.rank(), pes), a.rows, {}, plans_for(pes).back(), pe, on);
    const auto from = solver.upload(b, a.rows, 1);
    auto to = solver.upload(b, a.rows, 1);
    for (int time = 0; time < 50; ++time) {
      for (int k = 0; k < 200; ++k) {
        solver.enqueue(from, to, 1, 1);
      }
      pe.meet();  // all have enqueued their solves before one of them waits for the GPU
      solver.take(to, a.rows, 1, time == 0 ? first : last);
    }
  });
  EXPECT_EQ(first, last);
}

TEST(GpuDistributed, ManySolvesFollowEachOtherOnOneGpu) { solve_many_times({0, 0, 0, 0}); }

TEST(GpuDistributed, ManySolvesFollowEachOtherOnTwoGpus) {
  if (gpu_count() < 2) {
    GTEST_SKIP() << "this machine has one GPU";
  }
  solve_many_times({0, 1});
  solve_many_times({0, 1, 0, 1});
}

/// PE 1 ends early. PE 0, which meets it on the host, does not wait for it.
TEST(GpuDistributed, NobodyWaitsOnTheHostForAPeThatHasFailed) {
  const auto a = make_matrix<double>(patterns::chain(100), form{}).by_rows;
  std::string text;
  thread_team team(dealt(2, std::min(gpu_count(), 2)));
  try {
    team.run([&](thread_team::member& pe) {
      const owned_stream stream;
      const detail::cuda_executor on(stream.get());
      pe_solver<experimental::supernodal_tuning, double, thread_team::member, detail::cuda_executor> solver(
          slice(a, pe.rank(), 2), a.rows, {}, plans_for(2).front(), pe, on);
      auto b = solver.upload(std::vector<double>(static_cast<std::size_t>(a.rows), 1), a.rows, 1);
      solver.enqueue(b, b, 1, 1);
      on.synchronize();
      if (pe.rank() == 1) {
        throw std::runtime_error("out of luck");
      }
      pe.meet();
      ADD_FAILURE() << "PE 0 has met PE 1";
    });
  } catch (const std::runtime_error& e) {
    text = e.what();
  }
  EXPECT_EQ(text, "out of luck");
}

/// Lets one of `pes` PEs throw after `solves` solves. The others have enqueued more, which wait for it, and
/// wait for their GPU. Returns how many of them have ended.
int end_by_failure(const csr_matrix<double>& a, const form& f, const plan_options& how, int pes, int failing,
                   int solves) {
  std::atomic<int> ended{0};
  thread_team team(dealt(pes, gpu_count()));
  try {
    team.run([&](thread_team::member& pe) {
      const owned_stream stream;
      const detail::cuda_executor on(stream.get());
      pe_solver<experimental::supernodal_tuning, double, thread_team::member, detail::cuda_executor> solver(
          slice(a, pe.rank(), pes), a.rows, f.options(), how, pe, on);
      auto b = solver.upload(std::vector<double>(static_cast<std::size_t>(a.rows), 1), a.rows, 1);
      const bool fails = pe.rank() == failing;
      for (int k = 0; k < (fails ? solves : solves + 4); ++k) {
        solver.enqueue(b, b, 1, 1);
      }
      if (fails) {
        throw std::runtime_error("out of luck");
      }
      on.synchronize();
      try {
        static_cast<void>(solver.get().status(on));
        ADD_FAILURE() << "a solution without PE " << failing;
      } catch (const detail::distributed::pe_has_left& e) {
        EXPECT_EQ(e.pe(), failing);
        ++ended;
      }
    });
    ADD_FAILURE() << "no PE has thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "out of luck");
  }
  return ended;
}

TEST(GpuDistributed, KernelsThatWaitForAPeThatFailsEnd) {
  const auto a = make_matrix<double>(factor_of_grid(40, 50), form{}).by_rows;
  for (int time = 0; time < 1000; ++time) {
    const int pes = 2 + time % 3;
    plan_options how = plans_for(pes)[static_cast<std::size_t>(time) % plans_for(pes).size()];
    how.sends = time % 2 == 0 ? pe_transport::direct : pe_transport::puts;
    form f;
    f.operation = time % 4 < 2 ? op::none : op::transpose;
    EXPECT_EQ(end_by_failure(a, f, how, pes, time / 3 % pes, time / 30 % 5), pes - 1);
    ASSERT_FALSE(HasFailure()) << "run " << time;
  }
  gpu_pes after(dealt(2, gpu_count()));
  check_solves<double, experimental::supernodal_tuning>(
      {factor_of_grid(40, 50), form{}, plans_for(2).front()}, after);
}

TEST(GpuDistributed, WrongTeamsAreRefused) {
  EXPECT_THROW(thread_team({}), error);
  EXPECT_THROW(thread_team({0, gpu_count()}), error);
  EXPECT_THROW(thread_team({-1}), error);
}

/// Returns `count` dense blocks of 32 rows, and below them 224 rows that have all columns.
csr_matrix<double> blocks_above_dense_rows(std::int32_t count) {
  constexpr std::int32_t width = 32;
  const std::int32_t in_blocks = count * width;
  csr_matrix<double> a{in_blocks + 224, in_blocks + 224, {0}, {}, {}};
  for (std::int32_t i = 0; i < in_blocks + 224; ++i) {
    const std::int32_t first = i < in_blocks ? i / width * width : 0;
    for (std::int32_t j = first; j <= i; ++j) {
      a.column_indices.push_back(j);
      a.values.push_back(j == i ? 1.5 : 0.1 * ((i * 7 + j * 13) % 17 - 8) / (i - first));
    }
    a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

/// Eight PEs fill a GPU. Each hands in the rows that it solves for, but those of the dense rows, which PE 0
/// solves for. So PEs 1 to 6 wait for nobody, and are ahead with one right-hand side, as far as they may,
/// when PE 0 begins to solve for three, with larger blocks.
TEST(GpuDistributed, LargeBlocksFitBesideThoseOfPesThatAreAhead) {
  constexpr int pes = 8;
  constexpr std::int64_t solves = 24;
  const auto a = blocks_above_dense_rows(56 * pes);
  const auto b = random_vector<double>(3 * a.rows, 1);
  std::vector<double> x(b.size());
  gpu_pes on_gpu(dealt(pes, 1));
  on_gpu.run([&](thread_team::member& pe, const detail::cuda_executor& on) {
    using solver_type =
        pe_solver<experimental::supernodal_tuning, double, thread_team::member, detail::cuda_executor>;
    const plan_options how{pes, supernode_dealing::subtrees, 1000};
    std::vector<std::int64_t> cuts{0};
    {
      solver_type solver(slice(a, pe.rank(), pes), a.rows, form{}.options(3), how, pe, on);
      const auto& owner = solver.get().planned().owners.panels.solver;
      for (std::size_t s = 1; s < owner.size() && cuts.size() < pes; ++s) {
        if (owner[s] != owner[s - 1]) {
          cuts.push_back(solver.get().planned().whole.first(static_cast<std::int64_t>(s)));
        }
      }
      cuts.push_back(a.rows);
    }
    const auto rank = static_cast<std::size_t>(pe.rank());
    solver_type solver(rows_of(a, cuts[rank], cuts[rank + 1]), a.rows, form{}.options(3), how, pe, on);
    const auto from = solver.upload(b, a.rows, 3);
    auto to = solver.upload(b, a.rows, 3);
    auto one = solver.upload(b, a.rows, 1);
    for (std::int64_t k = 0; k < solves; ++k) {
      solver.enqueue(from, one, 1, 1);
      solver.enqueue(from, to, 3, 1);
    }
    pe.meet();
    solver.take(to, a.rows, 3, x);
  });
  const auto error =
      backward_error(a, form{}.options(3), dense_view<const double>(b.data(), a.rows, 3, 1, a.rows),
                     dense_view<const double>(x.data(), a.rows, 3, 1, a.rows), 1.0);
  EXPECT_LE(error.error, 1000 * error.bound);
}

/// The public interface, with rows of PEs in device memory of their GPUs.
TEST(GpuDistributed, TheInterfaceSolves) {
  const auto a = make_matrix<double>(patterns::stencil_2d(30, 30), form{}).by_rows;
  thread_team team(dealt(2, std::min(gpu_count(), 2)));
  team.run([&](thread_team::member& pe) {
    const owned_stream stream;
    const detail::cuda_executor on(stream.get());
    const auto part = slice(a, pe.rank(), 2);
    auto solver = analyze(policy::distributed{2},
                          row_part<double>{part.first, part.rows, a.rows, part.offsets.data(),
                                           part.columns.data(), part.values.data()},
                          {}, pe, stream.get());
    std::vector<double> values(static_cast<std::size_t>(part.rows), 1);
    buffer<double> b(values.size(), on.default_resource(), stream.get());
    on.upload(b.data(), values.data(), b.bytes());
    solver.solve({b.data(), part.rows, 1, 1, part.rows}, {b.data(), part.rows, 1, 1, part.rows}, 1.0,
                 stream.get());
    EXPECT_TRUE(solver.status(stream.get()).ok());
    solver.update_values(std::vector<double>(part.values.size(), 0.0), stream.get());
    solver.solve({b.data(), part.rows, 1, 1, part.rows}, {b.data(), part.rows, 1, 1, part.rows}, 1.0,
                 stream.get());
    EXPECT_EQ(solver.status(stream.get()).code, solve_status::kind::zero_pivot);
    EXPECT_EQ(solver.status(stream.get()).row, 0);
  });
}

/// Solves with all values sent by puts, and with blocks that wait for messages, on `gpus` GPUs.
void solve_by_puts(int gpus) {
  std::size_t rotation = 0;
  for (const pe_transport how : {pe_transport::puts, pe_transport::waiting_blocks}) {
    for (const int pes : {2, 4}) {
      for (const pattern& p :
           {factor_of_grid(40, 50), patterns::random(1000, 8, 5), factor_of_grid(12, 12, 12)}) {
        for (auto plan : plans_for(pes)) {
          plan.sends = how;
          const auto forms = covering_forms(rotation);
          gpu_pes on(dealt(pes, gpus));
          check_solves<double, experimental::supernodal_tuning>({p, forms[rotation++ % forms.size()], plan},
                                                                on);
          ASSERT_FALSE(::testing::Test::HasFailure()) << pes << " PEs on " << gpus << " GPUs";
        }
      }
    }
  }
}

TEST(GpuDistributed, PutsSolveOnOneGpu) { solve_by_puts(1); }

TEST(GpuDistributed, PutsSolveOnSeveralGpus) {
  if (gpu_count() < 2) {
    GTEST_SKIP() << "this machine has one GPU";
  }
  solve_by_puts(gpu_count());
}

}  // namespace
}  // namespace sptrsv::testing
