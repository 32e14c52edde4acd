// The scratch memory of a solve by supernodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sptrsv/detail/base/checked_product.hpp"
#include "sptrsv/detail/supernodal/pack/supernodal_pack.hpp"

namespace sptrsv::detail::supernodal {

/// What solves in packs have in a workspace: their tasks, because the memory of a solver does not depend on
/// the number of right-hand sides, and a double buffer.
template <class Scalar>
class pack_storage {
  using pair = rhs_pair<Scalar>;

 public:
  /// `values`: number of values that blocks hand to each other for one right-hand side.
  template <class Executor>
  pack_storage(const task_list& list, std::int64_t values, std::int64_t max_rhs, const Executor& on,
               memory_resource& resource)
      : tasks_(upload(list.tasks, on, resource)),
        small_(upload(list.small, on, resource)),
        sharers_(list.sharers),
        buffers_(checked_product(values, pack_pairs), pack_count(max_rhs), on, resource),
        found_tickets_(make_buffer<unsigned long long>(1, on, resource)) {
    on.fill_bytes(found_tickets_.data(), 0xff, found_tickets_.bytes());
  }

  /// Enqueues the state before the first solve.
  template <class Executor>
  void reset(const Executor& on) {
    buffers_.reset(on);
    on.fill_bytes(found_tickets_.data(), 0xff, found_tickets_.bytes());
  }

  /// Sets what is in this memory in the parameters of a solve.
  template <class Index, class Offset>
  void set(pack_params<Scalar, Index, Offset>& p) const {
    p.tasks = tasks_.data();
    p.small = small_.data();
    p.packs = buffers_.buffers();
    p.found_tickets = found_tickets_.data();
    p.sharers = sharers_;
  }

  /// Returns how many tickets of solves without packs the last solve has found; the largest number if there
  /// was no solve. Synchronises.
  template <class Executor>
  [[nodiscard]] unsigned long long found_tickets(const Executor& on) const {
    unsigned long long found = 0;
    on.download(&found, found_tickets_.data(), sizeof(found));
    return found;
  }
  /// Returns the smallest substitution index whose x is not finite in the last solve; -1 if there is none.
  /// Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(const Executor& on) const {
    return buffers_.first_nonfinite_index(static_cast<std::uint32_t>(tasks_.size()) * sharers_, on);
  }

  /// Returns the size in memory.
  [[nodiscard]] static std::size_t bytes(const task_list& list, std::int64_t values, std::int64_t max_rhs) {
    return list.tasks.size() * sizeof(task) + list.small.size() * sizeof(supernode) +
           sizeof(unsigned long long) +
           double_buffer_storage<pair>::bytes(checked_product(values, pack_pairs), pack_count(max_rhs));
  }

 private:
  buffer<task> tasks_;
  buffer<supernode> small_;
  std::uint32_t sharers_;
  double_buffer_storage<pair> buffers_;
  buffer<unsigned long long> found_tickets_;
};

/// Owns the memory of a workspace. Solves in one sweep, of few right-hand sides, and solves in packs have a
/// double buffer each, because they have different blocks and hand over different values: so a double buffer
/// never sees a solve of the other kind.
template <class Scalar>
class solve_storage {
 public:
  /// `values`: number of values that blocks hand to each other for one right-hand side, `rhs`: largest number
  /// of right-hand sides, both for solves in one sweep.
  template <class Executor>
  solve_storage(std::int64_t values, std::int64_t rhs, const Executor& on, memory_resource& resource)
      : sweep_(values, rhs, on, resource) {}
  /// The same, and for solves in packs, too; see pack_storage.
  template <class Executor>
  solve_storage(std::int64_t values, std::int64_t rhs, const task_list& list, std::int64_t pack_values,
                std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : sweep_(values, rhs, on, resource), packs_(std::in_place, list, pack_values, max_rhs, on, resource) {}

  /// Enqueues the state before the first solve.
  template <class Executor>
  void reset(const Executor& on) {
    sweep_.reset(on);
    if (packs_) {
      packs_->reset(on);
    }
  }

  /// Returns the buffers of solves in one sweep.
  [[nodiscard]] double_buffer<Scalar> sweep() const { return sweep_.buffers(); }
  /// Returns the memory of solves in packs.
  [[nodiscard]] const pack_storage<Scalar>& packs() const { return *packs_; }

  /// Returns the smallest substitution index whose x is not finite in the last solve; -1 if there is none.
  /// `blocks`: of a solve in one sweep. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    return last_had_packs(on) ? packs_->first_nonfinite_index(on) : sweep_.first_nonfinite_index(blocks, on);
  }
  /// Returns the word of device memory for questions of status(), see simt::any_of.
  [[nodiscard]] std::uint32_t* status_flag() const { return sweep_.status_flag(); }

 private:
  /// Returns whether no solve in one sweep came after the last solve in packs.
  template <class Executor>
  [[nodiscard]] bool last_had_packs(const Executor& on) const {
    if (!packs_) {
      return false;
    }
    unsigned long long tickets = 0;
    on.download(&tickets, &sweep_.buffers().state->tickets, sizeof(tickets));
    return tickets == packs_->found_tickets(on);
  }

  double_buffer_storage<Scalar> sweep_;
  std::optional<pack_storage<Scalar>> packs_;
};

}  // namespace sptrsv::detail::supernodal
