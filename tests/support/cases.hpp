// The cases of the suites: a target, a configured policy, and the types of a matrix.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "support/any_solver.hpp"
#include "support/subjects.hpp"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// Returns a number that differs from case to case, so that the cases try different forms if each of them can
/// try only some.
inline std::size_t turn_of(const std::string& case_name) {
  std::size_t sum = 0;
  for (const char c : case_name) {
    sum += static_cast<unsigned char>(c);
  }
  return sum;
}

template <class Target, class Value, class Index, class Offset>
struct case_types {
  using target = Target;
  using value = Value;
  using index = Index;
  using offset = Offset;

  static std::string name() {
    return std::string(std::is_floating_point_v<Value> ? "f" : "c") + std::to_string(8 * sizeof(Value)) +
           "_i" + std::to_string(8 * sizeof(Index)) + "_o" + std::to_string(8 * sizeof(Offset));
  }
};

/// The names of the types in typed suites of GoogleTest.
struct type_names {
  template <class Types>
  static std::string GetName(int) {
    return Types::name();
  }
};

template <class Target, class Subject, class Value, class Index, class Offset>
struct suite_case {
  using types = case_types<Target, Value, Index, Offset>;
  using subject = Subject;

  static std::string name() { return Subject::name + ("_" + types::name()); }
};

/// The policy of a suite_case.
template <class Case>
class tested final : public tested_policy_of<typename Case::types, typename Case::subject::policy_type> {
 public:
  tested()
      : tested_policy_of<typename Case::types, typename Case::subject::policy_type>(Case::subject::make()) {
    this->case_name = Case::name();
    this->may_refuse = Case::subject::may_refuse;
    this->growth = Case::subject::growth;
    this->holds_indices = Case::subject::holds_indices;
  }
};

/// Returns the policy of a suite_case, which lives to the end of the process.
template <class Case>
const tested_policy<typename Case::types>& policy_of() {
  static const tested<Case> the_policy;
  return the_policy;
}

template <class... Cases>
struct case_list {};

/// The cases of several lists in one list.
template <class... Lists>
struct joined;
template <class List>
struct joined<List> {
  using type = List;
};
template <class... First, class... Second, class... Rest>
struct joined<case_list<First...>, case_list<Second...>, Rest...>
    : joined<case_list<First..., Second...>, Rest...> {};

/// The host policies with one value type.
template <class Value>
using host_policies = case_list<suite_case<host_target, host_serial, Value, std::int32_t, std::int32_t>,
                                suite_case<host_target, host_serial, Value, std::int64_t, std::int64_t>,
                                suite_case<host_target, host_serial, Value, std::int32_t, std::int64_t>,
                                suite_case<host_target, host_parallel_3, Value, std::int32_t, std::int32_t>,
                                suite_case<host_target, host_parallel_3, Value, std::int64_t, std::int64_t>,
                                suite_case<host_target, host_parallel_3, Value, std::int32_t, std::int64_t>,
                                suite_case<host_target, host_parallel, Value, std::int32_t, std::int32_t>,
                                suite_case<host_target, host_parallel_1, Value, std::int32_t, std::int64_t>>;

/// Subjects that share kernels: one policy type, or policies made of it. If their index types agree, their
/// kernels are compiled once.
template <class... Subjects>
struct same_policy {};

template <class... Groups>
struct policy_groups {};

/// All device policies in all forms: as users have them, and with tunings for which small matrices are large.
using all_device_policies = policy_groups<
    same_policy<sync_free_warp, sync_free_warp_shared>,                                               //
    same_policy<sync_free_warp_small, sync_free_warp_natural>,                                        //
    same_policy<sync_free_warp_shared_small>,                                                         //
    same_policy<sync_free_thread>,                                                                    //
    same_policy<sync_free_thread_natural, sync_free_thread_phases,                                    //
                sync_free_thread_level_phases>,                                                       //
    same_policy<sync_free_fused>,                                                                     //
    same_policy<sync_free_fused_small, sync_free_fused_natural>,                                      //
    same_policy<sync_free_column>,                                                                    //
    same_policy<sync_free_column_small>,                                                              //
    same_policy<sync_free_column_global>,                                                             //
    same_policy<self_scheduled, self_scheduled_rows>,                                                 //
    same_policy<self_scheduled_natural, self_scheduled_rows_natural>,                                 //
    same_policy<self_scheduled_narrow, self_scheduled_rows_narrow>,                                   //
    same_policy<level_set, level_set_columns, automatic_of_two>,                                      //
    same_policy<level_set_mixed, level_set_columns_mixed, level_set_separate,                         //
                level_set_columns_separate>,                                                          //
    same_policy<level_set_wide>,                                                                      //
    same_policy<dataflow, dataflow_rewritten, automatic>,                                             //
    same_policy<dataflow_natural, dataflow_levels, dataflow_levels_rewritten,                         //
                dataflow_runs_rewritten, dataflow_natural_rewritten>,                                 //
    same_policy<dataflow_partitioned, dataflow_partitioned_rewritten>,                                //
    same_policy<dataflow_partitioned_lanes, dataflow_partitioned_rhs, dataflow_partitioned_streams>,  //
    same_policy<dataflow_single_block>,                                                               //
    same_policy<dataflow_single_block_banded>,                                                        //
    same_policy<scheme_chosen, scheme_dealt, scheme_fenced, scheme_launched, scheme_lanes>,           //
    same_policy<recursive_block, column_block, row_block>,                                            //
    same_policy<recursive_block_small, recursive_block_paper,                                         //
                recursive_block_sync_free, recursive_block_serial,                                    //
                column_block_small, column_block_levels,                                              //
                row_block_small, row_block_serial>,                                                   //
    same_policy<dataflow_hybrid, dataflow_hybrid_late>,                                               //
    same_policy<supernodal>,                                                                          //
    same_policy<supernodal_small>>;

/// The cases of a `same_policy` list with the index types of turn `Turn`.
template <class Target, class Value, std::size_t Turn, class Group>
struct in_turn;
template <class Target, class Value, std::size_t Turn, class... Subjects>
struct in_turn<Target, Value, Turn, same_policy<Subjects...>> {
  using index = std::conditional_t<Turn % 3 == 1, std::int64_t, std::int32_t>;
  using offset = std::conditional_t<Turn % 3 == 0, std::int32_t, std::int64_t>;
  using type = case_list<suite_case<Target, Subjects, Value, index, offset>...>;
};

/// The next group takes the next index types.
template <class Target, class Value, std::size_t Turn, class Groups>
struct all_in_turn;
template <class Target, class Value, std::size_t Turn, class First, class... Rest>
struct all_in_turn<Target, Value, Turn, policy_groups<First, Rest...>>
    : joined<typename in_turn<Target, Value, Turn, First>::type,
             typename all_in_turn<Target, Value, Turn + 1, policy_groups<Rest...>>::type> {};
template <class Target, class Value, std::size_t Turn>
struct all_in_turn<Target, Value, Turn, policy_groups<>> {
  using type = case_list<>;
};

/// The turn of the first index types for a value type, chosen so that each policy meets all index types over
/// `float`, `double` and `std::complex<float>`.
template <class Value>
inline constexpr std::size_t first_turn = std::is_same_v<Value, float>                 ? 1
                                          : std::is_same_v<Value, std::complex<float>> ? 2
                                                                                       : 0;

/// All device policies in all forms with one value type, the index types in turn.
template <class Target, class Value>
using device_policies = typename all_in_turn<Target, Value, first_turn<Value>, all_device_policies>::type;

}  // namespace sptrsv::testing
