// A policy on a system, behind one interface for all policies.
#pragma once

#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "policies.hpp"
#include "row.hpp"
#include "source.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/solver.hpp"
#ifdef __CUDACC__
#include "common/gpu/cuda_handles.cuh"
#include "device_machine.cuh"
#endif

namespace sptrsv_benchmarks {

/// A policy that is measured on a system.
class candidate {
 public:
  candidate(std::string policy, machine& where) : policy_(std::move(policy)), where_(&where) {}
  candidate(const candidate&) = delete;  // owns memory of a machine
  candidate& operator=(const candidate&) = delete;
  virtual ~candidate() = default;

  [[nodiscard]] const std::string& policy() const { return policy_; }
  [[nodiscard]] machine& where() const { return *where_; }
  result_row row;

  /// Throws the exceptions of sptrsv::analyze.
  virtual void analyze() = 0;
  /// Destroys the solver and frees its memory.
  virtual void discard() = 0;
  virtual void update_values() = 0;
  virtual void solve() = 0;
  /// Captures a solve as a CUDA graph. Returns false on the host, which has no graphs.
  virtual bool record() = 0;
  virtual void replay() = 0;
  [[nodiscard]] virtual sptrsv::solver_info info() const = 0;

  /// Solves into memory that was filled with NaNs, and starts to compute the error of the solution on another
  /// thread.
  virtual void start_check() = 0;
  /// Waits until that thread has finished, so that it does not disturb measurements on the host.
  virtual void await_check() const = 0;
  /// Starts a second check after the measurements; it solves with the graph if one was captured.
  virtual void start_last_check() = 0;
  /// Waits for both checks and returns the larger error.
  [[nodiscard]] virtual sptrsv::backward_error_result finish_checks() = 0;

 private:
  std::string policy_;
  machine* where_;
};

/// A system in the memory of a machine, stored by rows or by columns.
template <class Machine, class Value, class Index>
struct placed_system {
  template <class T>
  using array = typename Machine::template array<T>;

  placed_system(const stored_triangle<Value, Index>& system,
                std::shared_ptr<const array<Value>> right_hand_sides, const Machine& where)
      : matrix(where.place(system.matrix)), options(system.options), b(std::move(right_hand_sides)) {}
  typename Machine::template matrix<Value, Index> matrix;
  sptrsv::system_options options;
  std::shared_ptr<const array<Value>> b;
};

/// The copies of a system in the memory of a machine, which all candidates on it share.
template <class Machine, class Value, class Index>
class shared_placement {
 public:
  using placed = placed_system<Machine, Value, Index>;

  /// Returns the system, stored by columns or by rows. The first call copies it.
  std::shared_ptr<const placed> get(const bench_system<Value, Index>& system, bool columns, std::int64_t rhs,
                                    const Machine& where) {
    if (b_ == nullptr) {
      b_ = std::make_shared<const typename Machine::template array<Value>>(
          where.place(system.right_hand_sides(rhs)));
    }
    auto& there = columns ? by_columns_ : by_rows_;
    if (there == nullptr) {
      there = std::make_shared<const placed>(columns ? system.by_columns : system.by_rows, b_, where);
    }
    return there;
  }

 private:
  std::shared_ptr<const typename Machine::template array<Value>> b_;
  std::shared_ptr<const placed> by_rows_;
  std::shared_ptr<const placed> by_columns_;
};

/// A candidate with the type of its policy.
template <class Machine, class Policy, class Value, class Index>
class policy_candidate final : public candidate {
  using placed = placed_system<Machine, Value, Index>;

 public:
  policy_candidate(const common::policy_form<Policy>& form, Machine& where,
                   std::shared_ptr<const bench_system<Value, Index>> system,
                   std::shared_ptr<const placed> there, std::int64_t rhs)
      : candidate(form.name, where),
        policy_(form.policy),
        growth_(form.growth),
        where_(&where),
        system_(std::move(system)),
        there_(std::move(there)),
        rhs_(rhs),
        options_(there_->options),
        x_(where.place(std::vector<Value>(static_cast<std::size_t>(system_->rows() * rhs)))) {
    options_.max_rhs = rhs;
  }

  void analyze() override { solver_.emplace(sptrsv::analyze(policy_, matrix(), options_, where_->stream())); }
  void discard() override { solver_.reset(); }
  void update_values() override {
    solver_->update_values({matrix().values, static_cast<std::size_t>(matrix().entries)}, where_->stream());
  }
  void solve() override { solve_on(where_->stream()); }

  bool record() override {
#ifdef __CUDACC__
    if constexpr (!common::runs_on_host<Policy>) {
      graph_ = sptrsv_common::capture([&](cudaStream_t stream) { solve_on(stream); });
      return true;
    }
#endif
    return false;
  }
  void replay() override {
#ifdef __CUDACC__
    if constexpr (!common::runs_on_host<Policy>) {
      where_->on().replay(graph_);
    }
#endif
  }
  [[nodiscard]] sptrsv::solver_info info() const override { return solver_->info(); }

