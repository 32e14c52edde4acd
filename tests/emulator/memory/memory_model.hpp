// The memory model: when a store becomes visible, and which values a load may return. Stores become visible
// late and out of order unless a fence, a release or a barrier orders them. Loads are answered early unless
// an acquire or a fence orders them (history.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/memory/memory_access.hpp"
#include "emulator/memory/network.hpp"
#include "emulator/queues.hpp"

namespace sptrsv::emulator {

/// How a load or store is ordered: `weak` has no guarantee; `strong` is relaxed, acquire or release among the
/// threads of the device, `system` among those of all devices.
enum class strength { weak, strong, system };

class memory_model {
 public:
  memory_model(const device_settings& settings, poll_lists& pollers, random_source& random,
               race_check& races);
  ~memory_model() { memory_space::end_launch(touched_); }
  memory_model(const memory_model&) = delete;
  memory_model& operator=(const memory_model&) = delete;

  /// Returns the number of writes that changed a value. While it is constant a polling thread sees the same
  /// value again.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] bool has_pending() const { return !listed_.empty() || network_.size() != 0; }

  /// Loads [a, a + size). `word` is the number of bytes that one instruction accesses: the size of the type,
  /// or a part of it for large types. The value is the latest one or, in schedule::random, an older one that
  /// the thread's view permits.
  void load(thread& t, address_type a, std::size_t size, std::size_t word, void* out, const char* what,
            strength how);

  /// Later loads of `t` see all that is visible now.
  void acquire(thread& t) {
    t.device_view.acquire(changes_);
    t.block_view.acquire(changes_);
  }
  /// Does the same, also for what other devices have stored.
  void acquire_from_system(thread& t) {
    t.device_view.acquire_from_system(changes_);
    t.block_view.acquire(changes_);
  }
  /// Does the same for what threads of the block of `t` have made visible to the block.
  void acquire_from_block(thread& t) { t.block_view.acquire(changes_); }

  void load_constant(thread& t, address_type a, std::size_t size, std::size_t word, void* out);

  void store(thread& t, address_type a, std::size_t size, std::size_t word, const void* value,
             const char* what, strength how);

  /// Replaces the value of `size` bytes at `a` by update(old, arguments), visible to all threads at once, and
  /// stores the old value to `old`. `update` is given both in place: update(value, arguments).
  void atomic(thread& t, address_type a, std::size_t size, void* old,
              void (*update)(unsigned char* value, const void* arguments), const void* arguments,
              const char* what);
  /// Adds `bits` to the value by `add`. The addition is pending among the stores of `t` until it becomes
  /// visible.
  void reduce(thread& t, address_type a, std::size_t size, std::uint64_t bits,
              void (*add)(unsigned char* bytes, std::uint64_t bits));

  /// Makes all stores of `t`, and all stores of its block that it can see, visible to all threads of the
  /// device. Stores to other devices may still become visible there in any order.
  void release(thread& t) {
    release_to_device(t, t.owner->pending);
    release_to_device(t, t.pending);
  }
  /// Makes all stores of `t`, and all that it can see, visible to all devices.
  void release_to_system(thread& t) {
    release(t);
    drain_all(t.owner->of->released);
  }
  /// Releases and acquires.
  void fence(thread& t) {
    release(t);
    acquire(t);
  }

  /// Sends [from, from + bytes) to the memory of another device, at the address that corresponds to `to`.
  /// `signal`: if not 0, the symmetric word that is `value` when all has arrived.
  void put(thread& t, const device& to_device, int to_rank, address_type to, address_type from,
           std::size_t bytes, address_type signal, std::uint64_t value);
  /// Lets all puts of `t` arrive.
  void complete_puts(thread& t);

  /// Makes the stores and acquires of `count` threads of one block visible to each of them, as a barrier
  /// does. The stores also become visible to the rest of the block, which is more than CUDA guarantees for a
  /// tile.
  void synchronize(thread* threads, int count);
  /// Does the same for the lanes of a tile: they do not acquire what other warps have stored.
  void synchronize_tile(thread* lanes, int count);

