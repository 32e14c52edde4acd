// The host side of a distributed solve on one PE.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/distributed/local_values.hpp"
#include "sptrsv/detail/distributed/owners.hpp"
#include "sptrsv/detail/simt/executor.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::detail::distributed {

/// The rows of the matrix that a PE hands in: `rows` consecutive ones from `first_row` on, in host memory.
template <class Scalar, class Index, class Offset>
struct local_rows {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t size;      ///< rows and columns of the whole matrix
  const Offset* offsets;  ///< rows + 1, from 0
  const Index* columns;   ///< in the numbering of the whole matrix
  const Scalar* values;
};

/// How the plan is made.
struct plan_options {
  int pes = 0;  ///< how many PEs solve; 0: the model says it
  dealing how = dealing::automatic;
  double max_growth = 1000;
  machine_costs costs{};
};

/// The plan and the costs of the solves of one PE, which distributed_solver::facts returns.
struct distributed_facts {
  int pes = 0;                   ///< how many PEs solve for columns
  double predicted_ns = 0;       ///< time of a solve by the model; the same on all PEs
  std::int64_t messages = 0;     ///< values that this PE sends to other PEs in a solve of one right-hand side
  std::int64_t sent_bytes = 0;   ///< of these messages
  std::size_t device_bytes = 0;  ///< device memory of the solver on this PE
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

  [[nodiscard]] T* own() const { return of_pe_[static_cast<std::size_t>(team_->rank())]; }
  [[nodiscard]] const std::vector<T*>& of_pe() const { return of_pe_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Team* team_;
  std::size_t bytes_;
  std::vector<T*> of_pe_;
};

template <class Tuning, class Scalar, class Index, class Offset, class Team, class Executor>
class engine {
  using params = pe_params<Scalar, Index, Offset>;
  template <int Columns>
  using forward_kernel = pe_agent<supernodal::forward_agent<Tuning, Scalar, Index, Offset, Columns, params>>;
  template <int Columns>
  using backward_kernel =
      pe_agent<supernodal::backward_agent<Tuning, Scalar, Index, Offset, Columns, params>>;
  using space = supernodal::panel_space<Tuning, Scalar>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  static constexpr int most_rhs = Tuning::rhs_per_sweep;

 public:
  using part_type = local_rows<Scalar, Index, Offset>;

  /// Collective.
  engine(const part_type& part, const system_options& options, const plan_options& how, Team& team,
         const Executor& on, memory_resource& resource)
      : team_(team),
        form_(options, false),
        how_(how),
        rows_(part.rows),
        max_rhs_(options.max_rhs),
        resource_(resource),
        space_(space::of(shared_limit(on))) {
    map_.size = part.size;
    std::vector<std::vector<std::int64_t>> ranges =
        gather(team_, std::vector<std::int64_t>{part.first_row, part.rows, part.size});
    for (const auto& of_pe : ranges) {
      map_.first_row.push_back(of_pe[0]);
    }
    map_.first_row.push_back(part.size);
    check_together(team_, [&] { check(part, options, ranges); });
    const fundamental_lists<Index> supernodes = find_supernodes(part);
    std::vector<std::int64_t> cuts;
    for (bool is_cut = true; is_cut;) {
      plan_.reset();  // all PEs give its memory back together
      plan_ = std::make_unique<plan>(*this, supernodes, cuts, on);
      plan_->values.update(team_, part.values, form_.conjugated, plan_->nodes.view(), how_.max_growth, on,
                           resource_);
      is_cut = cut_grown(cuts, on);
    }
    plan_->nodes.end_analysis();
    entries_ = {};
    sources_ = {};
  }

  /// Takes new values of the entries that this PE has handed in. Collective. Synchronises.
  void update_values(const Scalar* values, const Executor& on) {
    plan_->values.update(team_, values, form_.conjugated, plan_->nodes.view(), how_.max_growth, on,
                         resource_);
    first_grown_ =
        smallest_of_all(plan_->values.find_grown(plan_->whole, plan_->local, how_.max_growth, on).second);
  }

  /// Solves for the rows that this PE has handed in. Collective: every PE enqueues its solves in the same
  /// order, with the same number of right-hand sides and alpha.
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const Executor& on) {
    params p = plan_->parameters(*this);
    p.alpha = alpha;
    p.call = static_cast<int>(++calls_ % 2);
    p.begins_call = true;
    for (std::int64_t begin = 0; begin < x.columns || p.begins_call; begin += most_rhs) {
      const std::int64_t columns = std::min<std::int64_t>(most_rhs, x.columns - begin);
      p.b = {b.data + begin * b.column_stride, b.rows, columns, b.row_stride, b.column_stride};
      p.x = {x.data + begin * x.column_stride, x.rows, columns, x.row_stride, x.column_stride};
      if (plan_->whole.backward) {
        columns == 1 ? launch<backward_kernel<1>>(p, on) : launch<backward_kernel<most_rhs>>(p, on);
      } else {
        columns == 1 ? launch<forward_kernel<1>>(p, on) : launch<forward_kernel<most_rhs>>(p, on);
      }
      p.begins_call = false;
    }
  }

