// SPDX-License-Identifier: Apache-2.0
// The engine of level_set: divides the levels into launches, and records them as CUDA graphs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/papers/level_set/level_set_agent.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/policy/level_set.hpp"

namespace sptrsv::SPTRSV_ABI::detail::level_set {

/// A launch: one wide level, or a run of consecutive narrow levels.
struct segment {
  std::int64_t first_level;
  std::int64_t last_level;  ///< one past the last level
  std::int64_t first_row;   ///< of a wide level, as are the next two
  std::int64_t last_row;    ///< one past the last row
  int lanes;                ///< lanes per row
  bool narrow;              ///< true for a run of narrow levels
};

/// The launches in order, and the lanes per row of each level.
struct level_plan {
  std::vector<segment> segments;
  std::vector<std::int32_t> level_lanes;
};

/// Returns the lanes per row, 1, 8 or 32, with the fewest steps for a level of `rows` rows, if `available`
/// lanes work at once. The lanes of a row take its entries one after the other and then add their sums.
inline int best_lanes(std::int64_t rows, std::int64_t longest_row, std::int64_t available) {
  const auto steps = [&](int lanes) {
    const std::int64_t rounds = simt::ceil_div(rows * lanes, available);
    const std::int64_t addition = lanes == 1 ? 0 : lanes == 8 ? 1 : 2;
    return rounds * (simt::ceil_div(longest_row, lanes) + addition + 1);
  };
  return std::min({1, 8, 32}, [&](int a, int b) { return steps(a) < steps(b); });
}

/// Makes the plan. `level_offsets` has one element more than there are levels; `longest` holds the longest
/// row of each level. If not `fused`, each level is a launch and each row gets one warp.
template <class Tuning, class Index>
level_plan make_plan(const std::vector<Index>& level_offsets, const std::vector<std::int64_t>& longest,
                     bool fused) {
  level_plan plan;
  for (std::size_t level = 0; level < longest.size(); ++level) {
    const std::int64_t first_row = level_offsets[level];
    const std::int64_t last_row = level_offsets[level + 1];
    const std::int64_t rows = last_row - first_row;
    const int narrow_lanes = best_lanes(rows, longest[level], Tuning::narrow_block_threads);
    const bool narrow = fused && rows * narrow_lanes <= Tuning::narrow_lanes;
    const int lanes = !fused   ? 32
                      : narrow ? narrow_lanes
                               : best_lanes(rows, longest[level], Tuning::device_lanes);
    const auto at = static_cast<std::int64_t>(level);
    plan.level_lanes.push_back(lanes);
    if (narrow && !plan.segments.empty() && plan.segments.back().narrow) {
      plan.segments.back().last_level = at + 1;
    } else {
      plan.segments.push_back({at, at + 1, first_row, last_row, lanes, narrow});
    }
  }
  return plan;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::level_set

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_level_set<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  using base::levels_;
  using base::triangle_;
  using solve_state = level_set::solve_state;
  using graph = typename Executor::graph_type;

 public:
  struct workspace {
    buffer<Scalar> x;
    buffer<solve_state> state;
    graph graphs[2];  ///< for several right-hand sides, and for one

    void reset(const Executor&) {}  // each solve begins by setting x and the state

    [[nodiscard]] level_set::level_buffers<Scalar> buffers() const { return {x.data(), state.data()}; }
    [[nodiscard]] std::uint32_t* status_flag() const { return &state.data()->status_flag; }
    [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t, const Executor& on) const {
      const solve_state found = download_value(state.data(), on);
      return reported_index(found.first_nonfinite);
    }
  };

  engine(const policy::basic_level_set<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(form, max_rhs, on, resource), policy_(policy) {
    triangle_ = build_on_device(a, form, on, resource);
    this->renumber(policy::row_order::levels, on, resource);
    if (!by_rows()) {
      this->take_columns(columns_of(triangle_, on, resource));
    }
    this->allocate_values(on, resource);
    plan(on, resource);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    const solve_state start{0, all_finite, 0};
    workspace made{make_buffer<Scalar>(checked_product(triangle_.size, this->max_rhs_), on, resource),
                   upload_array(&start, 1, on, resource),
                   {}};
    for (const bool one_rhs : {true, false}) {
      if (is_recorded() && (one_rhs || this->max_rhs_ > 1)) {
        made.graphs[one_rhs ? 1 : 0] =
            on.record([&](const auto& launcher) { enqueue_levels(one_rhs, made, launcher); });
      }
    }
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    const std::int64_t components = triangle_.size * x.columns;
    const auto system = this->system(alpha, b, x, scratch.buffers());
    simt::for_each(on, components, level_set::gather_rhs<Scalar, Index, Offset>{system});
    // A graph cannot be launched into a capture, so a capturing stream gets the launches themselves.
    if (!is_recorded() || on.is_capturing()) {
      enqueue_levels(x.columns == 1, scratch, on);
    } else {
      on.replay(scratch.graphs[x.columns == 1 ? 1 : 0]);
    }
    simt::for_each(on, components, level_set::scatter_solution<Scalar, Index, Offset>{system});
  }

  void describe(solver_info& info, const Executor& on) const {
    const std::int64_t narrow = std::count_if(segments_.begin(), segments_.end(),
                                              [](const level_set::segment& s) { return s.narrow; });
    const std::int64_t wide = static_cast<std::int64_t>(segments_.size()) - narrow;
    this->describe_system(info, on);
    info.kernels.resize(4);
    info.kernels[0].text = std::string("gather_rhs, for levels by ") + (by_rows() ? "rows" : "columns");
    info.kernels[1].text = std::to_string(wide) + " launches of one wide level";
    info.kernels[1].launches = wide;
    info.kernels[2].text = text_from(narrow, " launches for ", levels_.count - wide, " narrow levels");
    info.kernels[2].launches = narrow;
    info.kernels[3].text = "scatter_solution";
    info.bit_reproducible = by_rows();
    info.solver_bytes += level_lanes_.bytes();
    info.workspace_bytes =
        static_cast<std::size_t>(triangle_.size * this->max_rhs_) * sizeof(Scalar) + sizeof(solve_state);
  }

 private:
  [[nodiscard]] bool by_rows() const { return policy_.by == policy::orientation::rows; }
  [[nodiscard]] bool is_recorded() const { return policy_.launches == policy::level_launches::fused; }

  void plan(const Executor& on, memory_resource& resource) {
    const auto longest = make_zeros<std::int64_t>(levels_.count, on, resource);
    triangle_kernels::for_each_entry(
        on, levels_.level_offsets.data(), levels_.count, triangle_.size,
        level_set::measure_levels<Offset>{triangle_.row_offsets.data(), longest.data()});
    level_set::level_plan made = level_set::make_plan<Tuning>(download_array(levels_.level_offsets, on),
                                                              download_array(longest, on), is_recorded());
    level_lanes_ = upload(made.level_lanes, on, resource);
    segments_ = std::move(made.segments);
  }

  /// Enqueues all levels, for one right-hand side or several. `on`: the executor, or what records a graph.
  template <class Launcher>
  void enqueue_levels(bool one_rhs, const workspace& scratch, const Launcher& on) const {
    const auto p = this->system(Scalar{}, {}, {}, scratch.buffers());
    with_constant(by_rows(), [&](auto rows) {
      with_constant(one_rhs, [&](auto one) {
        constexpr auto by = decltype(rows)::value ? policy::orientation::rows : policy::orientation::columns;
        using narrow = level_set::narrow_agent<Tuning, Scalar, Index, Offset, by, decltype(one)::value>;
        for (const level_set::segment& s : segments_) {
          if (s.narrow) {
            on.template launch<narrow>(
                1, {p, levels_.level_offsets.data(), level_lanes_.data(), s.first_level, s.last_level});
            continue;
          }
          with_one_of<1, 8, 32>(s.lanes, [&](auto lanes) {
            using wide = level_set::wide_agent<Tuning, Scalar, Index, Offset, by, decltype(lanes)::value,
                                               decltype(one)::value>;
            on.template launch<wide>(simt::block_count(s.last_row - s.first_row, wide::rows_per_block),
                                     {p, s.first_row, s.last_row});
          });
        }
      });
    });
  }

  policy::basic_level_set<Tuning> policy_;
  buffer<std::int32_t> level_lanes_;  ///< by level: lanes per row
  std::vector<level_set::segment> segments_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
