// SPDX-License-Identifier: Apache-2.0
// The result of an analysis: the path that solves a system.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "sptrsv/detail/dataflow/hybrid.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_path.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_path.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_path.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// The path that solves a system, and why it was chosen. All four types of paths have a name, a type
/// `workspace`, update_values, make_workspace, solve, first_nonfinite_index, is_zero_pivot and describe.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
struct plan {
  using row_per_thread_path = row_per_thread::path<Tuning, Scalar, Index, Offset, Executor>;
  using partitioned_path = partitioned::path<Tuning, Scalar, Executor>;
  using single_block_path = single_block::path<Tuning, Scalar, Offset, Executor>;
  using hybrid_path = hybrid::path<row_per_thread_path, partitioned_path, Scalar, Executor>;
  using path_type = std::variant<row_per_thread_path, partitioned_path, single_block_path, hybrid_path>;
  /// The memory of one solve in flight; the path says which kind it needs.
  using workspace = std::variant<double_buffer_storage<Scalar>, single_block::scratch>;

  path_type path;
  std::int64_t levels = 0;         ///< of the system; 0 if the analysis did not count them
  std::int64_t levels_solved = 0;  ///< the same after rows were rewritten
  double nanoseconds = 0;  ///< predicted time of a solve with max_rhs right-hand sides, if one was predicted
  std::vector<predicted_time> predictions{};  ///< of all paths that were considered
  std::string text{};                         ///< which path was chosen and why
  std::int64_t entries = 0;                   ///< of the system, with the pivots that are stored
  std::int64_t longest_row = 0;               ///< of the system; its entries without the pivot

  [[nodiscard]] bool is_row_per_thread() const { return std::holds_alternative<row_per_thread_path>(path); }

  void update_values(const Scalar* values, const Executor& on) {
    std::visit([&](auto& of) { of.update_values(values, on); }, path);
  }
  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return std::visit([&](const auto& of) { return workspace(of.make_workspace(on, resource)); }, path);
  }
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    visit_with(scratch, [&](const auto& of, auto& own) { of.solve(alpha, b, x, own, on); });
  }
  /// Returns whether solve_rewritten() may be called with this number of right-hand sides.
  [[nodiscard]] bool combines_rhs(std::int64_t columns) const { return columns == 1 && is_row_per_thread(); }
  /// Solves with right-hand sides that the kernel combines. b and x do not overlap.
  void solve_rewritten(const row_per_thread::rewritten_rhs<Scalar, Index, Offset>& rhs, Scalar alpha,
                       dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
                       const Executor& on) const {
    std::get<row_per_thread_path>(path).solve_rewritten(
        rhs, alpha, b, x, std::get<typename row_per_thread_path::workspace>(scratch), on);
  }
  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return visit_with(scratch, [&](const auto& of, auto& own) { return of.first_nonfinite_index(own, on); });
  }
  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return visit_with(
        scratch, [&](const auto& of, auto& own) { return of.is_zero_pivot(substitution_index, own, on); });
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = entries;
    info.levels = levels;
    info.levels_solved = levels_solved;
    info.longest_row = longest_row;
    info.predictions = predictions;
    info.plan = text;
    info.kernels.clear();
    info.solver_bytes = 0;
    std::visit(
        [&](const auto& of) {
          info.path = of.name;
          of.describe(info);
        },
        path);
  }

 private:
  /// Calls visit(path, workspace of the path).
  template <class Workspace, class Visit>
  decltype(auto) visit_with(Workspace& scratch, const Visit& visit) const {
    return std::visit(
        [&](const auto& of) -> decltype(auto) {
          using own = typename std::remove_const_t<std::remove_reference_t<decltype(of)>>::workspace;
          return visit(of, std::get<own>(scratch));
        },
        path);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
