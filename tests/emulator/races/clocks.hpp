// Vector clocks of the threads of one block: which accesses of one thread happen before the next access of
// another one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sptrsv::emulator {

/// The time of one participant; it advances when the participant hands on what it has done.
using clock_time = std::uint32_t;

/// By participant: the time up to which its accesses are known. Snapshots are shared: after a synchronisation
/// all its threads know the same.
class snapshot {
 public:
  snapshot() = default;
  explicit snapshot(std::size_t participants) : held_(new times{1, std::vector<clock_time>(participants)}) {}
  snapshot(const snapshot& other) : held_(other.held_) {
    if (held_ != nullptr) {
      ++held_->owners;
    }
  }
  snapshot(snapshot&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  snapshot& operator=(snapshot other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~snapshot() {
    if (held_ != nullptr && --held_->owners == 0) {
      delete held_;
    }
  }

  [[nodiscard]] clock_time of(std::size_t participant) const { return held_->of[participant]; }
  [[nodiscard]] bool same_as(const snapshot& other) const { return held_ == other.held_; }
  [[nodiscard]] std::size_t owners() const { return held_->owners; }

  /// Sets a time, for all owners of the snapshot.
  void set(std::size_t participant, clock_time time) { held_->of[participant] = time; }

  /// Returns a copy that has no other owner.
  [[nodiscard]] snapshot copy() const {
    snapshot made;
    made.held_ = new times{1, held_->of};
    return made;
  }
  /// Adds what `other` knows, for all owners of this snapshot.
  void add(const snapshot& other) {
    clock_time* const to = held_->of.data();
    const clock_time* const from = other.held_->of.data();
    for (std::size_t i = 0; i < held_->of.size(); ++i) {
      to[i] = std::max(to[i], from[i]);
    }
  }

 private:
  struct times {
    std::size_t owners;
    std::vector<clock_time> of;
  };
  times* held_ = nullptr;
};

/// What a thread hands on: what it knows, and its own accesses up to `time`.
struct handed_on {
  snapshot known;
  std::size_t participant = 0;
  clock_time time = 0;  // 0: nothing
};

/// The clocks of a block. Participants are the threads by rank and, after them, others (bulk copies).
class block_clocks {
 public:
  block_clocks() = default;
  block_clocks(std::size_t threads, std::size_t others) : own_(threads + others, 1), known_(threads) {
    restart();
  }

  /// Orders all accesses before all later ones, as the start of a block does.
  void restart() {
    snapshot all(own_.size());
    for (std::size_t i = 0; i < own_.size(); ++i) {
      all.set(i, own_[i]++);
    }
    std::fill(known_.begin(), known_.end(), all);
  }

  [[nodiscard]] clock_time now(std::size_t participant) const { return own_[participant]; }
  [[nodiscard]] const snapshot& known(std::size_t thread) const { return known_[thread]; }

  /// Returns whether the accesses of `participant` up to `time` happen before the next one of `thread`.
  [[nodiscard]] bool is_before(std::size_t participant, clock_time time, std::size_t thread) const {
    return participant == thread || known_[thread].of(participant) >= time;
  }

  /// Hands on what `participant` has done so far, and what `thread` knows.
  handed_on release(std::size_t thread, std::size_t participant) {
    return {known_[thread], participant, own_[participant]++};
  }
  handed_on release(std::size_t thread) { return release(thread, thread); }

  /// Orders what was handed on before the next access of `thread`.
  void acquire(std::size_t thread, const handed_on& from) {
    snapshot joined = known_[thread].copy();
    joined.add(from.known);
    joined.set(from.participant, std::max(from.time, joined.of(from.participant)));
    known_[thread] = std::move(joined);
  }
  void set_known(std::size_t thread, const snapshot& known) { known_[thread] = known; }

  /// Orders all accesses of the threads [first, first + count) before the next ones of each of them.
  void synchronize(std::size_t first, std::size_t count) {
    snapshot joined = join(count, [&](std::size_t i) -> const snapshot& { return known_[first + i]; });
    for (std::size_t i = first; i < first + count; ++i) {
      joined.set(i, own_[i]++);
      known_[i] = joined;
    }
  }

  /// Returns what all of `parts` have handed on.
  static snapshot join(const std::vector<handed_on>& parts) {
    snapshot joined = join(parts.size(), [&](std::size_t i) -> const snapshot& { return parts[i].known; });
    for (const handed_on& part : parts) {
      joined.set(part.participant, std::max(part.time, joined.of(part.participant)));
    }
    return joined;
  }

 private:
  /// Returns what part(0) ... part(count - 1) know. The snapshot has no owners but these.
  template <class Part>
  static snapshot join(std::size_t count, const Part& part) {
    snapshot joined = part(0);
    bool is_copy = false;
    for (std::size_t i = 1; i < count; ++i) {
      if (part(i).same_as(part(i - 1))) {
        continue;
      }
      if (!is_copy) {
        joined = joined.copy();
        is_copy = true;
      }
      joined.add(part(i));
    }
    return is_copy || joined.owners() == count + 1 ? joined : joined.copy();
  }

  std::vector<clock_time> own_;
  std::vector<snapshot> known_;  // by thread
};

}  // namespace sptrsv::emulator
