// A launch that runs, and the operations that a device of a cluster still has before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/device.hpp"
#include "emulator/thread.hpp"

namespace sptrsv::emulator {

class scheduler;

/// A kernel with its types erased.
struct kernel {
  const char* name = "";  // of its agent, as typeid gives it
  std::uint32_t blocks = 0;
  int threads = 0;
  int most_threads = 0;  // that a block may have
  std::size_t static_bytes = 0;
  std::size_t dynamic_bytes = 0;
  const void* params = nullptr;
  std::size_t params_bytes = 0;
  void (*body)(scheduler&, thread&, const kernel&) = nullptr;
};

/// A launch that runs on a device.
struct grid {
  device* where = nullptr;
  int rank = 0;              // of the device among those that run together
  std::uint32_t number = 0;  // different for all launches that run together
  kernel what;
  bool checks_races = false;
  std::uint32_t resident_limit = 0;  // number of blocks that run at the same time; 0: all
  std::uint64_t begun_at = 0;        // number of changes to memory at its start
  std::vector<std::uint32_t> block_order;
  std::uint32_t next_block = 0;
  std::vector<std::unique_ptr<block>> resident;
  std::vector<std::unique_ptr<block>> spare;
  store_buffer released;  // stores to other devices that are ordered on this device only
  store_buffer retired;   // stores of blocks that have ended

  [[nodiscard]] bool can_start() const {
    return next_block < what.blocks && (resident_limit == 0 || resident.size() < resident_limit);
  }
  [[nodiscard]] bool has_ended() const { return next_block == what.blocks && resident.empty(); }
};

/// What one device does while several run together: what waits on its stream, one after the other.
struct device_run {
  device* where = nullptr;
  std::uint64_t speed = 1;        // how often its threads are chosen, relative to those of the other devices
  std::function<void()> current;  // the operation that runs; it owns the parameters of the kernel
  std::unique_ptr<grid> running;
};

/// Returns where a thread runs, for messages.
inline std::string name_of(const thread& t) {
  const block& b = *t.owner;
  return (b.of->where->is_clustered() ? "device " + std::to_string(b.of->rank) + ", " : std::string()) +
         "block " + std::to_string(b.rank) + ", thread " + std::to_string(t.rank);
}

}  // namespace sptrsv::emulator
