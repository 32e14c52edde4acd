// SPDX-License-Identifier: Apache-2.0
// Messages of several values between PEs: a put into the mailbox of the receiver, a fence, and a signal that
// the receiver polls (Ding, Liu, Williams and Li 2021, section 4).
//
// How a kernel does this is a concept. `Puts` is trivially copyable, goes to kernels by value, and has
//
//   void put(Context& ctx, const Warp& warp, int pe, Word* to, const Word* from, std::int64_t words) const;
//       The lanes of a warp copy words to PE `pe`. `to`: the address in the mailbox of the own PE that
//       corresponds to the one of PE `pe`. `from`: in the outbox, which is memory of the team, too, and not
//       changed before the solve after the next one.
//   void fence(Context& ctx) const;
//       For lane 0, after a sync of the warp: what the warp has put before arrives before later signals.
//   void signal(Context& ctx, int pe, std::uint64_t* word, std::uint64_t value) const;
//       Stores `value` to the word of PE `pe` that corresponds to `word`. One thread.
//
// A team that has these functions of its own names their type `puts`, and its function make_puts(own, of_pe)
// returns them for memory that it has allocated. For other teams they are mapped_puts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/distributed/polling_scope.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Puts by stores to the memory of PEs that is mapped. It costs what NVSHMEM's puts cost over NVLink.
struct mapped_puts {
  std::byte* own;           ///< the memory of this PE
  std::byte* const* of_pe;  ///< by PE, in device memory

  template <class Context, class Warp, class Word>
  SPTRSV_DEVICE void put(Context& ctx, const Warp& warp, int pe, Word* to, const Word* from,
                         std::int64_t words) const {
    constexpr int at_once = 4;  // loads of a lane in flight, which take longer than the stores
    auto scope = ctx.system_scope();
    Word* const there = at(ctx, pe, to);
    for (std::int64_t begin = warp.rank(); begin < words; begin += 32 * at_once) {
      Word loaded[at_once];
      SPTRSV_UNROLL
      for (int k = 0; k < at_once; ++k) {
        loaded[k] = begin + 32 * k < words ? ctx.load(from + begin + 32 * k) : Word{};
      }
      SPTRSV_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if (begin + 32 * k < words) {
          scope.store_relaxed(there + begin + 32 * k, loaded[k]);
        }
      }
    }
  }
  template <class Context>
  SPTRSV_DEVICE void fence(Context& ctx) const {
    ctx.system_scope().fence();
  }
  template <class Context>
  SPTRSV_DEVICE void signal(Context& ctx, int pe, std::uint64_t* word, std::uint64_t value) const {
    ctx.system_scope().store_relaxed(at(ctx, pe, word), value);
  }

 private:
  template <class Context, class Word>
  SPTRSV_DEVICE Word* at(Context& ctx, int pe, Word* here) const {
    return reinterpret_cast<Word*>(ctx.load_constant(of_pe + pe) +
                                   (reinterpret_cast<std::byte*>(here) - own));
  }
};

/// The puts of a team.
template <class Team, class = void>
struct puts_of {
  using type = mapped_puts;
  static type make(Team& /*team*/, std::byte* own, std::byte* const* of_pe) { return {own, of_pe}; }
};
template <class Team>
struct puts_of<Team, std::void_t<typename Team::puts>> {
  using type = typename Team::puts;
  static type make(Team& team, std::byte* own, std::byte* const* of_pe) { return team.make_puts(own, of_pe); }
};

/// A message of a warp to another PE. Positions count values of one right-hand side.
struct put_record {
  std::int64_t from;    ///< in the outbox
  std::int64_t to;      ///< in the mailbox of the receiver
  std::int64_t signal;  ///< number of its signal, of the receiver
  std::int32_t count;   ///< of values
  std::int32_t pe;
  std::int32_t warp;  ///< that sends it
  std::int32_t unused;
};

/// The messages of a ticket.
struct put_range {
  std::int64_t first;
  std::int32_t count;
  /// Whether the threads of the block have computed the values together. Otherwise each warp sends its own.
  std::int32_t is_of_block;
};

/// Where a received value stands. `mail` < 0: in the inbox, where it is its own flag.
struct mail_place {
  std::int64_t mail;
  std::int64_t signal;
};

/// A message that a waiting block receives.
struct delivery {
  std::int64_t first;  ///< in the mailbox
  std::int64_t count;  ///< of values
};

/// Solves in which all PEs store directly to each other.
struct no_mail {
  static constexpr bool exists = false;

  mapped_puts puts;  ///< to the numbers of solves that the PEs have begun
  failure_words failure;

  template <class Context, class Inbox>
  SPTRSV_DEVICE void deliver(Context& /*ctx*/, std::int64_t /*number*/, const Inbox& /*inbox*/) const {}
  template <class Context>
  SPTRSV_DEVICE void post(Context& /*ctx*/, std::int64_t /*ticket*/) const {}
};

/// The mailbox and the outbox of a PE as its kernels see them. The values of a message are consecutive in
/// both: component `rhs` of value i of a solve with `columns` right-hand sides is at i * columns + rhs. A
/// signal holds the number of the last solve whose message has come, counted from 1: so it is never reset,
/// and neither are the values. As inboxes, mailbox and outbox have three buffers.
template <class Scalar, class Puts>
struct mailbox {
  static constexpr bool exists = true;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  Puts puts;
  failure_words failure;
  word* received;            ///< the buffer of the solve
  word* sent;                ///< the buffer of the solve in the outbox
  std::uint64_t* signals;    ///< of this PE
  std::uint64_t solve;       ///< number of the solve, counted from 1
  std::int64_t columns;      ///< right-hand sides of the solve
  std::int64_t first_place;  ///< the first value of the inbox that comes in a message
  const mail_place* places;  ///< by value of the inbox, from that one
  const put_range* ranges;   ///< by ticket
  const put_record* records;
  const delivery* deliveries;  ///< of waiting blocks, by signal
  std::int64_t delivery_count;
  const std::int64_t* inbox_indices;  ///< of waiting blocks, by value of the mailbox

