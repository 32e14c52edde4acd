// Krylov methods on the host and in the emulator.
#include "contract/krylov_suite.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/emulator_target.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace sptrsv::testing {

template <class Value>
using on_host = krylov_case<policy::host_parallel, host_target, Value>;
template <class Value>
using in_emulator = krylov_case<policy::sync_free_thread, emulator_target, Value>;
using krylov_host_cases = ::testing::Types<on_host<double>, on_host<float>, on_host<std::complex<double>>,
                                           on_host<std::complex<float>>>;
using krylov_emulator_cases = ::testing::Types<in_emulator<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(host, krylov_suite, krylov_host_cases, krylov_case_names);
INSTANTIATE_TYPED_TEST_SUITE_P(emulator, krylov_suite, krylov_emulator_cases, krylov_case_names);

namespace {

using suite = krylov_suite<in_emulator<double>>;

/// Solves in a schedule, without a preconditioner.
std::vector<double> solution_in(emulator_target& where, krylov_method which, std::int32_t iterations,
                                bool calls, std::int32_t interval = 1) {
  const auto a = suite::grid_system(26, 40, 0);
  const auto there = where.upload(a);
  const auto b = where.upload(suite::numbers(a.rows, 3));
  auto x = where.upload(std::vector<double>(b.size()));
  const krylov::csr_operator product(there, where.stream());
  const auto callable = [&](span<const double> u, span<double> v, emulator::device* on) {
    product.apply(u, v, on);
  };
  suite::workspace scratch(where.stream());
  krylov::options o;
  o.max_iterations = iterations;
  o.check_interval = interval;
  o.restart = 3;
  const auto run = [&](const auto& op) {
    const krylov::no_preconditioner m;
    return which == krylov_method::cg ? krylov::conjugate_gradients(op, m, b, x, scratch, o, where.stream())
           : which == krylov_method::bicgstab ? krylov::bicgstab(op, m, b, x, scratch, o, where.stream())
                                              : krylov::gmres(op, m, b, x, scratch, o, where.stream());
  };
  EXPECT_EQ((calls ? run(callable) : run(product)).iterations, iterations);
  return where.download(x);
}

/// Returns the launches of one iteration, the products with A included.
std::uint64_t launches_of(krylov_method which, bool calls) {
  std::uint64_t counts[2];
  for (const int more : {0, 1}) {
    emulator_target where;
    const auto before = where.device().counters.launches;
    solution_in(where, which, 1 + more, calls);
    counts[more] = where.device().counters.launches - before;
  }
  return counts[1] - counts[0];
}

}  // namespace

TEST(Krylov, HaveFewLaunchesInAnIteration) {
  EXPECT_EQ(launches_of(krylov_method::cg, false), 1u + 3u);
  EXPECT_EQ(launches_of(krylov_method::cg, true), 1u + 4u);
  EXPECT_EQ(launches_of(krylov_method::bicgstab, false), 2u + 4u);
  EXPECT_EQ(launches_of(krylov_method::bicgstab, true), 2u + 5u);
  EXPECT_EQ(launches_of(krylov_method::gmres, false), 1u + 3u);
}

TEST(Krylov, AreTheSameInHostileSchedules) {
  for (const krylov_method which : krylov_methods) {
    emulator_target plain;
    const auto expected = solution_in(plain, which, 5, false);
    for (std::uint64_t i = 0; i < 6; ++i) {
      emulator_target where(hostile_settings(i, i % 3));
      EXPECT_EQ(solution_in(where, which, 5, false, i % 2 == 0 ? 1 : 4), expected)
          << static_cast<int>(which) << " " << i;
    }
  }
}

#ifdef _OPENMP
/// A system of so many rows that the threads of the host share the work.
TEST(Krylov, AreTheSameOnAnyNumberOfThreads) {
  const auto a = suite::grid_system(170, 130, 0);
  const auto b = suite::numbers(a.rows, 3);
  const krylov::csr_operator product(a, host_stream{});
  krylov::options o;
  o.max_iterations = 4;
  const int before = omp_get_max_threads();
  for (const krylov_method which : krylov_methods) {
    std::vector<double> first;
    for (const int threads : {1, 2, 5}) {
      omp_set_num_threads(threads);
      std::vector<double> x(b.size());
      krylov::workspace<double, host_stream> scratch;
      const krylov::no_preconditioner m;
      const krylov::result made =
          which == krylov_method::cg         ? krylov::conjugate_gradients(product, m, b, x, scratch, o)
          : which == krylov_method::bicgstab ? krylov::bicgstab(product, m, b, x, scratch, o)
                                             : krylov::gmres(product, m, b, x, scratch, o);
      EXPECT_EQ(made.iterations, 4);
      first = first.empty() ? x : first;
      EXPECT_TRUE(same_bits(x, first)) << threads << " threads, method " << static_cast<int>(which);
    }
  }
  omp_set_num_threads(before);
}
#endif

TEST(Krylov, RefuseToBeCaptured) {
  emulator_target where;
  const auto a = suite::grid_system(3, 2, 0);
  const auto there = where.upload(a);
  const auto b = where.upload(suite::numbers(6, 1));
  auto x = where.upload(suite::numbers(6, 2));
  const krylov::csr_operator product(there, where.stream());
  suite::workspace scratch(where.stream());
  where.device().capturing = true;
  const auto seen = failure::of([&] {
    krylov::conjugate_gradients(product, krylov::no_preconditioner{}, b, x, scratch, {}, where.stream());
  });
  where.device().capturing = false;
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->code, errc::invalid_argument);
}

}  // namespace sptrsv::testing
