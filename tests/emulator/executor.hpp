// The executor of the emulator; sptrsv/detail/simt/executor.hpp documents the interface. Every call is
// complete when it returns, but for launch_together and what is enqueued after it.
//
// Device addresses cannot be dereferenced, neither by host code nor by a kernel. Use the executor (upload,
// download, copy, fill_bytes) or the context. Calls from several host threads are serialised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "emulator/cluster.hpp"
#include "emulator/context.hpp"
#include "sptrsv/detail/simt/executor.hpp"
#include "sptrsv/host/executor.hpp"

namespace sptrsv::emulator {

/// The operations that were enqueued while the graph was recorded.
class graph {
 public:
  graph() = default;
  graph(graph&&) = default;
  graph& operator=(graph&&) = default;

  [[nodiscard]] std::size_t size() const { return operations_.size(); }

 private:
  friend class executor;
  std::vector<std::function<void()>> operations_;
};

class executor {
 public:
  using stream_type = device*;  ///< null: `default_device()`
  using graph_type = graph;
  static constexpr bool has_arenas = false;  // the emulator checks the bounds of each array

  executor(stream_type stream = nullptr) : device_(stream != nullptr ? stream : &default_device()) {}

  [[nodiscard]] stream_handle stream() const { return nullptr; }
  [[nodiscard]] memory_resource& default_resource() const { return device_->resource(); }
  [[nodiscard]] static std::string device_name() { return "emulator"; }
  [[nodiscard]] static bool can_access(const void* p) {
    const guard lock(space().mutex());
    return space().find(address_of(p)) != nullptr;
  }
  [[nodiscard]] bool is_capturing() const { return device_->capturing; }

  template <class Agent>
  void launch(std::uint32_t blocks, const typename Agent::params& params,
              std::size_t dynamic_shared_bytes = 0, int threads = Agent::block_threads) const {
    static_assert(std::is_trivially_copyable_v<typename Agent::params>);
    static_assert(std::is_trivial_v<typename Agent::shared_storage>, "nobody constructs it");
    static_assert(alignof(typename Agent::shared_storage) <= 128);
    check_launch<Agent>(blocks, dynamic_shared_bytes, threads);
    enqueue(launch_of<Agent>(blocks, params, dynamic_shared_bytes, threads));
  }

  /// The same in a cluster, for a kernel that waits for kernels of the other devices. It and what is enqueued
  /// after it run when the host threads of all devices wait or have ended; other launches run at once.
  template <class Agent>
  void launch_together(std::uint32_t blocks, const typename Agent::params& params,
                       std::size_t dynamic_shared_bytes = 0, int threads = Agent::block_threads) const {
    check_launch<Agent>(blocks, dynamic_shared_bytes, threads);
    refuse_capture("launch_together");
    if (!device_->is_clustered()) {
      throw launch_failure("emulator: launch_together on a device that is in no cluster");
    }
    device_->waiting.push_back({launch_of<Agent>(blocks, params, dynamic_shared_bytes, threads), false});
  }

  template <class Agent>
  [[nodiscard]] std::uint32_t resident_blocks(std::size_t dynamic_shared_bytes = 0,
                                              int threads = Agent::block_threads) const {
    check_launch<Agent>(1, dynamic_shared_bytes, threads);
    const device_settings& s = device_->settings;
    return s.resident_blocks != 0 ? s.resident_blocks : s.occupancy;
  }

  [[nodiscard]] std::size_t shared_limit() const { return device_->settings.shared_limit; }

  void fill_bytes(void* p, unsigned char value, std::size_t bytes) const {
    enqueue([=] {
      const guard lock(space().mutex());
      if (bytes != 0) {
        std::memset(writable(p, bytes, "fill_bytes"), value, bytes);
      }
    });
  }
  /// Copies bytes together with their state: bytes that were not written count as not written in the copy.
  void copy(void* to, const void* from, std::size_t bytes) const {
    enqueue([=] {
      const guard lock(space().mutex());
      if (bytes == 0) {
        return;
      }
      allocation& source = space().checked(from, bytes, "copy from");
      allocation& target = space().checked(to, bytes, "copy to");
      const address_type a = address_of(from);
      const address_type b = address_of(to);
      std::memmove(target.bytes_at(b), source.bytes_at(a), bytes);
      std::memmove(target.state_at(b), source.state_at(a), bytes);
    });
  }
  void upload(void* to, const void* host, std::size_t bytes) const {
    synchronize("upload");
    const guard lock(space().mutex());
    if (bytes != 0) {
      refuse_device_address(host, "upload");
      std::memcpy(writable(to, bytes, "upload"), host, bytes);
    }
  }
  void download(void* host, const void* from, std::size_t bytes) const {
    synchronize("download");
    const guard lock(space().mutex());
    if (bytes != 0) {
      refuse_device_address(host, "download");
      device_->counters.downloaded_bytes += bytes;
      std::memcpy(host, readable(from, bytes, "download"), bytes);
    }
  }
  void synchronize() const { synchronize("synchronize"); }