  /// Returns where a value stands. Values before the first one that comes in a message need no load for that:
  /// forward, these are all values that blocks of this PE hand to each other.
  template <class Context>
  SPTRSV_DEVICE mail_place place(Context& ctx, std::int64_t index) const {
    return index < first_place ? mail_place{-1, -1} : ctx.load_constant(places + (index - first_place));
  }
  /// Loads a value once if its message has come.
  template <class Context>
  SPTRSV_DEVICE void poll(Context& ctx, const mail_place& place, std::int64_t rhs,
                          typename flag::reading& seen) const {
    auto scope = ctx.system_scope();
    if (!flag::is_known(seen) && scope.load_acquire(signals + place.signal) >= solve) {
      seen = flag::try_load(scope, component(received, place.mail, rhs));
    }
  }
  /// Waits for a value.
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, const mail_place& place, std::int64_t rhs,
                            const typename flag::reading& seen) const {
    if (flag::is_known(seen)) {
      return seen.value();
    }
    polling_scope polls(ctx, failure);
    while (polls.load_acquire(signals + place.signal) < solve) {
      polls.pause(signals + place.signal);
    }
    return take(ctx, place.mail, rhs, polls.has_failed()).value();
  }
  /// Waits for messages and hands their values to the blocks that poll the inbox. All lanes of a warp call
  /// it. `number`: of the message of the lane; there may be none.
  template <class Context, class Inbox>
  SPTRSV_DEVICE void deliver(Context& ctx, std::int64_t number, const Inbox& inbox) const {
    const auto warp = ctx.template group<32>();
    polling_scope polls(ctx, failure);
    bool is_pending = number < delivery_count;
    const delivery own = is_pending ? ctx.load_constant(deliveries + number) : delivery{0, 0};
    while (warp.any(is_pending)) {
      const bool has_come = is_pending && polls.load_acquire(signals + number) >= solve;
      is_pending = is_pending && !has_come;
      std::uint32_t come = warp.ballot(has_come);
      if (come == 0 && is_pending) {
        polls.pause(signals + number);
      }
      warp.sync();
      for (int lane = 0; come != 0; ++lane, come >>= 1) {
        if ((come & 1u) == 0) {
          continue;
        }
        const std::int64_t first = warp.shuffle(own.first, lane);
        const std::int64_t count = warp.shuffle(own.count, lane);
        const bool is_lost = warp.shuffle(polls.has_failed() ? 1 : 0, lane) != 0;
        for (std::int64_t i = first + warp.rank(); i < first + count; i += 32) {
          for (std::int64_t rhs = 0; rhs < columns; ++rhs) {
            flag::publish(ctx, inbox.component(0, rhs, ctx.load_constant(inbox_indices + i)),
                          take(ctx, i, rhs, is_lost).value());
          }
        }
      }
    }
  }
  /// Puts a value into the outbox. post() sends it.
  template <class Context>
  SPTRSV_DEVICE void write(Context& ctx, std::int64_t index, std::int64_t rhs, Scalar v) const {
    flag::publish(ctx, component(sent, index, rhs), v);
  }
  /// Sends the messages of a ticket. All threads of the block call it, when they have written the values.
  template <class Context>
  SPTRSV_DEVICE void post(Context& ctx, std::int64_t ticket) const {
    const put_range range = ctx.load_constant(ranges + ticket);
    if (range.count == 0) {
      return;
    }
    const auto warp = ctx.template group<32>();
    if (range.is_of_block != 0) {
      ctx.barrier();
    } else {
      warp.sync();
    }
    bool has_sent = false;
    const auto for_own = [&](const auto& use) {
      // The warps of a block take its messages in turn; others look for their own ones.
      const std::int32_t step = range.is_of_block != 0 ? ctx.block_threads() / 32 : 1;
      for (std::int32_t i = range.is_of_block != 0 ? warp.index() : 0; i < range.count; i += step) {
        const put_record r = ctx.load_constant(records + range.first + i);
        if (r.warp == warp.index()) {
          use(r);
        }
      }
    };
    for_own([&](const put_record& r) {
      puts.put(ctx, warp, r.pe, component(received, r.to, 0), component(sent, r.from, 0),
               r.count * columns * flag::words);
      has_sent = true;
    });
    warp.sync();
    if (has_sent && warp.rank() == 0) {
      puts.fence(ctx);
      for_own([&](const put_record& r) { puts.signal(ctx, r.pe, signals + r.signal, solve); });
    }
  }

 private:
  /// Loads a value whose message has come, or is lost.
  template <class Context>
  SPTRSV_DEVICE auto take(Context& ctx, std::int64_t index, std::int64_t rhs, bool is_lost) const {
    auto scope = ctx.system_scope();
    return is_lost ? flag::unseen() : flag::try_load(scope, component(received, index, rhs));
  }
  SPTRSV_DEVICE word* component(word* buffer, std::int64_t index, std::int64_t rhs) const {
    return flag::address(buffer, index * columns + rhs);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
