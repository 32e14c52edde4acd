// A memory resource that has a share of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "sptrsv/error.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::testing {

/// Hands out memory of another resource, and throws errc::out_of_memory if it would have handed out more than
/// `limit` bytes at a time. For one host thread.
class limited_resource final : public memory_resource {
 public:
  limited_resource(memory_resource& upstream, std::size_t limit) : upstream_(upstream), limit_(limit) {}

  /// Returns the most bytes that it has handed out at a time.
  [[nodiscard]] std::size_t peak() const { return peak_; }

 private:
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    SPTRSV_EXPECTS(bytes <= limit_ - used_, errc::out_of_memory, std::to_string(bytes) + " bytes");
    void* const p = upstream_.allocate(bytes, stream);
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    upstream_.deallocate(p, bytes, stream);
    used_ -= bytes;
  }

  memory_resource& upstream_;
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace sptrsv::testing
