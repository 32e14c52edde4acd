// The forms that the policies offer, by name: for programs that compare them.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "policies.hpp"

namespace sptrsv_examples {

/// A policy with its members set. The forms of a policy share the solver's code.
template <class Policy>
struct policy_form {
  std::string name;         ///< the policy's own for the form that it has by default
  std::string description;  ///< a phrase
  Policy policy{};
  /// Whether the method works on columns, so that its analysis is shortest where those are stored.
  bool by_columns = false;
  /// Whether `analyze` may refuse a system for its size or shape.
  bool may_refuse = false;
  /// Whether it only takes another of the policies, so that lists which run by default can do without it.
  bool is_another = false;
  /// What the backward error may be, as a multiple of the bound of substitution.
  double growth = 1;

  [[nodiscard]] bool is_default() const { return name == Policy::name && !is_another; }
};

template <class Policy>
using form_list = std::vector<policy_form<Policy>>;

// A new form is a line in one of these, a new policy with forms one more of them.

template <class Policy>
form_list<Policy> forms_of(policy_list<Policy>) {
  return {{Policy::name, "the policy's only form"}};
}

inline auto forms_of(policy_list<sptrsv::policy::automatic<>>) {
  return form_list<sptrsv::policy::automatic<>>{
      {"automatic", "what analyze takes by itself: dataflow", {}, false, false, true}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_warp>) {
  using namespace sptrsv::policy;
  return form_list<sync_free_warp>{
      {"sync_free_warp", "a warp a row, in level order"},
      {"sync_free_warp_natural", "a warp a row, in the order of substitution", {row_order::natural}},
      {"sync_free_warp_by_length",
       "rows of a level that are about as long share a warp",
       {row_order::levels, warp_form::rows_by_length}}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_thread>) {
  using namespace sptrsv::policy;
  return form_list<sync_free_thread>{
      {"sync_free_thread", "a thread a row, in level order"},
      {"sync_free_thread_natural", "the same in the order of substitution", {row_order::natural}},
      {"sync_free_thread_two_phase",
       "a loop for rows of earlier warps first, in level order",
       {row_order::levels, thread_form::two_phase}},
      {"sync_free_thread_natural_two_phase",
       "the same in the order of substitution",
       {row_order::natural, thread_form::two_phase}}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_fused>) {
  using namespace sptrsv::policy;
  return form_list<sync_free_fused>{
      {"sync_free_fused", "threads and warps by the length of rows, in level order"},
      {"sync_free_fused_natural", "the same in the order of substitution", {row_order::natural}}};
}

inline auto forms_of(policy_list<sptrsv::policy::level_set>) {
  using namespace sptrsv::policy;
  return form_list<level_set>{{"level_set", "levels by rows, narrow ones fused, as a graph"},
                              {"level_set_columns", "the same by columns", {orientation::columns}, true},
                              {"level_set_separate",
                               "a launch a level, a warp a row: LEVR",
                               {orientation::rows, level_launches::separate}},
                              {"level_set_columns_separate",
                               "a launch a level, a warp a column: LEVC",
                               {orientation::columns, level_launches::separate},
                               true}};
}

inline auto forms_of(policy_list<sptrsv::policy::dataflow>) {
  using namespace sptrsv::policy;
  return form_list<dataflow>{
      {"dataflow", "the path that promises to be the fastest"},
      {"dataflow_partitioned",
       "a block a part of the rows, teams of warps taking its levels in turn",
       {dataflow_path::relay}},
      {"dataflow_single_block", "one thread block, step after step", {dataflow_path::walk}, false, true},
      {"dataflow_row_per_thread", "a thread a row, in level order", {dataflow_path::grid}},
      {"dataflow_grid_natural",
       "a thread a row, in the order of substitution",
       {dataflow_path::grid, group_order::natural}},
      {"dataflow_hybrid", "a thread a row for the first levels, then a relay", {dataflow_path::segments}},
      {"dataflow_inverses",
       "the fastest path, with rows rewritten by inverses where that is faster",
       {dataflow_path::automatic, group_order::levels, 0, false},
       false,
       false,
       false,
       dataflow{}.max_growth}};
}

inline auto forms_of(policy_list<sptrsv::policy::self_scheduled>) {
  using namespace sptrsv::policy;
  return form_list<self_scheduled>{
      {"self_scheduled", "by columns, in level order: SLFC", {orientation::columns}, true},
      {"self_scheduled_rows", "by rows, in level order: SLFR", {orientation::rows}},
      {"self_scheduled_natural",
       "by columns, in the order of substitution",
       {orientation::columns, row_order::natural},
       true},
      {"self_scheduled_rows_natural",
       "by rows, in the order of substitution",
       {orientation::rows, row_order::natural}}};
}

/// The first is the model's choice; the others are schemes that stand for what others have published.
inline auto forms_of(policy_list<sptrsv::policy::scheme>) {
  using sptrsv::parse_scheme;
  return form_list<sptrsv::policy::scheme>{
      {"scheme", "what the model chooses"},
      {"scheme_warp", "a warp a row, in level order", {parse_scheme("trans=reorder")}},
      {"scheme_lanes",
       "a lane a row, 32 neighbours a warp, in level order",
       {parse_scheme("sw_rnnz=inf trans=reorder+merge_fixed(32)")}},
      {"scheme_fused",
       "either by the average of 32 rows, in the order of substitution, fenced flags",
       {parse_scheme("sw_rnnz=8 trans=merge_avg(32,8) signal=fenced")}},
      {"scheme_dealt",
       "four rows of a level a warp, dealt to resident warps",
       {parse_scheme("ng=4 trans=reorder warps=ws_rr")}}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_column>) {
  return form_list<sptrsv::policy::sync_free_column>{
      {"sync_free_column", "a warp a column, shared updates inside a block", {}, true}};
}

inline auto forms_of(policy_list<sptrsv::policy::recursive_block>) {
  using namespace sptrsv::policy;
  return form_list<recursive_block>{
      {"recursive_block", "halves of halves where rows are long"},
      {"recursive_block_paper", "the same with the paper's choice of kernels", {-1, {block_selector::paper}}},
      {"recursive_block_4", "4 triangles, halves of halves", {2}},
      {"recursive_block_16", "16 triangles, halves of halves", {4}},
      {"recursive_block_64", "64 triangles, halves of halves", {6}}};
}

inline auto forms_of(policy_list<sptrsv::policy::column_block>) {
  using sptrsv::policy::column_block;
  return form_list<column_block>{{"column_block", "triangles with all that is below, where rows are long"},
                                 {"column_block_4", "4 triangles with all that is below", {4}},
                                 {"column_block_16", "16 triangles with all that is below", {16}},
                                 {"column_block_64", "64 triangles with all that is below", {64}}};
}

inline auto forms_of(policy_list<sptrsv::policy::row_block>) {
  using sptrsv::policy::row_block;
  return form_list<row_block>{{"row_block", "triangles with all that is left of them, where rows are long"},
                              {"row_block_4", "4 triangles with all that is left of them", {4}},
                              {"row_block_16", "16 triangles with all that is left of them", {16}},
                              {"row_block_64", "64 triangles with all that is left of them", {64}}};
}

struct all_updates_global : sptrsv::sync_free_column_tuning {
  static constexpr bool shared_updates = false;
};
inline auto forms_of(policy_list<sptrsv::policy::basic_sync_free_column<all_updates_global>>) {
  return form_list<sptrsv::policy::basic_sync_free_column<all_updates_global>>{
      {"sync_free_column_global", "a warp a column, all updates in global memory", {}, true}};
}

/// Forms by other constants of kernels: each is a solver of its own, which takes long to compile. So programs
/// have them for the commonest types only.
using tuned_device_policies = policy_list<sptrsv::policy::basic_sync_free_column<all_updates_global>>;

template <class Value, class Index>
inline constexpr bool has_tuned_forms = std::is_floating_point_v<Value> && sizeof(Index) == 4;

/// Calls `visit(form)` for each form of each policy of the list.
template <class... Policies, class Visit>
void for_each_form(policy_list<Policies...>, Visit visit) {
  const auto visit_all = [&](const auto& forms) {
    for (const auto& form : forms) {
      visit(form);
    }
  };
  (visit_all(forms_of(policy_list<Policies>{})), ...);
}

/// The same for all that this build has for a type of values and of indices.
template <class Value, class Index, class Visit>
void for_each_form(Visit visit) {
  for_each_form(all_policies{}, visit);
#ifdef __CUDACC__
  if constexpr (has_tuned_forms<Value, Index>) {
    for_each_form(tuned_device_policies{}, visit);
  }
#endif
}

/// What can be said of a form without its type.
struct form_entry {
  std::string name;
  std::string description;
  bool on_host = false;
  bool is_default = false;
};

template <class Policy>
form_entry entry_of(const policy_form<Policy>& form) {
  return {form.name, form.description, runs_on_host<Policy>, form.is_default()};
}

}  // namespace sptrsv_examples
