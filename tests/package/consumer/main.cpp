// The smallest program that uses the library: it compiles, links and solves. It runs on a machine without a
// GPU, also when nvcc compiles it.
#include <cstdio>
#include <vector>

#include "sptrsv/sptrsv.hpp"

int main() {
  std::printf("sptrsv %d.%d.%d\n", sptrsv::version_major, sptrsv::version_minor, sptrsv::version_patch);
  const sptrsv::csr_matrix<double> lower{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 1, 4}};
  const std::vector<double> b{2, 9};
  std::vector<double> x(2);
  sptrsv::analyze(sptrsv::policy::host_serial{}, lower).solve(b, x);
  return x[0] == 1 && x[1] == 2 ? 0 : 1;
}
