// SPDX-License-Identifier: Apache-2.0
// Processes that exchange data on the host: the processing elements (PEs) of process_team.cuh and
// nvshmem_team.cuh.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sptrsv/detail/distributed/distributed_team.hpp"
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
  /// @param exchange sends to[r] to process r, and returns what each process has sent to this one, as
  ///   MPI_Alltoallv does. It throws if a process does not come; the collective functions pass that on.
  /// @param leave lets the others know that this process has failed, by closing connections for example; it
  ///   may be empty.
  /// @throws error errc::invalid_argument if there is no process `rank`, or no `exchange`.
  process_group(int rank, int size, std::function<messages(messages)> exchange,
                std::function<void()> leave = {})
      : process_group(rank, size, std::move(exchange), std::move(leave),
                      std::make_shared<detail::distributed::failure_state>()) {}

  /// Returns the number of this process.
  [[nodiscard]] int rank() const { return rank_; }
  /// Returns the number of processes.
  [[nodiscard]] int size() const { return size_; }

  /// Sends to[r] to process r, and returns what each process has sent to this one. Collective.
  ///
  /// @throws error errc::size_mismatch if there are not as many messages as processes; errc::peer_failed if a
  ///   process has failed.
  messages exchange(messages to) {
    const auto expect_one_each = [&](const messages& all) {
      SPTRSV_EXPECTS(all.size() == static_cast<std::size_t>(size_), errc::size_mismatch, "exchange got ",
                     all.size(), " messages for ", size_, " processes");
    };
    expect_one_each(to);
    failure_->check();
    try {
      messages received = exchange_(std::move(to));
      expect_one_each(received);
      return received;
    } catch (const detail::distributed::pe_has_left& e) {
      fail(e.pe());
      throw;
    } catch (...) {
      fail(rank_);
      throw;
    }
  }
  /// Waits until all processes have called it. Collective.
  void meet() { exchange(messages(static_cast<std::size_t>(size_))); }

  /// Says that a process has ended or will not come. Kernels of this process that wait for it end, x is
  /// undefined then, and collective functions throw. Any thread may call it, also while another one waits for
  /// the GPU: a thread that watches the other processes, for example.
  void fail(int process) noexcept {
    failure_->set(process);
    if (process == rank_ && leave_ != nullptr) {
      leave_();
    }
  }
  /// Returns the word that kernels read; see distributed_team.hpp. The team maps it.
  [[nodiscard]] const std::uint32_t* failure_word() const { return failure_->word(); }

 protected:
  /// As above, for a process that shares `failure` with others.
  process_group(int rank, int size, std::function<messages(messages)> exchange, std::function<void()> leave,
                std::shared_ptr<detail::distributed::failure_state> failure)
      : rank_(rank),
        size_(size),
        exchange_(std::move(exchange)),
        leave_(std::move(leave)),
        failure_(std::move(failure)) {
    SPTRSV_EXPECTS(rank >= 0 && rank < size, errc::invalid_argument, "process ", rank, " of a group of ",
                   size);
    SPTRSV_EXPECTS(exchange_ != nullptr, errc::invalid_argument, "a group without an exchange");
  }
  /// Returns what a team maps for its kernels.
  [[nodiscard]] detail::distributed::failure_state& failure() const { return *failure_; }

 private:
  int rank_;
  int size_;
  std::function<messages(messages)> exchange_;
  std::function<void()> leave_;
  std::shared_ptr<detail::distributed::failure_state> failure_;
};

}  // namespace sptrsv::SPTRSV_ABI
