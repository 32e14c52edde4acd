// Planning: chooses the path with the smallest predicted time for a system, and builds what this path needs.
// The file is long because the choice among four paths is one decision: each path is compared with the
// others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/plan_text.hpp"
#include "sptrsv/detail/dataflow/dataflow_plan.hpp"
#include "sptrsv/detail/dataflow/hybrid/hybrid_builder.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/estimates.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_builder.hpp"
#include "sptrsv/detail/dataflow/prepared_triangle.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_cost.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_choice.hpp"

namespace sptrsv::detail::dataflow {

/// The limits that the predicted time of a plan must stay under, or the plan is not wanted.
struct time_limits {
  double nanoseconds = std::numeric_limits<double>::infinity();  ///< of all paths but row_per_thread
  /// Of the row_per_thread path, if `nanoseconds` is finite; a plan that meets this limit is preferred.
  /// 0: the path is not wanted.
  double row_per_thread = 0;
  /// True if the system was rewritten by levels. Its rows then need recent components.
  bool is_rewritten = false;

  [[nodiscard]] bool any() const { return nanoseconds < std::numeric_limits<double>::infinity(); }
};

/// If no row is longer than this, none is split: a few more entries take less time than a hand-off between
/// partial rows.
template <class Tuning>
inline constexpr std::int64_t longest_whole_row = Tuning::longest_row + Tuning::longest_row / 2;

template <class Policy, class Scalar, class Index, class Offset, class Executor>
class joint_analysis;

/// `Policy`: a policy::basic_dataflow.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class planner {
  friend joint_analysis<Policy, Scalar, Index, Offset, Executor>;  // prepares two triangles together
  using tuning = typename Policy::tuning;
  using path_name = typename Policy::path_type;
  using plan_type = plan<tuning, Scalar, Index, Offset, Executor>;
  using row_per_thread_path = typename plan_type::row_per_thread_path;
  using row_order = typename row_per_thread_path::row_order;
  using partitioned_path = typename plan_type::partitioned_path;
  using single_block_path = typename plan_type::single_block_path;
  using partitioned_builder = partitioned::builder<tuning, Scalar, Index, Offset, Executor>;
  using partitioned_search = partitioned::plan_search<tuning, Scalar, Index, Offset, Executor>;
  using triangle_type = device_triangle<Index, Offset>;
  using prepared_type = prepared_triangle<Index, Offset>;
  using split_type = split_triangle<Index, Offset>;
  static constexpr std::int64_t longest_whole_row = dataflow::longest_whole_row<tuning>;

 public:
  /// Returns whether another system is to be solved instead. The planner calls it at most once: when it has
  /// chosen a path, before it builds what the path needs. The triangle and its levels are in scratch memory;
  /// levels: null if they are not known.
  using replace_function = std::function<bool(const system_facts&, const triangle_type&,
                                              const row_levels<Index>*, const analysis_memory&)>;

  /// `stored`: the pattern of the stored matrix, which build_on_device() accepts.
  planner(const Policy& policy, const triangle_form& form, const pattern_view<Index, Offset>& stored,
          std::int64_t max_rhs, const time_limits& limits, const Executor& on, const analysis_memory& memory)
      : policy_(policy),
        form_(form),
        stored_(stored),
        max_rhs_(max_rhs),
        limits_(limits),
        on_(on),
        memory_(memory) {}

  /// Returns the triangle, in scratch memory, with its levels if they are needed and no row is to be split.
  /// Synchronises.
  [[nodiscard]] prepared_type build() const {
    if (stored_.prepared != nullptr) {
      return std::move(*stored_.prepared);
    }
    if (is_row_per_thread_only() || policy_.path == path_name::single_block) {
      return {{build_on_device(stored_, form_, on_, memory_.all_scratch()), {}}, {}, {}, {}, {}, {}};
    }
    return {build_with_levels(stored_, form_, {tuning::longest_row, longest_whole_row}, counts_blocks(), on_,
                              memory_.all_scratch()),
            {},
            {},
            {},
            {},
            {}};
  }

