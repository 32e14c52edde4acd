// Solves L x = b for a small lower triangle: on the GPU if nvcc compiled this program and there is a GPU,
// otherwise on the host.
#include <cstdio>
#include <vector>

#include "sptrsv/sptrsv.hpp"

std::vector<double> solve(const sptrsv::csr_matrix<double>& lower, const std::vector<double>& b) {
#ifdef __CUDACC__
  if (int gpus = 0; cudaGetDeviceCount(&gpus) == cudaSuccess) {
    auto solver = sptrsv::analyze(sptrsv::to_device(lower));  // with the default policy
    auto x = sptrsv::to_device(b);
    solver.solve(x, x);  // enqueued on the default stream; x holds b before and x after it
    return sptrsv::to_host(x);
  }
#endif
  std::puts("no GPU: solving on the host");
  auto solver = sptrsv::analyze(sptrsv::policy::host_parallel{}, lower);
  std::vector<double> x(b.size());
  solver.solve(b, x);
  return x;
}

int main() {
  // | 2 . . . |       |  2 |
  // | 1 2 . . | * x = |  5 |
  // | . 1 4 . |       | 14 |
  // | 1 . 1 2 |       | 12 |
  const sptrsv::csr_matrix<double> lower{
      4, 4, {0, 1, 3, 5, 8}, {0, 0, 1, 1, 2, 0, 2, 3}, {2, 1, 2, 1, 4, 1, 1, 2}};
  const std::vector<double> x = solve(lower, {2, 5, 14, 12});
  std::printf("x = %g %g %g %g\n", x[0], x[1], x[2], x[3]);
}
