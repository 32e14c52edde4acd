// Short-lived memory of an analysis. A small system's analysis is a few dozen arrays of which most live for a
// call or two, and asking for each and giving it back takes as long as what is done with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/memory_resource.hpp"

namespace sptrsv::detail {

/// Gives out parts of one piece of memory while it lasts, and asks `from` for the rest. Everything is used on
/// one stream, and given back before the arena ends.
class scratch_arena final : public memory_resource {
 public:
  scratch_arena(std::size_t bytes, memory_resource& from, stream_handle stream)
      : from_(from), piece_(bytes, from, stream) {}

 private:
  static constexpr std::size_t alignment = 256;
  static std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    if (rounded(bytes) > piece_.size() - used_) {
      return from_.allocate(bytes, stream);
    }
    void* const part = piece_.data() + used_;
    used_ += rounded(bytes);
    return part;
  }

  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    const auto solve_index =
        reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(piece_.data());
    if (solve_index >= piece_.size()) {
      from_.deallocate(p, bytes, stream);
    } else if (solve_index + rounded(bytes) == used_) {
      used_ = solve_index;  // the last part: what the stream does with it next comes later
    }
  }

  memory_resource& from_;
  buffer<unsigned char> piece_;
  std::size_t used_ = 0;
};

/// Where an analysis takes memory from.
struct analysis_memory {
  memory_resource& kept;  ///< for what it returns
  memory_resource& scratch;

  analysis_memory(memory_resource& both) : kept(both), scratch(both) {}  // NOLINT: one will do
  analysis_memory(memory_resource& of_results, memory_resource& of_the_rest)
      : kept(of_results), scratch(of_the_rest) {}

  /// For what lives until the end of the analysis.
  [[nodiscard]] analysis_memory all_scratch() const { return {scratch}; }
};

/// What is to outlive the memory that `from` lies in.
template <class T, class Executor>
buffer<T> copy_of(const buffer<T>& from, const Executor& on, memory_resource& to) {
  buffer<T> copy(from.size(), to, on.stream());
  on.copy(copy.data(), from.data(), from.bytes());
  return copy;
}

/// For the arena of an analysis: 0 where the system is so large that asking takes no time beside the work.
template <class Executor>
std::size_t arena_bytes(std::int64_t rows, std::int64_t entries, std::size_t index_bytes) {
  constexpr std::size_t most = std::size_t{16} << 20;
  const auto wanted =
      static_cast<std::size_t>(24 * rows + 6 * entries) * index_bytes + (std::size_t{64} << 10);
  return Executor::has_arenas && wanted <= most ? wanted : 0;
}

}  // namespace sptrsv::detail
