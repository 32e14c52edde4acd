// SPDX-License-Identifier: Apache-2.0
// The engine of automatic: the engine of the candidate with the smallest predicted time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sptrsv/detail/automatic/cost_models.hpp"
#include "sptrsv/detail/automatic/profile.hpp"
#include "sptrsv/detail/base/plan_text.hpp"
#include "sptrsv/detail/dataflow/dataflow_engine.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {
namespace automatic {

/// The engine for a std::tuple of candidates.
template <class Candidates, class Scalar, class Index, class Offset, class Executor>
class engine_of;

/// The engine for one candidate.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class engine_of<std::tuple<Policy>, Scalar, Index, Offset, Executor>
    : public engine<Policy, Scalar, Index, Offset, Executor> {
  using base = engine<Policy, Scalar, Index, Offset, Executor>;

 public:
  /// `begun`: see the engine of the candidate.
  template <class Automatic, class... Begun>
  engine_of(const Automatic& policy, const valued_pattern<Scalar, Index, Offset>& a,
            const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource,
            Begun&... begun)
      : base(std::get<0>(policy.candidates), a, form, max_rhs, on, resource, begun...) {}

  /// See the engine of the candidate, if it has this function.
  template <class Automatic, class... Arguments>
  static auto begin_both(const Automatic& policy, Arguments&&... arguments) {
    return base::begin_both(std::get<0>(policy.candidates), std::forward<Arguments>(arguments)...);
  }

  void describe(solver_info& info, const Executor& on) const {
    base::describe(info, on);
    info.chosen = Policy::name;
    info.plan =
        std::string(Policy::name) + ", the only candidate" + (info.plan.empty() ? "" : "; " + info.plan);
  }
};

/// Calls `visit` with `index`, which is less than Count, as a std::integral_constant.
template <std::size_t Count, std::size_t First = 0, class Visit>
auto at_index(std::size_t index, const Visit& visit) {
  if constexpr (First + 1 < Count) {
    if (index != First) {
      return at_index<Count, First + 1>(index, visit);
    }
  }
  return visit(std::integral_constant<std::size_t, First>{});
}

/// The engine for several candidates: analyses the system with the candidate of the smallest predicted time.
/// Levels are counted only if several candidates have a finite time without them, and if they are not known
/// from the sample of the pattern.
template <class... Policies, class Scalar, class Index, class Offset, class Executor>
class engine_of<std::tuple<Policies...>, Scalar, Index, Offset, Executor> {
  using first_stream = typename std::tuple_element_t<0, std::tuple<Policies...>>::default_stream;
  static_assert((std::is_same_v<typename Policies::default_stream, first_stream> && ...),
                "policy::automatic: all candidates run on the GPU, or all on the host");

  template <class Policy>
  using engine_for = engine<Policy, Scalar, Index, Offset, Executor>;
  /// Indexed by the candidate's number, because two candidates may be of the same type with different
  /// settings.
  using engines = std::variant<std::unique_ptr<engine_for<Policies>>...>;

 public:
  using storage = std::variant<typename engine_for<Policies>::workspace...>;
  struct workspace : storage {
    using storage::storage;

    void reset(const Executor& on) {
      std::visit([&](auto& of_chosen) { of_chosen.reset(on); }, static_cast<storage&>(*this));
    }
  };

  template <class Automatic>
  engine_of(const Automatic& policy, const valued_pattern<Scalar, Index, Offset>& a,
            const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource) {
    system_profile system = quick_profile<Scalar>(a, form, max_rhs, on, resource);
    const auto predict = [&] {
      predictions_ = std::apply(
          [&](const Policies&... candidate) {
            return std::vector<predicted_time>{{Policies::name, predicted_nanoseconds(candidate, system)}...};
          },
          policy.candidates);
    };
    predict();
    const bool is_only_candidate = std::count_if(predictions_.begin(), predictions_.end(), [](const auto& t) {
                                     return std::isfinite(t.nanoseconds);
                                   }) == 1;
    if (!is_only_candidate && system.levels == 0) {
      add_lengths_and_levels(system, a, form, on, resource);
      predict();
    }
    const auto least = std::min_element(
        predictions_.begin(), predictions_.end(),
        [](const predicted_time& t, const predicted_time& u) { return t.nanoseconds < u.nanoseconds; });
    const auto chosen_number = static_cast<std::size_t>(least - predictions_.begin());
    if (is_only_candidate) {
      predictions_.clear();
    }
    at_index<count>(chosen_number, [&](auto number) {
      constexpr std::size_t i = decltype(number)::value;
      using chosen = typename std::variant_alternative_t<i, engines>::element_type;
      engine_.template emplace<i>(
          std::make_unique<chosen>(std::get<i>(policy.candidates), a, form, max_rhs, on, resource));
    });
  }

  void update_values(const Scalar* values, const Executor& on) {
    visit([&](auto& chosen, auto) { chosen.update_values(values, on); });
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return visit([&](const auto& chosen, auto number) {
      return workspace(std::in_place_index<decltype(number)::value>, chosen.make_workspace(on, resource));
    });
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    visit([&](const auto& chosen, auto number) {
      chosen.solve(alpha, b, x, std::get<decltype(number)::value>(scratch), on);
    });
  }

  std::int64_t first_nonfinite_index(workspace& scratch, const Executor& on) const {
    return visit([&](const auto& chosen, auto number) {
      return chosen.first_nonfinite_index(std::get<decltype(number)::value>(scratch), on);
    });
  }

  bool is_zero_pivot(std::int64_t substitution_index, workspace& scratch, const Executor& on) const {
    return visit([&](const auto& chosen, auto number) {
      return chosen.is_zero_pivot(substitution_index, std::get<decltype(number)::value>(scratch), on);
    });
  }

  std::int64_t first_grown_index(const Executor& on) const {
    return visit([&](const auto& chosen, auto) { return detail::first_grown_index(chosen, on); });
  }

  void describe(solver_info& info, const Executor& on) const {
    visit([&](const auto& chosen, auto) { chosen.describe(info, on); });
    const std::string own = info.plan.empty() ? "" : "; " + info.plan;
    info.chosen = at_index<count>(engine_.index(), [](auto number) {
      return std::tuple_element_t<decltype(number)::value, std::tuple<Policies...>>::name;
    });
    if (predictions_.empty()) {
      info.plan = info.chosen + ", the only candidate for this pattern" + own;
    } else {
      info.plan = info.chosen + ", by the predicted time of a solve: " + to_text(predictions_) + own;
      info.predictions.insert(info.predictions.begin(), predictions_.begin(), predictions_.end());
    }
  }

 private:
  static constexpr std::size_t count = sizeof...(Policies);

  /// Calls use(engine, number) with the engine and the number of the chosen candidate.
  template <class Use>
  auto visit(const Use& use) const {
    return at_index<count>(engine_.index(), [&](auto number) {
      return use(*std::get<decltype(number)::value>(engine_), number);
    });
  }

  std::vector<predicted_time> predictions_;  ///< by candidate; empty if only one was possible
  engines engine_;
};

}  // namespace automatic

template <class... Candidates, class Scalar, class Index, class Offset, class Executor>
class engine<policy::automatic<Candidates...>, Scalar, Index, Offset, Executor>
    : public automatic::engine_of<typename policy::automatic<Candidates...>::candidate_list, Scalar, Index,
                                  Offset, Executor> {
  using base = automatic::engine_of<typename policy::automatic<Candidates...>::candidate_list, Scalar, Index,
                                    Offset, Executor>;

 public:
  using base::base;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
