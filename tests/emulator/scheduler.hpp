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

class scheduler {
 public:
  /// For devices that run together. They have the settings of the first one, but for resident_blocks.
  explicit scheduler(std::vector<device_run> devices);
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Runs a kernel on a device and returns when all blocks have ended. Rethrows the exception of a thread.
  /// Called by an operation that waited until devices run together, it only begins.
  static void launch(device& where, const kernel& what);

  /// Runs what waits on the streams of the devices and returns when all have ended. Rethrows the exception of
  /// a thread.
  void run();

  [[nodiscard]] static const kernel& launched(const thread& t) { return t.owner->of->what; }

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
  void fence_system(thread& t);
  void fence_acquire_system(thread& t);

  // Messages to other devices; see network.hpp.
  void put(thread& t, int to_device, address_type to, address_type from, std::size_t bytes,
           address_type signal, std::uint64_t value);
  void order_puts(thread& t);
  void complete_puts(thread& t);
  /// Throws unless one instruction may access all `bytes` bytes at `a`.
  void expect_aligned(const thread& t, address_type a, std::size_t bytes, const char* what,
                      bool allows_remote = false) const;
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
  void advance();
  void begin(device& where, const kernel& what);
  [[nodiscard]] std::size_t startable() const;
  bool starts_early();
  void start_block();
  void start_block(grid& g);
  static std::unique_ptr<block> make_block(grid& g);
  static void keep_blocks(grid& g);
  static std::vector<std::unique_ptr<block>>& idle_blocks();
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

  std::vector<device_run> devices_;
  device_settings settings_;
  random_source random_;
  bool random_order_;
  chance switch_, drain_, spurious_;
  unsigned char poison_ = 0xcd;
  ready_set ready_;
  poll_lists pollers_;
  race_check races_;
  memory_model memory_;

  bool advances_ = true;        // whether a device may have to begin its next operation
  bool is_beginning_ = false;   // whether an operation of a stream runs
  std::uint32_t launches_ = 0;  // begun so far
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
