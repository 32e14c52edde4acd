// Mode `load`: eight host threads with four streams each solve, replay graphs, update values and analyse,
// while other kernels fill the GPU. Every solution must be that of the quiet device.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "background.hpp"
#include "common/gpu/cuda_handles.cuh"
#include "prepared_case.hpp"
#include "prioritised_stream.cuh"
#include "run_case.cuh"

namespace sptrsv_trial {
namespace {

constexpr std::size_t host_threads = 8;
constexpr std::size_t streams_per_thread = 4;

/// A stream of a thread, and copies on it.
class lane : private prioritised_stream, public support::device_target<cudaStream_t> {
 public:
  explicit lane(stream_priority priority) : prioritised_stream(priority), device_target(get()) {}
};

/// The four streams of a thread, with two priorities.
using lanes = std::array<lane, streams_per_thread>;

/// Returns which of the streams still have work.
std::string unfinished(const lanes& all) {
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (cudaStreamQuery(all[k].stream()) == cudaErrorNotReady) {
      text += (text.empty() ? "stream " : ", stream ") + std::to_string(k);
    }
  }
  return text.empty() ? "no stream" : text;
}

/// The work of a thread on a case, whatever the types of the case are.
class loaded_case {
 public:
  virtual ~loaded_case() = default;
  [[nodiscard]] virtual const case_id& id() const = 0;
  /// Draws an action and carries it out. `all` have no work before and afterwards. One thread at a time.
  virtual void act(support::random_source& source, lanes& all, watchdog::watched& watch, mode_log& log) = 0;
  /// Solves with the solver as it is, on workspaces of the calling thread. Several threads may call this at
  /// the same time.
  virtual void solve_shared(support::random_source& source, lanes& all, watchdog::watched& watch,
                            mode_log& log) const = 0;
};

template <class Types>
class typed_case final : public loaded_case {
  using value = typename Types::value;
  using solver = typename prepared_case<Types>::solver_type;
  using workspace = typename solver::workspace;
  using array = sptrsv::buffer<value>;

 public:
  explicit typed_case(std::unique_ptr<prepared_case<Types>> prepared) : prepared_(std::move(prepared)) {}

  [[nodiscard]] const case_id& id() const override { return prepared_->id(); }

  void act(support::random_source& source, lanes& all, watchdog::watched& watch, mode_log& log) override {
    const auto begin = [&](const char* what) { begin_task(watch, all, what); };
    switch (source.below(4)) {
      case 0:
        begin("solves on several workspaces");
        solve_together(source, all, log, "on several workspaces");
        break;
      case 1:
        begin("update_values, then solves");
        update(all);
        solve_together(source, all, log, "after update_values");
        break;
      case 2:
        begin("replays of graphs");
        replay(source, all, log);
        break;
      default:
        begin("analysis and solves");
        analyse_again(all[static_cast<std::size_t>(source.below(streams_per_thread))], log);
    }
    watch.end();
  }

  void solve_shared(support::random_source& source, lanes& all, watchdog::watched& watch,
                    mode_log& log) const override {
    begin_task(watch, all, "solves with a solver that several threads share");
    solve_together(source, all, log, "with a shared solver");
    watch.end();
  }

 private:
  void begin_task(watchdog::watched& watch, const lanes& all, const char* what) const {
    watch.begin(id().policy + ": " + id().system + ", seed " + std::to_string(id().seed) + ": " + what,
                [&all] { return unfinished(all); });
  }

  /// A solution that is on its way.
  struct pending {
    std::size_t lane;
    std::size_t task;
    array x;
  };

  [[nodiscard]] auto x_view(std::size_t task, array& x) const {
    return prepared_->shape(task).view(x.data());
  }
  [[nodiscard]] std::vector<workspace> make_workspaces(const lanes& all) const {
    std::vector<workspace> made;
    for (const lane& each : all) {
      made.push_back(prepared_->solver().make_workspace(each.stream()));
    }
    return made;
  }
  void check(lanes& all, const std::vector<pending>& solutions, mode_log& log, const char* what) const {
    for (const pending& one : solutions) {
      prepared_->check(log, set_, one.task, all[one.lane].download(one.x), what);
    }
  }

  /// Enqueues two solves on each stream before it waits for the first one.
  void solve_together(support::random_source& source, lanes& all, mode_log& log, const char* what) const {
    const solver& solves = prepared_->solver();
    auto workspaces = make_workspaces(all);
    std::vector<pending> solutions;
    for (std::size_t k = 0; k < 2 * all.size(); ++k) {
      const auto task = static_cast<std::size_t>(source.below(prepared_->tasks));
      solutions.push_back({k % all.size(), task, all[k % all.size()].upload(prepared_->poison(task))});
    }
    for (pending& one : solutions) {
      solves.solve(prepared_->b(one.task), x_view(one.task, one.x), value(1), workspaces[one.lane],
                   all[one.lane].stream());
    }
    check(all, solutions, log, what);
    for (std::size_t k = 0; k < all.size(); ++k) {
      prepared_->check_status(log, set_, solves.status(workspaces[k], all[k].stream()), what);
    }
  }

  /// Gives the solver its other values on the first stream; the other streams wait for this.
  void update(lanes& all) {
    set_ = 1 - set_;
    prepared_->solver().update_values(prepared_->values(set_), all[0].stream());
    sptrsv_common::cuda_event updated(cudaEventDisableTiming);
    updated.record(all[0].stream());
    for (const lane& each : all) {
      updated.make_wait(each.stream());
    }
  }