  /// Returns what the last solve met. Collective. Synchronises.
  [[nodiscard]] solve_status status(const Executor& on) const {
    gather(team_, std::vector<char>{});  // all have enqueued their solves before one waits for its GPU
    pe_state state;
    on.download(&state, plan_->state.data(), sizeof(state));
    const std::int64_t first = smallest_of_all(state.first_nonfinite[calls_ % 2]);
    bool is_zero = false;
    for (const auto& of_pe : gather(team_, std::vector<char>{plan_->values.is_zero_pivot(first)})) {
      is_zero = is_zero || of_pe.front() != 0;
    }
    solve_status found;
    if (first != all_finite) {
      found.code = is_zero ? solve_status::kind::zero_pivot : solve_status::kind::non_finite;
      found.row = row_of(first);
    } else if (first_grown_ != all_finite) {
      found.code = solve_status::kind::growth;
      found.row = row_of(first_grown_);
    }
    return found;
  }

  /// Returns the plan in words.
  [[nodiscard]] std::string describe() const {
    const ownership& owners = plan_->owners;
    const auto rounded = [](double ns) { return std::to_string(static_cast<std::int64_t>(ns)); };
    const char* const how = owners.pes == 1                   ? ""
                            : owners.how == dealing::subtrees ? ", by subtrees"
                            : owners.how == dealing::top      ? ", by subtrees, and cyclically above them"
                                                              : ", cyclically";
    return std::string(plan_->whole.backward ? "backward, " : "forward, ") +
           std::to_string(plan_->whole.tree.count()) + " supernodes, on " + std::to_string(owners.pes) +
           " of " + std::to_string(team_.size()) + " PEs" + how + "; predicted " +
           rounded(owners.predicted.total_ns()) + " ns (" + std::to_string(owners.predicted.levels) +
           " levels and " + std::to_string(owners.predicted.crossings) + " hops between PEs " +
           rounded(owners.predicted.path_ns) + " ns, bytes " + rounded(owners.predicted.bytes_ns) + " ns)" +
           (owners.pes == 1 && team_.size() > 1 && how_.pes == 0 ? "; one PE is predicted to be fastest"
                                                                 : "");
  }
  /// Returns what the solves of this PE cost.
  [[nodiscard]] distributed_facts facts() const {
    distributed_facts f;
    f.pes = plan_->owners.pes;
    f.predicted_ns = plan_->owners.predicted.total_ns();
    f.messages = static_cast<std::int64_t>(plan_->messages.messages.size() +
                                           plan_->messages.sent_rows.size() + plan_->messages.guests.size());
    f.sent_bytes = f.messages * std::int64_t{sizeof(Scalar)};
    f.device_bytes = plan_->bytes();
    return f;
  }
  [[nodiscard]] const structure<Index>& whole() const { return plan_->whole; }
  [[nodiscard]] const ownership& owners() const { return plan_->owners; }
  [[nodiscard]] const local_structure<Index>& local() const { return plan_->local; }
  [[nodiscard]] const message_plan<Offset>& messages() const { return plan_->messages; }

