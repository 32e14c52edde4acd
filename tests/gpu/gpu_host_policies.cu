// Device memory given to host policies.
#include "contract/bad_input_suite.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"
#include "support/gpu_target.cuh"
#include "support/subjects/host.hpp"

namespace sptrsv::testing {

template <class Types>
class device_memory_for_a_host_policy : public bad_input<Types> {
 public:
  using bad_input<Types>::bad_input;
};

SPTRSV_TEST_P(device_memory_for_a_host_policy, is_refused) {
  const auto host = this->make(patterns::chain(3), {}).by_rows;
  gpu_target gpu;
  const auto there = gpu.upload(host);
  const auto device = detail::view_of(there);
  auto bad = host.view();
  bad.row_offsets = device.row_offsets;
  this->expect(this->failure_of(bad), errc::wrong_memory_space, "offsets", "offsets");
  bad = host.view();
  bad.column_indices = device.column_indices;
  this->expect(this->failure_of(bad), errc::wrong_memory_space, "indices", "indices");
  bad = host.view();
  bad.values = device.values;
  this->expect(this->failure_of(bad), errc::wrong_memory_space, "host memory", "values");

  auto solver = this->good_solver();
  std::vector<double> vector(3, 1.0);
  auto on_device = gpu.upload(vector);
  this->expect(failure::of([&] { solver.solve(vector, on_device); }), errc::wrong_memory_space, "x ", "x");
  this->expect(failure::of([&] { solver.solve(on_device, vector); }), errc::wrong_memory_space, "b ", "b");
  this->expect(failure::of([&] { solver.update_values(there.values); }), errc::wrong_memory_space, "values",
               "values");
}

/// Managed memory is reached from both sides.
SPTRSV_TEST_P(device_memory_for_a_host_policy, but_managed_memory_is_not) {
  auto solver = this->good_solver();
  double* shared = nullptr;
  SPTRSV_CUDA_CHECK(cudaMallocManaged(&shared, 3 * sizeof(double)));
  const auto b = random_vector<double>(3, 1);
  std::copy(b.begin(), b.end(), shared);
  const span<double> both(shared, 3);
  solver.solve(both, both);
  EXPECT_EQ(std::vector<double>(shared, shared + 3), this->solve(solver, b));
  gpu_target gpu;
  const auto a = gpu.upload(this->make(patterns::chain(3), {}).by_rows);
  auto on_gpu = sptrsv::analyze(policy::sync_free_warp{}, a, {}, gpu.stream());
  on_gpu.solve(both, both, gpu.stream());
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(gpu.stream()));
  SPTRSV_CUDA_CHECK(cudaFree(shared));
}

SPTRSV_TESTS(device_memory_for_a_host_policy, is_refused, but_managed_memory_is_not);
SPTRSV_TEST_POLICIES(gpu, device_memory_for_a_host_policy, host_policies<double>);

}  // namespace sptrsv::testing
