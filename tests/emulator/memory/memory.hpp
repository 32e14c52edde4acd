// The emulator's device memory. Device addresses are in a range that is reserved but not accessible, so a
// kernel or an engine that dereferences one dies at once, as on a GPU. The bytes are stored elsewhere, with
// one byte of state for each. No address is used for two buffers, so stale pointers are always detected.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/fault.hpp"
#include "emulator/memory/direct_access.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv::emulator {

/// A device address as an integer.
using address_type = std::uintptr_t;

inline address_type address_of(const void* p) { return reinterpret_cast<address_type>(p); }

/// The state of one byte. `constant` and `written` refer to the current launch.
namespace shadow {
inline constexpr unsigned char initialised = 1;
inline constexpr unsigned char constant = 2;  // read by load_constant
inline constexpr unsigned char written = 4;
inline constexpr unsigned char remote = 8;  // written by another device
}  // namespace shadow

/// A buffer in device memory.
struct allocation {
  address_type base = 0;
  std::size_t size = 0;
  unsigned id = 0;
  const void* owner = nullptr;       // the device that it was allocated from
  unsigned symmetric = 0;            // the same number on each device of a cluster; 0: not symmetric
  std::vector<unsigned char> bytes;  // whole words of 8 bytes
  std::vector<unsigned char> state;
  bool touched = false;  // true: `state` has bits of the current launch

  [[nodiscard]] bool contains(address_type a) const { return a - base < size; }
  unsigned char* bytes_at(address_type a) { return bytes.data() + (a - base); }
  unsigned char* state_at(address_type a) { return state.data() + (a - base); }
};

inline std::string hex(address_type a) {
  std::ostringstream text;
  text << "0x" << std::hex << a;
  return text.str();
}

/// All buffers of all devices of the process.
class memory_space {
 public:
  static memory_space& instance();

  /// The mutex that a launch holds until it ends: all devices share the fibers of the process, so launches
  /// are serialised.
  std::recursive_mutex& mutex() { return mutex_; }

  void* allocate(std::size_t bytes, const void* owner) {
    const address_type base = reserve(bytes);
    allocation& a = live_[base];
    a.base = base;
    a.size = bytes;
    a.id = next_id_++;
    a.owner = owner;
    a.bytes.assign((bytes + 7) / 8 * 8, 0xa5);
    a.state.assign(bytes, 0);
    return reinterpret_cast<void*>(base);
  }

  void release(const void* p, std::size_t bytes) noexcept {
    const auto found = live_.find(address_of(p));
    if (found == live_.end() || found->second.size != bytes) {
      std::fprintf(stderr, "emulator: deallocate(%p, %zu): no such buffer\n", p, bytes);
      std::abort();
    }
    freed_[found->first] = {bytes, found->second.id};
    live_.erase(found);
    cache_.fill(nullptr);
  }

  /// Returns the buffer that contains `a`, or null.
  allocation* find(address_type a);

  /// Returns the buffer that contains [p, p + bytes). Otherwise throws `out_of_bounds` with a message that
  /// starts with `who`.
  allocation& checked(const void* p, std::size_t bytes, const std::string& who) {
    allocation* const a = find(address_of(p));
    if (a == nullptr || bytes > a->size - (address_of(p) - a->base)) {
      fail(address_of(p), bytes, who);
    }
    return *a;
  }

  [[noreturn]] void fail(address_type a, std::size_t bytes, const std::string& who) {
    std::string text = who + ": " + std::to_string(bytes) + " bytes at " + hex(a) + ": ";
    const auto freed = freed_.upper_bound(a);
    if (freed != freed_.begin()) {
      const auto& [base, grave] = *std::prev(freed);
      if (a - base < grave.size) {
        throw use_after_free(text + "offset " + std::to_string(a - base) + " of buffer #" +
                             std::to_string(grave.id) + ", which has been given back");
      }
    }
    throw out_of_bounds(text + describe(a));
  }

  /// Describes an address, for example "buffer #4 + 24 (of 64 bytes)". An address outside of all buffers is
  /// described relative to the nearest buffer below it.
  std::string describe(address_type a) {
    if (a == 0) {
      return "null";
    }
    if (a < lowest_ || a >= next_) {
      return "not a device address";
    }
    auto above = live_.upper_bound(a);
    if (above == live_.begin()) {
      return "in no buffer";
    }
    const allocation& below = std::prev(above)->second;
    const std::string name = "buffer #" + std::to_string(below.id);
    const std::string size = " (of " + std::to_string(below.size) + " bytes)";
    const std::string offset = std::to_string(a - below.base);
    if (below.contains(a)) {
      return name + " + " + offset + size;
    }
    return "in no buffer; the next one below is " + name + size + ", whose offset " + offset +
           " this would be";
  }

  [[nodiscard]] std::size_t live_bytes(const void* owner) const {
    std::size_t sum = 0;
    for (const auto& entry : live_) {
      sum += entry.second.owner == owner ? entry.second.size : 0;
    }
    return sum;
  }

  /// Returns the address on device `owner` that corresponds to `a`, in a symmetric buffer; 0 if there is
  /// none.
  [[nodiscard]] address_type symmetric_address(address_type a, const void* owner) {
    const allocation* const mine = find(a);
    for (const auto& [base, other] : live_) {
      if (mine != nullptr && mine->symmetric != 0 && other.symmetric == mine->symmetric &&
          other.owner == owner) {
        return base + (a - mine->base);
      }
    }
    return 0;
  }

  /// Clears the state bits of the launch that ends.
  static void end_launch(std::vector<allocation*>& touched);

 private:
  struct freed_range {
    std::size_t size;
    unsigned id;
  };

  memory_space() {
    direct_access_report::install([](address_type a) {
      const memory_space& space = instance();
      return space.lowest_ <= a && a < space.next_;
    });
  }

  /// Reserves a new range of addresses, aligned to 256 bytes, with a gap below it that detects small
  /// overruns.
  address_type reserve(std::size_t bytes) {
    constexpr std::size_t gap = 4096;
    if (bytes > (std::size_t{1} << 40)) {
      throw error(errc::out_of_memory, "emulator: a buffer of " + std::to_string(bytes) + " bytes");
    }
    if (next_ + bytes + 2 * gap > end_ || next_ == 0) {
      const std::size_t chunk = std::max<std::size_t>(std::size_t{1} << 34, bytes + 4 * gap);
      void* const range = mmap(nullptr, chunk, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (range == MAP_FAILED) {
        throw error(errc::out_of_memory,
                    "emulator: no address range for " + std::to_string(bytes) + " bytes");
      }
      next_ = address_of(range);
      end_ = next_ + chunk;
      lowest_ = lowest_ == 0 ? next_ : std::min(lowest_, next_);
    }
    const address_type base = (next_ + gap + 255) / 256 * 256;
    next_ = base + bytes;
    return base;
  }

  std::recursive_mutex mutex_;
  std::map<address_type, allocation> live_;
  std::map<address_type, freed_range> freed_;
  std::array<allocation*, 256> cache_{};  // by 4 KiB page of the address
  address_type next_ = 0, end_ = 0, lowest_ = 0;
  unsigned next_id_ = 0;
};

}  // namespace sptrsv::emulator
