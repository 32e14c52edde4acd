// The PEs of an emulated cluster as a team (sptrsv/detail/distributed/distributed_team.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "emulator/executor.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"

namespace sptrsv::testing {

/// What the members of a team hand to each other.
struct team_mail {
  explicit team_mail(std::size_t pes) : of_pe(pes), words(pes) {}

  std::vector<std::vector<std::vector<std::byte>>> of_pe;
  std::vector<std::atomic<std::uint32_t*>> words;  ///< by PE: says in its memory that a PE has failed
  std::atomic<int> failed{-1};                     ///< the PE that has
};

class emulator_team {
 public:
  /// `mail` belongs to all members and has one element for each. `sharing`: how many PEs share a device.
  emulator_team(emulator::cluster& devices, int rank, team_mail& mail, int sharing = 1)
      : devices_(devices), rank_(rank), mail_(mail), sharing_(sharing) {}
  emulator_team(const emulator_team&) = delete;
  emulator_team& operator=(const emulator_team&) = delete;
  ~emulator_team() {
    if (std::uint32_t* const word = own_word().exchange(nullptr); word != nullptr) {
      devices_.at(rank_).resource().deallocate(word, sizeof(*word), nullptr);
    }
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return devices_.size(); }
  [[nodiscard]] int pes_on_device() const { return sharing_; }

  std::vector<std::vector<std::byte>> exchange(std::vector<std::vector<std::byte>> to) {
    mail_.of_pe[static_cast<std::size_t>(rank_)] = std::move(to);
    meet();
    std::vector<std::vector<std::byte>> received;
    for (const auto& of_pe : mail_.of_pe) {
      received.push_back(of_pe[static_cast<std::size_t>(rank_)]);
    }
    meet();
    return received;
  }

  /// Returns a word in the memory of the device.
  const std::uint32_t* failure_word() {
    if (own_word() == nullptr) {
      auto* const made =
          static_cast<std::uint32_t*>(devices_.at(rank_).resource().allocate(sizeof(std::uint32_t), nullptr));
      emulator::executor(&devices_.at(rank_)).fill_bytes(made, 0, sizeof(*made));
      own_word() = made;
    }
    return own_word();
  }
  void fail(int pe) noexcept { fail(mail_, pe); }
  /// Does this as a host thread, also while kernels run.
  static void fail(team_mail& mail, int pe) noexcept {
    int none = -1;
    mail.failed.compare_exchange_strong(none, pe);
    emulator::memory_space& space = emulator::memory_space::instance();
    const std::lock_guard<std::recursive_mutex> lock(space.mutex());
    for (const auto& of_pe : mail.words) {
      if (const std::uint32_t* const word = of_pe; word != nullptr) {
        *space.checked(word, sizeof(*word), "fail").bytes_at(emulator::address_of(word)) = 1;
      }
    }
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
  void meet() {
    const auto check = [&] {
      if (const int failed = mail_.failed; failed >= 0) {
        throw detail::distributed::pe_has_left(failed);
      }
    };
    check();
    try {
      devices_.meet(rank_);
    } catch (const emulator::launch_failure&) {  // a PE has ended
      check();
      throw;
    }
  }

  emulator::cluster& devices_;
  int rank_;
  std::atomic<std::uint32_t*>& own_word() { return mail_.words[static_cast<std::size_t>(rank_)]; }

  team_mail& mail_;
  int sharing_;
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
