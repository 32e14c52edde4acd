// The policies level_set and self_scheduled under test.
#pragma once

#include <cstddef>

#include "sptrsv/policy/level_set.hpp"
#include "sptrsv/policy/self_scheduled.hpp"
#include "support/subjects/subject.hpp"

namespace sptrsv::testing {

struct self_scheduled : subject<policy::self_scheduled> {
  static constexpr const char* name = "self_scheduled";
};
struct self_scheduled_rows : subject<policy::self_scheduled> {
  static constexpr const char* name = "self_scheduled_rows";
  static policy_type make() { return {policy::orientation::rows}; }
};
/// One unknown per block; several sweeps even for three right-hand sides.
struct small_schedule : experimental::self_scheduled_tuning {
  static constexpr int block_threads = 32;
  static constexpr int entries_ahead = 1;
  static constexpr int rhs_per_sweep = 2;
};
struct self_scheduled_natural : subject<policy::basic_self_scheduled<small_schedule>> {
  static constexpr const char* name = "self_scheduled_natural";
  static policy_type make() { return {policy::orientation::columns, policy::row_order::natural}; }
};
struct self_scheduled_rows_natural : subject<policy::basic_self_scheduled<small_schedule>> {
  static constexpr const char* name = "self_scheduled_rows_natural";
  static policy_type make() { return {policy::orientation::rows, policy::row_order::natural}; }
};
/// Several unknowns share a warp, and may need each other.
struct narrow_schedule : experimental::self_scheduled_tuning {
  static constexpr int block_threads = 64;
  static constexpr int narrow_lanes = 4;
  static constexpr int narrow_unknowns_per_level = 0;
  static constexpr int narrow_entries_per_row = 1000;
  static constexpr int rhs_per_sweep = 2;
};
struct self_scheduled_narrow : subject<policy::basic_self_scheduled<narrow_schedule>> {
  static constexpr const char* name = "self_scheduled_narrow";
};
struct self_scheduled_rows_narrow : subject<policy::basic_self_scheduled<narrow_schedule>> {
  static constexpr const char* name = "self_scheduled_rows_narrow";
  static policy_type make() { return {policy::orientation::rows}; }
};

struct level_set : subject<policy::level_set> {
  static constexpr const char* name = "level_set";
};
/// Wide and narrow levels in the same matrix, with 1, 8 and 32 lanes per row in both. A narrow level may take
/// the block two rounds.
struct mixed_levels : experimental::level_set_tuning {
  static constexpr int wide_block_threads = 64;
  static constexpr int narrow_block_threads = 64;
  static constexpr int narrow_lanes = 128;
  static constexpr int device_lanes = 256;
  static constexpr int rhs_per_sweep = 2;
};
struct level_set_mixed : subject<policy::basic_level_set<mixed_levels>> {
  static constexpr const char* name = "level_set_mixed";
};
struct level_set_columns : subject<policy::level_set> {
  static constexpr const char* name = "level_set_columns";
  static policy_type make() { return {policy::orientation::columns}; }
};
struct level_set_columns_mixed : subject<policy::basic_level_set<mixed_levels>> {
  static constexpr const char* name = "level_set_columns_mixed";
  static policy_type make() { return {policy::orientation::columns}; }
};
struct level_set_separate : subject<policy::basic_level_set<mixed_levels>> {
  static constexpr const char* name = "level_set_separate";
  static policy_type make() { return {policy::orientation::rows, policy::level_launches::separate}; }
};
struct level_set_columns_separate : subject<policy::basic_level_set<mixed_levels>> {
  static constexpr const char* name = "level_set_columns_separate";
  static policy_type make() { return {policy::orientation::columns, policy::level_launches::separate}; }
};
/// One launch for each level.
struct wide_levels : experimental::level_set_tuning {
  static constexpr int wide_block_threads = 32;
  static constexpr int narrow_lanes = 0;
  static constexpr int device_lanes = 128;
  static constexpr int rhs_per_sweep = 3;
};
struct level_set_wide : subject<policy::basic_level_set<wide_levels>> {
  static constexpr const char* name = "level_set_wide";
};

struct scheduled_family {
  static constexpr std::size_t turn = 1;
  using policies = policy_groups<same_policy<self_scheduled, self_scheduled_rows>,                          //
                                 same_policy<self_scheduled_natural, self_scheduled_rows_natural>,          //
                                 same_policy<self_scheduled_narrow, self_scheduled_rows_narrow>,            //
                                 same_policy<level_set, level_set_columns>,                                 //
                                 same_policy<level_set_mixed, level_set_columns_mixed, level_set_separate,  //
                                             level_set_columns_separate>,                                   //
                                 same_policy<level_set_wide>>;
};

}  // namespace sptrsv::testing
