// Ends the process if work on the GPU does not end: a kernel that hangs cannot be stopped in any other way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "trial.hpp"

namespace sptrsv_trial {

/// Knows what each thread of a mode is doing. If a task takes longer than the limit, the watchdog prints what
/// all threads are doing and ends the process with `exit_hang`.
class watchdog {
  using clock = std::chrono::steady_clock;

 public:
  /// One thread of the mode. Only this thread calls its functions.
  class watched {
   public:
    watched(watchdog& dog, std::string name) : dog_(dog), name_(std::move(name)) {}
    /// Begins a task, which ends the one before. `unfinished` returns, in words, what of the task has not
    /// ended; the watchdog calls it from its own thread.
    void begin(const std::string& task, const std::function<std::string()>& unfinished = {}) {
      const std::lock_guard<std::mutex> lock(dog_.mutex_);
      task_ = task;
      unfinished_ = unfinished;
      start_ = clock::now();
    }
    /// Ends the task.
    void end() { begin(""); }

   private:
    friend class watchdog;
    watchdog& dog_;
    std::string name_;
    std::string task_;  ///< empty: none
    std::function<std::string()> unfinished_;
    clock::time_point start_{};
  };

  explicit watchdog(const trial_options& options) : limit_(options.limit), worker_([this] { watch(); }) {}
  watchdog(const watchdog&) = delete;  // its thread holds its address
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  /// Returns a record for a thread of this name, which lives as long as the watchdog.
  watched& watch_thread(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return threads_.emplace_back(*this, name);
  }

 private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stop_; })) {
      const clock::time_point now = clock::now();
      for (const watched& thread : threads_) {
        if (!thread.task_.empty() && now - thread.start_ > limit_) {
          report_and_exit(now);
        }
      }
    }
  }

  /// Prints all texts before it asks CUDA for the state of streams, because such a call may not return.
  [[noreturn]] void report_and_exit(clock::time_point now) const {
    std::printf("HANG: work did not end within %lld s\n", static_cast<long long>(limit_.count()));
    for (const watched& thread : threads_) {
      const std::chrono::duration<double> seconds = now - thread.start_;
      std::printf("  %s: %s", thread.name_.c_str(), thread.task_.empty() ? "idle\n" : thread.task_.c_str());
      if (!thread.task_.empty()) {
        std::printf(", for %.1f s\n", seconds.count());
      }
    }
    std::fflush(stdout);
    for (const watched& thread : threads_) {
      if (!thread.task_.empty() && thread.unfinished_) {
        std::printf("  %s: unfinished: %s\n", thread.name_.c_str(), thread.unfinished_().c_str());
        std::fflush(stdout);
      }
    }
    std::_Exit(exit_hang);
  }

  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::list<watched> threads_;
  std::thread worker_;  // last: it uses the members above
};

}  // namespace sptrsv_trial
