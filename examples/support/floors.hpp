// The two lower bounds of the time of a solve: moving its bytes once, and handing one value on per level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "placement.hpp"
#include "sptrsv/host/structure.hpp"

namespace sptrsv_examples {

/// What it takes to hand a value from one row to a row that waits for it through the GPU's L2 cache, in
/// milliseconds: measured on an H200, where the consumer polls the value itself.
inline constexpr double device_hop = 262e-6;

/// Bytes that a solve cannot do without: every entry with its column, the row offsets, and three vectors
/// (right-hand side in, solution out and in again).
template <class Value, class Index, class Offset>
double bytes_of_solve(const sptrsv::triangle_structure& s, std::int64_t rhs) {
  const auto entries = static_cast<double>(s.entries);
  const auto rows = static_cast<double>(s.rows);
  return entries * static_cast<double>(sizeof(Value) + sizeof(Index)) +
         rows * (sizeof(Offset) + 3.0 * static_cast<double>(rhs) * sizeof(Value));
}

/// Bytes a millisecond that a copy reads and writes on the host, with all cores.
inline double copy_bandwidth(host_placement) {
  constexpr std::int64_t pieces = 64;
  constexpr std::size_t piece = std::size_t{1} << 21;  // in total much larger than the caches
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

/// Bytes a millisecond that a copy reads and writes in the memory of the GPU.
inline double copy_bandwidth(device_placement) {
  constexpr std::size_t bytes = std::size_t{1} << 29;  // much larger than the cache
  sptrsv::pool_memory_resource pool;
  const sptrsv::buffer<unsigned char> from(bytes, pool, nullptr);
  const sptrsv::buffer<unsigned char> to(bytes, pool, nullptr);
  const double time = median_time<device_placement>(5, [&] {
    SPTRSV_CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice));
  });
  return 2.0 * static_cast<double>(bytes) / time;
}

#endif

}  // namespace sptrsv_examples
