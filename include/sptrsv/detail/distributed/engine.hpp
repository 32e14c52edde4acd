// The host side of a distributed solve on one PE. It is one class, whose functions share the plan and the
// memory of all PEs; so the header is longer than most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/distributed/cost.hpp"
#include "sptrsv/detail/distributed/local_plan.hpp"
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
  pe_grid grid;  ///< no rows: the model chooses the grid
  std::int64_t max_width = 32;
  int flat_tree = 2;                 ///< largest number of PEs besides the root of a tree without inner nodes
  std::int64_t chunk_columns = 128;  ///< largest number of columns that one task multiplies with x
  machine_costs costs{};
};

/// The plan and the costs of the solves of one PE, which distributed_solver::facts returns.
struct distributed_facts {
  int grid_rows = 0;  ///< of the grid of PEs that take part
  int grid_columns = 0;
  double predicted_ns = 0;      ///< time of a solve by the model; the same on all PEs
  std::int64_t messages = 0;    ///< what tasks of this PE send to other PEs in a solve of one right-hand side
  std::int64_t sent_bytes = 0;  ///< of these messages
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

template <class Scalar, class Index, class Offset, class Team, class Executor>
class engine {
  using agent = solve_agent<Scalar, Index>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

 public:
  using part_type = local_rows<Scalar, Index, Offset>;

  /// Collective.
  engine(const part_type& part, const system_options& options, const plan_options& how, Team& team,
         const Executor& on, memory_resource& resource)
      : team_(team),
        rank_(team.rank()),
        form_(options, false),
        first_row_(part.first_row),
        rows_(part.rows),
        max_rhs_(options.max_rhs),
        plan_(make_plan(part, options, how)),
        slots_(largest_of_all(local_.slots)),
        blocks_(blocks_of(on)),
        state_(make_buffer<pe_state>(1, on, resource)),
        inbox_(team, inbox_words()),
        begun_(team, team.size()),
        tasks_(to_device(local_.tasks, on, resource)),
        sources_(to_device(local_.sources, on, resource)),
        partials_(to_device(local_.partials, on, resource)),
        targets_(to_device(local_.targets, on, resource)),
        inbox_of_pe_(to_device(inbox_.of_pe(), on, resource)),
        begun_of_pe_(to_device(begun_.of_pe(), on, resource)),
        values_(make_buffer<Scalar>(local_.value_count, on, resource)) {
    ask_for_values();
    pe_state start{};
    std::fill(std::begin(start.first_nonfinite), std::end(start.first_nonfinite), all_finite);
    on.upload(state_.data(), &start, sizeof(start));
    on.fill_bytes(inbox_.own(), 0xff, inbox_.bytes());
    on.fill_bytes(begun_.own(), 0, begun_.bytes());
    on.synchronize();
    update_values(part.values, on);  // after it, all PEs have prepared their inboxes
  }

  /// Takes new values of the entries that this PE has handed in. Collective. Synchronises.
  void update_values(const Scalar* values, const Executor& on) {
    std::vector<std::vector<Scalar>> to(asked_.size());
    for (std::size_t pe = 0; pe < asked_.size(); ++pe) {
      for (const std::int64_t source : asked_[pe]) {
        to[pe].push_back(form_.conjugated ? conjugate(load_scalar(values + source))
                                          : load_scalar(values + source));
      }
    }
    const auto received = exchange_all(team_, to);
    std::vector<std::size_t> next(received.size(), 0);
    std::vector<Scalar> taken(static_cast<std::size_t>(local_.value_count), Scalar{});
    zero_pivots_.clear();
    for (std::size_t k = 0; k < local_.entries.size(); ++k) {
      const entry& e = local_.entries[k];
      const auto pe = static_cast<std::size_t>(e.pe);
      const Scalar value = received[pe][next[pe]++];
      taken[static_cast<std::size_t>(local_.value_at[k])] = value;
      if (e.row == e.column && value == Scalar{}) {
        zero_pivots_.push_back(e.row);
      }
    }
    for (const std::int64_t at : local_.unit_at) {
      taken[static_cast<std::size_t>(at)] = pivot_divisor<Scalar>::one();
    }
    on.upload(values_.data(), taken.data(), values_.bytes());
  }

