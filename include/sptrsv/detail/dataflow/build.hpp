// SPDX-License-Identifier: Apache-2.0
// The last step of an analysis: builds the path that was chosen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "sptrsv/detail/dataflow/predict.hpp"
#include "sptrsv/detail/levels/cut_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// The scratch memory of an analysis of systems of one matrix.
struct analysis_scratch {
  scratch_arena arena;
  simt::scan_words words;

  template <class Index, class Offset, class Executor>
  analysis_scratch(const pattern_view<Index, Offset>& a, std::size_t systems, const Executor& on,
                   memory_resource& from)
      : arena(systems * arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), from, on.stream()),
        words(arena) {}

  /// `kept`: for arrays that the plan keeps.
  [[nodiscard]] analysis_memory memory(memory_resource& kept) { return {kept, arena, &words}; }
};

/// Builds the plan of a draft, whose arrays it takes. If the chosen path does not fit, takes the next.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class plan_builder {
  using draft_type = draft<Policy, Scalar, Index, Offset, Executor>;
  using tuning = typename Policy::tuning;
  using path_name = typename Policy::path_type;
  using plan_type = typename draft_type::plan_type;
  using row_per_thread_path = typename draft_type::row_per_thread_path;
  using partitioned_path = typename plan_type::partitioned_path;
  using partitioned_planner = typename draft_type::partitioned_planner;
  using plan_settings = partitioned::plan_settings;

 public:
  plan_builder(draft_type& of, const Executor& on, const analysis_memory& memory)
      : draft_(of), of_(of.of), on_(on), memory_(memory) {}

  /// Returns nothing if no path is left; see path_choice. Synchronises.
  std::optional<plan_type> build() {
    while (draft_.chosen) {
      const path_name taken = *draft_.chosen;
      if (auto path = build_path(taken)) {
        return describe(taken, std::move(*path));
      }
      draft_.chosen = draft_.choose();
    }
    return {};
  }

 private:
  using path_type = typename plan_type::path_type;

  /// Returns nothing, and makes the time of the path infinite, if the path does not fit.
  std::optional<path_type> build_path(path_name taken) {
    switch (taken) {
      case path_name::single_block:
        return build_single_block();
      case path_name::natural_blocks:
        return build_natural_blocks();
      case path_name::hybrid:
        return build_hybrid();
      case path_name::partitioned:
        return build_partitioned();
      default:
        return build_row_per_thread();
    }
  }

  path_type build_single_block() {
    const single_block::planned_schedule& found = *draft_.schedule;
    return build_scheduled<typename plan_type::single_block_path>(*found.made, found.chosen.index);
  }
  path_type build_natural_blocks() {
    const auto& found = *draft_.blocks;
    natural_blocks::schedule_builder<Index, Offset> builder(found.rows, found.placed);
    return build_scheduled<typename plan_type::natural_blocks_path>(builder.build(), found.shape_index);
  }
  template <class Path, class Schedule>
  Path build_scheduled(const Schedule& made, int shape_index) const {
    return Path(made, shape_index, of_.max_rhs, draft_.system.whole(), of_.form, on_, memory_.kept);
  }

  path_type build_row_per_thread() {
    draft_.system.before_split = {};
    if (!draft_.order && of_.has_level_order()) {
      if (!draft_.system.levels) {
        draft_.system.levels = levels_of_rows(draft_.system.rows(), on_, memory_);
      }
      const device_triangle<Index, Offset>& rows = draft_.system.rows();
      draft_.order = row_per_thread::order_rows<tuning>(rows, *draft_.system.levels, nullptr, on_, memory_);
      if (rows.rows_are_stored_runs) {  // a wait for the device less
        draft_.order->slots = row_per_thread::slots_without_count<tuning>(rows, draft_.system.levels->count);
      }
    }
    if (draft_.system.levels) {
      draft_.system.levels->free_rows();
    }
    return row_per_thread_path(std::move(draft_.system.split), of_.stored.size, of_.max_rhs,
                               std::move(draft_.order), of_.form, on_, memory_);
  }

  std::optional<path_type> build_partitioned() {
    draft_.order.reset();
    draft_.system.before_split = {};
    if (!draft_.layout) {
      draft_.layout.emplace(plan_settings::of<tuning, Scalar>(draft_.search.best), on_, memory_);
      if (!draft_.layout->lay_out(draft_.system.split, *draft_.system.levels)) {
        draft_.layout.reset();
        draft_.times.partitioned = path_times::never;
        is_too_large_ = true;
        return {};
      }
    }
    draft_.system.split.triangle.columns = {};
    draft_.system.levels->free_rows();
    return pack(*draft_.layout, draft_.system.split, draft_.search.best);
  }
  /// Returns the path of the rows that were laid out.
  partitioned_path pack(partitioned_planner& laid_out, const split_triangle<Index, Offset>& split,
                        const partitioned::shape_choice& chosen) {
    return {laid_out.pack(split, of_.stored.size, of_.stored.entries, of_.form.reversed, memory_.kept),
            chosen.shape_index,
            of_.stored.size,
            of_.stored.entries,
            of_.max_rhs,
            of_.form,
            on_};
  }

  std::optional<path_type> build_hybrid() {
    split_triangle<Index, Offset>& whole = draft_.system.split;
    half_triangle<Index, Offset>& first = draft_.hybrid->halves.first;
    half_triangle<Index, Offset>& rest = draft_.hybrid->halves.rest;
    draft_.order.reset();
    rest.levels.numbers = std::move(draft_.system.levels->numbers);
    draft_.system.levels->free_rows();
    whole.triangle.columns = {};
    take_sources(first, whole.triangle, on_, memory_.scratch);
    take_sources(rest, whole.triangle, on_, memory_.scratch);
    whole = {};
    partitioned_planner layout(plan_settings::of<tuning, Scalar>(draft_.hybrid->rest), on_, memory_);
    if (!layout.lay_out(rest.split, rest.levels)) {
      // This is rare: the triangle and its levels are not kept for it.
      draft_.times.hybrid = path_times::never;
      draft_.hybrid.reset();
      draft_.system = std::move(prepare(std::array{of_}, on_, memory_)[0]);
      return {};
    }
    rest.split.triangle.columns = {};
    first.levels = {};
    rest.levels = {};
    auto& order = draft_.hybrid->first_order;
    // Columns before the cut become solve indices, see cut_triangle.
    simt::for_each(on_, static_cast<std::int64_t>(layout.columns().size()),
                   renumber_first_columns<Index>{rest.split.triangle.size, order.levels.solve_indices.data(),
                                                 layout.columns().data()});
    row_per_thread_path first_path(std::move(first.split), of_.stored.size, of_.max_rhs, std::move(order),
                                   of_.form, on_, memory_);
    return
        typename plan_type::hybrid_path(std::move(first_path), pack(layout, rest.split, draft_.hybrid->rest));
  }

  plan_type describe(path_name taken, path_type&& path) const {
    const auto choice = draft_.choice();
    plan_type made{std::move(path)};
    made.entries = draft_.entries();
    made.longest_row = draft_.system.longest_row;
    made.levels = draft_.levels();
    made.nanoseconds = draft_.nanoseconds();
    made.predictions = choice.predictions(taken, draft_.times);
    if (of_.stored.size == 0) {
      return made;
    }
    if (draft_.needs_no_path()) {
      made.levels = 1;
      made.text = "row_per_thread: no row needs another one";
    } else if (draft_.is_flat) {
      made.text = "row_per_thread: few levels, which are wide; predicted: " + to_text(made.predictions);
    } else if (taken == path_name::hybrid) {
      made.text = choice.text(
          "hybrid",
          {{std::to_string(draft_.hybrid->first_levels) + " levels by row_per_thread",
            draft_.hybrid->first_nanoseconds},
           {std::to_string(draft_.system.levels->count - draft_.hybrid->first_levels) + " by partitioned",
            draft_.hybrid->rest.nanoseconds},
           {"all levels by one path", draft_.times.single_path(of_.limits)}});
    } else if (is_too_large_) {
      made.text =
          choice.text("row_per_thread", {}) + "the packed slices of the partitioned path are too large";
    } else if (!made.predictions.empty()) {
      made.text =
          choice.text(std::visit([](const auto& of) { return of.name; }, made.path), made.predictions);
    }
    if (made.levels == 0 && !draft_.system.has_partial_rows && made.is_row_per_thread()) {
      made.levels = std::get<row_per_thread_path>(made.path).levels();
    }
    made.levels_solved = made.levels;
    return made;
  }

  draft_type& draft_;
  const typename draft_type::request_type& of_;
  const Executor& on_;
  const analysis_memory& memory_;
  bool is_too_large_ = false;  ///< whether packed slices were
};

/// Returns the plan of a request; nothing if no path meets its limits. Synchronises.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
auto plan_of(const request<Policy, Scalar, Index, Offset>& of, const Executor& on,
             memory_resource& resource) {
  analysis_scratch scratch(of.stored, 1, on, resource);
  const analysis_memory memory = scratch.memory(resource);
  const predictor<Policy, Scalar, Index, Offset, Executor> with(on, memory);
  auto drafts = with.prepare_and_predict(std::array{of});
  with.decide(drafts[0]);
  return plan_builder<Policy, Scalar, Index, Offset, Executor>(drafts[0], on, memory).build();
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
