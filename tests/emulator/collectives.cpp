// Barriers and tile collectives: the operations at which threads wait for each other.
#include <algorithm>
#include <cmath>

#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

void scheduler::barrier(thread& t) {
  step(t);
  block& b = *t.owner;
  if (b.exited != 0) {
    throw barrier_divergence(name_of(t) + " is in a barrier, but " + std::to_string(b.exited) +
                             " threads of its block have ended");
  }
  meet(t, b.in_barrier, launched(t).threads);
}

void scheduler::numbered_barrier(thread& t, int id, int threads, bool waits) {
  step(t);
  block& b = *t.owner;
  if (id < 1 || id >= static_cast<int>(b.numbered.size()) || threads > launched(t).threads) {
    throw barrier_divergence(name_of(t) + " is at barrier " + std::to_string(id) + " of " +
                             std::to_string(threads) + " threads, which there is not");
  }
  auto& here = b.numbered[static_cast<std::size_t>(id)];
  if (here.come > 0 && here.awaited != threads) {
    throw barrier_divergence(name_of(t) + " is at barrier " + std::to_string(id) + " of " +
                             std::to_string(threads) + " threads, where others expect " +
                             std::to_string(here.awaited));
  }
  memory_.publish_to_block(t);
  races_.arrive(t, here);
  here.acquired.join(t.device_view);
  here.awaited = threads;
  ++here.come;
  if (waits) {
    here.waiting.push_back(&t);
  }
  if (here.come == threads) {
    open(here);
    for (thread* const other : here.waiting) {
      if (other != &t) {
        ready_.add(*other);
      }
    }
    here.waiting.clear();
  } else if (waits) {
    t.state = thread_state::in_barrier;
    t.come = &here.come;
    t.awaited = threads;
    dispatch(t, nullptr);
  }
}

/// All threads have arrived: those that wait see what all have done.
void scheduler::open(counted_barrier& here) {
  races_.open(here);
  for (thread* const t : here.waiting) {
    t->device_view.join(here.acquired);
    memory_.acquire_from_block(*t);
  }
  here.come = 0;
  here.acquired = {};
}

/// Counts `t` at a barrier and blocks it until the first `threads` threads of the block have arrived.
void scheduler::meet(thread& t, int& come, int threads) {
  block& b = *t.owner;
  if (++come < threads) {
    t.state = thread_state::in_barrier;
    t.come = &come;
    t.awaited = threads;
    dispatch(t, nullptr);
    return;
  }
  come = 0;
  memory_.synchronize(b.threads.data(), threads);
  races_.synchronize(b.threads[0], static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    if (thread& other = b.threads[static_cast<std::size_t>(i)]; &other != &t) {
      ready_.add(other);
    }
  }
}

void scheduler::rendezvous(thread& t, const exchange& e) {
  step(t);
  warp& w = t.owner->warps[static_cast<std::size_t>(t.rank / 32)];
  const int lane = t.rank % 32;
  const std::uint32_t mine = tile_mask(lane, e.lanes);
  const auto diverges = [&](const std::string& how) {
    throw tile_divergence(name_of(t) + " is in " + name_of(e.op) + " of a tile of " +
                          std::to_string(e.lanes) + " lanes, " + how);
  };
  if ((w.exited & mine) != 0) {
    diverges("but a lane of it has ended");
  }
  // Two lanes that wait for each other in tiles of different sizes would deadlock.
  const bool others_wait = (w.in_tiles & ~w.waiting[log2_of(e.lanes)] & mine) != 0;
  for (int log2 = 0; others_wait && log2 < 6; ++log2) {
    if (log2 != log2_of(e.lanes) && (w.waiting[log2] & mine & tile_mask(lane, 1 << log2)) != 0) {
      diverges("but a lane of it waits in a tile of " + std::to_string(1 << log2) + " lanes");
    }
  }
  std::uint32_t& waiting = w.waiting[log2_of(e.lanes)];
  if ((waiting & mine) != 0) {
    const int other = __builtin_ctz(waiting & mine);
    const exchange& its = t.owner->threads[static_cast<std::size_t>(t.rank - lane + other)].tile;
    if (its.op != e.op || its.size != e.size) {
      diverges(std::string("but a lane of it is in ") + name_of(its.op) +
               (its.op == e.op ? " of another type" : ""));
    }
  }
  t.tile = e;
  waiting |= 1u << lane;
  w.in_tiles |= 1u << lane;
  if ((waiting & mine) != mine) {
    t.state = thread_state::in_tile;
    dispatch(t, companion(t, mine & ~waiting));
    return;
  }
  waiting &= ~mine;
  w.in_tiles &= ~mine;
  complete(t, mine, e);
}

