// What solves the system of a complete factor: a policy of this library, cuDSS or cuBLAS, behind one
// interface.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/bench/device_machine.cuh"
#include "benchmarks/complete_factors/system.hpp"
#include "common/policies/policy_forms.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv_benchmarks::complete_factors {

/// One system in device memory.
struct placed_system {
  placed_system(std::shared_ptr<const factor_system> of, direction d, std::int64_t right_hand_sides,
                device_machine& machine)
      : host(std::move(of)),
        which(d),
        rhs(right_hand_sides),
        where(machine),
        matrix(machine.place(host->triangle(d).by_rows)),
        b(machine.place(std::vector<double>(host->b.begin(), host->b.begin() + host->rows() * rhs))) {}

  [[nodiscard]] const factor_triangle& triangle() const { return host->triangle(which); }
  template <class T>
  [[nodiscard]] auto columns(T* data) const {
    return sptrsv::dense_view<T>::column_major(data, host->rows(), rhs, host->rows());
  }

  std::shared_ptr<const factor_system> host;
  direction which;
  std::int64_t rhs;
  device_machine& where;
  sptrsv::device_csr_matrix<double, std::int32_t> matrix;
  sptrsv::buffer<double> b;
};

/// A solver of one system. Its row receives the results.
class factor_solver {
 public:
  explicit factor_solver(std::shared_ptr<const placed_system> system)
      : system_(std::move(system)),
        x_(system_->where.place(
            std::vector<double>(static_cast<std::size_t>(system_->host->rows() * system_->rhs)))) {}
  factor_solver(const factor_solver&) = delete;  // owns device memory
  factor_solver& operator=(const factor_solver&) = delete;
  virtual ~factor_solver() = default;

  /// Throws what the solver throws. Synchronises.
  virtual void analyze() = 0;
  virtual void update_values() = 0;
  /// Enqueues a solve. Solvers that work in place solve with what the last solve left.
  virtual void solve() = 0;
  /// Fills what the row says of the solver.
  virtual void describe() = 0;
  /// Solves into x, which holds NaNs, the system that `backward_error_of` checks.
  virtual void solve_once() { solve(); }
  /// Returns the backward error of one solution x for b; does not use the solver.
  using error_function = std::function<sptrsv::backward_error_result(const double* b, const double* x)>;
  /// Returns the error of solutions of solve_once().
  [[nodiscard]] virtual error_function error_of_solutions() const {
    return [host = system_->host, which = system_->which](const double* b, const double* x) {
      const factor_triangle& of = host->triangle(which);
      const auto rows = host->rows();
      return sptrsv::backward_error(of.by_rows, of.options,
                                    sptrsv::dense_view<const double>::column_major(b, rows, 1, rows),
                                    sptrsv::dense_view<const double>::column_major(x, rows, 1, rows));
    };
  }

  /// Solves, and starts to compute the larger error of the first and the last solution on another thread.
  [[nodiscard]] std::future<sptrsv::backward_error_result> start_check() {
    system_->where.poison(x_);
    solve_once();
    return std::async(std::launch::async, [error_of = error_of_solutions(), host = system_->host,
                                           last = system_->host->rows() * (system_->rhs - 1),
                                           growth = growth_, x = system_->where.fetch(x_)] {
      auto worst = error_of(host->b.data(), x.data());
      if (last > 0) {
        const auto other = error_of(host->b.data() + last, x.data() + last);
        worst = other.error <= worst.error ? worst : other;
      }
      worst.bound *= growth;
      return worst;
    });
  }

  result_row row;

 protected:
  [[nodiscard]] const placed_system& system() const { return *system_; }
  [[nodiscard]] cudaStream_t stream() const { return system_->where.stream(); }
  [[nodiscard]] double* x() { return x_.data(); }
  void set_growth(double growth) { growth_ = growth; }

 private:
  std::shared_ptr<const placed_system> system_;
  sptrsv::buffer<double> x_;
  double growth_ = 1;
};

/// A policy of this library, or cuSPARSE.
template <class Policy>
class policy_solver final : public factor_solver {
 public:
  policy_solver(const common::policy_form<Policy>& form, std::shared_ptr<const placed_system> system)
      : factor_solver(std::move(system)), policy_(form.policy), options_(this->system().triangle().options) {
    options_.max_rhs = this->system().rhs;
    set_growth(form.growth);
  }

  void analyze() override {
    solver_.reset();
    solver_.emplace(sptrsv::analyze(policy_, system().matrix, options_, stream()));
  }
  void update_values() override { solver_->update_values(system().matrix.values, stream()); }
  void solve() override {
    solver_->solve(system().columns(static_cast<const double*>(system().b.data())), system().columns(x()),
                   stream());
  }
  void describe() override {
    const sptrsv::solver_info info = solver_->info();
    for (const sptrsv::kernel_info& kernel : info.kernels) {
      row.kernels.push_back(kernel.text);
      row.kernel_levels.push_back(kernel.levels);
      row.kernel_partitions.push_back(kernel.partitions);
    }
    row.solver_bytes = info.solver_bytes;
    row.workspace_bytes = info.workspace_bytes;
  }

 private:
  using solver = decltype(sptrsv::analyze(
      std::declval<Policy>(), std::declval<const sptrsv::device_csr_matrix<double, std::int32_t>&>(),
      sptrsv::system_options{}, cudaStream_t{}));

  Policy policy_;
  sptrsv::system_options options_;
  std::optional<solver> solver_;
};

}  // namespace sptrsv_benchmarks::complete_factors
