// Solves a system many times and counts the solutions that differ in any bit from the first.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "examples/support/placement.hpp"
#include "examples/support/triangular_system.hpp"

namespace sptrsv_acceptance {

namespace support = sptrsv_examples;

/// Counts differing vectors, where the vectors are.
class host_comparison {
 public:
  void compare(const std::vector<double>& x, const std::vector<double>& first) {
    different_ += std::memcmp(x.data(), first.data(), x.size() * sizeof(double)) == 0 ? 0 : 1;
  }
  [[nodiscard]] std::int64_t different() const { return different_; }

 private:
  std::int64_t different_ = 0;
};

#ifdef __CUDACC__

/// Sets `seen[solve]` if a component differs.
__global__ void mark_difference(const std::uint64_t* x, const std::uint64_t* first, std::int64_t size,
                                std::int64_t solve, unsigned char* seen) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size && x[i] != first[i]) {
    seen[solve] = 1;
  }
}

class device_comparison {
 public:
  explicit device_comparison(std::int64_t solves)
      : seen_(support::device_placement::put(std::vector<unsigned char>(static_cast<std::size_t>(solves)))) {}

  /// Only enqueues, so that solves follow one another without a pause.
  void compare(const sptrsv::buffer<double>& x, const sptrsv::buffer<double>& first) {
    const auto size = static_cast<std::int64_t>(x.size());
    mark_difference<<<static_cast<unsigned>((size + 255) / 256), 256>>>(
        reinterpret_cast<const std::uint64_t*>(x.data()),
        reinterpret_cast<const std::uint64_t*>(first.data()), size, solve_++, seen_.data());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
  }
  [[nodiscard]] std::int64_t different() const {
    std::int64_t count = 0;
    for (const unsigned char seen : support::device_placement::get(seen_)) {
      count += seen;
    }
    return count;
  }

 private:
  sptrsv::buffer<unsigned char> seen_;
  std::int64_t solve_ = 0;
};

#endif

/// None where the solver does not promise it; else how many of `repeats` solves give another x than the first
/// solve with the same b. Two right-hand sides take turns: were a row to read what an earlier solve left
/// behind, repeating one b would hide it. The turns have a period of three, because solvers may alternate
/// between two buffers.
template <class Policy>
std::optional<std::int64_t> count_different_solves(const Policy& policy,
                                                   const support::triangular_system<double>& system,
                                                   std::int64_t repeats) {
  using placement = support::placement_of<Policy>;
  const std::int64_t n = system.matrix.rows;
  if (n == 0) {
    return 0;
  }
  auto solver = sptrsv::analyze(policy, placement::put_matrix(system.matrix), system.options());
  if (!solver.info().bit_reproducible) {
    return std::nullopt;
  }
  const auto b0 = placement::put(support::seeded_vector<double>(n, 3));
  const auto b1 = placement::put(support::seeded_vector<double>(n, 4));
  const std::vector<double> zeros(static_cast<std::size_t>(n));
  auto first0 = placement::put(zeros);
  auto first1 = placement::put(zeros);
  auto x = placement::put(zeros);
  solver.solve(b0, first0);
  solver.solve(b1, first1);

  const auto run = [&](auto&& comparison) {
    for (std::int64_t r = 0; r < repeats; ++r) {
      const bool third = r % 3 == 0;
      solver.solve(third ? b0 : b1, x);
      comparison.compare(x, third ? first0 : first1);
    }
    return comparison.different();
  };
  if constexpr (support::runs_on_host<Policy>) {
    return run(host_comparison{});
  } else {
#ifdef __CUDACC__
    return run(device_comparison(repeats));
#endif
  }
}

}  // namespace sptrsv_acceptance
