// Wakes pollers that no write has released, and reports a deadlock if that does not help.
#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

/// Wakes all pollers. Returns false if no thread is ready then.
bool scheduler::wake_pollers() {
  for (const auto& b : resident_) {
    for (thread& t : b->threads) {
      if (t.state == thread_state::polling) {
        pollers_.wake(t);
      }
    }
  }
  return !ready_.empty();
}

void scheduler::wake_one_at_random() {
  if (resident_.empty()) {
    return;
  }
  block& b = *resident_[random_.below(resident_.size())];
  thread& t = b.threads[random_.below(b.threads.size())];
  if (t.state == thread_state::polling) {
    pollers_.wake(t);
  }
}

void scheduler::fail_deadlock() {
  constexpr int longest_list = 8;
  std::string text = "emulator: deadlock.";
  int waiting = 0;
  for (const auto& b : resident_) {
    for (const thread& t : b->threads) {
      if (t.state == thread_state::exited || waiting++ >= longest_list) {
        continue;
      }
      text += "\n  " + name_of(t);
      if (t.state == thread_state::in_barrier) {
        text += " is in a barrier with " + std::to_string(*t.come) + " of " + std::to_string(t.awaited) +
                " threads";
      } else if (t.state == thread_state::in_tile) {
        const std::uint32_t there =
            b->warps[static_cast<std::size_t>(t.rank / 32)].waiting[log2_of(t.tile.lanes)] &
            tile_mask(t.rank % 32, t.tile.lanes);
        text += std::string(" is in ") + name_of(t.tile.op) + " of a tile with " +
                std::to_string(__builtin_popcount(there)) + " of " + std::to_string(t.tile.lanes) + " lanes";
      } else {
        text += " polls " + describe(t, t.polled) + " at " + hex(t.polled) + ", which holds " +
                bytes_text(t, t.polled, t.polled_size);
      }
    }
  }
  if (waiting > longest_list) {
    text += "\n  and " + std::to_string(waiting - longest_list) + " more threads wait";
  }
  const std::uint32_t waiting_blocks = kernel_.blocks - next_block_;
  text += "\n  " + std::to_string(resident_.size()) + " blocks are resident, " +
          std::to_string(waiting_blocks) + " of " + std::to_string(kernel_.blocks) + " have not started";
  if (waiting_blocks != 0) {
    text += " and cannot before one of those ends";
  }
  throw deadlock(text);
}

}  // namespace sptrsv::emulator