 private:
  /// What depends on where supernodes are cut.
  struct plan {
    plan(engine& of, const fundamental_lists<Index>& supernodes, const std::vector<std::int64_t>& cuts,
         const Executor& on)
        : whole(make_structure(supernodes, of.map_, of.backward_,
                               {Tuning::max_padding, Tuning::max_narrow_padding, Tuning::narrow_width},
                               Tuning::max_width, cuts)),
          owners(
              choose_owners(whole, of.how_.pes, of.team_.size(), of.how_.how, of.how_.costs, sizeof(Scalar))),
          local(make_local(whole, owners.owner, of.team_.rank())),
          tasks(plan_tasks<Tuning, Scalar, Offset>(local, whole.backward, of.space_)),
          messages(message_planner<Index, Offset, Team>(of.team_, whole, owners.owner, local, handed_over())
                       .make()),
          exchange_blocks(std::max<std::int64_t>(
              simt::ceil_div(
                  static_cast<std::int64_t>(std::max(messages.sent_rows.size(), messages.received.size())),
                  values_per_block),
              of.team_.size() > 1 ? 1 : 0)),  // a PE says that it has begun, also if it has nothing to do
          collect_blocks(
              simt::ceil_div(static_cast<std::int64_t>(messages.received_rows.size()), values_per_block)),
          solve_blocks(static_cast<std::int64_t>(tasks.forests.forests.size() + tasks.tasks.tasks.size())),
          inbox_values(of.largest_of_all(messages.values)),
          rhs(std::min<std::int64_t>(of.max_rhs_, most_rhs)),
          inbox(of.team_, inbox_buffers * rhs * inbox_values * flag::words),
          begun(of.team_, of.team_.size()),
          nodes(local, on, of.resource_),
          forests(tasks.forests, nodes.view(), static_cast<std::int64_t>(local.columns.size()),
                  local.tree.rows_begin.back(), whole.backward, on, of.resource_),
          values(of.team_, whole, owners.owner, local, of.entries_, of.sources_, of.form_.unit, on,
                 of.resource_),
          state(make_buffer<pe_state>(1, on, of.resource_)) {
      const auto upload = [&](const auto& from) { return supernodal::upload(from, on, of.resource_); };
      task_list = upload(tasks.tasks.tasks);
      small = upload(tasks.tasks.small);
      named = upload(messages.named);
      sources = upload(messages.sources);
      columns = upload(local.columns);
      row_at = upload(messages.row_at);
      guests = upload(messages.guests);
      sent = upload(messages.sent);
      all_messages = upload(messages.messages);
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
      on.synchronize();  // the exchange of values that follows says that all PEs have prepared their inboxes
    }

    /// Returns how many values blocks of this PE hand to each other; see solve_params::buffers.
    [[nodiscard]] std::int64_t handed_over() const {
      return static_cast<std::int64_t>(local.columns.size()) +
             (whole.backward ? tasks.tasks.partials : local.tree.rows_begin.back());
    }
    [[nodiscard]] std::int64_t task_count() const { return exchange_blocks + solve_blocks + collect_blocks; }

    /// Returns the parameters of a solve but for what launch() sets, alpha, b and x.
    [[nodiscard]] params parameters(const engine& of) const {
      params p{};
      const auto data = [](const auto& from) { return from.size() > 0 ? from.data() : nullptr; };
      p.of = nodes.view();
      p.panels = values.panels();
      p.diagonal = values.diagonal();
      p.tasks = task_list.data();
      p.task_count = static_cast<std::int64_t>(task_list.size());
      p.forests = forests.view();
      p.small = small.data();
      p.size = static_cast<std::int64_t>(local.columns.size());
      p.warp_bytes = of.space_.warp_bytes;
      p.mirrored = whole.map.mirrored;
      p.named = data(named);
      p.sources = data(sources);
      p.rows = local.tree.rows_begin.back();
      p.in.rank = of.team_.rank();
      p.in.size = of.team_.size();
      p.in.of_pe = inbox_of_pe.data();
      p.in.own_begun = begun.own();
      p.in.begun_of_pe = begun_of_pe.data();
      p.in.values = inbox_values;
      p.state = state.data();
      p.backward = whole.backward;
      p.exchange_blocks = exchange_blocks;
      p.solve_blocks = solve_blocks;
      p.collect_blocks = collect_blocks;
      p.sends = data(sends);
      p.columns = of.team_.size() > 1 ? data(columns) : nullptr;
      p.whole_size = whole.map.size;
      p.row_at = data(row_at);
      p.guests = data(guests);
      p.sent = data(sent);
      p.messages = data(all_messages);
      p.sent_rows = data(sent_rows);
      p.sent_row_count = static_cast<std::int64_t>(sent_rows.size());
      p.received_rows = data(received_rows);
      p.received_row_count = static_cast<std::int64_t>(received_rows.size());
      p.received = data(received);
      p.received_count = static_cast<std::int64_t>(received.size());
      return p;
    }

    [[nodiscard]] std::size_t bytes() const {
      std::size_t sum = inbox.bytes() + begun.bytes() + nodes.bytes() + forests.bytes() + values.bytes();
      const auto add = [&](const auto&... buffers) { ((sum += buffers.bytes()), ...); };
      add(state, task_list, small, named, sources, columns, row_at, guests, sent, all_messages, sent_rows,
          received_rows, received, sends, inbox_of_pe, begun_of_pe);
      return sum;
    }