  /// On each stream: a graph of two solves is replayed three times, with a plain solve on the same workspace
  /// in between.
  void replay(support::random_source& source, lanes& all, mode_log& log) const {
    const solver& solves = prepared_->solver();
    auto workspaces = make_workspaces(all);
    std::vector<pending> solutions;
    std::vector<sptrsv::detail::simt::cuda_graph> graphs;
    for (std::size_t k = 0; k < 3 * all.size(); ++k) {
      const auto task = static_cast<std::size_t>(source.below(prepared_->tasks));
      solutions.push_back({k / 3, task, all[k / 3].upload(prepared_->poison(task))});
    }
    const auto enqueue = [&](pending& one, cudaStream_t stream) {
      solves.solve(prepared_->b(one.task), x_view(one.task, one.x), value(1), workspaces[one.lane], stream);
    };
    for (std::size_t k = 0; k < all.size(); ++k) {
      graphs.push_back(sptrsv_common::capture([&](cudaStream_t stream) {
        enqueue(solutions[3 * k], stream);
        enqueue(solutions[3 * k + 1], stream);
      }));
    }
    for (int round = 0; round < 3; ++round) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        SPTRSV_CUDA_CHECK(cudaGraphLaunch(graphs[k].get(), all[k].stream()));
        enqueue(solutions[3 * k + 2], all[k].stream());
      }
    }
    check(all, solutions, log, "by replays of graphs");
  }

  void analyse_again(lane& where, mode_log& log) const {
    auto again = prepared_->analyze(where.stream());
    for (std::size_t task = 0; task < prepared_->tasks; ++task) {
      array x = where.upload(prepared_->poison(task));
      again.solve(prepared_->b(task), x_view(task, x), where.stream());
      prepared_->check(log, 0, task, where.download(x), "by another analysis");
    }
  }

  std::unique_ptr<prepared_case<Types>> prepared_;
  std::size_t set_ = 0;  ///< the values that the solver has
};

/// Prepares a case of each chosen form.
template <class Types>
void add_cases(std::vector<std::unique_ptr<loaded_case>>& to, const trial_options& options,
               std::uint64_t seed, mode_log& log, watchdog::watched& watch) {
  for (const policy_pointer<Types> policy : chosen_policies<Types>(options)) {
    run_case(*policy, case_id{seed, policy->case_name, "analysis and first solves"}, log, watch, [&] {
      if (auto prepared = prepare(*policy, seed, system_size::large, log)) {
        to.push_back(std::make_unique<typed_case<Types>>(std::move(prepared)));
      }
    });
  }
}

/// The work of one host thread, until the time is over: actions on its own cases, and every fourth time
/// solves with a case that all threads share. A failure does not end it.
void work(std::size_t thread, std::uint64_t seed, std::vector<std::unique_ptr<loaded_case>>& own,
          const std::vector<std::unique_ptr<loaded_case>>& shared, const deadline& until,
          watchdog::watched& watch, mode_log& log) {
  support::random_source source(support::random_source(seed).bits() + thread);
  lanes all = {lane(stream_priority::lowest), lane(stream_priority::highest), lane(stream_priority::lowest),
               lane(stream_priority::highest)};
  const auto drawn = [&](const auto& cases) -> loaded_case& {
    return *cases[static_cast<std::size_t>(source.below(static_cast<std::int64_t>(cases.size())))];
  };
  while (!until.is_over()) {
    const bool on_shared = !shared.empty() && (own.empty() || source.below(4) == 0);
    if (own.empty() && !on_shared) {
      return;
    }
    loaded_case& chosen = on_shared ? drawn(shared) : drawn(own);
    try {
      on_shared ? chosen.solve_shared(source, all, watch, log) : chosen.act(source, all, watch, log);
    } catch (const std::exception& e) {
      log.fail(chosen.id(), e.what());
      watch.begin("waits for its streams after a failure", [&all] { return unfinished(all); });
      for (const lane& each : all) {
        static_cast<void>(cudaStreamSynchronize(each.stream()));
      }
    }
  }
  watch.end();
}

}  // namespace

mode_result run_load(const trial_options& options) {
  mode_log log("load");
  watchdog dog(options);
  auto& watch = dog.watch_thread("main thread");
  std::vector<std::unique_ptr<loaded_case>> all;
  add_cases<f64>(all, options, options.seed, log, watch);
  add_cases<c64>(all, options, options.seed, log, watch);
  // Every ninth case is shared, if there are so many. The other ones belong to one thread each.
  std::vector<std::unique_ptr<loaded_case>> shared;
  std::array<std::vector<std::unique_ptr<loaded_case>>, host_threads> own;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool is_shared = all.size() > host_threads && k % (host_threads + 1) == 0;
    (is_shared ? shared : own[k % host_threads]).push_back(std::move(all[k]));
  }

  background others(background_work::both);
  const deadline until(options.seconds);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < host_threads; ++k) {
    auto& watched = dog.watch_thread("host thread " + std::to_string(k));
    threads.emplace_back([&, k] {
      try {
        work(k, options.seed, own[k], shared, until, watched, log);
      } catch (const std::exception& e) {
        log.fail(case_id{options.seed, "", "host thread " + std::to_string(k)}, e.what());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  watch.begin("the other work ends");
  log.expect(others.finish(), case_id{options.seed, "", name_of(background_work::both)},
             "solutions of the other streams are wrong");
  watch.end();
  return log.result();
}

}  // namespace sptrsv_trial
