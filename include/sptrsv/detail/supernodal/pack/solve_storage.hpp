// SPDX-License-Identifier: Apache-2.0
// The scratch memory of a solve by supernodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sptrsv/detail/base/checked_product.hpp"
#include "sptrsv/detail/supernodal/pack/supernodal_pack.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Owns the memory of a workspace. Solves in one sweep, of few right-hand sides, and solves in packs have a
/// double buffer each, because they have different blocks and hand over different values: so a double buffer
/// never sees a solve of the other kind.
template <class Scalar>
class solve_storage {
  using pair = rhs_pair<Scalar>;

 public:
  /// `values`: number of values that blocks hand to each other for one right-hand side, `rhs`: largest number
  /// of right-hand sides, both for solves in one sweep.
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

  /// Returns the smallest substitution index whose x is not finite in the last solve; -1 if there is none.
  /// `blocks`: of a solve in one sweep. Synchronises.
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
    /// How many tickets of solves in one sweep the last solve in packs has found; the largest number if there
    /// was no solve.
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
