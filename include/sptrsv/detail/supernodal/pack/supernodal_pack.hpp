// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides: what both directions of a solve share. A pack is 8 right-hand sides that a team
// solves together.
//
// Four lanes serve a row of a pack: lane l of a warp has row l / 4 of an octet of 8 rows, and the right-hand
// sides 2 (l % 4) and 2 (l % 4) + 1 of the pack, which form a pair. Tensor cores leave the sums of a product
// in the same lanes, see tile::multiply_add in simt/context.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/rhs_pack.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Right-hand sides of a pack.
inline constexpr int pack_width = 8;
/// Pairs of a pack, and lanes that serve a row.
inline constexpr int pack_pairs = pack_width / 2;
/// Rows that a warp serves at once.
inline constexpr int octet_rows = 32 / pack_pairs;

SPTRSV_HOST_DEVICE constexpr std::int64_t pack_count(std::int64_t rhs) {
  return rhs / pack_width + (rhs % pack_width > 0 ? 1 : 0);
}

/// The components of one row for the right-hand sides of a pair.
template <class Scalar>
using rhs_pair = rhs_pack<Scalar, 2>;

/// The right-hand sides that a lane serves in one pack, and its access to b, x and what blocks hand over.
template <class Context, class Params>
struct lane_rhs {
  using pair_type = typename Params::pair;
  using flag = value_flag<pair_type>;
  using reading = typename flag::reading;

  Context& ctx;
  const Params& p;
  std::uint32_t half;  ///< that of the double buffer which the solve writes
  std::int64_t pack;
  std::int64_t first;  ///< number of the first one
  int pair;            ///< in the pack
  int count;           ///< 0 to 2: the last pack may have fewer than 8

  /// Returns alpha b for one column of C; zero for right-hand sides that do not exist.
  SPTRSV_DEVICE pair_type load_b(std::int64_t column) const {
    const auto* const at = p.b.data + p.row_of(column) * p.b.row_stride + first * p.b.column_stride;
    pair_type v{};
    if (count > 0) {
      v.of[0] = ctx.load(at);
    }
    if (count > 1) {
      v.of[1] = ctx.load(at + p.b.column_stride);
    }
    return {{count > 0 ? p.alpha * p.of_vector(v.of[0]) : decltype(p.alpha){},
             count > 1 ? p.alpha * p.of_vector(v.of[1]) : decltype(p.alpha){}}};
  }
  SPTRSV_DEVICE void store_x(std::int64_t column, std::int64_t substitution_index, const pair_type& v) const {
    auto* const at = p.x.data + p.row_of(column) * p.x.row_stride + first * p.x.column_stride;
    SPTRSV_UNROLL
    for (int c = 0; c < 2; ++c) {
      if (c < count) {
        ctx.store(at + c * p.x.column_stride, p.of_vector(v.of[c]));
        if (!is_finite(v.of[c])) {
          p.packs.record_nonfinite(ctx, half, substitution_index);
        }
      }
    }
  }

  /// Returns the address of a value that is handed over.
  [[nodiscard]] SPTRSV_DEVICE typename flag::word* component(std::int64_t index) const {
    return p.packs.component(half, pack, index * pack_pairs + pair);
  }
  /// Loads a value that another block hands over once; a known zero if the lane has no right-hand side.
  [[nodiscard]] SPTRSV_DEVICE reading try_load(std::int64_t index) const {
    return count > 0 ? flag::try_load(ctx, component(index)) : flag::zero();
  }
  SPTRSV_DEVICE pair_type wait(std::int64_t index, const reading& seen) const {
    // One loop for both words: the kernels wait in many places, and their code should stay small.
    const auto* const at = component(index);
    auto found = seen;
    while (!flag::is_known(found)) {
      ctx.pause(flag::missing(at, found));
      flag::poll(ctx, at, found);
    }
    return found.value();
  }
  SPTRSV_DEVICE void publish(std::int64_t index, const pair_type& v) const {
    if (count > 0) {
      flag::publish(ctx, component(index), v);
    }
  }
};

