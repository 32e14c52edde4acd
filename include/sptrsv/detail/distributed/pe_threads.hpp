// SPDX-License-Identifier: Apache-2.0
// Runs the PEs of a team as threads of this process.
#pragma once

#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

#include "sptrsv/detail/distributed/meeting.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv::detail::distributed {

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
    return std::current_exception();
  } catch (...) {
    return std::current_exception();
  }
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

}  // namespace sptrsv::detail::distributed
