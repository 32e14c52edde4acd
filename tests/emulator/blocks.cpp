// The start and the end of blocks and threads.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

/// Starts a block on a device on which one can start.
void scheduler::start_block() {
  const std::size_t count = startable();
  std::size_t skipped = random_order_ && count > 1 ? random_.below(count) : 0;
  for (const device_run& d : devices_) {
    if (d.running != nullptr && d.running->can_start() && skipped-- == 0) {
      start_block(*d.running);
      return;
    }
  }
}

/// Blocks of launches that have ended, to be used again: many launches are short, and to make the threads of
/// a block takes as long as to run them.
std::vector<std::unique_ptr<block>>& scheduler::idle_blocks() {
  static auto* const idle = new std::vector<std::unique_ptr<block>>;
  return *idle;
}

/// Keeps the blocks of a launch that has ended.
void scheduler::keep_blocks(grid& g) {
  constexpr std::size_t most = 64;
  std::vector<std::unique_ptr<block>>& idle = idle_blocks();
  for (std::unique_ptr<block>& b : g.spare) {
    if (idle.size() == most) {
      idle.erase(idle.begin());
    }
    idle.push_back(std::move(b));
  }
  g.spare.clear();
}

/// Returns a block for a launch, with nothing in it.
std::unique_ptr<block> scheduler::make_block(grid& g) {
  const kernel& k = g.what;
  std::vector<std::unique_ptr<block>>& idle = idle_blocks();
  const auto same = std::find_if(idle.rbegin(), idle.rend(), [&](const std::unique_ptr<block>& b) {
    return b->threads.size() == static_cast<std::size_t>(k.threads) &&
           b->static_shared.size() == k.static_bytes && b->dynamic_shared.size() == k.dynamic_bytes &&
           b->races.fenced.empty() != g.checks_races;
  });
  std::unique_ptr<block> b;
  if (same != idle.rend()) {
    std::swap(*same, idle.back());
    b = std::move(idle.back());
    idle.pop_back();
  } else {
    b = std::make_unique<block>();
    b->threads = std::vector<thread>(static_cast<std::size_t>(k.threads));
    b->warps.resize(static_cast<std::size_t>((k.threads + 31) / 32));
    b->static_shared = shared_region(k.static_bytes);
    b->dynamic_shared = shared_region(k.dynamic_bytes);
    for (int i = 0; i < k.threads; ++i) {
      thread& t = b->threads[static_cast<std::size_t>(i)];
      t.owner = b.get();
      t.rank = i;
      t.pending.older = &b->pending;
    }
  }
  b->of = &g;
  b->pending.older = &g.released;
  return b;
}

void scheduler::start_block(grid& g) {
  if (g.spare.empty()) {
    g.spare.push_back(make_block(g));
  }
  g.resident.push_back(std::move(g.spare.back()));
  g.spare.pop_back();
  block& b = *g.resident.back();
  b.slot = g.resident.size() - 1;
  b.rank = g.block_order[g.next_block++];
  ++progress_;
  races_.start_block(b);
  std::memset(b.static_shared.data(), poison_, b.static_shared.size());
  std::memset(b.dynamic_shared.data(), poison_, b.dynamic_shared.size());
  const bool descending = settings_.order == schedule::reverse;
  for (std::size_t i = 0; i < b.threads.size(); ++i) {
    thread& t = b.threads[descending ? b.threads.size() - 1 - i : i];
    t.seen = {};
    t.paused = {};
    t.copies.clear();
    t.copy_groups = 0;
    t.put_epoch = 0;
    t.slice = 0;
    // Blocks of one SM share its cache, also one after the other.
    t.device_view.acquire_from_system(g.begun_at);
    t.block_view.acquire(memory_.changes());
    ready_.add(t);
  }
}

void scheduler::end_block(block& b) {
  memory_.retire(b);
  b.exited = 0;
  std::fill(b.warps.begin(), b.warps.end(), warp{});
  for (std::size_t id = 0; id < b.numbered.size(); ++id) {
    if (b.numbered[id].come != 0) {
      throw barrier_divergence("block " + std::to_string(b.rank) + " has ended with " +
                               std::to_string(b.numbered[id].come) + " threads at its barrier " +
                               std::to_string(id));
    }
  }
  grid& g = *b.of;
  g.resident.back()->slot = b.slot;
  std::swap(g.resident[b.slot], g.resident.back());
  g.spare.push_back(std::move(g.resident.back()));
  g.resident.pop_back();
  advances_ = advances_ || g.has_ended();
}

void scheduler::end_thread(thread& t) {
  races_.check();
  block& b = *t.owner;
  warp& w = b.warps[static_cast<std::size_t>(t.rank / 32)];
  const int lane = t.rank % 32;
  t.state = thread_state::exited;
  t.stack = nullptr;
  ++progress_;
  ++b.exited;
  w.exited |= 1u << lane;
  if (b.in_barrier != 0) {
    throw barrier_divergence(name_of(t) + " has ended, but " + std::to_string(b.in_barrier) +
                             " threads of its block are in a barrier");
  }
  for (int log2 = 0; log2 < 6; ++log2) {
    if ((w.waiting[log2] & tile_mask(lane, 1 << log2)) != 0) {
      throw tile_divergence(name_of(t) + " has ended, but lanes of its tile of " + std::to_string(1 << log2) +
                            " lanes wait for it in a collective");
    }
  }
  if (b.exited == b.of->what.threads) {
    end_block(b);
  }
}

}  // namespace sptrsv::emulator
