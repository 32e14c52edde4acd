// Configured policies under test. support/cases.hpp lists which suites run over which of them, and with which
// types.
#pragma once

#include <cstdint>

#include "sptrsv/policy.hpp"

namespace sptrsv::testing {

/// A configured policy under test.
template <class Policy>
struct subject {
  using policy_type = Policy;
  /// Whether `analyze` may refuse a system for its size or shape.
  static constexpr bool may_refuse = false;
  /// The largest backward error as a multiple of that of substitution; 1: rows are solved as in substitution,
  /// so that infinities are the same, too.
  static constexpr double growth = 1;
  /// Whether a solver holds an index for each entry.
  static constexpr bool holds_indices = true;
  static Policy make() { return {}; }
};

struct host_serial : subject<policy::host_serial> {
  static constexpr const char* name = "host_serial";
};
struct host_parallel : subject<policy::host_parallel> {
  static constexpr const char* name = "host_parallel";
};
struct host_parallel_1 : subject<policy::host_parallel> {
  static constexpr const char* name = "host_parallel_1";
  static policy_type make() { return {1}; }
};
struct host_parallel_3 : subject<policy::host_parallel> {
  static constexpr const char* name = "host_parallel_3";
  static policy_type make() { return {3}; }
};

struct sync_free_warp : subject<policy::sync_free_warp> {
  static constexpr const char* name = "sync_free_warp";
};
/// One warp per block, so that small matrices have many blocks; several sweeps even for three right-hand
/// sides.
struct small_blocks : sync_free_warp_tuning {
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
struct small_thread_blocks : sync_free_thread_tuning {
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
struct small_fused_blocks : sync_free_fused_tuning {
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
struct small_column_blocks : sync_free_column_tuning {
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

struct self_scheduled : subject<policy::self_scheduled> {
  static constexpr const char* name = "self_scheduled";
};
struct self_scheduled_rows : subject<policy::self_scheduled> {
  static constexpr const char* name = "self_scheduled_rows";
  static policy_type make() { return {policy::orientation::rows}; }
};
/// One unknown per block; several sweeps even for three right-hand sides.
struct small_schedule : self_scheduled_tuning {
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
struct narrow_schedule : self_scheduled_tuning {
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
struct mixed_levels : level_set_tuning {
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
struct wide_levels : level_set_tuning {
  static constexpr int wide_block_threads = 32;
  static constexpr int narrow_lanes = 0;
  static constexpr int device_lanes = 128;
  static constexpr int rhs_per_sweep = 3;
};
struct level_set_wide : subject<policy::basic_level_set<wide_levels>> {
  static constexpr const char* name = "level_set_wide";
};

struct dataflow : subject<policy::dataflow> {
  static constexpr const char* name = "dataflow";
};
/// One warp per block, in both orders; nine right-hand sides in several sweeps of a block, with four lanes
/// for a row; short rows are already split.
struct small_groups : dataflow_tuning {
  static constexpr int block_threads = 32;
  static constexpr int longest_row = 5;
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
/// One shape of the partitioned path, with an x ring buffer so short that even small matrices leave it.
template <int XRingSize, int Lanes, int Threads, int WarpGroups, int PolledPairs = 1, bool Streams = false,
          int Rhs = 1>
struct one_partitioned : small_groups {
  static constexpr partitioned_shape partitioned_shapes[] = {
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
  static constexpr partitioned_shape partitioned_shapes[] = {
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
struct dataflow_partitioned_rewritten : rewritten<dataflow_partitioned> {
  static constexpr const char* name = "dataflow_partitioned_rewritten";
};
/// One shape of the single_block path, with an x ring buffer so short that even small matrices leave it.
template <int XRingSize, int Rows, int Lanes, int Entries, int Reach>
struct one_single_block : dataflow_tuning {
  static constexpr single_block_shape single_block_shapes[] = {{Rows, Lanes, Entries, Reach, 1}};
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

struct column_block : subject<policy::column_block> {
  static constexpr const char* name = "column_block";
};
struct row_block : subject<policy::row_block> {
  static constexpr const char* name = "row_block";
};
struct recursive_block : subject<policy::recursive_block> {
  static constexpr const char* name = "recursive_block";
};
/// Thread blocks and rows so small that a step has several tasks, and a task several rounds; in each square a
/// warp may share a row.
struct small_block_tasks : block_tuning {
  static constexpr int block_threads = 64;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int entries_for_a_warp = 3;
  static constexpr int shared_row = 4;
  static constexpr int block_row = 9;
  static constexpr int max_rounds = 2;
  static constexpr int gate_levels = 2;
  static constexpr int level_set_levels = 3;
  static constexpr int level_set_rows = 4;
  static constexpr double scalar_entries = 2;
  static constexpr double entries_per_lane = 1;
};
struct column_block_small : subject<policy::basic_column_block<small_block_tasks>> {
  static constexpr const char* name = "column_block_small";
  static policy_type make() { return {3}; }
};
struct row_block_small : subject<policy::basic_row_block<small_block_tasks>> {
  static constexpr const char* name = "row_block_small";
  static policy_type make() { return {5}; }
};
struct recursive_block_small : subject<policy::basic_recursive_block<small_block_tasks>> {
  static constexpr const char* name = "recursive_block_small";
  static policy_type make() { return {2}; }
};
/// The selector of the paper, which solves shallow triangles level by level.
struct recursive_block_paper : subject<policy::basic_recursive_block<small_block_tasks>> {
  static constexpr const char* name = "recursive_block_paper";
  static policy_type make() { return {3, {policy::block_selector::paper}}; }
};
/// One kernel for all triangles and one for all squares.
template <class Policy, policy::triangle_kernel Triangle, policy::square_kernel Square>
struct one_block_kernel : subject<Policy> {
  static Policy make() { return {3, {policy::block_selector::fitted, Triangle, Square}}; }
};
struct column_block_levels
    : one_block_kernel<policy::basic_column_block<small_block_tasks>, policy::triangle_kernel::by_levels,
                       policy::square_kernel::scalar_csr> {
  static constexpr const char* name = "column_block_levels";
};
struct row_block_serial
    : one_block_kernel<policy::basic_row_block<small_block_tasks>, policy::triangle_kernel::serial,
                       policy::square_kernel::vector_csr> {
  static constexpr const char* name = "row_block_serial";
};
struct recursive_block_sync_free
    : one_block_kernel<policy::basic_recursive_block<small_block_tasks>, policy::triangle_kernel::sync_free,
                       policy::square_kernel::scalar_dcsr> {
  static constexpr const char* name = "recursive_block_sync_free";
};
struct recursive_block_serial
    : one_block_kernel<policy::basic_recursive_block<small_block_tasks>, policy::triangle_kernel::serial,
                       policy::square_kernel::vector_dcsr> {
  static constexpr const char* name = "recursive_block_serial";
};

/// Blocks of two warps, so that small matrices have many blocks; several batches for short rows, several
/// sweeps even for three right-hand sides; a block soon stops waiting for the others.
struct small_schemes : scheme_tuning {
  static constexpr int block_threads = 64;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int min_buffered = 2;
  static constexpr int patience = 8;
};
struct scheme_chosen : subject<policy::basic_scheme<small_schemes>> {
  static constexpr const char* name = "scheme_chosen";
};
template <class Named>
struct scheme_subject : subject<policy::basic_scheme<small_schemes>> {
  static policy_type make() { return {parse_scheme(Named::text)}; }
};
/// Warps take groups round-robin; rows of a node may need each other; in the order of substitution.
struct scheme_dealt : scheme_subject<scheme_dealt> {
  static constexpr const char* name = "scheme_dealt";
  static constexpr const char* text = "nw=2 ng=4 trans=merge_fixed(4) warps=ws_rr";
};
/// Fenced flags, entries in shared memory, groups assigned to warps by locality.
struct scheme_fenced : scheme_subject<scheme_fenced> {
  static constexpr const char* name = "scheme_fenced";
  static constexpr const char* text =
      "nw=2 ng=2 sw_rnnz=2 trans=reorder+merge_avg(8,4) group=rg_balance warps=ws_locality signal=fenced "
      "buffered=yes";
};
/// One launch per level; launches that do not wait have no flags; divisions at the end.
struct scheme_launched : scheme_subject<scheme_launched> {
  static constexpr const char* name = "scheme_launched";
  static constexpr const char* text =
      "nw=4 ng=8 sw_rnnz=inf trans=reorder+merge_thresh(4,4) warps=ws_balance alpha_level=0 signal=fenced "
      "early_division=no";
};
/// Wide levels in launches of their own, values that are their own flags, one lane per row.
struct scheme_lanes : scheme_subject<scheme_lanes> {
  static constexpr const char* name = "scheme_lanes";
  static constexpr const char* text = "nw=2 ng=32 sw_rnnz=0 trans=reorder alpha_level=0 buffered=yes";
};

/// A bound of 8 on the growth, so that supernodes are cut where the values of a test need it.
template <class Tuning>
struct supernodal_subject : subject<policy::basic_supernodal<Tuning>> {
  static constexpr double growth = 8;
  static constexpr bool holds_indices = false;
  static policy::basic_supernodal<Tuning> make() { return {growth}; }
};
struct supernodal : supernodal_subject<supernodal_tuning> {
  static constexpr const char* name = "supernodal";
};
/// Warps solve panels of up to 28 entries in double, blocks those of up to 60, and larger ones are shared by
/// several blocks; products take several tiles, which blocks share if there are few. Blocks share the packs
/// of a solve. Merged panels may be half zeros. Supernodes are cut on the device.
struct small_panels : supernodal_tuning {
  static constexpr int block_threads = 64;
  static constexpr int max_width = 24;
  static constexpr double max_padding = 0.5;
  static constexpr double max_narrow_padding = 0.6;
  static constexpr int tile_bytes = 512;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int pack_tile_bytes = 448;
  static constexpr int pack_block_threads = 64;
  static constexpr int pack_sharing = 64;
  static constexpr int product_rows = 8;
  static constexpr int product_columns = 8;
  static constexpr int shared_products = 24;
  static constexpr int supernodes_on_host = 0;
};
struct supernodal_small : supernodal_subject<small_panels> {
  static constexpr const char* name = "supernodal_small";
};

/// As small_panels, but each block takes all packs of its task, and no panel is padded.
struct unshared_packs : small_panels {
  static constexpr double max_padding = 0;
  static constexpr double max_narrow_padding = 0;
  static constexpr int pack_sharing = 0;
};
struct supernodal_unshared : supernodal_subject<unshared_packs> {
  static constexpr const char* name = "supernodal_unshared";
};

/// Forests of several levels, and above them panels that blocks share.
struct small_forests : small_panels {
  static constexpr int tile_bytes = 2560;
};
struct supernodal_forests : supernodal_subject<small_forests> {
  static constexpr const char* name = "supernodal_forests";
};

struct automatic : subject<policy::automatic<>> {
  static constexpr const char* name = "automatic";
};
struct automatic_of_two : subject<policy::automatic<policy::level_set, policy::sync_free_thread>> {
  static constexpr const char* name = "automatic_of_two";
};

}  // namespace sptrsv::testing
