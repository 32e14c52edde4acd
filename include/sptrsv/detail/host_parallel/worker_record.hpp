// SPDX-License-Identifier: Apache-2.0
// The record of a workspace: how much time solves by several workers have gained or lost.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Decides for each solve whether several workers take part. They do as long as they are faster than one.
/// When they lose time, because other processes use the cores, one worker solves for a multiple of this time
/// before the next attempt. The multiple grows with each loss, so that attempts cost less than 1 % in the
/// end.
class worker_record {
 public:
  /// Solves by several workers until the time of one worker is measured again.
  static constexpr int trusted_solves = 64;

  worker_record() = default;
  /// `one_worker`: time of a solve by one worker with one right-hand side, in nanoseconds.
  explicit worker_record(double one_worker) : columns_(1), one_worker_(one_worker) {}

  /// Returns whether several workers are to solve for `columns` right-hand sides.
  [[nodiscard]] bool takes_several(std::int64_t columns) const {
    return columns == columns_ && debt_ <= 0 && solves_ < trusted_solves;
  }
  /// Takes over the time of a solve in nanoseconds.
  void add(bool by_several, std::int64_t columns, double nanoseconds) {
    if (!by_several) {
      one_worker_ = columns == columns_ ? one_worker_ + (nanoseconds - one_worker_) / 4 : nanoseconds;
      columns_ = columns;
      debt_ -= nanoseconds;
      solves_ = 0;
    } else if (const double lost = nanoseconds - one_worker_; lost > 0) {
      debt_ = rest_ * lost;
      rest_ = std::min(4 * rest_, 128.0);
    } else {
      ++solves_;
      rest_ = std::max(0.9 * rest_, 2.0);
    }
  }

 private:
  std::int64_t columns_ = 0;  ///< of the latest solve by one worker
  double one_worker_ = 0;     ///< its average time, in nanoseconds
  double debt_ = 0;           ///< time of one worker until the next attempt
  double rest_ = 2;           ///< this time as a multiple of the time that is lost next
  int solves_ = 0;            ///< by several workers since the latest solve by one
};

}  // namespace sptrsv::SPTRSV_ABI::detail
