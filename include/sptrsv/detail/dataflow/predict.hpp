// SPDX-License-Identifier: Apache-2.0
// The second step of an analysis: predicts the times of the paths, and chooses one. The functions stand in
// the order of their calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/detail/dataflow/draft.hpp"
#include "sptrsv/detail/dataflow/hybrid.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// Predicts the candidates and chooses, with the executor and the memory of an analysis:
/// prepare_and_predict() for one or two systems, then decide() for each.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class predictor {
 public:
  using draft_type = draft<Policy, Scalar, Index, Offset, Executor>;
  using request_type = typename draft_type::request_type;
  using drafts = std::vector<draft_type>;

  predictor(const Executor& on, const analysis_memory& memory) : on_(on), memory_(memory) {}

  /// Prepares one or two systems that are stored in one matrix, and predicts all but the hybrid path; steps
  /// of two share launches and waits. Synchronises.
  template <std::size_t N>
  drafts prepare_and_predict(const std::array<request_type, N>& of) const {
    auto prepared = prepare(of, on_, memory_);
    drafts made;
    for (std::size_t k = 0; k < N; ++k) {
      made.push_back({of[k], std::move(prepared[k])});
    }
    predict_prepared(made);
    if (N == 2) {
      lay_out(made);
    }
    return made;
  }

 private:
  using tuning = typename Policy::tuning;
  using path_name = typename Policy::path_type;
  using row_per_thread_path = typename draft_type::row_per_thread_path;
  using partitioned_search = partitioned::plan_search<tuning, Scalar, Index, Offset, Executor>;

  /// Predicts all but the hybrid path, and no more than it takes to choose. Synchronises.
  void predict_prepared(drafts& d) const {
    predict_scheduled(d);
    std::vector<draft_type*> left;
    for (draft_type& of : d) {
      if (of.needs_no_path()) {
        if (of.of.stored.size > 0) {
          of.times.row_per_thread = of.of.row_per_thread_nanoseconds(of.system.rows(), 1);
        }
      } else if (!of.has_schedule()) {
        if (of.of.policy.exact_order && !of.blocks) {
          of.system.before_split = {};  // no path, and no other system, is made of it
        }
        of.is_flat = of.system.levels && of.of.is_flat(of.system.rows(), of.system.levels->count);
        if (considers_partitioned(of)) {
          left.push_back(&of);
        } else if (of.is_flat) {
          of.times.row_per_thread = of.row_per_thread_nanoseconds();
        }
      }
    }
    predict_partitioned(left);
  }

  /// Returns whether the single_block path is considered: by request, or for narrow levels. To count the
  /// levels of long rows takes long, so they are counted only for small systems.
  static bool considers_single_block(const draft_type& d) {
    const auto& system = d.system;
    if (!d.of.has_schedule() || d.needs_no_path()) {
      return false;
    }
    return d.of.policy.path == path_name::single_block ||
           (d.of.by_time() && system.levels && d.of.is_narrow(system.levels->count) &&
            d.times.natural_blocks > d.least_single_block_nanoseconds() &&
            (!system.has_partial_rows || system.entries <= tuning::partitioned_small_entries));
  }
  /// Returns whether the natural_blocks path is considered: by request, or for rows that may stand in blocks.
  static bool considers_natural_blocks(const draft_type& d) {
    return d.of.has_schedule() && !d.needs_no_path() &&
           (d.of.policy.path == path_name::natural_blocks ||
            (d.system.levels && d.of.may_have_blocks(d.system.whole(), d.system.levels->count)));
  }
  /// Predicts the paths whose schedules the host makes, those of two large systems at the same time.
  void predict_scheduled(drafts& d) const {
    using block_rows = natural_blocks::block_rows<Index, Offset>;
    const std::size_t shared_limit = on_.shared_limit();
    std::int64_t entries = 0;
    std::vector<std::pair<draft_type*, block_rows>> in_blocks;
    std::vector<std::pair<draft_type*, host_triangle<Index, Offset>>> by_rows;
    const auto predict = [&](auto& wanted, const auto& make) {
      for_each_taken(count_of(wanted), wanted.size() > 1 && entries >= many_entries ? 2 : 1,
                     [&](std::int64_t k, std::size_t) { make(wanted[at(k)]); });
    };
    for (draft_type& of : d) {
      entries += of.system.entries;
      if (considers_natural_blocks(of)) {
        block_rows rows = natural_blocks::find_block_rows(
            of.system.whole(), of.of.by_time() ? tuning::natural_block_rows : 0, on_, memory_);
        if (!rows.first_rows.empty()) {
          in_blocks.emplace_back(&of, std::move(rows));
        }
      }
    }
    predict(in_blocks, [&](auto& of) { of.first->place_blocks(std::move(of.second), shared_limit); });
    for (draft_type& of : d) {
      if (considers_single_block(of)) {
        by_rows.emplace_back(&of, single_block::download_rows(of.system.whole(), on_));
      }
    }
    predict(by_rows, [&](auto& of) { of.first->make_schedule(of.second, shared_limit); });
  }
  /// Returns whether the partitioned path is considered: not if no plan can meet its limits.
  static bool considers_partitioned(const draft_type& d) {
    return d.of.needs_levels() && !d.is_flat &&
           (d.of.limits.row_per_thread > 0 ||
            partitioned::least_nanoseconds<tuning>(d.system.levels->count) < d.of.limits.nanoseconds);
  }
  /// Searches the partitioned path, and predicts row_per_thread. Puts the rows in order behind the
  /// predictions where row_per_thread is expected to be chosen.
  void predict_partitioned(const std::vector<draft_type*>& d) const {
    std::vector<partitioned_search> searches;
    for (draft_type* const of : d) {
      const request_type& asked = of->of;
      const auto& rows = of->system.rows();
      const row_levels<Index>& levels = *of->system.levels;
      partitioned::work_behind order_rows;
      if (asked.expects_row_per_thread(rows, levels.count)) {
        order_rows = [this, of](std::int64_t* slots) {
          of->order =
              row_per_thread::order_rows<tuning>(of->system.rows(), *of->system.levels, slots, on_, memory_);
        };
      }
      searches.push_back({{rows, levels, asked.policy.partitions,
                           asked.policy.path == path_name::partitioned ? asked.policy.shape : -1,
                           asked.max_rhs, 0, asked.may_be_hybrid(), std::move(order_rows)},
                          on_,
                          memory_});
    }
    partitioned_search::run(searches);
    for (std::size_t k = 0; k < d.size(); ++k) {
      d[k]->search = std::move(searches[k].found());
    }
    for (draft_type* const of : d) {
      of->times.partitioned = of->search.best.nanoseconds;
      of->times.row_per_thread = of->row_per_thread_nanoseconds();
      if (of->order) {
        of->order->slots = of->search.word;
      }
      if (of->of.policy.row_per_thread_levels == 0 &&
          of->search.hybrid_nanoseconds >= of->choice().hybrid_limit(of->times)) {
        of->search.cells = {};  // no cut is worth a try
      }
    }
  }

  /// Lays out the rows of small triangles that both take the partitioned path: the host waits once. Large
  /// ones would need scratch memory for both.
  void lay_out(drafts& d) const {
    for (const draft_type& of : d) {
      if (of.of.stored.entries > entries_of_one_wait || !of.of.policy.exact_order ||
          of.search.cells.size() > 0 || of.choose() != path_name::partitioned) {
        return;
      }
    }
    const auto units = make_buffer<std::uint64_t>(2, on_, memory_.scratch);
    for (std::size_t k = 0; k < 2; ++k) {
      d[k].layout.emplace(partitioned::plan_settings::of<tuning, Scalar>(d[k].search.best), on_, memory_);
      if (!d[k].layout->begin_layout(d[k].system.split, *d[k].system.levels, units.data() + k)) {
        d[k].layout.reset();
        return;
      }
    }
    std::uint64_t found[2];
    on_.download(found, units.data(), sizeof(found));
    for (std::size_t k = 0; k < 2; ++k) {
      if (!d[k].layout->end_layout(found[k])) {
        d[k].layout.reset();  // it is laid out once more, and refused
      }
    }
  }

 public:
  /// Predicts the hybrid path, and chooses. Synchronises.
  void decide(draft_type& d) const {
    predict_hybrid(d);
    d.chosen = d.choose();
  }

 private:
  /// Cuts the levels in two and predicts both halves, if a hybrid path may be chosen.
  void predict_hybrid(draft_type& d) const {
    if (d.search.cells.size() == 0) {
      return;
    }
    const request_type& of = d.of;
    row_levels<Index>& levels = *d.system.levels;
    const double limit = d.choice().hybrid_limit(d.times);
    const hybrid::level_cut cut = choose_cut(d, limit);
    d.search.cells = {};
    if (cut.levels == 0 || cut.nanoseconds >= limit) {
      return;
    }
    typename draft_type::hybrid_halves made{
        cut_after_level(d.system.split, levels, cut.levels, cut.rows, on_, memory_.all_scratch()),
        {},
        {},
        cut.levels,
        0};
    half_triangle<Index, Offset>& first = made.halves.first;
    half_triangle<Index, Offset>& rest = made.halves.rest;
    // `numbers` holds 0, 1, 2, ...; each half uses its first elements, so both borrow the one array.
    rest.levels.numbers = std::move(levels.numbers);
    const auto order_first = [&](std::int64_t* slots) {
      first.levels.numbers.swap(rest.levels.numbers);
      made.first_order =
          row_per_thread::order_rows<tuning>(first.split.triangle, first.levels, slots, on_, memory_);
      first.levels.numbers.swap(rest.levels.numbers);
    };
    std::vector<partitioned_search> search;
    search.push_back({{rest.split.triangle, rest.levels, of.policy.partitions,
                       of.policy.path == path_name::hybrid ? of.policy.shape : -1, of.max_rhs,
                       row_per_thread_path::rhs_together_for(of.max_rhs), false, order_first},
                      on_,
                      memory_});
    partitioned_search::run(search);
    const partitioned::search_result& found = search.front().found();
    levels.numbers = std::move(rest.levels.numbers);
    made.first_order.slots = found.word;
    made.rest = found.best;
    made.first_nanoseconds = of.row_per_thread_nanoseconds(first.split.triangle, cut.levels);
    const double nanoseconds = made.first_nanoseconds + made.rest.nanoseconds;
    if (nanoseconds < limit) {
      d.times.hybrid = nanoseconds;
      d.hybrid = std::move(made);
    }
  }

  /// Returns the cut of the levels with the smallest predicted time, or the one that the policy asks for. No
  /// cut if there is a single level, or if a hybrid path takes about `limit` nanoseconds or more.
  hybrid::level_cut choose_cut(const draft_type& d, double limit) const {
    const std::int64_t wanted = d.of.policy.row_per_thread_levels;
    const std::int64_t levels = d.system.levels->count;
    const partitioned::search_result& found = d.search;
    if (levels < 2 || (wanted == 0 && found.hybrid_nanoseconds >= limit)) {
      return {};
    }
    const auto size = static_cast<std::size_t>(levels * found.best.partitions);
    const std::unique_ptr<partitioned::level_counts[]> cells(new partitioned::level_counts[size]);
    on_.download(cells.get(), found.cells.data() + found.begin, size * sizeof(partitioned::level_counts));
    hybrid::partitioned_profile profile{
        cells.get(),
        levels,
        found.best.partitions,
        partitioned::costed_shapes<tuning, Scalar>()[at(found.best.shape_index)],
        partitioned::cost_constants::of<tuning>(),
        found.best.nanoseconds};
    profile.shape.rhs_together = 1;
    const std::vector<std::int64_t> level_offsets = hybrid::level_offsets(profile);
    if (wanted > 0) {
      const std::int64_t before = std::min(wanted, levels - 1);
      return {before, level_offsets[at(before)], 0};
    }
    return hybrid::best_cut(
        profile, level_offsets, d.system.rows().entries(),
        row_per_thread::solve_costs::of<tuning>(sizeof(Scalar), sizeof(Index), d.of.max_rhs));
  }

  const Executor& on_;
  analysis_memory memory_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
