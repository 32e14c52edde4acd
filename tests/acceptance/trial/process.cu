// Mode `process`: solvers work beside other threads of the program, which synchronise the device, allocate,
// create streams and capture graphs. No call of either side may fail.
//
// CUDA itself forbids some combinations, so the mode has three parts. While a stream is captured, no thread
// may synchronise the device: the threads that do so have a part without captures. While a thread captures in
// the global mode, other threads may allocate and synchronise only if they ask for the thread-local mode
// (cudaThreadExchangeStreamCaptureMode): the threads with the solvers do.
#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check_bits.hpp"
#include "common/gpu/cuda_handles.cuh"
#include "device_array.cuh"
#include "run_case.cuh"

namespace sptrsv_trial {
namespace {

constexpr std::size_t solver_threads = 4;

/// A case, whatever its types are.
class process_case {
 public:
  virtual ~process_case() = default;
  /// Updates, solves, makes workspaces and analyses; and captures a solve if `captures`.
  virtual void act(bool captures, const std::string& during, mode_log& log, watchdog::watched& watch) = 0;
};

template <class Types>
class typed_case final : public process_case {
 public:
  explicit typed_case(std::unique_ptr<prepared_case<Types>> prepared) : prepared_(std::move(prepared)) {}

  void act(bool captures, const std::string& during, mode_log& log, watchdog::watched& watch) override {
    run_case(prepared_->policy(), prepared_->id(), log, watch, [&] {
      check_bits(*prepared_, 1, during, log);
      if (captures) {
        capture_solve(during, log);
      }
    });
  }

 private:
  void capture_solve(const std::string& during, mode_log& log) {
    auto& where = prepared_->where();
    auto x = where.upload(prepared_->poison(0));
    const auto graph = sptrsv_common::capture([&](cudaStream_t stream) {
      prepared_->solver().solve(prepared_->b(0), prepared_->shape(0).view(x.data()), stream);
    });
    SPTRSV_CUDA_CHECK(cudaGraphLaunch(graph.get(), where.stream()));
    prepared_->check(log, 0, 0, where.download(x), "by a graph, " + during);
  }

  std::unique_ptr<prepared_case<Types>> prepared_;
};

using cases = std::vector<std::unique_ptr<process_case>>;

void allocate_and_copy() {
  const device_array<unsigned char> memory(1 << 16);
  std::vector<unsigned char> host(memory.bytes(), 1);
  SPTRSV_CUDA_CHECK(cudaMemset(memory.data(), 7, memory.bytes()));
  SPTRSV_CUDA_CHECK(cudaMemcpy(host.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost));
  SPTRSV_EXPECTS(host.front() == 7 && host.back() == 7, sptrsv::errc::cuda_error, "a copy has other content");
}

void create_streams_and_events() {
  const sptrsv_common::cuda_stream streams[2];
  sptrsv_common::cuda_event event;
  event.record(streams[0].get());
  event.make_wait(streams[1].get());
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(streams[1].get()));
}

/// Captures and replays a graph of the program's own.
void capture_own_graph(cudaStreamCaptureMode mode) {
  const device_array<unsigned char> from(1 << 12);
  const device_array<unsigned char> to(1 << 12);
  const sptrsv_common::cuda_stream stream;
  const auto enqueue = [&](cudaStream_t captured) {
    SPTRSV_CUDA_CHECK(cudaMemsetAsync(from.data(), 9, from.bytes(), captured));
    SPTRSV_CUDA_CHECK(
        cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, captured));
  };
  const auto graph = sptrsv_common::capture(enqueue, mode);
  SPTRSV_CUDA_CHECK(cudaGraphLaunch(graph.get(), stream.get()));
  SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
}

/// The work of the other threads of the program in a part of the mode.
struct part {
  std::string name;
  bool solvers_capture = false;           ///< whether solves are captured, too
  bool solvers_ask_thread_local = false;  ///< whether the threads with solvers ask for the thread-local mode
  std::vector<std::pair<std::string, std::function<void()>>> others;
};

std::vector<part> all_parts() {
  const auto capture_by = [](cudaStreamCaptureMode mode) { return [mode] { capture_own_graph(mode); }; };
  return {{"beside cudaDeviceSynchronize, cudaMalloc and cudaMemcpy",
           false,
           false,
           {{"cudaDeviceSynchronize", [] { SPTRSV_CUDA_CHECK(cudaDeviceSynchronize()); }},
            {"cudaMalloc and cudaMemcpy", allocate_and_copy},
            {"streams and events", create_streams_and_events}}},
          {"beside captures in the thread-local mode",
           true,
           false,
           {{"captures", capture_by(cudaStreamCaptureModeThreadLocal)},
            {"more captures", capture_by(cudaStreamCaptureModeThreadLocal)},
            {"streams and events", create_streams_and_events}}},
          {"beside captures in the global mode",
           true,
           true,
           {{"captures", capture_by(cudaStreamCaptureModeGlobal)}}}};
}

/// Runs the solvers beside the other threads until the time is over.
void run_part(const part& chosen, std::vector<cases>& of_thread, const deadline& until,
              const trial_options& options, mode_log& log, watchdog& dog) {
  std::vector<std::thread> threads;
  const auto start = [&](const std::string& name, const std::function<void(watchdog::watched&)>& work) {
    auto& watch = dog.watch_thread(name);
    threads.emplace_back([&log, &options, &chosen, &watch, name, work] {
      try {
        work(watch);
      } catch (const std::exception& e) {
        log.fail(case_id{options.seed, "", name + ", " + chosen.name}, e.what());
      }
      watch.end();
    });
  };
  for (std::size_t t = 0; t < of_thread.size(); ++t) {
    start("solver thread " + std::to_string(t), [&, t](watchdog::watched& watch) {
      if (chosen.solvers_ask_thread_local) {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
        SPTRSV_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
      }
      for (std::size_t k = 0; !until.is_over() && !of_thread[t].empty(); ++k) {
        of_thread[t][k % of_thread[t].size()]->act(chosen.solvers_capture, chosen.name, log, watch);
      }
    });
  }
  for (const auto& other : chosen.others) {
    start(other.first, [&](watchdog::watched& watch) {
      while (!until.is_over()) {
        watch.begin(other.first);
        other.second();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Prepares a case of each chosen form.
template <class Types>
void add_cases(std::vector<cases>& to, std::size_t& number, const trial_options& options, mode_log& log,
               watchdog::watched& watch) {
  for (const policy_pointer<Types> policy : chosen_policies<Types>(options)) {
    run_case(*policy, case_id{options.seed, policy->case_name, "analysis and first solves"}, log, watch, [&] {
      const system_size size = number % 2 == 0 ? system_size::large : system_size::small;
      if (auto prepared = prepare(*policy, options.seed, size, log)) {
        to[number++ % to.size()].push_back(std::make_unique<typed_case<Types>>(std::move(prepared)));
      }
    });
  }
}

}  // namespace

mode_result run_process(const trial_options& options) {
  mode_log log("process");
  watchdog dog(options);
  std::vector<cases> of_thread(solver_threads);
  std::size_t number = 0;
  auto& watch = dog.watch_thread("main thread");
  add_cases<f64>(of_thread, number, options, log, watch);
  add_cases<c64>(of_thread, number, options, log, watch);
  const std::vector<part> parts = all_parts();
  for (const part& each : parts) {
    const std::int64_t share = options.seconds / static_cast<std::int64_t>(parts.size());
    run_part(each, of_thread, deadline(std::max<std::int64_t>(1, share)), options, log, dog);
  }
  return log.result();
}

}  // namespace sptrsv_trial
