// Stores that were issued and are not visible yet: the stores of one thread, not visible to other threads,
// and the stores of one block (after a barrier), not visible to other blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/memory/history.hpp"

namespace sptrsv::emulator {

/// A store of at most 8 bytes within one aligned 8-byte word. Larger values are several of these.
struct pending_store {
  address_type address;
  unsigned char* target;
  unsigned char* state;  // state of the bytes (shadow); null for shared memory
  std::uint64_t bits;
  std::uint32_t size;
  version_writer writer;
  /// If not null, `bits` is added to the value at `bytes`, which has the same type, instead of replacing it.
  void (*combine)(unsigned char* bytes, std::uint64_t bits) = nullptr;

  [[nodiscard]] address_type word() const { return address >> 3; }
};

/// Adds a T to a T; a function for `combine`.
template <class T>
void add_to_bytes(unsigned char* bytes, std::uint64_t bits) {
  T sum;
  T term;
  std::memcpy(&sum, bytes, sizeof(T));
  std::memcpy(&term, &bits, sizeof(T));
  sum = static_cast<T>(sum + term);
  std::memcpy(bytes, &sum, sizeof(T));
}

/// Pending stores in order of age. Stores to the same word become visible in this order, others in any order.
/// `commit` makes one store visible.
class store_buffer {
 public:
  static constexpr std::size_t unlisted = static_cast<std::size_t>(-1);

  std::size_t slot = unlisted;    // index in the memory model's list of non-empty buffers
  store_buffer* older = nullptr;  // a buffer whose stores precede all of these; it may have such a one, too

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const std::vector<pending_store>& entries() const { return entries_; }

  void push(const pending_store& s) {
    entries_.push_back(s);
    const std::size_t bit = filter_bit(s.word());
    filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  void clear() {
    entries_.clear();
    filter_.fill(0);
  }

  /// Returns false if no entry is in the words of [address, address + size).
  [[nodiscard]] bool may_hold(address_type address, std::size_t size) const {
    if (entries_.empty()) {
      return false;
    }
    for (address_type w = address >> 3; w <= (address + size - 1) >> 3; ++w) {
      const std::size_t bit = filter_bit(w);
      if ((filter_[bit / 64] >> (bit % 64) & 1u) != 0) {
        return true;
      }
    }
    return false;
  }

  /// Applies the entries to `bytes`, a copy of [address, address + size). Sets covered[i] to 1 for the bytes
  /// replaced.
  void overlay(address_type address, std::size_t size, unsigned char* bytes, unsigned char* covered) const {
    if (!may_hold(address, size)) {
      return;
    }
    for (const pending_store& s : entries_) {
      if (s.address + s.size <= address || address + size <= s.address) {
        continue;
      }
      if (s.combine != nullptr) {  // a load sees the complete sum
        s.combine(bytes + (s.address - address), s.bits);
        continue;
      }
      const auto* const value = reinterpret_cast<const unsigned char*>(&s.bits);
      for (std::size_t i = 0; i < s.size; ++i) {
        const std::size_t at = s.address + i - address;  // wraps below `address`
        if (at < size) {
          bytes[at] = value[i];
          covered[at] = 1;
        }
      }
    }
  }

  /// Commits the oldest entry in the word of entry `i`.
  template <class Commit>
  void drain_at(std::size_t i, Commit&& commit) {
    const address_type word = entries_[i].word();
    const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                     [&](const pending_store& s) { return s.word() == word; });
    const pending_store s = *oldest;
    entries_.erase(oldest);
    if (entries_.empty()) {
      filter_.fill(0);
    }
    commit(s);
  }
  /// Commits the `count` oldest entries; there must be more than `count`.
  template <class Commit>
  void drain_oldest(std::size_t count, Commit&& commit) {
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(count);
    std::for_each(entries_.begin(), end, commit);
    entries_.erase(entries_.begin(), end);
  }
  template <class Commit>
  void drain_word(address_type word, Commit&& commit) {
    if (!may_hold(word << 3, 1)) {
      return;
    }
    const auto in_word = [&](const pending_store& s) { return s.word() == word; };
    for (const pending_store& s : entries_) {
      if (in_word(s)) {
        commit(s);
      }
    }
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), in_word), entries_.end());
    if (entries_.empty()) {
      filter_.fill(0);
    }
  }
  template <class Commit>
  void drain_all(Commit&& commit) {
    for (const pending_store& s : entries_) {
      commit(s);
    }
    clear();
  }

 private:
  static std::size_t filter_bit(address_type word) { return (word ^ (word >> 9)) % 512; }

  std::vector<pending_store> entries_;
  std::array<std::uint64_t, 8> filter_{};
};

}  // namespace sptrsv::emulator
