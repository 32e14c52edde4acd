// The threads that do not run: a set of ready threads, and lists of pollers by the address that they poll.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "emulator/device.hpp"
#include "emulator/grid.hpp"
#include "emulator/random.hpp"

namespace sptrsv::emulator {

/// The threads that can run. take() returns the first one added or a random one, depending on the schedule;
/// any thread can be removed. A random thread is one of a random device, faster devices more often.
class ready_set {
 public:
  ready_set(bool random_order, random_source& random, const std::vector<device_run>& devices)
      : random_order_(random_order), random_(random), any_(devices.size()) {
    for (const device_run& d : devices) {
      speeds_.push_back(d.speed);
    }
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }

  void add(thread& t) {
    t.state = thread_state::ready;
    ++count_;
    if (random_order_) {
      std::vector<thread*>& mine = any_of(t);
      t.ready_index = mine.size();
      mine.push_back(&t);
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
      std::vector<thread*>& mine = any_of(t);
      mine.back()->ready_index = t.ready_index;
      mine[t.ready_index] = mine.back();
      mine.pop_back();
      return;
    }
    (t.ready_previous != nullptr ? t.ready_previous->ready_next : first_) = t.ready_next;
    (t.ready_next != nullptr ? t.ready_next->ready_previous : last_) = t.ready_previous;
  }

  /// Removes and returns a thread. The set must not be empty.
  thread& take() {
    thread* t = first_;
    if (random_order_) {
      const std::vector<thread*>& of_device = any_[choose_device()];
      t = of_device[random_.below(of_device.size())];
    }
    remove(*t);
    return *t;
  }

 private:
  std::vector<thread*>& any_of(const thread& t) { return any_[static_cast<std::size_t>(t.owner->of->rank)]; }
  /// Returns a device with a thread that can run.
  std::size_t choose_device() {
    std::uint64_t sum = 0;
    std::size_t last = 0;
    int devices = 0;
    for (std::size_t d = 0; d < any_.size(); ++d) {
      if (!any_[d].empty()) {
        sum += speeds_[d];
        last = d;
        ++devices;
      }
    }
    if (devices == 1) {
      return last;
    }
    std::uint64_t left = random_.below(sum);
    for (std::size_t d = 0; d < last; ++d) {
      if (!any_[d].empty()) {
        if (left < speeds_[d]) {
          return d;
        }
        left -= speeds_[d];
      }
    }
    return last;
  }

  bool random_order_;
  random_source& random_;
  std::size_t count_ = 0;
  std::vector<std::vector<thread*>> any_;  // by device
  std::vector<std::uint64_t> speeds_;
  thread* first_ = nullptr;
  thread* last_ = nullptr;
};

/// The threads that wait for a write to an address.
class poll_lists {
 public:
  static constexpr std::size_t largest_poll = 32;

  explicit poll_lists(ready_set& ready) : ready_(ready), heads_(512, nullptr) {}

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