  /// Returns the plan; nothing if the path that the policy asks for cannot solve the system, if no plan meets
  /// the limit, or if the system is replaced. Takes arrays out of what build() has returned. `replace`: null:
  /// the system is not replaced. Synchronises.
  std::optional<plan_type> make_plan(prepared_type&& found, const replace_function* replace) {
    triangle_type& triangle = found.triangle;
    known_split_ = std::move(found.split);
    known_search_ = std::move(found.search);
    known_order_ = std::move(found.order);
    known_layout_ = std::move(found.layout);
    known_schedule_ = std::move(found.schedule);
    replace_ = replace;
    whole_ = &triangle;
    facts_.entries = triangle.entries() + (form_.unit ? 0 : triangle.size);
    facts_.longest_row = triangle.longest_row;
    if (triangle.size == 0) {
      return plan_row_per_thread({std::move(triangle), false, {}}, {}, {});
    }
    if (policy_.path == path_name::single_block) {
      return plan_single_block(triangle, policy_.shape);
    }
    if (policy_.path == path_name::automatic && triangle.entries() == 0) {
      return plan_diagonal(triangle, std::move(found.levels));
    }
    return plan_by_levels(triangle, std::move(found.levels));
  }

 private:
  /// Returns whether the row_per_thread path is the only one that the planner considers.
  [[nodiscard]] bool is_row_per_thread_only() const {
    return policy_.path == path_name::row_per_thread || tuning::entries != entry_storage::as_values;
  }

  /// The partitioned path of a triangle, laid out or about to be.
  struct layout : prepared_layout {
    partitioned_builder builder;

    layout(const partitioned::shape_choice& chosen, const Executor& on, const analysis_memory& memory)
        : builder(chosen, on, memory) {}
  };
  /// Returns a search for the best plan of the partitioned path.
  [[nodiscard]] partitioned_search search_partitioned(const triangle_type& triangle,
                                                      const row_levels<Index>& levels) const {
    return {triangle, levels, policy_.partitions, policy_.path == path_name::partitioned ? policy_.shape : -1,
            max_rhs_, 0,      may_be_hybrid(),    on_,
            memory_};
  }
  /// No gain was measured with several right-hand sides, so these need an explicit request.
  [[nodiscard]] bool may_be_hybrid() const {
    return policy_.path == path_name::hybrid || (policy_.path == path_name::automatic && max_rhs_ == 1);
  }

  /// `levels`: of the triangle, if they are known.
  std::optional<plan_type> plan_by_levels(triangle_type& triangle,
                                          std::optional<row_levels<Index>>&& levels) {
    const bool is_split = triangle.longest_row > longest_whole_row;
    split_type split;  // partial rows have levels of their own
    if (known_split_) {
      split = std::move(*known_split_);
    } else if (is_split) {
      split = split_long_rows(triangle, tuning::longest_row, on_, memory_.all_scratch());
    }
    if (!is_row_per_thread_only()) {
      if (!levels) {
        levels = levels_of_rows(is_split ? split.triangle : triangle, on_, memory_, counts_blocks());
      }
      levels_ = is_split ? 0 : levels->count;
      facts_.most_levels = levels->count;
      if (levels->count_of_blocks > 0) {
        facts_.levels_left =
            static_cast<double>(levels->count_of_blocks) / static_cast<double>(levels->count);
      }
      whole_levels_ = is_split ? nullptr : &*levels;
    }
    if (levels && policy_.path == path_name::automatic && may_be_single_block(triangle, levels->count)) {
      auto made = plan_single_block(triangle, -1);
      if (made || is_replaced_) {
        return made;
      }
    }
    if (levels && limits_.row_per_thread <= 0 &&
        partitioned::least_nanoseconds<tuning>(levels->count) >= limits_.nanoseconds) {
      return {};
    }
    if (!is_split) {
      split.triangle = std::move(triangle);
      whole_ = &split.triangle;
    } else if (replace_ == nullptr) {
      triangle = {};
    }
    std::vector<predicted_time> predictions;
    std::string text;
    std::optional<row_order> order;
    if (levels) {
      auto made = plan_partitioned_or_hybrid(split, *levels);
      if (made.path || made.is_refused) {
        return std::move(made.path);
      }
      predictions = std::move(made.predictions);
      text = std::move(made.text);
      order = std::move(made.order);
    }
    const double nanoseconds = predictions.empty() ? 0 : predictions.back().nanoseconds;
    if (replace_ != nullptr && !levels && policy_.order == decltype(policy_.order)::levels) {
      levels = levels_of_rows(split.triangle, on_, memory_);
      levels_ = is_split ? 0 : levels->count;
      whole_levels_ = is_split ? nullptr : &*levels;
    }
    if (is_replaced(nanoseconds, path_name::row_per_thread)) {
      return {};
    }
    plan_type made = plan_row_per_thread(std::move(split), std::move(levels), std::move(order));
    made.levels = levels_ > 0 || is_split ? levels_ : std::get<row_per_thread_path>(made.path).levels();
    made.nanoseconds = nanoseconds;
    made.predictions = std::move(predictions);
    made.text = std::move(text);
    return made;
  }

