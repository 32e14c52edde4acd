// The atomic operations of the memory model. Included by memory_model.hpp.
#pragma once

#include "emulator/memory/memory_model.hpp"

namespace sptrsv::emulator {

template <class T, class Update>
T memory_model::atomic(thread& t, address_type a, Update update, const char* what) {
  const region r = resolve(t, a, sizeof(T), sizeof(T), what);
  note_write(t, r, a, sizeof(T), what);
  drain_word(t.owner->pending, a >> 3);
  drain_word(t.pending, a >> 3);
  if (r.state != nullptr && check_initialised_ &&
      !shadow::all_have(r.state, sizeof(T), shadow::initialised)) {
    fail_uninitialised(t, a, sizeof(T), what);
  }
  T old;
  std::memcpy(&old, r.bytes, sizeof(T));
  const T updated = update(old);
  pending_store s{a, r.bytes, r.state, 0, sizeof(T)};
  std::memcpy(&s.bits, &updated, sizeof(T));
  commit(s);
  t.seen.set(a, &updated, sizeof(T));
  return old;
}

template <class T>
void memory_model::reduce_add(thread& t, address_type a, T value) {
  const region r = resolve(t, a, sizeof(T), sizeof(T), "reduce_add");
  note_write(t, r, a, sizeof(T), "reduce_add");
  if (r.state != nullptr && check_initialised_ &&
      !shadow::all_have(r.state, sizeof(T), shadow::initialised) && !t.pending.may_hold(a, sizeof(T)) &&
      !t.owner->pending.may_hold(a, sizeof(T))) {
    fail_uninitialised(t, a, sizeof(T), "reduce_add");
  }
  pending_store s{a, r.bytes, r.state, 0, sizeof(T), &add_to_bytes<T>};
  std::memcpy(&s.bits, &value, sizeof(T));
  push(t.pending, s);
  while (t.pending.size() > thread_capacity) {
    drain_at(t.pending, 0);
  }
}

}  // namespace sptrsv::emulator
