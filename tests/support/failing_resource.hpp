// A memory resource that refuses one allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::testing {

/// Allocates from `upstream`, but throws errc::out_of_memory for allocation number `refused`, counted from 1.
class failing_resource final : public memory_resource {
 public:
  failing_resource(memory_resource& upstream, std::size_t refused) : upstream_(upstream), refused_(refused) {}

  /// Returns whether the allocation was asked for.
  [[nodiscard]] bool has_refused() const { return asked_ >= refused_; }

 private:
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    const std::size_t number = ++asked_;
    SPTRSV_EXPECTS(number != refused_, errc::out_of_memory,
                   "allocation " + std::to_string(number) + " is refused");
    return upstream_.allocate(bytes, stream);
  }
  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    upstream_.deallocate(p, bytes, stream);
  }

  memory_resource& upstream_;
  std::size_t refused_;
  std::atomic<std::size_t> asked_{0};
};

}  // namespace sptrsv::testing
