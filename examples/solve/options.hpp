// The command line of the example program `solve`.
#pragma once

#include <cstdint>
#include <string>

#include "common/command_line/command_line.hpp"
#include "common/command_line/option_types.hpp"
#include "common/policies/policy_list.hpp"
#include "common/systems/poisson.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_examples {

namespace common = sptrsv_common;

/// The side that solves. `any`: the GPU if there is one, otherwise the host.
enum class side { any, host, device };

/// The value of --policy that stands for the policy that is the fastest in a short trial.
inline constexpr const char* fastest = "fastest";

struct solve_options {
  std::string file;    ///< empty: the Poisson problem
  std::string policy;  ///< a name, `fastest`, or empty for the default policy
  side where = side::any;
  sptrsv::uplo part = sptrsv::uplo::lower;
  std::int64_t grid = 0;  ///< points in each direction; 0: the default of the side
  std::int64_t rhs = 1;
  std::string rhs_file;  ///< right-hand sides; empty: pseudo-random ones
  std::string output;    ///< file of the solution; empty: it is not written
  bool seeded_values = false;
  int repeat = 20;
  bool progress = false;
};

/// Adds the options of `solve` to a command line. Reading the command line sets `target`.
inline void add_solve_options(common::command_line& to, solve_options& target) {
  to.add_positional("FILE", target.file, false,
                    "Matrix Market file (.mtx or .mtx.gz). Without it, solve the two triangles of an "
                    "incomplete Cholesky factor of a 3-D Poisson problem.");

  to.begin_group("System");
  to.add_choice("--part", target.part, common::part_choices(),
                "Triangle of the matrix in FILE. Default: lower.");
  to.add_integer("-g,--grid", target.grid, 1, common::max_poisson_grid, "N",
                 "Solve the Poisson problem on a grid of N x N x N points. Default: 128 on the GPU, 64 on "
                 "the host.");
  to.add_integer("-k,--rhs", target.rhs, 1, 1 << 16, "K", "Pseudo-random right-hand sides. Default: 1.");
  to.add_text("-b,--rhs-file", target.rhs_file, "FILE",
              "Matrix Market file of the right-hand sides, one per column. Default: pseudo-random ones.");
  to.add_text("-o,--output", target.output, "FILE",
              "Write the solution to a Matrix Market file (array format).");
  to.add_flag("--seeded-values", target.seeded_values,
              "Take pseudo-random values in place of those in FILE; only its pattern counts.");

  to.begin_group("Solver");
  to.add_value(
      "-p,--policy", "NAME",
      std::string("Policy that solves, or ") + fastest +
          " for the policy that is the fastest in a short trial. Default: " + common::default_policy(false) +
          " on the GPU, " + common::default_policy(true) + " on the host.",
      [&target](const std::string& name) {
        if (name != fastest && !common::has_policy(name)) {
          throw common::usage_error("takes " + std::string(fastest) + " or a policy of this build, not '" +
                                    name + "'; the policies are " + common::policy_names());
        }
        target.policy = name;
      });
  to.add_flag("--device", "Solve on the GPU; stop if there is none.",
              [&target] { target.where = side::device; });
  to.add_flag("--host", "Solve on the host. Default: on the GPU if there is one.",
              [&target] { target.where = side::host; });

  to.begin_group("Measurement");
  to.add_integer("-r,--repeat", target.repeat, 1, 1000000, "R",
                 "Timed solves, whose median is printed. Default: 20.");
  to.add_flag("--progress", target.progress, "Show the progress even if stderr is not a terminal.");

  to.add_footer(
      "Policies of this build: " + common::policy_names() +
      ".\nExit status: 0 if all solutions are right, 1 if one is wrong or an error occurs (a zero pivot, "
      "a NaN), 2 for an error in the command line.");
}

}  // namespace sptrsv_examples
