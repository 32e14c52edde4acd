// A band matrix with more entries than 32 bits count. It is generated and checked on the device.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "device_array.cuh"
#include "large.cuh"
#include "run_case.cuh"

namespace sptrsv_trial {
namespace {

using value = std::complex<float>;
using offset = std::int64_t;

/// The lower triangle of a band matrix. Row i has entries in the columns i - distance(k), or only its
/// diagonal where the smallest of these columns would be negative.
struct band {
  static constexpr int off_diagonals = 63;
  static constexpr std::int64_t nearest = 65536;  // rows of one level
  static constexpr std::int64_t step = 1021;
  static constexpr std::int64_t farthest = nearest + (off_diagonals - 1) * step;

  std::int64_t rows;

  /// Returns the band that has at least this number of entries.
  static band with_entries(std::int64_t entries) {
    constexpr std::int64_t per_row = off_diagonals + 1;
    return {farthest + (entries > farthest ? (entries - farthest + per_row - 1) / per_row : 0)};
  }
  __host__ __device__ std::int64_t first_entry(std::int64_t row) const {
    return row <= farthest ? row : farthest + (row - farthest) * (off_diagonals + 1);
  }
  [[nodiscard]] std::int64_t entries() const { return first_entry(rows); }
};

/// Returns a number in [-1, 1) that depends on `counter` only (SplitMix64).
__device__ float signed_unit(std::uint64_t counter) {
  std::uint64_t state = (counter + 1) * 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  state ^= state >> 31;
  return static_cast<float>(state >> 40) * 0x1p-23f - 1;
}

__device__ std::int64_t first_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t all_threads() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

/// Writes the matrix and b. The off-diagonal entries of a row add up to less than half the diagonal one.
__global__ void fill(band a, std::int64_t* offsets, std::int32_t* columns, float2* values, float2* b) {
  for (std::int64_t row = first_thread(); row <= a.rows; row += all_threads()) {
    std::int64_t e = a.first_entry(row);
    offsets[row] = e;
    if (row == a.rows) {
      return;
    }
    for (int k = band::off_diagonals - 1; k >= 0 && row >= band::farthest; --k, ++e) {
      columns[e] = static_cast<std::int32_t>(row - band::nearest - k * band::step);
      const auto counter = 2 * static_cast<std::uint64_t>(e);
      values[e] = make_float2(signed_unit(counter) / 256, signed_unit(counter + 1) / 256);
    }
    columns[e] = static_cast<std::int32_t>(row);
    const auto counter = 2 * static_cast<std::uint64_t>(row);
    values[e] = make_float2(1.5f + signed_unit(~counter) / 4, signed_unit(counter) / 4);
    b[row] = make_float2(signed_unit(counter + 7), signed_unit(counter + 8));
  }
}

/// Writes the largest |b - A x|_i / (|A| |x| + |b|)_i to `worst`, as the bits of a double; 0 before.
__global__ void find_backward_error(band a, const std::int64_t* offsets, const std::int32_t* columns,
                                    const float2* values, const float2* b, const float2* x,
                                    unsigned long long* worst) {
  double largest = 0;
  for (std::int64_t row = first_thread(); row < a.rows; row += all_threads()) {
    double re = b[row].x;
    double im = b[row].y;
    double size = hypot(re, im);
    for (std::int64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
      const float2 v = values[e];
      const float2 y = x[columns[e]];
      re -= static_cast<double>(v.x) * y.x - static_cast<double>(v.y) * y.y;
      im -= static_cast<double>(v.x) * y.y + static_cast<double>(v.y) * y.x;
      size += hypot(static_cast<double>(v.x), static_cast<double>(v.y)) *
              hypot(static_cast<double>(y.x), static_cast<double>(y.y));
    }
    const double missed = hypot(re, im);
    const double error = missed == 0 ? 0 : missed / size;
    largest = error <= largest ? largest : error;  // a NaN is the largest
    if (isnan(largest)) {
      break;
    }
  }
  atomicMax(worst, static_cast<unsigned long long>(__double_as_longlong(fabs(largest))));
}

/// The matrix, b and x. They do not come from the pool of the library, which is left to the analysis.
class large_system {
 public:
  large_system(const band& a, cudaStream_t stream)
      : a_(a),
        stream_(stream),
        offsets_(a.rows + 1),
        columns_(a.entries()),
        values_(a.entries()),
        b_(a.rows),
        x_(a.rows),
        worst_(1) {
    fill<<<blocks, threads, 0, stream>>>(a_, offsets_.data(), columns_.data(), values_.data(), b_.data());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  [[nodiscard]] sptrsv::csr_view<value, std::int32_t, offset> view() const {
    return {a_.rows,         a_.rows,         a_.entries(),
            offsets_.data(), columns_.data(), reinterpret_cast<const value*>(values_.data())};
  }
  [[nodiscard]] sptrsv::span<const value> values() const {
    return {view().values, static_cast<std::size_t>(a_.entries())};
  }
  [[nodiscard]] sptrsv::dense_view<const value> b() const {
    return sptrsv::dense_view<const value>::column_major(reinterpret_cast<const value*>(b_.data()), a_.rows,
                                                         1, a_.rows);
  }
  [[nodiscard]] sptrsv::dense_view<value> x() const {
    return sptrsv::dense_view<value>::column_major(reinterpret_cast<value*>(x_.data()), a_.rows, 1, a_.rows);
  }
  void poison_x() const { SPTRSV_CUDA_CHECK(cudaMemsetAsync(x_.data(), 0xff, x_.bytes(), stream_)); }
  /// Returns the componentwise backward error of x. Synchronises.
  [[nodiscard]] double backward_error() const {
    double error = 0;
    SPTRSV_CUDA_CHECK(cudaMemsetAsync(worst_.data(), 0, sizeof(double), stream_));
    find_backward_error<<<blocks, threads, 0, stream_>>>(a_, offsets_.data(), columns_.data(), values_.data(),
                                                         b_.data(), x_.data(), worst_.data());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    SPTRSV_CUDA_CHECK(
        cudaMemcpyAsync(&error, worst_.data(), sizeof(double), cudaMemcpyDeviceToHost, stream_));
    SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return error;
  }
  [[nodiscard]] double bound() const {
    return 4.0 * (band::off_diagonals + 2) * static_cast<double>(std::numeric_limits<float>::epsilon());
  }

 private:
  static constexpr unsigned blocks = 4096;
  static constexpr unsigned threads = 256;

  band a_;
  cudaStream_t stream_;
  device_array<std::int64_t> offsets_;
  device_array<std::int32_t> columns_;
  device_array<float2> values_;
  device_array<float2> b_;
  device_array<float2> x_;
  device_array<unsigned long long> worst_;
};

/// Solves after the analysis and after update_values.
void solve_with(const support::tested_policy<c64>& policy, const large_system& system, gpu& where,
                const case_id& id, mode_log& log, watchdog::watched& watch) {
  const auto stream = where.stream();
  auto solver = policy.analyze(system.view(), {}, stream);
  for (const bool updated : {false, true}) {
    watch.begin(id.policy + ": " + id.system + (updated ? ": update_values and solve" : ": solve"));
    if (updated) {
      solver.update_values(system.values(), stream);
    }
    system.poison_x();
    solver.solve(system.b(), system.x(), stream);
    const double ratio = system.backward_error() / (policy.growth * system.bound());
    log.count_solve(static_cast<std::size_t>(system.view().rows));
    log.expect(ratio <= 1, id, "the backward error is " + std::to_string(ratio) + " times its bound");
    log.expect(solver.status(stream).ok(), id, "the status is not ok");
  }
}

/// Returns the forms for the large system: the chosen ones, or one of each kind of kernel.
std::vector<policy_pointer<c64>> forms_for_large(const trial_options& options) {
  trial_options chosen = options;
  if (chosen.policies.empty()) {
    chosen.policies = {"dataflow", "sync_free_warp", "sync_free_thread", "sync_free_column", "level_set"};
  }
  return chosen_policies<c64>(chosen);
}

}  // namespace

void solve_large_system(const trial_options& options, mode_log& log, watchdog::watched& watch) {
  const band a = band::with_entries(options.large_entries);
  const std::string text = std::to_string(a.rows) + " rows, " + std::to_string(a.entries()) + " entries";
  sptrsv::default_device_resource().release_unused();
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  SPTRSV_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  const auto matrix_bytes = static_cast<std::size_t>(a.entries()) * (sizeof(value) + sizeof(std::int32_t));
  if (free_bytes / 3 < matrix_bytes) {
    log.note("skipped the system of " + text + ": " + std::to_string(free_bytes >> 20) + " MiB are free, " +
             std::to_string(3 * matrix_bytes >> 20) + " are needed");
    return;
  }
  gpu where;
  watch.begin("generates a system of " + text);
  const large_system system(a, where.stream());
  const deadline until(options.seconds);
  int left_out = 0;
  for (const policy_pointer<c64> policy : forms_for_large(options)) {
    if (until.is_over()) {
      ++left_out;
      continue;
    }
    const case_id id{options.seed, policy->case_name, text};
    run_case(*policy, id, log, watch, [&] {
      try {
        log.count_case();
        solve_with(*policy, system, where, id, log, watch);
        log.note(id.policy + " solved a system of " + text);
      } catch (const sptrsv::error& e) {
        if (e.code() != sptrsv::errc::out_of_memory) {
          throw;
        }
        log.note(id.policy + " needs more memory than the GPU has for a system of " + text);
      }
    });
    const std::string left = where.error();
    log.expect(left.empty(), id, "CUDA holds the error " + left);
    sptrsv::default_device_resource().release_unused();
  }
  if (left_out > 0) {
    log.note(std::to_string(left_out) + " forms were left out for lack of time");
  }
}

}  // namespace sptrsv_trial
