// A policy on a system, behind an interface that the measuring loop can shuffle.
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
#include "device_machine.cuh"
#endif

namespace sptrsv_benchmarks {

class candidate {
 public:
  candidate(std::string policy, machine& where) : policy_(std::move(policy)), where_(&where) {}
  candidate(const candidate&) = delete;  // holds memory of a machine
  candidate& operator=(const candidate&) = delete;
  virtual ~candidate() = default;

  [[nodiscard]] const std::string& policy() const { return policy_; }
  [[nodiscard]] machine& where() const { return *where_; }
  result_row row;

  /// Throws what analyze throws.
  virtual void analyze() = 0;
  /// Gives the analysis and its memory back.
  virtual void discard() = 0;
  virtual void update_values() = 0;
  virtual void solve() = 0;
  /// Captures a solve; false where there are no graphs.
  virtual bool record() = 0;
  virtual void replay() = 0;
  [[nodiscard]] virtual sptrsv::solver_info info() const = 0;

  /// Solves into poisoned memory and starts to compute the error of the result on another thread.
  virtual void start_check() = 0;
  /// Waits until the thread is done, so that it does not disturb what is measured on the host.
  virtual void await_check() const = 0;
  /// The same with what runs now (a graph, if one was recorded), and waits: the worse of the two.
  [[nodiscard]] virtual sptrsv::backward_error_result finish_check() = 0;

 private:
  std::string policy_;
  machine* where_;
};

/// A system where a policy can reach it; shared by the candidates there.
template <class Machine, class Value, class Index>
struct placed_system {
  placed_system(const bench_system<Value, Index>& system, std::int64_t rhs, const Machine& where)
      : matrix(where.place(system.matrix)), b(where.place(system.right_hand_sides(rhs))) {}
  typename Machine::template matrix<Value, Index> matrix;
  typename Machine::template array<Value> b;
};

template <class Machine, class Policy, class Value, class Index>
class policy_candidate final : public candidate {
  using placed = placed_system<Machine, Value, Index>;

 public:
  policy_candidate(const Policy& policy, Machine& where,
                   std::shared_ptr<const bench_system<Value, Index>> system,
                   std::shared_ptr<const placed> there, std::int64_t rhs)
      : candidate(Policy::name, where),
        policy_(policy),
        where_(&where),
        system_(std::move(system)),
        there_(std::move(there)),
        rhs_(rhs),
        options_(system_->options),
        x_(where.place(std::vector<Value>(static_cast<std::size_t>(system_->matrix.rows * rhs)))) {
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
    if constexpr (!support::runs_on_host<Policy>) {
      graph_ = where_->on().record([&](const auto& recording) { solve_on(recording.stream()); });
      return true;
    }
#endif
    return false;
  }
  void replay() override {
#ifdef __CUDACC__
    if constexpr (!support::runs_on_host<Policy>) {
      where_->on().replay(graph_);
    }
#endif
  }
  [[nodiscard]] sptrsv::solver_info info() const override { return solver_->info(); }

  void start_check() override {
    where_->poison(x_);
    solve();
    first_x_ = where_->fetch(x_);
    error_ = std::async(std::launch::async, [this] { return error_of(first_x_); });
  }
  void await_check() const override { error_.wait(); }
  sptrsv::backward_error_result finish_check() override {
    where_->poison(x_);
    has_graph() ? replay() : solve();
    const std::vector<Value> x = where_->fetch(x_);
    const auto first = error_.get();
    const bool same = std::memcmp(x.data(), first_x_.data(), x.size() * sizeof(Value)) == 0;
    const auto last = same ? first : error_of(x);
    return last.error <= first.error ? first : last;
  }

 private:
  using stream_type = typename Machine::stream_type;
  using solver =
      decltype(sptrsv::analyze(std::declval<Policy>(), std::declval<sptrsv::csr_view<Value, Index>>(),
                               sptrsv::system_options{}, std::declval<stream_type>()));

  [[nodiscard]] sptrsv::csr_view<Value, Index> matrix() const { return there_->matrix; }

  template <class T>
  [[nodiscard]] auto columns(T* data) const {
    return sptrsv::dense_view<T>::column_major(data, system_->matrix.rows, rhs_, system_->matrix.rows);
  }
  void solve_on(stream_type stream) {
    solver_->solve(columns(static_cast<const Value*>(there_->b.data())), columns(x_.data()), stream);
  }
  [[nodiscard]] bool has_graph() const {
#ifdef __CUDACC__
    return graph_.get() != nullptr;
#else
    return false;
#endif
  }
  [[nodiscard]] sptrsv::backward_error_result error_of(const std::vector<Value>& x) const {
    return sptrsv::backward_error(system_->matrix, system_->options, columns(system_->b.data()),
                                  columns(x.data()));
  }

  Policy policy_;
  Machine* where_;
  std::shared_ptr<const bench_system<Value, Index>> system_;
  std::shared_ptr<const placed> there_;
  std::int64_t rhs_;
  sptrsv::system_options options_;
  typename Machine::template array<Value> x_;
  std::optional<solver> solver_;
#ifdef __CUDACC__
  sptrsv::detail::cuda_graph graph_;
#endif
  std::vector<Value> first_x_;
  std::future<sptrsv::backward_error_result> error_;  // last: it waits for the thread that reads the others
};

/// The machines of this process; that of the GPU is null without one.
struct machines {
  host_machine host;
#ifdef __CUDACC__
  std::unique_ptr<device_machine> device = support::has_gpu() ? std::make_unique<device_machine>() : nullptr;
  [[nodiscard]] bool has_gpu() const { return device != nullptr; }
  machine& main() { return has_gpu() ? static_cast<machine&>(*device) : host; }
#else
  [[nodiscard]] static bool has_gpu() { return false; }
  machine& main() { return host; }
#endif
};

using candidate_list = std::vector<std::unique_ptr<candidate>>;

/// The chosen policies on a system, none of them analysed yet.
template <class Value, class Index>
candidate_list make_candidates(machines& available, std::shared_ptr<const bench_system<Value, Index>> system,
                               std::int64_t rhs, const std::vector<std::string>& names) {
  candidate_list made;
  const auto add = [&](const auto& policy, auto& where, auto& placed_there) {
    using policy_type = std::decay_t<decltype(policy)>;
    using machine_type = std::decay_t<decltype(where)>;
    if (placed_there == nullptr) {
      placed_there = std::make_shared<const placed_system<machine_type, Value, Index>>(*system, rhs, where);
    }
    made.push_back(std::make_unique<policy_candidate<machine_type, policy_type, Value, Index>>(
        policy, where, system, placed_there, rhs));
    made.back()->row.system = system->describe(rhs);
    made.back()->row.policy = policy_type::name;
    made.back()->row.baseline = baseline_name(available.has_gpu());
  };
  std::shared_ptr<const placed_system<host_machine, Value, Index>> on_host;
#ifdef __CUDACC__
  std::shared_ptr<const placed_system<device_machine, Value, Index>> on_device;
#endif
  for_each_bench_policy([&](const auto& policy) {
    using policy_type = std::decay_t<decltype(policy)>;
    if (!is_chosen(policy, names, available.has_gpu())) {
      return;
    }
    if constexpr (support::runs_on_host<policy_type>) {
      add(policy, available.host, on_host);
    }
#ifdef __CUDACC__
    if constexpr (!support::runs_on_host<policy_type>) {
      add(policy, *available.device, on_device);
    }
#endif
  });
  return made;
}

}  // namespace sptrsv_benchmarks
