// The targets on which a suite runs: the host, the emulator (emulator_target.hpp), the GPU (gpu_target.cuh).
// They have the same interface, so that a test has one source:
//
//   static constexpr bool is_slow;           // whether a suite should choose few of its combinations
//   target::stream_type stream();            // what analyze and solve take
//   executor on();
//   memory_resource& resource();             // what allocates device memory
//   auto upload(const std::vector<T>&);      // an array with data() and size(), in the target's memory
//   std::vector<T> download(const array&);   // ordered after everything on stream()
//   auto upload(csr_, csc_ or bsr_matrix);   // an owning matrix there
//   void overwrite(array&, const std::vector<T>&);
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::testing {

class host_target {
 public:
  static constexpr const char* name = "host";
  static constexpr bool is_slow = false;
  using stream_type = host_stream;
  using executor = detail::host_executor;
  template <class T>
  using array = std::vector<T>;

  [[nodiscard]] stream_type stream() { return {}; }
  [[nodiscard]] executor on() { return executor{}; }
  [[nodiscard]] memory_resource& resource() { return on().default_resource(); }

  template <class T>
  array<T> upload(const std::vector<T>& values) {
    return values;
  }
  template <class T>
  std::vector<T> download(const array<T>& values) {
    return values;
  }
  template <class V, class I, class O>
  csr_matrix<V, I, O> upload(const csr_matrix<V, I, O>& a) {
    return a;
  }
  template <class V, class I, class O>
  csc_matrix<V, I, O> upload(const csc_matrix<V, I, O>& a) {
    return a;
  }
  template <class V, class I, class O>
  bsr_matrix<V, I, O> upload(const bsr_matrix<V, I, O>& a) {
    return a;
  }
  template <class T>
  void overwrite(array<T>& to, const std::vector<T>& values) {
    std::copy(values.begin(), values.end(), to.begin());
  }
};

/// The base of the targets with device memory.
template <class Stream>
class device_target {
 public:
  using stream_type = Stream;
  using executor = detail::executor_t<Stream>;
  template <class T>
  using array = buffer<T>;

  explicit device_target(Stream stream) : stream_(stream) {}

  [[nodiscard]] stream_type stream() const { return stream_; }
  [[nodiscard]] executor on() const { return executor(stream_); }
  [[nodiscard]] memory_resource& resource() const { return on().default_resource(); }

  template <class T>
  array<T> upload(const std::vector<T>& values) {
    return detail::upload_array(values.data(), static_cast<std::int64_t>(values.size()), on(), resource());
  }
  template <class T>
  std::vector<T> download(const array<T>& values) {
    return detail::download_array(values.data(), static_cast<std::int64_t>(values.size()), on());
  }
  template <class V, class I, class O>
  device_csr_matrix<V, I, O> upload(const csr_matrix<V, I, O>& a) {
    return to_device(a, stream_);
  }
  template <class V, class I, class O>
  device_csc_matrix<V, I, O> upload(const csc_matrix<V, I, O>& a) {
    return to_device(a, stream_);
  }
  template <class V, class I, class O>
  device_bsr_matrix<V, I, O> upload(const bsr_matrix<V, I, O>& a) {
    return to_device(a, stream_);
  }
  template <class T>
  void overwrite(array<T>& to, const std::vector<T>& values) {
    on().upload(to.data(), values.data(), to.bytes());
  }

 private:
  Stream stream_;
};

}  // namespace sptrsv::testing