  template <class T>
  void exclusive_scan(const T* in, T* out, std::int64_t count, memory_resource&) const;
  template <class Key, class T>
  void sort_pairs(const Key* keys_in, Key* keys_out, const T* values_in, T* values_out, std::int64_t count,
                  int key_bits, memory_resource&) const;
  template <class Key, class T>
  void sort_pairs_in_place(buffer<Key>& keys, buffer<Key>& other_keys, buffer<T>& values,
                           buffer<T>& other_values, int key_bits, memory_resource&) const;

  /// Records what `enqueue` enqueues on the executor that it is given, without running it. Calls that
  /// synchronise or allocate throw.
  template <class Enqueue>
  graph_type record(Enqueue&& enqueue) const {
    refuse_capture("record");
    const struct capture {
      explicit capture(device& d) : device_(d) { d.capturing = true; }
      ~capture() { device_.capturing = false; }
      device& device_;
    } capture(*device_);
    graph recorded;
    executor recorder(*this);
    recorder.recording_ = &recorded;
    std::forward<Enqueue>(enqueue)(std::as_const(recorder));
    return recorded;
  }
  void replay(graph_type& g) const {
    finish_waiting();
    const guard lock(space().mutex());
    refuse_capture("replay");
    ++device_->counters.replays;
    for (const auto& operation : g.operations_) {
      operation();
    }
  }

 private:
  using guard = std::lock_guard<std::recursive_mutex>;

  static memory_space& space() { return memory_space::instance(); }

  template <class Operation>
  void enqueue(Operation&& operation) const {
    if (recording_ != nullptr) {
      recording_->operations_.emplace_back(std::forward<Operation>(operation));
    } else if (!device_->waiting.empty()) {
      device_->waiting.push_back({std::forward<Operation>(operation), false});
    } else {
      operation();
    }
  }
  /// Waits for what waits on the stream.
  void finish_waiting() const {
    if (!device_->waiting.empty()) {
      device_->member_of->synchronize(device_->rank);
    }
  }

  /// Returns a function that launches a kernel.
  template <class Agent>
  [[nodiscard]] auto launch_of(std::uint32_t blocks, const typename Agent::params& params,
                               std::size_t dynamic_shared_bytes, int threads) const {
    return [to = device_, blocks, params, dynamic_shared_bytes, threads] {
      kernel k;
      k.name = typeid(Agent).name();
      k.blocks = blocks;
      k.threads = threads;
      k.static_bytes = static_bytes<Agent>();
      k.dynamic_bytes = dynamic_shared_bytes;
      k.params = &params;
      k.body = [](scheduler& s, thread& t, const kernel& self) {
        context ctx(s, t);
        auto& shared = *reinterpret_cast<typename Agent::shared_storage*>(t.owner->static_shared.data());
        Agent::run(ctx, shared, *static_cast<const typename Agent::params*>(self.params));
      };
      const guard lock(space().mutex());
      scheduler::launch(*to, k);
    };
  }

  template <class Agent>
  static constexpr std::size_t static_bytes() {
    return std::is_empty_v<typename Agent::shared_storage> ? 0 : sizeof(typename Agent::shared_storage);
  }

  template <class Agent>
  void check_launch(std::uint32_t blocks, std::size_t dynamic_shared_bytes, int threads) const {
    static_assert(Agent::block_threads > 0);
    const device_settings& s = device_->settings;
    const std::size_t shared = static_bytes<Agent>() + dynamic_shared_bytes;
    const std::string text = "emulator: a launch ";
    if (blocks == 0) {
      throw launch_failure(text + "of no blocks");
    }
    const int max_threads = std::min(Agent::block_threads, s.thread_limit);
    if (threads <= 0 || threads > max_threads || (threads != Agent::block_threads && threads % 32 != 0)) {
      throw launch_failure(text + "with " + std::to_string(threads) + " threads per block, of at most " +
                           std::to_string(max_threads));
    }
    if (shared > s.shared_limit) {
      throw launch_failure(text + "with " + std::to_string(shared) +
                           " bytes of shared memory per block, of at most " + std::to_string(s.shared_limit));
    }
  }

