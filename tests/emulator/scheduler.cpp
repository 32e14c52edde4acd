#include "emulator/scheduler.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace sptrsv::emulator {

scheduler::scheduler(std::vector<device_run> devices)
    : devices_(std::move(devices)),
      settings_(devices_.front().where->settings),
      random_(settings_.seed * 0x100000001b3u + devices_.front().where->counters.launches),
      random_order_(settings_.order == schedule::random),
      switch_(chance_of(settings_.switch_probability)),
      drain_(chance_of(settings_.drain_probability)),
      spurious_(chance_of(settings_.spurious_wake_probability)),
      ready_(random_order_, random_, devices_),
      pollers_(ready_),
      memory_(settings_, pollers_, random_, races_) {
  host_.started = true;
}

void scheduler::launch(device& where, const kernel& what) {
  if (active_ != nullptr && active_->is_beginning_) {
    active_->begin(where, what);
    return;
  }
  std::vector<device_run> alone(1);
  alone.front().where = &where;
  scheduler s(std::move(alone));
  s.begin(where, what);
  s.run();
}

/// Begins the next operation of each device that has none. A launch ends when its stores are visible; while
/// other devices run, each becomes visible by itself.
void scheduler::advance() {
  advances_ = false;
  for (device_run& d : devices_) {
    while (d.running == nullptr || d.running->has_ended()) {
      if (d.running != nullptr) {
        if (devices_.size() > 1 && !(d.running->retired.empty() && d.running->released.empty())) {
          advances_ = true;
          break;
        }
        memory_.end(*d.running);
        keep_blocks(*d.running);
        d.running.reset();
      }
      if (d.where->waiting.empty()) {
        break;
      }
      d.current = std::move(d.where->waiting.front().run);
      d.where->waiting.pop_front();
      is_beginning_ = true;
      d.current();
      is_beginning_ = false;
    }
  }
}

void scheduler::begin(device& where, const kernel& what) {
  const auto at =
      std::find_if(devices_.begin(), devices_.end(), [&](const device_run& d) { return d.where == &where; });
  at->running = std::make_unique<grid>();
  grid& g = *at->running;
  g.where = &where;
  g.rank = static_cast<int>(at - devices_.begin());
  g.number = launches_++;
  g.what = what;
  g.checks_races = settings_.check_races && what.static_bytes + what.dynamic_bytes > 0;
  g.resident_limit = where.settings.resident_blocks;
  g.begun_at = memory_.changes();
  g.block_order.resize(what.blocks);
  ++where.counters.launches;
  std::iota(g.block_order.begin(), g.block_order.end(), 0u);
  if (settings_.order == schedule::reverse) {
    std::reverse(g.block_order.begin(), g.block_order.end());
  } else if (random_order_) {
    for (std::size_t i = g.block_order.size(); i > 1; --i) {
      std::swap(g.block_order[i - 1], g.block_order[random_.below(i)]);
    }
    // The initial contents of shared memory, which a kernel must not rely on: a NaN, zero, or other patterns.
    constexpr unsigned char patterns[] = {0xcd, 0xff, 0x00, 0x7f};
    poison_ = patterns[random_.below(4)];
  }
}

/// Returns the thread that runs next, removed from the ready set; null when the launch has ended.
thread* scheduler::pick() {
  for (;;) {
    if (advances_) {
      advance();
    }
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
    if (startable() != 0) {
      start_block();
      continue;
    }
    if (std::all_of(devices_.begin(), devices_.end(),
                    [](const device_run& d) { return d.running == nullptr; })) {
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
      if (settings_.host_thread == nullptr) {
        fail_deadlock();
      }
      std::exchange(settings_.host_thread, nullptr)();
      rounds_ = 0;
      wake_pollers();
    }
  }
}

/// Returns the number of devices on which a block can start.
std::size_t scheduler::startable() const {
  return static_cast<std::size_t>(std::count_if(devices_.begin(), devices_.end(), [](const device_run& d) {
    return d.running != nullptr && d.running->can_start();
  }));
}

/// Returns true if a new block starts although others still run; random order only.
bool scheduler::starts_early() { return startable() != 0 && (ready_.empty() || random_.below(4) == 0); }

void scheduler::step(thread& t) {
  races_.check();
  if (++steps_ > settings_.step_limit) {
    throw step_limit_exceeded(name_of(t) + ": the launch exceeds " + std::to_string(settings_.step_limit) +
                              " steps");
  }
  if (steps_ >= settings_.host_thread_step && settings_.host_thread != nullptr) {
    std::exchange(settings_.host_thread, nullptr)();
    rounds_ = 0;
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

void scheduler::fence_system(thread& t) {
  step(t);
  memory_.release_to_system(t);
  memory_.acquire_from_system(t);
  races_.fence(t);
}

void scheduler::fence_acquire_system(thread& t) {
  step(t);
  memory_.acquire_from_system(t);
  races_.fence(t);
}

void scheduler::put(thread& t, int to_device, address_type to, address_type from, std::size_t bytes,
                    address_type signal, std::uint64_t value) {
  step(t);
  if (to_device < 0 || static_cast<std::size_t>(to_device) >= devices_.size()) {
    throw remote_access(name_of(t) + ": put to device " + std::to_string(to_device) + " of " +
                        std::to_string(devices_.size()));
  }
  memory_.put(t, *devices_[static_cast<std::size_t>(to_device)].where, to_device, to, from, bytes, signal,
              value);
}

void scheduler::order_puts(thread& t) {
  fence_system(t);
  ++t.put_epoch;
}

void scheduler::complete_puts(thread& t) {
  fence_system(t);
  memory_.complete_puts(t);
}

void scheduler::fence_block(thread& t) {
  step(t);
  memory_.publish_to_block(t);
  memory_.acquire_from_block(t);
  races_.fence(t);
}

void scheduler::expect_aligned(const thread& t, address_type a, std::size_t bytes, const char* what,
                               bool allows_remote) const {
  static_cast<void>(resolve(t, a, bytes, bytes, what, allows_remote));
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
