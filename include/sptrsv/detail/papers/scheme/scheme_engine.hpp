// SPDX-License-Identifier: Apache-2.0
// The engine of scheme: makes nodes of rows, groups of nodes, and launches and queues of groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/scheme/model.hpp"
#include "sptrsv/detail/papers/scheme/scheduling.hpp"
#include "sptrsv/policy/scheme.hpp"
#include "sptrsv/scheme/text.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_scheme<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  template <class Buffers, bool Buffered, bool OneRhs>
  using agent = schemes::agent<Tuning, Scalar, Index, Offset, Buffers, Buffered, OneRhs>;
  using assignment_state = schemes::assignment_state;
  using node_launch = schemes::node_launch;

 public:
  /// Its double buffer has no right-hand sides if values are not their own flags.
  struct workspace : double_buffer_storage<Scalar> {
    fenced_storage<Scalar> fenced;
    buffer<assignment_state> assignments;  ///< by launch; empty if groups are not assigned

    void reset(const Executor& on) {
      double_buffer_storage<Scalar>::reset(on);
      fenced.reset(on);
      on.fill_bytes(assignments.data(), 0, assignments.bytes());
    }
  };

  engine(const policy::basic_scheme<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource) {
    device_levels<Index> rows = levels_on_device(this->triangle_, on, resource);
    scheme_ = policy.use ? *policy.use
                         : schemes::choose_scheme(schemes::features_of(this->triangle_, rows, on, resource),
                                                  Tuning::max_launches);
    check_scheme(scheme_);
    const int blocks_per_processor = std::max(1, scheme_.active_warps * 32 / Tuning::block_threads);
    threads_ = std::min(scheme_.active_warps * 32, Tuning::block_threads);
    shared_bytes_ =
        on.shared_limit() / static_cast<std::size_t>(blocks_per_processor + 1) / 1024 * 1024 + 1024;
    levels_ = rows.count;
    if (size() > 0) {
      schedule(transformed(std::move(rows), on, resource), on, resource);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    const auto assignments = static_cast<std::int64_t>(assigned() ? launches_.size() : 0);
    return {{size(), is_fenced() ? 0 : this->max_rhs_, on, resource},
            {size(), is_fenced() ? this->max_rhs_ : 0, on, resource},
            make_zeros<assignment_state>(assignments, on, resource)};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (is_fenced()) {
        enqueue(i, alpha, b, x, scratch.fenced.buffers(scratch.state(), x.columns, launches_[i].signals),
                scratch, on);
      } else {
        enqueue(i, alpha, b, x, scratch.buffers(), scratch, on);
      }
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    const auto waiting =
        std::count_if(launches_.begin(), launches_.end(), [](const node_launch& l) { return l.waits; });
    kernel_info kernel;
    kernel.launches = static_cast<std::int64_t>(launches_.size());
    kernel.waiting_launches = static_cast<std::int64_t>(waiting);
    kernel.text = text_from(groups_.count, " groups of up to ", scheme_.sub_warps, " nodes, ", nodes_,
                            " nodes in all, ", kernel.launches, " launches, ", waiting, " of them wait");
    base::describe(info, "scheme", threads_, std::move(kernel), on);
    info.plan = to_string(scheme_);
    info.levels = levels_;
    info.solver_bytes += groups_.first.bytes() + groups_.rows.bytes() + queue_first_.bytes() + queue_.bytes();
    info.workspace_bytes = double_buffer_storage<Scalar>::bytes(size(), is_fenced() ? 0 : this->max_rhs_) +
                           fenced_storage<Scalar>::bytes(size(), is_fenced() ? this->max_rhs_ : 0) +
                           (assigned() ? launches_.size() * sizeof(assignment_state) : 0);
  }

 private:
  [[nodiscard]] std::int64_t size() const { return this->triangle_.size; }
  [[nodiscard]] bool is_fenced() const { return scheme_.signal == hand_off::fenced; }
  [[nodiscard]] bool assigned() const { return scheme_.warps != warp_scheduling::hardware; }
  [[nodiscard]] bool queued() const { return assigned() && scheme_.warps != warp_scheduling::round_robin; }

  schemes::node_graph<Index, Offset> transformed(device_levels<Index> rows, const Executor& on,
                                                 memory_resource& resource) {
    if (scheme_.reorder) {
      buffer<Index> level_offsets = std::move(rows.level_offsets);
      this->renumber(std::move(rows), on, resource);
      rows = {levels_, std::move(level_offsets), make_buffer<Index>(size(), on, resource), {}};
      simt::for_each(on, size(),
                     array_kernels::write_iota<Index>{rows.rows.data()});  // in level order already
    }
    return schemes::transform(this->triangle_, std::move(rows), scheme_, on, resource);
  }

  void schedule(schemes::node_graph<Index, Offset> graph, const Executor& on, memory_resource& resource) {
    const bool near_parents = scheme_.warps == warp_scheduling::locality;
    nodes_ = graph.nodes.count;
    groups_ = schemes::group_nodes(this->triangle_, graph, scheme_, near_parents, on, resource);
    const std::int64_t warps = threads_ / 32;
    const std::int64_t resident =
        is_fenced() ? resident_blocks<fenced_values<Scalar>>(on) : resident_blocks<double_buffer<Scalar>>(on);
    const double threshold =
        scheme_.alpha_level == sptrsv::scheme::unlimited
            ? std::numeric_limits<double>::infinity()
            : static_cast<double>(scheme_.alpha_level) * static_cast<double>(resident * warps);
    launches_ = schemes::make_launches(groups_, threshold);
    SPTRSV_EXPECTS(static_cast<std::int64_t>(launches_.size()) <= Tuning::max_launches, errc::unsupported,
                   "scheme: alpha_level=", scheme_.alpha_level, " makes ", launches_.size(),
                   " launches of this system, and ", Tuning::max_launches, " are the most");
    std::int64_t blocks = 0;
    for (node_launch& launch : launches_) {
      const std::int64_t own = simt::ceil_div(launch.groups, warps);
      launch.first_block = blocks;
      launch.blocks = static_cast<std::uint32_t>(assigned() ? std::min(own, resident) : own);
      blocks += launch.blocks;
    }
    SPTRSV_EXPECTS(blocks * warps < std::int64_t{1} << 30, errc::unsupported, "scheme: this system has ",
                   groups_.count, " groups of nodes, more than can be launched");
    this->blocks_ = simt::block_count(blocks, 1);
    if (queued()) {
      const auto queues =
          schemes::make_queues(schemes::facts_of(this->triangle_, graph, groups_, near_parents, on),
                               launches_, static_cast<int>(warps), scheme_.warps);
      queue_first_ = upload(queues.offsets, on, resource);
      queue_ = upload(queues.vertices, on, resource);
    }
    groups_.group_of_node = {};
    // Without arrays of nodes, group g is row g.
    if (scheme_.reorder && scheme_.merge == node_merging::none && scheme_.sub_warps == 1) {
      groups_.first = {};
      groups_.rows = {};
    }
  }

  /// Returns sw_rnnz for the kernels. A row of one entry is as fast with all lanes as with one.
  [[nodiscard]] int together_above() const {
    return scheme_.together_above == 1 && scheme_.merge == node_merging::none ? 0 : scheme_.together_above;
  }

  /// Returns the number of resident blocks of the kernels whose rows wait.
  template <class Buffers>
  [[nodiscard]] std::int64_t resident_blocks(const Executor& on) const {
    std::int64_t least = 0;
    with_constant(scheme_.buffered, [&](auto buffered) {
      using one = agent<Buffers, decltype(buffered)::value, true>;
      using many = agent<Buffers, decltype(buffered)::value, false>;
      least = on.template resident_blocks<one>(padding<one>(), threads_);
      if (this->max_rhs_ > 1) {
        const std::int64_t of_many = on.template resident_blocks<many>(padding<many>(), threads_);
        least = std::min(least, of_many);
      }
    });
    return least;
  }

  /// Returns the dynamic shared memory that limits the blocks per multiprocessor.
  template <class Agent>
  [[nodiscard]] std::size_t padding() const {
    return shared_bytes_ - std::min(shared_bytes_, sizeof(typename Agent::shared_storage));
  }

  /// Enqueues launch `i`. `buffers`: how components are handed on.
  template <class Buffers>
  void enqueue(std::size_t i, Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
               const Buffers& buffers, const workspace& scratch, const Executor& on) const {
    const node_launch& l = launches_[i];
    const schemes::assignment<Index> work{
        l.first_group,
        l.groups,
        l.first_block,
        l.blocks,
        queued() ? queue_first_.data() + l.first_block * (threads_ / 32) : nullptr,
        queue_.data(),
        assigned() && l.waits ? scratch.assignments.data() + i : nullptr};
    const int lane_bits = simt::lowest_bit(static_cast<std::uint32_t>(32 / scheme_.sub_warps));
    const auto enqueue_for = [&](const auto& known) {
      with_constant(scheme_.buffered, [&](auto buffered) {
        with_constant(x.columns == 1, [&](auto one) {
          using used = agent<std::decay_t<decltype(known)>, decltype(buffered)::value, decltype(one)::value>;
          on.template launch<used>(
              l.blocks,
              {this->system(alpha, b, x, known), work, groups_.first.data(), groups_.rows.data(),
               this->blocks_, lane_bits, together_above(), scheme_.early_division},
              this->template padding<used>(), threads_);
        });
      });
    };
    if (l.waits) {
      enqueue_for(buffers);
    } else {
      enqueue_for(schemes::settled_buffers<Buffers>{buffers});
    }
  }

  sptrsv::scheme scheme_;
  int threads_;  ///< threads of a block
  /// Shared memory of a block; so much that no further block fits a multiprocessor.
  std::size_t shared_bytes_;
  std::int64_t levels_ = 0;  ///< levels of rows
  std::int64_t nodes_ = 0;
  schemes::grouped_nodes<Index> groups_;
  std::vector<node_launch> launches_;
  buffer<Index> queue_first_;  ///< by warp of all launches; one more for the end
  buffer<Index> queue_;        ///< the groups of each warp, relative to the first of the launch
};

}  // namespace sptrsv::SPTRSV_ABI::detail
