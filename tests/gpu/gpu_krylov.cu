// Krylov methods on the GPU.
#include "contract/krylov_suite.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using gpu_krylov = ::testing::Types<krylov_case<policy::automatic<>, gpu_target, double>,
                                    krylov_case<policy::sync_free_thread, gpu_target, float>,
                                    krylov_case<policy::sync_free_thread, gpu_target, std::complex<double>>,
                                    krylov_case<policy::sync_free_thread, gpu_target, std::complex<float>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(gpu, krylov_suite, gpu_krylov, krylov_case_names);

TEST(GpuKrylov, TakesTheDefaultStreamAndWhatCannotBeCaptured) {
  using krylov::repetition;
  const auto there = to_device(sptrsv_common::convection_diffusion({20, 20, 1}, 0));
  const auto b = to_device(std::vector<double>(400, 1.0));
  const krylov::csr_operator product(there);
  krylov::workspace<double> scratch;
  const auto solve = [&](const auto& op, repetition how) {
    krylov::options o;
    o.repeat = how;
    auto x = to_device(std::vector<double>(400));
    EXPECT_TRUE(krylov::conjugate_gradients(op, krylov::no_preconditioner{}, b, x, scratch, o).converged());
    return to_host(x);
  };
  const auto waits = [&](span<const double> u, span<double> v, cudaStream_t stream) {
    product.apply(u, v, stream);
    static_cast<void>(cudaStreamSynchronize(stream));  // ends a capture
  };
  const auto expected = solve(product, repetition::launches);
  const auto of_callable = solve(waits, repetition::launches);
  for (const repetition how : {repetition::on_device, repetition::graphs}) {
    EXPECT_EQ(solve(product, how), expected);
    EXPECT_EQ(solve(waits, how), of_callable);
  }
  static_cast<void>(cudaGetLastError());  // that of the callable
}

TEST(GpuKrylov, RefusesHostMemory) {
  const auto a = sptrsv_common::convection_diffusion({3, 3, 1}, 0);
  const auto there = to_device(a);
  const krylov::csr_operator product(there);
  const std::vector<double> b(9, 1.0);
  std::vector<double> x(9);
  krylov::workspace<double> scratch;
  const auto refused = [](const auto& action) {
    const auto seen = failure::of(action);
    return seen.has_value() && seen->code == errc::wrong_memory_space;
  };
  EXPECT_TRUE(
      refused([&] { krylov::conjugate_gradients(product, krylov::no_preconditioner{}, b, x, scratch); }));
  EXPECT_TRUE(refused([&] { krylov::csr_operator<double>(a.view()); }));
}

}  // namespace sptrsv::testing
