// The smallest program that uses the library: it compiles, links and starts. It runs on a machine without a
// GPU, also when nvcc compiles it.
#include <cstdio>

#include "sptrsv/sptrsv.hpp"
#include "sptrsv/version.hpp"

int main() {
  std::printf("sptrsv %d.%d.%d\n", sptrsv::version_major, sptrsv::version_minor, sptrsv::version_patch);
  return 0;
}
