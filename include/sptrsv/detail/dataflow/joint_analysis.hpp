// The steps that the analyses of both triangles of a matrix share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sptrsv/detail/base/run_both.hpp"
#include "sptrsv/detail/dataflow/dataflow_planner.hpp"

namespace sptrsv::detail::dataflow {

/// Both triangles of a matrix, prepared for their planners with what they can share. `Policy`: a
/// policy::basic_dataflow.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class joint_analysis {
  using planner_type = planner<Policy, Scalar, Index, Offset, Executor>;
  using tuning = typename planner_type::tuning;
  using row_per_thread_path = typename planner_type::row_per_thread_path;
  using partitioned_search = typename planner_type::partitioned_search;
  using layout = typename planner_type::layout;
  using prepared_type = prepared_triangle<Index, Offset>;

 public:
  /// `a`: the pattern of the stored matrix, without faults in its shape. `kept`: the resource of the analyses
  /// that follow; it outlives them. `scratch`: of what ends with this object. Synchronises.
  joint_analysis(const Policy& policy, const pattern_view<Index, Offset>& a, const triangle_form (&forms)[2],
                 std::int64_t max_rhs, const Executor& on, memory_resource& kept, memory_resource& scratch)
      : arena_(2 * arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), scratch, on.stream()),
        words_(arena_),
        is_prepared_(prepare(policy, a, forms, max_rhs, on, {kept, arena_, &words_}, triangles_)) {}
  joint_analysis(const joint_analysis&) = delete;
  joint_analysis& operator=(const joint_analysis&) = delete;

  /// Returns whether the triangles are prepared. If not, each of them is to be analysed alone.
  [[nodiscard]] bool is_prepared() const { return is_prepared_; }
  /// Returns a triangle that may be analysed once, with pattern_view::prepared.
  [[nodiscard]] prepared_type& triangle(int k) { return triangles_[k]; }

 private:
  /// Prepares both triangles for two planners of `policy`, see build_both_with_levels() and
  /// plan_search::choose_both(). Returns false if it cannot, or if the planners need no levels. Synchronises.
  static bool prepare(const Policy& policy, const pattern_view<Index, Offset>& a,
                      const triangle_form (&forms)[2], std::int64_t max_rhs, const Executor& on,
                      const analysis_memory& memory, prepared_type (&to)[2]) {
    if (policy.path != decltype(policy.path)::automatic || tuning::entries != entry_storage::as_values ||
        a.entries < tuning::jointly_analysed_entries) {
      return false;
    }
    const time_limits no_limits;
    planner_type of[2] = {{policy, forms[0], a, max_rhs, no_limits, on, memory},
                          {policy, forms[1], a, max_rhs, no_limits, on, memory}};
    const bool counts_blocks = of[0].counts_blocks() || of[1].counts_blocks();
    triangle_with_levels<Index, Offset> triangles[2];
    if (!build_both_with_levels(a, forms, {tuning::longest_row, longest_whole_row<tuning>}, counts_blocks, on,
                                memory.all_scratch(), triangles)) {
      return false;
    }
    for (int k = 0; k < 2; ++k) {
      static_cast<triangle_with_levels<Index, Offset>&>(to[k]) = std::move(triangles[k]);
      split_rows(of[k], to[k]);
    }
    if (!to[0].levels && !to[1].levels) {
      auto levels = levels_of_both(to[0].rows(), to[1].rows(), on, memory, counts_blocks);
      for (std::size_t k = 0; k < 2; ++k) {
        to[k].levels = std::move(levels[k]);
        free_whole_rows(of[k], to[k]);
      }
    }
    for (int k = 0; k < 2; ++k) {
      if (to[k].levels && !of[k].counts_blocks()) {
        to[k].levels->count_of_blocks = 0;  // it was counted for the other triangle
      }
    }
    make_schedules(of, to);
    if (may_be_partitioned(of[0], to[0]) && may_be_partitioned(of[1], to[1])) {
      search_both(of, to);
      lay_out_both(of, to);
    }
    return true;
  }

  /// Splits the long rows of a triangle, if it has any.
  static void split_rows(const planner_type& of, prepared_type& found) {
    if (found.triangle.longest_row > longest_whole_row<tuning>) {
      found.split = split_long_rows(found.triangle, tuning::longest_row, of.on_, of.memory_.all_scratch());
    }
  }
  /// Frees the whole rows of a triangle with rows to split, if no path and no other system is made of them.
  /// The columns stay, because their number is needed.
  static void free_whole_rows(const planner_type& of, prepared_type& found) {
    if (found.split && of.policy_.exact_order &&
        !of.may_be_single_block(found.triangle, found.levels->count)) {
      found.triangle.row_offsets = {};
      found.triangle.sources = {};
      found.triangle.diagonal_sources = {};
    }
  }
  /// Makes the schedules of the triangles for which the planner considers the single_block path: of both at
  /// the same time.
  static void make_schedules(const planner_type (&of)[2], prepared_type (&to)[2]) {
    const auto is_wanted = [&](int k) {
      return to[k].levels && to[k].triangle.entries() > 0 && of[k].has_schedule() &&
             of[k].may_be_single_block(to[k].triangle, to[k].levels->count);
    };
    if (!is_wanted(0) || !is_wanted(1)) {
      return;
    }
    const Executor& on = of[0].on_;
    const auto first = single_block::download_rows(to[0].triangle, on);
    const auto second = single_block::download_rows(to[1].triangle, on);
    const std::size_t shared_limit = on.shared_limit();
    run_both(
        to[0].triangle.entries() + to[1].triangle.entries() >= many_entries,
        [&] { to[0].schedule = of[0].make_schedule(first, -1, shared_limit); },
        [&] { to[1].schedule = of[1].make_schedule(second, -1, shared_limit); });
  }
  /// Returns whether the first path that the planner considers for the triangle is the partitioned one.
  static bool may_be_partitioned(const planner_type& of, const prepared_type& found) {
    return found.levels.has_value() && found.rows().entries() > 0 && !of.is_narrow(found.levels->count);
  }
  /// Searches the partitioned path for both triangles at the same time, and orders the rows of those that are
  /// expected to take the row_per_thread path.
  static void search_both(const planner_type (&of)[2], prepared_type (&to)[2]) {
    const auto search_of = [&](int k) { return of[k].search_partitioned(to[k].rows(), *to[k].levels); };
    partitioned_search searches[2] = {search_of(0), search_of(1)};
    const auto behind = [&](int k) -> partitioned::work_behind {
      if (!of[k].expects_row_per_thread(to[k].rows(), to[k].levels->count)) {
        return {};
      }
      return [&of, &to, k](std::int64_t* slots) {
        to[k].order =
            row_per_thread_path::order_rows(to[k].rows(), *to[k].levels, slots, of[k].on_, of[k].memory_);
      };
    };
    partitioned_search::choose_both(searches[0], searches[1], behind(0), behind(1));
    for (int k = 0; k < 2; ++k) {
      const double by_rows = of[k].row_per_thread_nanoseconds(to[k].rows(), to[k].levels->count);
      to[k].search =
          searches[k].take_result(of[k].hybrid_limit(std::min(searches[k].best().nanoseconds, by_rows)));
    }
  }
  /// Returns whether the planner will take the partitioned path and nothing else, after a search.
  static bool takes_partitioned(const planner_type& of, const prepared_type& found) {
    return of.policy_.exact_order && found.search->cells.size() == 0 &&
           found.search->best.nanoseconds < of.row_per_thread_nanoseconds(found.rows(), found.levels->count);
  }
  /// Lays out the rows of small triangles that both take the partitioned path: the host waits once. Large
  /// ones would need scratch memory for both.
  static void lay_out_both(const planner_type (&of)[2], prepared_type (&to)[2]) {
    if (of[0].stored_.entries > entries_of_one_wait || !takes_partitioned(of[0], to[0]) ||
        !takes_partitioned(of[1], to[1])) {
      return;
    }
    const Executor& on = of[0].on_;
    const auto units = make_buffer<std::uint64_t>(2, on, of[0].memory_.scratch);
    std::unique_ptr<layout> made[2];
    for (int k = 0; k < 2; ++k) {
      made[k] = std::make_unique<layout>(to[k].search->best, on, of[k].memory_);
      if (!made[k]->builder.begin_layout(to[k].rows(), to[k].split.has_value(), *to[k].levels,
                                         units.data() + k)) {
        return;
      }
    }
    std::uint64_t found[2];
    on.download(found, units.data(), sizeof(found));
    if (made[0]->builder.end_layout(found[0]) && made[1]->builder.end_layout(found[1])) {
      to[0].layout = std::move(made[0]);
      to[1].layout = std::move(made[1]);
    }
  }

  scratch_arena arena_;
  simt::scan_words words_;
  prepared_type triangles_[2];
  bool is_prepared_;
};

}  // namespace sptrsv::detail::dataflow
