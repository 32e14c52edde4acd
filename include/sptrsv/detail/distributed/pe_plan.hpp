// The plan of a PE in device memory, and its inbox. The file is long because it makes, names and counts about
// thirty arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/distributed/distributed_tickets.hpp"
#include "sptrsv/detail/distributed/local_values.hpp"
#include "sptrsv/detail/distributed/mail_plan.hpp"
#include "sptrsv/detail/distributed/supernodes/owners.hpp"
#include "sptrsv/detail/distributed/supernodes/part.hpp"

namespace sptrsv::detail::distributed {

/// How the plan is made.
struct plan_options {
  int pes = 0;  ///< how many PEs solve; 0: the model says it
  supernode_dealing how = supernode_dealing::automatic;
  double max_growth = 1000;
  machine_costs costs{};
  pe_transport sends = pe_transport::automatic;
  int grid_rows = 0;  ///< of the grid that supernodes are divided over; 0: the model says it
  pe_tree tree = pe_tree::automatic;
};

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

/// Returns what choose(a, b) chooses of the numbers of all PEs. Collective.
template <class Team, class Choose>
std::int64_t choose_of_all(Team& team, std::int64_t mine, const Choose& choose) {
  std::int64_t chosen = mine;
  for (const auto& of_pe : gather(team, std::vector<std::int64_t>{mine})) {
    chosen = choose(chosen, of_pe.front());
  }
  return chosen;
}
/// Returns the largest number of all PEs. Collective.
template <class Team>
std::int64_t largest_of_all(Team& team, std::int64_t mine) {
  return choose_of_all(team, mine, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}
/// Returns the smallest number of all PEs. Collective.
template <class Team>
std::int64_t smallest_of_all(Team& team, std::int64_t mine) {
  return choose_of_all(team, mine, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
}

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
  static constexpr int strip_columns =
      supernodal::backward_product<Tuning, Scalar, Index, Offset, 1>::strip_columns;
  static constexpr std::int64_t values_per_block =
      pe_agent<supernodal::forward_agent<Tuning, Scalar, Index, Offset, 1, params>>::values_per_block;

  /// `cuts`: see make_structure. Collective. update() of the values follows.
  pe_plan(Team& team, const system_part<Scalar, Index, Offset>& part,
          const local_rows<Scalar, Index, Offset>& rows, const fundamental_lists<Index>& supernodes,
          const std::vector<std::int64_t>& cuts, const plan_options& how, const space& memory,
          std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : warp_bytes(memory.warp_bytes),
        begun(team, team.size()),
        pairs(find_puts(team, begun.of_pe(), how.sends)),
        whole(make_structure(supernodes, part.map, part.backward,
                             {Tuning::max_padding, Tuning::max_narrow_padding, Tuning::narrow_width},
                             Tuning::max_width, cuts)),
        owners(choose_owners(whole, {how.pes, team.size(), how.how, how.grid_rows, how.tree},
                             costs_of(team, how), sizeof(Scalar), pairs)),
        order(owners.order(whole)),
        local(local_maker<Index>(whole, owners.panels, order, how.tree, team.rank()).make()),
        tasks(plan_tasks<Tuning, Scalar, Offset>(local, whole.backward, memory)),
        messages(message_planner<Index, Offset, Team>(team, whole, owners.panels, order, how.tree, local,
                                                      handed_over())
                     .make()),
        exchange_blocks(std::max<std::int64_t>(
            simt::ceil_div(
                static_cast<std::int64_t>(std::max(messages.sent_rows.size(), messages.received.size())),
                values_per_block),
            team.size() > 1 ? 1 : 0)),  // a PE says that it has begun, also if it has nothing to do
        collect_blocks(
            simt::ceil_div(static_cast<std::int64_t>(messages.received_rows.size()), values_per_block)),
        solve_blocks(add_passing(local, messages, Tuning::block_threads, tasks)),
        inbox_values(largest_of_all(team, messages.values)),
        rhs(std::min<std::int64_t>(max_rhs, most_rhs)),
        inbox(team, inbox_buffers * rhs * inbox_values * flag::words),
        nodes(local, on, resource),
        forests(tasks.forests, nodes.view(), static_cast<std::int64_t>(local.columns.size()), whole.backward,
                on, resource),
        values(
            team, whole, owners.panels, local, [&](const auto& use) { part.for_entries(rows, use); },
            part.form.unit, on, resource),
        state(make_buffer<pe_state>(1, on, resource)) {
    const auto upload = [&](const auto& from) { return supernodal::upload(from, on, resource); };
    if (has_puts()) {
      const mail_limits limits{exchange_blocks, values_per_block, Tuning::block_threads / 32, strip_columns,
                               how.sends == pe_transport::waiting_blocks};
      mail = mail_planner<Offset, Team>(team, pairs[at(team.rank())], limits, tasks, whole.backward, messages)
                 .make();
    }
    task_list = upload(tasks.tasks.tasks);
    small = upload(tasks.tasks.small);
    named = upload(messages.named);
    sources = upload(messages.sources);
    columns = upload(local.columns);
    row_at = upload(messages.row_at);
    guests = upload(messages.guests);
    sent = upload(messages.sent);
    all_messages = upload(messages.messages);
    passed = upload(messages.passed);
    sent_rows = upload(messages.sent_rows);
    received_rows = upload(messages.received_rows);
    received = upload(messages.received);
    sends = upload(find_senders(tasks, messages, whole.backward, exchange_blocks));
    inbox_of_pe = upload(inbox.of_pe());
    begun_of_pe = upload(begun.of_pe());
    pe_state start{};
    std::fill(std::begin(start.first_nonfinite), std::end(start.first_nonfinite), all_finite);
    on.upload(state.data(), &start, sizeof(start));
    on.fill_bytes(inbox.own(), 0xff, inbox.bytes());
    on.fill_bytes(begun.own(), 0, begun.bytes());
    if (has_puts()) {
      prepare_mail(team, on, resource);
    }
    on.synchronize();  // the exchange of values that follows says that all PEs have prepared their inboxes
  }

  /// Returns how many values blocks of this PE hand to each other; see solve_params::buffers.
  [[nodiscard]] std::int64_t handed_over() const {
    return static_cast<std::int64_t>(local.columns.size()) +
           (whole.backward ? tasks.tasks.partials : local.tree.rows_begin.back());
  }
  /// Returns the number of blocks that wait for messages; see transport.
  [[nodiscard]] std::int64_t waiting_blocks() const {
    return simt::ceil_div(static_cast<std::int64_t>(mail.deliveries.size()),
                          std::int64_t{Tuning::block_threads});
  }
  [[nodiscard]] std::int64_t task_count() const {
    return waiting_blocks() + exchange_blocks + solve_blocks + collect_blocks;
  }

  /// Returns whether some PEs send values by puts. Then all PEs have mailboxes.
  [[nodiscard]] bool has_puts() const {
    return std::any_of(pairs.begin(), pairs.end(),
                       [](const put_targets& to) { return std::find(to.begin(), to.end(), 1) != to.end(); });
  }

  /// Returns the parameters of a solve but for what launch() sets, alpha, b and x.
  template <class Params>
  [[nodiscard]] Params parameters(Team& team) const {
    Params p{};
    const auto data = [](const auto& from) { return from.size() > 0 ? from.data() : nullptr; };
    p.of = nodes.view();
    p.panels = values.panels();
    p.diagonal = values.diagonal();
    p.tasks = task_list.data();
    p.task_count = static_cast<std::int64_t>(task_list.size());
    p.forests = forests.view();
    p.small = small.data();
    p.size = static_cast<std::int64_t>(local.columns.size());
    p.warp_bytes = warp_bytes;
    p.mirrored = whole.map.mirrored;
    p.named = whole.backward ? nullptr : data(named);
    p.partial_sums = whole.backward ? data(named) : nullptr;
    p.sources = data(sources);
    p.rows = local.tree.rows_begin.back();
    p.in.rank = team.rank();
    p.in.size = team.size();
    p.in.of_pe = inbox_of_pe.data();
    p.in.own_begun = begun.own();
    p.in.begun_of_pe = begun_of_pe.data();
    p.in.values = inbox_values;
    p.state = state.data();
    p.backward = whole.backward;
    p.waiting_blocks = waiting_blocks();
    p.exchange_blocks = exchange_blocks;
    p.solve_blocks = solve_blocks;
    p.collect_blocks = collect_blocks;
    p.sends = data(sends);
    p.columns = team.size() > 1 ? data(columns) : nullptr;
    p.whole_size = whole.map.size;
    p.row_at = data(row_at);
    p.guests = data(guests);
    p.sent = data(sent);
    p.messages = data(all_messages);
    p.sums = messages.sums >= 0 && p.sent != nullptr ? p.sent + messages.sums : nullptr;
    p.passed = data(passed);
    p.sent_rows = data(sent_rows);
    p.sent_row_count = static_cast<std::int64_t>(sent_rows.size());
    p.received_rows = data(received_rows);
    p.received_row_count = static_cast<std::int64_t>(received_rows.size());
    p.received = data(received);
    p.received_count = static_cast<std::int64_t>(received.size());
    if constexpr (decltype(Params::mail)::exists) {
      auto* const signals = reinterpret_cast<std::uint64_t*>(mail_memory->own());
      p.mail.puts = puts::make(team, mail_memory->own(), mail_of_pe.data());
      p.in.own_begun = signals;
      p.mail.signals = signals + team.size();
      p.mail.first_place = first_place;
      p.mail.places = data(mail_places);
      p.mail.ranges = data(put_ranges);
      p.mail.records = data(put_records);
      p.mail.deliveries = data(deliveries);
      p.mail.delivery_count = static_cast<std::int64_t>(deliveries.size());
      p.mail.inbox_indices = data(inbox_indices);
    }
    return p;
  }
  /// Sets what depends on the number of the solve.
  void open_mail(mail_params& p) const {
    const auto buffer = static_cast<std::int64_t>(p.in.solve % inbox_buffers);
    auto* const mailbox = reinterpret_cast<word*>(mail_memory->own() + mail_values_begin);
    auto* const outbox = reinterpret_cast<word*>(mail_memory->own() + outbox_begin);
    p.mail.received = flag::address(mailbox, buffer * rhs * mail_values);
    p.mail.sent = flag::address(outbox, buffer * rhs * mail.sent);
    p.mail.solve = p.in.solve + 1;
    p.mail.columns = p.x.columns;
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = inbox.bytes() + begun.bytes() + nodes.bytes() + forests.bytes() + values.bytes();
    const auto add = [&](const auto&... buffers) { ((sum += buffers.bytes()), ...); };
    sum += mail_memory != nullptr ? mail_memory->bytes() : 0;
    add(mail_places, put_ranges, put_records, deliveries, inbox_indices, mail_of_pe);
    add(state, task_list, small, named, sources, columns, row_at, guests, sent, all_messages, passed,
        sent_rows, received_rows, received, sends, inbox_of_pe, begun_of_pe);
    return sum;
  }

  int warp_bytes;
  symmetric_buffer<std::uint64_t, Team> begun;
  std::vector<put_targets> pairs;  ///< by sender: to whom it sends by puts
  structure<Index> whole;
  ownership owners;
  task_order order;
  local_structure<Index> local;
  supernodal::host_plan tasks;
  message_plan<Offset> messages;
  std::int64_t exchange_blocks;  ///< blocks that send b, and reset what was received
  std::int64_t collect_blocks;
  std::int64_t solve_blocks;
  std::int64_t inbox_values;  ///< of one right-hand side in a buffer, on all PEs
  std::int64_t rhs;           ///< largest number of right-hand sides of a launch
  symmetric_buffer<word, Team> inbox;
  device_supernodes<Index> nodes;
  supernodal::forest_lists<Index, Offset> forests;
  local_values<Tuning, Scalar, Index, Offset, Executor> values;
  buffer<pe_state> state;
  buffer<supernodal::task> task_list;
  buffer<supernodal::supernode> small;
  buffer<supernodal::named_sources<Offset>> named;
  buffer<Offset> sources;
  buffer<Index> columns;
  buffer<std::int64_t> row_at;
  buffer<guest> guests;
  buffer<message_range> sent;
  buffer<message> all_messages;
  buffer<passed_value> passed;
  buffer<sent_row> sent_rows;
  buffer<received_row> received_rows;
  buffer<std::int64_t> received;
  buffer<char> sends;
  buffer<word*> inbox_of_pe;
  buffer<std::uint64_t*> begun_of_pe;
  mail_plan mail;                        ///< the rest is there if has_puts()
  std::int64_t mail_values = 0;          ///< of one right-hand side in a buffer, on all PEs
  std::int64_t mail_values_begin = 0;    ///< byte of mail_memory
  std::int64_t first_place = 0;          ///< the first value of the inbox that comes in a message
  std::int64_t outbox_begin = 0;         ///< byte of mail_memory where the outbox begins
  std::int64_t most_waiting_blocks = 0;  ///< of a PE
  /// How many solves each PE has begun, the signals, the mailbox, and the outbox, which puts of a network
  /// read.
  std::unique_ptr<symmetric_buffer<std::byte, Team>> mail_memory;
  buffer<std::byte*> mail_of_pe;
  buffer<mail_place> mail_places;
  buffer<put_range> put_ranges;
  buffer<put_record> put_records;
  buffer<delivery> deliveries;
  buffer<std::int64_t> inbox_indices;

 private:
  /// Returns the costs of the model, the same on all PEs.
  static machine_costs costs_of(Team& team, const plan_options& how) {
    machine_costs costs = how.costs;
    costs.pes_on_device = static_cast<int>(largest_of_all(team, team.pes_on_device()));
    return costs;
  }
  void prepare_mail(Team& team, const Executor& on, memory_resource& resource) {
    constexpr std::int64_t alignment = 256;
    mail_values = largest_of_all(team, mail.received);
    const std::int64_t signals = team.size() + largest_of_all(team, mail.signals);
    mail_values_begin = simt::ceil_div(signals * std::int64_t{sizeof(std::uint64_t)}, alignment) * alignment;
    const auto size_of = [&](std::int64_t numbers) {
      return simt::ceil_div(inbox_buffers * rhs * numbers * std::int64_t{sizeof(Scalar)}, alignment) *
             alignment;
    };
    outbox_begin = mail_values_begin + size_of(mail_values);
    mail_memory = std::make_unique<symmetric_buffer<std::byte, Team>>(
        team, outbox_begin + size_of(largest_of_all(team, mail.sent)));
    most_waiting_blocks = largest_of_all(team, waiting_blocks());
    mail_of_pe = supernodal::upload(mail_memory->of_pe(), on, resource);
    const auto first = std::find_if(mail.places.begin(), mail.places.end(),
                                    [](const mail_place& place) { return place.mail >= 0; });
    first_place = first - mail.places.begin();
    mail_places = supernodal::upload(std::vector<mail_place>(first, mail.places.end()), on, resource);
    put_ranges = supernodal::upload(mail.ranges, on, resource);
    put_records = supernodal::upload(mail.records, on, resource);
    deliveries = supernodal::upload(mail.deliveries, on, resource);
    inbox_indices = supernodal::upload(mail.inbox_indices, on, resource);
    on.fill_bytes(mail_memory->own(), 0, static_cast<std::size_t>(mail_values_begin));
  }
};

}  // namespace sptrsv::detail::distributed
