// The executor of the emulator; sptrsv/detail/simt/simt_executor.hpp documents the interface. Every call is
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
#include "sptrsv/detail/simt/simt_executor.hpp"
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
  [[nodiscard]] static std::string why_unreachable(const void* p);
  [[nodiscard]] bool is_capturing() const { return device_->capturing; }

  template <class Agent>
  void launch(std::uint32_t blocks, const typename Agent::params& params,
              std::size_t dynamic_shared_bytes = 0, int threads = Agent::block_threads) const {
    launch_kernel(kernel_of<Agent>(blocks, &params, dynamic_shared_bytes, threads));
  }

  /// The same in a cluster, for a kernel that waits for kernels of the other devices. It and what is enqueued
  /// after it run when the host threads of all devices wait or have ended; other launches run at once.
  template <class Agent>
  void launch_together(std::uint32_t blocks, const typename Agent::params& params,
                       std::size_t dynamic_shared_bytes = 0, int threads = Agent::block_threads) const {
    launch_kernel_together(kernel_of<Agent>(blocks, &params, dynamic_shared_bytes, threads));
  }

  template <class Agent>
  void run_beside_others() const {}

  template <class Agent>
  [[nodiscard]] std::uint32_t resident_blocks(std::size_t dynamic_shared_bytes = 0,
                                              int threads = Agent::block_threads) const {
    check_launch(kernel_of<Agent>(1, nullptr, dynamic_shared_bytes, threads));
    const device_settings& s = device_->settings;
    return s.resident_blocks != 0 ? s.resident_blocks : s.occupancy;
  }

  [[nodiscard]] std::size_t shared_limit() const { return device_->settings.shared_limit; }

  void fill_bytes(void* p, unsigned char value, std::size_t bytes) const;
  /// Copies bytes together with their state: bytes that were not written count as not written in the copy.
  void copy(void* to, const void* from, std::size_t bytes) const;
  void upload(void* to, const void* host, std::size_t bytes) const;
  void begin_upload(void* to, const void* host, std::size_t bytes) const { upload(to, host, bytes); }
  void download(void* host, const void* from, std::size_t bytes) const;
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
  void replay(graph_type& g) const;

 private:
  using guard = std::lock_guard<std::recursive_mutex>;

  static memory_space& space() { return memory_space::instance(); }

  /// Describes a launch. What follows is the same for all kernels, and compiled once.
  template <class Agent>
  [[nodiscard]] static kernel kernel_of(std::uint32_t blocks, const typename Agent::params* params,
                                        std::size_t dynamic_shared_bytes, int threads) {
    using storage = typename Agent::shared_storage;
    using parameters = typename Agent::params;
    static_assert(Agent::block_threads > 0);
    static_assert(std::is_trivially_copyable_v<parameters>);
    static_assert(alignof(parameters) <= alignof(std::max_align_t));
    static_assert(std::is_trivial_v<storage>, "nobody constructs it");
    static_assert(alignof(storage) <= 128);
    kernel k;
    k.name = typeid(Agent).name();
    k.blocks = blocks;
    k.threads = threads;
    k.most_threads = Agent::block_threads;
    k.static_bytes = std::is_empty_v<storage> ? 0 : sizeof(storage);
    k.dynamic_bytes = dynamic_shared_bytes;
    k.params = params;
    k.params_bytes = sizeof(parameters);
    k.body = [](scheduler& s, thread& t, const kernel& self) {
      context ctx(s, t);
      auto& shared = *reinterpret_cast<storage*>(t.owner->static_shared.data());
      Agent::run(ctx, shared, *static_cast<const parameters*>(self.params));
    };
    return k;
  }
  void launch_kernel(const kernel& k) const;
  void launch_kernel_together(const kernel& k) const;
  void check_launch(const kernel& k) const;
  /// Returns a function that launches a kernel with a copy of its parameters.
  [[nodiscard]] std::function<void()> later_launch(const kernel& k) const;

  [[nodiscard]] bool runs_at_once() const { return recording_ == nullptr && device_->waiting.empty(); }
  /// Runs an operation, or has it wait or recorded.
  void enqueue(std::function<void()> operation) const;
  /// Waits for what waits on the stream.
  void count_call() const;
  void finish_waiting() const;
  void refuse_capture(const char* what) const;
  void synchronize(const char* what) const;
  static void refuse_device_address(const void* host, const char* what);

  static unsigned char* writable(const void* p, std::size_t bytes, const char* what);
  const unsigned char* readable(const void* p, std::size_t bytes, const char* what) const;
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

namespace sptrsv::SPTRSV_ABI::detail {

template <>
struct executor_for<emulator::device*> {
  using type = emulator::executor;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
