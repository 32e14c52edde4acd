// Two estimates that the time of a solve is compared with: the bandwidth floor, which moves the bytes of the
// system once, and the inter-block latency model, in which a value passes from one thread block to another
// once a level. The model is no lower bound: a solve that keeps several levels inside one thread block is
// faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/measurement/placement.hpp"
#include "sptrsv/host/structure.hpp"

namespace sptrsv_common {

/// Milliseconds in which a value passes through the L2 cache from one row to another that polls it, measured
/// on an H200.
inline constexpr double device_hop = 262e-6;

/// Returns the bytes that every solve moves: each entry with its column index, the row offsets, and three
/// vectors for each right-hand side (the right-hand side is read, the solution is written and read).
template <class Value, class Index, class Offset>
double bytes_of_solve(const sptrsv::triangle_structure& s, std::int64_t rhs) {
  const auto entries = static_cast<double>(s.entries);
  const auto rows = static_cast<double>(s.rows);
  return entries * static_cast<double>(sizeof(Value) + sizeof(Index)) +
         rows * (sizeof(Offset) + 3.0 * static_cast<double>(rhs) * sizeof(Value));
}

/// Returns the bytes per millisecond that a copy in host memory by all cores reads and writes.
inline double copy_bandwidth(host_placement) {
  constexpr std::int64_t pieces = 64;
  constexpr std::size_t piece = std::size_t{1} << 21;  // bytes; the sum is much larger than the caches
  const std::vector<unsigned char> from(pieces * piece, 1);
  std::vector<unsigned char> to(from.size());
  const double time = median_time<host_placement>(3, [&] {
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (std::int64_t p = 0; p < pieces; ++p) {
      const auto first = static_cast<std::size_t>(p) * piece;
      std::memcpy(to.data() + first, from.data() + first, piece);
    }
  });
  return 2.0 * static_cast<double>(from.size()) / time;
}

#ifdef __CUDACC__

/// Returns the bytes per millisecond that a copy in the memory of the GPU reads and writes.
inline double copy_bandwidth(device_placement) {
  constexpr std::size_t bytes = std::size_t{1} << 29;  // much larger than the L2 cache
  sptrsv::pool_memory_resource pool;
  const sptrsv::buffer<unsigned char> from(bytes, pool, nullptr);
  const sptrsv::buffer<unsigned char> to(bytes, pool, nullptr);
  const double time = median_time<device_placement>(5, [&] {
    SPTRSV_CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice));
  });
  return 2.0 * static_cast<double>(bytes) / time;
}

#endif

}  // namespace sptrsv_common
