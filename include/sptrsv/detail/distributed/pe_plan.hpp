// SPDX-License-Identifier: Apache-2.0
// The plan of a PE in device memory, and its inbox.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/distributed/local_values.hpp"
#include "sptrsv/detail/distributed/mail_plan.hpp"
#include "sptrsv/detail/distributed/supernodes/owners.hpp"
#include "sptrsv/detail/distributed/supernodes/part.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Symmetric memory: each PE has a piece of the same size and knows the addresses of all pieces.
template <class T, class Team>
class symmetric_buffer {
 public:
  symmetric_buffer(Team& team, std::int64_t count)
      : team_(&team), bytes_(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T)) {
    for (void* const p : team.allocate(bytes_)) {
      of_pe_.push_back(static_cast<T*>(p));
    }
  }
  symmetric_buffer(const symmetric_buffer&) = delete;
  symmetric_buffer& operator=(const symmetric_buffer&) = delete;
  ~symmetric_buffer() { team_->release(own(), bytes_); }

  [[nodiscard]] T* own() const { return of_pe_[at(team_->rank())]; }
  [[nodiscard]] const std::vector<T*>& of_pe() const { return of_pe_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Team* team_;
  std::size_t bytes_;
  std::vector<T*> of_pe_;
};

/// What a PE has planned; it depends on where supernodes are cut. It has the memory that kernels read.
template <class Tuning, class Scalar, class Index, class Offset, class Team, class Executor>
struct pe_plan {
  using params = pe_params<Scalar, Index, Offset, no_mail>;
  using puts = puts_of<Team>;
  using mail_view = mailbox<Scalar, typename puts::type>;
  using mail_params = pe_params<Scalar, Index, Offset, mail_view>;
  using space = supernodal::panel_space<Tuning, Scalar>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  static constexpr int most_rhs = Tuning::rhs_per_sweep;  ///< right-hand sides of a launch
  static constexpr std::int64_t values_per_block =
      pe_agent<supernodal::forward_agent<Tuning, Scalar, Index, Offset, 1, params>>::values_per_block;

  /// `cuts`: see make_structure. Collective. update() of the values follows.
  pe_plan(Team& team, const system_part<Scalar, Index, Offset>& part,
          const row_part<Scalar, Index, Offset>& rows, const fundamental_lists<Index>& supernodes,
          const std::vector<std::int64_t>& cuts, const policy::distributed& policy,
          const machine_costs& costs, const space& memory, std::int64_t max_rhs, const Executor& on,
          memory_resource& resource)
      : warp_bytes(memory.warp_bytes),
        begun(team, team.size() * std::int64_t{sizeof(std::uint64_t)}),
        pairs(find_puts(team, begun.of_pe(), policy.transport)),
        whole(make_structure(supernodes, part.map, part.backward,
                             {Tuning::max_padding, Tuning::max_narrow_padding, Tuning::narrow_width},
                             Tuning::max_width, cuts)),
        owners(choose_owners(whole, policy, team.size(), costs, sizeof(Scalar), pairs)),
        local(local_maker<Index>(whole, owners, team.rank()).make()),
        tasks(plan_tasks<Tuning, Scalar>(local, whole.backward, memory)),
        messages(
            message_planner<Index, Offset, Team>(team, whole, owners, local, tasks.tasks.partials).make()),
        exchange_blocks(std::max<std::int64_t>(
            simt::ceil_div(
                static_cast<std::int64_t>(std::max(messages.sent_rows.size(), messages.received.size())),
                values_per_block),
            team.size() > 1 ? 1 : 0)),  // a PE says that it has begun, also if it has nothing to do
        collect_blocks(simt::ceil_div(count_of(messages.received_rows), values_per_block)),
        solve_blocks(add_passing(local, messages, Tuning::block_threads, tasks)),
        inbox_values(largest_of_all(team, messages.values)),
        rhs(std::min<std::int64_t>(max_rhs, most_rhs)),
        nodes(upload_supernodes(local, on, resource)),
        forests(tasks.forests, nodes.of, count_of(local.columns), whole.backward, on, resource),
        values(
            team, whole, owners.panels, local, nodes.of,
            [&](const auto& use) { part.for_entries(rows, use); }, part.form.unit, policy.max_growth, on,
            resource),
        state(make_buffer<pe_state>(1, on, resource)),
        inbox(team, inbox_buffers * rhs * inbox_values * flag::words) {
    const sent_values sent =
        ticket_walk(tasks, messages, whole.backward).find(exchange_blocks, values_per_block);
    sent_count = count_of(sent.values);
    if (pairs.has_any()) {  // then all PEs have mailboxes
      mail = mail_planner(team, pairs.of[at(team.rank())], messages)
                 .make(sent, Tuning::block_threads / 32, policy.transport == pe_transport::waiting_blocks);
      mail_params p{};
      set_parameters(p, team, sent, on, resource);
      prepare_mail(p, team, on, resource);
      start = p;
    } else {
      params p{};
      set_parameters(p, team, sent, on, resource);
      p.in.own_begun = reinterpret_cast<std::uint64_t*>(begun.own());
      p.mail.puts = {begun.own(), arrays.add(begun.of_pe(), on, resource)};
      start = p;
    }
    const pe_state begin{0, {all_finite, all_finite}, 0};
    on.upload(state.data(), &begin, sizeof(begin));
    on.fill_bytes(inbox.own(), 0xff, inbox.bytes());
    on.fill_bytes(begun.own(), 0, begun.bytes());
    on.synchronize();  // the exchange of values that follows says that all PEs have prepared their inboxes
  }