  void refuse_capture(const char* what) const {
    if (is_capturing()) {
      throw capture_violation(std::string("emulator: ") + what + " while the stream is capturing");
    }
  }
  void synchronize(const char* what) const {
    finish_waiting();
    const guard lock(space().mutex());
    refuse_capture(what);
    ++device_->counters.synchronizations;
  }
  static void refuse_device_address(const void* host, const char* what) {
    if (space().find(address_of(host)) != nullptr) {
      throw out_of_bounds(std::string(what) + ": " + hex(address_of(host)) +
                          " is a device address where a host address is needed");
    }
  }

  static unsigned char* writable(const void* p, std::size_t bytes, const char* what) {
    allocation& a = space().checked(p, bytes, what);
    std::memset(a.state_at(address_of(p)), shadow::initialised, bytes);
    return a.bytes_at(address_of(p));
  }
  const unsigned char* readable(const void* p, std::size_t bytes, const char* what) const {
    allocation& a = space().checked(p, bytes, what);
    const unsigned char* const state = a.state_at(address_of(p));
    for (std::size_t i = 0; i < bytes && device_->settings.check_initialised; ++i) {
      if ((state[i] & shadow::initialised) == 0) {
        throw uninitialised_read(std::string(what) + ": " + space().describe(address_of(p) + i) +
                                 " has not been written");
      }
    }
    return a.bytes_at(address_of(p));
  }
  template <class T>
  [[nodiscard]] std::vector<T> read_all(const T* p, std::size_t count, const char* what) const {
    std::vector<T> values(count);
    if (count != 0) {
      std::memcpy(values.data(), readable(p, count * sizeof(T), what), count * sizeof(T));
    }
    return values;
  }
  template <class T>
  static void write_all(T* p, const std::vector<T>& values, const char* what) {
    if (!values.empty()) {
      std::memcpy(writable(p, values.size() * sizeof(T), what), values.data(), values.size() * sizeof(T));
    }
  }

  device* device_;
  graph* recording_ = nullptr;
};

template <class T>
void executor::exclusive_scan(const T* in, T* out, std::int64_t count, memory_resource&) const {
  refuse_capture("exclusive_scan");
  finish_waiting();
  const guard lock(space().mutex());
  std::vector<T> values = read_all(in, static_cast<std::size_t>(count), "exclusive_scan");
  std::exclusive_scan(values.begin(), values.end(), values.begin(), T{});
  write_all(out, values, "exclusive_scan");
}

template <class Key, class T>
void executor::sort_pairs(const Key* keys_in, Key* keys_out, const T* values_in, T* values_out,
                          std::int64_t count, int key_bits, memory_resource& resource) const {
  static_assert(std::is_unsigned_v<Key>);
  refuse_capture("sort_pairs");
  finish_waiting();
  // CUB takes memory for one more copy of keys and values.
  const buffer<Key> further_keys(static_cast<std::size_t>(count), resource, stream());
  const buffer<T> further_values(static_cast<std::size_t>(count), resource, stream());
  const guard lock(space().mutex());
  const auto size = static_cast<std::size_t>(count);
  const std::vector<Key> keys = read_all(keys_in, size, "sort_pairs");
  const std::vector<T> values = read_all(values_in, size, "sort_pairs");
  const Key mask = key_bits >= static_cast<int>(8 * sizeof(Key)) ? static_cast<Key>(~Key{0})
                                                                 : static_cast<Key>((Key{1} << key_bits) - 1);
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return (keys[a] & mask) < (keys[b] & mask); });
  std::vector<Key> sorted_keys(size);
  std::vector<T> sorted_values(size);
  for (std::size_t i = 0; i < size; ++i) {
    sorted_keys[i] = keys[order[i]];
    sorted_values[i] = values[order[i]];
  }
  write_all(keys_out, sorted_keys, "sort_pairs");
  write_all(values_out, sorted_values, "sort_pairs");
}

template <class Key, class T>
void executor::sort_pairs_in_place(buffer<Key>& keys, buffer<Key>& other_keys, buffer<T>& values,
                                   buffer<T>& other_values, int key_bits, memory_resource&) const {
  // The emulated sort reads everything before it writes. Like a radix sort, it leaves the result where an odd
  // or even number of passes has left it.
  host_memory_resource host;
  const bool in_others = (key_bits + 7) / 8 % 2 != 0;
  sort_pairs(keys.data(), (in_others ? other_keys : keys).data(), values.data(),
             (in_others ? other_values : values).data(), static_cast<std::int64_t>(keys.size()), key_bits,
             host);
  if (in_others) {
    keys.swap(other_keys);
    values.swap(other_values);
  }
}

}  // namespace sptrsv::emulator

namespace sptrsv::detail {

template <>
struct executor_for<emulator::device*> {
  using type = emulator::executor;
};

}  // namespace sptrsv::detail
