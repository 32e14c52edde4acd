// SPDX-License-Identifier: Apache-2.0
// The parameters of a distributed solve: those of supernodal, with what goes from one PE to another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/distributed/puts.hpp"
#include "sptrsv/detail/supernodal/solve/contributions.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The values that a PE receives from other PEs are flagged, and consecutive solves share this many buffers.
///
/// Solve number s uses buffer s mod 3 and resets buffer (s - 1) mod 3, which the solve before has read. A PE
/// may run ahead of another one. So before a block stores anything to another PE in solve s, it waits until
/// all others have begun solve s - 1: then they have completed solve s - 2, which has reset buffer s mod 3.
/// PEs that keep step do not wait for that. With two buffers they would, in every solve.
///
/// The host knows the number of the solve, because it enqueues the solves one after the other. The kernel
/// sees the buffer of the solve and the one that it resets as the two halves of a double_buffer.
inline constexpr int inbox_buffers = 3;

/// The state that consecutive solves share on a PE; it is in device memory.
struct pe_state {
  alignas(128) unsigned long long tickets;  ///< drawn so far
  /// By number of the call of solve mod 2: smallest substitution index whose x is not finite. A call with
  /// many right-hand sides enqueues several solves.
  alignas(128) std::int64_t first_nonfinite[2];
  alignas(128) std::uint32_t has_failed;  ///< failure_words::seen
};

/// The inboxes of all PEs as a kernel of one of them sees them.
template <class Scalar>
struct inboxes {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  int rank;
  int size;
  word* const* of_pe;        ///< by PE, in device memory: its inbox
  std::uint64_t* own_begun;  ///< by PE: how many solves it has begun
  std::uint64_t solve;       ///< number of the solve
  std::int64_t buffer;       ///< index of the first value of the buffer of the solve in each inbox
  std::int64_t values;       ///< of one right-hand side in a buffer

  /// Stores a value into the inbox of another PE.
  template <class Context>
  SPTRSV_DEVICE void send(Context& ctx, int pe, std::int64_t rhs, std::int64_t index, Scalar v) const {
    auto scope = ctx.system_scope();
    flag::publish(scope, flag::address(ctx.load_constant(of_pe + pe), buffer + rhs * values + index), v);
  }

  /// Waits until the others are ready for what this PE sends. One thread of a block calls it; the others may
  /// send after a barrier.
  template <class Context>
  SPTRSV_DEVICE void wait_for_others(Context& ctx, const failure_words& failure) const {
    if (solve < inbox_buffers) {
      return;
    }
    polling_scope polls(ctx, failure);
    for (int pe = 0; pe < size; ++pe) {
      const std::uint64_t* const others = own_begun + pe;
      while (pe != rank && polls.load_relaxed(others) < solve) {
        polls.pause(others);
      }
    }
    ctx.system_scope().fence();
  }
};

/// Where a value goes: to a value of the inbox of a PE. Or, with is_put, to a value of the own outbox, which
/// is sent together with others; see mailbox.
struct message {
  std::int64_t index;
  std::int32_t pe;
  std::int32_t is_put;
};

/// The messages that a value is sent with. `first` < 0: there is none.
struct message_range {
  std::int64_t first;
  std::int64_t count;
};

/// A value of the own inbox that this PE passes on to others.
struct passed_value {
  std::int64_t index;
  message_range to;
};

/// A component of b that is sent to the PE that solves for it.
struct sent_row {
  std::int64_t row;  ///< of the rows that were handed in here
  message to;
};

/// A component of x that is received from the PE that solves for it.
struct received_row {
  std::int64_t row;  ///< of the rows that were handed in here
  std::int64_t index;
};

/// Parameters of a solve on one PE. `size` counts the columns that the PE knows: those that it solves for,
/// those of its shares of panels, and the rows of its panels that others solve for. Its functions replace
/// those of solve_params. `Mail`: a mailbox, or no_mail.
template <class Scalar, class Index, class Offset, class Mail>
struct pe_params : supernodal::solve_params<Scalar, Index, Offset> {
  using base = supernodal::solve_params<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;

