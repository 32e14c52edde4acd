// Solves a system many times and counts the wrong solutions. If the solver guarantees equal bits, a solution
// is wrong if a bit differs from the first solution; otherwise, if its backward error exceeds the bound.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/measurement/placement.hpp"
#include "common/policies/policy_forms.hpp"
#include "common/systems/triangular_system.hpp"
#include "sptrsv/host/backward_error.hpp"

namespace sptrsv_acceptance {

namespace common = sptrsv_common;

/// The result of repeated solves.
struct repeat_result {
  bool by_bits = true;     ///< whether bits were compared; otherwise backward errors
  std::int64_t wrong = 0;  ///< wrong solves
};

/// Checks solutions in host memory.
class host_check {
  using array = std::vector<double>;

 public:
  host_check(const common::triangular_system<double>& system, bool by_bits)
      : system_(system), by_bits_(by_bits) {}

  /// Checks `x`, the solution for `b`. `first`: the first solution for `b`.
  void check(const array& x, const array& first, const array& b) {
    const bool ok =
        by_bits_ ? std::memcmp(x.data(), first.data(), x.size() * sizeof(double)) == 0
                 : sptrsv::backward_error(system_.matrix, system_.options(), span_of(b), span_of(x)).ok();
    wrong_ += ok ? 0 : 1;
  }
  [[nodiscard]] std::int64_t wrong() const { return wrong_; }

 private:
  static sptrsv::dense_view<const double> span_of(const array& v) {
    const auto size = static_cast<std::int64_t>(v.size());
    return sptrsv::dense_view<const double>::column_major(v.data(), size, 1, size);
  }

  const common::triangular_system<double>& system_;
  bool by_bits_;
  std::int64_t wrong_ = 0;
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

/// Sets `seen[solve]` if the residual of a row exceeds `bound` times the sum of the absolute values of its
/// terms. One warp per row. The rounding errors of the sums here are at most an eighth of the bound of
/// backward_error.
__global__ void mark_error(sptrsv::csr_view<double> a, const double* x, const double* b, double bound,
                           std::int64_t solve, unsigned char* seen) {
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (row >= a.rows) {
    return;
  }
  double sum = 0;
  double size = 0;
  for (std::int64_t e = a.row_offsets[row] + threadIdx.x % 32; e < a.row_offsets[row + 1]; e += 32) {
    const double term = a.values[e] * x[a.column_indices[e]];
    sum += term;
    size += fabs(term);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    size += __shfl_xor_sync(0xffffffffu, size, distance);
  }
  if (!(fabs(b[row] - sum) <= bound * (size + fabs(b[row])))) {  // a NaN is an error
    seen[solve] = 1;
  }
}

/// Checks solutions in device memory. `check` only enqueues a kernel, so that the GPU solves without a pause.
class device_check {
  using array = sptrsv::buffer<double>;

 public:
  /// `a`: the triangle in device memory. `bound`: of the backward error.
  device_check(sptrsv::csr_view<double> a, double bound, bool by_bits, std::int64_t solves)
      : a_(a),
        bound_(bound),
        by_bits_(by_bits),
        seen_(common::device_placement::put(std::vector<unsigned char>(static_cast<std::size_t>(solves)))) {}

  void check(const array& x, const array& first, const array& b) {
    constexpr std::int64_t block = 256;
    const std::int64_t threads = a_.rows * (by_bits_ ? 1 : 32);
    const auto blocks = static_cast<unsigned>((threads + block - 1) / block);
    if (by_bits_) {
      mark_difference<<<blocks, block>>>(reinterpret_cast<const std::uint64_t*>(x.data()),
                                         reinterpret_cast<const std::uint64_t*>(first.data()), a_.rows,
                                         solve_++, seen_.data());
    } else {
      mark_error<<<blocks, block>>>(a_, x.data(), b.data(), bound_, solve_++, seen_.data());
    }
    SPTRSV_CUDA_CHECK(cudaGetLastError());
  }
  [[nodiscard]] std::int64_t wrong() const {
    std::int64_t count = 0;
    for (const unsigned char seen : common::device_placement::get(seen_)) {
      count += seen;
    }
    return count;
  }

 private:
  sptrsv::csr_view<double> a_;
  double bound_;
  bool by_bits_;
  sptrsv::buffer<unsigned char> seen_;
  std::int64_t solve_ = 0;
};

#endif

/// Solves `repeats` times and counts the wrong solutions. The first solutions of two right-hand sides are
/// checked on the host and count, too. The solves alternate between the two right-hand sides, because
/// repeating one b would hide a row that reads a value of an earlier solve. The sequence of right-hand sides
/// has a period of three, because solvers may alternate between two buffers.
template <class Policy>
repeat_result count_wrong_solves(const common::policy_form<Policy>& form,
                                 const common::triangular_system<double>& system, std::int64_t repeats) {
  using placement = common::placement_of<Policy>;
  const std::int64_t n = system.matrix.rows;
  if (n == 0) {
    return {};
  }
  const auto& a = placement::put_matrix(system.matrix);
  auto solver = sptrsv::analyze(form.policy, a, system.options());
  repeat_result result;
  result.by_bits = solver.info().bit_reproducible;
  const auto host_b0 = common::seeded_vector<double>(n, 3);
  const auto host_b1 = common::seeded_vector<double>(n, 4);
  const auto b0 = placement::put(host_b0);
  const auto b1 = placement::put(host_b1);
  const std::vector<double> zeros(static_cast<std::size_t>(n));
  auto first0 = placement::put(zeros);
  auto first1 = placement::put(zeros);
  auto x = placement::put(zeros);
  solver.solve(b0, first0);
  solver.solve(b1, first1);
  const auto error0 =
      sptrsv::backward_error(system.matrix, system.options(), host_b0, placement::get(first0));
  const auto error1 =
      sptrsv::backward_error(system.matrix, system.options(), host_b1, placement::get(first1));
  for (const auto& quality : {error0, error1}) {
    result.wrong += quality.error <= form.growth * quality.bound ? 0 : 1;
  }

  const auto run = [&](auto&& check) {
    for (std::int64_t r = 0; r < repeats; ++r) {
      const bool third = r % 3 == 0;
      solver.solve(third ? b0 : b1, x);
      check.check(x, third ? first0 : first1, third ? b0 : b1);
    }
    result.wrong += check.wrong();
  };
  if constexpr (common::runs_on_host<Policy>) {
    run(host_check(system, result.by_bits));
  } else {
#ifdef __CUDACC__
    run(device_check(a.view(), form.growth * error0.bound, result.by_bits, repeats));
#endif
  }
  return result;
}

}  // namespace sptrsv_acceptance
