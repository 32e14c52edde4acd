// Stale values of weak loads: the first-level cache of an SM is not coherent. A weak load caches a sector.
// Until an acquire or a fence later weak loads may be served from the cache, even if a relaxed load of the
// same or another address has seen a newer value.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emulator/memory/memory.hpp"

namespace sptrsv::emulator {

/// The cache of one block. Its clock is the number of changes to memory.
class stale_cache {
 public:
  static constexpr std::size_t sector_bytes = 32;

  void clear() {
    lines_.fill({});
    written_.reset();
  }

  /// Excludes words that the block itself writes: its threads read them in program order.
  void note_write(address_type a, std::size_t size) {
    for (address_type w = a >> 3; w <= (a + size - 1) >> 3; ++w) {
      written_.set(slot(w, written_.size()));
    }
  }

  /// Replaces bytes of `bytes`, a copy of [a, a + size) in one sector, by the cached values, if the sector
  /// was cached at time `since` or later.
  void overlay(address_type a, std::size_t size, std::uint64_t since, unsigned char* bytes) const {
    const line& l = lines_[slot(a / sector_bytes, lines_.size())];
    if (l.sector != a / sector_bytes || l.read_at < since) {
      return;
    }
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = (a + i) % sector_bytes;
      if ((l.valid >> at & 1u) != 0 && !written_.test(slot((a + i) >> 3, written_.size()))) {
        bytes[i] = l.bytes[at];
      }
    }
  }

  /// Caches the sector of `a` from its buffer, unless it was cached at time `since` or later.
  void fill(address_type a, allocation& from, std::uint64_t since, std::uint64_t now) {
    const address_type sector = a / sector_bytes;
    line& l = lines_[slot(sector, lines_.size())];
    if (l.sector == sector && l.read_at >= since) {
      return;
    }
    l.sector = sector;
    l.read_at = now;
    l.valid = 0;
    for (std::size_t i = 0; i < sector_bytes; ++i) {
      const address_type at = sector * sector_bytes + i;
      if (from.contains(at) && (*from.state_at(at) & shadow::initialised) != 0) {
        l.bytes[i] = *from.bytes_at(at);
        l.valid |= std::uint32_t{1} << i;
      }
    }
  }

 private:
  struct line {
    address_type sector = 0;
    std::uint64_t read_at = 0;
    std::uint32_t valid = 0;  // one bit per byte
    std::array<unsigned char, sector_bytes> bytes{};
  };

  static std::size_t slot(address_type a, std::size_t count) { return (a ^ (a >> 7)) % count; }

  std::array<line, 64> lines_;
  std::bitset<4096> written_;  // by a hash of the word; a collision only makes the emulator less adversarial
};

}  // namespace sptrsv::emulator
