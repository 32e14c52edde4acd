// The check of shared memory for data races. Two accesses of different threads to the same bytes, one of them
// a write, are a race unless both are atomic or one happens before the other: by a barrier, the arrival at
// one, the sync of a tile, or fences around an atomic access. Shuffles and votes order nothing. So a race is
// found in every schedule that executes both accesses, whatever their order.
//
// An asynchronous copy writes from its start until the thread that began it has waited for it, so no thread
// may access its target meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emulator/memory/memory.hpp"
#include "emulator/races/clocks.hpp"

namespace sptrsv::emulator {

struct block;
struct counted_barrier;
struct thread;

enum class access : std::uint8_t { read, write, atomic_read, atomic_write, copy };

/// The last accesses to 4 bytes of shared memory: the last write that is not atomic, and the reads and atomic
/// writes since then.
struct race_cell {
  /// Lanes of one warp that have done the same at the same of their times.
  struct accesses {
    clock_time time = 0;
    std::uint32_t lanes = 0;
    std::uint16_t warp = 0;
    std::uint8_t bytes = 0;
    access how = access::read;
  };
  clock_time write_time = 0;  // 0: there was no write
  std::uint16_t writer = 0;   // participant of the clocks
  std::uint8_t written_bytes = 0;
  access written_by = access::write;
  accesses first;          // since the write
  std::uint32_t more = 0;  // further ones: an index into block_races::more, from 1 on
};

/// The accesses to the shared memory of one block.
struct block_races {
  /// A word of shared memory that counts bulk copies.
  struct arrival {
    std::size_t participant;  // stands for the copies in the clocks
    clock_time time;          // of the last copy
    handed_on start;          // what happened before it began
    snapshot before;          // `before` and `after` of the thread that waited last
    snapshot after;
  };

  block_races() = default;
  block_races(std::size_t threads, std::size_t static_bytes, std::size_t dynamic_bytes)
      : other_participants(threads / 8 + 1),
        clocks(threads, other_participants),
        cells{std::vector<race_cell>((static_bytes + 3) / 4),
              std::vector<race_cell>((dynamic_bytes + 3) / 4)},
        fenced(threads),
        observed(threads) {}

  /// Number of participants of the clocks that stand for bulk copies; words share one if there are more.
  std::size_t other_participants = 0;
  block_clocks clocks;
  std::array<std::vector<race_cell>, 2> cells;  // of static and of dynamic shared memory
  std::vector<std::vector<race_cell::accesses>> more;
  bool has_atomic_writes = false;  // whether there were any, of any word
  std::map<const void*, arrival> arrivals;
  std::map<address_type, std::vector<handed_on>> flags;  // what atomic writes of a word have released
  std::vector<handed_on> fenced;                         // by thread: released by its last fence, if any
  /// By thread: the flags that it has read since its last fence, and how much of `flags` they hand on.
  std::vector<std::vector<std::pair<address_type, std::size_t>>> observed;
};

/// The race check of the launches that run together. It does nothing for a launch whose grid does not ask for
/// it.
class race_check {
 public:
  /// Call it when block `b` starts in place of one that has ended, if any.
  void start_block(block& b) const;

  /// Records an access of `t` to [a, a + size), which is in the shared memory of its block.
  void note(const thread& t, address_type a, std::size_t size, access how);
  /// The asynchronous copy of `t` to [a, a + size) is complete, and `t` has waited for it.
  void complete_copy(const thread& t, address_type a, std::size_t size) const;
  /// A bulk copy to [a, a + size) begins that `word` counts.
  void begin_bulk_copy(const thread& t, const void* word, address_type a, std::size_t size);
  /// `t` has waited for the last bulk copy that `word` counts.
  void wait_bulk_copy(const thread& t, const void* word) const;
  /// A fence of `t`, of any scope: releases what it has done, and acquires what its atomic reads have seen.
  void fence(const thread& t) const;
  /// A barrier or a sync of `count` threads, the first of which is `first`.
  void synchronize(const thread& first, std::size_t count) const;
  /// `t` arrives at a numbered barrier.
  void arrive(const thread& t, counted_barrier& at) const;
  /// All threads have arrived.
  void open(counted_barrier& at) const;

  /// Throws `data_race` if there was one. An access cannot throw itself: the instrumentation of direct
  /// accesses may not.
  void check() const {
    if (!found_.empty()) {
      fail();
    }
  }

 private:
  using accesses = race_cell::accesses;

  void note_cell(const thread& t, block_races& races, race_cell& cell, address_type a, std::uint8_t bytes,
                 access how);
  void compare(const thread& t, const block_races& races, address_type a, const accesses& now,
               const accesses& before);
  static void add(block_races& races, race_cell& cell, const accesses& now);
  void report(const thread& t, address_type a, access how, std::size_t other, access others);
  [[noreturn]] void fail() const;

  std::string found_;
};

}  // namespace sptrsv::emulator
