// The PEs of an emulated cluster as a team (sptrsv/detail/distributed/team.hpp).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "emulator/executor.hpp"
#include "sptrsv/detail/distributed/team.hpp"

namespace sptrsv::testing {

/// What the members of a team hand to each other.
using team_mail = std::vector<std::vector<std::vector<std::byte>>>;

class emulator_team {
 public:
  /// `mail` belongs to all members and has one element for each. `sharing`: how many PEs share a device.
  emulator_team(emulator::cluster& devices, int rank, team_mail& mail, int sharing = 1)
      : devices_(devices), rank_(rank), mail_(mail), sharing_(sharing) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return devices_.size(); }
  [[nodiscard]] int pes_on_device() const { return sharing_; }

  std::vector<std::vector<std::byte>> exchange(std::vector<std::vector<std::byte>> to) {
    mail_[static_cast<std::size_t>(rank_)] = std::move(to);
    devices_.meet(rank_);
    std::vector<std::vector<std::byte>> received;
    for (const auto& of_pe : mail_) {
      received.push_back(of_pe[static_cast<std::size_t>(rank_)]);
    }
    devices_.meet(rank_);
    return received;
  }

  std::vector<void*> allocate(std::size_t bytes) {
    void* const own = devices_.at(rank_).resource().allocate(bytes, nullptr);
    devices_.make_symmetric(rank_, own, bytes);
    return detail::distributed::gather_addresses(*this, own);
  }
  void release(void* own, std::size_t bytes) noexcept {
    try {
      emulator::executor(&devices_.at(rank_)).synchronize();
      devices_.meet(rank_);
    } catch (...) {
      // Another member has ended by an error, which is reported.
    }
    devices_.at(rank_).resource().deallocate(own, bytes, nullptr);
  }

 private:
  emulator::cluster& devices_;
  int rank_;
  team_mail& mail_;
  int sharing_;
};

}  // namespace sptrsv::testing