  /// Returns the number of blocks that wait for messages; see transport.
  [[nodiscard]] std::int64_t waiting_blocks() const {
    return simt::ceil_div(count_of(mail.deliveries), std::int64_t{Tuning::block_threads});
  }
  [[nodiscard]] std::int64_t task_count() const {
    return waiting_blocks() + exchange_blocks + solve_blocks + collect_blocks;
  }

  /// Sets what depends on the number of the solve. `p`: a copy of `start`.
  void open_mail(mail_params& p) const {
    const auto buffer = static_cast<std::int64_t>(p.in.solve % inbox_buffers);
    p.mail.received = flag::address(p.mail.received, buffer * rhs * mail_values);
    p.mail.sent = flag::address(p.mail.sent, buffer * rhs * mail.sent);
    p.mail.solve = p.in.solve + 1;
    p.mail.columns = p.x.columns;
  }

  [[nodiscard]] std::size_t bytes() const {
    return inbox.bytes() + begun.bytes() + nodes.bytes() + forests.bytes() + values.bytes() + state.bytes() +
           arrays.bytes() + (mail_memory != nullptr ? mail_memory->bytes() : 0);
  }

  int warp_bytes;
  symmetric_buffer<std::byte, Team> begun;  ///< how many solves each PE has begun
  put_pairs pairs;
  structure<Index> whole;
  ownership owners;
  local_structure<Index> local;
  supernodal::host_plan tasks;
  message_plan<Offset> messages;
  std::int64_t exchange_blocks;  ///< blocks that send b, and reset what was received
  std::int64_t collect_blocks;
  std::int64_t solve_blocks;
  std::int64_t inbox_values;    ///< of one right-hand side in a buffer, on all PEs
  std::int64_t rhs;             ///< largest number of right-hand sides of a launch
  std::int64_t sent_count = 0;  ///< values that this PE sends, of one right-hand side
  supernodal::device_tree<Index> nodes;
  supernodal::forest_lists<Index, Offset> forests;
  local_values<Tuning, Scalar, Index, Offset, Executor> values;
  buffer<pe_state> state;
  device_arrays arrays;  ///< what else kernels read
  symmetric_buffer<word, Team>
      inbox;  ///< behind what may wait for kernels when it is given back; see release
  /// Parameters of a solve but for what launch() sets, alpha, b and x.
  std::variant<params, mail_params> start;
  mail_plan mail;                        ///< the rest is there if PEs send by puts
  std::int64_t mail_values = 0;          ///< of one right-hand side in a buffer, on all PEs
  std::int64_t most_waiting_blocks = 0;  ///< of a PE
  /// How many solves each PE has begun, the signals, the mailbox, and the outbox, which puts of a network
  /// read.
  std::unique_ptr<symmetric_buffer<std::byte, Team>> mail_memory;