namespace {

/// Returns what lane `lane` of the warp has of the matrices of a multiply_add afterwards.
matrix_elements multiplied(const thread* warp, int lane) {
  const auto of = [&](int l) -> const matrix_elements& {
    return *static_cast<const matrix_elements*>(warp[l].tile.in);
  };
  matrix_elements mine = of(lane);
  for (int n = 0; n < 2; ++n) {
    for (int k = 0; k < 4; ++k) {
      mine.c[n] = std::fma(of(lane / 4 * 4 + k).a, of((2 * (lane % 4) + n) * 4 + k).b, mine.c[n]);
    }
  }
  return mine;
}

}  // namespace

/// All `lanes` have arrived, `last` as the last one: hands out the results and releases the others.
void scheduler::complete(thread& last, std::uint32_t lanes, const exchange& e) {
  const int first_lane = __builtin_ctz(lanes);
  thread* const tile = &last.owner->threads[static_cast<std::size_t>(last.rank / 32 * 32 + first_lane)];
  std::uint32_t votes = 0;
  if (e.op == collective::ballot || e.op == collective::any || e.op == collective::all) {
    for (int i = 0; i < e.lanes; ++i) {
      votes |= static_cast<std::uint32_t>(*static_cast<const bool*>(tile[i].tile.in)) << i;
    }
  }
  const std::uint32_t everybody = lanes >> first_lane;
  for (int i = 0; i < e.lanes; ++i) {
    const exchange& x = tile[i].tile;
    switch (e.op) {
      case collective::shuffle:
      case collective::shuffle_xor:
        copy_bytes(x.out, tile[x.source].tile.in, x.size);
        break;
      case collective::ballot:
        *static_cast<std::uint32_t*>(x.out) = votes;
        break;
      case collective::any:
        *static_cast<bool*>(x.out) = votes != 0;
        break;
      case collective::all:
        *static_cast<bool*>(x.out) = votes == everybody;
        break;
      case collective::multiply_add:
        *static_cast<matrix_elements*>(x.out) = multiplied(tile, i);
        break;
      case collective::sync:
        break;
    }
  }
  if (e.op == collective::sync) {
    memory_.synchronize_tile(tile, e.lanes);
    races_.synchronize(*tile, static_cast<std::size_t>(e.lanes));
  }
  for (int i = 0; i < e.lanes; ++i) {
    if (&tile[i] != &last) {
      ready_.add(tile[i]);
    }
  }
}

/// Returns a lane that `t` waits for and that can run, or null. It is usually the best choice, because only
/// these lanes can release `t`.
thread* scheduler::companion(thread& t, std::uint32_t missing) {
  if (random_order_ && random_.below(8) == 0) {
    return nullptr;
  }
  const auto lane_of = [&](int lane) -> thread& {
    return t.owner->threads[static_cast<std::size_t>(t.rank / 32 * 32 + lane)];
  };
  // The lanes from `start` on come first, then the lanes before it; in descending order for
  // schedule::reverse.
  const int start = random_order_ ? static_cast<int>(random_.below(32)) : 0;
  std::uint32_t left = start == 0 ? missing : missing >> start | missing << (32 - start);
  const auto next_bit = [&] {
    return settings_.order == schedule::reverse ? 31 - __builtin_clz(left) : __builtin_ctz(left);
  };
  while (left != 0) {
    const int bit = next_bit();
    left &= ~(1u << bit);
    thread& candidate = lane_of((start + bit) % 32);
    if (candidate.state == thread_state::ready) {
      ready_.remove(candidate);
      if (left != 0) {
        if (const fiber* const after = lane_of((start + next_bit()) % 32).stack; after != nullptr) {
          prefetch(*after);  // the lane after that will probably run next
        }
      }
      return &candidate;
    }
  }
  return nullptr;
}

}  // namespace sptrsv::emulator