  void start_check() override {
    where_->poison(x_);
    solve();
    first_x_ = where_->fetch(x_);
    first_error_ = std::async(std::launch::async, [this] { return error_of(first_x_); });
  }
  void await_check() const override { first_error_.wait(); }
  void start_last_check() override {
    where_->poison(x_);
    has_graph() ? replay() : solve();
    last_x_ = where_->fetch(x_);
    if (std::memcmp(last_x_.data(), first_x_.data(), last_x_.size() * sizeof(Value)) != 0) {
      last_error_ = std::async(std::launch::async, [this] { return error_of(last_x_); });
    }
  }
  sptrsv::backward_error_result finish_checks() override {
    const auto first = first_error_.get();
    const auto last = last_error_.valid() ? last_error_.get() : first;
    sptrsv::backward_error_result worst = last.error <= first.error ? first : last;
    worst.bound *= growth_;
    return worst;
  }

 private:
  using stream_type = typename Machine::stream_type;
  using solver =
      decltype(sptrsv::analyze(std::declval<Policy>(), std::declval<sptrsv::csr_view<Value, Index>>(),
                               sptrsv::system_options{}, std::declval<stream_type>()));

  [[nodiscard]] sptrsv::csr_view<Value, Index> matrix() const { return there_->matrix; }

  template <class T>
  [[nodiscard]] auto columns(T* data) const {
    return sptrsv::dense_view<T>::column_major(data, system_->rows(), rhs_, system_->rows());
  }
  void solve_on(stream_type stream) {
    solver_->solve(columns(static_cast<const Value*>(there_->b->data())), columns(x_.data()), stream);
  }
  [[nodiscard]] bool has_graph() const {
#ifdef __CUDACC__
    return graph_.get() != nullptr;
#else
    return false;
#endif
  }
  [[nodiscard]] sptrsv::backward_error_result error_of(const std::vector<Value>& x) const {
    const auto& [matrix, system_options] = system_->by_rows;
    return sptrsv::backward_error(matrix, system_options, columns(system_->b.data()), columns(x.data()));
  }

  Policy policy_;
  double growth_;
  Machine* where_;
  std::shared_ptr<const bench_system<Value, Index>> system_;
  std::shared_ptr<const placed> there_;
  std::int64_t rhs_;
  sptrsv::system_options options_;
  typename Machine::template array<Value> x_;
  std::optional<solver> solver_;
#ifdef __CUDACC__
  sptrsv::detail::simt::cuda_graph graph_;
#endif
  std::vector<Value> first_x_;
  std::vector<Value> last_x_;
  // Declared last: their destructors wait for the threads that read the members above.
  std::future<sptrsv::backward_error_result> first_error_;
  std::future<sptrsv::backward_error_result> last_error_;
};

/// The machines of this process; `device` is null without a GPU.
struct machines {
  host_machine host;
#ifdef __CUDACC__
  std::unique_ptr<device_machine> device = common::has_gpu() ? std::make_unique<device_machine>() : nullptr;
  [[nodiscard]] bool has_gpu() const { return device != nullptr; }
  machine& main() { return has_gpu() ? static_cast<machine&>(*device) : host; }
#else
  [[nodiscard]] static bool has_gpu() { return false; }
  machine& main() { return host; }
#endif
};

using candidate_list = std::vector<std::unique_ptr<candidate>>;

/// Returns the forms with these names as candidates on a system. None of them is analysed yet.
template <class Value, class Index>
candidate_list make_candidates(machines& available, std::shared_ptr<const bench_system<Value, Index>> system,
                               std::int64_t rhs, const bench_options& options,
                               const std::vector<std::string>& names) {
  candidate_list made;
  const auto add = [&](const auto& form, auto& where, auto& there) {
    using policy_type = std::decay_t<decltype(form.policy)>;
    using machine_type = std::decay_t<decltype(where)>;
    const bool columns = takes_columns(options, form.by_columns);
    made.push_back(std::make_unique<policy_candidate<machine_type, policy_type, Value, Index>>(
        form, where, system, there.get(*system, columns, rhs, where), rhs));
    made.back()->row.system = system->describe(rhs);
    made.back()->row.storage = columns ? "csc" : "csr";
    made.back()->row.policy = form.name;
    made.back()->row.baseline = baseline_name(available.has_gpu());
  };
  shared_placement<host_machine, Value, Index> on_host;
#ifdef __CUDACC__
  shared_placement<device_machine, Value, Index> on_device;
#endif
  for_each_bench_form<Value, Index>([&](const auto& form) {
    using policy_type = std::decay_t<decltype(form.policy)>;
    if (!is_one_of(form.name, names)) {
      return;
    }
    if constexpr (common::runs_on_host<policy_type>) {
      add(form, available.host, on_host);
    }
#ifdef __CUDACC__
    if constexpr (!common::runs_on_host<policy_type>) {
      add(form, *available.device, on_device);
    }
#endif
  });
  return made;
}

}  // namespace sptrsv_benchmarks
