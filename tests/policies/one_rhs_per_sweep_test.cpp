// The device policies with sweeps of a single right-hand side (rhs_per_sweep = 1), in the emulator: all
// right-hand sides of a solve are solved.
#include "contract/contract_rhs.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

/// A tuning with sweeps of one right-hand side.
template <class Tuning>
struct one_rhs_per_sweep : Tuning {
  static constexpr int rhs_per_sweep = 1;
};

struct level_set_one_rhs : subject<policy::basic_level_set<one_rhs_per_sweep<level_set_tuning>>> {
  static constexpr const char* name = "level_set_one_rhs";
};
struct level_set_columns_one_rhs : level_set_one_rhs {
  static constexpr const char* name = "level_set_columns_one_rhs";
  static policy_type make() { return {policy::orientation::columns}; }
};
struct self_scheduled_one_rhs
    : subject<policy::basic_self_scheduled<one_rhs_per_sweep<self_scheduled_tuning>>> {
  static constexpr const char* name = "self_scheduled_one_rhs";
};
struct self_scheduled_rows_one_rhs : self_scheduled_one_rhs {
  static constexpr const char* name = "self_scheduled_rows_one_rhs";
  static policy_type make() { return {policy::orientation::rows}; }
};
struct scheme_one_rhs : subject<policy::basic_scheme<one_rhs_per_sweep<scheme_tuning>>> {
  static constexpr const char* name = "scheme_one_rhs";
};
struct sync_free_thread_one_rhs
    : subject<policy::basic_sync_free_thread<one_rhs_per_sweep<sync_free_thread_tuning>>> {
  static constexpr const char* name = "sync_free_thread_one_rhs";
};
struct sync_free_warp_one_rhs
    : subject<policy::basic_sync_free_warp<one_rhs_per_sweep<sync_free_warp_tuning>>> {
  static constexpr const char* name = "sync_free_warp_one_rhs";
};
struct sync_free_fused_one_rhs
    : subject<policy::basic_sync_free_fused<one_rhs_per_sweep<sync_free_fused_tuning>>> {
  static constexpr const char* name = "sync_free_fused_one_rhs";
};
struct sync_free_column_one_rhs
    : subject<policy::basic_sync_free_column<one_rhs_per_sweep<sync_free_column_tuning>>> {
  static constexpr const char* name = "sync_free_column_one_rhs";
};
struct row_block_one_rhs : subject<policy::basic_row_block<one_rhs_per_sweep<block_tuning>>> {
  static constexpr const char* name = "row_block_one_rhs";
};
/// Levels of the hybrid path cost what they do in subjects.hpp.
struct dataflow_row_per_thread_one_rhs : subject<policy::basic_dataflow<one_rhs_per_sweep<cheap_levels>>> {
  static constexpr const char* name = "dataflow_row_per_thread_one_rhs";
  static policy_type make() { return {policy::dataflow_path::row_per_thread}; }
};
struct dataflow_hybrid_one_rhs : dataflow_row_per_thread_one_rhs {
  static constexpr const char* name = "dataflow_hybrid_one_rhs";
  static policy_type make() { return {policy::dataflow_path::hybrid, policy::row_order::levels, 3}; }
};

template <class... Subjects>
using cases_of = case_list<suite_case<emulator_target, Subjects, double, std::int32_t, std::int32_t>...>;

using one_rhs_cases = cases_of<level_set_one_rhs, level_set_columns_one_rhs, self_scheduled_one_rhs,
                               self_scheduled_rows_one_rhs, scheme_one_rhs, sync_free_thread_one_rhs,
                               sync_free_warp_one_rhs, sync_free_fused_one_rhs, sync_free_column_one_rhs,
                               row_block_one_rhs, dataflow_row_per_thread_one_rhs, dataflow_hybrid_one_rhs>;

SPTRSV_TEST_POLICIES(one_rhs_per_sweep, right_hand_sides, one_rhs_cases);

}  // namespace sptrsv::testing
