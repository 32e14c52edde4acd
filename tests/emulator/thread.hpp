// The emulator's state of a CUDA thread, its warp and its block.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "emulator/fiber.hpp"
#include "emulator/memory/store_buffer.hpp"
#include "emulator/races/race_check.hpp"

namespace sptrsv::emulator {

struct block;
struct grid;

enum class thread_state : std::uint8_t { ready, running, polling, in_barrier, in_tile, exited };

enum class collective : std::uint8_t { shuffle, shuffle_xor, ballot, any, all, multiply_add, sync };

inline const char* name_of(collective op) {
  static constexpr const char* names[] = {"shuffle", "shuffle_xor",  "ballot", "any",
                                          "all",     "multiply_add", "sync"};
  return names[static_cast<int>(op)];
}

/// Copies bytes. Most copies are one word, for which the compiler emits no call.
inline void copy_bytes(void* to, const void* from, std::size_t size) {
  if (size == 8) {
    std::memcpy(to, from, 8);
  } else if (size == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, size);
  }
}

/// The last value that a thread has seen at an address, if it fits. With it `pause` detects a change since
/// then.
struct sighting {
  static constexpr std::size_t capacity = 32;
  address_type address = 0;
  std::size_t size = 0;
  std::array<unsigned char, capacity> bytes{};

  void set(address_type a, const void* value, std::size_t n) {
    address = a;
    size = n <= capacity ? n : capacity;
    copy_bytes(bytes.data(), value, size);
  }
};

/// A lane's arguments and result of a tile collective. The pointers point to the lane's own stack.
struct exchange {
  collective op = collective::sync;
  int lanes = 0;
  int source = 0;  // lane of the tile whose value it receives
  std::size_t size = 0;
  const void* in = nullptr;
  void* out = nullptr;
};

/// What a lane has of the matrices A, B and C of a multiply_add.
struct matrix_elements {
  double a;
  double b;
  double c[2];
};

/// A copy to shared memory that its thread has not waited for.
struct pending_copy {
  void* to = nullptr;
  address_type from = 0;
  std::size_t size = 0;
  std::uint64_t group = 0;
  bool is_performed = false;
};

/// A bulk copy that is not performed yet. It increments a word of shared memory when it is performed.
struct bulk_copy {
  std::uint64_t* arrival;
  unsigned char* to;
  address_type from;
  std::size_t size;
};

/// Which values the loads of a thread may return: those that memory held at the last acquire or later.
struct thread_view {
  std::uint64_t acquired_at = 0;

  /// Time of the last acquire that also covers what other devices have stored.
  std::uint64_t system_acquired_at = 0;

  void acquire(std::uint64_t now) {
    acquired_at = now;
    read_.reset();
  }
  void acquire_from_system(std::uint64_t now) {
    acquire(now);
    system_acquired_at = now;
    read_of_system_.reset();
  }
  /// Acquires what a thread with the view `other` has acquired.
  void join(const thread_view& other) {
    acquired_at = std::max(acquired_at, other.acquired_at);
    system_acquired_at = std::max(system_acquired_at, other.system_acquired_at);
  }

  /// Strong loads have read the word of `a` since: a later load does not return an older value.
  void mark_read(address_type a) {
    read_.set(bit(a));
    read_of_system_.set(bit(a));
  }
  /// Returns whether a load of the word of `a` may return the value that it had until time `until`.
  [[nodiscard]] bool may_see(address_type a, std::uint64_t until, const version_writer& replaced_by) const {
    return replaced_by.is_remote ? until > system_acquired_at && !read_of_system_.test(bit(a))
                                 : until > acquired_at && !read_.test(bit(a));
  }

 private:
  [[nodiscard]] std::size_t bit(address_type a) const { return ((a >> 3) ^ (a >> 11)) % read_.size(); }

  // By a hash of the word; a collision only makes the emulator less adversarial.
  std::bitset<256> read_;
  std::bitset<256> read_of_system_;
};

/// What a switch of threads reads comes first: it is in two lines of the cache.
struct alignas(64) thread {
  block* owner = nullptr;
  int rank = 0;
  thread_state state = thread_state::ready;
  fiber* stack = nullptr;  // null before the thread has run
  std::uint32_t slice = 0;

  // Links of the ready list, or the index in the ready vector, depending on the schedule.
  thread* ready_previous = nullptr;
  thread* ready_next = nullptr;
  std::size_t ready_index = 0;
  exchange tile;

  // A poller is in the lists of the first and the last 32-byte sector of the range that it polls.
  struct wait_link {
    thread* owner = nullptr;
    wait_link* previous = nullptr;
    wait_link* next = nullptr;
  };
  address_type polled = 0;
  std::size_t polled_size = 0;
  wait_link links[2];

  const int* come = nullptr;  // number of threads that have arrived at its barrier
  int awaited = 0;            // number of threads that the barrier waits for
  sighting seen;              // value at the last load
  sighting paused;            // value at the last pause
  thread_view device_view;    // of global memory
  thread_view block_view;     // of shared memory
  store_buffer pending;
  std::vector<pending_copy> copies;  // in the order of their groups
  std::uint64_t copy_groups = 0;     // number of groups committed so far
  std::uint64_t put_epoch = 0;       // number of fences among its puts so far
};

/// The lanes of a warp that wait in collectives, by the logarithm of the tile size.
struct warp {
  std::uint32_t waiting[6] = {};
  std::uint32_t in_tiles = 0;  // all lanes in `waiting`
  std::uint32_t exited = 0;
};

/// One piece of a block's shared memory.
class shared_region {
 public:
  shared_region() = default;
  explicit shared_region(std::size_t bytes)
      : memory_(static_cast<unsigned char*>(::operator new((bytes + 7) / 8 * 8, alignment))), bytes_(bytes) {}

  [[nodiscard]] unsigned char* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool contains(address_type a) const { return a - address_of(data()) < bytes_; }

 private:
  static constexpr std::align_val_t alignment{128};
  struct deleter {
    void operator()(unsigned char* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<unsigned char, deleter> memory_;
  std::size_t bytes_ = 0;
};

/// A numbered barrier; threads come to it to wait or only to arrive.
struct counted_barrier {
  int come = 0;
  int awaited = 0;  // set by the first thread that arrives
  std::vector<thread*> waiting;
  std::vector<handed_on> arrived;  // by thread that has arrived
  thread_view acquired;            // the latest acquires of those
};

struct block {
  grid* of = nullptr;
  std::uint32_t rank = 0;
  std::vector<thread> threads;
  std::vector<warp> warps;
  int in_barrier = 0;
  std::array<counted_barrier, 16> numbered;
  int exited = 0;
  std::size_t slot = 0;  // index among the resident blocks
  std::vector<bulk_copy> bulk_copies;
  store_buffer pending;  // visible only in this block
  block_races races;
  // Two separate allocations, so that AddressSanitizer detects an overrun of either.
  shared_region static_shared;
  shared_region dynamic_shared;
};

/// Returns the lanes of the tile of `lanes` lanes that contains `lane`, as bits of its warp.
inline std::uint32_t tile_mask(int lane, int lanes) {
  const std::uint32_t ones = lanes == 32 ? ~0u : (1u << lanes) - 1u;
  return ones << (lane & ~(lanes - 1));
}

inline int log2_of(int lanes) { return __builtin_ctz(static_cast<unsigned>(lanes)); }

}  // namespace sptrsv::emulator
