// Calls that the compiler inserts before each access to memory where a program is compiled with
// -fsanitize=thread (tests/CMakeLists.txt). They are linked in place of ThreadSanitizer's and pass the direct
// accesses to shared memory on to the race check. This file and the other sources of the emulator are
// compiled without that option.
#include <cstddef>

#include "emulator/scheduler.hpp"

namespace {

using sptrsv::emulator::access;
using sptrsv::emulator::address_of;
using sptrsv::emulator::scheduler;

inline void note(const void* p, std::size_t size, access how) {
  if (scheduler::is_shared(address_of(p))) {
    scheduler::note_direct_access(address_of(p), size, how);
  }
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler gives the names
extern "C" {

#define SPTRSV_ACCESSES_OF(size)                                                   \
  void __tsan_read##size(void* p) { note(p, size, access::read); }                 \
  void __tsan_write##size(void* p) { note(p, size, access::write); }               \
  void __tsan_unaligned_read##size(void* p) { note(p, size, access::read); }       \
  void __tsan_unaligned_write##size(void* p) { note(p, size, access::write); }     \
  void __tsan_volatile_read##size(void* p) { note(p, size, access::atomic_read); } \
  void __tsan_volatile_write##size(void* p) { note(p, size, access::atomic_write); }
SPTRSV_ACCESSES_OF(1)
SPTRSV_ACCESSES_OF(2)
SPTRSV_ACCESSES_OF(4)
SPTRSV_ACCESSES_OF(8)
SPTRSV_ACCESSES_OF(16)
#undef SPTRSV_ACCESSES_OF

void __tsan_read_range(void* p, std::size_t size) { note(p, size, access::read); }
void __tsan_write_range(void* p, std::size_t size) { note(p, size, access::write); }
void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  note(from, size, access::read);
  note(to, size, access::write);
  return __builtin_memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  note(from, size, access::read);
  note(to, size, access::write);
  return __builtin_memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, std::size_t size) {
  note(to, size, access::write);
  return __builtin_memset(to, value, size);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

// Atomic operations of the host; kernels have none but those of the context.
#define SPTRSV_ATOMICS_OF(bits, type)                                                                       \
  type __tsan_atomic##bits##_load(const volatile type* p, int) { return __atomic_load_n(p, 5); }            \
  void __tsan_atomic##bits##_store(volatile type* p, type v, int) { __atomic_store_n(p, v, 5); }            \
  type __tsan_atomic##bits##_exchange(volatile type* p, type v, int) {                                      \
    return __atomic_exchange_n(p, v, 5);                                                                    \
  }                                                                                                         \
  type __tsan_atomic##bits##_fetch_add(volatile type* p, type v, int) {                                     \
    return __atomic_fetch_add(p, v, 5);                                                                     \
  }                                                                                                         \
  type __tsan_atomic##bits##_fetch_sub(volatile type* p, type v, int) {                                     \
    return __atomic_fetch_sub(p, v, 5);                                                                     \
  }                                                                                                         \
  type __tsan_atomic##bits##_fetch_and(volatile type* p, type v, int) {                                     \
    return __atomic_fetch_and(p, v, 5);                                                                     \
  }                                                                                                         \
  type __tsan_atomic##bits##_fetch_or(volatile type* p, type v, int) { return __atomic_fetch_or(p, v, 5); } \
  type __tsan_atomic##bits##_fetch_xor(volatile type* p, type v, int) {                                     \
    return __atomic_fetch_xor(p, v, 5);                                                                     \
  }                                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, type v, int, int) {   \
    return __atomic_compare_exchange_n(p, expected, v, false, 5, 5);                                        \
  }                                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected, type v, int, int) {     \
    return __atomic_compare_exchange_n(p, expected, v, true, 5, 5);                                         \
  }                                                                                                         \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type v, int, int) {      \
    __atomic_compare_exchange_n(p, &expected, v, false, 5, 5);                                              \
    return expected;                                                                                        \
  }
SPTRSV_ATOMICS_OF(8, unsigned char)
SPTRSV_ATOMICS_OF(16, unsigned short)
SPTRSV_ATOMICS_OF(32, unsigned)
SPTRSV_ATOMICS_OF(64, unsigned long)
#undef SPTRSV_ATOMICS_OF
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(5); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(5); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
