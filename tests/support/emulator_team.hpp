// The PEs of an emulated cluster as a team (sptrsv/detail/distributed/distributed_team.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/executor.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"

namespace sptrsv::testing {

/// What the members of a team hand to each other.
using team_mail = std::vector<std::vector<std::vector<std::byte>>>;

class emulator_team {
 public:
  /// `mail` belongs to all members and has one element for each. `sharing`: how many PEs share a device.
  emulator_team(emulator::cluster& devices, int rank, team_mail& mail, int sharing = 1)
      : devices_(devices), rank_(rank), mail_(mail), sharing_(sharing) {}
  emulator_team(const emulator_team&) = delete;
  emulator_team& operator=(const emulator_team&) = delete;
  ~emulator_team() {
    if (failure_ != nullptr) {
      devices_.at(rank_).resource().deallocate(failure_, sizeof(*failure_), nullptr);
    }
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return devices_.size(); }
  [[nodiscard]] int pes_on_device() const { return sharing_; }

  std::vector<std::vector<std::byte>> exchange(std::vector<std::vector<std::byte>> to) {
    mail_[static_cast<std::size_t>(rank_)] = std::move(to);
    devices_.meet(rank_);
    std::vector<std::vector<std::byte>> received;
    for (const auto& of_pe : mail_) {
      received.push_back(of_pe[static_cast<std::size_t>(rank_)]);
    }
    devices_.meet(rank_);
    return received;
  }

  /// Returns a word in the memory of the device.
  const std::uint32_t* failure_word() {
    if (failure_ == nullptr) {
      failure_ =
          static_cast<std::uint32_t*>(devices_.at(rank_).resource().allocate(sizeof(*failure_), nullptr));
      emulator::executor(&devices_.at(rank_)).fill_bytes(failure_, 0, sizeof(*failure_));
    }
    return failure_;
  }

  /// Sets the word as a host thread does while kernels run.
  static void say_failed(const std::uint32_t* word) {
    auto& buffer = emulator::memory_space::instance().checked(word, sizeof(*word), "say_failed");
    *buffer.bytes_at(emulator::address_of(word)) = 1;
  }

  std::vector<void*> allocate(std::size_t bytes) {
    void* const own = devices_.at(rank_).resource().allocate(bytes, nullptr);
    devices_.make_symmetric(rank_, own, bytes);
    return detail::distributed::gather_one(*this, own);
  }
  void release(void* own, std::size_t bytes) noexcept {
    try {
      emulator::executor(&devices_.at(rank_)).synchronize();
      devices_.meet(rank_);
    } catch (...) {
      // Another member has ended by an error, which is reported.
    }
    devices_.at(rank_).resource().deallocate(own, bytes, nullptr);
  }

 private:
  emulator::cluster& devices_;
  int rank_;
  team_mail& mail_;
  int sharing_;
  std::uint32_t* failure_ = nullptr;
};

/// Puts as NVSHMEM has them: each thread's puts to a PE are ordered by its fences only.
struct emulated_puts {
  template <class Context, class Warp, class Word>
  void put(Context& ctx, const Warp& warp, int pe, Word* to, const Word* from, std::int64_t words) const {
    if (warp.rank() == 0) {
      ctx.put(pe, to, from, static_cast<std::size_t>(words) * sizeof(Word));
    }
  }
  template <class Context>
  void fence(Context& ctx) const {
    ctx.order_puts();
  }
  template <class Context>
  void signal(Context& ctx, int pe, std::uint64_t* word, std::uint64_t value) const {
    ctx.put_signal(pe, word, word, 0, word, value);
  }
};

/// PEs on several nodes: only the memory of the PEs of a node is mapped.
template <int PesOfNode>
class emulator_team_of_nodes : public emulator_team {
 public:
  using emulator_team::emulator_team;
  using puts = emulated_puts;

  puts make_puts(std::byte* /*own*/, std::byte* const* /*of_pe*/) { return {}; }
  std::vector<void*> allocate(std::size_t bytes) {
    auto of_pe = emulator_team::allocate(bytes);
    for (int pe = 0; pe < size(); ++pe) {
      if (pe / PesOfNode != rank() / PesOfNode) {
        of_pe[static_cast<std::size_t>(pe)] = nullptr;
      }
    }
    return of_pe;
  }
};

}  // namespace sptrsv::testing
