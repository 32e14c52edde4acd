// SPDX-License-Identifier: Apache-2.0
// Short-lived memory of an analysis. The analysis of a small system needs a few dozen arrays, most of them
// for one or two calls; to allocate and free each of them takes as long as the work itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Allocates from one piece of memory until it is used up, and then from `from`. All memory is used on one
/// stream and is freed before the arena ends.
class scratch_arena final : public memory_resource {
 public:
  scratch_arena(std::size_t bytes, memory_resource& from, stream_handle stream)
      : from_(from), piece_(bytes, from, stream) {}

 private:
  static constexpr std::size_t alignment = 256;
  static std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

  /// Returns `bytes` from the piece, or from the other resource if the piece is used up.
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    if (rounded(bytes) > piece_.size() - used_) {
      return from_.allocate(bytes, stream);
    }
    void* const part = piece_.data() + used_;
    used_ += rounded(bytes);
    return part;
  }

  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    const auto offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(piece_.data());
    if (offset >= piece_.size()) {
      from_.deallocate(p, bytes, stream);
    } else if (offset + rounded(bytes) == used_) {
      // It was allocated last. The next user of this memory is on the same stream, so it comes later.
      used_ = offset;
    }
  }

  memory_resource& from_;  ///< used when the piece is used up
  buffer<unsigned char> piece_;
  std::size_t used_ = 0;  ///< bytes
};

/// The memory resources of an analysis.
struct analysis_memory {
  memory_resource& kept;              ///< for arrays that the analysis returns
  memory_resource& scratch;           ///< for arrays that it needs only itself
  simt::scan_words* words = nullptr;  ///< of all scans of the analysis; null: each scan allocates its own

  analysis_memory(memory_resource& both) : kept(both), scratch(both) {}  // NOLINT: implicit
  analysis_memory(memory_resource& for_results, memory_resource& for_scratch,
                  simt::scan_words* for_scans = nullptr)
      : kept(for_results), scratch(for_scratch), words(for_scans) {}

  /// Returns the resources for a part of the analysis whose results are scratch of the whole.
  [[nodiscard]] analysis_memory all_scratch() const { return {scratch, scratch, words}; }
};

/// Computes prefix sums and passes them on: see simt::scan_words.
template <class Executor, class Body>
void scan(const Executor& on, std::int64_t count, const Body& body, const analysis_memory& memory) {
  if (memory.words != nullptr) {
    memory.words->scan(on, count, body);
  } else {
    simt::scan_words(memory.scratch).scan(on, count, body);
  }
}

/// Returns the size of the arena of an analysis; 0 if the system is so large that allocations cost little.
template <class Executor>
std::size_t arena_bytes(std::int64_t rows, std::int64_t entries, std::size_t index_bytes) {
  constexpr std::size_t max_bytes = std::size_t{16} << 20;
  constexpr auto max_count = static_cast<std::int64_t>(max_bytes);
  if (!Executor::has_arenas || rows > max_count || entries > max_count) {
    return 0;
  }
  const auto wanted = at(24 * rows + 6 * entries) * index_bytes + (std::size_t{64} << 10);
  return wanted <= max_bytes ? wanted : 0;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
