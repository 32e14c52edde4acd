// Runs a launch on fibers: its start and end, and the switch from one thread to another.
#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

fiber_pool& scheduler::fibers() {
  static auto* const pool = new fiber_pool(&scheduler::fiber_main);
  return *pool;
}

/// Sets the thread that runs; null: none.
void scheduler::set_current(thread* t) {
  current_ = t;
  direct_[0] = direct_[1] = {0, 0};
  if (t != nullptr && t->owner->of->checks_races) {
    const block& b = *t->owner;
    direct_[0] = {address_of(b.static_shared.data()), b.static_shared.size()};
    direct_[1] = {address_of(b.dynamic_shared.data()), b.dynamic_shared.size()};
  }
}

void scheduler::run() {
  scheduler* const outer = active_;
  if (outer != nullptr) {
    throw launch_failure("emulator: a launch from within a kernel");
  }
  active_ = this;
  try {
    set_current(pick());
    if (current_ != nullptr) {
      current_->stack = &fibers().acquire();
      current_->state = thread_state::running;
      switch_fiber(host_, *current_->stack);
    }
  } catch (...) {
    error_ = std::current_exception();
  }
  set_current(nullptr);
  active_ = nullptr;
  for (const device_run& d : devices_) {
    d.where->counters.steps += steps_;
    d.where->counters.switches += switches_;
  }
  if (error_ != nullptr) {
    fibers().reset();
    std::rethrow_exception(error_);
  }
  while (memory_.drain_one()) {
  }
}

/// The function of every fiber: runs a thread from its first to its last instruction, then another one.
void scheduler::fiber_main() {
  fiber_entered(*active_->current_->stack);
  for (;;) {
    scheduler& s = *active_;
    fiber& self = *s.current_->stack;
    thread* next = nullptr;
    try {
      launched(*s.current_).body(s, *s.current_, launched(*s.current_));
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
    s.set_current(next);
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
void scheduler::dispatch(thread& t, thread* preferred) {
  thread* const next = preferred != nullptr ? preferred : pick();
  next->state = thread_state::running;
  if (next == &t) {
    return;
  }
  ++switches_;
  set_current(next);
  if (next->stack == nullptr) {
    next->stack = &fibers().acquire();
  }
  switch_fiber(*t.stack, *next->stack);
}

}  // namespace sptrsv::emulator