  inboxes<Scalar> in;
  Mail mail;
  pe_state* state;
  int call;          ///< number of the call of solve mod 2
  bool begins_call;  ///< whether this is the first solve of the call
  bool stays;        ///< blocks draw tickets until none is left
  bool backward;
  unsigned long long first_ticket;  ///< of the solve
  std::int64_t rhs_to_reset;        ///< right-hand sides of the solve before
  std::int64_t waiting_blocks;      ///< the first tickets: blocks that receive messages; see mailbox::deliver
  std::int64_t exchange_blocks;  ///< the tickets after them: blocks that send b, and reset what was received
  std::int64_t solve_blocks;     ///< the tickets after them: forests and tasks
  std::int64_t collect_blocks;   ///< the last tickets: blocks that receive x
  const char* sends;             ///< by ticket: whether the block sends to other PEs; null: there are none
  const Index* columns;          ///< by column: its number in the whole system; null: the same
  std::int64_t whole_size;       ///< columns of the whole system
  /// By column: its row among those that were handed in here, or -1 - the number of a guest: a column whose
  /// row of b and x is that of another PE, or a column of a share. Null: all rows were handed in here.
  const std::int64_t* row_at;
  /// By guest: the index in the own inbox of alpha b, or of the sum for a column of a share.
  const std::int64_t* guests;
  /// Forward by row of the lists, backward by column: messages of the contribution or of x. Null: there are
  /// none.
  const message_range* sent;
  const message* messages;    ///< first by guest the one of x, an index below 0: it goes nowhere
  const message_range* sums;  ///< forward, by column: messages of the sum; null: there are none
  /// Backward, by column: partial sums of other PEs that share the panel; null: there are none.
  const supernodal::named_sources<Offset>* partial_sums;
  const passed_value* passed;  ///< by number in tasks of kind `pass`; null: there are no such tasks
  const sent_row* sent_rows;
  std::int64_t sent_row_count;
  const received_row* received_rows;
  std::int64_t received_row_count;
  const std::int64_t* received;  ///< indices of all values that others send
  std::int64_t received_count;

