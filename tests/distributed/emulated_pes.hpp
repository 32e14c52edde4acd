// The devices of an emulated cluster as PEs.
#pragma once

#include "distributed/distributed_solve.hpp"
#include "support/emulator_target.hpp"
#include "support/emulator_team.hpp"

namespace sptrsv::testing {

template <class Team>
class emulated_pes_of {
 public:
  /// `sharing`: how many PEs a solver believes to share a device, so that its kernel has fewer blocks.
  explicit emulated_pes_of(int pes, const emulator::device_settings& settings = {}, int sharing = 1)
      : devices_(pes, settings), mail_(static_cast<std::size_t>(pes)), sharing_(sharing) {}

  /// Calls body(team, executor) for each PE on a host thread.
  template <class Body>
  void run(const Body& body) {
    devices_.run([&](int rank) {
      Team team(devices_, rank, mail_, sharing_);
      body(team, emulator::executor(&devices_.at(rank)));
    });
  }
  [[nodiscard]] emulator::device& at(int rank) { return devices_.at(rank); }
  /// Says on all PEs that one has failed.
  void fail(int pe) { emulator_team::fail(mail_, pe); }

 private:
  emulator::cluster devices_;
  team_mail mail_;
  int sharing_;
};

using emulated_pes = emulated_pes_of<emulator_team>;

}  // namespace sptrsv::testing
