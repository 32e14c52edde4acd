// scratch_arena: which allocations it serves itself, which it passes on, and which memory it reuses.
#include "sptrsv/detail/simt/scratch_arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <new>
#include <optional>

namespace sptrsv::testing {
namespace {

class recording_resource final : public memory_resource {
 public:
  std::map<void*, std::size_t> live;
  int calls = 0;

 private:
  void* do_allocate(std::size_t bytes, stream_handle) override {
    void* const p = ::operator new (bytes, std::align_val_t{256});
    live[p] = bytes;
    ++calls;
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, stream_handle) noexcept override {
    EXPECT_EQ(live.at(p), bytes);
    live.erase(p);
    ::operator delete (p, std::align_val_t{256});
  }
};

TEST(ScratchArena, GivesOutDisjointAlignedParts) {
  recording_resource from;
  {
    detail::scratch_arena arena(4096, from, nullptr);
    const buffer<char> first(1, arena, nullptr);
    const buffer<double> second(100, arena, nullptr);
    EXPECT_EQ(from.calls, 1) << "both lie in the piece";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.data()) % 256, 0u);
    EXPECT_GE(reinterpret_cast<char*>(second.data()), first.data() + 1);
  }
  EXPECT_TRUE(from.live.empty());
}

TEST(ScratchArena, AsksForWhatHasNoRoom) {
  recording_resource from;
  {
    detail::scratch_arena arena(1024, from, nullptr);
    const buffer<char> fits(1024, arena, nullptr);
    const buffer<char> does_not(1, arena, nullptr);
    EXPECT_EQ(from.calls, 2);
  }
  EXPECT_TRUE(from.live.empty());
}

TEST(ScratchArena, GivesTheLastPartOutAgain) {
  recording_resource from;
  {
    detail::scratch_arena arena(1024, from, nullptr);
    const buffer<char> stays(256, arena, nullptr);
    char* place = nullptr;
    for (int round = 0; round < 3; ++round) {
      const buffer<char> passes(512, arena, nullptr);
      EXPECT_TRUE(place == nullptr || place == passes.data());
      place = passes.data();
    }
    EXPECT_EQ(from.calls, 1);
  }
  EXPECT_TRUE(from.live.empty());
}

TEST(ScratchArena, DoesNotGiveOutAPartUnderALiveOne) {
  recording_resource from;
  {
    detail::scratch_arena arena(1024, from, nullptr);
    std::optional<buffer<char>> early(std::in_place, 256, arena, nullptr);
    const buffer<char> late(256, arena, nullptr);
    early.reset();
    const buffer<char> next(256, arena, nullptr);
    EXPECT_GE(next.data(), late.data() + 256);
  }
  EXPECT_TRUE(from.live.empty());
}

TEST(ScratchArena, WithoutAPieceAsksForEverything) {
  recording_resource from;
  {
    detail::scratch_arena arena(0, from, nullptr);
    const buffer<char> one(1, arena, nullptr);
    const buffer<char> two(1, arena, nullptr);
    EXPECT_EQ(from.calls, 2);
  }
  EXPECT_TRUE(from.live.empty());
}

}  // namespace
}  // namespace sptrsv::testing
