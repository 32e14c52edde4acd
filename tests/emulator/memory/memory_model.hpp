// The memory model: when a store becomes visible, and to which threads. Loads read what is visible at that
// time. Stores become visible late and out of order unless a fence, a release or a barrier orders them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/memory/memory_access.hpp"
#include "emulator/queues.hpp"

namespace sptrsv::emulator {

class memory_model {
 public:
  memory_model(const device_settings& settings, poll_lists& pollers, random_source& random)
      : pollers_(pollers),
        random_(random),
        check_initialised_(settings.check_initialised),
        stale_(settings.order == schedule::random ? chance_of(settings.stale_probability) : 0) {}
  ~memory_model() { memory_space::end_launch(touched_); }
  memory_model(const memory_model&) = delete;
  memory_model& operator=(const memory_model&) = delete;

  /// Returns the number of writes that changed a value. While it is constant a polling thread sees the same
  /// value again.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] bool has_pending() const { return !listed_.empty(); }

  /// Loads [a, a + size). `word` is the number of bytes that one instruction accesses: the size of the type,
  /// or a part of it for large types. A weak load may return what memory held at any time since the thread's
  /// last acquire.
  void load(thread& t, address_type a, std::size_t size, std::size_t word, void* out, const char* what,
            bool weak = false) {
    const region r = resolve(t, a, size, word, what);
    view(t, r, a, size, static_cast<unsigned char*>(out), what, weak && stale_ != 0);
    t.seen.set(a, out, size);
  }

  /// Later weak loads of `t` see all that is visible now.
  void acquire(thread& t) { t.acquired_at = changes_; }

  void load_constant(thread& t, address_type a, std::size_t size, std::size_t word, void* out) {
    const region r = resolve(t, a, size, word, "load_constant");
    if (r.state == nullptr) {
      throw constant_violation(name_of(t) + ": load_constant of shared memory");
    }
    if (shadow::any_has(r.state, size, shadow::written)) {
      throw constant_violation(name_of(t) + ": load_constant of " + describe(t, a) +
                               ", which this launch writes");
    }
    if (check_initialised_ && !shadow::all_have(r.state, size, shadow::initialised)) {
      fail_uninitialised(t, a, size, "load_constant");
    }
    touch(*r.buffer);
    shadow::mark(r.state, size, shadow::constant);
    copy_bytes(out, r.bytes, size);
  }

  void store(thread& t, address_type a, std::size_t size, std::size_t word, const void* value,
             const char* what) {
    const region r = resolve(t, a, size, word, what);
    note_write(t, r, a, size, what);
    for (std::size_t at = 0; at < size; at += word) {
      pending_store s{a + at, r.bytes + at, r.state == nullptr ? nullptr : r.state + at, 0,
                      static_cast<std::uint32_t>(word)};
      copy_bytes(&s.bits, static_cast<const unsigned char*>(value) + at, word);
      push(t.pending, s);
    }
    drain_beyond(t.pending, thread_capacity);
  }

  /// Replaces the value by update(old), visible to all threads at once. Returns the old value.
  template <class T, class Update>
  T atomic(thread& t, address_type a, Update update, const char* what);
  /// Adds to the value. The addition is pending among the stores of `t` until it becomes visible.
  template <class T>
  void reduce_add(thread& t, address_type a, T value);

  /// Makes all stores of `t`, and all stores of its block that it can see, visible to all threads.
  void release(thread& t) {
    drain_all(t.owner->pending);
    drain_all(t.pending);
  }
  /// Releases and acquires.
  void fence(thread& t) {
    release(t);
    acquire(t);
  }

  /// Makes the stores and acquires of `count` threads of one block visible to each of them. The stores also
  /// become visible to the rest of the block, which is more than CUDA guarantees for a tile.
  void synchronize(thread* threads, int count) {
    std::uint64_t acquired = 0;
    for (int i = 0; i < count; ++i) {
      publish_to_block(threads[i]);
      acquired = std::max(acquired, threads[i].acquired_at);
    }
    for (int i = 0; i < count; ++i) {
      threads[i].acquired_at = acquired;
    }
  }

  /// Makes all stores of `t` visible to its block.
  void publish_to_block(thread& t) {
    for (const pending_store& s : t.pending.entries()) {
      if (s.state == nullptr) {
        commit(s);
      } else {
        push(t.owner->pending, s);
      }
    }
    forget(t.pending);
    drain_beyond(t.owner->pending, block_capacity);
  }

  /// Keeps the pending stores of a finished block until they are forced or the launch ends.
  void retire(block& b) {
    for (const pending_store& s : b.pending.entries()) {
      push(retired_, s);
    }
    forget(b.pending);
    for (thread& t : b.threads) {
      for (const pending_store& s : t.pending.entries()) {
        if (s.state != nullptr) {
          push(retired_, s);
        }
      }
      forget(t.pending);
    }
    drain_beyond(retired_, block_capacity);
  }

  /// Makes one pending store visible, chosen at random. Returns false if there is none.
  bool drain_one() {
    if (listed_.empty()) {
      return false;
    }
    store_buffer& b = *listed_[random_.below(listed_.size())];
    drain_at(b, random_.below(b.size()));
    return true;
  }