  /// A plan, or the predictions and the words for a plan of the row_per_thread path.
  struct partitioned_result {
    std::optional<plan_type> path;
    std::vector<predicted_time> predictions;  ///< row_per_thread last
    std::string text;
    std::optional<row_order> order;  ///< for the row_per_thread path, if it is known already
    bool is_refused = false;         ///< whether row_per_thread is not to be taken, either
  };

  /// Plans the partitioned or the hybrid path if the policy asks for it or it is predicted to be faster than
  /// row_per_thread. Frees the triangle and the levels if it returns a plan.
  partitioned_result plan_partitioned_or_hybrid(split_type& split, row_levels<Index>& levels) {
    const double row_per_thread = row_per_thread_nanoseconds(split.triangle, levels.count);
    partitioned::shape_choice chosen;
    hybrid::level_cut cut;
    double single_path = 0;
    std::optional<row_order> order;
    {
      partitioned_search search = search_partitioned(split.triangle, levels);
      if (known_search_) {
        search.take(std::move(*known_search_));
        chosen = search.best();
        order = std::move(known_order_);
      } else if (expects_row_per_thread(split.triangle, levels.count)) {
        chosen = search.choose([&](std::int64_t* slots) {
          order = row_per_thread_path::order_rows(split.triangle, levels, slots, on_, memory_);
        });
      } else {
        chosen = search.choose();
      }
      if (order) {
        order->slots = search.word();
      }
      single_path = std::min({chosen.nanoseconds, row_per_thread, limits_.nanoseconds});
      if (may_be_hybrid()) {
        cut = search.cut(policy_.row_per_thread_levels, hybrid_limit(single_path));
      }
    }
    auto by_hybrid = plan_hybrid(cut, split, levels, single_path);
    if (by_hybrid || is_replaced_) {
      return {std::move(by_hybrid), {}, {}, {}, is_replaced_};
    }
    if (limits_.any() && is_too_slow(chosen.nanoseconds, row_per_thread)) {
      return {{}, {}, {}, {}, true};
    }
    const bool possible = chosen.nanoseconds < std::numeric_limits<double>::infinity();
    std::vector<predicted_time> predictions;
    if (possible) {
      predictions.push_back({"partitioned", chosen.nanoseconds});
    }
    predictions.push_back({"row_per_thread", row_per_thread});
    const bool takes_partitioned =
        possible &&
        (policy_.path == path_name::partitioned ||
         (limits_.any() ? row_per_thread >= limits_.row_per_thread : chosen.nanoseconds < row_per_thread));
    if (takes_partitioned) {
      order.reset();
      if (is_replaced(chosen.nanoseconds, path_name::partitioned)) {
        return {{}, {}, {}, {}, true};
      }
      const bool is_laid_out = known_layout_ != nullptr;
      if (!is_laid_out) {
        known_layout_ = std::make_unique<layout>(chosen, on_, memory_);
      }
      partitioned_builder& builder = static_cast<layout&>(*known_layout_).builder;
      if (!is_laid_out && !builder.lay_out(split, levels)) {
        known_layout_.reset();
        return {
            {},
            {{"row_per_thread", row_per_thread}},
            reason("row_per_thread", true, {}) + "the packed slices of the partitioned path are too large",
            {},
            policy_.path == path_name::partitioned || limits_.any()};
      }
      split.triangle.columns = {};
      levels = {};
      plan_type made{builder.pack(split, stored_, max_rhs_, form_, memory_.kept),
                     levels_,
                     chosen.nanoseconds,
                     predictions,
                     {}};
      made.text = reason("partitioned", policy_.path == path_name::automatic, predictions);
      return {std::move(made), {}, {}, {}};
    }
    if (policy_.path == path_name::partitioned) {
      return {{}, {}, {}, {}, true};
    }
    std::string text = reason("row_per_thread", policy_.path == path_name::automatic, predictions);
    return {{}, std::move(predictions), std::move(text), std::move(order)};
  }

