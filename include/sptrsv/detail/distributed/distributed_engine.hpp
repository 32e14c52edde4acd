// SPDX-License-Identifier: Apache-2.0
// The host side of a distributed solve on one PE.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "sptrsv/detail/distributed/pe_plan.hpp"
#include "sptrsv/detail/simt/simt_executor.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The plan and the costs of the solves of one PE, which distributed_solver::facts returns.
struct distributed_facts {
  int pes = 0;                   ///< how many PEs solve for columns
  double predicted_ns = 0;       ///< time of a solve by the model; the same on all PEs
  std::int64_t messages = 0;     ///< values that this PE sends to other PEs in a solve of one right-hand side
  std::int64_t sent_bytes = 0;   ///< of these messages
  std::int64_t puts = 0;         ///< messages of several of these values, with a signal each
  std::size_t device_bytes = 0;  ///< device memory of the solver on this PE
};

template <class Tuning, class Scalar, class Index, class Offset, class Team, class Executor>
class engine {
  using plan = pe_plan<Tuning, Scalar, Index, Offset, Team, Executor>;
  using params = typename plan::params;
  using mail_params = typename plan::mail_params;
  template <int Columns, class Params>
  using forward_kernel = pe_agent<supernodal::forward_agent<Tuning, Scalar, Index, Offset, Columns, Params>>;
  template <int Columns, class Params>
  using backward_kernel =
      pe_agent<supernodal::backward_agent<Tuning, Scalar, Index, Offset, Columns, Params>>;
  using space = typename plan::space;
  using flag = value_flag<Scalar>;
  static constexpr int most_rhs = plan::most_rhs;

 public:
  using part_type = row_part<Scalar, Index, Offset>;

  /// Collective.
  engine(const part_type& part, const system_options& options, const policy::distributed& policy,
         machine_costs costs, Team& team, const Executor& on, memory_resource& resource)
      : team_(team),
        part_{triangle_form(options, false)},
        policy_(policy),
        resource_(resource),
        space_(space::of(shared_limit(on))) {
    row_map& map = part_.map;
    map.size = part.size;
    const auto ranges = gather_one(team_, row_range{part.first_row, part.rows, part.size});
    for (const row_range& of_pe : ranges) {
      map.first_row.push_back(of_pe.first_row);
    }
    map.first_row.push_back(part.size);
    check_together(team_, [&] {
      SPTRSV_EXPECTS(policy.pes >= 0 && policy.pes <= team_.size(), errc::invalid_argument, "a plan for ",
                     policy.pes, " PEs, for a team of ", team_.size());
      SPTRSV_EXPECTS(
          policy.grid_rows >= 0 &&
              (policy.grid_rows == 0 || policy.dealing != supernode_dealing::grid ||
               (policy.pes > 0 ? policy.pes % policy.grid_rows == 0 : policy.grid_rows <= team_.size())),
          errc::invalid_argument, "a grid of ", policy.grid_rows, " rows of PEs for ",
          policy.pes > 0 ? policy.pes : team_.size(), " PEs");
      SPTRSV_EXPECTS(options.max_rhs > 0, errc::invalid_argument, "max_rhs is not positive");
      part_.check(part, ranges);
    });
    costs.pes_on_device = static_cast<int>(largest_of_all(team_, team_.pes_on_device()));
    const fundamental_lists<Index> supernodes = part_.find_supernodes(team_, part);
    std::vector<std::int64_t> cuts;
    for (bool is_cut = true; is_cut;) {
      plan_.reset();  // all PEs give its memory back together
      plan_ = std::make_unique<plan>(team_, part_, part, supernodes, cuts, policy_, costs, space_,
                                     options.max_rhs, on, resource_);
      check_together(team_, [&] {
        std::visit([&](const auto& p) { prepare_kernels<std::decay_t<decltype(p)>>(on); }, plan_->start);
      });
      const std::size_t before = cuts.size();
      for (const auto& of_pe : gather(team_, update_values(part.values, on))) {
        cuts.insert(cuts.end(), of_pe.begin(), of_pe.end());
      }
      std::sort(cuts.begin(), cuts.end());
      is_cut = cuts.size() > before;
    }
  }

  /// Takes new values of the entries that this PE has handed in. Returns the columns before which supernodes
  /// of this PE that grow too much are to be cut. Collective. Synchronises.
  std::vector<std::int64_t> update_values(const Scalar* values, const Executor& on) {
    plan_->values.update(team_, values, part_.form.conjugated, plan_->nodes.of, on, resource_);
    auto [cuts, first] = plan_->values.find_grown(plan_->whole, plan_->local, on);
    first_grown_ = smallest_of_all(team_, first);
    return cuts;
  }

