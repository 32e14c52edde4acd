// The engine of dataflow: solves the system on one path, as it is or with rows rewritten by row elimination
// so that fewer hand-offs are left. The file is long because the choice among the ways to rewrite compares
// each of them with the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sptrsv/detail/base/checked_product.hpp"
#include "sptrsv/detail/base/plan_text.hpp"
#include "sptrsv/detail/dataflow/joint_analysis.hpp"
#include "sptrsv/detail/dataflow/path_engine.hpp"
#include "sptrsv/detail/dataflow/row_elimination/rewritten_system.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_dataflow<Tuning>, Scalar, Index, Offset, Executor> {
  using policy_type = policy::basic_dataflow<Tuning>;
  using path_engine = dataflow::path_engine<policy_type, Scalar, Index, Offset, Executor>;
  using replace_function = typename path_engine::replace_function;
  using elimination = dataflow::row_elimination::rewritten_system<Scalar, Index, Offset, Executor>;
  using row_elimination_limits = dataflow::row_elimination::limits;
  using time_limits = dataflow::time_limits;
  static constexpr time_limits no_limits{};

 public:
  struct workspace {
    typename path_engine::workspace of_path;
    buffer<Scalar> rhs;  ///< of the rewritten system: size x max_rhs; empty if rows are not rewritten

    void reset(const Executor& on) {
      std::visit([&](auto& storage) { storage.reset(on); }, of_path);
    }
  };

  engine(const policy_type& policy, const valued_pattern<Scalar, Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : size_(a.size), max_rhs_(max_rhs), reversed_(form.reversed) {
    SPTRSV_EXPECTS(Tuning::entries == entry_storage::as_values ||
                       (policy.exact_order && (policy.path == policy::dataflow_path::automatic ||
                                               policy.path == policy::dataflow_path::row_per_thread)),
                   errc::unsupported,
                   "dataflow: entries in single precision need the path row_per_thread and exact_order");
    const replace_function replace = [&](const dataflow::system_facts& facts,
                                         const device_triangle<Index, Offset>& triangle,
                                         const row_levels<Index>* levels, const analysis_memory& memory) {
      exact_ = facts;
      rewrite({policy, triangle, levels, a.values, form, on, memory});
      return elimination_ != nullptr;
    };
    auto as_it_is = std::make_unique<path_engine>(policy, a, form, max_rhs, no_limits,
                                                  policy.exact_order ? nullptr : &replace, on, resource);
    if (!elimination_) {
      as_it_is->expect_planned(policy);
      path_ = std::move(as_it_is);
    }
  }

  /// Prepares the analyses of both triangles of a matrix together.
  using joint_analysis = dataflow::joint_analysis<policy_type, Scalar, Index, Offset, Executor>;

  /// The first call passes the values of the constructor.
  void update_values(const Scalar* values, const Executor& on) {
    if (elimination_) {
      if (!std::exchange(has_rewritten_values_, false)) {
        elimination_->update_values(values, on);
      }
      path_->update_values(elimination_->values(), on);
    } else {
      path_->update_values(values, on);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {path_->make_workspace(on, resource), buffer<Scalar>(rhs_size(), resource, on.stream())};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    if (!elimination_) {
      path_->solve(alpha, b, x, scratch.of_path, on);
      return;
    }
    // The rewritten system is a lower one: its row r is the row with the substitution index r.
    const auto x_in_order = by_substitution_index(x);
    const auto* const by_levels = elimination_->combinable();
    if (by_levels != nullptr && path_->combines_rhs(b.columns)) {
      auto b_in_order = by_substitution_index(b);
      if (b.data == x.data) {  // x may be b, element for element
        simt::for_each(on, size_, dataflow::level_runs::copy_rhs<Scalar>{b_in_order, scratch.rhs.data()});
        b_in_order = dense_view<const Scalar>::column_major(scratch.rhs.data(), size_, 1, size_);
      }
      path_->solve_rewritten(by_levels->rhs(), alpha, b_in_order, x_in_order, scratch.of_path, on);
      return;
    }
    elimination_->transform(alpha, b, scratch.rhs.data(), on);
    const auto c = dense_view<const Scalar>::column_major(scratch.rhs.data(), size_, b.columns, size_);
    path_->solve(pivot_divisor<Scalar>::one(), c, x_in_order, scratch.of_path, on);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return path_->first_nonfinite_index(scratch.of_path, on);
  }
  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return path_->is_zero_pivot(substitution_index, scratch.of_path, on);
  }
  /// Returns the first row whose growth is too large by the values that were given last; -1 if there is none.
  /// See solve_status::kind::growth. Synchronises.
  std::int64_t first_grown_index(const Executor& on) const {
    return elimination_ ? elimination_->first_grown_index(on) : -1;
  }

  void describe(solver_info& info, const Executor& on) const {
    path_->describe(info, on);
    if (elimination_) {
      info.entries = exact_.entries;
      info.levels = exact_.levels;
      info.longest_row = exact_.longest_row;
      info.rewritten_rows = elimination_->rewritten();
      kernel_info rhs = elimination_->describe();
      if (elimination_->combinable() != nullptr && path_->combines_rhs(max_rhs_)) {
        rhs.launches = 0;
        rhs.text += ", combined by the next kernel unless x is b";
      }
      info.kernels.insert(info.kernels.begin(), std::move(rhs));
      info.solver_bytes += elimination_->bytes();
      info.workspace_bytes += rhs_size() * sizeof(Scalar);
    }
    info.plan += (info.plan.empty() || rewriting_.empty() ? "" : "; ") + rewriting_;
  }

 private:
  template <class T>
  [[nodiscard]] dense_view<T> by_substitution_index(const dense_view<T>& v) const {
    return {v.data + (reversed_ ? (size_ - 1) * v.row_stride : 0), v.rows, v.columns,
            reversed_ ? -v.row_stride : v.row_stride, v.column_stride};
  }
  /// The system as it is, in scratch memory, and what rewriting it needs.
  struct original {
    const policy_type& policy;
    const device_triangle<Index, Offset>& triangle;
    const row_levels<Index>* levels;  ///< null if they are not known
    const Scalar* values;
    const triangle_form& form;
    const Executor& on;
    const analysis_memory& memory;

    /// Returns whether predicted times decide.
    [[nodiscard]] bool by_time() const { return policy.path == policy::dataflow_path::automatic; }
    [[nodiscard]] row_elimination_limits limits(std::int64_t entries) const {
      return {policy.max_growth, std::max(1.0, policy.max_fill), entries, Tuning::longest_rewritten_row};
    }
  };

  /// Replaces the system by a rewritten one, if that is predicted to be solved faster or the policy asks for
  /// it.
  void rewrite(const original& system) {
    if (system.policy.run_levels > 1) {
      rewrite_by_levels(system, false);
      return;
    }
    if (!system.by_time()) {
      rewrite_row_blocks(system);
      return;
    }
    if (exact_.nanoseconds <= least_rewritten_nanoseconds()) {
      rewriting_ = "not rewritten: no rewritten system can be solved faster, " +
                   to_text(std::vector<predicted_time>{{"predicted at least", least_rewritten_nanoseconds()},
                                                       {"as it is", exact_.nanoseconds}});
      return;
    }
    if (exact_.most_levels < Tuning::least_rewritten_levels) {
      rewriting_ = "not rewritten: there are only " + std::to_string(exact_.most_levels) + " levels";
      return;
    }
    const bool by_levels = system.policy.run_levels == 0;
    if (exact_.levels_left > Tuning::rewritten_levels) {
      rewriting_ = "not rewritten: at least " + std::to_string(static_cast<int>(100 * exact_.levels_left)) +
                   " % of the levels would be left";
    } else if (!by_levels || row_blocks_may_leave_less(system.triangle)) {
      rewrite_row_blocks(system);
    }
    if (by_levels) {
      rewrite_by_levels(system, true);
    }
  }

  /// Returns whether row blocks are tried before runs of levels, which mostly give the faster system: for
  /// narrow systems and for short rows.
  [[nodiscard]] bool row_blocks_may_leave_less(const device_triangle<Index, Offset>& triangle) const {
    return exact_.is_single_block ||
           (exact_.levels_left > 0 && exact_.levels_left <= Tuning::few_rewritten_levels &&
            static_cast<double>(triangle.entries()) <=
                Tuning::entries_of_short_rows * static_cast<double>(triangle.size));
  }

  /// Rewrites the rows of row blocks, if that is predicted to be faster or the policy asks for a path.
  void rewrite_row_blocks(const original& system) {
    auto made = std::make_unique<elimination>(typename elimination::by_row_blocks(
        system.triangle, system.values, system.form, system.limits(Tuning::rewritten_entries), system.on,
        system.memory));
    if (!rewrites_enough(*made)) {
      return;
    }
    time_limits times;
    if (system.by_time()) {
      // On the row_per_thread path the new entries cost more than a level: they all need recent components.
      times.nanoseconds = exact_.nanoseconds - transform_nanoseconds(*made);
    }
    take(made, system, times);
  }

  /// Rewrites the rows of runs of levels, if that is predicted to be faster or the policy asks for it.
  void rewrite_by_levels(const original& system, bool by_time) {
    std::string before = by_time ? rewriting_ : "";
    typename elimination::by_levels rows(
        system.triangle, system.levels, system.values, system.form,
        system.limits(Tuning::rewritten_run_entries),
        [&](std::int64_t levels) {
          return system.policy.run_levels > 1 ? system.policy.run_levels : run_levels_for(levels);
        },
        system.on, system.memory);
    bool taken = rewrites_enough(rows);
    time_limits times;
    times.is_rewritten = true;
    if (taken && by_time) {
      const bool by_rows = elimination_ ? path_->is_row_per_thread() : exact_.is_row_per_thread;
      const double now = elimination_
                             ? path_->predicted_nanoseconds() + rhs_nanoseconds(*elimination_, *path_)
                             : exact_.nanoseconds;
      times.nanoseconds =
          (by_rows ? Tuning::rewritten_gain_over_row_per_thread : Tuning::rewritten_gain) * now -
          transform_nanoseconds(rows);
      times.row_per_thread = std::min((by_rows ? Tuning::rewritten_gain_over_row_per_thread
                                               : Tuning::rewritten_gain_by_row_per_thread) *
                                          now,
                                      now - Tuning::rewritten_row_per_thread_saving_ns) -
                             (max_rhs_ == 1 ? combine_nanoseconds(rows) : transform_nanoseconds(rows));
      taken = may_pay(rows, times);
    }
    if (taken) {
      auto made = std::make_unique<elimination>(std::move(rows));
      made->make_pattern(system.on, system.memory);
      taken = take(made, system, times);
    }
    if (!taken && !before.empty()) {
      rewriting_ = elimination_ ? before : before + "; " + rewriting_;
    }
  }

  /// Returns whether a system that was rewritten by levels may meet one of the limits, before its pattern is
  /// made and planned; describes it if not.
  bool may_pay(const typename elimination::by_levels& made, const time_limits& times) {
    const auto rows = static_cast<double>(size_);
    const auto entries = static_cast<double>(made.entries());
    const auto entries_before = static_cast<double>(made.triangle().entries());
    const std::int64_t least_levels = simt::ceil_div(made.levels(), made.run_levels());
    const bool may_grow = made.run_levels() > Tuning::run_levels ||
                          made.triangle().longest_row > dataflow::longest_whole_row<Tuning> ||
                          entries <= Tuning::rewritten_growth * entries_before;
    const bool pays =
        (may_grow && dataflow::partitioned::least_nanoseconds<Tuning>(least_levels) < times.nanoseconds) ||
        dataflow::row_per_thread::solve_costs::of<Tuning>(sizeof(Scalar), sizeof(Index), max_rhs_)
                .template rewritten_nanoseconds<Tuning>(rows, entries, static_cast<double>(least_levels)) <
            times.row_per_thread;
    if (!pays) {
      rewriting_ = "not rewritten: runs of " + std::to_string(made.run_levels()) + " levels would have " +
                   std::to_string(made.entries()) + " entries instead of " +
                   std::to_string(made.triangle().entries());
    }
    return pays;
  }
  [[nodiscard]] std::int64_t run_levels_for(std::int64_t levels) const {
    return size_ <= Tuning::rows_of_narrow_level * levels ? Tuning::narrow_run_levels : Tuning::run_levels;
  }

  [[nodiscard]] triangle_form rewritten_form(const triangle_form& form) const {
    return {{uplo::lower, form.unit ? diag::unit : diag::non_unit, op::none, max_rhs_}, false};
  }

  /// Returns whether so many rows are rewritten that it may pay; describes it if not.
  template <class Made>
  bool rewrites_enough(const Made& made) {
    const bool enough = made.rewritten() * Tuning::rows_per_rewritten >= size_ && made.rewritten() > 0;
    if (!enough) {
      rewriting_ = "not rewritten: only " + std::to_string(made.rewritten()) + " rows could be";
    }
    return enough;
  }

  /// Replaces the system and takes `made`, if the rewritten one can be planned within the limits and its
  /// values are finite; returns whether it did.
  bool take(std::unique_ptr<elimination>& made, const original& system, const time_limits& times) {
    const Executor& on = system.on;
    policy_type policy = system.policy;
    policy.exact_order = true;  // nothing more is to be rewritten
    auto rewritten = std::make_unique<path_engine>(policy, made->pattern(), rewritten_form(system.form),
                                                   max_rhs_, times, nullptr, on, system.memory.kept);
    rewriting_ =
        std::to_string(made->rewritten()) + " of " + std::to_string(size_) + " rows rewritten" + made->kind();
    if (!rewritten->is_planned()) {
      rewriting_ = times.any() ? "not rewritten: a solve with " + rewriting_ + " is predicted to take longer"
                               : "not rewritten: the path cannot solve the rewritten system";
      return false;
    }
    made->make_values(on, system.memory.kept);
    made->update_values(system.values, on);
    if (made->first_grown_index(on) >= 0) {
      rewriting_ = "not rewritten: inverses are not finite";
      return false;
    }
    has_rewritten_values_ = true;
    describe_rewriting(*made, *rewritten, times.any(), on);
    made->keep(on, system.memory.kept);
    elimination_ = std::move(made);
    path_ = std::move(rewritten);
    return true;
  }

  /// Adds to the description what the rewriting gains.
  void describe_rewriting(const elimination& made, const path_engine& rewritten, bool by_time,
                          const Executor& on) {
    solver_info after;
    rewritten.describe(after, on);
    if (exact_.levels > 0 && after.levels > 0) {
      rewriting_ += ", levels " + std::to_string(exact_.levels) + " to " + std::to_string(after.levels);
    }
    if (by_time) {
      const double with = rewritten.predicted_nanoseconds() + rhs_nanoseconds(made, rewritten);
      rewriting_ +=
          ", " + to_text(std::vector<predicted_time>{{"predicted", with}, {"as it is", exact_.nanoseconds}});
    }
  }

  /// Returns the predicted time of computing the right-hand sides of the rewritten system.
  template <class Made>
  [[nodiscard]] double transform_nanoseconds(const Made& made) const {
    const double bytes = static_cast<double>(made.transform_bytes()) * static_cast<double>(max_rhs_);
    return Tuning::transform_launch_ns + bytes * Tuning::row_per_thread_byte_ns;
  }
  /// Returns the predicted time that a kernel needs to combine a right-hand side itself.
  [[nodiscard]] static double combine_nanoseconds(const typename elimination::by_levels& made) {
    return static_cast<double>(made.combine_bytes()) * Tuning::row_per_thread_byte_ns;
  }
  /// Returns the predicted time of the right-hand sides of the rewritten system on its path.
  [[nodiscard]] double rhs_nanoseconds(const elimination& made, const path_engine& path) const {
    return made.combinable() != nullptr && path.combines_rhs(max_rhs_)
               ? combine_nanoseconds(*made.combinable())
               : transform_nanoseconds(made);
  }
  /// Returns a lower bound of the predicted time of a solve with rewritten rows: two launches, and the
  /// right-hand sides read and written by the first one.
  [[nodiscard]] double least_rewritten_nanoseconds() const {
    const double bytes = 2.0 * static_cast<double>(size_) * static_cast<double>(max_rhs_) * sizeof(Scalar);
    return Tuning::transform_launch_ns + bytes * Tuning::row_per_thread_byte_ns +
           std::min(Tuning::partitioned_launch_ns, Tuning::single_block_launch_ns);
  }

  [[nodiscard]] std::size_t rhs_size() const {
    return elimination_ ? static_cast<std::size_t>(checked_product(size_, max_rhs_)) : 0;
  }

  std::int64_t size_;
  std::int64_t max_rhs_;
  bool reversed_;
  dataflow::system_facts exact_;              ///< the system before it is rewritten
  std::string rewriting_;                     ///< whether rows are rewritten, and why
  std::unique_ptr<elimination> elimination_;  ///< null if rows are not rewritten
  /// True if the rewritten system already has the values that the next update_values() will pass.
  bool has_rewritten_values_ = false;
  std::unique_ptr<path_engine> path_;
};

}  // namespace sptrsv::detail
