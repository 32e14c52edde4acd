// A memory resource that counts.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::testing {

/// Allocates from `upstream` and counts; counts a wrong size or pointer at deallocation as a mistake. Throws
/// errc::out_of_memory for an allocation of more than `limit` bytes.
class counting_resource final : public memory_resource {
 public:
  explicit counting_resource(memory_resource& upstream,
                             std::size_t limit = std::numeric_limits<std::size_t>::max())
      : upstream_(upstream), limit_(limit) {}

  [[nodiscard]] std::size_t allocations() const { return allocations_; }
  [[nodiscard]] std::size_t live_bytes() const { return live_bytes_; }
  [[nodiscard]] std::size_t largest_bytes() const { return largest_bytes_; }
  [[nodiscard]] std::size_t mistakes() const { return mistakes_; }
  /// Returns the streams that allocations and deallocations named.
  [[nodiscard]] const std::set<stream_handle>& streams() const { return streams_; }

 private:
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    SPTRSV_EXPECTS(bytes <= limit_, errc::out_of_memory, std::to_string(bytes) + " bytes");
    void* const p = upstream_.allocate(bytes, stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    ++allocations_;
    live_bytes_ += bytes;
    largest_bytes_ = live_bytes_ > largest_bytes_ ? live_bytes_ : largest_bytes_;
    live_[p] = bytes;
    streams_.insert(stream);
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    upstream_.deallocate(p, bytes, stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(p);
    if (found == live_.end() || found->second != bytes) {
      ++mistakes_;
      return;
    }
    live_bytes_ -= bytes;
    live_.erase(found);
    streams_.insert(stream);
  }

  memory_resource& upstream_;
  std::size_t limit_;
  std::mutex mutex_;
  std::map<void*, std::size_t> live_;
  std::set<stream_handle> streams_;
  std::size_t allocations_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t largest_bytes_ = 0;
  std::size_t mistakes_ = 0;
};

}  // namespace sptrsv::testing
