// Translates an address of a kernel to the bytes that it refers to, or throws the error of the access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "emulator/grid.hpp"

namespace sptrsv::emulator {

namespace shadow {

/// The value 1 in each of 8 bytes.
inline constexpr std::uint64_t of_all = 0x0101010101010101;

inline std::uint64_t word_of(const unsigned char* state) {
  std::uint64_t word;
  std::memcpy(&word, state, sizeof(word));
  return word;
}

inline bool all_have(const unsigned char* state, std::size_t size, unsigned char bit) {
  if (size == 8) {
    return (word_of(state) & of_all * bit) == of_all * bit;
  }
  unsigned char common = bit;
  for (std::size_t i = 0; i < size; ++i) {
    common &= state[i];
  }
  return common == bit;
}
inline bool any_has(const unsigned char* state, std::size_t size, unsigned char bit) {
  if (size == 8) {
    return (word_of(state) & of_all * bit) != 0;
  }
  unsigned char found = 0;
  for (std::size_t i = 0; i < size; ++i) {
    found |= state[i];
  }
  return (found & bit) != 0;
}
inline void mark(unsigned char* state, std::size_t size, unsigned char bits) {
  if (size == 8) {
    const std::uint64_t word = word_of(state) | of_all * bits;
    std::memcpy(state, &word, sizeof(word));
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    state[i] |= bits;
  }
}

}  // namespace shadow

/// Bytes that a kernel may access, with their state.
struct region {
  unsigned char* bytes;
  unsigned char* state;  // null for shared memory
  allocation* buffer;    // null for shared memory
};

/// Describes an address, for example "buffer #4 + 24 (of 64 bytes)", also in shared memory.
std::string describe(const thread& t, address_type a);

/// Returns the bytes [a, a + size), which `t` accesses in words of `word` bytes. `what` is the name of the
/// operation for error messages. Memory of another device is refused unless `allows_remote`; then it must be
/// symmetric.
region resolve(const thread& t, address_type a, std::size_t size, std::size_t word, const char* what,
               bool allows_remote = false);

/// Returns whether the bytes are memory of another device than that of `t`, which is in a cluster.
inline bool is_remote(const thread& t, const region& r) {
  const device* const mine = t.owner->of->where;
  return mine->is_clustered() && r.buffer != nullptr && r.buffer->owner != mine;
}

[[noreturn]] void fail_uninitialised(const thread& t, address_type a, std::size_t size, const char* what);

/// Returns the bytes at `a` as other blocks see them, as text for messages.
std::string bytes_text(const thread& t, address_type a, std::size_t size);

}  // namespace sptrsv::emulator