    structure<Index> whole;
    ownership owners;
    local_structure<Index> local;
    supernodal::host_plan tasks;
    message_plan<Offset> messages;
    std::int64_t exchange_blocks;  ///< see pe_params
    std::int64_t collect_blocks;
    std::int64_t solve_blocks;
    std::int64_t inbox_values;  ///< of one right-hand side in a buffer, on all PEs
    std::int64_t rhs;           ///< largest number of right-hand sides of a launch
    symmetric_buffer<word, Team> inbox;
    symmetric_buffer<std::uint64_t, Team> begun;
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
    buffer<sent_row> sent_rows;
    buffer<received_row> received_rows;
    buffer<std::int64_t> received;
    buffer<char> sends;
    buffer<word*> inbox_of_pe;
    buffer<std::uint64_t*> begun_of_pe;
  };

  static constexpr std::int64_t values_per_block = forward_kernel<1>::values_per_block;

  static std::int64_t shared_limit(const Executor& on) {
    return static_cast<std::int64_t>(on.shared_limit()) -
           static_cast<std::int64_t>(std::max({simt::static_shared_bytes<forward_kernel<1>>,
                                               simt::static_shared_bytes<forward_kernel<most_rhs>>,
                                               simt::static_shared_bytes<backward_kernel<1>>,
                                               simt::static_shared_bytes<backward_kernel<most_rhs>>}));
  }

  void check(const part_type& part, const system_options& options,
             const std::vector<std::vector<std::int64_t>>& ranges) const {
    SPTRSV_EXPECTS(
        how_.pes >= 0 && how_.pes <= team_.size(), errc::invalid_argument,
        "a plan for " + std::to_string(how_.pes) + " PEs, for a team of " + std::to_string(team_.size()));
    SPTRSV_EXPECTS(part.rows == 0 || part.offsets != nullptr, errc::invalid_argument,
                   "the array of offsets is a null pointer");
    SPTRSV_EXPECTS(
        part.rows == 0 || part.offsets[part.rows] == 0 || (part.columns != nullptr && part.values != nullptr),
        errc::invalid_argument, "the array of indices or of values is a null pointer");
    SPTRSV_EXPECTS(options.max_rhs > 0, errc::invalid_argument, "max_rhs is not positive");
    SPTRSV_EXPECTS(part.size <= max_count<Index>, errc::unsupported,
                   "the matrix has " + std::to_string(part.size) + " rows, too many for the index type");
    for (std::size_t pe = 0; pe < ranges.size(); ++pe) {
      SPTRSV_EXPECTS(ranges[pe][2] == part.size, errc::size_mismatch,
                     "PE " + std::to_string(pe) + " has another number of rows of the whole matrix");
      SPTRSV_EXPECTS(ranges[pe][1] >= 0 && map_.first_row[pe + 1] == ranges[pe][0] + ranges[pe][1] &&
                         (pe > 0 || ranges[0][0] == 0),
                     errc::size_mismatch,
                     "the rows of PE " + std::to_string(pe) + " do not follow those of the PE before it");
    }
    for (std::int64_t i = 0; i < part.rows; ++i) {
      if (part.offsets[0] != 0 || part.offsets[i + 1] < part.offsets[i]) {
        throw_pattern_fault(pattern_fault::offsets, part.first_row + i, false);
      }
      for (Offset e = part.offsets[i]; e < part.offsets[i + 1]; ++e) {
        if (part.columns[e] < 0 || static_cast<std::int64_t>(part.columns[e]) >= part.size) {
          throw_pattern_fault(pattern_fault::index, part.first_row + i, false);
        }
      }
    }
    check_rows(part);
  }

  /// Checks that no row has an entry of the triangle twice, and that each has its diagonal entry.
  void check_rows(const part_type& part) const {
    std::vector<Index> columns;
    for (std::int64_t i = 0; i < part.rows; ++i) {
      const std::int64_t row = part.first_row + i;
      columns.clear();
      for (Offset e = part.offsets[i]; e < part.offsets[i + 1]; ++e) {
        if (is_entry(row, part.columns[e])) {
          columns.push_back(part.columns[e]);
        }
      }
      if (!std::is_sorted(columns.begin(), columns.end())) {
        std::sort(columns.begin(), columns.end());
      }
      if (std::adjacent_find(columns.begin(), columns.end()) != columns.end()) {
        throw_pattern_fault(pattern_fault::duplicate, row, false);
      }
      if (!form_.unit && !std::binary_search(columns.begin(), columns.end(), static_cast<Index>(row))) {
        throw_pattern_fault(pattern_fault::diagonal, row, false);
      }
    }
  }

  /// Returns whether an entry of the matrix is one of the system.
  [[nodiscard]] bool is_entry(std::int64_t row, std::int64_t column) const {
    return row == column ? !form_.unit : (column < row) != (form_.transposed != form_.reversed);
  }

