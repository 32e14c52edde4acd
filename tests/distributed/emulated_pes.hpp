// The devices of an emulated cluster as PEs.
#pragma once

#include "distributed/distributed_solve.hpp"
#include "support/emulator_target.hpp"
#include "support/emulator_team.hpp"

namespace sptrsv::testing {

class emulated_pes {
 public:
  explicit emulated_pes(int pes, const emulator::device_settings& settings = {})
      : devices_(pes, settings), mail_(static_cast<std::size_t>(pes)) {}

  /// Calls body(team, executor) for each PE on a host thread.
  template <class Body>
  void run(const Body& body) {
    devices_.run([&](int rank) {
      emulator_team team(devices_, rank, mail_);
      body(team, emulator::executor(&devices_.at(rank)));
    });
  }
  [[nodiscard]] emulator::device& at(int rank) { return devices_.at(rank); }

 private:
  emulator::cluster devices_;
  team_mail mail_;
};

}  // namespace sptrsv::testing
