#include "emulator/memory/memory_model.hpp"

#include <algorithm>
#include <array>

namespace sptrsv::emulator {

memory_model::memory_model(const device_settings& settings, poll_lists& pollers, random_source& random,
                           race_check& races)
    : pollers_(pollers),
      random_(random),
      races_(races),
      check_initialised_(settings.check_initialised),
      stale_(settings.order == schedule::random ? chance_of(settings.stale_probability) : 0) {
  history().start_launch();
}

value_history& memory_model::history() {
  static auto* const history = new value_history;
  return *history;
}

void memory_model::load(thread& t, address_type a, std::size_t size, std::size_t word, void* out,
                        const char* what, strength how) {
  const region r = resolve(t, a, size, word, what);
  if (r.state == nullptr) {
    races_.note(t, a, size, how == strength::strong ? access::atomic_read : access::read);
  }
  if (stale_ == 0) {
    view(t, r, a, size, static_cast<unsigned char*>(out), what);
  } else {
    copy_bytes(out, r.bytes, size);
    view_history(t, r, a, size, static_cast<unsigned char*>(out), how);
    overlay_pending(t, r, a, size, static_cast<unsigned char*>(out), what);
  }
  t.seen.set(a, out, size);
}

void memory_model::load_constant(thread& t, address_type a, std::size_t size, std::size_t word, void* out) {
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

void memory_model::store(thread& t, address_type a, std::size_t size, std::size_t word, const void* value,
                         const char* what, strength how) {
  const region r = resolve(t, a, size, word, what);
  note_write(t, r, a, size, what, how == strength::strong ? access::atomic_write : access::write);
  for (std::size_t at = 0; at < size; at += word) {
    pending_store s{a + at,
                    r.bytes + at,
                    r.state == nullptr ? nullptr : r.state + at,
                    0,
                    static_cast<std::uint32_t>(word),
                    writer_of(t)};
    copy_bytes(&s.bits, static_cast<const unsigned char*>(value) + at, word);
    push(t.pending, s);
  }
  drain_beyond(t.pending, thread_capacity);
}

void memory_model::atomic(thread& t, address_type a, std::size_t size, void* old,
                          void (*update)(unsigned char*, const void*), const void* arguments,
                          const char* what) {
  const region r = resolve(t, a, size, size, what);
  note_write(t, r, a, size, what, access::atomic_write);
  drain_word(t.owner->pending, a >> 3);
  drain_word(t.pending, a >> 3);
  if (r.state != nullptr && check_initialised_ && !shadow::all_have(r.state, size, shadow::initialised)) {
    fail_uninitialised(t, a, size, what);
  }
  view_of(t, r).mark_read(a);
  copy_bytes(old, r.bytes, size);
  pending_store s{a, r.bytes, r.state, 0, static_cast<std::uint32_t>(size), writer_of(t)};
  copy_bytes(&s.bits, r.bytes, size);
  update(reinterpret_cast<unsigned char*>(&s.bits), arguments);
  commit(s);
  t.seen.set(a, &s.bits, size);
}

void memory_model::reduce(thread& t, address_type a, std::size_t size, std::uint64_t bits,
                          void (*add)(unsigned char*, std::uint64_t)) {
  const region r = resolve(t, a, size, size, "reduce_add");
  note_write(t, r, a, size, "reduce_add", access::atomic_write);
  if (r.state != nullptr && check_initialised_ && !shadow::all_have(r.state, size, shadow::initialised) &&
      !t.pending.may_hold(a, size) && !t.owner->pending.may_hold(a, size)) {
    fail_uninitialised(t, a, size, "reduce_add");
  }
  push(t.pending, {a, r.bytes, r.state, bits, static_cast<std::uint32_t>(size), writer_of(t), add});
  while (t.pending.size() > thread_capacity) {
    drain_at(t.pending, 0);
  }
}

void memory_model::synchronize(thread* threads, int count) {
  std::uint64_t acquired = 0;
  for (int i = 0; i < count; ++i) {
    publish_to_block(threads[i]);
    acquired = std::max(acquired, threads[i].device_view.acquired_at);
  }
  for (int i = 0; i < count; ++i) {
    threads[i].device_view.acquired_at = acquired;
    acquire_from_block(threads[i]);
  }
}

void memory_model::synchronize_tile(thread* lanes, int count) {
  std::uint64_t from_device = 0;
  std::uint64_t from_block = 0;
  for (int i = 0; i < count; ++i) {
    publish_to_block(lanes[i]);
    from_device = std::max(from_device, lanes[i].device_view.acquired_at);
    from_block = std::max(from_block, lanes[i].block_view.acquired_at);
  }
  for (int i = 0; i < count; ++i) {
    lanes[i].device_view.acquired_at = from_device;
    lanes[i].block_view.acquired_at = from_block;
  }
}

void memory_model::publish_to_block(thread& t) {
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

void memory_model::retire(block& b) {
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

bool memory_model::unchanged(thread& t, address_type a, std::size_t size) {
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

void memory_model::note_write(const thread& t, const region& r, address_type a, std::size_t size,
                              const char* what, access how) {
  if (r.state == nullptr) {
    races_.note(t, a, size, how);
    return;
  }
  if (shadow::any_has(r.state, size, shadow::constant)) {
    throw constant_violation(name_of(t) + ": " + what + " to " + describe(t, a) +
                             ", which this launch has read with load_constant");
  }
  touch(*r.buffer);
  shadow::mark(r.state, size, shadow::written);
}

void memory_model::view(const thread& t, const region& r, address_type a, std::size_t size,
                        unsigned char* out, const char* what) {
  copy_bytes(out, r.bytes, size);
  overlay_pending(t, r, a, size, out, what);
}

void memory_model::overlay_pending(const thread& t, const region& r, address_type a, std::size_t size,
                                   unsigned char* out, const char* what) {
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

void memory_model::view_history(thread& t, const region& r, address_type a, std::size_t size,
                                unsigned char* out, strength how) {
  thread_view& seen = view_of(t, r);
  // What another thread of the block has written may be ordered before the load by a barrier, and what one of
  // the warp has written to shared memory by a sync.
  const auto is_own = [&](const version_writer& by) {
    return by.block == t.owner->rank && (r.state != nullptr || by.thread / 32 == t.rank / 32);
  };
  for (std::size_t at = 0; at < size;) {
    const std::size_t first = (a + at) % 8;
    const std::size_t length = std::min(size - at, 8 - first);
    std::array<const value_history::version*, 4> older{};
    const std::size_t count =
        seen.has_read(a + at) ? 0 : history().versions_since(a + at, seen.acquired_at, is_own, older);
    if (count > 0 && random_.happens(stale_)) {
      const auto& chosen = older[random_.below(count)];
      std::memcpy(out + at, reinterpret_cast<const unsigned char*>(&chosen->bits) + first, length);
    }
    if (how == strength::strong) {
      seen.mark_read(a + at);
    }
    at += length;
  }
}

void memory_model::commit(pending_store s) {
  if (s.combine != nullptr) {
    unsigned char sum[sizeof(s.bits)];
    std::memcpy(sum, s.target, s.size);
    s.combine(sum, s.bits);
    std::memcpy(&s.bits, sum, s.size);
  }
  const bool first = s.state != nullptr && !shadow::all_have(s.state, s.size, shadow::initialised);
  if (first || std::memcmp(s.target, &s.bits, s.size) != 0) {
    ++changes_;
    if (first) {
      history().forget(s.address);
    } else if (stale_ != 0) {
      std::uint64_t word;
      std::memcpy(&word, s.target - s.address % 8, sizeof(word));
      history().record(s.address, word, changes_, s.writer);
    }
    copy_bytes(s.target, &s.bits, s.size);
  }
  if (first) {
    shadow::mark(s.state, s.size, shadow::initialised);
  }
  pollers_.wake(s.address, s.size);
}

void memory_model::drain_beyond(store_buffer& b, std::size_t capacity) {
  if (b.size() <= capacity) {
    return;
  }
  const std::size_t surplus = b.size() - capacity;
  for (std::size_t i = 0; b.older != nullptr && i < surplus; ++i) {
    drain_word(*b.older, b.entries()[i].word());
  }
  b.drain_oldest(surplus, committer());
}

}  // namespace sptrsv::emulator
