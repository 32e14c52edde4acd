// The block policies under test.
#pragma once

#include <cstddef>

#include "sptrsv/policy/block.hpp"
#include "support/subjects/subject.hpp"

namespace sptrsv::testing {

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
struct small_block_tasks : experimental::block_tuning {
  static constexpr int block_threads = 64;
  static constexpr int entries_at_once = 2;
  static constexpr int rhs_per_sweep = 2;
  static constexpr int entries_for_a_warp = 3;
  static constexpr int shared_row = 4;
  static constexpr int block_row = 9;
  static constexpr int max_rounds = 2;
  static constexpr int gate_levels = 2;
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
  static policy_type make() { return {4}; }
};
/// The selector of the paper, which solves shallow triangles level by level.
struct recursive_block_paper : subject<policy::basic_recursive_block<small_block_tasks>> {
  static constexpr const char* name = "recursive_block_paper";
  static policy_type make() { return {8, {policy::block_selector::paper}}; }
};
/// One kernel for all triangles and one for all squares.
template <class Policy, int Blocks, policy::triangle_kernel Triangle, policy::square_kernel Square>
struct one_block_kernel : subject<Policy> {
  static Policy make() { return {Blocks, {policy::block_selector::fitted, Triangle, Square}}; }
};
struct column_block_levels
    : one_block_kernel<policy::basic_column_block<small_block_tasks>, 3, policy::triangle_kernel::by_levels,
                       policy::square_kernel::scalar_csr> {
  static constexpr const char* name = "column_block_levels";
};
struct row_block_serial
    : one_block_kernel<policy::basic_row_block<small_block_tasks>, 3, policy::triangle_kernel::serial,
                       policy::square_kernel::vector_csr> {
  static constexpr const char* name = "row_block_serial";
};
struct recursive_block_sync_free
    : one_block_kernel<policy::basic_recursive_block<small_block_tasks>, 8,
                       policy::triangle_kernel::sync_free, policy::square_kernel::scalar_dcsr> {
  static constexpr const char* name = "recursive_block_sync_free";
};
struct recursive_block_serial
    : one_block_kernel<policy::basic_recursive_block<small_block_tasks>, 8, policy::triangle_kernel::serial,
                       policy::square_kernel::vector_dcsr> {
  static constexpr const char* name = "recursive_block_serial";
};

struct block_family {
  static constexpr std::size_t turn = 4;
  using policies = policy_groups<same_policy<recursive_block, column_block, row_block>,          //
                                 same_policy<recursive_block_small, recursive_block_paper,       //
                                             recursive_block_sync_free, recursive_block_serial,  //
                                             column_block_small, column_block_levels,            //
                                             row_block_small, row_block_serial>>;
};

}  // namespace sptrsv::testing