  /// Solves for the rows that this PE has handed in. Collective: every PE enqueues its solves in the same
  /// order, with the same number of right-hand sides and alpha.
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const Executor& on) const {
    solve_params<Scalar, Index> p{};
    p.in = {rank_,         team_.size(),        inbox_.own(),
            begun_.own(),  inbox_of_pe_.data(), begun_of_pe_.data(),
            state_.data(), inbox_values(),      max_rhs_};
    p.tasks = tasks_.data();
    p.task_count = task_count();
    p.sources = sources_.data();
    p.values = values_.data();
    p.partials = partials_.data();
    p.targets = targets_.data();
    p.size = plan_.size;
    p.first_row = first_row_;
    p.reversed = form_.reversed;
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    on.template launch_together<agent>(blocks_, p);
  }

  /// Returns what the last solve met. Collective. Synchronises.
  [[nodiscard]] solve_status status(const Executor& on) const {
    gather(team_, std::vector<char>{});  // all have enqueued their solves before one waits for its GPU
    pe_state state;
    on.download(&state, state_.data(), sizeof(state));
    const auto solves = state.tickets / tickets_of_solve<agent>(task_count(), blocks_);
    const auto last = (solves + inbox_buffers - 1) % inbox_buffers;
    std::int64_t first = all_finite;
    for (const auto& of_pe : gather(team_, std::vector<std::int64_t>{state.first_nonfinite[last]})) {
      first = std::min(first, of_pe.front());
    }
    const bool is_mine = std::find(zero_pivots_.begin(), zero_pivots_.end(), first) != zero_pivots_.end();
    bool is_zero = false;
    for (const auto& of_pe : gather(team_, std::vector<char>{is_mine})) {
      is_zero = is_zero || of_pe.front() != 0;
    }
    solve_status found;
    if (first != all_finite) {
      found.code = is_zero ? solve_status::kind::zero_pivot : solve_status::kind::non_finite;
      found.row = plan_.row_of(first);
    }
    return found;
  }

  /// Returns the plan in words.
  [[nodiscard]] std::string describe() const {
    const int used = plan_.grid.rows * plan_.grid.columns;
    return std::to_string(plan_.count()) + " supernodes in " + std::to_string(plan_.levels) + " levels on " +
           std::to_string(plan_.grid.rows) + " x " + std::to_string(plan_.grid.columns) + " of " +
           std::to_string(team_.size()) + " PEs; predicted " +
           std::to_string(static_cast<std::int64_t>(predicted_.total_ns())) + " ns (critical path " +
           std::to_string(static_cast<std::int64_t>(predicted_.critical_path_ns)) + " ns, bandwidth " +
           std::to_string(static_cast<std::int64_t>(predicted_.bandwidth_ns)) + " ns)" +
           (used == 1 && team_.size() > 1 ? "; one PE is predicted to be fastest" : "");
  }
  /// Returns what the solves of this PE cost.
  [[nodiscard]] distributed_facts facts() const {
    distributed_facts f;
    f.grid_rows = plan_.grid.rows;
    f.grid_columns = plan_.grid.columns;
    f.predicted_ns = predicted_.total_ns();
    for (const task& t : local_.tasks) {
      const auto others = std::count_if(local_.targets.begin() + t.targets,
                                        local_.targets.begin() + t.targets + t.target_count,
                                        [&](int pe) { return pe != rank_; });
      const std::int64_t values = t.kind == task_kind::send_b ? t.own_end - t.own_begin : t.columns;
      f.messages += others;
      f.sent_bytes += others * values * std::int64_t{sizeof(Scalar)};
    }
    for (const std::size_t bytes :
         {state_.bytes(), inbox_.bytes(), begun_.bytes(), tasks_.bytes(), sources_.bytes(), partials_.bytes(),
          targets_.bytes(), inbox_of_pe_.bytes(), begun_of_pe_.bytes(), values_.bytes()}) {
      f.device_bytes += bytes;
    }
    return f;
  }
  [[nodiscard]] const shared_plan& plan() const { return plan_; }
  [[nodiscard]] const predicted_solve& predicted() const { return predicted_; }
  [[nodiscard]] const local_plan<Index>& local() const { return local_; }