/// Rows or columns that a warp takes at once, in up to 4 batches of 8: lane l serves number l / 4 of each
/// batch, for its pair, and finds the contributions to number l % 8 of batch l / 8.
struct warp_batches {
  static constexpr int capacity = 4;
  std::int64_t first;  ///< of the first batch
  std::int64_t step;   ///< from batch to batch
  std::int64_t end;    ///< numbers from here on do not exist

  /// Returns whether batch `u` has any; the same in all lanes.
  [[nodiscard]] SPTRSV_DEVICE bool has_batch(int u) const { return first + u * step < end; }
  /// Returns what a lane serves in batch `u`.
  [[nodiscard]] SPTRSV_DEVICE std::int64_t served(int u, int lane) const {
    return first + u * step + lane / pack_pairs;
  }
  /// Returns for what a lane finds the contributions.
  [[nodiscard]] SPTRSV_DEVICE std::int64_t found(int lane) const {
    return first + lane / octet_rows * step + lane % octet_rows;
  }
  /// Returns the lane that has found the contributions to what `lane` serves.
  [[nodiscard]] SPTRSV_DEVICE static int finder(int u, int lane) {
    return u * octet_rows + lane / pack_pairs;
  }
};
static_assert(warp_batches::capacity * octet_rows == 32, "a lane finds the contributions to one number");

/// The packs that a block solves. The blocks of a task share the packs round-robin.
struct pack_range {
  std::int64_t first;
  std::int64_t step;
  std::int64_t end;
};

/// Parameters of a solve with several right-hand sides, in either direction.
template <class Scalar, class Index, class Offset>
struct pack_params : solve_params<Scalar, Index, Offset> {
  using pair = rhs_pair<Scalar>;

  /// Takes the place of `buffers`, with the same numbers for what is handed over. A pack is a column of it,
  /// and value i of a pack are four pairs, from 4 i on.
  double_buffer<pair> packs;
  int tile_bytes;         ///< of shared memory for parts of panels, without gaps
  std::uint32_t sharers;  ///< blocks of each task, which share the packs
  /// Tickets of the solves without packs, and how many the last solve with packs has found.
  const unsigned long long* sweep_tickets;
  unsigned long long* found_tickets;

  /// Returns the right-hand sides of a pack that a lane serves.
  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE lane_rhs<Context, pack_params> rhs_of(Context& ctx, std::uint32_t half,
                                                                    std::int64_t pack, int lane_pair) const {
    const std::int64_t first = pack * pack_width + 2 * lane_pair;
    const std::int64_t left = this->x.columns - first;
    return {ctx, *this, half, pack, first, lane_pair, left > 1 ? 2 : left > 0 ? 1 : 0};
  }
  [[nodiscard]] SPTRSV_DEVICE pack_range packs_of(std::uint32_t sharer) const {
    return {sharer, sharers, pack_count(this->x.columns)};
  }
  /// Marks a value pending in the other half of the double buffer, for one pair of each pack that falls to
  /// the block, which is number `sharer` of its task.
  template <class Context>
  SPTRSV_DEVICE void reset(Context& ctx, const block_start& start, std::uint32_t sharer, int lane_pair,
                           std::int64_t index) const {
    packs.reset(ctx, start.half ^ 1u, index * pack_pairs + lane_pair, start.rhs_to_reset,
                static_cast<int>(sharer), static_cast<int>(sharers));
  }
};

template <int Warps>
struct pack_shared {
  array_of<std::uint64_t, Warps> arrivals;  ///< of copies to shared memory
  block_start start;
  std::uint32_t sharer;         ///< number of the block among those of its task
  array_of<bool, Warps> votes;  ///< by warp: what it says in a vote of the block
  task work;
  array_of<supernode, Warps> small;  ///< by warp, for a task of kind `warps`
};

