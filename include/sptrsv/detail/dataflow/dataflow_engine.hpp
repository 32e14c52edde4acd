// SPDX-License-Identifier: Apache-2.0
// The engine of dataflow: solves the system on one path, as it is or with rows rewritten by row elimination
// so that fewer hand-offs are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/rewrite.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_dataflow<Tuning>, Scalar, Index, Offset, Executor> {
  using policy_type = policy::basic_dataflow<Tuning>;
  using request_type = dataflow::request<policy_type, Scalar, Index, Offset>;
  using draft_type = dataflow::draft<policy_type, Scalar, Index, Offset, Executor>;
  using predictor = dataflow::predictor<policy_type, Scalar, Index, Offset, Executor>;
  using plan_builder = dataflow::plan_builder<policy_type, Scalar, Index, Offset, Executor>;
  using rewriter = dataflow::rewriter<policy_type, Scalar, Index, Offset, Executor>;
  using plan_type = typename draft_type::plan_type;
  using elimination = dataflow::row_elimination::rewritten_system<Scalar, Index, Offset, Executor>;

 public:
  struct workspace {
    typename plan_type::workspace of_path;
    buffer<Scalar> rhs;  ///< of the rewritten system: size x max_rhs; empty if rows are not rewritten

    void reset(const Executor& on) {
      std::visit([&](auto& storage) { storage.reset(on); }, of_path);
    }
  };

  /// Both triangles of a matrix, prepared and predicted together. The drafts are in the scratch memory.
  struct both_triangles {
    dataflow::analysis_scratch scratch;
    std::vector<draft_type> drafts;

    both_triangles(const std::array<request_type, 2>& of, const Executor& on, memory_resource& kept,
                   memory_resource& from)
        : scratch(of[0].stored, 2, on, from),
          drafts(predictor(on, scratch.memory(kept)).prepare_and_predict(of)) {}

    /// Returns the bytes that the engine of triangle k will keep of what was allocated from `kept`.
    [[nodiscard]] std::size_t kept_bytes(std::size_t k) const { return drafts[k].kept_bytes(); }
  };
  /// Begins the analyses of both triangles of a matrix. `kept`: resource of what the engines keep; it
  /// outlives them. `scratch`: of what ends with the result. Synchronises. Throws as an analysis does.
  static both_triangles begin_both(const policy_type& policy, const pattern_view<Index, Offset>& a,
                                   const std::array<triangle_form, 2>& forms, std::int64_t max_rhs,
                                   const Executor& on, memory_resource& kept, memory_resource& scratch) {
    return {std::array{request_of(policy, a, forms[0], max_rhs), request_of(policy, a, forms[1], max_rhs)},
            on, kept, scratch};
  }

  engine(const policy_type& policy, const valued_pattern<Scalar, Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : size_(a.size), max_rhs_(max_rhs), reversed_(form.reversed) {
    dataflow::analysis_scratch scratch(a, 1, on, resource);
    const analysis_memory memory = scratch.memory(resource);
    auto drafts = predictor(on, memory).prepare_and_predict(std::array{request_of(policy, a, form, max_rhs)});
    take(drafts[0], a.values, on, memory);
  }
  /// Ends the analysis of triangle k, once.
  engine(const policy_type&, const valued_pattern<Scalar, Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource, both_triangles& both,
         std::size_t k)
      : size_(a.size), max_rhs_(max_rhs), reversed_(form.reversed) {
    draft_type draft = std::move(both.drafts[k]);  // its memory is freed before the next triangle is built
    take(draft, a.values, on, both.scratch.memory(resource));
  }

  /// The first call passes the values of the constructor.
  void update_values(const Scalar* values, const Executor& on) {
    if (elimination_) {
      if (!std::exchange(has_rewritten_values_, false)) {
        elimination_->update_values(values, on);
      }
      plan_->update_values(elimination_->values(), on);
    } else {
      plan_->update_values(values, on);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {plan_->make_workspace(on, resource), buffer<Scalar>(rhs_size(), resource, on.stream())};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    if (!elimination_) {
      plan_->solve(alpha, b, x, scratch.of_path, on);
      return;
    }
    // The rewritten system is a lower one: its row r is the row with the substitution index r.
    const auto x_in_order = by_substitution_index(x);
    if (plan_->combines_rhs(b.columns)) {
      auto b_in_order = by_substitution_index(b);
      if (b.data == x.data) {  // x may be b, element for element
        dataflow::row_per_thread::copy_by_rows(
            b_in_order, dense_view<Scalar>::column_major(scratch.rhs.data(), size_, 1, size_), on);
        b_in_order = dense_view<const Scalar>::column_major(scratch.rhs.data(), size_, 1, size_);
      }
      plan_->solve_rewritten(elimination_->rhs(), alpha, b_in_order, x_in_order, scratch.of_path, on);
      return;
    }
    elimination_->transform(alpha, b, scratch.rhs.data(), on);
    const auto c = dense_view<const Scalar>::column_major(scratch.rhs.data(), size_, b.columns, size_);
    plan_->solve(pivot_divisor<Scalar>::one(), c, x_in_order, scratch.of_path, on);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return plan_->first_nonfinite_index(scratch.of_path, on);
  }
  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return plan_->is_zero_pivot(substitution_index, scratch.of_path, on);
  }
  /// Returns the first row whose growth is too large by the values that were given last; -1 if there is none.
  /// See solve_status::kind::growth. Synchronises.
  std::int64_t first_grown_index(const Executor& on) const {
    return elimination_ ? elimination_->first_grown_index(on) : -1;
  }

  void describe(solver_info& info, const Executor& on) const {
    plan_->describe(info, on);
    if (elimination_) {
      info.rewritten_rows = elimination_->rewritten();
      kernel_info rhs = elimination_->describe();
      if (plan_->combines_rhs(max_rhs_)) {
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
  static request_type request_of(const policy_type& policy, const pattern_view<Index, Offset>& a,
                                 const triangle_form& form, std::int64_t max_rhs) {
    SPTRSV_EXPECTS(Tuning::entries == entry_storage::as_values ||
                       (policy.exact_order && (policy.path == policy::dataflow_path::automatic ||
                                               policy.path == policy::dataflow_path::row_per_thread)),
                   errc::unsupported,
                   "dataflow: entries in single precision need the path row_per_thread and exact_order");
    return {policy, a, form, max_rhs};
  }

  /// Chooses a path, or a rewritten system, and builds it. `values`: of the stored matrix.
  void take(draft_type& draft, const Scalar* values, const Executor& on, const analysis_memory& memory) {
    predictor(on, memory).decide(draft);
    if (draft.chosen && !draft.of.policy.exact_order && !draft.needs_no_path()) {
      rewrite(draft, values, on, memory);
    }
    if (!elimination_) {
      plan_ = plan_builder(draft, on, memory).build();
      expect_planned(draft.of.policy.path);
    }
  }
  void rewrite(draft_type& draft, const Scalar* values, const Executor& on, const analysis_memory& memory) {
    if (!draft.system.levels && draft.of.has_level_order()) {
      draft.system.levels = levels_of_rows(draft.system.rows(), on, memory);
    }
    auto made = rewriter(draft, values, on, memory).best();
    rewriting_ = std::move(made.text);
    if (made.plan) {
      elimination_ = std::move(made.rows);
      has_rewritten_values_ = true;
      plan_ = std::move(made.plan);
    }
  }
  /// Throws errc::unsupported if there is no plan: the path that is asked for cannot solve the system.
  void expect_planned(policy::dataflow_path path) const {
    const bool in_blocks = path == policy::dataflow_path::natural_blocks;
    SPTRSV_EXPECTS(plan_ || !(in_blocks || path == policy::dataflow_path::single_block), errc::unsupported,
                   "dataflow: the path ", in_blocks ? "natural_blocks" : "single_block",
                   " cannot solve this system: the system or max_rhs is too large, the x ring buffer is too "
                   "short for its rows, or there is no such shape");
    SPTRSV_EXPECTS(
        plan_, errc::unsupported,
        "dataflow: the path partitioned cannot solve this system: the system is too large, there "
        "are more than 256 partitions, there is too little shared memory, or there is no such shape");
  }

  template <class T>
  [[nodiscard]] dense_view<T> by_substitution_index(const dense_view<T>& v) const {
    return {v.data + (reversed_ ? (size_ - 1) * v.row_stride : 0), v.rows, v.columns,
            reversed_ ? -v.row_stride : v.row_stride, v.column_stride};
  }
  [[nodiscard]] std::size_t rhs_size() const {
    return elimination_ ? static_cast<std::size_t>(checked_product(size_, max_rhs_)) : 0;
  }

  std::int64_t size_;
  std::int64_t max_rhs_;
  bool reversed_;
  std::optional<plan_type> plan_;             ///< of the system that is solved
  std::string rewriting_;                     ///< whether rows are rewritten, and why
  std::unique_ptr<elimination> elimination_;  ///< null if rows are not rewritten
  /// True if the rewritten system already has the values that the next update_values() will pass.
  bool has_rewritten_values_ = false;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
