// Batches of systems on the GPU.
#include "contract/batched_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(gpu, batched, batched_types<gpu_target>, type_names);

struct large_batches : batched<case_types<gpu_target, double, std::int32_t, std::int32_t>> {};

/// Many systems, and the largest ones that fit.
TEST_F(large_batches, are_solved) {
  check_batch(patterns::stencil_2d(10, 10), {}, 3000, 0, batch_order::systems_last, 1, 1);
  check_batch(patterns::stencil_2d(45, 45), {}, 300, 0, batch_order::systems_first, 2, 2);
  check_batch(patterns::random(500, 6, 4), {}, 500, 0, batch_order::backwards, 1, 3);
  check_batch(patterns::power_law(2000, 4), {}, 100, 0, batch_order::systems_last, 1, 4);
  check_batch(patterns::chain(24000), {}, 5, 0, batch_order::systems_last, 1, 5);
}

/// A graph of new values and a solve follows what is in the arrays, and repeats give the same bits.
TEST_F(large_batches, are_solved_in_a_graph) {
  const pattern p = patterns::stencil_2d(20, 21);
  const form f;
  const auto a = make_systems(p, f, 70, 0, 1);
  const auto other = make_systems(p, f, 70, 0, 2);
  auto solver = analyze_systems(a, f, 0);
  const auto shape = shape_of(batch_order::systems_last, 70, p.size, 1);
  const auto b = random_vector<double>(70 * p.size, 1);
  const auto expected = solve_batch(solver, shape, b);
  const auto values = where.upload(a.values());
  const auto from = where.upload(b);
  const auto to = where.upload(b);
  where.on().synchronize();
  const auto graph = sptrsv_common::capture([&](cudaStream_t stream) {
    solver.update_values(values, stream);
    solver.solve(shape.on(from.data()), shape.on(to.data()), stream);
  });
  for (int k = 0; k < 3; ++k) {
    where.on().upload(values.data(), other.values().data(), values.bytes());
    where.on().replay(graph);
    expect_batch_solved(other, f, "graph", shape, b, where.download(to));
    where.on().upload(values.data(), a.values().data(), values.bytes());
    where.on().replay(graph);
    EXPECT_TRUE(same_bits(where.download(to), expected));
  }
}

}  // namespace sptrsv::testing