  /// Makes all stores of `t` visible to its block.
  void publish_to_block(thread& t);

  /// Keeps the pending stores of a finished block until they are forced or the launch ends.
  void retire(block& b);
  /// Makes all stores of a launch that ends visible.
  void end(grid& g);

  /// Makes one pending store visible or lets one word of a message arrive, chosen at random. Returns false if
  /// there is none.
  bool drain_one();

  /// Returns true if `t` sees the same value at `a` as in its last load from there or at its last pause.
  bool unchanged(thread& t, address_type a, std::size_t size);

 private:
  // Largest number of pending stores. Older ones become visible first.
  static constexpr std::size_t thread_capacity = 32;
  static constexpr std::size_t block_capacity = 256;

  static thread_view& view_of(thread& t, const region& r) {
    return r.state == nullptr ? t.block_view : t.device_view;
  }
  static version_writer writer_of(const thread& t, bool is_remote = false) {
    return {t.owner->of->number, t.owner->rank, t.rank, is_remote};
  }

  void touch(allocation& buffer) {
    if (!buffer.touched) {
      buffer.touched = true;
      touched_.push_back(&buffer);
    }
  }
  void note_write(const thread& t, const region& r, address_type a, std::size_t size, const char* what,
                  access how);

  /// Reads what `t` sees: memory, overlaid by the pending stores of its block, overlaid by its own.
  void view(const thread& t, const region& r, address_type a, std::size_t size, unsigned char* out,
            const char* what);
  void overlay_pending(const thread& t, const region& r, address_type a, std::size_t size, unsigned char* out,
                       const char* what);
  /// Replaces words by older values at random.
  void view_history(thread& t, const region& r, address_type a, std::size_t size, unsigned char* out,
                    strength how);

  void commit(pending_store s);
  auto committer() {
    return [this](const pending_store& s) { commit(s); };
  }

  void push(store_buffer& b, const pending_store& s) {
    b.push(s);
    if (b.slot == store_buffer::unlisted) {
      b.slot = listed_.size();
      listed_.push_back(&b);
    }
  }
  void unlist_if_empty(store_buffer& b) {
    if (b.empty() && b.slot != store_buffer::unlisted) {
      listed_.back()->slot = b.slot;
      listed_[b.slot] = listed_.back();
      listed_.pop_back();
      b.slot = store_buffer::unlisted;
    }
  }
  void forget(store_buffer& b) {
    b.clear();
    unlist_if_empty(b);
  }
  void drain_at(store_buffer& b, std::size_t i) {
    drain_older(b, b.entries()[i].word());
    b.drain_at(i, committer());
    unlist_if_empty(b);
  }
  /// Makes the stores to a word visible that precede those of `b`.
  void drain_older(store_buffer& b, address_type word) {
    if (b.older != nullptr) {
      drain_older(*b.older, word);
      drain_word(*b.older, word);
    }
  }
  void release_to_device(thread& t, store_buffer& b) {
    for (const pending_store& s : b.entries()) {
      if (s.writer.is_remote) {
        push(t.owner->of->released, s);
      } else {
        commit(s);
      }
    }
    forget(b);
  }
  /// Makes the oldest stores beyond `capacity` visible.
  void drain_beyond(store_buffer& b, std::size_t capacity);
  void drain_word(store_buffer& b, address_type word) {
    b.drain_word(word, committer());
    unlist_if_empty(b);
  }
  void drain_all(store_buffer& b) {
    b.drain_all(committer());
    unlist_if_empty(b);
  }

  /// The history of the launch that runs; launches are serialised.
  static value_history& history();

  poll_lists& pollers_;
  random_source& random_;
  race_check& races_;
  bool check_initialised_;
  chance stale_;
  std::uint64_t changes_ = 0;
  std::vector<store_buffer*> listed_;  // the buffers that are not empty
  network network_;
  std::vector<allocation*> touched_;
};

}  // namespace sptrsv::emulator
