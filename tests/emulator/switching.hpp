// Runs a launch on fibers: its start and end, and the switch from one thread to another. Included by
// scheduler.hpp.
#pragma once

#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

inline void scheduler::run() {
  scheduler* const outer = active_;
  if (outer != nullptr) {
    throw launch_failure("emulator: a launch from within a kernel");
  }
  active_ = this;
  try {
    current_ = pick();
    current_->stack = &fibers().acquire();
    current_->state = thread_state::running;
    switch_fiber(host_, *current_->stack);
  } catch (...) {
    error_ = std::current_exception();
  }
  active_ = nullptr;
  device_.counters.launches += 1;
  device_.counters.steps += steps_;
  device_.counters.switches += switches_;
  if (error_ != nullptr) {
    fibers().reset();
    std::rethrow_exception(error_);
  }
  while (memory_.drain_one()) {
  }
}

/// The function of every fiber: runs a thread from its first to its last instruction, then another one.
inline void scheduler::fiber_main() {
  fiber_entered(*active_->current_->stack);
  for (;;) {
    scheduler& s = *active_;
    fiber& self = *s.current_->stack;
    thread* next = nullptr;
    try {
      s.kernel_.body(s, *s.current_, s.kernel_);
      if (overflowed(self)) {
        throw stack_overflow(name_of(*s.current_) + ": more than " + std::to_string(self.stack_bytes) +
                             " bytes of stack");
      }
      s.end_thread(*s.current_);
      next = s.pick();
    } catch (...) {
      s.error_ = std::current_exception();
      next = nullptr;
    }
    if (next == nullptr) {
      fibers().release(self);
      switch_fiber(self, s.host_);
      continue;
    }
    s.current_ = next;
    next->state = thread_state::running;
    if (next->stack == nullptr) {
      next->stack = &self;
      continue;
    }
    fibers().release(self);
    switch_fiber(self, *next->stack);
  }
}

/// Suspends the running thread `t` and continues `preferred`, or a thread of the scheduler's choice if it is
/// null. Returns when `t` is scheduled again.
inline void scheduler::dispatch(thread& t, thread* preferred) {
  thread* const next = preferred != nullptr ? preferred : pick();
  next->state = thread_state::running;
  if (next == &t) {
    return;
  }
  ++switches_;
  current_ = next;
  if (next->stack == nullptr) {
    next->stack = &fibers().acquire();
  }
  switch_fiber(*t.stack, *next->stack);
}

}  // namespace sptrsv::emulator
