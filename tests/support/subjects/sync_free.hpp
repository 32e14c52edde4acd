// The sync-free policies under test.
#pragma once

#include <cstddef>

#include "sptrsv/policy/sync_free_column.hpp"
#include "sptrsv/policy/sync_free_fused.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"
#include "support/subjects/subject.hpp"

namespace sptrsv::testing {

struct sync_free_warp : subject<policy::sync_free_warp> {
  static constexpr const char* name = "sync_free_warp";
};
/// One warp per block, so that small matrices have many blocks; several sweeps even for three right-hand
/// sides.
struct small_blocks : experimental::sync_free_warp_tuning {
  static constexpr int block_threads = 32;
  static constexpr int rhs_per_sweep = 2;
};
struct sync_free_warp_small : subject<policy::basic_sync_free_warp<small_blocks>> {
  static constexpr const char* name = "sync_free_warp_small";
};
struct sync_free_warp_natural : subject<policy::basic_sync_free_warp<small_blocks>> {
  static constexpr const char* name = "sync_free_warp_natural";
  static policy_type make() { return {policy::row_order::natural}; }
};

struct sync_free_warp_shared : subject<policy::sync_free_warp> {
  static constexpr const char* name = "sync_free_warp_shared";
  static policy_type make() { return {policy::row_order::levels, policy::warp_form::rows_by_length}; }
};
/// Rows of 1, 2, 4, ..., 32 lanes, and several batches for short rows.
struct small_shared_blocks : small_blocks {
  static constexpr int entries_at_once = 2;
  static constexpr int entries_per_lane = 1;
};
struct sync_free_warp_shared_small : subject<policy::basic_sync_free_warp<small_shared_blocks>> {
  static constexpr const char* name = "sync_free_warp_shared_small";
  static policy_type make() { return {policy::row_order::levels, policy::warp_form::rows_by_length}; }
};

struct sync_free_thread : subject<policy::sync_free_thread> {
  static constexpr const char* name = "sync_free_thread";
};
/// One warp per block, in both orders and both forms; several batches for short rows.
struct small_thread_blocks : experimental::sync_free_thread_tuning {
  static constexpr int block_threads = 32;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
};
struct sync_free_thread_natural : subject<policy::basic_sync_free_thread<small_thread_blocks>> {
  static constexpr const char* name = "sync_free_thread_natural";
  static policy_type make() { return {policy::row_order::natural}; }
};
struct sync_free_thread_phases : subject<policy::basic_sync_free_thread<small_thread_blocks>> {
  static constexpr const char* name = "sync_free_thread_phases";
  static policy_type make() { return {policy::row_order::natural, policy::thread_form::two_phase}; }
};
struct sync_free_thread_level_phases : subject<policy::basic_sync_free_thread<small_thread_blocks>> {
  static constexpr const char* name = "sync_free_thread_level_phases";
  static policy_type make() { return {policy::row_order::levels, policy::thread_form::two_phase}; }
};

struct sync_free_fused : subject<policy::sync_free_fused> {
  static constexpr const char* name = "sync_free_fused";
};
/// One warp per block, in both orders; rows with few entries already count as long.
struct small_fused_blocks : experimental::sync_free_fused_tuning {
  static constexpr int block_threads = 32;
  static constexpr int entries_for_a_warp = 3;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
};
struct sync_free_fused_small : subject<policy::basic_sync_free_fused<small_fused_blocks>> {
  static constexpr const char* name = "sync_free_fused_small";
};
struct sync_free_fused_natural : subject<policy::basic_sync_free_fused<small_fused_blocks>> {
  static constexpr const char* name = "sync_free_fused_natural";
  static policy_type make() { return {policy::row_order::natural}; }
};

struct sync_free_column : subject<policy::sync_free_column> {
  static constexpr const char* name = "sync_free_column";
};
/// Two components per block, so that small matrices have updates within blocks and between blocks.
struct small_column_blocks : experimental::sync_free_column_tuning {
  static constexpr int block_threads = 64;
  static constexpr int entries_ahead = 1;
  static constexpr int rhs_per_sweep = 2;
};
struct sync_free_column_small : subject<policy::basic_sync_free_column<small_column_blocks>> {
  static constexpr const char* name = "sync_free_column_small";
};
/// All updates through global memory.
struct global_columns : small_column_blocks {
  static constexpr bool shared_updates = false;
};
struct sync_free_column_global : subject<policy::basic_sync_free_column<global_columns>> {
  static constexpr const char* name = "sync_free_column_global";
};

struct sync_free_family {
  static constexpr std::size_t turn = 0;
  using policies = policy_groups<same_policy<sync_free_warp, sync_free_warp_shared>,             //
                                 same_policy<sync_free_warp_small, sync_free_warp_natural>,      //
                                 same_policy<sync_free_warp_shared_small>,                       //
                                 same_policy<sync_free_thread>,                                  //
                                 same_policy<sync_free_thread_natural, sync_free_thread_phases,  //
                                             sync_free_thread_level_phases>,                     //
                                 same_policy<sync_free_fused>,                                   //
                                 same_policy<sync_free_fused_small, sync_free_fused_natural>,    //
                                 same_policy<sync_free_column>,                                  //
                                 same_policy<sync_free_column_small>,                            //
                                 same_policy<sync_free_column_global>>;
};

}  // namespace sptrsv::testing