  /// Returns whether the row_per_thread path is likely to be chosen: for a small system with wide levels, and
  /// few levels or rows of several entries, which need other partitions. Its rows are then put in order while
  /// the device predicts the times of the partitioned path. If another path is chosen, this was in vain.
  [[nodiscard]] bool expects_row_per_thread(const triangle_type& triangle, std::int64_t levels) const {
    return policy_.path == path_name::automatic && !limits_.any() &&
           triangle.entries() <= tuning::partitioned_small_entries &&
           triangle.entries() <= max_count<Offset> / row_per_thread::slice_rows &&
           triangle.size >= tuning::wide_enough_for_rows * levels &&
           (levels <= 4 || 4 * triangle.entries() >= 9 * triangle.size);
  }

  /// Returns whether the number of levels that row blocks would leave is wanted: for the system as it is, if
  /// row blocks alone may be tried, or if rows are short. This takes a second search for levels.
  [[nodiscard]] bool counts_blocks() const {
    const auto entries = static_cast<double>(stored_.entries - (form_.unit ? 0 : stored_.size));
    return !policy_.exact_order && policy_.path == path_name::automatic && !limits_.any() &&
           (policy_.run_levels == 1 ||
            entries <= tuning::entries_of_short_rows * static_cast<double>(stored_.size));
  }
  /// Returns whether neither path meets its limit. A system that must not take the row_per_thread path is not
  /// wanted where this path would be the faster one.
  [[nodiscard]] bool is_too_slow(double partitioned, double row_per_thread) const {
    return limits_.row_per_thread > 0
               ? partitioned >= limits_.nanoseconds && row_per_thread >= limits_.row_per_thread
               : partitioned >= std::min(limits_.nanoseconds, row_per_thread);
  }
  /// Returns whether the system is replaced by another one, when its path with the predicted time has been
  /// chosen.
  bool is_replaced(double nanoseconds, path_name path) {
    if (replace_ != nullptr) {
      facts_.levels = levels_;
      facts_.most_levels = std::max(facts_.most_levels, levels_);
      facts_.nanoseconds = nanoseconds;
      facts_.is_single_block = path == path_name::single_block;
      facts_.is_row_per_thread = path == path_name::row_per_thread;
      is_replaced_ = (*std::exchange(replace_, nullptr))(facts_, *whole_, whole_levels_, memory_);
    }
    return is_replaced_;
  }
  /// Returns whether the single_block path is considered. `whole`: the triangle before rows are split.
  [[nodiscard]] bool may_be_single_block(const triangle_type& whole, std::int64_t levels) const {
    // To count the levels of long rows takes long: only for small systems.
    return is_narrow(levels) &&
           (whole.longest_row <= longest_whole_row || whole.entries() <= tuning::partitioned_small_entries);
  }
  [[nodiscard]] bool is_narrow(std::int64_t levels) const {
    return static_cast<double>(stored_.size) <=
           tuning::single_block_rows_per_level * static_cast<double>(levels);
  }

  [[nodiscard]] double row_per_thread_nanoseconds(const triangle_type& triangle, std::int64_t levels) const {
    const auto costs = row_per_thread::solve_costs::of<tuning>(sizeof(Scalar), sizeof(Index), max_rhs_);
    const auto rows = static_cast<double>(triangle.size);
    const auto entries = static_cast<double>(triangle.entries());
    const auto hops = static_cast<double>(levels);
    return limits_.is_rewritten ? costs.template rewritten_nanoseconds<tuning>(rows, entries, hops)
                                : costs.nanoseconds(rows, entries, hops);
  }

  /// Returns the time that a hybrid path must beat. `single_path`: the time of the best single path.
  [[nodiscard]] double hybrid_limit(double single_path) const {
    return policy_.path == path_name::hybrid ? std::numeric_limits<double>::infinity()
                                             : tuning::hybrid_gain * single_path;
  }

