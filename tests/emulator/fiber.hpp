// Fibers: one stack per CUDA thread with explicit switches. On x86-64 a switch takes a dozen instructions. On
// other machines (or with SPTRSV_EMULATOR_PORTABLE_FIBERS) ucontext starts a fiber and `_setjmp` / `_longjmp`
// switch it, because `swapcontext` makes two system calls for the signal mask.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define SPTRSV_EMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPTRSV_EMULATOR_ASAN 1
#endif
#endif
#ifdef SPTRSV_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) && !defined(SPTRSV_EMULATOR_PORTABLE_FIBERS)
#define SPTRSV_EMULATOR_PORTABLE_FIBERS 1
#endif
#ifdef SPTRSV_EMULATOR_PORTABLE_FIBERS
#include <setjmp.h>
#include <ucontext.h>
#if defined(SPTRSV_EMULATOR_ASAN) || (defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0)
#define SPTRSV_EMULATOR_SWAPCONTEXT 1  // ASan and fortify check that a long jump stays on one stack
#endif
#endif

namespace sptrsv::emulator {

/// A suspended thread of execution. The host's own fiber has no stack of its own.
struct fiber {
  unsigned char* stack = nullptr;
  std::size_t stack_bytes = 0;
  bool started = false;
  void* fake_stack = nullptr;  // used by AddressSanitizer
#ifdef SPTRSV_EMULATOR_PORTABLE_FIBERS
  ucontext_t start;
  jmp_buf resume;
#else
  void* stack_pointer = nullptr;
#endif
};

namespace fiber_detail {

inline fiber* previous = nullptr;  // the fiber that the current switch has left

/// Every switch begins with leave() in the old fiber and ends with arrive() in the new one.
inline void leave([[maybe_unused]] fiber& from, [[maybe_unused]] fiber& to) {
  previous = &from;
#ifdef SPTRSV_EMULATOR_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
}
inline void arrive([[maybe_unused]] fiber& self) {
#ifdef SPTRSV_EMULATOR_ASAN
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(self.fake_stack, &bottom, &bytes);
  // Only the sanitizer knows the bounds of the host's stack, and only after a fiber was entered from it.
  previous->stack = static_cast<unsigned char*>(const_cast<void*>(bottom));
  previous->stack_bytes = bytes;
#endif
}

inline constexpr std::uint64_t canary = 0x5ca1ab1e5ca1ab1eu;

#ifndef SPTRSV_EMULATOR_PORTABLE_FIBERS
/// Saves the callee-saved registers of the System V ABI and continues on the other stack.
__attribute__((naked, noinline)) inline void switch_stack(void** /*save*/, void* /*to*/) {
  __asm__(
      "pushq %rbp\n\t"
      "pushq %rbx\n\t"
      "pushq %r12\n\t"
      "pushq %r13\n\t"
      "pushq %r14\n\t"
      "pushq %r15\n\t"
      "movq %rsp, (%rdi)\n\t"
      "movq %rsi, %rsp\n\t"
      "popq %r15\n\t"
      "popq %r14\n\t"
      "popq %r13\n\t"
      "popq %r12\n\t"
      "popq %rbx\n\t"
      "popq %rbp\n\t"
      "ret");
}
#endif

}  // namespace fiber_detail

/// Returns the word below the stack. It is in the uppermost page of the neighbouring stack, which is in use
/// anyway.
inline std::uint64_t* canary_of(const fiber& f) { return reinterpret_cast<std::uint64_t*>(f.stack) - 1; }

/// Makes `f` start with `entry`, which never returns and calls `fiber_entered` first.
inline void prepare(fiber& f, void (*entry)(), std::size_t colour) {
#ifdef SPTRSV_EMULATOR_ASAN
  __asan_unpoison_memory_region(f.stack, f.stack_bytes);
  f.fake_stack = nullptr;
#endif
  *canary_of(f) = fiber_detail::canary;
  // Stacks start at different offsets in their pages; otherwise they would compete for one set of the cache.
  const std::size_t usable = f.stack_bytes - 64 - (colour % 64) * 64;
#ifdef SPTRSV_EMULATOR_PORTABLE_FIBERS
  getcontext(&f.start);
  f.start.uc_stack.ss_sp = f.stack;
  f.start.uc_stack.ss_size = usable;
  f.start.uc_link = nullptr;
  makecontext(&f.start, entry, 0);
#else
  // The stack holds six registers, then `entry` as a return address, then a null return address at which the
  // unwinder stops. The stack pointer is 8 modulo 16 when `entry` starts, as after a call.
  void** top = reinterpret_cast<void**>(f.stack + usable);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) {
    *--top = nullptr;
  }
  f.stack_pointer = top;
#endif
  f.started = false;
}

