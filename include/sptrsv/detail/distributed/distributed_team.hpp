// SPDX-License-Identifier: Apache-2.0
// What the processing elements (PEs) of a distributed solve do together on the host. A team is a concept;
// each PE holds a member of it:
//
//   int rank() const;
//   int size() const;
//   int pes_on_device() const;
//       Returns how many PEs share the device of this one. Their kernels must all be resident together.
//   std::vector<std::vector<std::byte>> exchange(std::vector<std::vector<std::byte>> to);
//       Sends to[r] to PE r, and returns what each PE has sent to this one. Collective.
//   std::vector<void*> allocate(std::size_t bytes);
//       Allocates device memory of the same size on each PE, and returns where a kernel of this PE finds that
//       of each; null where it cannot store to it. Then values go there by puts (puts.hpp). Collective.
//   void release(void* own, std::size_t bytes) noexcept;
//       Gives the memory back when no PE uses it any more. Collective.
//   void fail(int pe) noexcept;
//       Says on all PEs that a PE has failed: kernels that wait end, and collective functions throw.
//   const std::uint32_t* failure_word() const;
//       Returns a word that kernels of this PE can read. It is not 0 if a PE has failed.
//
// All PEs call the collective functions in the same order. If a PE ends early, they throw on the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The exception of a PE that waits for one that has left.
class pe_has_left : public error {
 public:
  explicit pe_has_left(int pe)
      : error(errc::peer_failed, "PE " + std::to_string(pe) + " has left the team"), pe_(pe) {}

  [[nodiscard]] int pe() const { return pe_; }

 private:
  int pe_;
};

/// An error that all PEs throw, after which they keep step.
class error_of_all : public error {
 public:
  using error::error;
};

/// Stores whether a PE has failed. All threads of a process and their kernels read it.
class failure_state {
  using word_type = std::atomic<std::uint32_t>;

 public:
  /// Says that a PE has failed. The first one is named.
  void set(int pe) noexcept {
    std::uint32_t none = 0;
    word_.compare_exchange_strong(none, static_cast<std::uint32_t>(std::max(pe, 0)) + 1);
    if (word_type* const mapped = mapped_; mapped != nullptr) {
      mapped->store(1);
    }
  }
  /// Throws if a PE has failed.
  void check() const {
    if (const std::uint32_t word = word_; word != 0) {
      throw pe_has_left(static_cast<int>(word - 1));
    }
  }
  /// Gives the state a word that kernels can read, once: map() returns what owns its memory.
  template <class Map>
  void map(const Map& map) {
    std::call_once(once_, [&] {
      owner_ = map();
      mapped_ = new (owner_.get()) word_type(0);
      if (word_ != 0) {
        mapped_.load()->store(1);
      }
    });
  }
  /// Returns a word that is not 0 if a PE has failed: the one that kernels can read, if there is one.
  [[nodiscard]] const std::uint32_t* word() const {
    const word_type* const mapped = mapped_;
    return reinterpret_cast<const std::uint32_t*>(mapped != nullptr ? mapped : &word_);
  }

 private:
  word_type word_{0};  ///< not 0: 1 + the number of the first PE that has failed
  std::atomic<word_type*> mapped_{nullptr};
  std::shared_ptr<void> owner_;
  std::once_flag once_;
};

/// Returns call(). What it throws on this PE alone ends the others, too.
template <class Team, class Call>
auto fail_together(Team& team, const Call& call) {
  try {
    return call();
  } catch (const error_of_all&) {
    throw;
  } catch (...) {
    team.fail(team.rank());
    throw;
  }
}

/// Sends the elements of to[r] to PE r. Returns those that each PE has sent to this one. Collective.
template <class Team, class T>
std::vector<std::vector<T>> exchange_all(Team& team, std::vector<std::vector<T>> to) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> own = std::exchange(to[at(team.rank())], {});  // it is not copied
  std::vector<std::vector<std::byte>> sent;
  for (std::vector<T>& values : to) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    sent.emplace_back(bytes, bytes + values.size() * sizeof(T));
    values = {};  // there is one copy at a time
  }
  std::vector<std::vector<T>> received;
  for (std::vector<std::byte>& bytes : team.exchange(std::move(sent))) {
    received.emplace_back(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
      std::memcpy(received.back().data(), bytes.data(), bytes.size());
    }
    bytes = {};
  }
  received[at(team.rank())] = std::move(own);
  return received;
}

/// Returns the elements of all PEs, by PE. Collective.
template <class Team, class T>
std::vector<std::vector<T>> gather(Team& team, const std::vector<T>& mine) {
  return exchange_all(team, std::vector<std::vector<T>>(static_cast<std::size_t>(team.size()), mine));
}

/// Returns a value of each PE, by PE. Collective.
template <class Team, class T>
std::vector<T> gather_one(Team& team, const T& mine) {
  std::vector<T> of_pe;
  for (const auto& received : gather(team, std::vector<T>{mine})) {
    SPTRSV_EXPECTS(received.size() == 1, errc::peer_failed, "PEs are in different collective functions");
    of_pe.push_back(received.front());
  }
  return of_pe;
}
/// Returns the largest number of all PEs. Collective.
template <class Team>
std::int64_t largest_of_all(Team& team, std::int64_t mine) {
  const auto all = gather_one(team, mine);
  return *std::max_element(all.begin(), all.end());
}
/// Returns the smallest number of all PEs. Collective.
template <class Team>
std::int64_t smallest_of_all(Team& team, std::int64_t mine) {
  const auto all = gather_one(team, mine);
  return *std::min_element(all.begin(), all.end());
}

/// Throws the error of the PE with the smallest rank among those that have one, on all PEs. Otherwise returns
/// what `check` has returned on each PE, if it returns a number. Collective.
template <class Team, class Check>
std::vector<std::int64_t> check_together(Team& team, const Check& check) {
  struct finding {
    bool found;
    errc code;
    std::optional<std::int64_t> row;
    std::int64_t returned;
    char text[400];
  };
  finding mine{};
  try {
    if constexpr (std::is_void_v<decltype(check())>) {
      check();
    } else {
      mine.returned = check();
    }
  } catch (const error& e) {
    mine.found = true;
    mine.code = e.code();
    mine.row = e.row();
    std::strncpy(mine.text, e.what(), sizeof(mine.text) - 1);
  }
  const auto all = gather_one(team, mine);
  std::vector<std::int64_t> returned;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const finding& f = all[r];
    if (f.found) {
      throw error_of_all(f.code, text_from("PE ", r, ": ", f.text), f.row);
    }
    returned.push_back(f.returned);
  }
  return returned;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