 private:
  static constexpr double entry_bytes = sizeof(Scalar) + sizeof(Index);

  /// Makes the plan and the tasks.
  shared_plan make_plan(const part_type& part, const system_options& options, const plan_options& how) {
    shared_plan plan;
    plan.size = part.size;
    plan.grid = how.grid;
    plan.reversed = form_.reversed;
    for (const auto& of_pe : gather(team_, std::vector<std::int64_t>{part.first_row, part.rows, part.size})) {
      ranges_.push_back(of_pe);
      plan.first_row.push_back(of_pe[0]);
    }
    plan.first_row.push_back(part.size);
    check_together(team_, [&] { check(part, options, how, plan); });
    const std::vector<entry> rows =
        distribute(team_, entries_of(part), [&](const entry& e) { return plan.home(e.row); });
    check_together(team_, [&] { check_rows(rows, plan); });
    plan.set_supernodes(find_supernodes(team_, plan.size, rows, how.max_width));
    const std::vector<block_index> all_blocks = find_blocks(team_, plan, rows);
    find_levels(plan, all_blocks);
    if (how.grid.rows > 0) {
      make_trees(plan, all_blocks, how.flat_tree);
      predicted_ = predict(plan, all_blocks, how.costs, entry_bytes);
    } else {
      predicted_ = choose_grid(plan, all_blocks, team_.size(), how.flat_tree, how.costs, entry_bytes);
    }
    const std::vector<entry> blocks = distribute(team_, rows, [&](const entry& e) {
      return plan.grid.owner(plan.supernode_of(e.row), plan.supernode_of(e.column));
    });
    local_ = local_planner<Index>(plan, rank_, blocks, form_.unit, how.chunk_columns).make();
    return plan;
  }

