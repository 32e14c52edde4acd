// The threads that do not run: a set of ready threads, and lists of pollers by the address that they poll.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "emulator/device.hpp"
#include "emulator/random.hpp"
#include "emulator/thread.hpp"

namespace sptrsv::emulator {

/// The threads that can run. take() returns the first one added or a random one, depending on the schedule;
/// any thread can be removed.
class ready_set {
 public:
  ready_set(bool random_order, random_source& random) : random_order_(random_order), random_(random) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }

  void add(thread& t) {
    t.state = thread_state::ready;
    ++count_;
    if (random_order_) {
      t.ready_index = any_.size();
      any_.push_back(&t);
      return;
    }
    t.ready_previous = last_;
    t.ready_next = nullptr;
    (last_ != nullptr ? last_->ready_next : first_) = &t;
    last_ = &t;
  }

  void remove(thread& t) {
    --count_;
    if (random_order_) {
      any_.back()->ready_index = t.ready_index;
      any_[t.ready_index] = any_.back();
      any_.pop_back();
      return;
    }
    (t.ready_previous != nullptr ? t.ready_previous->ready_next : first_) = t.ready_next;
    (t.ready_next != nullptr ? t.ready_next->ready_previous : last_) = t.ready_previous;
  }

  /// Removes and returns a thread. The set must not be empty.
  thread& take() {
    thread& t = random_order_ ? *any_[random_.below(any_.size())] : *first_;
    remove(t);
    return t;
  }

 private:
  bool random_order_;
  random_source& random_;
  std::size_t count_ = 0;
  std::vector<thread*> any_;
  thread* first_ = nullptr;
  thread* last_ = nullptr;
};

/// The threads that wait for a write to an address.
class poll_lists {
 public:
  static constexpr std::size_t largest_poll = 32;

  explicit poll_lists(ready_set& ready) : ready_(ready), heads_(4096, nullptr) {}

  /// Parks `t` until a write to [address, address + size). 0 < size <= largest_poll.
  void park(thread& t, address_type address, std::size_t size) {
    t.state = thread_state::polling;
    t.polled = address;
    t.polled_size = size;
    link(t, 0, address);
    if (sector(address) != sector(address + size - 1)) {
      link(t, 1, address + size - 1);
    }
  }

  /// Makes the pollers of [address, address + size) ready. The range is in one 8-byte word.
  void wake(address_type address, std::size_t size) {
    thread::wait_link* next = nullptr;
    for (thread::wait_link* l = heads_[index(address)]; l != nullptr; l = next) {
      thread& t = *l->owner;
      next = l->next;
      if (t.polled < address + size && address < t.polled + t.polled_size) {
        // The other link of this thread may be the next one in the list.
        if (next != nullptr && next->owner == &t) {
          next = next->next;
        }
        wake(t);
      }
    }
  }

  void wake(thread& t) {
    unlink(t, 0, t.polled);
    if (sector(t.polled) != sector(t.polled + t.polled_size - 1)) {
      unlink(t, 1, t.polled + t.polled_size - 1);
    }
    ready_.add(t);
  }

 private:
  static address_type sector(address_type a) { return a >> 5; }
  [[nodiscard]] std::size_t index(address_type a) const {
    return (sector(a) ^ (sector(a) >> 12)) % heads_.size();
  }

  void link(thread& t, int which, address_type a) {
    thread::wait_link& l = t.links[which];
    thread::wait_link*& head = heads_[index(a)];
    l = {&t, nullptr, head};
    if (head != nullptr) {
      head->previous = &l;
    }
    head = &l;
  }
  void unlink(thread& t, int which, address_type a) {
    const thread::wait_link& l = t.links[which];
    (l.previous != nullptr ? l.previous->next : heads_[index(a)]) = l.next;
    if (l.next != nullptr) {
      l.next->previous = l.previous;
    }
  }

  ready_set& ready_;
  std::vector<thread::wait_link*> heads_;
};

}  // namespace sptrsv::emulator
