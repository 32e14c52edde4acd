// Too little memory: each allocation is refused in turn, and the GPU is nearly full.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "check_memory.hpp"
#include "common/generators/grids.hpp"
#include "large.cuh"
#include "run_case.cuh"

namespace sptrsv_trial {
namespace {

/// Allocates the memory of the GPU until about `left` bytes are free; gives it back at destruction.
class device_filler {
 public:
  explicit device_filler(std::size_t left) {
    for (std::size_t piece = std::size_t{1} << 34; piece >= (std::size_t{1} << 20);) {
      std::size_t free_bytes = 0;
      std::size_t all_bytes = 0;
      SPTRSV_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
      void* p = nullptr;
      if (free_bytes < left + piece || cudaMalloc(&p, piece) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        piece /= 2;
        continue;
      }
      pieces_.push_back(p);
    }
  }
  ~device_filler() {
    for (void* const p : pieces_) {
      static_cast<void>(cudaFree(p));
    }
  }
  device_filler(const device_filler&) = delete;  // owns the memory
  device_filler& operator=(const device_filler&) = delete;

 private:
  std::vector<void*> pieces_;
};

/// A system whose analysis needs some 100 MiB, in host and device memory.
class grid_system {
 public:
  using matrix = sptrsv::csr_matrix<double>;

  explicit grid_system(gpu& where)
      : pattern_(support::strictly_lower(sptrsv_common::star_stencil({64, 64, 64}), "star")),
        host_(support::make_matrix<double>(pattern_, {}).by_rows),
        host_b_(support::random_vector<double>(pattern_.size, 1)),
        there_(where.upload(host_)),
        b_(where.upload(host_b_)),
        x_(where.upload(host_b_)) {}

  /// Analyses and solves. Returns whether the solution is right.
  bool is_solved(const support::tested_policy<f64>& policy, gpu& where) {
    const support::layout shape = support::single(pattern_.size);
    auto solver = policy.analyze(there_, {}, where.stream());
    where.overwrite(x_, support::poisoned<double>(shape.extent));
    solver.solve(shape.view(static_cast<const double*>(b_.data())), shape.view(x_.data()), where.stream());
    const std::vector<double> x = where.download(x_);
    const auto result = sptrsv::backward_error(host_, {}, shape.view(host_b_.data()), shape.view(x.data()));
    return result.error <= policy.growth * result.bound && solver.status(where.stream()).ok();
  }
  [[nodiscard]] std::size_t rows() const { return host_b_.size(); }

 private:
  support::pattern pattern_;
  matrix host_;
  std::vector<double> host_b_;
  sptrsv::device_csr_matrix<double> there_;
  sptrsv::buffer<double> b_;
  sptrsv::buffer<double> x_;
};

}  // namespace

void refuse_allocations(const trial_options& options, mode_log& log, watchdog::watched& watch) {
  for_each_policy(options, [&](const auto& policy) {
    const case_id id{options.seed, policy.case_name, "allocations are refused in turn"};
    run_case(policy, id, log, watch, [&] {
      if (const auto prepared = prepare(policy, options.seed, system_size::small, log)) {
        check_refused_allocations(*prepared, log);
      }
    });
  });
}

void fill_the_device(const trial_options& options, mode_log& log, watchdog::watched& watch) {
  gpu where;
  grid_system system(where);
  std::int64_t refused = 0;
  const auto solve_with_all = [&](const std::string& when, bool may_run_out) {
    for (const policy_pointer<f64> policy : chosen_policies<f64>(options)) {
      const case_id id{options.seed, policy->case_name, when};
      run_case(*policy, id, log, watch, [&] {
        log.count_case();
        const auto failure = support::failure::of([&] {
          log.expect(system.is_solved(*policy, where), id, "wrong");
          log.count_solve(system.rows());
        });
        const bool refuses = policy->may_refuse && failure && failure->code == sptrsv::errc::unsupported;
        const bool ran_out = may_run_out && failure && failure->code == sptrsv::errc::out_of_memory;
        refused += ran_out ? 1 : 0;
        log.expect(!failure || refuses || ran_out, id, failure ? failure->message : "");
        const std::string error = where.error();
        log.expect(error.empty(), id, "CUDA holds the error " + error);
        sptrsv::default_device_resource().release_unused();
      });
    }
  };
  solve_with_all("before the GPU is full", false);  // loads the kernels
  for (const int left : {64, 16, 2}) {
    const device_filler full(static_cast<std::size_t>(left) << 20);
    solve_with_all(std::to_string(left) + " MiB are free", true);
  }
  solve_with_all("after the GPU was full", false);
  log.note("on a nearly full GPU " + std::to_string(refused) + " analyses were refused for lack of memory");
}

}  // namespace sptrsv_trial
