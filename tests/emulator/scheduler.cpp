#include "emulator/scheduler.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace sptrsv::emulator {

scheduler::scheduler(device& where, const kernel& what)
    : device_(where),
      settings_(where.settings),
      kernel_(what),
      random_(where.settings.seed * 0x100000001b3u + where.counters.launches),
      random_order_(where.settings.order == schedule::random),
      switch_(chance_of(settings_.switch_probability)),
      drain_(chance_of(settings_.drain_probability)),
      spurious_(chance_of(settings_.spurious_wake_probability)),
      ready_(random_order_, random_),
      pollers_(ready_),
      races_(settings_.check_races && what.static_bytes + what.dynamic_bytes > 0, what.name),
      memory_(settings_, pollers_, random_, races_),
      block_order_(what.blocks) {
  std::iota(block_order_.begin(), block_order_.end(), 0u);
  if (settings_.order == schedule::reverse) {
    std::reverse(block_order_.begin(), block_order_.end());
  } else if (random_order_) {
    for (std::size_t i = block_order_.size(); i > 1; --i) {
      std::swap(block_order_[i - 1], block_order_[random_.below(i)]);
    }
    // The initial contents of shared memory, which a kernel must not rely on: a NaN, zero, or other patterns.
    constexpr unsigned char patterns[] = {0xcd, 0xff, 0x00, 0x7f};
    poison_ = patterns[random_.below(4)];
  }
  host_.started = true;
}

/// Returns the thread that runs next, removed from the ready set; null when the launch has ended.
thread* scheduler::pick() {
  for (;;) {
    if (random_order_) {
      if (spurious_ != 0 && random_.happens(spurious_)) {
        wake_one_at_random();
      }
      if (starts_early()) {
        start_block();
      }
    }
    if (!ready_.empty()) {
      return &ready_.take();
    }
    if (can_start()) {
      start_block();
      continue;
    }
    if (resident_.empty()) {
      return nullptr;
    }
    if (memory_.drain_one()) {
      continue;
    }
    // All threads wait. A thread may poll several addresses and pause at one that did not change although
    // another did. So all pollers are woken; if nothing changes, the launch is deadlocked. Several rounds are
    // needed, because a kernel may count its polls and do something else after a few.
    if (const std::uint64_t now = memory_.changes() + progress_; now != seen_progress_) {
      seen_progress_ = now;
      rounds_ = 0;
    }
    if (rounds_++ >= settings_.wake_rounds || !wake_pollers()) {
      fail_deadlock();
    }
  }
}

/// Returns true if a new block starts although others still run; random order only.
bool scheduler::starts_early() { return can_start() && (ready_.empty() || random_.below(4) == 0); }

void scheduler::step(thread& t) {
  races_.check();
  if (++steps_ > settings_.step_limit) {
    throw step_limit_exceeded(name_of(t) + ": the launch exceeds " + std::to_string(settings_.step_limit) +
                              " steps");
  }
  const std::uint64_t draw = random_.next();
  if ((draw & 0xffffffffu) < drain_ && memory_.has_pending()) {
    memory_.drain_one();
  }
  if (random_order_ ? (draw >> 32) < switch_ : ++t.slice > longest_slice) {
    yield(t);
  }
}

/// Lets other threads run.
void scheduler::yield(thread& t) {
  t.slice = 0;
  ready_.add(t);
  dispatch(t, nullptr);
}

void scheduler::pause(thread& t, address_type a, std::size_t size) {
  step(t);
  if (!memory_.unchanged(t, a, size)) {
    yield(t);
    return;
  }
  pollers_.park(t, a, size);
  dispatch(t, nullptr);
}

void scheduler::load(thread& t, address_type a, std::size_t size, std::size_t word, void* out,
                     const char* what, strength how) {
  step(t);
  memory_.load(t, a, size, word, out, what, how);
}

void scheduler::load_constant(thread& t, address_type a, std::size_t size, std::size_t word, void* out) {
  memory_.load_constant(t, a, size, word, out);
}

void scheduler::store(thread& t, address_type a, std::size_t size, std::size_t word, const void* value,
                      const char* what, strength how) {
  step(t);
  memory_.store(t, a, size, word, value, what, how);
}

void scheduler::atomic(thread& t, address_type a, std::size_t size, void* old,
                       void (*update)(unsigned char*, const void*), const void* arguments, const char* what) {
  step(t);
  memory_.atomic(t, a, size, old, update, arguments, what);
}

void scheduler::reduce(thread& t, address_type a, std::size_t size, std::uint64_t bits,
                       void (*add)(unsigned char*, std::uint64_t)) {
  step(t);
  memory_.reduce(t, a, size, bits, add);
}

void scheduler::fence(thread& t) {
  step(t);
  memory_.fence(t);
  races_.fence(t);
}

void scheduler::fence_acquire(thread& t) {
  step(t);
  memory_.acquire(t);
  races_.fence(t);
}

void scheduler::fence_release(thread& t) {
  step(t);
  memory_.release(t);
  races_.fence(t);
}

void scheduler::fence_block(thread& t) {
  step(t);
  memory_.publish_to_block(t);
  memory_.acquire_from_block(t);
  races_.fence(t);
}

void scheduler::expect_aligned(const thread& t, address_type a, std::size_t bytes, const char* what) const {
  static_cast<void>(resolve(t, a, bytes, bytes, what));
}

void scheduler::expect_shared(const thread& t, address_type a, std::size_t size, const char* what) const {
  if (resolve(t, a, size, size, what).state != nullptr) {
    throw out_of_bounds(name_of(t) + ": " + what + " of " + describe(t, a));
  }
}

void scheduler::load_shared_at(thread& t, int address, std::size_t size, void* out) {
  const unsigned char* const from = dynamic_shared_at(t, address, size);
  races_.note(t, address_of(from), size, access::read);
  copy_bytes(out, from, size);
}

void scheduler::store_shared_at(thread& t, int address, std::size_t size, const void* value) {
  unsigned char* const to = dynamic_shared_at(t, address, size);
  races_.note(t, address_of(to), size, access::write);
  copy_bytes(to, value, size);
}

unsigned char* scheduler::dynamic_shared_at(const thread& t, int address, std::size_t size) const {
  const shared_region& memory = t.owner->dynamic_shared;
  if (address < 0 || static_cast<std::size_t>(address) + size > memory.size() ||
      static_cast<std::size_t>(address) % std::min<std::size_t>(size, 16) != 0) {
    throw out_of_bounds(name_of(t) + ": " + std::to_string(size) + " bytes at " + std::to_string(address) +
                        " of dynamic shared memory, of " + std::to_string(memory.size()));
  }
  return memory.data() + address;
}

}  // namespace sptrsv::emulator
