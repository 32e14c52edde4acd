// Tunings at their limits: constants as small and as large as the policies document them, with several
// right-hand sides and with values that are not finite.
#include "contract/contract_ieee.hpp"
#include "contract/contract_rhs.hpp"
#include "support/emulator_target.hpp"
#include "support/subjects.hpp"

namespace sptrsv::testing {
namespace {

/// The smallest value of each constant, and the largest one that a kernel of the emulator may have. Tunings
/// without such a member do not look at it.
template <class Tuning>
struct smallest : Tuning {
  static constexpr int block_threads = 32;
  static constexpr int entries_at_once = 1;
  static constexpr int entries_per_lane = 1;
  static constexpr int entries_ahead = 1;
  static constexpr int entries_for_a_warp = 0;
  static constexpr int rhs_per_sweep = 1;
};
template <class Tuning>
struct largest : Tuning {
  static constexpr int block_threads = 1024;
  static constexpr int entries_at_once = 16;
  static constexpr int entries_per_lane = 64;
  static constexpr int entries_ahead = 8;
  static constexpr int entries_for_a_warp = 1 << 30;
  static constexpr int rhs_per_sweep = 8;
};

struct smallest_self_scheduled : smallest<experimental::self_scheduled_tuning> {
  static constexpr int warps_per_processor = 1;
  static constexpr int narrow_lanes = 4;
  static constexpr int narrow_unknowns_per_level = 0;
  static constexpr int narrow_entries_per_row = 1 << 30;
};
struct largest_self_scheduled : largest<experimental::self_scheduled_tuning> {
  static constexpr int warps_per_processor = 64;
  static constexpr int narrow_lanes = 32;
};
struct smallest_level_set : experimental::level_set_tuning {
  static constexpr int wide_block_threads = 32;
  static constexpr int narrow_block_threads = 32;
  static constexpr int narrow_lanes = 1 << 30;
  static constexpr int device_lanes = 1;
  static constexpr int rhs_per_sweep = 1;
};
struct largest_level_set : experimental::level_set_tuning {
  static constexpr int wide_block_threads = 1024;
  static constexpr int narrow_block_threads = 1024;
  static constexpr int narrow_lanes = 0;
  static constexpr int device_lanes = 1 << 30;
  static constexpr int rhs_per_sweep = 8;
};
struct smallest_scheme : smallest<experimental::scheme_tuning> {
  static constexpr int patience = 0;
};
struct smallest_block : smallest<experimental::block_tuning> {
  static constexpr int shared_row = 0;
  static constexpr int block_row = 0;
  static constexpr int max_rounds = 1;
  static constexpr int gate_levels = 0;
};
struct largest_block : largest<experimental::block_tuning> {
  static constexpr int shared_row = 1 << 14;
  static constexpr int block_row = 1 << 14;
  static constexpr int max_rounds = 32;
  static constexpr int gate_levels = 1 << 20;
};
struct smallest_dataflow : smallest<experimental::dataflow_tuning> {
  static constexpr int max_rhs_lanes = 1;
  static constexpr int longest_row = 4;
  static constexpr int partial_row = 4;
  static constexpr int wide_longest_row = 4;
  static constexpr int wide_partial_row = 4;
  static constexpr int gate_levels = 0;
  static constexpr std::int64_t length_scope = 1;
  static constexpr experimental::partitioned_shape partitioned_shapes[] = {{1, 32, 2, 2, 1, false, 1, 1},
                                                                           {32, 32, 2, 2, 1, true, 1, 1}};
  static constexpr int partitioned_x_ring_size = 64;
  static constexpr experimental::single_block_shape single_block_shapes[] = {{4, 8, 2, 1, 1},
                                                                             {32, 1, 2, 1, 1}};
  static constexpr experimental::natural_block_shape natural_block_shapes[] = {{2, 1, 2, 1, 2, 1},
                                                                               {2, 32, 1, 1, 2, 1}};
};
struct largest_dataflow : largest<experimental::dataflow_tuning> {
  static constexpr int max_rhs_lanes = 32;
  static constexpr int longest_row = 2047;
  static constexpr int partial_row = 2047;
  static constexpr int wide_longest_row = 2047;
  static constexpr int wide_partial_row = 2047;
  static constexpr int gate_levels = 1 << 20;
  static constexpr experimental::partitioned_shape partitioned_shapes[] = {{1, 32, 15, 12, 8, true, 8, 1},
                                                                           {32, 128, 2, 6, 3, false, 4, 1}};
  static constexpr int partitioned_x_ring_size = 32768;
  static constexpr experimental::single_block_shape single_block_shapes[] = {{4, 8, 8, 3, 1},
                                                                             {32, 1, 2, 31, 1}};
  static constexpr experimental::natural_block_shape natural_block_shapes[] = {{4, 32, 3, 1, 15, 1},
                                                                               {6, 2, 1, 16, 2, 1}};
};

#define SPTRSV_LIMITS_SUBJECT(Name, Policy, ...)      \
  struct Name : subject<Policy> {                     \
    static constexpr const char* name = #Name;        \
    static policy_type make() { return __VA_ARGS__; } \
  }

using policy::dataflow_path;
using policy::orientation;
using policy::row_order;

SPTRSV_LIMITS_SUBJECT(warp_low, policy::basic_sync_free_warp<smallest<experimental::sync_free_warp_tuning>>,
                      {row_order::levels, policy::warp_form::rows_by_length});
SPTRSV_LIMITS_SUBJECT(warp_high, policy::basic_sync_free_warp<largest<experimental::sync_free_warp_tuning>>,
                      {row_order::natural});
SPTRSV_LIMITS_SUBJECT(thread_low,
                      policy::basic_sync_free_thread<smallest<experimental::sync_free_thread_tuning>>,
                      {row_order::natural});
SPTRSV_LIMITS_SUBJECT(thread_high,
                      policy::basic_sync_free_thread<largest<experimental::sync_free_thread_tuning>>, {});
SPTRSV_LIMITS_SUBJECT(fused_low,
                      policy::basic_sync_free_fused<smallest<experimental::sync_free_fused_tuning>>, {});
SPTRSV_LIMITS_SUBJECT(fused_high,
                      policy::basic_sync_free_fused<largest<experimental::sync_free_fused_tuning>>, {});
SPTRSV_LIMITS_SUBJECT(column_low,
                      policy::basic_sync_free_column<smallest<experimental::sync_free_column_tuning>>, {});
SPTRSV_LIMITS_SUBJECT(column_high,
                      policy::basic_sync_free_column<largest<experimental::sync_free_column_tuning>>, {});
SPTRSV_LIMITS_SUBJECT(self_low, policy::basic_self_scheduled<smallest_self_scheduled>, {});
SPTRSV_LIMITS_SUBJECT(self_low_by_rows, policy::basic_self_scheduled<smallest_self_scheduled>,
                      {orientation::rows});
SPTRSV_LIMITS_SUBJECT(self_high, policy::basic_self_scheduled<largest_self_scheduled>, {orientation::rows});
SPTRSV_LIMITS_SUBJECT(level_low, policy::basic_level_set<smallest_level_set>, {});
SPTRSV_LIMITS_SUBJECT(level_low_by_columns, policy::basic_level_set<smallest_level_set>,
                      {orientation::columns});
SPTRSV_LIMITS_SUBJECT(level_high, policy::basic_level_set<largest_level_set>, {orientation::columns});
SPTRSV_LIMITS_SUBJECT(scheme_low, policy::basic_scheme<smallest_scheme>, {});
SPTRSV_LIMITS_SUBJECT(scheme_high, policy::basic_scheme<largest<experimental::scheme_tuning>>, {});
SPTRSV_LIMITS_SUBJECT(block_low, policy::basic_recursive_block<smallest_block>, {16});
SPTRSV_LIMITS_SUBJECT(block_high, policy::basic_recursive_block<largest_block>, {4});

/// dataflow on one path, with the shape of this index.
template <class Tuning, dataflow_path Path, int Shape>
struct dataflow_on : subject<policy::basic_dataflow<Tuning>> {
  static constexpr bool may_refuse =
      Path == dataflow_path::single_block || Path == dataflow_path::natural_blocks;
  static policy::basic_dataflow<Tuning> make() {
    policy::basic_dataflow<Tuning> made{Path};
    made.partitions = 2;
    made.shape = Shape;
    return made;
  }
};
#define SPTRSV_LIMITS_DATAFLOW(Name, Tuning, Path, Shape)         \
  struct Name : dataflow_on<Tuning, dataflow_path::Path, Shape> { \
    static constexpr const char* name = #Name;                    \
  }

SPTRSV_LIMITS_DATAFLOW(row_per_thread_low, smallest_dataflow, row_per_thread, -1);
SPTRSV_LIMITS_DATAFLOW(row_per_thread_high, largest_dataflow, row_per_thread, -1);
SPTRSV_LIMITS_DATAFLOW(partitioned_low_0, smallest_dataflow, partitioned, 0);
SPTRSV_LIMITS_DATAFLOW(partitioned_low_1, smallest_dataflow, partitioned, 1);
SPTRSV_LIMITS_DATAFLOW(partitioned_high_0, largest_dataflow, partitioned, 0);
SPTRSV_LIMITS_DATAFLOW(partitioned_high_1, largest_dataflow, partitioned, 1);
SPTRSV_LIMITS_DATAFLOW(single_block_low_0, smallest_dataflow, single_block, 0);
SPTRSV_LIMITS_DATAFLOW(single_block_low_1, smallest_dataflow, single_block, 1);
SPTRSV_LIMITS_DATAFLOW(single_block_high_0, largest_dataflow, single_block, 0);
SPTRSV_LIMITS_DATAFLOW(single_block_high_1, largest_dataflow, single_block, 1);
SPTRSV_LIMITS_DATAFLOW(natural_blocks_low_0, smallest_dataflow, natural_blocks, 0);
SPTRSV_LIMITS_DATAFLOW(natural_blocks_low_1, smallest_dataflow, natural_blocks, 1);
SPTRSV_LIMITS_DATAFLOW(natural_blocks_high_0, largest_dataflow, natural_blocks, 0);
SPTRSV_LIMITS_DATAFLOW(natural_blocks_high_1, largest_dataflow, natural_blocks, 1);
SPTRSV_LIMITS_DATAFLOW(hybrid_low, smallest_dataflow, hybrid, -1);
SPTRSV_LIMITS_DATAFLOW(hybrid_high, largest_dataflow, hybrid, -1);

template <class... Subjects>
using doubles = case_list<suite_case<emulator_target, Subjects, double, std::int32_t, std::int32_t>...>;
using limits =
    doubles<warp_low, warp_high, thread_low, thread_high, fused_low, fused_high, column_low, column_high,
            self_low, self_low_by_rows, self_high, level_low, level_low_by_columns, level_high, scheme_low,
            scheme_high, block_low, block_high, row_per_thread_low, row_per_thread_high, partitioned_low_0,
            partitioned_low_1, partitioned_high_0, partitioned_high_1, single_block_low_0, single_block_low_1,
            single_block_high_0, single_block_high_1, natural_blocks_low_0, natural_blocks_low_1,
            natural_blocks_high_0, natural_blocks_high_1, hybrid_low, hybrid_high>;

SPTRSV_TEST_POLICIES(limits, right_hand_sides, limits);
SPTRSV_TEST_POLICIES(limits, ieee, limits);

}  // namespace
}  // namespace sptrsv::testing
