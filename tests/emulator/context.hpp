// The execution context of the emulator; sptrsv/detail/simt/context.hpp documents the interface. Where CUDA
// needs no atomicity, T may be any trivially copyable type; a large T is stored as several words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "emulator/scheduler.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::emulator {

/// Returns the number of bytes that one instruction stores. Other threads may see one word of a larger T
/// before the next one.
template <class T>
constexpr std::size_t word_of() {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::is_arithmetic_v<T> ? sizeof(T) : alignof(T) < 8 ? alignof(T) : 8;
}

/// An aligned group of lanes of one warp.
template <int Lanes>
class tile {
  static_assert(Lanes >= 1 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0, "1, 2, 4, 8, 16 or 32 lanes");

 public:
  static constexpr int lanes = Lanes;

  tile(scheduler& s, thread& t) : scheduler_(&s), thread_(&t) {}

  [[nodiscard]] int rank() const { return thread_->rank % Lanes; }
  [[nodiscard]] int index() const { return thread_->rank / Lanes; }

  template <class T>
  T shuffle(T value, int source) const {
    return exchange_values(collective::shuffle, value, source);
  }
  /// Lanes whose source would be outside the tile keep their value.
  template <class T>
  T shuffle_down(T value, int delta) const {
    check(delta >= 0, "shuffle_down by", delta);
    return exchange_values(collective::shuffle_down, value, rank() + delta < Lanes ? rank() + delta : rank());
  }
  template <class T>
  T shuffle_xor(T value, int mask) const {
    check(mask >= 0 && mask < Lanes, "shuffle_xor with", mask);
    return exchange_values(collective::shuffle_xor, value, rank() ^ mask);
  }
  [[nodiscard]] std::uint32_t ballot(bool vote) const {
    return meet<std::uint32_t>(collective::ballot, &vote, sizeof(vote), 0);
  }
  [[nodiscard]] bool any(bool vote) const { return meet<bool>(collective::any, &vote, sizeof(vote), 0); }
  [[nodiscard]] bool all(bool vote) const { return meet<bool>(collective::all, &vote, sizeof(vote), 0); }
  /// Orders memory among the lanes, like __syncwarp. The other collectives do not.
  void sync() const {
    const bool nothing = false;
    meet<bool>(collective::sync, &nothing, 0, 0);
  }

 private:
  template <class T>
  T exchange_values(collective op, const T& value, int source) const {
    static_assert(std::is_trivially_copyable_v<T>);
    check(source >= 0 && source < Lanes, "a shuffle from lane", source);
    return meet<T>(op, &value, sizeof(T), source);
  }

  template <class Result>
  Result meet(collective op, const void* in, std::size_t size, int source) const {
    Result result{};
    exchange e;
    e.op = op;
    e.lanes = Lanes;
    e.source = source;
    e.size = size;
    e.in = in;
    e.out = &result;
    scheduler_->rendezvous(*thread_, e);
    return result;
  }

  void check(bool valid, const char* what, int value) const {
    if (!valid) {
      throw tile_divergence(name_of(*thread_) + ": " + what + " " + std::to_string(value) + " in a tile of " +
                            std::to_string(Lanes) + " lanes");
    }
  }

  scheduler* scheduler_;
  thread* thread_;
};

