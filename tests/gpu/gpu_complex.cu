// The complex classes of CUDA and of Thrust give the same bits as std::complex.
#include <thrust/complex.h>

#include <cuda/std/complex>

#include "contract/contract_fixture.hpp"
#include "sptrsv/policy/level_set.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

template <class Value, class From>
std::vector<Value> converted(const std::vector<From>& from) {
  std::vector<Value> made;
  for (const From& v : from) {
    made.push_back(Value(v.real(), v.imag()));
  }
  return made;
}

template <class Policy, class Value>
struct complex_case {
  using policy = Policy;
  using value = Value;
};

template <class Case>
class gpu_complex : public ::testing::Test {};
using complex_cases = ::testing::Types<complex_case<policy::sync_free_warp, cuda::std::complex<float>>,
                                       complex_case<policy::sync_free_warp, cuda::std::complex<double>>,
                                       complex_case<policy::sync_free_warp, thrust::complex<double>>,
                                       complex_case<policy::level_set, cuda::std::complex<float>>,
                                       complex_case<policy::level_set, cuda::std::complex<double>>,
                                       complex_case<policy::level_set, thrust::complex<float>>>;
TYPED_TEST_SUITE(gpu_complex, complex_cases);

TYPED_TEST(gpu_complex, gives_the_bits_of_std_complex) {
  using value = typename TypeParam::value;
  using standard = std::complex<typename value::value_type>;
  using policy = typename TypeParam::policy;
  const pattern p = patterns::random(300, 6, 1);
  gpu_target gpu;
  for (const form& f : covering_forms()) {
    if (f.by_columns) {
      continue;
    }
    const auto a = make_matrix<standard>(p, f).by_rows;
    const csr_matrix<value> same{a.rows, a.columns, a.row_offsets, a.column_indices,
                                 converted<value>(a.values)};
    const auto b = random_vector<standard>(p.size, 2);
    const standard alpha(0.5f, -2.0f);

    auto expected = gpu.upload(poisoned<standard>(b.size()));
    auto of_standard = analyze(policy{}, gpu.upload(a), f.options(), gpu.stream());
    of_standard.solve(gpu.upload(b), expected, alpha, gpu.stream());

    auto seen = gpu.upload(converted<value>(poisoned<standard>(b.size())));
    auto of_other = analyze(policy{}, gpu.upload(same), f.options(), gpu.stream());
    of_other.solve(gpu.upload(converted<value>(b)), seen, value(alpha.real(), alpha.imag()), gpu.stream());
    EXPECT_TRUE(same_bits(converted<standard>(gpu.download(seen)), gpu.download(expected))) << f.name();
  }
}

}  // namespace sptrsv::testing
