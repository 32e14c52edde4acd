// The scheduler of one launch: starts blocks, chooses the thread that runs next, and detects when none can
// run.
//
// Threads switch to each other directly: a thread that stops running chooses its successor. The host's stack
// only starts the launch and continues when the launch has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <vector>

#include "emulator/memory/memory_model.hpp"

namespace sptrsv::emulator {

class scheduler;

/// A kernel with its types erased.
struct kernel {
  std::uint32_t blocks = 0;
  int threads = 0;
  std::size_t static_bytes = 0;
  std::size_t dynamic_bytes = 0;
  const void* params = nullptr;
  void (*body)(scheduler&, thread&, const kernel&) = nullptr;
};

class scheduler {
 public:
  scheduler(device& where, const kernel& what);
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Runs the launch and returns when all blocks have ended. Rethrows the exception of a thread.
  void run();

  [[nodiscard]] const kernel& launched() const { return kernel_; }
  [[nodiscard]] memory_model& memory() { return memory_; }

  /// Call it before every operation that other threads may observe. Here the schedule may make a store
  /// visible or switch to another thread.
  void step(thread& t) {
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
  void yield(thread& t) {
    t.slice = 0;
    ready_.add(t);
    dispatch(t, nullptr);
  }

  /// Call it between two polls of [a, a + size). Returns after a write to the range, or spuriously.
  void pause(thread& t, address_type a, std::size_t size) {
    step(t);
    if (!memory_.unchanged(t, a, size)) {
      yield(t);
      return;
    }
    pollers_.park(t, a, size);
    dispatch(t, nullptr);
  }

  /// Returns true if an asynchronous copy is performed at its start, false if at its wait.
  [[nodiscard]] bool copies_at_once() {
    return random_order_ ? random_.below(2) == 0 : settings_.order == schedule::reverse;
  }

  /// Waits until all threads of the block have arrived.
  void barrier(thread& t);
  /// Waits until the first `threads` threads of the block have arrived.
  void partial_barrier(thread& t, int threads);
  /// Counts `t` at the block's barrier `id`, which opens when `threads` threads have arrived. `t` waits for
  /// that only if `waits`.
  void numbered_barrier(thread& t, int id, int threads, bool waits);

  /// Waits until all lanes of the tile of `e.lanes` lanes around `t` have arrived, then exchanges their
  /// values.
  void rendezvous(thread& t, const exchange& e);

 private:
  // Ends the slice of a thread that polls without pause().
  static constexpr std::uint32_t longest_slice = 4096;

  void dispatch(thread& t, thread* preferred);
  thread* pick();
  bool can_start() const {
    return next_block_ < kernel_.blocks &&
           (settings_.resident_blocks == 0 || resident_.size() < settings_.resident_blocks);
  }
  bool starts_early();
  void start_block();
  void end_thread(thread& t);
  void end_block(block& b);
  bool wake_pollers();
  void wake_one_at_random();
  void meet(thread& t, int& come, int threads);
  void complete(thread& last, std::uint32_t lanes, const exchange& e);
  thread* companion(thread& t, std::uint32_t missing);
  [[noreturn]] void fail_deadlock();

  static void fiber_main();
  static fiber_pool& fibers() {
    static auto* const pool = new fiber_pool(&scheduler::fiber_main);
    return *pool;
  }

  device& device_;
  device_settings settings_;
  kernel kernel_;
  random_source random_;
  bool random_order_;
  chance switch_, drain_, spurious_;
  unsigned char poison_ = 0xcd;
  ready_set ready_;
  poll_lists pollers_;
  memory_model memory_;

  std::vector<std::uint32_t> block_order_;
  std::uint32_t next_block_ = 0;
  std::vector<std::unique_ptr<block>> resident_;
  std::vector<std::unique_ptr<block>> spare_;
  std::uint64_t steps_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t progress_ = 0;  // number of blocks started and threads ended
  std::uint64_t seen_progress_ = 0;
  int rounds_ = 0;

  fiber host_;
  thread* current_ = nullptr;
  std::exception_ptr error_;

  inline static scheduler* active_ = nullptr;
};

inline scheduler::scheduler(device& where, const kernel& what)
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
      memory_(settings_, pollers_, random_),
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
inline thread* scheduler::pick() {
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
inline bool scheduler::starts_early() { return can_start() && (ready_.empty() || random_.below(4) == 0); }

}  // namespace sptrsv::emulator

#include "emulator/blocks.hpp"
#include "emulator/collectives.hpp"
#include "emulator/deadlock.hpp"
#include "emulator/switching.hpp"