class context {
 public:
  context(scheduler& s, thread& t) : scheduler_(&s), thread_(&t) {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  [[nodiscard]] int thread_rank() const { return thread_->rank; }
  [[nodiscard]] int block_threads() const { return scheduler_->launched().threads; }
  [[nodiscard]] std::uint32_t block_rank() const { return thread_->owner->rank; }
  [[nodiscard]] std::uint32_t grid_blocks() const { return scheduler_->launched().blocks; }
  [[nodiscard]] void* dynamic_shared() const { return thread_->owner->dynamic_shared.data(); }

  template <int Lanes>
  [[nodiscard]] tile<Lanes> group() const {
    if (thread_->rank / Lanes * Lanes + Lanes > block_threads()) {
      throw tile_divergence(name_of(*thread_) + ": its tile of " + std::to_string(Lanes) +
                            " lanes is cut by the end of the block");
    }
    return {*scheduler_, *thread_};
  }

  void barrier() { scheduler_->barrier(*thread_); }
  template <int Threads>
  void barrier() {
    static_assert(Threads % 32 == 0);
    scheduler_->partial_barrier(*thread_, Threads);
  }
  template <int Threads>
  void barrier_wait(int id) {
    static_assert(Threads % 32 == 0);
    scheduler_->numbered_barrier(*thread_, id, Threads, true);
  }
  template <int Threads>
  void barrier_arrive(int id) {
    static_assert(Threads % 32 == 0);
    scheduler_->numbered_barrier(*thread_, id, Threads, false);
  }

  template <class T>
  T load_constant(const T* p) {
    T value;
    scheduler_->memory().load_constant(*thread_, address_of(p), sizeof(T), word_of<T>(), &value);
    return value;
  }
  template <class T>
  T load(const T* p) {
    return load_as(p, "load", true);
  }
  template <int Count, class T>
  void load_words(const T* p, T* to) {
    expect_aligned(p, Count * sizeof(T), "load_words");
    for (int w = 0; w < Count; ++w) {
      to[w] = load(p + w);
    }
  }
  template <class T>
  T load_relaxed(const T* p) {
    static_assert(is_atomic<T>);
    return load_as(p, "load_relaxed");
  }
  template <int Count, class T>
  void load_relaxed_words(const T* p, T* to) {
    expect_aligned(p, Count * sizeof(T), "load_relaxed_words");
    for (int w = 0; w < Count; ++w) {
      to[w] = load_relaxed(p + w);
    }
  }
  template <class T>
  T load_acquire(const T* p) {
    static_assert(is_atomic<T>);
    const T value = load_as(p, "load_acquire");
    scheduler_->memory().acquire(*thread_);
    return value;
  }

  template <class T>
  void store(T* p, std::common_type_t<T> value) {
    store_as(p, value, "store");
  }
  template <class T>
  void store_relaxed(T* p, std::common_type_t<T> value) {
    static_assert(is_atomic<T>);
    store_as(p, value, "store_relaxed");
  }
  template <int Count, class T>
  void store_relaxed_words(T* p, const T* words) {
    expect_aligned(p, Count * sizeof(T), "store_relaxed_words");
    for (int w = 0; w < Count; ++w) {
      store_relaxed(p + w, words[w]);
    }
  }
  template <class T>
  void store_release(T* p, std::common_type_t<T> value) {
    static_assert(is_atomic<T>);
    fence();
    store_as(p, value, "store_release");
  }

  template <class T>
  T atomic_add(T* p, std::common_type_t<T> value) {
    return atomic(
        p, [&](T old) { return static_cast<T>(old + value); }, "atomic_add");
  }
  template <class T>
  T atomic_sub(T* p, std::common_type_t<T> value) {
    return atomic(
        p, [&](T old) { return static_cast<T>(old - value); }, "atomic_sub");
  }
  template <class T>
  T atomic_min(T* p, std::common_type_t<T> value) {
    return atomic(
        p, [&](T old) { return std::min(old, value); }, "atomic_min");
  }
  template <class T>
  T atomic_max(T* p, std::common_type_t<T> value) {
    return atomic(
        p, [&](T old) { return std::max(old, value); }, "atomic_max");
  }
  template <class T>
  T atomic_exchange(T* p, std::common_type_t<T> value) {
    return atomic(
        p, [&](T) { return value; }, "atomic_exchange");
  }

  template <class T>
  void reduce_add(T* p, std::common_type_t<T> value) {
    static_assert(is_atomic<T>);
    scheduler_->step(*thread_);
    scheduler_->memory().reduce_add<T>(*thread_, address_of(p), value);
  }

  template <class T>
  T load_shared(const T* p) {
    static_assert(is_atomic<T>);
    if (resolve(*thread_, address_of(p), sizeof(T), sizeof(T), "load_shared").state != nullptr) {
      throw out_of_bounds(name_of(*thread_) + ": load_shared of " + describe(*thread_, address_of(p)));
    }
    return load_as(p, "load_shared");
  }

  void fence() {
    scheduler_->step(*thread_);
    scheduler_->memory().fence(*thread_);
  }
  void fence_acquire() {
    scheduler_->step(*thread_);
    scheduler_->memory().acquire(*thread_);
  }
  void fence_release() {
    scheduler_->step(*thread_);
    scheduler_->memory().release(*thread_);
  }
  void fence_block() {
    scheduler_->step(*thread_);
    scheduler_->memory().publish_to_block(*thread_);
  }

  /// Copies now or at the wait, depending on the schedule. Until then the target holds garbage.
  template <int Bytes>
  void copy_async(void* shared, const void* global) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
    if (resolve(*thread_, address_of(shared), Bytes, Bytes, "copy_async to").buffer != nullptr) {
      throw out_of_bounds(name_of(*thread_) + ": copy_async to " + describe(*thread_, address_of(shared)) +
                          ", which is not shared memory");
    }
    if (resolve(*thread_, address_of(global), Bytes, Bytes, "copy_async from").buffer == nullptr) {
      throw out_of_bounds(name_of(*thread_) + ": copy_async from " + describe(*thread_, address_of(global)) +
                          ", which is not global memory");
    }
    const pending_copy copy{shared, address_of(global), Bytes, thread_->copy_groups};
    if (scheduler_->copies_at_once()) {
      perform(copy);
    } else {
      std::memset(shared, 0xcd, Bytes);
      thread_->copies.push_back(copy);
    }
  }
  void commit_copies() { ++thread_->copy_groups; }
  template <int Pending>
  void wait_copies() {
    auto& copies = thread_->copies;
    std::size_t done = 0;
    while (done < copies.size() && copies[done].group + Pending < thread_->copy_groups) {
      perform(copies[done++]);
    }
    copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
  }

