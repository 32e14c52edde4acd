// SPDX-License-Identifier: Apache-2.0
// Loads for kernels that wait for another processing element (PE). The kernels end if a PE has failed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The words that say whether a PE has failed. Waiting threads read them, because the host cannot end a
/// kernel.
struct failure_words {
  const std::uint32_t* of_team;  ///< in host memory that kernels read: not 0 if a PE has failed
  std::uint32_t* seen;           ///< in device memory: not 0 if a thread of this PE has seen that
  unsigned long long* tickets;   ///< the next ticket of the PE; at least no_more_tasks if a PE has failed
};
/// A block whose ticket is at least this does nothing. One word decides which tasks are done: if a task is
/// done, all tasks with smaller tickets are done, too.
inline constexpr unsigned long long no_more_tasks = 1ull << 63;

/// Loads words that other PEs store, in loops that end if a PE has failed. Then each load returns a word that
/// is a NaN, and that is larger than the number of any solve.
template <class Context>
class polling_scope {
 public:
  SPTRSV_DEVICE polling_scope(Context& ctx, const failure_words& failure) : ctx_(ctx), failure_(failure) {}

  /// Waits between two polls, and looks for a failure: seldom in host memory, because it is far away.
  template <class T>
  SPTRSV_DEVICE void pause(const T* p) {
    auto scope = ctx_.system_scope();
    scope.pause(p);
    if (++polls_ % looks_apart == 0) {
      has_failed_ = scope.load_relaxed(failure_.seen) != 0;
      if (!has_failed_ && polls_ % (8 * looks_apart) == 0 && scope.load_relaxed(failure_.of_team) != 0) {
        has_failed_ = true;
        ctx_.atomic_max(failure_.tickets, no_more_tasks);
        scope.store_relaxed(failure_.seen, std::uint32_t{1});
      }
    }
  }
  template <class T>
  SPTRSV_DEVICE T load_relaxed(const T* p) {
    return has_failed_ ? failed<T> : ctx_.system_scope().load_relaxed(p);
  }
  template <class T>
  SPTRSV_DEVICE T load_acquire(const T* p) {
    return has_failed_ ? failed<T> : ctx_.system_scope().load_acquire(p);
  }
  SPTRSV_DEVICE bool has_failed() const { return has_failed_; }

 private:
  static constexpr std::uint32_t looks_apart = 32;  ///< in polls
  template <class T>
  static constexpr T failed = value_flag<std::conditional_t<sizeof(T) == 4, float, double>>::canonical_nan;

  Context& ctx_;
  failure_words failure_;
  std::uint32_t polls_ = 0;
  bool has_failed_ = false;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
