// Wakes pollers that no write has released, and reports a deadlock if that does not help.
#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

namespace {

/// Returns what a thread waits for.
std::string waits_for(const thread& t) {
  if (t.state == thread_state::in_barrier) {
    return " is in a barrier with " + std::to_string(*t.come) + " of " + std::to_string(t.awaited) +
           " threads";
  }
  if (t.state == thread_state::in_tile) {
    const std::uint32_t there =
        t.owner->warps[static_cast<std::size_t>(t.rank / 32)].waiting[log2_of(t.tile.lanes)] &
        tile_mask(t.rank % 32, t.tile.lanes);
    return std::string(" is in ") + name_of(t.tile.op) + " of a tile with " +
           std::to_string(__builtin_popcount(there)) + " of " + std::to_string(t.tile.lanes) + " lanes";
  }
  return " polls " + describe(t, t.polled) + " at " + hex(t.polled) + ", which holds " +
         bytes_text(t, t.polled, t.polled_size);
}

/// Returns what the threads of a device wait for, and which blocks have not started.
std::string describe_waiting(const device_run& d) {
  if (d.running == nullptr) {
    return "\n  device " + std::to_string(d.where->rank) + " has ended";
  }
  constexpr int longest_list = 8;
  const grid& g = *d.running;
  std::string text;
  int waiting = 0;
  for (const auto& b : g.resident) {
    for (const thread& t : b->threads) {
      if (t.state != thread_state::exited && waiting++ < longest_list) {
        text += "\n  " + name_of(t) + waits_for(t);
      }
    }
  }
  if (waiting > longest_list) {
    text += "\n  and " + std::to_string(waiting - longest_list) + " more threads wait";
  }
  const std::uint32_t waiting_blocks = g.what.blocks - g.next_block;
  text += "\n  " + std::to_string(g.resident.size()) + " blocks are resident, " +
          std::to_string(waiting_blocks) + " of " + std::to_string(g.what.blocks) + " have not started";
  return text + (waiting_blocks != 0 ? " and cannot before one of those ends" : "");
}

}  // namespace

/// Wakes all pollers. Returns false if no thread is ready then.
bool scheduler::wake_pollers() {
  for (const device_run& d : devices_) {
    if (d.running == nullptr) {
      continue;
    }
    for (const auto& b : d.running->resident) {
      for (thread& t : b->threads) {
        if (t.state == thread_state::polling) {
          pollers_.wake(t);
        }
      }
    }
  }
  return !ready_.empty();
}

void scheduler::wake_one_at_random() {
  const device_run& d = devices_[devices_.size() > 1 ? random_.below(devices_.size()) : 0];
  if (d.running == nullptr || d.running->resident.empty()) {
    return;
  }
  block& b = *d.running->resident[random_.below(d.running->resident.size())];
  thread& t = b.threads[random_.below(b.threads.size())];
  if (t.state == thread_state::polling) {
    pollers_.wake(t);
  }
}

void scheduler::fail_deadlock() {
  std::string text = "emulator: deadlock.";
  for (const device_run& d : devices_) {
    text += describe_waiting(d);
  }
  throw deadlock(text);
}

}  // namespace sptrsv::emulator
