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
#include <vector>

#include "emulator/memory/memory_model.hpp"

namespace sptrsv::emulator {

class scheduler;

/// A kernel with its types erased.
struct kernel {
  const char* name = "";  // of its agent, as typeid gives it
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

  /// Call it before every operation that other threads may observe. Here the schedule may make a store
  /// visible or switch to another thread.
  void step(thread& t);
  /// Call it between two polls of [a, a + size). Returns after a write to the range, or spuriously.
  void pause(thread& t, address_type a, std::size_t size);

  // The memory operations of the context, each with its step.
  void load(thread& t, address_type a, std::size_t size, std::size_t word, void* out, const char* what,
            strength how);
  void load_constant(thread& t, address_type a, std::size_t size, std::size_t word, void* out);
  void store(thread& t, address_type a, std::size_t size, std::size_t word, const void* value,
             const char* what, strength how);
  void atomic(thread& t, address_type a, std::size_t size, void* old,
              void (*update)(unsigned char* value, const void* arguments), const void* arguments,
              const char* what);
  void reduce(thread& t, address_type a, std::size_t size, std::uint64_t bits,
              void (*add)(unsigned char* bytes, std::uint64_t bits));
  void fence(thread& t);
  void fence_acquire(thread& t);
  void fence_release(thread& t);
  void fence_block(thread& t);
  /// Throws unless one instruction may access all `bytes` bytes at `a`.
  void expect_aligned(const thread& t, address_type a, std::size_t bytes, const char* what) const;
  /// Throws unless [a, a + size) is shared memory.
  void expect_shared(const thread& t, address_type a, std::size_t size, const char* what) const;

  // Dynamic shared memory by address. The accesses are weak and no steps.
  void load_shared_at(thread& t, int address, std::size_t size, void* out);
  void store_shared_at(thread& t, int address, std::size_t size, const void* value);

  // Asynchronous copies. They are performed now or at the wait, depending on the schedule. Until then the
  // target holds garbage.
  void copy_async(thread& t, void* shared, const void* global, std::size_t bytes);
  void wait_copies(thread& t, std::uint64_t pending_groups);
  void begin_bulk(thread& t, std::uint64_t* arrival);
  void copy_bulk(thread& t, void* shared, const void* global, int bytes, std::uint64_t* arrival, int lane);
  void wait_bulk(thread& t, const std::uint64_t* arrival, bool odd);

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

  /// Returns true if `a` is shared memory of the thread that runs, and direct accesses are checked.
  static bool is_shared(address_type a) {
    return a - direct_[0].begin < direct_[0].size || a - direct_[1].begin < direct_[1].size;
  }
  /// Records a direct access to shared memory of the thread that runs.
  static void note_direct_access(address_type a, std::size_t size, access how) {
    active_->races_.note(*active_->current_, a, size, how);
  }

 private:
  /// The shared memory of the thread that runs.
  struct direct_region {
    address_type begin;
    std::size_t size;
  };

  // Ends the slice of a thread that polls without pause().
  static constexpr std::uint32_t longest_slice = 4096;

  void yield(thread& t);
  void dispatch(thread& t, thread* preferred);
  void set_current(thread* t);
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
  void open(counted_barrier& here);
  void complete(thread& last, std::uint32_t lanes, const exchange& e);
  thread* companion(thread& t, std::uint32_t missing);
  [[nodiscard]] bool copies_at_once();
  void perform(thread& t, const pending_copy& copy);
  std::uint64_t* arrival_word(const thread& t, const std::uint64_t* arrival, const char* what) const;
  static std::vector<bulk_copy>::iterator find_bulk(thread& t, const std::uint64_t* arrival);
  void finish_bulk(thread& t, std::vector<bulk_copy>::iterator at);
  unsigned char* dynamic_shared_at(const thread& t, int address, std::size_t size) const;
  [[noreturn]] void fail_deadlock();

  static void fiber_main();
  static fiber_pool& fibers();

  device& device_;
  device_settings settings_;
  kernel kernel_;
  random_source random_;
  bool random_order_;
  chance switch_, drain_, spurious_;
  unsigned char poison_ = 0xcd;
  ready_set ready_;
  poll_lists pollers_;
  race_check races_;
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
  inline static direct_region direct_[2] = {};  // static and dynamic
};

}  // namespace sptrsv::emulator