  /// Returns true if `t` sees the same value at `a` as in its last load from there or at its last pause.
  bool unchanged(thread& t, address_type a, std::size_t size) {
    const region r = resolve(t, a, size, 1, "pause");
    sighting now;
    unsigned char bytes[poll_lists::largest_poll];
    view(t, r, a, size, bytes, "pause");
    now.set(a, bytes, size);
    const sighting& before = t.seen.address == a && t.seen.size == now.size ? t.seen : t.paused;
    const bool same = before.address == a && before.size == now.size &&
                      std::memcmp(before.bytes.data(), now.bytes.data(), now.size) == 0;
    t.paused = now;
    return same;
  }

 private:
  // Largest number of pending stores. Older ones become visible first.
  static constexpr std::size_t thread_capacity = 32;
  static constexpr std::size_t block_capacity = 256;

  void touch(allocation& buffer) {
    if (!buffer.touched) {
      buffer.touched = true;
      touched_.push_back(&buffer);
    }
  }

  void note_write(const thread& t, const region& r, address_type a, std::size_t size, const char* what) {
    if (r.state == nullptr) {
      return;
    }
    if (shadow::any_has(r.state, size, shadow::constant)) {
      throw constant_violation(name_of(t) + ": " + what + " to " + describe(t, a) +
                               ", which this launch has read with load_constant");
    }
    touch(*r.buffer);
    shadow::mark(r.state, size, shadow::written);
    if (stale_ != 0) {
      t.owner->cache.note_write(a, size);
    }
  }

  /// Reads what `t` sees: memory, overlaid by the pending stores of its block, overlaid by its own.
  void view(const thread& t, const region& r, address_type a, std::size_t size, unsigned char* out,
            const char* what, bool weak = false) {
    copy_bytes(out, r.bytes, size);
    if (weak && r.state != nullptr) {
      view_cache(t, *r.buffer, a, size, out);
    }
    const bool pending = t.pending.may_hold(a, size) || t.owner->pending.may_hold(a, size);
    if (!pending) {
      if (check_initialised_ && r.state != nullptr && !shadow::all_have(r.state, size, shadow::initialised)) {
        fail_uninitialised(t, a, size, what);
      }
      return;
    }
    std::vector<unsigned char> covered(size, 0);
    t.owner->pending.overlay(a, size, out, covered.data());
    t.pending.overlay(a, size, out, covered.data());
    for (std::size_t i = 0; i < size && check_initialised_ && r.state != nullptr; ++i) {
      if (covered[i] == 0 && (r.state[i] & shadow::initialised) == 0) {
        fail_uninitialised(t, a, size, what);
      }
    }
  }

  /// Replaces bytes by older values, each sector at random.
  void view_cache(const thread& t, allocation& buffer, address_type a, std::size_t size, unsigned char* out) {
    constexpr std::size_t sector = stale_cache::sector_bytes;
    for (std::size_t at = 0; at < size;) {
      const std::size_t length = std::min(size - at, sector - (a + at) % sector);
      if (random_.happens(stale_)) {
        t.owner->cache.overlay(a + at, length, t.acquired_at, out + at);
      }
      t.owner->cache.fill(a + at, buffer, t.acquired_at, changes_);
      at += length;
    }
  }

  void commit(pending_store s) {
    if (s.combine != nullptr) {
      unsigned char sum[sizeof(s.bits)];
      std::memcpy(sum, s.target, s.size);
      s.combine(sum, s.bits);
      std::memcpy(&s.bits, sum, s.size);
    }
    const bool first = s.state != nullptr && !shadow::all_have(s.state, s.size, shadow::initialised);
    if (first || std::memcmp(s.target, &s.bits, s.size) != 0) {
      ++changes_;
      copy_bytes(s.target, &s.bits, s.size);
    }
    if (first) {
      shadow::mark(s.state, s.size, shadow::initialised);
    }
    pollers_.wake(s.address, s.size);
  }
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
    if (b.older != nullptr) {
      drain_word(*b.older, b.entries()[i].word());
    }
    b.drain_at(i, committer());
    unlist_if_empty(b);
  }
  /// Makes the oldest stores beyond `capacity` visible.
  void drain_beyond(store_buffer& b, std::size_t capacity) {
    if (b.size() <= capacity) {
      return;
    }
    const std::size_t surplus = b.size() - capacity;
    for (std::size_t i = 0; b.older != nullptr && i < surplus; ++i) {
      drain_word(*b.older, b.entries()[i].word());
    }
    b.drain_oldest(surplus, committer());
  }
  void drain_word(store_buffer& b, address_type word) {
    b.drain_word(word, committer());
    unlist_if_empty(b);
  }
  void drain_all(store_buffer& b) {
    b.drain_all(committer());
    unlist_if_empty(b);
  }

  poll_lists& pollers_;
  random_source& random_;
  bool check_initialised_;
  chance stale_;
  std::uint64_t changes_ = 0;
  std::vector<store_buffer*> listed_;  // the buffers that are not empty
  store_buffer retired_;
  std::vector<allocation*> touched_;
};

}  // namespace sptrsv::emulator

#include "emulator/memory/memory_atomics.hpp"
