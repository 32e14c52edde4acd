// Incomplete factorisations of matrices that fill the GPU.
#include "contract/incomplete_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(incomplete);  // gpu_incomplete has them

struct large_factors : incomplete<case_types<gpu_target, double, std::int32_t, std::int32_t>> {
  void check_all(const pattern& p) {
    check<method::lu>(p, false, content::ascending);
    check<method::cholesky>(p, false, content::general);
    check<method::lu, wide_incomplete>(p, true, content::general);
  }
};

TEST_F(large_factors, of_stencil_2d) { check_all(patterns::stencil_2d(250, 270)); }
TEST_F(large_factors, of_stencil_3d) { check_all(patterns::stencil_3d(30, 31, 32)); }
TEST_F(large_factors, of_stencil_3d_27) { check_all(patterns::stencil_3d_27(20, 20, 20)); }
/// Under racecheck a step of the chain takes a hundred times as long.
TEST_F(large_factors, of_a_chain) { check_all(patterns::chain(3000)); }
TEST_F(large_factors, of_a_dense_matrix) { check_all(patterns::dense(200)); }
TEST_F(large_factors, of_a_power_law) { check_all(patterns::power_law(30000, 3)); }

/// A graph follows the values in the array that was captured, and repeats give the same bits.
TEST_F(large_factors, are_computed_in_a_graph) {
  const pattern p = patterns::stencil_3d(20, 21, 22);
  const auto first = make_system(p, false, content::ascending, method::cholesky, 1);
  const auto second = make_system(p, false, content::ascending, method::cholesky, 2);
  const auto there = where.upload(first.by_rows);
  const auto check = [&](auto of) {
    constexpr method Method = decltype(of)::value;
    factorization<Method> made(there, {}, where.stream(), nullptr);
    where.on().synchronize();
    const auto graph =
        sptrsv_common::capture([&](cudaStream_t stream) { made.factorize(there.values, stream); });
    for (const auto* a : {&second, &first, &second}) {
      where.on().upload(there.values.data(), a->by_rows.values.data(), there.values.bytes());
      const auto expected = on_the_target<Method>(*a);
      for (int k = 0; k < 3; ++k) {
        where.on().replay(graph);
        EXPECT_TRUE(same_bits(download(made), expected));
      }
      EXPECT_TRUE(made.status(where.stream()).ok());
    }
  };
  check(std::integral_constant<method, method::lu>{});
  where.on().upload(there.values.data(), first.by_rows.values.data(), there.values.bytes());
  check(std::integral_constant<method, method::cholesky>{});
}

}  // namespace sptrsv::testing
