// SPDX-License-Identifier: Apache-2.0
// The engine of automatic: that of its only candidate, or of the one that a sample of the pattern chooses.
// The sample recognises complete factors, and estimates the width of their supernodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/dataflow_engine.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail::automatic {

/// What an entry (i, j) of the triangle L tells. In a complete factor, elimination with column j fills in
/// (i, j + d) where (i, j) and (j + d, j) are. The transpose of a factor, numbered from the end, is a lower
/// triangle, too; there (i, j) and (i, i - d) fill in (i - d, j).
struct entry_sample {
  /// Entries of its stored row; 0: the entry is on the diagonal or next to it, or not in the triangle.
  std::int32_t weight;
  /// The largest power of two d for which the three entries of the first rule are there; 0: none; -1: the
  /// first rule does not hold.
  std::int16_t columns;
  std::int16_t rows;  ///< the same for the second rule
};

/// Draws an entry and describes it. The pattern is not validated yet, and its rows may be in any order: every
/// index is checked, and the entries of a row are searched as if they ascended. Runs once per sample.
template <class Index, class Offset>
struct sample_entry {
  pattern_view<Index, Offset> a;
  bool is_lower;  ///< whether the stored rows (columns) hold the entries (i, j) of L by i, not by j
  entry_sample* samples;

  static constexpr int max_run = 256;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::uint64_t bits = static_cast<std::uint64_t>(k + 1) * 0x9e3779b97f4a7c15u;
    const auto major = static_cast<std::int64_t>((bits >> 32) % static_cast<std::uint64_t>(a.size));
    const row_range row = range_of(ctx, major);
    entry_sample found{};
    if (row.count > 0) {
      const auto e = static_cast<std::int64_t>((bits & 0xffffffffu) % static_cast<std::uint64_t>(row.count));
      const std::int64_t minor = ctx.load_constant(a.indices + row.begin + e);
      const std::int64_t i = is_lower ? major : minor;
      const std::int64_t j = is_lower ? minor : major;
      if (j >= 0 && j + 1 < i && i < a.size) {
        found.weight = static_cast<std::int32_t>(row.count < INT32_MAX ? row.count : INT32_MAX);
        found.columns = run_of(
            i - j, [&](auto d) { return has(ctx, j + d, j); }, [&](auto d) { return has(ctx, i, j + d); });
        found.rows = run_of(
            i - j, [&](auto d) { return has(ctx, i, i - d); }, [&](auto d) { return has(ctx, i - d, j); });
      }
    }
    ctx.store(samples + k, found);
  }

 private:
  struct row_range {
    std::int64_t begin;
    std::int64_t count;  ///< 0 if the offsets are not valid
  };

  template <class Context>
  SPTRSV_DEVICE row_range range_of(Context& ctx, std::int64_t major) const {
    const std::int64_t begin = ctx.load_constant(a.offsets + major);
    const std::int64_t end = ctx.load_constant(a.offsets + major + 1);
    return begin >= 0 && begin <= end && end <= a.entries ? row_range{begin, end - begin} : row_range{0, 0};
  }

  /// Returns whether (i, j) is in the pattern of L.
  template <class Context>
  SPTRSV_DEVICE bool has(Context& ctx, std::int64_t i, std::int64_t j) const {
    const row_range row = range_of(ctx, is_lower ? i : j);
    const Index* const indices = a.indices + row.begin;
    const auto minor = static_cast<Index>(is_lower ? j : i);
    const std::int64_t below = triangle_kernels::count_below(ctx, indices, row.count, minor);
    return below < row.count && ctx.load_constant(indices + below) == minor;
  }

  /// Returns the largest power of two d below `end` up to which `implies(d)` and `implied(d)` are true; 0 if
  /// there is none, -1 if the second is false where the first is true.
  template <class Implies, class Implied>
  SPTRSV_DEVICE static std::int16_t run_of(std::int64_t end, const Implies& implies, const Implied& implied) {
    std::int16_t run = 0;
    for (int d = 1; d <= max_run && d < end && implies(d); d *= 2) {
      if (!implied(d)) {
        return -1;
      }
      run = static_cast<std::int16_t>(d);
    }
    return run;
  }
};

/// Estimates from a sample of a complete factor; all are 0 if the pattern is not a complete factor.
struct supernode_sample {
  /// How many columns of the same supernode follow the column of an entry, on average over the entries, each
  /// count rounded down to a power of two, at most 256.
  double columns = 0;
  double leaves = 0;  ///< share of the entries without a run: about the share of columns that end a supernode
};

/// Evaluates one of the two rules.
inline supernode_sample evaluate(const std::vector<entry_sample>& samples, std::int16_t entry_sample::*run) {
  double weights = 0;
  double runs = 0;
  double drawn = 0;
  double without = 0;
  for (const entry_sample& one : samples) {
    if (one.*run < 0) {
      return {};
    }
    weights += one.weight;
    runs += static_cast<double>(one.weight) * (one.*run);
    drawn += one.weight > 0 ? 1 : 0;
    without += one.weight > 0 && one.*run == 0 ? 1 : 0;
  }
  return weights > 0 ? supernode_sample{runs / weights, without / drawn} : supernode_sample{};
}

/// Samples the pattern, whose stored rows (columns) must ascend. Synchronises.
template <class Index, class Offset, class Executor>
supernode_sample sample_supernodes(const pattern_view<Index, Offset>& a, const triangle_form& form,
                                   const Executor& on, memory_resource& resource) {
  constexpr std::int64_t samples = 1024;
  const auto drawn = make_buffer<entry_sample>(samples, on, resource);
  simt::for_each(on, samples, sample_entry<Index, Offset>{a, form.transposed == form.reversed, drawn.data()});
  const std::vector<entry_sample> found = download_array(drawn, on);
  const supernode_sample by_columns = evaluate(found, &entry_sample::columns);
  const supernode_sample by_rows = evaluate(found, &entry_sample::rows);
  return by_columns.columns >= by_rows.columns ? by_columns : by_rows;
}

