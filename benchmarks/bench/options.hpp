// The command line of sptrsv_bench.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/command_line/option_types.hpp"
#include "common/systems/matrix_source.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_benchmarks {

namespace common = sptrsv_common;

struct bench_options {
  common::matrix_selection matrices;  ///< `generated` is empty for the default
  std::vector<std::string> policies;  ///< empty: the default
  std::vector<std::string> values{"f64"};
  std::string index = "i32";
  std::vector<sptrsv::uplo> parts{sptrsv::uplo::lower};
  sptrsv::op operation = sptrsv::op::none;
  std::string storage = "csr";
  std::vector<std::int64_t> rhs{1};
  int repetitions = 0;      ///< 0: the default
  double budget = 15;       ///< milliseconds
  double system_limit = 0;  ///< milliseconds; 0: none
  bool cold = true;
  double time_limit = 0;  ///< seconds; 0: none
  std::string json;       ///< path; empty: no file
  bool progress = false;
  bool list = false;
  std::string command;  ///< the command line, for the results

  [[nodiscard]] std::int64_t max_rhs() const { return *std::max_element(rhs.begin(), rhs.end()); }
};

/// The studies of papers, each with the function that sets its options.
using study = std::function<void(bench_options&)>;

inline void set_li_zhang(bench_options& options) {
  options.matrices.generated = "grids";
  options.parts = {sptrsv::uplo::lower, sptrsv::uplo::upper};
  options.policies = {"cusparse",
                      "dataflow",
                      "level_set",
                      "level_set_columns",
                      "level_set_separate",
                      "level_set_columns_separate",
                      "self_scheduled_rows",
                      "self_scheduled"};
  options.repetitions = 3;
  options.budget = 20;
}

inline void set_liu(bench_options& options) {
  options.matrices.generated = "none";
  options.policies = {"cusparse", "level_set", "sync_free_column", "sync_free_column_global"};
}

inline void set_lu_niu_liu(bench_options& options) {
  options.matrices.generated =
      "laplace5_1024x1024,laplace7_128x128x128,laplace27_128x128x128,random_2000000_6,random_400000_24,"
      "power_law_both,kkt_two_levels,kronecker_18";
  // By default column_block and row_block choose one triangle or four. Then they solve as recursive_block
  // does, or as the forms with four triangles in this list do.
  options.policies = {"cusparse",           "sync_free_column",      "sync_free_fused",
                      "recursive_block",    "recursive_block_paper", "column_block_4",
                      "column_block_16",    "column_block_64",       "row_block_4",
                      "row_block_16",       "row_block_64",          "recursive_block_4",
                      "recursive_block_16", "recursive_block_64"};
  options.repetitions = 3;
  options.budget = 10;
  options.time_limit = 90;
}

/// All that the report compares, on real systems: the default in exact order and out of it, each of its paths
/// by request, which shows what its planner should have chosen, and every other policy.
inline void set_survey(bench_options& options) {
  options.matrices.generated = "none";
  options.policies = {"cusparse",
                      "dataflow",
                      "dataflow_inverses",
                      "dataflow_partitioned",
                      "dataflow_single_block",
                      "dataflow_row_per_thread",
                      "dataflow_hybrid",
                      "sync_free_warp",
                      "sync_free_thread",
                      "sync_free_fused",
                      "sync_free_column",
                      "level_set",
                      "self_scheduled",
                      "scheme",
                      "recursive_block",
                      "column_block",
                      "row_block",
                      "supernodal"};
  options.cold = false;
  options.budget = 6;
  options.system_limit = 2200;
}

/// Returns the words of --study with the functions that set the options of these studies.
inline common::choices<study> studies() {
  const auto with_common_settings = [](void (*set)(bench_options&)) {
    return [set](bench_options& options) {
      options.values = {"f64", "f32"};
      options.storage = "own";
      options.cold = false;
      set(options);
    };
  };
  return {{"li_zhang", with_common_settings(set_li_zhang)},
          {"liu", with_common_settings(set_liu)},
          {"lu_niu_liu", with_common_settings(set_lu_niu_liu)},
          {"survey", set_survey}};
}

/// Adds the options of sptrsv_bench to a command line. Reading the command line sets `target`.
inline void add_bench_options(common::command_line& to, bench_options& target) {
  add_matrix_options(to, target.matrices, "one triangle", "all with a GPU, small without");
  to.add_choices("--part", target.parts, common::part_choices(),
                 "Triangles of a file. For upper, generated matrices are transposed. Default: lower.");

  to.begin_group("Systems");
  to.add_choices("--value", target.values, common::words({"f64", "f32", "c128"}),
                 "Types of the values. Default: f64.");
  to.add_choice("--index", target.index, common::words({"i32", "i64"}),
                "Type of the indices; i64 with the values f64 only. Default: i32.");
  to.add_choice("--operation", target.operation, common::operation_choices(),
                "Solve with the triangle or with its transpose. Default: none.");
  to.add_choice("--storage", target.storage, common::words({"csr", "csc", "own"}),
                "Storage of the matrix: by rows, by columns, or by columns for the policies that work on "
                "columns and by rows for the others. Default: csr.");
  to.add_integers("-k,--rhs", target.rhs, 1, 1 << 16, "K,...", "Right-hand sides of a solve. Default: 1.");

  to.begin_group("Policies");
  to.add_value("-p,--policies", "NAME,...",
               "Forms of policies, which --list prints, or all. Default: the default form of each policy of "
               "the GPU, or of the host if there is no GPU.",
               [&target](const std::string& names) { target.policies = common::split_list(names); });

  to.begin_group("Measurement");
  to.add_integer("-r,--repetitions", target.repetitions, 1, 10000, "R",
                 "Rounds of measurements. Default: 9, or fewer if a solve takes long.");
  to.add_integer("--budget", target.budget, 1, 1000000, "MS",
                 "Milliseconds for one kind of measurement of a policy in all rounds. Default: 15.");
  to.add_integer(
      "--system-limit", target.system_limit, 1, 1000000, "MS",
      "Milliseconds for all measurements of a system. Of what does not fit, the repeated analyses are "
      "cut first (they have a third), then the rounds after the first one; of a policy whose solve "
      "takes a twentieth, all but one solve.");
  to.add_flag("--cold", "Measure also with a cold cache (default).", [&target] { target.cold = true; });
  to.add_flag("--warm", "Do not measure with a cold cache.", [&target] { target.cold = false; });
  to.add_integer("--time-limit", target.time_limit, 1, 1000000, "S",
                 "Start no further system after S seconds.");
  to.add_value(
      "--study", common::joined_words(studies(), "|", "|"),
      "Set the options of the study of a paper: Li and Zhang 2020, Liu et al. 2016 (with --matrices), "
      "or Lu, Niu and Liu 2020; or those of a survey of files (with --matrices): all policies and all paths "
      "of dataflow, warm, in 2200 ms for each system. Later options override these.",
      [&target](const std::string& name) { common::parse_choice(name, studies())(target); });

  to.begin_group("Output");
  to.add_text("-o,--json", target.json, "FILE", "Write the results to this file, after each system.");
  to.add_flag("--progress", target.progress, "Show the progress even if stderr is not a terminal.");
  to.add_flag("-l,--list", target.list, "Print the names of the policies and of the generated matrices.");

  to.add_footer(
      "Exit status: 0 if all solutions are right, 1 if one is wrong, a policy fails or another error occurs, "
      "2 for an error in the command line.");
}

}  // namespace sptrsv_benchmarks
