// SPDX-License-Identifier: Apache-2.0
// Processes that exchange data on the host: the processing elements (PEs) of process_team.cuh and
// nvshmem_team.cuh.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI {

/// A process of a group. The program connects the processes, with MPI for example, and says how they exchange
/// messages. All processes call `exchange` and `meet` in the same order. A copy is the same process.
class process_group {
 public:
  /// The bytes for each process, or from each process.
  using messages = std::vector<std::vector<std::byte>>;

  /// Makes this process a member of a group.
  ///
  /// @param rank the number of this process.
  /// @param size number of processes.
  /// @param exchange sends to[r] to process r, and returns what each process has sent to this one, for
  /// example
  ///   by MPI_Alltoallv. It throws if a process does not come; the collective functions pass that on.
  /// @throws error errc::invalid_argument if there is no process `rank`, or no `exchange`.
  process_group(int rank, int size, std::function<messages(messages)> exchange)
      : rank_(rank), size_(size), exchange_(std::move(exchange)) {
    SPTRSV_EXPECTS(rank >= 0 && rank < size, errc::invalid_argument, "process ", rank, " of a group of ",
                   size);
    SPTRSV_EXPECTS(exchange_ != nullptr, errc::invalid_argument, "a group without an exchange");
  }

  /// Returns the number of this process.
  [[nodiscard]] int rank() const { return rank_; }
  /// Returns the number of processes.
  [[nodiscard]] int size() const { return size_; }

  /// Sends to[r] to process r, and returns what each process has sent to this one. Collective.
  ///
  /// @throws error errc::size_mismatch if there are not as many messages as processes.
  messages exchange(messages to) {
    const auto expect_one_each = [&](const messages& all) {
      SPTRSV_EXPECTS(all.size() == static_cast<std::size_t>(size_), errc::size_mismatch, "exchange got ",
                     all.size(), " messages for ", size_, " processes");
    };
    expect_one_each(to);
    messages received = exchange_(std::move(to));
    expect_one_each(received);
    return received;
  }
  /// Waits until all processes have called it. Collective.
  void meet() { exchange(messages(static_cast<std::size_t>(size_))); }

 private:
  int rank_;
  int size_;
  std::function<messages(messages)> exchange_;
};

}  // namespace sptrsv::SPTRSV_ABI