  /// Plans the hybrid path with this cut, if there is one, if the policy asks for it or its predicted time is
  /// much less than `single_path`, the time of the best single path. Frees the triangle and the levels if it
  /// returns a plan.
  std::optional<plan_type> plan_hybrid(const hybrid::level_cut& cut, split_type& split,
                                       row_levels<Index>& levels, double single_path) {
    const double limit = hybrid_limit(single_path);
    if (cut.levels == 0 || cut.nanoseconds >= limit) {
      return {};
    }
    const std::int64_t level_count = levels.count;
    auto halves = cut_after_level(split, levels, cut.levels, cut.rows, on_, memory_.all_scratch());
    halves.rest.levels.numbers = std::move(levels.numbers);  // they begin with those of either half
    partitioned_search search(halves.rest.split.triangle, halves.rest.levels, policy_.partitions,
                              policy_.path == path_name::hybrid ? policy_.shape : -1, max_rhs_,
                              row_per_thread_path::rhs_together_for(max_rhs_), false, on_, memory_);
    std::optional<row_order> order;
    const auto order_first_rows = [&](std::int64_t* slots) {
      row_levels<Index>& of_first = halves.first.levels;
      of_first.numbers.swap(halves.rest.levels.numbers);
      order = row_per_thread_path::order_rows(halves.first.split.triangle, of_first, slots, on_, memory_);
      of_first.numbers.swap(halves.rest.levels.numbers);
    };
    const partitioned::shape_choice chosen = search.choose(order_first_rows);
    const double first_nanoseconds = row_per_thread_nanoseconds(halves.first.split.triangle, cut.levels);
    const double nanoseconds = first_nanoseconds + chosen.nanoseconds;
    if (nanoseconds >= limit) {
      levels.numbers = std::move(halves.rest.levels.numbers);
      return {};
    }
    if (is_replaced(nanoseconds, path_name::hybrid)) {
      return {};
    }
    if (order) {
      order->slots = search.word();
    } else {
      order_first_rows(nullptr);
    }
    levels = {};
    partitioned_builder rest(chosen, on_, memory_);
    auto path = hybrid::builder<row_per_thread_path, partitioned_builder, Index, Offset, Executor>(
                    rest, stored_, form_, max_rhs_, on_, memory_)
                    .build(split, std::move(halves), std::move(*order));
    if (!path) {
      // This is rare: the triangle and its levels are not kept for it.
      split = split_again();
      levels = levels_of_rows(split.triangle, on_, memory_);
      return {};
    }
    plan_type made{
        std::move(*path), levels_, nanoseconds, {{"hybrid", nanoseconds}, {"single path", single_path}}, {}};
    made.text = reason("hybrid", policy_.path == path_name::automatic,
                       {{std::to_string(cut.levels) + " levels by row_per_thread", first_nanoseconds},
                        {std::to_string(level_count - cut.levels) + " by partitioned", chosen.nanoseconds},
                        {"all levels by one path", single_path}});
    return made;
  }

  /// Returns the triangle, with long rows split, from the stored matrix again. Synchronises.
  [[nodiscard]] split_type split_again() const {
    triangle_type triangle = build_on_device(stored_, form_, on_, memory_.all_scratch());
    return split_long_rows(triangle, tuning::longest_row, on_, memory_.all_scratch());
  }

  /// Returns whether the system is small enough for the single_block path: row numbers of the schedule have
  /// 32 bits, and each right-hand side takes one thread block.
  [[nodiscard]] bool has_schedule() const {
    return stored_.size < (std::int64_t{1} << 31) - 2 && max_rhs_ < std::int64_t{1} << 31;
  }
  /// Returns the predicted time of a single partition.
  [[nodiscard]] double narrow_nanoseconds(std::int64_t entries, std::int64_t levels) const {
    return partitioned::narrow_nanoseconds<tuning>(stored_.size, entries, levels);
  }
  /// Makes the schedule of the single_block path for the rows of a triangle; see plan_single_block(). Calls
  /// no CUDA. `shared_limit`: bytes of shared memory of a thread block.
  [[nodiscard]] single_block::planned_schedule make_schedule(
      const single_block::host_rows<Index, Offset>& rows, int shape, std::size_t shared_limit) const {
    const auto levels = levels_on_host<Index>(rows.row_offsets, rows.columns);
    single_block::planned_schedule found;
    found.levels = levels.count();
    double limit = std::numeric_limits<double>::infinity();
    if (policy_.path == path_name::automatic) {
      if (!is_narrow(found.levels)) {
        return found;
      }
      const auto entries = static_cast<std::int64_t>(rows.columns.size());
      limit = std::min(narrow_nanoseconds(entries, found.levels), limits_.nanoseconds);
    }
    found.chosen = single_block::choose_shape<tuning>(rows, levels, shape);
    if (found.chosen.nanoseconds <= limit) {
      found.made = single_block::make_schedule<tuning, Scalar>(rows, levels, found.chosen, shared_limit,
                                                               form_.reversed);
    }
    return found;
  }

