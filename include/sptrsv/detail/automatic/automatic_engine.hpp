// SPDX-License-Identifier: Apache-2.0
// The engine of automatic: that of its only candidate, or of the one that a sample of the pattern chooses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "sptrsv/detail/automatic/supernode_sample.hpp"
#include "sptrsv/detail/dataflow/dataflow_engine.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/solver.hpp"

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
  /// Calls `use` with the engine of the chosen candidate.
  template <class Use>
  auto visit(const Use& use) const {
    return std::visit([&](const auto& chosen) { return use(*chosen); }, engine_);
  }

  /// Returns the workspace of the chosen candidate.
  template <class Chosen>
  static auto& of(const Chosen&, workspace& scratch) {
    return std::get<typename Chosen::workspace>(scratch);
  }

  std::variant<std::unique_ptr<engine_for<First>>, std::unique_ptr<engine_for<Second>>> engine_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
