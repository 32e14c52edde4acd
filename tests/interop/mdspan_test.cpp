// The adapter for mdspan, and the conversion of span, with those of libcu++.
#include "sptrsv/interop/mdspan.hpp"

#include <gtest/gtest.h>

#include <cuda/std/array>
#include <cuda/std/mdspan>
#include <cuda/std/span>

#include <type_traits>
#include <vector>

#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::testing {
namespace {

using interop::as_view;
using extents = cuda::std::dextents<int, 2>;

TEST(Mdspan, IsSolvedInEveryLayout) {
  const csr_matrix<double> lower{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}};
  auto solver = analyze(policy::host_serial{}, lower, {uplo::lower, diag::non_unit, op::none, 3});
  const std::vector<double> b{2, 4, 6, 9, 18, 27};  // three right-hand sides, row by row
  std::vector<double> x(6);
  const cuda::std::mdspan<const double, extents> from(b.data(), 2, 3);
  const cuda::std::mdspan<double, extents, cuda::std::layout_left> to(x.data(), 2, 3);
  static_assert(std::is_same_v<decltype(as_view(from)), dense_view<const double>>);
  solver.solve(as_view(from), as_view(to));
  EXPECT_EQ(x, (std::vector<double>{1, 2, 2, 4, 3, 6}));

  std::vector<double> sparse{2, -1, 9, -1};  // one right-hand side with a stride
  const cuda::std::mdspan<double, cuda::std::dextents<int, 1>, cuda::std::layout_stride> one(
      sparse.data(), {cuda::std::dextents<int, 1>(2), cuda::std::array<int, 1>{2}});
  solver.solve(as_view(one), as_view(one));
  EXPECT_EQ(sparse, (std::vector<double>{1, -1, 2, -1}));
}

TEST(Span, IsTakenAsItIs) {
  const csr_matrix<double> lower{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}};
  auto solver = analyze(policy::host_serial{}, lower);
  std::vector<double> values{2, 9};
  const cuda::std::span<double> x(values.data(), values.size());
  solver.solve(x, x);
  EXPECT_EQ(values, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace sptrsv::testing