  /// Plans the single_block path if the policy asks for it, or if levels are narrow and its predicted time is
  /// not longer than that of a single partition. `shape`: index into the tuning's shapes, or -1 for the
  /// fastest one.
  std::optional<plan_type> plan_single_block(const triangle_type& triangle, int shape) {
    if (!has_schedule()) {
      return {};
    }
    if (!known_schedule_) {
      known_schedule_ = make_schedule(single_block::download_rows(triangle, on_), shape, on_.shared_limit());
    }
    const single_block::planned_schedule found = std::move(*known_schedule_);
    levels_ = found.levels;
    if (!found.made || is_replaced(found.chosen.nanoseconds, path_name::single_block)) {
      return {};
    }
    std::vector<predicted_time> predictions{{"single_block", found.chosen.nanoseconds}};
    if (policy_.path == path_name::automatic) {
      predictions.push_back({"partitioned", narrow_nanoseconds(triangle.entries(), levels_)});
    }
    plan_type made{
        single_block_path(*found.made, found.chosen.index, max_rhs_,
                          copy_of(triangle.sources, on_, memory_.kept),
                          copy_of(triangle.diagonal_sources, on_, memory_.kept), form_, on_, memory_.kept),
        levels_,
        found.chosen.nanoseconds,
        std::move(predictions),
        {}};
    made.text = reason("single_block", policy_.path == path_name::automatic, made.predictions);
    return made;
  }

  /// `levels`, `order`: of the triangle, if they are known.
  plan_type plan_row_per_thread(split_type&& split, std::optional<row_levels<Index>>&& levels,
                                std::optional<row_order>&& order) {
    if (!order &&
        (policy_.order == decltype(policy_.order)::levels || policy_.path == path_name::automatic)) {
      if (!levels) {
        levels = levels_of_rows(split.triangle, on_, memory_);
      }
      order = row_per_thread_path::order_rows(split.triangle, *levels, nullptr, on_, memory_);
    }
    levels.reset();
    return {
        row_per_thread_path(std::move(split), stored_.size, max_rhs_, std::move(order), form_, on_, memory_)};
  }

  /// Plans the solve of a triangle without entries.
  plan_type plan_diagonal(triangle_type& triangle, std::optional<row_levels<Index>>&& levels) {
    const double nanoseconds = row_per_thread_nanoseconds(triangle, 1);
    plan_type made = plan_row_per_thread({std::move(triangle), false, {}}, std::move(levels), {});
    made.levels = 1;
    made.nanoseconds = nanoseconds;
    made.predictions = {{"row_per_thread", nanoseconds}};
    made.text = "row_per_thread: no row needs another one";
    return made;
  }

  static std::string reason(const std::string& path, bool by_time,
                            const std::vector<predicted_time>& predictions) {
    return path + (by_time ? ", by the predicted time of a solve: " : ", as asked for; predicted: ") +
           to_text(predictions);
  }

  const Policy& policy_;
  const triangle_form& form_;
  pattern_view<Index, Offset> stored_;
  std::int64_t max_rhs_;
  time_limits limits_;
  const Executor& on_;
  analysis_memory memory_;
  std::optional<split_type> known_split_;                   ///< see prepared_triangle
  std::optional<partitioned::search_result> known_search_;  ///< see prepared_triangle
  std::optional<row_order> known_order_;
  std::unique_ptr<prepared_layout> known_layout_;
  std::optional<single_block::planned_schedule> known_schedule_;
  std::int64_t levels_ = 0;                          ///< of the system; 0 as long as they are not counted
  const replace_function* replace_ = nullptr;        ///< null when it has been called, too
  const triangle_type* whole_ = nullptr;             ///< the triangle without partial rows
  const row_levels<Index>* whole_levels_ = nullptr;  ///< its levels; null if they are not known
  system_facts facts_;                               ///< for `replace_`
  bool is_replaced_ = false;                         ///< what it has returned
};

}  // namespace sptrsv::detail::dataflow