  void check(const part_type& part, const system_options& options, const plan_options& how,
             const shared_plan& plan) const {
    SPTRSV_EXPECTS((how.grid.rows > 0) == (how.grid.columns > 0), errc::invalid_argument,
                   "the grid of PEs has rows or columns, but not both");
    SPTRSV_EXPECTS(how.grid.rows >= 0 && how.grid.columns >= 0 &&
                       std::int64_t{how.grid.rows} * how.grid.columns <= team_.size(),
                   errc::invalid_argument,
                   "a grid of " + std::to_string(how.grid.rows) + " x " + std::to_string(how.grid.columns) +
                       " PEs, for a team of " + std::to_string(team_.size()));
    SPTRSV_EXPECTS(how.max_width > 0 && how.max_width <= agent::max_width, errc::invalid_argument,
                   "supernodes of " + std::to_string(how.max_width) + " columns, of 1 to " +
                       std::to_string(agent::max_width));
    SPTRSV_EXPECTS(part.rows == 0 || part.offsets != nullptr, errc::invalid_argument,
                   "the array of offsets is a null pointer");
    SPTRSV_EXPECTS(
        part.rows == 0 || part.offsets[part.rows] == 0 || (part.columns != nullptr && part.values != nullptr),
        errc::invalid_argument, "the array of indices or of values is a null pointer");
    SPTRSV_EXPECTS(options.max_rhs > 0, errc::invalid_argument, "max_rhs is not positive");
    for (std::size_t pe = 0; pe < ranges_.size(); ++pe) {
      SPTRSV_EXPECTS(ranges_[pe][2] == part.size, errc::size_mismatch,
                     "PE " + std::to_string(pe) + " has another number of rows of the whole matrix");
      SPTRSV_EXPECTS(ranges_[pe][1] >= 0 && plan.first_row[pe + 1] == ranges_[pe][0] + ranges_[pe][1] &&
                         (pe > 0 || ranges_[0][0] == 0),
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
  }

  /// Checks rows of the system that are complete.
  void check_rows(const std::vector<entry>& rows, const shared_plan& plan) const {
    std::size_t e = 0;
    const auto fail = [&](pattern_fault fault, std::int64_t row) {
      throw_pattern_fault(fault, plan.row_of(row), form_.transposed);
    };
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t row = form_.reversed ? plan.size - first_row_ - rows_ + i : first_row_ + i;
      for (; e < rows.size() && rows[e].row == row; ++e) {
        if (e > 0 && rows[e - 1].row == row && rows[e - 1].column == rows[e].column) {
          fail(pattern_fault::duplicate, row);
        }
      }
      if (!form_.unit && (e == 0 || rows[e - 1].row != row || rows[e - 1].column != row)) {
        fail(pattern_fault::diagonal, row);
      }
    }
  }

  /// Returns the entries of the system among those of the part.
  [[nodiscard]] std::vector<entry> entries_of(const part_type& part) const {
    std::vector<entry> found;
    for (std::int64_t i = 0; i < part.rows; ++i) {
      for (Offset e = part.offsets[i]; e < part.offsets[i + 1]; ++e) {
        std::int64_t row = part.first_row + i;
        std::int64_t column = part.columns[e];
        if (form_.transposed) {
          std::swap(row, column);
        }
        if (form_.reversed) {
          row = part.size - 1 - row;
          column = part.size - 1 - column;
        }
        if (column < row || (column == row && !form_.unit)) {
          found.push_back({row, column, static_cast<std::int64_t>(e), rank_});
        }
      }
    }
    return found;
  }

  /// Sends each PE a list of the entries whose values this PE needs.
  void ask_for_values() {
    std::vector<std::vector<std::int64_t>> needs(static_cast<std::size_t>(team_.size()));
    for (const entry& e : local_.entries) {
      needs[static_cast<std::size_t>(e.pe)].push_back(e.source);
    }
    asked_ = exchange_all(team_, needs);
  }

  [[nodiscard]] std::int64_t task_count() const { return static_cast<std::int64_t>(local_.tasks.size()); }
  [[nodiscard]] std::int64_t inbox_values() const { return 2 * plan_.size + slots_; }
  [[nodiscard]] std::int64_t inbox_words() const {
    return inbox_buffers * max_rhs_ * inbox_values() * flag::words;
  }
  /// Returns the number of blocks of a solve: not more than are resident beside the blocks of the other PEs
  /// of the device.
  [[nodiscard]] std::uint32_t blocks_of(const Executor& on) const {
    const std::int64_t resident = on.template resident_blocks<agent>() / team_.pes_on_device();
    const std::int64_t wanted = (task_count() + agent::warps - 1) / agent::warps;
    return static_cast<std::uint32_t>(std::max<std::int64_t>(std::min(resident, wanted), 1));
  }
  [[nodiscard]] std::int64_t largest_of_all(std::int64_t mine) const {
    std::int64_t largest = mine;
    for (const auto& of_pe : gather(team_, std::vector<std::int64_t>{mine})) {
      largest = std::max(largest, of_pe.front());
    }
    return largest;
  }

  template <class T>
  static buffer<T> to_device(const std::vector<T>& values, const Executor& on, memory_resource& resource) {
    auto made = make_buffer<T>(static_cast<std::int64_t>(values.size()), on, resource);
    on.upload(made.data(), values.data(), made.bytes());
    return made;
  }

  Team& team_;
  int rank_;
  triangle_form form_;
  std::int64_t first_row_;
  std::int64_t rows_;
  std::int64_t max_rhs_;
  std::vector<std::vector<std::int64_t>> ranges_;  ///< by PE: first row, rows, rows of the whole matrix
  predicted_solve predicted_;
  local_plan<Index> local_;
  shared_plan plan_;
  std::vector<std::vector<std::int64_t>> asked_;  ///< by PE: entries of this PE whose values it needs
  std::vector<std::int64_t> zero_pivots_;         ///< by substitution index
  std::int64_t slots_;                            ///< partial sums in each inbox
  std::uint32_t blocks_;                          ///< of a solve
  buffer<pe_state> state_;
  symmetric_buffer<word, Team> inbox_;
  symmetric_buffer<std::uint64_t, Team> begun_;
  buffer<task> tasks_;
  buffer<Index> sources_;
  buffer<std::int64_t> partials_;
  buffer<int> targets_;
  buffer<word*> inbox_of_pe_;
  buffer<std::uint64_t*> begun_of_pe_;
  buffer<Scalar> values_;
};

}  // namespace sptrsv::detail::distributed