  /// Solves for the rows that this PE has handed in. Collective: every PE enqueues its solves in the same
  /// order, with the same number of right-hand sides and alpha.
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const Executor& on) {
    std::visit([&](const auto& start) { solve_with(start, alpha, b, x, on); }, plan_->start);
  }

  /// Returns what the last solve met. Collective. Synchronises.
  [[nodiscard]] solve_status status(const Executor& on) const {
    gather(team_, std::vector<char>{});  // all have enqueued their solves before one waits for its GPU
    const pe_state state = download_value(plan_->state.data(), on);
    const std::int64_t first = smallest_of_all(team_, state.first_nonfinite[calls_ % 2]);
    const bool is_zero = largest_of_all(team_, plan_->values.is_zero_pivot(first) ? 1 : 0) != 0;
    const auto row_of = [&](std::int64_t index) {
      return part_.form.stored_major(part_.map.size, index, index);
    };
    if (first != all_finite) {
      return {is_zero ? solve_status::kind::zero_pivot : solve_status::kind::non_finite, row_of(first)};
    }
    if (first_grown_ != all_finite) {
      return {solve_status::kind::growth, row_of(first_grown_)};
    }
    return {};
  }

  /// Returns the plan in words.
  [[nodiscard]] std::string describe() const {
    const ownership& owners = plan_->owners;
    const auto rounded = [](double ns) { return static_cast<std::int64_t>(ns); };
    const char* const sent = owners.pes == 1 || !plan_->pairs.has_any() ? ""
                             : policy_.transport == pe_transport::waiting_blocks
                                 ? ", with puts and waiting blocks"
                                 : ", with puts";
    return text_from(
        plan_->whole.backward ? "backward, " : "forward, ", plan_->whole.tree.count(), " supernodes, on ",
        owners.pes, " of ", team_.size(), " PEs", owners.dealing_text(policy_.tree), sent, "; predicted ",
        rounded(owners.predicted.total_ns()), " ns (", owners.predicted.levels, " levels and ",
        owners.predicted.crossings, " hops between PEs ", rounded(owners.predicted.path_ns), " ns, bytes ",
        rounded(owners.predicted.bytes_ns), " ns)",
        owners.pes == 1 && team_.size() > 1 && policy_.pes == 0 ? "; one PE is predicted to be fastest" : "");
  }
  /// Returns what the solves of this PE cost.
  [[nodiscard]] distributed_facts facts() const {
    return {plan_->owners.pes,
            plan_->owners.predicted.total_ns(),
            plan_->sent_count,
            plan_->sent_count * std::int64_t{sizeof(Scalar)},
            count_of(plan_->mail.records),
            plan_->bytes()};
  }
  [[nodiscard]] const plan& planned() const { return *plan_; }

 private:
  template <class Params>
  static constexpr std::size_t static_shared_bytes =
      std::max({simt::static_shared_bytes<forward_kernel<1, Params>>,
                simt::static_shared_bytes<forward_kernel<most_rhs, Params>>,
                simt::static_shared_bytes<backward_kernel<1, Params>>,
                simt::static_shared_bytes<backward_kernel<most_rhs, Params>>});

  static std::int64_t shared_limit(const Executor& on) {
    return static_cast<std::int64_t>(on.shared_limit()) -
           static_cast<std::int64_t>(std::max(static_shared_bytes<params>, static_shared_bytes<mail_params>));
  }

  /// Runs the kernels of solves once, without tasks, and finds how many blocks of a launch are resident
  /// beside those of the other PEs of the device. CUDA loads a kernel, and gets the memory that it needs, at
  /// its first launch, and may then wait for kernels that run. In a solve these may wait for another PE of
  /// the process, which waits for the loading. Synchronises.
  template <class Params>
  void prepare_kernels(const Executor& on) {
    tickets_ = 0;  // those of a new plan
    share_of_device_ = 0;
    prepare_kernel<forward_kernel<1, Params>, Params>(on, !plan_->whole.backward);
    prepare_kernel<forward_kernel<most_rhs, Params>, Params>(on, !plan_->whole.backward);
    prepare_kernel<backward_kernel<1, Params>, Params>(on, plan_->whole.backward);
    prepare_kernel<backward_kernel<most_rhs, Params>, Params>(on, plan_->whole.backward);
    on.synchronize();
  }
  /// The part of prepare_kernels for one kernel. While a PE runs one kernel, another one of its device may be
  /// ahead with a solve of another kind. So all launches have as many blocks as the kernel that has room for
  /// the fewest: if there are fewer on the device, a further block of any kernel fits.
  ///
  /// @param is_used whether this solver launches the kernel.
  template <class Agent, class Params>
  void prepare_kernel(const Executor& on, bool is_used) {
    const auto bytes = static_cast<std::size_t>(space_.bytes());
    const std::int64_t share =
        on.template resident_blocks<Agent>(bytes) / std::int64_t{team_.pes_on_device()};
    share_of_device_ = share_of_device_ == 0 ? share : std::min(share_of_device_, share);
    if (team_.pes_on_device() > 1) {
      on.template run_beside_others<Agent>();
    }
    if (is_used) {
      Params p{};
      p.in.size = 1;
      p.state = plan_->state.data();
      p.first_ticket = tickets_++;
      on.template launch<Agent>(1, p, bytes);
    }
  }

  template <class Params>
  void solve_with(const Params& start, Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
                  const Executor& on) {
    Params p = start;
    p.alpha = alpha;
    p.call = static_cast<int>(++calls_ % 2);
    p.begins_call = true;
    for (std::int64_t begin = 0; begin < x.columns || p.begins_call; begin += most_rhs) {
      const std::int64_t columns = std::min<std::int64_t>(most_rhs, x.columns - begin);
      p.b = {b.data + begin * b.column_stride, b.rows, columns, b.row_stride, b.column_stride};
      p.x = {x.data + begin * x.column_stride, x.rows, columns, x.row_stride, x.column_stride};
      if (plan_->whole.backward) {
        columns == 1 ? launch<backward_kernel<1, Params>>(p, on)
                     : launch<backward_kernel<most_rhs, Params>>(p, on);
      } else {
        columns == 1 ? launch<forward_kernel<1, Params>>(p, on)
                     : launch<forward_kernel<most_rhs, Params>>(p, on);
      }
      p.begins_call = false;
    }
  }

  template <class Agent, class Params>
  void launch(Params p, const Executor& on) {
    const auto bytes = static_cast<std::size_t>(space_.bytes());
    const std::int64_t tasks = plan_->task_count();
    std::int64_t blocks = tasks;
    if (team_.pes_on_device() > 1) {  // leave room for the blocks of the others
      blocks = std::clamp<std::int64_t>(tasks, 1, std::max<std::int64_t>(share_of_device_, 1));
    }
    SPTRSV_EXPECTS(plan_->most_waiting_blocks == 0 || plan_->most_waiting_blocks < share_of_device_,
                   errc::unsupported,  // all PEs refuse together if their devices are alike
                   plan_->most_waiting_blocks, " blocks that wait for messages leave no room among ",
                   share_of_device_, " resident ones");
    const std::int64_t size = inbox_buffers * plan_->rhs * plan_->inbox_values;
    const auto buffer_of = [&](std::uint64_t solve) {
      return static_cast<std::int64_t>(solve % inbox_buffers) * (size / inbox_buffers);
    };
    p.stays = blocks < tasks;
    p.in.solve = solves_;
    p.in.buffer = buffer_of(solves_);
    p.first_ticket = tickets_;
    p.rhs_to_reset = used_rhs_;
    p.buffers = {{flag::address(plan_->inbox.own(), buffer_of(solves_)),
                  flag::address(plan_->inbox.own(), buffer_of(solves_ + inbox_buffers - 1))},
                 nullptr,
                 plan_->inbox_values};
    if constexpr (decltype(p.mail)::exists) {
      plan_->open_mail(p);
    }
    if (tasks > 0) {
      on.template launch_together<Agent>(simt::block_count(blocks, 1), p, bytes);
    }
    ++solves_;
    used_rhs_ = p.x.columns;
    // A block that stays draws a ticket after the last task, which says that none is left.
    tickets_ += static_cast<unsigned long long>(p.stays ? tasks + blocks : tasks);
  }

  Team& team_;
  system_part<Scalar, Index, Offset> part_;
  policy::distributed policy_;
  memory_resource& resource_;
  space space_;
  std::unique_ptr<plan> plan_;
  std::int64_t share_of_device_ = 0;       ///< blocks that are resident beside those of other PEs
  std::int64_t first_grown_ = all_finite;  ///< first substitution index that grew too much
  std::uint64_t calls_ = 0;                ///< of solve
  std::uint64_t solves_ = 0;               ///< launched
  std::int64_t used_rhs_ = 0;              ///< of the solve that was launched last
  unsigned long long tickets_ = 0;         ///< of all solves
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
