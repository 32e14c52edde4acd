// An emulated device: its schedule, its counters and its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <string>

#include "emulator/memory/memory.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::emulator {

class cluster;

/// What waits on the stream of a device.
struct waiting_operation {
  std::function<void()> run;
  bool releases;  ///< whether it gives memory back, which it does also after an error
};

/// The order in which blocks start and threads run.
enum class schedule {
  in_order,  ///< blocks and threads in ascending order; a thread runs until it waits
  reverse,   ///< the same in descending order
  random     ///< blocks start in random order; any thread may be interrupted at any step
};

struct device_settings {
  schedule order = schedule::in_order;
  /// Seed of all random decisions; each launch derives a new sequence from it.
  std::uint64_t seed = 0;
  std::uint32_t resident_blocks = 0;  ///< number of blocks that run at the same time; 0: all
  std::uint32_t occupancy = 8;        ///< result of `executor::resident_blocks` if resident_blocks is 0
  double switch_probability = 0.1;    ///< per step, `random` only: switch to another thread
  /// Per step: one pending store becomes visible; 0: only when forced.
  double drain_probability = 0.1;
  /// Per switch, `random` only: one poller is woken without a write.
  double spurious_wake_probability = 0.2;
  /// Per weak or relaxed load, `random` only: return an old value, where the memory model permits it.
  double stale_probability = 0.5;
  int wake_rounds = 16;  ///< rounds in which all pollers are woken before a deadlock is reported
  std::uint64_t step_limit = 1'000'000'000;                            ///< steps per launch
  std::size_t shared_limit = 227 * 1024;                               ///< bytes of shared memory per block
  int thread_limit = 1024;                                             ///< threads per block
  std::size_t memory_limit = std::numeric_limits<std::size_t>::max();  ///< bytes of live buffers
  /// Called once a launch, when no thread can go on or before this step, as by a host thread. It may write to
  /// memory.
  std::function<void()> host_thread;
  std::uint64_t host_thread_step = std::numeric_limits<std::uint64_t>::max();
  bool check_initialised = true;  ///< throw `uninitialised_read` for such reads
  bool check_races = true;        ///< throw `data_race` for those in shared memory
};

/// The events on a device so far.
struct device_counters {
  std::uint64_t launches = 0;
  std::uint64_t steps = 0;     ///< memory operations that other threads may see, collectives and pauses
  std::uint64_t switches = 0;  ///< switches from one thread to another
  std::uint64_t allocations = 0;
  std::uint64_t synchronizations = 0;  ///< with uploads and downloads
  std::uint64_t downloaded_bytes = 0;
  std::uint64_t replays = 0;
};

/// An emulated device. Settings may be changed between launches. The device must outlive its buffers.
class device {
 public:
  explicit device(const device_settings& s = {}) : settings(s), memory_(*this) {}
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  ~device() {
    if (const std::size_t bytes = live_bytes(); bytes != 0) {
      std::fprintf(stderr, "emulator: a device ends with %zu bytes of live buffers\n", bytes);
    }
  }

  device_settings settings;
  device_counters counters;
  cluster* member_of = nullptr;  ///< null: the device is alone
  int rank = 0;                  ///< in the cluster
  /// A launch that runs together with other devices, and what was enqueued after it.
  std::deque<waiting_operation> waiting;
  /// How many calls of the executor that enqueue work succeed before one throws errc::cuda_error and enqueues
  /// nothing; less than 0: all succeed.
  std::int64_t calls_before_failure = -1;
  /// How many stores and puts to other devices arrive before all later ones are lost, as from a device that
  /// has failed; less than 0: all arrive.
  std::int64_t sends_before_failure = -1;
  bool capturing = false;  ///< true while the stream records a graph; tests set it in place of the user

  /// Counts a call that enqueues work.
  void count_call() {
    if (calls_before_failure >= 0 && calls_before_failure-- == 0) {
      throw error(errc::cuda_error, "emulator: the call fails as planned");
    }
  }

  /// Counts a store or a put to another device. Returns whether it is lost.
  bool loses_send() {
    if (sends_before_failure > 0) {
      --sends_before_failure;
      return false;
    }
    return sends_before_failure == 0;
  }

  [[nodiscard]] memory_resource& resource() { return memory_; }
  [[nodiscard]] bool is_clustered() const { return member_of != nullptr; }

  /// Returns the number of bytes allocated from `resource()` and not freed.
  [[nodiscard]] std::size_t live_bytes() const {
    memory_space& space = memory_space::instance();
    const std::lock_guard<std::recursive_mutex> lock(space.mutex());
    return space.live_bytes(this);
  }

 private:
  class device_memory final : public memory_resource {
   public:
    explicit device_memory(device& owner) : owner_(owner) {}

   private:
    void* do_allocate(std::size_t bytes, stream_handle) override {
      memory_space& space = memory_space::instance();
      const std::lock_guard<std::recursive_mutex> lock(space.mutex());
      if (owner_.capturing) {
        throw capture_violation("emulator: an allocation while the stream is capturing");
      }
      const std::size_t live = space.live_bytes(&owner_);
      if (bytes > owner_.settings.memory_limit || live > owner_.settings.memory_limit - bytes) {
        throw error(errc::out_of_memory, "emulator: " + std::to_string(bytes) + " bytes beside " +
                                             std::to_string(live) + " exceed the device's limit");
      }
      ++owner_.counters.allocations;
      return space.allocate(bytes, &owner_);
    }
    void do_deallocate(void* p, std::size_t bytes, stream_handle) noexcept override {
      const auto release = [p, bytes] {
        memory_space& space = memory_space::instance();
        const std::lock_guard<std::recursive_mutex> lock(space.mutex());
        space.release(p, bytes);
      };
      if (owner_.waiting.empty()) {
        release();
      } else {
        owner_.waiting.push_back({release, true});
      }
    }

    device& owner_;
  };

  device_memory memory_;
};

/// Returns the device that a null stream stands for. It has default settings and exists until the process
/// ends.
inline device& default_device() {
  static auto* const d = new device;
  return *d;
}

}  // namespace sptrsv::emulator
