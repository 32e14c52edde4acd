// The named forms of the policies, for programs that compare them.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/command_line/arguments.hpp"
#include "common/measurement/placement.hpp"
#include "common/policies/policy_list.hpp"

namespace sptrsv_common {

/// A policy with its members set, under a name. All forms of a policy use the same compiled solver.
template <class Policy>
struct policy_form {
  std::string name;         ///< the default form has the name of the policy
  std::string description;  ///< what the form does, as a phrase
  Policy policy{};
  /// Whether the method works on columns. Its analysis is shortest for a matrix that is stored by columns.
  bool by_columns = false;
  /// Whether `analyze` may refuse a system for its size or shape.
  bool may_refuse = false;
  /// Whether the policy only selects another policy of the list. Such a form does not run by default.
  bool is_another = false;
  /// Largest allowed backward error, as a multiple of the bound of substitution.
  double growth = 1;

  [[nodiscard]] bool is_default() const { return name == Policy::name && !is_another; }
};

template <class Policy>
using form_list = std::vector<policy_form<Policy>>;

// forms_of() returns the forms of a policy. To offer another form, add a line to the function of its policy;
// for a policy with several forms, add an overload.

template <class Policy>
form_list<Policy> forms_of(policy_list<Policy>) {
  return {{Policy::name, "the policy's only form"}};
}

inline auto forms_of(policy_list<sptrsv::policy::automatic<>>) {
  return form_list<sptrsv::policy::automatic<>>{
      {"automatic", "the policy that analyze takes by default: dataflow", {}, false, false, true}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_warp>) {
  using namespace sptrsv::policy;
  return form_list<sync_free_warp>{
      {"sync_free_warp", "one warp per row, in level order"},
      {"sync_free_warp_natural", "one warp per row, in the order of substitution", {row_order::natural}},
      {"sync_free_warp_by_length",
       "one warp for several rows of a level that have similar lengths",
       {row_order::levels, warp_form::rows_by_length}}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_thread>) {
  using namespace sptrsv::policy;
  return form_list<sync_free_thread>{
      {"sync_free_thread", "one thread per row, in level order"},
      {"sync_free_thread_natural", "one thread per row, in the order of substitution", {row_order::natural}},
      {"sync_free_thread_two_phase",
       "one thread per row, a first loop for the rows of earlier warps, in level order",
       {row_order::levels, thread_form::two_phase}},
      {"sync_free_thread_natural_two_phase",
       "the same, in the order of substitution",
       {row_order::natural, thread_form::two_phase}}};
}

inline auto forms_of(policy_list<sptrsv::policy::host_parallel>) {
  using namespace sptrsv::policy;
  return form_list<host_parallel>{
      {"host_parallel", "the path and the number of workers that are predicted to be the fastest"},
      {"host_parallel_1", "the faster path of one worker", {1}},
      {"host_parallel_2", "the faster path of two workers", {2}}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_fused>) {
  using namespace sptrsv::policy;
  return form_list<sync_free_fused>{
      {"sync_free_fused", "one thread or one warp per row, by the length of the row, in level order"},
      {"sync_free_fused_natural", "the same, in the order of substitution", {row_order::natural}}};
}

inline auto forms_of(policy_list<sptrsv::policy::level_set>) {
  using namespace sptrsv::policy;
  return form_list<level_set>{{"level_set", "level by level, by rows, narrow levels fused, as a CUDA graph"},
                              {"level_set_columns", "the same, by columns", {orientation::columns}, true},
                              {"level_set_separate",
                               "one launch per level, one warp per row: LEVR",
                               {orientation::rows, level_launches::separate}},
                              {"level_set_columns_separate",
                               "one launch per level, one warp per column: LEVC",
                               {orientation::columns, level_launches::separate},
                               true}};
}

inline auto forms_of(policy_list<sptrsv::policy::dataflow>) {
  using namespace sptrsv::policy;
  return form_list<dataflow>{
      {"dataflow", "the path that is predicted to be the fastest"},
      {"dataflow_partitioned",
       "one thread block per partition of the rows, warp groups take its tiles round-robin",
       {dataflow_path::partitioned}},
      {"dataflow_single_block",
       "one thread block for the whole system, tile by tile",
       {dataflow_path::single_block},
       false,
       true},
      {"dataflow_row_per_thread", "one thread per row, in level order", {dataflow_path::row_per_thread}},
      {"dataflow_grid_natural",
       "one thread per row, in the order of substitution",
       {dataflow_path::row_per_thread, row_order::natural}},
      {"dataflow_hybrid",
       "one thread per row for the first levels, then partitions of the rows",
       {dataflow_path::hybrid}},
      {"dataflow_inverses",
       "the fastest path, with row elimination where that is faster",
       {dataflow_path::automatic, row_order::levels, 0, false},
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

/// The model chooses the first form. Each of the others is a scheme like one of the published methods.
inline auto forms_of(policy_list<sptrsv::policy::scheme>) {
  using sptrsv::parse_scheme;
  return form_list<sptrsv::policy::scheme>{
      {"scheme", "the scheme that the model chooses"},
      {"scheme_warp", "one warp per row, in level order", {parse_scheme("trans=reorder")}},
      {"scheme_lanes",
       "one lane per row, 32 neighbouring rows per warp, in level order",
       {parse_scheme("sw_rnnz=inf trans=reorder+merge_fixed(32)")}},
      {"scheme_fused",
       "one lane or one warp per row, by the average length of 32 rows, in the order of substitution, fenced "
       "flags",
       {parse_scheme("sw_rnnz=8 trans=merge_avg(32,8) signal=fenced")}},
      {"scheme_dealt",
       "four rows of a level per warp, distributed to resident warps round-robin",
       {parse_scheme("ng=4 trans=reorder warps=ws_rr")}}};
}

inline auto forms_of(policy_list<sptrsv::policy::sync_free_column>) {
  return form_list<sptrsv::policy::sync_free_column>{
      {"sync_free_column", "one warp per column, updates inside a block in shared memory", {}, true}};
}

inline auto forms_of(policy_list<sptrsv::policy::supernodal>) {
  using sptrsv::policy::supernodal;
  return form_list<supernodal>{{"supernodal",
                                "by the supernodes of a complete factor, with inverse diagonal blocks",
                                {},
                                false,
                                false,
                                false,
                                supernodal{}.max_growth}};
}

inline auto forms_of(policy_list<sptrsv::policy::recursive_block>) {
  using namespace sptrsv::policy;
  return form_list<recursive_block>{{"recursive_block", "recursive halves for systems with long rows"},
                                    {"recursive_block_paper",
                                     "the same, with the choice of kernels in the paper",
                                     {0, {block_selector::paper}}},
                                    {"recursive_block_4", "4 triangles by recursive halves", {4}},
                                    {"recursive_block_16", "16 triangles by recursive halves", {16}},
                                    {"recursive_block_64", "64 triangles by recursive halves", {64}}};
}

inline auto forms_of(policy_list<sptrsv::policy::column_block>) {
  using sptrsv::policy::column_block;
  return form_list<column_block>{
      {"column_block", "triangles, each with all entries below it, for systems with long rows"},
      {"column_block_4", "4 triangles, each with all entries below it", {4}},
      {"column_block_16", "16 triangles, each with all entries below it", {16}},
      {"column_block_64", "64 triangles, each with all entries below it", {64}}};
}

inline auto forms_of(policy_list<sptrsv::policy::row_block>) {
  using sptrsv::policy::row_block;
  return form_list<row_block>{
      {"row_block", "triangles, each with all entries to its left, for systems with long rows"},
      {"row_block_4", "4 triangles, each with all entries to its left", {4}},
      {"row_block_16", "16 triangles, each with all entries to its left", {16}},
      {"row_block_64", "64 triangles, each with all entries to its left", {64}}};
}

/// Tuning of sync_free_column without updates in shared memory.
struct all_updates_global : sptrsv::experimental::sync_free_column_tuning {
  static constexpr bool shared_updates = false;
};
inline auto forms_of(policy_list<sptrsv::policy::basic_sync_free_column<all_updates_global>>) {
  return form_list<sptrsv::policy::basic_sync_free_column<all_updates_global>>{
      {"sync_free_column_global", "one warp per column, all updates in global memory", {}, true}};
}

/// automatic with a second candidate.
using automatic_supernodal = sptrsv::policy::automatic<sptrsv::policy::dataflow, sptrsv::policy::supernodal>;
inline auto forms_of(policy_list<automatic_supernodal>) {
  return form_list<automatic_supernodal>{{"automatic_supernodal",
                                          "dataflow, or supernodal for complete factors",
                                          {},
                                          false,
                                          false,
                                          true,
                                          sptrsv::policy::supernodal{}.max_growth}};
}

/// Policies with other template arguments. Each is a solver of its own, which takes long to compile, so
/// programs offer them for the most common types only.
using tuned_device_policies =
    policy_list<sptrsv::policy::basic_sync_free_column<all_updates_global>, automatic_supernodal>;

template <class Value, class Index>
inline constexpr bool has_tuned_forms = std::is_floating_point_v<Value> && sizeof(Index) == 4;

/// Calls `visit(form)` for each form of each policy of a list.
template <class... Policies, class Visit>
void for_each_form(policy_list<Policies...>, Visit visit) {
  const auto visit_all = [&](const auto& forms) {
    for (const auto& form : forms) {
      visit(form);
    }
  };
  (visit_all(forms_of(policy_list<Policies>{})), ...);
}

/// Calls `visit(form)` for each form of this build for a type of values and of indices.
template <class Value, class Index, class Visit>
void for_each_form(Visit visit) {
  for_each_form(all_policies{}, visit);
#ifdef __CUDACC__
  if constexpr (has_tuned_forms<Value, Index>) {
    for_each_form(tuned_device_policies{}, visit);
  }
#endif
}

/// The properties of a form that do not depend on its type.
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

/// Returns the names of the forms that `names` selects among the forms `known` of a build. No names select
/// the default forms of the GPU, or of the host if there is no GPU; "all" selects all forms of that side.
/// Throws usage_error for an unknown name and for a form that needs a GPU if there is none.
inline std::vector<std::string> choose_forms(const std::vector<form_entry>& known,
                                             const std::vector<std::string>& names, bool has_gpu) {
  std::vector<std::string> chosen;
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    for (const form_entry& form : known) {
      if (form.on_host != has_gpu && (form.is_default || !names.empty())) {
        chosen.push_back(form.name);
      }
    }
    return chosen;
  }
  for (const std::string& name : names) {
    const auto form =
        std::find_if(known.begin(), known.end(), [&](const form_entry& entry) { return entry.name == name; });
    if (form == known.end()) {
      std::vector<std::string> known_names;
      known_names.reserve(known.size());
      for (const form_entry& entry : known) {
        known_names.push_back(entry.name);
      }
      throw usage_error("this build has no policy '" + name + "', it has " + joined_names(known_names));
    }
    if (!form->on_host && !has_gpu) {
      throw usage_error("the policy " + name + " needs a GPU, and this machine has none");
    }
    chosen.push_back(name);
  }
  return chosen;
}

}  // namespace sptrsv_common
