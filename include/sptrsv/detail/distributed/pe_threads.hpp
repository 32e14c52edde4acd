// SPDX-License-Identifier: Apache-2.0
// PEs that are threads of this process: where they meet, and how they start and end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

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

/// Returns the exception that is handled, to be thrown on. Its type stays; an `error` gets a text that names
/// the PE.
inline std::exception_ptr exception_of_pe(int pe) {
  try {
    throw;
  } catch (const error& e) {
    const std::string text = e.what();
    if (typeid(e) == typeid(error) && text.rfind("PE ", 0) != 0) {
      return std::make_exception_ptr(error(e.code(), "PE " + std::to_string(pe) + ": " + text, e.row()));
    }
  } catch (...) {  // the caller handles it
  }
  return std::current_exception();
}

/// Calls body(pe) for PEs 0 ... size - 1, each in a thread of its own, and waits for all. If a call throws,
/// or if a thread cannot start, the PE leaves `together`. Throws the first exception.
///
/// @tparam Thread std::thread; tests replace it.
template <class Thread = std::thread, class Body>
void run_pes(int size, meeting& together, const Body& body) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto end = [&](int pe, const std::exception_ptr& thrown) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      failure = failure ? failure : thrown;
    }
    together.leave(pe);
  };
  std::vector<Thread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (int pe = 0; pe < size; ++pe) {
    try {
      threads.emplace_back([&, pe] {
        try {
          body(pe);
          end(pe, nullptr);
        } catch (...) {
          end(pe, exception_of_pe(pe));
        }
      });
    } catch (const std::system_error& e) {
      end(pe, std::make_exception_ptr(error(
                  errc::unsupported, "PE " + std::to_string(pe) + ": its thread cannot start: " + e.what())));
      break;  // the others find that this PE has left
    }
  }
  for (Thread& thread : threads) {
    thread.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
