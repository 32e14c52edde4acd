// SPDX-License-Identifier: Apache-2.0
// Where the threads of a process meet that are PEs of a team.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv::detail::distributed {

/// The exception of a PE that waits for one that has left.
class pe_has_left : public error {
 public:
  explicit pe_has_left(int pe) : error(errc::io_error, "PE " + std::to_string(pe) + " has left the team") {}
};

/// A barrier of `size` threads, and what they exchange at it. Threads do not wait for one that has left: they
/// get an exception.
class meeting {
 public:
  explicit meeting(int size) : size_(size), mail_(static_cast<std::size_t>(size)) {}

  /// Waits until all threads have called it.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::size_t round = round_;
    if (left_ < 0 && ++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round || left_ >= 0; });
    if (round_ == round) {
      throw pe_has_left(left_);
    }
  }
  /// Sends to[r] to thread r, and returns what each thread has sent to this one.
  std::vector<std::vector<std::byte>> exchange(int rank, std::vector<std::vector<std::byte>> to) {
    mail_[at(rank)] = std::move(to);
    wait();
    std::vector<std::vector<std::byte>> received;
    for (auto& of_thread : mail_) {
      received.push_back(std::move(of_thread[at(rank)]));
    }
    wait();
    return received;
  }
  /// Says that a thread will not come any more. The first one is named to the others.
  void leave(int rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    left_ = left_ < 0 ? rank : left_;
    changed_.notify_all();
  }

 private:
  int size_;
  std::vector<std::vector<std::vector<std::byte>>> mail_;  // by sender, by receiver
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  std::size_t round_ = 0;
  int left_ = -1;
};

}  // namespace sptrsv::detail::distributed
