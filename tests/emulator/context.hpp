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

/// The compiler inserts no calls (races/instrumentation.cpp) into these functions, which are not inlined
/// then.
#define SPTRSV_UNINSTRUMENTED __attribute__((no_sanitize("thread")))

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
  template <class T>
  static constexpr bool has_multiply_add = Lanes == 32 && std::is_same_v<T, double>;
  void multiply_add(double a, double b, double (&c)[2]) const {
    static_assert(has_multiply_add<double>);
    const matrix_elements mine{a, b, {c[0], c[1]}};
    const auto sums = meet<matrix_elements>(collective::multiply_add, &mine, sizeof(mine), 0);
    c[0] = sums.c[0];
    c[1] = sums.c[1];
  }
  void multiply_add(const double (&a)[2], double b, double (&c)[2], double (&d)[2]) const {
    multiply_add(a[0], b, c);
    multiply_add(a[1], b, d);
  }

 private:
  template <class T>
  T exchange_values(collective op, const T& value, int source) const {
    static_assert(std::is_trivially_copyable_v<T>);
    check(source >= 0 && source < Lanes, "a shuffle from lane", source);
    return meet<T>(op, &value, sizeof(T), source);
  }

  template <class Result>
  SPTRSV_UNINSTRUMENTED Result meet(collective op, const void* in, std::size_t size, int source) const {
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
  [[nodiscard]] int block_threads() const { return scheduler::launched(*thread_).threads; }
  [[nodiscard]] std::uint32_t block_rank() const { return thread_->owner->rank; }
  [[nodiscard]] std::uint32_t grid_blocks() const { return scheduler::launched(*thread_).blocks; }
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
  SPTRSV_UNINSTRUMENTED T load_constant(const T* p) {
    T value;
    scheduler_->load_constant(*thread_, address_of(p), sizeof(T), word_of<T>(), &value);
    return value;
  }
  template <class T>
  T load(const T* p) {
    return load_as(p, "load", strength::weak);
  }
  template <int Count, class T>
  void load_words(const T* p, T* to) {
    scheduler_->expect_aligned(*thread_, address_of(p), Count * sizeof(T), "load_words");
    for (int w = 0; w < Count; ++w) {
      to[w] = load(p + w);
    }
  }
  template <class T>
  T load_relaxed(const T* p) {
    static_assert(is_atomic<T>);
    return load_as(p, "load_relaxed", strength::strong);
  }
  template <int Count, class T>
  void load_relaxed_words(const T* p, T* to) {
    scheduler_->expect_aligned(*thread_, address_of(p), Count * sizeof(T), "load_relaxed_words");
    for (int w = 0; w < Count; ++w) {
      to[w] = load_relaxed(p + w);
    }
  }
  template <class T>
  T load_acquire(const T* p) {
    static_assert(is_atomic<T>);
    const T value = load_as(p, "load_acquire", strength::strong);
    scheduler_->fence_acquire(*thread_);
    return value;
  }

  template <class T>
  void store(T* p, std::common_type_t<T> value) {
    store_as(p, value, "store", strength::weak);
  }
  template <class T>
  void store_relaxed(T* p, std::common_type_t<T> value) {
    static_assert(is_atomic<T>);
    store_as(p, value, "store_relaxed", strength::strong);
  }
  template <int Count, class T>
  void store_relaxed_words(T* p, const T* words) {
    scheduler_->expect_aligned(*thread_, address_of(p), Count * sizeof(T), "store_relaxed_words");
    for (int w = 0; w < Count; ++w) {
      store_relaxed(p + w, words[w]);
    }
  }

  template <class T>
  T atomic_add(T* p, std::common_type_t<T> value) {
    return atomic<T>(
        p, value, [](T old, T v) { return static_cast<T>(old + v); }, "atomic_add");
  }
  template <class T>
  T atomic_min(T* p, std::common_type_t<T> value) {
    return atomic<T>(
        p, value, [](T old, T v) { return std::min(old, v); }, "atomic_min");
  }
  template <class T>
  T atomic_max(T* p, std::common_type_t<T> value) {
    return atomic<T>(
        p, value, [](T old, T v) { return std::max(old, v); }, "atomic_max");
  }
  template <class T>
  T atomic_exchange(T* p, std::common_type_t<T> value) {
    return atomic<T>(
        p, value, [](T, T v) { return v; }, "atomic_exchange");
  }

  template <class T>
  void reduce_add(T* p, std::common_type_t<T> value) {
    static_assert(is_atomic<T>);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    scheduler_->reduce(*thread_, address_of(p), sizeof(T), bits, &add_to_bytes<T>);
  }

  template <class T>
  T load_shared(const T* p) {
    static_assert(is_atomic<T>);
    scheduler_->expect_shared(*thread_, address_of(p), sizeof(T), "load_shared");
    return load_as(p, "load_shared", strength::strong);
  }

  void fence() { scheduler_->fence(*thread_); }
  void fence_acquire() { scheduler_->fence_acquire(*thread_); }
  void fence_release() { scheduler_->fence_release(*thread_); }
  void fence_block() { scheduler_->fence_block(*thread_); }

  /// Among the devices of a cluster; see cluster.hpp. A store may go to symmetric memory of another device. A
  /// word that another device stores is polled with system scope.
  class system_flags {
   public:
    explicit system_flags(context& ctx) : ctx_(ctx) {}

    template <class T>
    T load_relaxed(const T* p) {
      static_assert(is_atomic<T>);
      return ctx_.load_as(p, "load_relaxed with system scope", strength::system);
    }
    template <int Count, class T>
    void load_relaxed_words(const T* p, T* to) {
      ctx_.scheduler_->expect_aligned(*ctx_.thread_, address_of(p), Count * sizeof(T),
                                      "load_relaxed_words with system scope");
      for (int w = 0; w < Count; ++w) {
        to[w] = load_relaxed(p + w);
      }
    }
    template <class T>
    T load_acquire(const T* p) {
      const T value = load_relaxed(p);
      ctx_.scheduler_->fence_acquire_system(*ctx_.thread_);
      return value;
    }
    template <class T>
    void store_relaxed(T* p, std::common_type_t<T> value) {
      static_assert(is_atomic<T>);
      ctx_.store_as(p, value, "store_relaxed with system scope", strength::system);
    }
    template <int Count, class T>
    void store_relaxed_words(T* p, const T* words) {
      ctx_.scheduler_->expect_aligned(*ctx_.thread_, address_of(p), Count * sizeof(T),
                                      "store_relaxed_words with system scope", true);
      for (int w = 0; w < Count; ++w) {
        store_relaxed(p + w, words[w]);
      }
    }
    /// Orders all earlier and later accesses.
    void fence() { ctx_.scheduler_->fence_system(*ctx_.thread_); }
    template <class T>
    void pause(const T* p) {
      ctx_.pause(p);
    }

   private:
    context& ctx_;
  };
  system_flags system_scope() { return system_flags(*this); }

  // Messages, one at a time from each thread. `to` and `signal` are addresses in symmetric buffers of the own
  // device and stand for those of device `to_device`; `from` is in the device's own memory, and is not
  // changed before the put is complete.
  void put(int to_device, void* to, const void* from, std::size_t bytes) {
    scheduler_->put(*thread_, to_device, address_of(to), address_of(from), bytes, 0, 0);
  }
  /// Stores `value` to *signal when the data has arrived.
  void put_signal(int to_device, void* to, const void* from, std::size_t bytes, std::uint64_t* signal,
                  std::uint64_t value) {
    scheduler_->put(*thread_, to_device, address_of(to), address_of(from), bytes, address_of(signal), value);
  }
  /// To each device, later puts of this thread arrive after the earlier ones. Also a fence of system scope.
  void order_puts() { scheduler_->order_puts(*thread_); }
  /// Waits until all puts of this thread have arrived. Also a fence of system scope.
  void complete_puts() { scheduler_->complete_puts(*thread_); }

  template <int Bytes>
  void copy_async(void* shared, const void* global) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
    scheduler_->copy_async(*thread_, shared, global, Bytes);
  }
  void commit_copies() { ++thread_->copy_groups; }
  template <int Pending>
  void wait_copies() {
    scheduler_->wait_copies(*thread_, Pending);
  }
  void begin_bulk(std::uint64_t* arrival) { scheduler_->begin_bulk(*thread_, arrival); }
  void end_bulk(std::uint64_t* arrival) { scheduler_->begin_bulk(*thread_, arrival); }
  void copy_bulk(void* shared, const void* global, int bytes, std::uint64_t* arrival, int lane) {
    scheduler_->copy_bulk(*thread_, shared, global, bytes, arrival, lane);
  }
  void wait_bulk(const std::uint64_t* arrival, bool odd) { scheduler_->wait_bulk(*thread_, arrival, odd); }

  int shared_address(const void* p) {
    return static_cast<int>(static_cast<const unsigned char*>(p) - thread_->owner->dynamic_shared.data());
  }
  template <class T>
  SPTRSV_UNINSTRUMENTED T load_shared_at(int address) {
    T value;
    scheduler_->load_shared_at(*thread_, address, sizeof(T), &value);
    return value;
  }
  template <class T>
  SPTRSV_UNINSTRUMENTED void store_shared_at(int address, T value) {
    scheduler_->store_shared_at(*thread_, address, sizeof(T), &value);
  }
  template <class... Addresses>
  void compute_now(Addresses...) {}

  template <class T>
  void pause(const T* p) {
    static_assert(sizeof(T) <= poll_lists::largest_poll);
    scheduler_->pause(*thread_, address_of(p), sizeof(T));
  }
  template <class T>
  void prefetch(const T*) {}
  void end_loop(std::uint64_t) {}
  template <class T>
  void spin(const T* p) {
    pause(p);
  }

 private:
  template <class T>
  static constexpr bool is_atomic = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

  template <class T>
  SPTRSV_UNINSTRUMENTED T load_as(const T* p, const char* what, strength how) {
    T value;
    scheduler_->load(*thread_, address_of(p), sizeof(T), word_of<T>(), &value, what, how);
    return value;
  }
  template <class T>
  SPTRSV_UNINSTRUMENTED void store_as(T* p, const T& value, const char* what, strength how) {
    scheduler_->store(*thread_, address_of(p), sizeof(T), word_of<T>(), &value, what, how);
  }
  /// Replaces the value by update(old, value).
  template <class T>
  SPTRSV_UNINSTRUMENTED T atomic(T* p, T value, T (*update)(T, T), const char* what) {
    static_assert(is_atomic<T>);
    struct operation {
      T value;
      T (*update)(T, T);
    };
    const operation to_do{value, update};
    T old;
    scheduler_->atomic(
        *thread_, address_of(p), sizeof(T), &old,
        [](unsigned char* bytes, const void* what_to_do) {
          const auto& apply = *static_cast<const operation*>(what_to_do);
          T now;
          std::memcpy(&now, bytes, sizeof(T));
          now = apply.update(now, apply.value);
          std::memcpy(bytes, &now, sizeof(T));
        },
        &to_do, what);
    return old;
  }

  scheduler* scheduler_;
  thread* thread_;
};

}  // namespace sptrsv::emulator
