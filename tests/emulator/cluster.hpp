// Several emulated devices that run together, as the GPUs of one computer do. Each has its own memory, its
// own stream and a host thread of its own. Their kernels run at different speeds; a message from one device
// to another arrives late.
//
// A kernel may reach the memory of another device in two ways:
//
//   system_scope           a store to the address of a symmetric buffer of another device
//   put, put_signal        a message to the buffer that corresponds to one of the own device
//
// Each word becomes visible by itself, late and in any order. Stores to one word stay in order. What orders
// the rest is, for stores, the fence of system scope; for puts of one thread to one device, order_puts and
// complete_puts. The signal of a put is visible after its data.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/device.hpp"

namespace sptrsv::emulator {

class cluster {
 public:
  /// All devices have the same settings. Those of one may be changed where nothing runs; but for
  /// resident_blocks and limits, the settings of device 0 hold for all while they run together.
  explicit cluster(int devices, const device_settings& settings = {});
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(devices_.size()); }
  [[nodiscard]] device& at(int rank) { return *devices_[static_cast<std::size_t>(rank)]; }

  /// Calls body(rank) for each device on a host thread, and waits for all. Rethrows the first exception.
  /// After it host threads that wait for the one that has thrown it get a `launch_failure`.
  void run(const std::function<void(int rank)>& body);

  /// Waits until all host threads have called it.
  void meet(int rank) { wait(rank, host_state::meets); }
  /// Waits until the stream of a device has done all that was enqueued.
  void synchronize(int rank) { wait(rank, host_state::synchronizes); }

  /// Makes a buffer of a device symmetric: the i-th buffers of all devices correspond to each other. They
  /// have the same size, and nothing runs when one is freed.
  void make_symmetric(int rank, const void* p, std::size_t bytes);

 private:
  enum class host_state { runs, synchronizes, meets, left };

  void wait(int rank, host_state state);
  void leave(int rank);
  void progress();
  void run_streams();
  void release_all(host_state those, const std::exception_ptr& error);
  [[nodiscard]] bool any(host_state state) const;

  struct symmetric_buffers {
    std::size_t bytes;
    std::vector<bool> of_rank;
  };

  std::vector<std::unique_ptr<device>> devices_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<host_state> states_;
  std::vector<std::exception_ptr> errors_;  // by rank: for the host thread that waits
  std::exception_ptr first_error_;
  std::vector<symmetric_buffers> symmetric_;
};

}  // namespace sptrsv::emulator