  /// Takes the entries of the part as those of C for a direction; see structure.
  void take_entries(const part_type& part, bool backward) {
    backward_ = backward;
    map_.mirrored = form_.reversed != backward;
    entries_.clear();
    sources_.clear();
    for (std::int64_t i = 0; i < part.rows; ++i) {
      const auto row = static_cast<Index>(part.first_row + i);
      for (Offset e = part.offsets[i]; e < part.offsets[i + 1]; ++e) {
        const Index column = part.columns[e];
        if (!is_entry(row, column)) {
          continue;
        }
        factor_entry<Index> at{std::max(row, column), std::min(row, column)};
        if (map_.mirrored) {
          at = {static_cast<Index>(part.size - 1 - at.column), static_cast<Index>(part.size - 1 - at.row)};
        }
        entries_.push_back(at);
        sources_.push_back(static_cast<std::int64_t>(e));
      }
    }
  }

  /// Finds the fundamental supernodes for the direction whose columns have the structure of a complete
  /// factor, or fewer supernodes; see supernodal::factor.
  fundamental_lists<Index> find_supernodes(const part_type& part) {
    const auto find = [&](bool backward) {
      take_entries(part, backward);
      return find_fundamental(team_, map_, distribute_columns(team_, map_, entries_));
    };
    auto found = find(form_.reversed);
    if (!found.of.is_nested()) {
      auto other = find(!form_.reversed);
      if (other.of.is_nested() || other.of.count() < found.of.count()) {
        return other;
      }
      take_entries(part, form_.reversed);
    }
    return found;
  }

  /// Adds cuts where the growth of supernodes is too large. Returns whether there are any. Collective.
  bool cut_grown(std::vector<std::int64_t>& cuts, const Executor& on) {
    const auto [mine, first] = plan_->values.find_grown(plan_->whole, plan_->local, how_.max_growth, on);
    first_grown_ = smallest_of_all(first);
    const std::size_t before = cuts.size();
    for (const auto& of_pe : gather(team_, mine)) {
      cuts.insert(cuts.end(), of_pe.begin(), of_pe.end());
    }
    const bool found = cuts.size() > before;
    std::sort(cuts.begin(), cuts.end());
    return found;
  }

  template <class Agent>
  void launch(params& p, const Executor& on) {
    const auto bytes = static_cast<std::size_t>(space_.bytes());
    const std::int64_t tasks = plan_->task_count();
    std::int64_t blocks = tasks;
    if (team_.pes_on_device() > 1) {  // leave room for the blocks of the others
      blocks = std::max<std::int64_t>(
          std::min<std::int64_t>(tasks, on.template resident_blocks<Agent>(bytes) / team_.pes_on_device()),
          1);
    }
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
    if (tasks > 0) {
      on.template launch_together<Agent>(simt::block_count(blocks, 1), p, bytes);
    }
    ++solves_;
    used_rhs_ = p.x.columns;
    tickets_ += static_cast<unsigned long long>(p.stays ? tasks + blocks : tasks);
  }

  [[nodiscard]] std::int64_t row_of(std::int64_t substitution_index) const {
    return form_.reversed ? map_.size - 1 - substitution_index : substitution_index;
  }
  template <class Choose>
  [[nodiscard]] std::int64_t choose_of_all(std::int64_t mine, const Choose& choose) const {
    std::int64_t chosen = mine;
    for (const auto& of_pe : gather(team_, std::vector<std::int64_t>{mine})) {
      chosen = choose(chosen, of_pe.front());
    }
    return chosen;
  }
  [[nodiscard]] std::int64_t largest_of_all(std::int64_t mine) const {
    return choose_of_all(mine, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  [[nodiscard]] std::int64_t smallest_of_all(std::int64_t mine) const {
    return choose_of_all(mine, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  }

  Team& team_;
  triangle_form form_;
  plan_options how_;
  std::int64_t rows_;
  std::int64_t max_rhs_;
  memory_resource& resource_;
  space space_;
  row_map map_;
  bool backward_ = false;
  std::vector<factor_entry<Index>> entries_;  ///< of C that this PE has handed in; during the analysis
  std::vector<std::int64_t> sources_;         ///< by entry: its index in the part
  std::unique_ptr<plan> plan_;
  std::int64_t first_grown_ = all_finite;  ///< see local_values::find_grown; of all PEs
  std::uint64_t calls_ = 0;                ///< of solve
  std::uint64_t solves_ = 0;               ///< launched
  std::int64_t used_rhs_ = 0;              ///< of the solve that was launched last
  unsigned long long tickets_ = 0;         ///< of all solves
};

}  // namespace sptrsv::detail::distributed
