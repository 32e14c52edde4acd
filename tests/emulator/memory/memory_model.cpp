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
    races_.note(t, a, size, how == strength::weak ? access::read : access::atomic_read);
  } else if (how == strength::strong && shadow::any_has(r.state, size, shadow::remote)) {
    throw remote_access(name_of(t) + ": " + what + " of " + describe(t, a) +
                        ", which another device has stored; poll it with system scope");
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
  const region r = resolve(t, a, size, word, what, how == strength::system);
  if (is_remote(t, r) && t.owner->of->where->loses_send()) {
    return;
  }
  note_write(t, r, a, size, what, how == strength::weak ? access::write : access::atomic_write);
  for (std::size_t at = 0; at < size; at += word) {
    pending_store s{a + at,
                    r.bytes + at,
                    r.state == nullptr ? nullptr : r.state + at,
                    0,
                    static_cast<std::uint32_t>(word),
                    writer_of(t, is_remote(t, r))};
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

bool memory_model::drain_one() {
  if (!has_pending()) {
    return false;
  }
  const std::size_t chosen = random_.below(listed_.size() + network_.size());
  if (chosen >= listed_.size()) {
    network_.deliver_one(chosen - listed_.size(), random_, committer());
    return true;
  }
  store_buffer& b = *listed_[chosen];
  drain_at(b, random_.below(b.size()));
  return true;
}

void memory_model::complete_puts(thread& t) { network_.deliver_all(writer_of(t), random_, committer()); }

void memory_model::synchronize(thread* threads, int count) {
  thread_view acquired;
  for (int i = 0; i < count; ++i) {
    publish_to_block(threads[i]);
    acquired.join(threads[i].device_view);
  }
  for (int i = 0; i < count; ++i) {
    threads[i].device_view.join(acquired);
    acquire_from_block(threads[i]);
  }
}

void memory_model::synchronize_tile(thread* lanes, int count) {
  thread_view from_device;
  thread_view from_block;
  for (int i = 0; i < count; ++i) {
    publish_to_block(lanes[i]);
    from_device.join(lanes[i].device_view);
    from_block.join(lanes[i].block_view);
  }
  for (int i = 0; i < count; ++i) {
    lanes[i].device_view.join(from_device);
    lanes[i].block_view.join(from_block);
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
    push(b.of->retired, s);
  }
  forget(b.pending);
  for (thread& t : b.threads) {
    for (const pending_store& s : t.pending.entries()) {
      if (s.state != nullptr) {
        push(b.of->retired, s);
      }
    }
    forget(t.pending);
  }
  drain_beyond(b.of->retired, block_capacity);
}

void memory_model::end(grid& g) {
  drain_all(g.released);
  while (!g.retired.empty()) {
    drain_at(g.retired, random_.below(g.retired.size()));
  }
  const auto others = std::partition(touched_.begin(), touched_.end(),
                                     [&](const allocation* a) { return a->owner != g.where; });
  std::vector<allocation*> own(others, touched_.end());
  touched_.erase(others, touched_.end());
  memory_space::end_launch(own);
}

void memory_model::put(thread& t, const device& to_device, int to_rank, address_type to, address_type from,
                       std::size_t bytes, address_type signal, std::uint64_t value) {
  if (t.owner->of->where->loses_send()) {
    return;
  }
  const region source = resolve(t, from, bytes, 4, "put from");
  if (source.buffer == nullptr) {
    throw out_of_bounds(name_of(t) + ": put from " + describe(t, from) + ", which is not global memory");
  }
  std::vector<unsigned char> data(bytes);
  view(t, source, from, bytes, data.data(), "put from");
  put_message message;
  message.to_device = to_rank;
  message.epoch = t.put_epoch;
  message.from = writer_of(t, true);
  const auto add = [&](address_type a, std::size_t size, const unsigned char* what) {
    const address_type there = memory_space::instance().symmetric_address(a, &to_device);
    if (there == 0) {
      throw remote_access(name_of(t) + ": put to " + describe(t, a) + ", which is not symmetric");
    }
    const region r = resolve(t, there, size, 4, "put to", true);
    note_write(t, r, there, size, "put", access::atomic_write);
    pending_store s{there, r.bytes, r.state, 0, static_cast<std::uint32_t>(size), message.from};
    copy_bytes(&s.bits, what, size);
    return s;
  };
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t size = std::min<std::size_t>(bytes - at, 8 - (to + at) % 8);
    message.words.push_back(add(to + at, size, data.data() + at));
    at += size;
  }
  if (signal != 0) {
    message.has_signal = true;
    message.signal = add(signal, sizeof(value), reinterpret_cast<const unsigned char*>(&value));
  }
  network_.send(std::move(message));
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
    return by.launch == t.owner->of->number && by.block == t.owner->rank &&
           (r.state != nullptr || by.thread / 32 == t.rank / 32);
  };
  for (std::size_t at = 0; at < size;) {
    const std::size_t first = (a + at) % 8;
    const std::size_t length = std::min(size - at, 8 - first);
    std::array<const value_history::version*, 4> older{};
    const std::size_t count = history().versions(
        a + at,
        [&](const value_history::version& v) {
          return is_own(v.replaced_by) || !seen.may_see(a + at, v.until, v.replaced_by);
        },
        older);
    if (count > 0 && random_.happens(stale_)) {
      const auto& chosen = older[random_.below(count)];
      std::memcpy(out + at, reinterpret_cast<const unsigned char*>(&chosen->bits) + first, length);
    }
    if (how != strength::weak) {
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
    if (stale_ == 0) {
      // No load returns an older value.
    } else if (first) {
      history().forget(s.address);
    } else {
      std::uint64_t word;
      std::memcpy(&word, s.target - s.address % 8, sizeof(word));
      history().record(s.address, word, changes_, s.writer);
    }
    copy_bytes(s.target, &s.bits, s.size);
  }
  if (first) {
    shadow::mark(s.state, s.size, shadow::initialised);
  }
  if (s.writer.is_remote) {
    touch(*memory_space::instance().find(s.address));
    shadow::mark(s.state, s.size, shadow::remote);
  }
  pollers_.wake(s.address, s.size);
}

void memory_model::drain_beyond(store_buffer& b, std::size_t capacity) {
  if (b.size() <= capacity) {
    return;
  }
  const std::size_t surplus = b.size() - capacity;
  for (std::size_t i = 0; i < surplus; ++i) {
    drain_older(b, b.entries()[i].word());
  }
  b.drain_oldest(surplus, committer());
}

}  // namespace sptrsv::emulator
