// Measures every kernel on every part, a triangle or a square, of a system that is cut into blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/block_kernels/vendor_squares.cuh"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/policy/block.hpp"

namespace sptrsv_benchmarks::block_kernels {

namespace block = sptrsv::detail::block;
using index = std::int32_t;
using scalar = double;
using executor = sptrsv::detail::cuda_executor;
using tuning = sptrsv::experimental::block_tuning;
using block_agent = block::agent<tuning, scalar, index, index, 1>;
using sptrsv::policy::square_kernel;
using sptrsv::policy::triangle_kernel;

/// The time of a launch that solves or multiplies one part.
struct part_time {
  std::size_t number;  ///< of the part, counted over the parts with entries or pivots
  const block::part& part;
  const char* kernel;
  double microseconds;
};

constexpr const char* names_of_triangles[] = {"", "level_set", "sync_free", "serial"};
constexpr const char* names_of_squares[] = {"", "scalar_csr", "vector_csr", "scalar_dcsr", "vector_dcsr"};

/// Returns whether to measure a triangle with this kernel. The level-set kernel takes too long for many
/// levels, the serial kernel (one thread block) for many rows.
inline bool is_plausible(const block::part& p, triangle_kernel kernel) {
  const block::triangle_facts& t = p.triangle;
  switch (kernel) {
    case triangle_kernel::by_levels:
      return t.levels <= 200;
    case triangle_kernel::serial:
      return t.levels > 1 && (t.rows + t.entries / 8) / t.levels <= 2000;
    default:
      return t.levels > 1;
  }
}

/// Runs parts one by one: one launch runs the steps of one part. The components of x before the part count as
/// solved and have arbitrary values.
class part_runner {
 public:
  /// `numbers`: values of the entries and pivots, in the order of the system.
  part_runner(const block::block_plan<index, index>& system,
              const sptrsv::detail::device_values<scalar, executor>& numbers, const executor& on)
      : system_(system), numbers_(numbers), on_(on) {
    const std::vector<scalar> ones(static_cast<std::size_t>(system.triangle.size), 1.0);
    b_ = sptrsv::to_device(ones, cudaStream_t{});
    x_ = sptrsv::to_device(ones, cudaStream_t{});
    sums_ = sptrsv::buffer<scalar>(ones.size(), on.default_resource(), on.stream());
  }

  /// Returns microseconds.
  double run(const block::part& part) {
    const std::vector<block::step>& all = system_.host_steps.steps;
    std::vector<block::step> steps(all.begin() + static_cast<std::ptrdiff_t>(part.first_step),
                                   all.begin() + static_cast<std::ptrdiff_t>(part.last_step));
    std::vector<std::int32_t> step_of_task;
    steps.front().awaited_tasks = 0;
    const std::int64_t before = steps.front().first_task;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      steps[s].first_task -= before;
      step_of_task.insert(step_of_task.end(), static_cast<std::size_t>(steps[s].tasks()),
                          static_cast<std::int32_t>(s));
    }
    const auto steps_there = sptrsv::to_device(steps, cudaStream_t{});
    const auto tasks_there = sptrsv::to_device(step_of_task, cudaStream_t{});
    const auto finished = sptrsv::to_device(std::vector<unsigned long long>(steps.size(), 0), cudaStream_t{});
    const sptrsv::detail::double_buffer_storage<scalar> storage(system_.triangle.size, 1, on_,
                                                                on_.default_resource());
    on_.fill_bytes(sums_.data(), 0, sums_.bytes());
    for (const auto values : storage.buffers().solved) {
      on_.fill_bytes(values, 0x3f,
                     static_cast<std::size_t>(system_.triangle.size) * sizeof(scalar));  // any finite number
      if (part.is_triangle) {
        on_.fill_bytes(values + part.first_row, 0xff,
                       static_cast<std::size_t>(part.triangle.rows) * sizeof(scalar));
      }
    }
    const sptrsv::dense_view<const scalar> b(b_.data(), system_.triangle.size, 1, 1, system_.triangle.size);
    const sptrsv::dense_view<scalar> x(x_.data(), system_.triangle.size, 1, 1, system_.triangle.size);
    const sptrsv::detail::paper_system<scalar, index, index> params{system_.triangle.size,
                                                                    false,
                                                                    system_.triangle.row_offsets.data(),
                                                                    system_.triangle.columns.data(),
                                                                    numbers_.values(),
                                                                    numbers_.diagonal(),
                                                                    system_.order.rows.data(),
                                                                    storage.buffers(),
                                                                    1.0,
                                                                    b,
                                                                    x};
    const auto launch = [&] {
      on_.launch<block_agent>(
          static_cast<std::uint32_t>(step_of_task.size()),
          {params, sums_.data(), steps_there.data(), tasks_there.data(),
           static_cast<std::int64_t>(steps.size()) - 1, system_.numbers.data(), system_.warps.first.data(),
           system_.gates.data(), system_.level_offsets.data(), finished.data()});
    };
    return microseconds_of(launch);
  }

 private:
  const block::block_plan<index, index>& system_;
  const sptrsv::detail::device_values<scalar, executor>& numbers_;
  const executor& on_;
  sptrsv::buffer<scalar> b_;
  sptrsv::buffer<scalar> x_;
  sptrsv::buffer<scalar> sums_;
};

/// Calls `visit` with the time of each part with each kernel, and of each square with cuSPARSE. `t`: the
/// triangle in the order of substitution. `stored`: the values of its matrix, in device memory. `depth`: the
/// system is cut into 2^depth triangles.
inline void measure_parts(const sptrsv::detail::device_triangle<index, index>& t, const scalar* stored,
                          int depth, vendor_spmv<scalar, index>& vendor, const executor& on,
                          const std::function<void(const part_time&)>& visit) {
  for (int kernel = 1; kernel <= 4; ++kernel) {
    const bool has_triangle = kernel <= 3;
    sptrsv::policy::block_kernels kernels;
    kernels.triangle = has_triangle ? static_cast<triangle_kernel>(kernel) : triangle_kernel::sync_free;
    kernels.square = static_cast<square_kernel>(kernel);
    const auto system = block::system_builder<tuning, index, index, executor>(
                            kernels, on.resident_blocks<block_agent>(), on, on.default_resource())
                            .build(t, sptrsv::policy::block_cut::recursive, std::int64_t{1} << depth);
    sptrsv::detail::device_values<scalar, executor> numbers(system.triangle.entries(), system.triangle.size,
                                                            on, on.default_resource());
    numbers.gather(stored, system.triangle.sources.data(), system.triangle.diagonal_sources.data(), false,
                   on);
    part_runner runner(system, numbers, on);
    std::size_t number = 0;
    for (const block::part& p : system.host_steps.parts) {
      if (p.first_step == p.last_step) {
        continue;
      }
      if (!p.is_triangle || (has_triangle && is_plausible(p, kernels.triangle))) {
        visit({number, p, p.is_triangle ? names_of_triangles[kernel] : names_of_squares[kernel],
               runner.run(p)});
      }
      if (!p.is_triangle && kernels.square == square_kernel::scalar_csr) {
        visit({number, p, vendor_kernel, vendor.run(system, numbers.values(), p, on)});
      }
      ++number;
    }
  }
}

}  // namespace sptrsv_benchmarks::block_kernels