  void begin_bulk(std::uint64_t* arrival) { *arrival_word(arrival, "begin_bulk") = 0; }
  /// Copies now or when a thread waits for the copy, depending on the schedule.
  void copy_bulk(void* shared, const void* global, int bytes, std::uint64_t* arrival, int lane) {
    scheduler_->step(*thread_);
    if (lane != 0) {
      return;
    }
    arrival_word(arrival, "copy_bulk");
    const auto size = static_cast<std::size_t>(bytes);
    if (size % 16 != 0 || address_of(shared) % 16 != 0 || address_of(global) % 16 != 0) {
      throw misaligned_access(name_of(*thread_) + ": copy_bulk of " + std::to_string(bytes) + " bytes from " +
                              hex(address_of(global)) + " to " + describe(*thread_, address_of(shared)));
    }
    if (size > 0 && (resolve(*thread_, address_of(shared), size, 16, "copy_bulk to").buffer != nullptr ||
                     resolve(*thread_, address_of(global), size, 16, "copy_bulk from").buffer == nullptr)) {
      throw out_of_bounds(name_of(*thread_) + ": copy_bulk, not from global to shared memory");
    }
    auto& copies = thread_->owner->bulk_copies;
    if (find_bulk(arrival) != copies.end()) {
      throw out_of_bounds(name_of(*thread_) + ": copy_bulk before the copy begun last with " +
                          describe(*thread_, address_of(arrival)) + " has been waited for");
    }
    std::memset(shared, 0xcd, size);
    copies.push_back({arrival, static_cast<unsigned char*>(shared), address_of(global), size});
    if (scheduler_->copies_at_once()) {
      finish_bulk(copies.end() - 1);
    }
  }
  void wait_bulk(const std::uint64_t* arrival, bool odd) {
    scheduler_->step(*thread_);
    const std::uint64_t* const copies = arrival_word(arrival, "wait_bulk");
    while ((*copies % 2 == 1) == odd) {
      const auto copy = find_bulk(arrival);
      if (copy != thread_->owner->bulk_copies.end()) {
        finish_bulk(copy);
      } else {
        pause(arrival);
      }
    }
  }

