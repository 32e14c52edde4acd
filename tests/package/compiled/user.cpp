// Solves with each policy of the compiled library that takes host memory, without compiling any of them.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "sptrsv/any/any_policy.hpp"

template <class Value, class Index>
bool solves(const char* policy) {
  const sptrsv::csr_matrix<Value, Index> lower{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}};
  auto solver = sptrsv::analyze(policy, lower);
  std::vector<Value> x{2, 9};
  solver.solve(x, x);
  const sptrsv::csc_matrix<Value, Index> upper{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}};
  auto transposed = sptrsv::analyze(policy, upper, {sptrsv::uplo::upper, {}, sptrsv::op::transpose});
  std::vector<Value> y{2, 9};
  transposed.solve(y, y);
  // L U in one matrix, and L and U in two.
  const sptrsv::csr_matrix<Value, Index> lu{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {3, 1, 2, 4}};
  const std::vector<Value> b{4, 12};
  std::vector<Value> z(2);
  sptrsv::analyze_factors(policy, lu).apply(b, z);
  const sptrsv::csc_matrix<Value, Index> l{2, 2, {0, 1, 1}, {1}, {2}};
  const sptrsv::csc_matrix<Value, Index> u{2, 2, {0, 1, 3}, {0, 0, 1}, {3, 1, 4}};
  std::vector<Value> w(2);
  sptrsv::analyze_factors(policy, l, u).apply(b, w);
  return x == std::vector<Value>{1, 2} && y == x && z == std::vector<Value>{1, 1} && w == z;
}

template <class Value>
bool solves(const char* policy) {
  return solves<Value, std::int32_t>(policy) && solves<Value, std::int64_t>(policy);
}

int main() {
  bool right = sptrsv::any_policy_names().size() >= 2;
  for (const char* policy : {"", "host_serial", "host_parallel workers=2"}) {
    right = right && solves<float>(policy) && solves<double>(policy) && solves<std::complex<float>>(policy) &&
            solves<std::complex<double>>(policy);
  }
  try {
    static_cast<void>(solves<double>("fast"));
    right = false;
  } catch (const sptrsv::error& e) {  // the exception passes from the library to the program
    right = right && e.code() == sptrsv::errc::invalid_argument;
  }
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