/// Returns whether the pattern is that of a complete factor with wide supernodes. A tree without leaves is
/// one path, on which nothing hides the hand-offs from supernode to supernode: it needs wider ones, unless
/// they are few. Patterns with short rows are not sampled. Synchronises.
template <class Index, class Offset, class Executor>
bool has_wide_supernodes(const pattern_view<Index, Offset>& a, const triangle_form& form, const Executor& on,
                         memory_resource& resource) {
  constexpr std::int64_t min_row_entries = 16;
  constexpr double few_leaves = 0.002;
  constexpr double wide = 16;
  constexpr double wide_in_path = 48;
  constexpr double few_supernodes = 8;
  if (a.size == 0 || a.entries < min_row_entries * a.size) {
    return false;
  }
  const supernode_sample found = sample_supernodes(a, form, on, resource);
  const double few = static_cast<double>(a.size) / few_supernodes;
  return found.columns >= (found.leaves < few_leaves ? std::clamp(few, wide, wide_in_path) : wide);
}

}  // namespace sptrsv::SPTRSV_ABI::detail::automatic

namespace sptrsv::SPTRSV_ABI::detail {

/// Says in `info`, which the engine of the chosen policy has filled in, what was chosen and why.
inline void describe_choice(solver_info& info, const char* chosen, const char* reason) {
  info.chosen = chosen;
  info.plan = info.chosen + reason + (info.plan.empty() ? "" : "; " + info.plan);
}

template <class... Candidate, class Scalar, class Index, class Offset, class Executor>
class engine<policy::automatic<Candidate...>, Scalar, Index, Offset, Executor>
    : public engine<typename policy::automatic<Candidate...>::first, Scalar, Index, Offset, Executor> {
  using policy_type = policy::automatic<Candidate...>;
  using base = engine<typename policy_type::first, Scalar, Index, Offset, Executor>;

 public:
  /// `begun`: see the engine of the candidate.
  template <class... Begun>
  engine(const policy_type& policy, const valued_pattern<Scalar, Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource, Begun&... begun)
      : base(std::get<0>(policy.candidates), a, form, max_rhs, on, resource, begun...) {}

  /// See the engine of the candidate, if it has this function.
  template <class... Arguments>
  static auto begin_both(const policy_type& policy, Arguments&&... arguments) {
    return base::begin_both(std::get<0>(policy.candidates), std::forward<Arguments>(arguments)...);
  }

  void describe(solver_info& info, const Executor& on) const {
    base::describe(info, on);
    describe_choice(info, policy_type::first::name, ", the only candidate");
  }
};

template <class First, class Second, class Scalar, class Index, class Offset, class Executor>
class engine<policy::automatic<First, Second>, Scalar, Index, Offset, Executor> {
  template <class Policy>
  using engine_for = engine<Policy, Scalar, Index, Offset, Executor>;

 public:
  using storage = std::variant<typename engine_for<First>::workspace, typename engine_for<Second>::workspace>;
  struct workspace : storage {
    using storage::storage;

    void reset(const Executor& on) {
      std::visit([&](auto& of_chosen) { of_chosen.reset(on); }, static_cast<storage&>(*this));
    }
  };

  engine(const policy::automatic<First, Second>& policy, const valued_pattern<Scalar, Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource) {
    const auto take = [&](const auto& candidate) {
      using chosen = engine_for<std::decay_t<decltype(candidate)>>;
      engine_ = std::make_unique<chosen>(candidate, a, form, max_rhs, on, resource);
    };
    if (automatic::has_wide_supernodes(a, form, on, resource) == is_supernodal<First>) {
      take(std::get<0>(policy.candidates));
    } else {
      take(std::get<1>(policy.candidates));
    }
  }

  void update_values(const Scalar* values, const Executor& on) {
    visit([&](auto& chosen) { chosen.update_values(values, on); });
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return visit([&](const auto& chosen) { return workspace(chosen.make_workspace(on, resource)); });
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    visit([&](const auto& chosen) { chosen.solve(alpha, b, x, of(chosen, scratch), on); });
  }

  std::int64_t first_nonfinite_index(workspace& scratch, const Executor& on) const {
    return visit([&](const auto& chosen) { return chosen.first_nonfinite_index(of(chosen, scratch), on); });
  }

  bool is_zero_pivot(std::int64_t substitution_index, workspace& scratch, const Executor& on) const {
    return visit([&](const auto& chosen) {
      return chosen.is_zero_pivot(substitution_index, of(chosen, scratch), on);
    });
  }

  std::int64_t first_grown_index(const Executor& on) const {
    return visit([&](const auto& chosen) { return detail::first_grown_index(chosen, on); });
  }

  void describe(solver_info& info, const Executor& on) const {
    visit([&](const auto& chosen) { chosen.describe(info, on); });
    describe_choice(info, engine_.index() == 0 ? First::name : Second::name, ", by a sample of the pattern");
  }

 private:
  template <class Use>
  auto visit(const Use& use) const {
    return std::visit([&](const auto& chosen) { return use(*chosen); }, engine_);
  }

  template <class Chosen>
  static auto& of(const Chosen&, workspace& scratch) {
    return std::get<typename Chosen::workspace>(scratch);
  }

  std::variant<std::unique_ptr<engine_for<First>>, std::unique_ptr<engine_for<Second>>> engine_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
