// Translates an address of a kernel to the bytes that it refers to, or throws the error of the access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>

#include "emulator/thread.hpp"

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
inline std::string describe(const thread& t, address_type a) {
  const block& b = *t.owner;
  if (b.static_shared.contains(a)) {
    return "shared storage + " + std::to_string(a - address_of(b.static_shared.data()));
  }
  if (b.dynamic_shared.contains(a)) {
    return "dynamic shared memory + " + std::to_string(a - address_of(b.dynamic_shared.data()));
  }
  return memory_space::instance().describe(a);
}

/// Returns the bytes [a, a + size), which `t` accesses in words of `word` bytes. `what` is the name of the
/// operation for error messages.
inline region resolve(const thread& t, address_type a, std::size_t size, std::size_t word, const char* what) {
  if (a % word != 0) {
    throw misaligned_access(name_of(t) + ": " + what + " of " + std::to_string(word) + " bytes at " + hex(a) +
                            " (" + describe(t, a) + ")");
  }
  for (const shared_region* shared : {&t.owner->static_shared, &t.owner->dynamic_shared}) {
    if (shared->contains(a) && size <= shared->size() - (a - address_of(shared->data()))) {
      return {reinterpret_cast<unsigned char*>(a), nullptr, nullptr};
    }
  }
  memory_space& space = memory_space::instance();
  allocation* const buffer = space.find(a);
  if (buffer == nullptr || size > buffer->size - (a - buffer->base)) {
    space.fail(a, size, name_of(t) + ": " + what);
  }
  return {buffer->bytes_at(a), buffer->state_at(a), buffer};
}

[[noreturn]] inline void fail_uninitialised(const thread& t, address_type a, std::size_t size,
                                            const char* what) {
  throw uninitialised_read(name_of(t) + ": " + what + " of " + std::to_string(size) + " bytes at " + hex(a) +
                           " (" + describe(t, a) + "), which nobody has written");
}

/// Returns the bytes at `a` as other blocks see them, as text for messages.
inline std::string bytes_text(const thread& t, address_type a, std::size_t size) {
  const region r = resolve(t, a, size, 1, "report");
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (std::size_t i = 0; i < size; ++i) {
    text << (i == 0 ? "" : " ") << std::setw(2) << static_cast<unsigned>(r.bytes[i]);
  }
  return text.str();
}

}  // namespace sptrsv::emulator