/// Owns the memory of a workspace. Solves in one sweep, of few right-hand sides, and solves in packs have a
/// double buffer each, because they have different blocks and hand over different values: so a double buffer
/// never sees a solve of the other kind.
template <class Scalar>
class solve_storage {
  using pair = rhs_pair<Scalar>;

 public:
  /// `values`: that blocks hand over for one right-hand side, `rhs`: the most of them, in one sweep.
  template <class Executor>
  solve_storage(std::int64_t values, std::int64_t rhs, const Executor& on, memory_resource& resource)
      : sweep_(values, rhs, on, resource) {}
  /// Adds what solves in packs need: `list` has their tasks, `values` is that of one right-hand side.
  template <class Executor>
  void add_packs(const task_list& list, std::int64_t values, std::int64_t max_rhs, const Executor& on,
                 memory_resource& resource) {
    packs_ = pack_arrays{upload(list.tasks, on, resource),
                         upload(list.small, on, resource),
                         list.sharers,
                         {checked_product(values, pack_pairs), pack_count(max_rhs), on, resource},
                         make_buffer<unsigned long long>(1, on, resource)};
    forget_tickets(on);
  }

  /// Enqueues the state before the first solve.
  template <class Executor>
  void reset(const Executor& on) {
    sweep_.reset(on);
    if (packs_) {
      packs_->buffers.reset(on);
      forget_tickets(on);
    }
  }

  [[nodiscard]] double_buffer<Scalar> sweep() const { return sweep_.buffers(); }
  /// Sets the memory of solves in packs in the parameters of a solve.
  template <class Index, class Offset>
  void set_packs(pack_params<Scalar, Index, Offset>& p) const {
    p.tasks = packs_->tasks.data();
    p.small = packs_->small.data();
    p.packs = packs_->buffers.buffers();
    p.sweep_tickets = &sweep_.buffers().state->tickets;
    p.found_tickets = packs_->found_tickets.data();
    p.sharers = packs_->sharers;
  }

  /// Returns the first substitution index whose x is not finite, or -1. `blocks`: of a sweep. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    if (packs_) {
      const unsigned long long drawn = download_value(&sweep_.buffers().state->tickets, on);
      if (drawn == download_value(packs_->found_tickets.data(),
                                  on)) {  // no solve in one sweep came after the last solve in packs
        const auto tasks = static_cast<std::uint32_t>(packs_->tasks.size());
        return packs_->buffers.first_nonfinite_index(tasks * packs_->sharers, on);
      }
    }
    return sweep_.first_nonfinite_index(blocks, on);
  }
  /// Returns the word of device memory for questions of status(), see simt::any_of.
  [[nodiscard]] std::uint32_t* status_flag() const { return sweep_.status_flag(); }

  /// Returns how much memory solves in packs have.
  [[nodiscard]] static std::size_t pack_bytes(const task_list& list, std::int64_t values,
                                              std::int64_t max_rhs) {
    return list.tasks.size() * sizeof(task) + list.small.size() * sizeof(supernode) +
           sizeof(unsigned long long) +
           double_buffer_storage<pair>::bytes(checked_product(values, pack_pairs), pack_count(max_rhs));
  }

 private:
  /// What solves in packs have: their tasks, because the memory of a solver does not depend on the number of
  /// right-hand sides, and a double buffer.
  struct pack_arrays {
    buffer<task> tasks;
    buffer<supernode> small;
    std::uint32_t sharers;
    double_buffer_storage<pair> buffers;
    /// How many tickets of sweeps the last solve in packs has found; the largest number: no solve yet.
    buffer<unsigned long long> found_tickets;
  };

  template <class Executor>
  void forget_tickets(const Executor& on) {
    on.fill_bytes(packs_->found_tickets.data(), 0xff, packs_->found_tickets.bytes());
  }

  double_buffer_storage<Scalar> sweep_;
  std::optional<pack_arrays> packs_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
