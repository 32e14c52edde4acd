// The policy dataflow under test, on each of its paths, and as the default.
#pragma once

#include <cstddef>

#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "support/subjects/subject.hpp"

namespace sptrsv::testing {

struct dataflow : subject<policy::dataflow> {
  static constexpr const char* name = "dataflow";
};
/// One warp per block, in both orders; nine right-hand sides in several sweeps of a block, with four lanes
/// for a row; short rows are already split.
struct small_groups : experimental::dataflow_tuning {
  static constexpr int block_threads = 32;
  static constexpr int longest_row = 7;
  static constexpr int partial_row = 5;
  static constexpr int wide_longest_row = 7;
  static constexpr int wide_partial_row = 5;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int rhs_lane_entries = 0;
  static constexpr int max_rhs_lanes = 4;
  static constexpr std::int64_t narrow_level_scalars = 0;
  static constexpr int max_rhs_blocks = 1;
  static constexpr std::int64_t length_scope = 40;
};
/// In addition nine right-hand sides are solved in several blocks, with two lanes for a row, all rows count
/// as long, and levels of three rows as wide.
struct small_shared_groups : small_groups {
  static constexpr int max_rhs_lanes = 2;
  static constexpr std::int64_t narrow_level_scalars = 60;
  static constexpr std::int64_t large_diagonal = 100;
  static constexpr int max_rhs_blocks = 2;
  static constexpr std::int64_t wide_level = 3;
  static constexpr std::int64_t wide_gathers = 0;
  static constexpr int long_row = 0;
};
struct dataflow_natural : subject<policy::basic_dataflow<small_groups>> {
  static constexpr const char* name = "dataflow_natural";
  static policy_type make() { return {policy::dataflow_path::row_per_thread, policy::row_order::natural}; }
};
struct dataflow_levels : subject<policy::basic_dataflow<small_shared_groups>> {
  static constexpr const char* name = "dataflow_levels";
  static policy_type make() { return {policy::dataflow_path::row_per_thread, policy::row_order::levels}; }
};
/// Rows are rewritten wherever a bound of 8 on their growth allows it.
template <class Base>
struct rewritten : Base {
  static constexpr double growth = 8;
  static typename Base::policy_type make() {
    auto policy = Base::make();
    policy.exact_order = false;
    policy.max_growth = growth;
    return policy;
  }
};
struct dataflow_rewritten : rewritten<dataflow> {
  static constexpr const char* name = "dataflow_rewritten";
};
struct dataflow_levels_rewritten : rewritten<dataflow_levels> {
  static constexpr const char* name = "dataflow_levels_rewritten";
};
/// Rows are rewritten by runs of three levels.
struct dataflow_runs_rewritten : rewritten<dataflow_levels> {
  static constexpr const char* name = "dataflow_runs_rewritten";
  static policy_type make() {
    policy_type policy = rewritten<dataflow_levels>::make();
    policy.run_levels = 3;
    return policy;
  }
};
struct dataflow_natural_rewritten : rewritten<dataflow_natural> {
  static constexpr const char* name = "dataflow_natural_rewritten";
};
struct automatic : subject<policy::automatic<>> {
  static constexpr const char* name = "automatic";
};

/// One shape of the partitioned path, with an x ring buffer so short that even small matrices leave it.
template <int XRingSize, int Lanes, int Threads, int WarpGroups, int PolledPairs = 1, bool Streams = false,
          int Rhs = 1>
struct one_partitioned : small_groups {
  static constexpr experimental::partitioned_shape partitioned_shapes[] = {
      {Lanes, Threads, WarpGroups, 2, PolledPairs, Streams, Rhs, 1}};
  static constexpr int partitioned_x_ring_size = XRingSize;
};
template <class Tuning, int Partitions>
struct partitioned_subject : subject<policy::basic_dataflow<Tuning>> {
  static policy::basic_dataflow<Tuning> make() {
    return {policy::dataflow_path::partitioned, policy::row_order::levels, Partitions};
  }
};
struct dataflow_partitioned : partitioned_subject<one_partitioned<64, 1, 32, 3>, 3> {
  static constexpr const char* name = "dataflow_partitioned";
};
struct dataflow_partitioned_lanes : partitioned_subject<one_partitioned<32, 4, 64, 2>, 2> {
  static constexpr const char* name = "dataflow_partitioned_lanes";
};
/// Several right-hand sides together.
struct dataflow_partitioned_rhs : partitioned_subject<one_partitioned<64, 2, 64, 3, 1, false, 4>, 3> {
  static constexpr const char* name = "dataflow_partitioned_rhs";
};
/// The shape for systems larger than the L2 cache.
struct dataflow_partitioned_streams : partitioned_subject<one_partitioned<128, 1, 32, 3, 3, true, 2>, 3> {
  static constexpr const char* name = "dataflow_partitioned_streams";
};
/// The row_per_thread path for the first levels and the partitioned path for the rest. Further right-hand
/// sides cost nothing, so that they do not decide after which level the path changes.
struct cheap_levels : small_groups {
  static constexpr experimental::partitioned_shape partitioned_shapes[] = {
      {1, 32, 3, 4, 1, false, 1, 1},
      {1, 32, 3, 4, 1, false, 2, 1},
  };
  static constexpr int partitioned_x_ring_size = 64;
  static constexpr double row_per_thread_level_ns = 100;
  static constexpr double row_per_thread_further_rhs_level = 0;
  static constexpr double row_per_thread_further_rhs_scalars = 0;
  static constexpr double partitioned_further_rhs_factor = 0;
  static constexpr double partitioned_poll_ns = 0;
};
struct dataflow_hybrid : subject<policy::basic_dataflow<cheap_levels>> {
  static constexpr const char* name = "dataflow_hybrid";
  static policy_type make() { return {policy::dataflow_path::hybrid, policy::row_order::levels, 3}; }
};
/// Most levels are solved by the partitioned path, and rows are split in both halves.
struct dataflow_hybrid_late : dataflow_hybrid {
  static constexpr const char* name = "dataflow_hybrid_late";
  static policy_type make() {
    policy_type policy = dataflow_hybrid::make();
    policy.row_per_thread_levels = 3;
    return policy;
  }
};
struct dataflow_partitioned_rewritten : rewritten<dataflow_partitioned> {
  static constexpr const char* name = "dataflow_partitioned_rewritten";
};
/// One shape of the single_block path, with an x ring buffer so short that even small matrices leave it.
template <int XRingSize, int Rows, int Lanes, int Entries, int Reach>
struct one_single_block : experimental::dataflow_tuning {
  static constexpr experimental::single_block_shape single_block_shapes[] = {
      {Rows, Lanes, Entries, Reach, 1}};
  static constexpr int single_block_x_ring_size = XRingSize;
};
template <class Tuning>
struct single_block_subject : subject<policy::basic_dataflow<Tuning>> {
  static constexpr bool may_refuse = true;
  static policy::basic_dataflow<Tuning> make() { return {policy::dataflow_path::single_block}; }
};
struct dataflow_single_block : single_block_subject<one_single_block<1024, 8, 4, 2, 7>> {
  static constexpr const char* name = "dataflow_single_block";
};
struct dataflow_single_block_banded : single_block_subject<one_single_block<2048, 16, 2, 2, 3>> {
  static constexpr const char* name = "dataflow_single_block_banded";
};

/// One shape of the natural_blocks path, with an x ring buffer so short that even small matrices leave it.
template <int XRingSize, int Rows, int Lanes, int Tiles, int Warps, int Groups>
struct one_natural_block : experimental::dataflow_tuning {
  static constexpr experimental::natural_block_shape natural_block_shapes[] = {
      {Rows, Lanes, Tiles, Warps, Groups, 1}};
  static constexpr int natural_block_x_ring_size = XRingSize;
};
template <class Tuning>
struct natural_blocks_subject : subject<policy::basic_dataflow<Tuning>> {
  static constexpr bool may_refuse = true;
  static policy::basic_dataflow<Tuning> make() { return {policy::dataflow_path::natural_blocks}; }
};
struct dataflow_natural_blocks : natural_blocks_subject<one_natural_block<6000, 3, 4, 2, 2, 3>> {
  static constexpr const char* name = "dataflow_natural_blocks";
};
/// Blocks of four rows share eight lanes, and most blocks leave tiles to partial blocks.
struct dataflow_natural_blocks_lanes : natural_blocks_subject<one_natural_block<6000, 4, 8, 1, 1, 2>> {
  static constexpr const char* name = "dataflow_natural_blocks_lanes";
};

struct dataflow_family {
  static constexpr std::size_t turn = 2;
  using policies = policy_groups<
      same_policy<dataflow, dataflow_rewritten, automatic>,                      //
      same_policy<dataflow_natural, dataflow_levels, dataflow_levels_rewritten,  //
                  dataflow_runs_rewritten, dataflow_natural_rewritten>,

      same_policy<dataflow_partitioned, dataflow_partitioned_rewritten>,                                //
      same_policy<dataflow_partitioned_lanes, dataflow_partitioned_rhs, dataflow_partitioned_streams>,  //
      same_policy<dataflow_single_block>,                                                               //
      same_policy<dataflow_single_block_banded>,                                                        //
      same_policy<dataflow_natural_blocks>,                                                             //
      same_policy<dataflow_natural_blocks_lanes>,                                                       //
      same_policy<dataflow_hybrid, dataflow_hybrid_late>>;
};

}  // namespace sptrsv::testing
