// SPDX-License-Identifier: Apache-2.0
// Threads of the host that help the thread that calls the library.
//
// A parallel region of OpenMP ends when its last thread has been scheduled. If another process uses a core,
// that takes as long as a time slice of the operating system, many times as long as a solve. So the library
// has threads of its own: a caller never waits for a helper that has not begun, because it does the work
// itself. OpenMP says how many threads there may be.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "sptrsv/version.hpp"

#include <pthread.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace sptrsv::SPTRSV_ABI::detail {

/// How long a thread polls for another one before it blocks. It is about what a sleep and a wake-up cost.
inline constexpr std::chrono::microseconds spin_time{5};

/// Polls until `ready()` holds, for spin_time at most. Returns whether it holds.
template <class Ready>
bool spin_until(const Ready& ready) {
  if (ready()) {
    return true;
  }
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int polls = 0; polls < 16; ++polls) {
      if (ready()) {
        return true;
      }
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// Threads that sleep until a caller has work. They serve one caller at a time.
class host_team {
 public:
  /// Returns the team of the process. It is never destroyed: at the end of the program its threads sleep.
  static host_team& instance() {
    static host_team* const team = new host_team;
    return *team;
  }

  /// Returns how many threads a call may use: as many as OpenMP would start here, 1 without OpenMP, and 1 in
  /// a child process of fork, which has only the thread that called fork.
  static int allowed_threads() {
#ifdef _OPENMP
    if (!is_forked() && omp_get_active_level() < omp_get_max_active_levels()) {
      return std::max(1, std::min(omp_get_max_threads(), omp_get_thread_limit()));
    }
#endif
    return 1;
  }

  /// Calls body(0), and at the same time body(1), body(2), ... on helpers: on at most threads - 1, on no more
  /// than are allowed, and only on those that come before body(0) returns. On none if the team serves
  /// another caller. Returns when all calls have returned.
  ///
  /// @param body does all work that is left, however many threads call it. It must not throw.
  template <class Body>
  void run(int threads, const Body& body) {
    const int helpers = std::min(threads, allowed_threads()) - 1;
    if (helpers < 1 || is_in_use_.exchange(true, std::memory_order_acquire)) {
      body(0);
      return;
    }
    start_helpers(helpers);
    const int places = std::min(helpers, helpers_);
    set_places(places, std::cref(body));
    for (int helper = 0; helper < places; ++helper) {
      opened_.notify_one();
    }
    body(0);
    set_places(0, nullptr);
    const auto is_empty = [&] { return inside_ == 0; };
    if (!spin_until(is_empty)) {
      std::unique_lock<std::mutex> lock(mutex_);
      left_.wait(lock, is_empty);
    }
    is_in_use_.store(false, std::memory_order_release);
  }

 private:
  host_team() = default;

  static std::atomic<bool>& is_forked() {
    static std::atomic<bool> forked{false};
    return forked;
  }

  /// Starts threads until there are `wanted`, or as many as the system gives.
  void start_helpers(int wanted) {
    if (helpers_ == 0 && pthread_atfork(nullptr, nullptr, [] { is_forked() = true; }) != 0) {
      return;
    }
    try {
      for (; helpers_ < wanted; ++helpers_) {
        std::thread([this] { help(); }).detach();
      }
    } catch (const std::system_error&) {  // no further thread: those that run are enough
    }
  }

  /// Lets as many helpers enter as there are places.
  void set_places(int places, std::function<void(int)> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = std::move(work);
    places_ = places;
  }

  /// The life of a helper. A helper that returns while there are places left takes the next one: it finds no
  /// work.
  [[noreturn]] void help() {
    const auto is_opened = [&] { return places_ > 0; };
    for (;;) {
      spin_until(is_opened);
      std::unique_lock<std::mutex> lock(mutex_);
      opened_.wait(lock, is_opened);
      const auto work = work_;
      const int thread = places_--;
      ++inside_;
      lock.unlock();
      work(thread);
      lock.lock();
      --inside_;
      lock.unlock();
      left_.notify_one();
    }
  }

  std::atomic<bool> is_in_use_{false};
  int helpers_ = 0;  ///< threads that were started; used by the caller that has the team

  std::mutex mutex_;                ///< of all below: for reading work_, and for writing
  std::condition_variable opened_;  ///< helpers wait here
  std::condition_variable left_;    ///< the caller waits here
  std::function<void(int)> work_;   ///< by thread
  std::atomic<int> places_{0};      ///< helpers that may enter
  std::atomic<int> inside_{0};      ///< helpers at work
};

/// Entries of two systems together whose work on the host takes a few times as long as the start of a thread.
inline constexpr std::int64_t many_entries = 20'000;

/// Calls `work(k, thread)` once for each k in [0, count), on at most `threads` threads. A thread that is
/// ready takes the next `chunk` numbers; `thread` is its number. The exception of the smallest k is thrown
/// again; the rest of its chunk is left out.
template <class Work>
void for_each_taken_in_chunks(std::int64_t count, std::int64_t chunk, int threads, const Work& work) {
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::int64_t failed = count;
  std::exception_ptr failure;
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  host_team::instance().run(static_cast<int>(std::min<std::int64_t>(threads, chunks)), [&](int thread) {
    for (std::int64_t first = next.fetch_add(chunk); first < count; first = next.fetch_add(chunk)) {
      try {
        for (std::int64_t k = first; k < std::min(count, first + chunk); ++k) {
          work(k, static_cast<std::size_t>(thread));
        }
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (first < failed) {
          failed = first;
          failure = std::current_exception();
        }
      }
    }
  });
  if (failure) {
    std::rethrow_exception(failure);
  }
}

/// Does the same with chunks of one number.
template <class Work>
void for_each_taken(std::int64_t count, int threads, const Work& work) {
  for_each_taken_in_chunks(count, 1, threads, work);
}

}  // namespace sptrsv::SPTRSV_ABI::detail