  /// The sums of all columns come first, then those of all rows of the lists.
  [[nodiscard]] SPTRSV_DEVICE std::int64_t sum_number(const supernodal::supernode& node,
                                                      std::int64_t i) const {
    return i < node.columns ? node.first + i : this->size + node.rows_begin + i - node.columns;
  }
  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, std::int64_t column, std::int64_t rhs) const {
    if (row_at == nullptr) {
      return base::load_b(ctx, column, rhs);
    }
    const std::int64_t row = ctx.load_constant(row_at + column);
    return row >= 0 ? load_row(ctx, row, rhs) : wait(ctx, 0, rhs, ctx.load_constant(guests + (-1 - row)));
  }
  /// Returns alpha b for a row that was handed in here.
  template <class Context>
  SPTRSV_DEVICE Scalar load_row(Context& ctx, std::int64_t row, std::int64_t rhs) const {
    return this->alpha *
           this->of_vector(ctx.load(this->b.data + row * this->b.row_stride + rhs * this->b.column_stride));
  }
  template <class Context>
  SPTRSV_DEVICE void store_row(Context& ctx, std::int64_t row, std::int64_t rhs, Scalar v) const {
    ctx.store(this->x.data + row * this->x.row_stride + rhs * this->x.column_stride, this->of_vector(v));
  }
  template <class Context>
  SPTRSV_DEVICE void store_x(Context& ctx, std::int64_t column, std::int64_t rhs, std::uint32_t /*half*/,
                             std::int64_t /*substitution_index*/, Scalar v) const {
    const std::int64_t row = row_at == nullptr ? this->row_of(column) : ctx.load_constant(row_at + column);
    if (row >= 0) {
      store_row(ctx, row, rhs, v);
    } else {
      const message to = ctx.load_constant(messages + (-1 - row));
      if (to.index < 0) {
        return;  // a partial sum
      }
      send(ctx, to, rhs, v);
    }
    if (!is_finite(v)) {
      const std::int64_t whole = columns == nullptr ? column : load_index(ctx, columns + column);
      ctx.atomic_min(&state->first_nonfinite[call], backward ? whole_size - 1 - whole : whole);
    }
  }
  template <class Context>
  SPTRSV_DEVICE void poll(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index,
                          typename flag::reading& seen) const {
    if constexpr (Mail::exists) {
      if (const mail_place place = mail.place(ctx, index); place.mail >= 0) {
        mail.poll(ctx, place, rhs, seen);
        return;
      }
    }
    auto scope = ctx.system_scope();
    flag::poll(scope, this->buffers.component(half, rhs, index), seen);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index,
                            const typename flag::reading& seen) const {
    if constexpr (Mail::exists) {
      if (const mail_place place = mail.place(ctx, index); place.mail >= 0) {
        return mail.wait(ctx, place, rhs, seen);
      }
    }
    polling_scope polls(ctx, mail.failure);
    return flag::wait(polls, this->buffers.component(half, rhs, index), seen);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index) const {
    auto seen = flag::unseen();
    poll(ctx, half, rhs, index, seen);
    return wait(ctx, half, rhs, index, seen);
  }
  /// Sends a value: at once, or with the others of the task.
  template <class Context>
  SPTRSV_DEVICE void send(Context& ctx, const message& to, std::int64_t rhs, Scalar v) const {
    if constexpr (Mail::exists) {
      if (to.is_put != 0) {
        mail.write(ctx, to.index, rhs, v);
        return;
      }
    }
    in.send(ctx, to.pe, rhs, to.index, v);
  }
  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t index,
                             Scalar v) const {
    base::publish(ctx, half, rhs, index, v);
    if (index < (backward ? this->size : this->rows)) {
      send_all(ctx, messages_of(ctx, sent, index), rhs, v);
    }
  }
  template <class Context>
  SPTRSV_DEVICE static message_range messages_of(Context& ctx, const message_range* ranges,
                                                 std::int64_t index) {
    return ranges == nullptr ? message_range{-1, 0} : ctx.load_constant(ranges + index);
  }
  template <class Context>
  SPTRSV_DEVICE void send_all(Context& ctx, const message_range& range, std::int64_t rhs, Scalar v) const {
    for (std::int64_t m = 0; range.first >= 0 && m < range.count; ++m) {
      send(ctx, ctx.load_constant(messages + range.first + m), rhs, v);
    }
  }
  template <class Context>
  SPTRSV_DEVICE void pass_sum(Context& ctx, std::int64_t rhs, std::int64_t column, const Scalar& v) const {
    send_all(ctx, messages_of(ctx, sums, column), rhs, v);
  }
  /// Tells all other PEs that this one has begun the solve. One thread of the solve calls it.
  template <class Context>
  SPTRSV_DEVICE void announce(Context& ctx) const {
    mail.puts.fence(ctx);  // what earlier solves have reset is reset for all
    for (int pe = 0; pe < in.size; ++pe) {
      if (pe != in.rank) {
        mail.puts.signal(ctx, pe, in.own_begun + in.rank, in.solve + 1);
      }
    }
  }
  template <class Context>
  SPTRSV_DEVICE void pass(Context& ctx, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + ctx.thread_rank(); i < end; i += ctx.block_threads()) {
      const passed_value value = ctx.load_constant(passed + i);
      for (std::int64_t rhs = 0; rhs < this->x.columns; ++rhs) {
        send_all(ctx, value.to, rhs, wait(ctx, 0, rhs, value.index));
      }
    }
  }
  template <class Context>
  SPTRSV_DEVICE Scalar complete(Context& ctx, std::uint32_t half, std::int64_t rhs, std::int64_t column,
                                const Scalar& v) const {
    if (partial_sums == nullptr) {
      return v;
    }
    const supernodal::contributions<Scalar, Offset> list{ctx.load_constant(partial_sums + column)};
    const supernodal::sweep_rhs<Context, pe_params> from{ctx, *this, half, rhs};
    return list.add(from, list.try_load(from), v);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