inline bool overflowed(const fiber& f) { return *canary_of(f) != fiber_detail::canary; }

/// Suspends the running fiber `from` and continues `to`.
inline void switch_fiber(fiber& from, fiber& to) {
  fiber_detail::leave(from, to);
#if defined(SPTRSV_EMULATOR_SWAPCONTEXT)
  swapcontext(&from.start, &to.start);
#elif defined(SPTRSV_EMULATOR_PORTABLE_FIBERS)
  if (_setjmp(from.resume) == 0) {
    if (to.started) {
      _longjmp(to.resume, 1);
    }
    to.started = true;
    setcontext(&to.start);
  }
#else
  fiber_detail::switch_stack(&from.stack_pointer, to.stack_pointer);
#endif
  fiber_detail::arrive(from);
}

/// Fetches what a switch to `f` reads first into the cache.
inline void prefetch([[maybe_unused]] const fiber& f) {
#ifndef SPTRSV_EMULATOR_PORTABLE_FIBERS
  __builtin_prefetch(f.stack_pointer);
#endif
}

inline void fiber_entered(fiber& self) { fiber_detail::arrive(self); }

/// All fibers of the process. Fibers are reused, because the pages of a used stack are mapped already.
class fiber_pool {
 public:
#ifdef SPTRSV_EMULATOR_ASAN
  static constexpr std::size_t stack_bytes = 256 * 1024;
#else
  // Not a power of two, to spread stacks over the sets of the cache.
  static constexpr std::size_t stack_bytes = 68 * 1024;
#endif

  explicit fiber_pool(void (*entry)()) : entry_(entry) {}

  /// Returns a fiber that is at its start, or in `entry` after its last thread has ended.
  fiber& acquire() {
    if (free_.empty()) {
      grow();
    }
    fiber& f = *free_.back();
    free_.pop_back();
    return f;
  }
  void release(fiber& f) { free_.push_back(&f); }

  /// Takes back all fibers, also those that an error has left in the middle of a kernel. Destructors do not
  /// run on their stacks; agents own nothing.
  void reset() {
    free_.clear();
    for (std::size_t i = all_.size(); i-- > 0;) {
      prepare(*all_[i], entry_, i);
      free_.push_back(all_[i].get());
    }
  }

 private:
  void grow() {
    constexpr std::size_t page = 4096;  // for the canary of the first stack
    // Stacks per mapping; a guard page per stack would exceed the number of mappings of a process.
    constexpr std::size_t slab = 64;
    void* const memory = mmap(nullptr, page + slab * stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    for (std::size_t i = 0; i < slab; ++i) {
      all_.push_back(std::make_unique<fiber>());
      fiber& f = *all_.back();
      f.stack = static_cast<unsigned char*>(memory) + page + i * stack_bytes;
      f.stack_bytes = stack_bytes;
      prepare(f, entry_, all_.size());
      free_.push_back(&f);
    }
  }

  void (*entry_)();
  std::vector<std::unique_ptr<fiber>> all_;
  std::vector<fiber*> free_;
};

}  // namespace sptrsv::emulator
