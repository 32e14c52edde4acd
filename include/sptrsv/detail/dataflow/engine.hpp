// The engine of dataflow: the system on one of the paths, as it is or rewritten so that fewer hand-offs are
// left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sptrsv/detail/dataflow/elimination.hpp"
#include "sptrsv/detail/dataflow/path_engine.hpp"
#include "sptrsv/detail/dataflow/policy.hpp"
#include "sptrsv/detail/plan_text.hpp"
#include "sptrsv/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_dataflow<Tuning>, Scalar, Index, Offset, Executor> {
  using paths = dataflow::path_engine<Tuning, Scalar, Index, Offset, Executor>;
  using elimination = dataflow::row_elimination_plan<Scalar, Index, Offset, Executor>;

 public:
  struct workspace {
    typename paths::workspace of_path;
    buffer<Scalar> rhs;  ///< of the rewritten system
  };

  engine(const policy::basic_dataflow<Tuning>& policy, const numbered_pattern<Scalar, Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : size_(a.size),
        max_rhs_(max_rhs),
        reversed_(form.reversed),
        paths_(std::make_unique<paths>(policy, a, form, max_rhs, on, resource)) {
    paths_->expect_planned(policy);
    if (!policy.exact_order) {
      rewrite(policy, a, form, on, resource);
    }
  }

  void update_values(const Scalar* values, const Executor& on) {
    if (elimination_) {
      elimination_->update_values(values, on);
      paths_->update_values(elimination_->values(), on);
    } else {
      paths_->update_values(values, on);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {paths_->make_workspace(on, resource), buffer<Scalar>(rhs_size(), resource, on.stream())};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    if (!elimination_) {
      paths_->solve(alpha, b, x, scratch.of_path, on);
      return;
    }
    elimination_->transform(alpha, b, scratch.rhs.data(), on);
    const auto c = dense_view<const Scalar>::column_major(scratch.rhs.data(), size_, b.columns, size_);
    const dense_view<Scalar> by_position(x.data + (reversed_ ? (size_ - 1) * x.row_stride : 0), x.rows,
                                         x.columns, reversed_ ? -x.row_stride : x.row_stride,
                                         x.column_stride);
    paths_->solve(pivot_divisor<Scalar>::one(), c, by_position, scratch.of_path, on);
  }

  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return paths_->first_bad_position(scratch.of_path, on);
  }
  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return paths_->is_zero_pivot(position, on);
  }
  /// Of the values that were given last, see solve_status::kind::growth. Synchronises.
  std::int64_t first_grown_position(const Executor& on) const {
    return elimination_ ? elimination_->first_grown_position(on) : -1;
  }

  void describe(solver_info& info, const Executor& on) const {
    paths_->describe(info, on);
    if (elimination_) {
      info.entries = exact_.entries;
      info.levels = exact_.levels;
      info.longest_row = exact_.longest_row;
      info.kernels.insert(info.kernels.begin(), elimination_->describe());
      info.solver_bytes += elimination_->bytes();
      info.workspace_bytes += rhs_size() * sizeof(Scalar);
    }
    info.plan += (info.plan.empty() || plan_.empty() ? "" : "; ") + plan_;
  }

 private:
  /// Takes the rewritten system instead, if that promises to be solved faster or a path was asked for.
  void rewrite(const policy::basic_dataflow<Tuning>& policy, const numbered_pattern<Scalar, Index, Offset>& a,
               const triangle_form& form, const Executor& on, memory_resource& resource) {
    auto made = std::make_unique<elimination>(build_on_device<Index, Offset>(a, form, on, resource), a.values,
                                              form, policy.largest_growth, std::max(1.0, policy.largest_fill),
                                              Tuning::rewritten_entries, on, resource);
    if (made->rewritten() * Tuning::rows_per_rewritten < size_ || made->rewritten() == 0) {
      plan_ = "as it is: inverses for " + std::to_string(made->rewritten()) + " rows only";
      return;
    }
    made->update_values(a.values, on);
    if (made->first_grown_position(on) >= 0) {
      plan_ = "as it is: inverses are not finite";
      return;
    }
    const triangle_form rewritten_form(
        {uplo::lower, form.unit ? diag::unit : diag::non_unit, op::none, max_rhs_}, false);
    auto rewritten = std::make_unique<paths>(policy, made->pattern(), rewritten_form, max_rhs_, on, resource);
    if (!rewritten->is_planned()) {
      plan_ = "as it is: no such path with inverses";
      return;
    }
    if (is_better(policy, *made, *rewritten, on)) {
      paths_->describe(exact_, on);
      elimination_ = std::move(made);
      paths_ = std::move(rewritten);
    }
  }

  /// Whether the rewritten system is to be taken; says so in the plan.
  bool is_better(const policy::basic_dataflow<Tuning>& policy, const elimination& made,
                 const paths& rewritten, const Executor& on) {
    solver_info before;
    solver_info after;
    paths_->describe(before, on);
    rewritten.describe(after, on);
    plan_ = std::to_string(made.rewritten()) + " of " + std::to_string(size_) + " rows rewritten by inverses";
    if (before.levels > 0 && after.levels > 0) {
      plan_ += ", levels " + std::to_string(before.levels) + " to " + std::to_string(after.levels);
    }
    if (policy.path != policy::dataflow_path::automatic) {
      return true;
    }
    const double bytes = static_cast<double>(made.transform_bytes()) * static_cast<double>(max_rhs_);
    const double with =
        rewritten.predicted_nanoseconds() + Tuning::transform_launch_ns + bytes * Tuning::grid_byte_ns;
    const double without = paths_->predicted_nanoseconds();
    plan_ += ", " + predicted_time("predicted", with) + ", " + predicted_time("as it is", without);
    // On the grid the new entries cost more than a level does: all of them are recent.
    const bool is_better = with < without && !rewritten.is_grid();
    if (!is_better) {
      plan_ = "as it is; with " + plan_;
    }
    return is_better;
  }

  [[nodiscard]] std::size_t rhs_size() const {
    return elimination_ ? static_cast<std::size_t>(size_ * max_rhs_) : 0;
  }

  std::int64_t size_;
  std::int64_t max_rhs_;
  bool reversed_;
  solver_info exact_;                         ///< of the system before it is rewritten
  std::string plan_;                          ///< whether it is, and why
  std::unique_ptr<elimination> elimination_;  ///< null: not rewritten
  std::unique_ptr<paths> paths_;
};

}  // namespace sptrsv::detail
