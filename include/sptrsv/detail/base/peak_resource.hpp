// SPDX-License-Identifier: Apache-2.0
// Counts the memory of an analysis.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Allocates from another resource and keeps the largest number of bytes that were allocated at one time.
class peak_resource : public memory_resource {
 public:
  explicit peak_resource(memory_resource& from) : from_(from) {}

  [[nodiscard]] std::size_t peak_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return peak_;
  }
  /// Returns the peak, and counts a new one from what is allocated now.
  std::size_t take_peak() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(peak_, live_);
  }

 private:
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    void* const p = from_.allocate(bytes, stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    live_ += bytes;
    peak_ = live_ > peak_ ? live_ : peak_;
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    from_.deallocate(p, bytes, stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    live_ -= bytes;
  }

  memory_resource& from_;
  mutable std::mutex mutex_;
  std::size_t live_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