 private:
  template <class Params>
  void set_parameters(Params& p, Team& team, const sent_values& sent, const Executor& on,
                      memory_resource& resource) {
    const auto add = [&](const auto& from) { return arrays.add(from, on, resource); };
    p.of = nodes.of;
    p.panels = values.panels();
    p.diagonal = values.diagonal();
    p.tasks = add(tasks.tasks.tasks);
    p.task_count = count_of(tasks.tasks.tasks);
    p.forests = forests.view;
    p.small = add(tasks.tasks.small);
    p.size = count_of(local.columns);
    p.warp_bytes = warp_bytes;
    p.mirrored = whole.map.mirrored;
    (whole.backward ? p.partial_sums : p.named) = add(messages.named);
    p.sources = add(messages.sources);
    p.rows = local.tree.rows_begin.back();
    p.in.rank = team.rank();
    p.in.size = team.size();
    p.in.of_pe = add(inbox.of_pe());
    p.in.values = inbox_values;
    p.state = state.data();
    p.mail.failure = {team.failure_word(), &state.data()->has_failed, &state.data()->tickets};
    p.backward = whole.backward;
    p.waiting_blocks = waiting_blocks();
    p.exchange_blocks = exchange_blocks;
    p.solve_blocks = solve_blocks;
    p.collect_blocks = collect_blocks;
    p.sends = add(sent.senders());
    p.columns = team.size() > 1 ? add(local.columns) : nullptr;
    p.whole_size = whole.map.size;
    p.row_at = add(messages.row_at);
    p.guests = add(messages.guests);
    p.sent = add(messages.sent);
    p.messages = add(messages.messages);
    p.sums = messages.sums >= 0 && p.sent != nullptr ? p.sent + messages.sums : nullptr;
    p.passed = add(messages.passed);
    p.sent_rows = add(messages.sent_rows);
    p.sent_row_count = count_of(messages.sent_rows);
    p.received_rows = add(messages.received_rows);
    p.received_row_count = count_of(messages.received_rows);
    p.received = add(messages.received);
    p.received_count = count_of(messages.received);
  }

  /// Allocates the memory of messages, and sets the parameters that name it. Collective.
  void prepare_mail(mail_params& p, Team& team, const Executor& on, memory_resource& resource) {
    const auto aligned = [](std::int64_t bytes) { return simt::ceil_div(bytes, 256) * 256; };
    const auto buffers_of = [&](std::int64_t numbers) {
      return aligned(inbox_buffers * rhs * numbers * std::int64_t{sizeof(Scalar)});
    };
    mail_values = largest_of_all(team, mail.received);
    const std::int64_t signals = team.size() + largest_of_all(team, mail.signals);
    const std::int64_t mailbox = aligned(signals * std::int64_t{sizeof(std::uint64_t)});
    const std::int64_t outbox = mailbox + buffers_of(mail_values);
    mail_memory = std::make_unique<symmetric_buffer<std::byte, Team>>(
        team, outbox + buffers_of(largest_of_all(team, mail.sent)));
    most_waiting_blocks = largest_of_all(team, waiting_blocks());
    std::byte* const own = mail_memory->own();
    on.fill_bytes(own, 0, static_cast<std::size_t>(mailbox));
    const auto add = [&](const auto& from) { return arrays.add(from, on, resource); };
    const auto first = std::find_if(mail.places.begin(), mail.places.end(),
                                    [](const mail_place& place) { return place.mail >= 0; });
    p.in.own_begun = reinterpret_cast<std::uint64_t*>(own);
    p.mail.puts = puts::make(team, own, add(mail_memory->of_pe()));
    p.mail.signals = p.in.own_begun + team.size();
    p.mail.received = reinterpret_cast<word*>(own + mailbox);
    p.mail.sent = reinterpret_cast<word*>(own + outbox);
    p.mail.first_place = first - mail.places.begin();
    p.mail.places = add(std::vector<mail_place>(first, mail.places.end()));
    p.mail.ranges = add(mail.ranges);
    p.mail.records = add(mail.records);
    p.mail.deliveries = add(mail.deliveries);
    p.mail.delivery_count = count_of(mail.deliveries);
    p.mail.inbox_indices = add(mail.inbox_indices);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
