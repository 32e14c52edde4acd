// A system on one path of dataflow, as it is or rewritten.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "sptrsv/detail/dataflow/dataflow_planner.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::detail::dataflow {

/// `Policy`: a policy::basic_dataflow.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class path_engine {
  using path_name = typename Policy::path_type;
  using plan_type = plan<typename Policy::tuning, Scalar, Index, Offset, Executor>;
  static_assert(Policy::tuning::longest_row >= 4 &&
                    2 * Policy::tuning::longest_row <= partitioned::slice_head::max_global_width,
                "dataflow_tuning: longest_row must be at least 4 and at most 2047");

 public:
  using workspace = typename plan_type::workspace;

  using planner_type = planner<Policy, Scalar, Index, Offset, Executor>;
  using replace_function = typename planner_type::replace_function;

  /// Makes the triangle of the stored matrix and plans its solve. `replace`: see planner::make_plan().
  /// Synchronises.
  path_engine(const Policy& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
              std::int64_t max_rhs, const time_limits& limits, const replace_function* replace,
              const Executor& on, memory_resource& resource) {
    scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
    simt::scan_words words(arena);
    const analysis_memory memory(resource, arena, &words);
    planner_type planner(policy, form, a, max_rhs, limits, on, memory);
    auto found = planner.build();
    longest_row_ = found.triangle.longest_row;
    entries_ = found.triangle.entries() + (form.unit ? 0 : a.size);
    plan_ = planner.make_plan(std::move(found), replace);
  }

  /// Returns whether the path that the policy asks for can solve the system, the plan meets the limit, and
  /// the system was not replaced. If not, only expect_planned() may be called.
  [[nodiscard]] bool is_planned() const { return plan_.has_value(); }
  /// Throws errc::unsupported if the system is not planned.
  void expect_planned(const Policy& policy) const {
    SPTRSV_EXPECTS(is_planned() || policy.path != path_name::single_block, errc::unsupported,
                   "dataflow: the path single_block cannot solve this system: the system or max_rhs is too "
                   "large, the x ring buffer is too short for its rows, or there is no such shape");
    SPTRSV_EXPECTS(
        is_planned(), errc::unsupported,
        "dataflow: the path partitioned cannot solve this system: the system is too large, there "
        "are more than 256 partitions, there is too little shared memory, or there is no such shape");
  }

  [[nodiscard]] bool is_row_per_thread() const {
    return std::holds_alternative<typename plan_type::row_per_thread_path>(plan_->path);
  }

  void update_values(const Scalar* values, const Executor& on) {
    std::visit([&](auto& path) { path.update_values(values, on); }, plan_->path);
  }
  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return std::visit([&](const auto& path) { return workspace(path.make_workspace(on, resource)); },
                      plan_->path);
  }
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    visit_with(scratch, [&](const auto& path, auto& own) { path.solve(alpha, b, x, own, on); });
  }
  /// Returns whether solve_rewritten() may be called with this number of right-hand sides.
  [[nodiscard]] bool combines_rhs(std::int64_t columns) const { return columns == 1 && is_row_per_thread(); }
  /// Solves with right-hand sides that the kernel combines. b and x do not overlap.
  void solve_rewritten(const row_per_thread::rewritten_rhs<Scalar, Index, Offset>& rhs, Scalar alpha,
                       dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
                       const Executor& on) const {
    using path = typename plan_type::row_per_thread_path;
    std::get<path>(plan_->path)
        .solve_rewritten(rhs, alpha, b, x, std::get<typename path::workspace>(scratch), on);
  }
  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return visit_with(scratch,
                      [&](const auto& path, auto& own) { return path.first_nonfinite_index(own, on); });
  }
  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return visit_with(scratch, [&](const auto& path, auto& own) {
      return path.is_zero_pivot(substitution_index, own, on);
    });
  }

  /// Returns the predicted time of a solve with `max_rhs` right-hand sides; 0 if nothing was predicted.
  [[nodiscard]] double predicted_nanoseconds() const { return plan_->nanoseconds; }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = entries_;
    info.levels = plan_->levels;
    info.levels_solved = plan_->levels;
    info.longest_row = longest_row_;
    info.predictions = plan_->predictions;
    info.plan = plan_->text;
    info.kernels.clear();
    info.solver_bytes = 0;
    std::visit(
        [&](const auto& path) {
          info.path = path.name;
          path.describe(info);
        },
        plan_->path);
  }

 private:
  /// Calls visit(path, workspace of the path).
  template <class Workspace, class Visit>
  decltype(auto) visit_with(Workspace& scratch, const Visit& visit) const {
    return std::visit(
        [&](const auto& path) -> decltype(auto) {
          using own = typename std::remove_const_t<std::remove_reference_t<decltype(path)>>::workspace;
          return visit(path, std::get<own>(scratch));
        },
        plan_->path);
  }

  std::int64_t longest_row_ = 0;
  std::int64_t entries_ = 0;
  std::optional<plan_type> plan_;
};

}  // namespace sptrsv::detail::dataflow