  int shared_address(const void* p) {
    return static_cast<int>(static_cast<const unsigned char*>(p) - thread_->owner->dynamic_shared.data());
  }
  template <class T>
  T load_shared_at(int address) {
    T value;
    std::memcpy(&value, dynamic_shared_at(address, sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  void store_shared_at(int address, T value) {
    std::memcpy(dynamic_shared_at(address, sizeof(T)), &value, sizeof(T));
  }
  template <class... Addresses>
  void compute_now(Addresses...) {}

  template <class T>
  void pause(const T* p) {
    static_assert(sizeof(T) <= poll_lists::largest_poll);
    scheduler_->pause(*thread_, address_of(p), sizeof(T));
  }
  template <class T>
  void spin(const T* p) {
    pause(p);
  }

 private:
  template <class T>
  static constexpr bool is_atomic = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

  /// Throws unless one instruction may access all `bytes` bytes.
  void expect_aligned(const void* p, std::size_t bytes, const char* what) {
    static_cast<void>(resolve(*thread_, address_of(p), bytes, bytes, what));
  }

  unsigned char* dynamic_shared_at(int address, std::size_t size) {
    const auto& memory = thread_->owner->dynamic_shared;
    if (address < 0 || static_cast<std::size_t>(address) + size > memory.size() ||
        static_cast<std::size_t>(address) % std::min<std::size_t>(size, 16) != 0) {
      throw out_of_bounds(name_of(*thread_) + ": " + std::to_string(size) + " bytes at " +
                          std::to_string(address) + " of dynamic shared memory, of " +
                          std::to_string(memory.size()));
    }
    return memory.data() + address;
  }

  std::uint64_t* arrival_word(const std::uint64_t* arrival, const char* what) const {
    if (resolve(*thread_, address_of(arrival), 8, 8, what).state != nullptr) {
      throw out_of_bounds(name_of(*thread_) + ": " + what + " of " + describe(*thread_, address_of(arrival)));
    }
    return const_cast<std::uint64_t*>(arrival);
  }
  std::vector<bulk_copy>::iterator find_bulk(const std::uint64_t* arrival) const {
    auto& copies = thread_->owner->bulk_copies;
    return std::find_if(copies.begin(), copies.end(),
                        [&](const bulk_copy& copy) { return copy.arrival == arrival; });
  }
  void finish_bulk(std::vector<bulk_copy>::iterator at) {
    const bulk_copy copy = *at;
    thread_->owner->bulk_copies.erase(at);
    for (std::size_t done = 0; done < copy.size; done += 16) {
      scheduler_->memory().load(*thread_, copy.from + done, 16, 16, copy.to + done, "copy_bulk", true);
    }
    ++*copy.arrival;
  }

  void perform(const pending_copy& copy) {
    scheduler_->step(*thread_);
    unsigned char bytes[16];
    scheduler_->memory().load(*thread_, copy.from, copy.size, copy.size, bytes, "copy_async", true);
    std::memcpy(copy.to, bytes, copy.size);
  }

  template <class T>
  T load_as(const T* p, const char* what, bool weak = false) {
    scheduler_->step(*thread_);
    T value;
    scheduler_->memory().load(*thread_, address_of(p), sizeof(T), word_of<T>(), &value, what, weak);
    return value;
  }
  template <class T>
  void store_as(T* p, const T& value, const char* what) {
    scheduler_->step(*thread_);
    scheduler_->memory().store(*thread_, address_of(p), sizeof(T), word_of<T>(), &value, what);
  }
  template <class T, class Update>
  T atomic(T* p, Update update, const char* what) {
    static_assert(is_atomic<T>);
    scheduler_->step(*thread_);
    return scheduler_->memory().atomic<T>(*thread_, address_of(p), update, what);
  }

  scheduler* scheduler_;
  thread* thread_;
};

}  // namespace sptrsv::emulator
