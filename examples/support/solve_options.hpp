// The command line of the example program `solve`.
#pragma once

#include <cstdint>
#include <string>

#include "arguments.hpp"
#include "poisson.hpp"
#include "policies.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_examples {

inline constexpr const char* solve_usage =
    "usage: solve [FILE] [OPTIONS]\n"
    "\n"
    "Solves a sparse triangular system and says how well and how fast: one triangle of the matrix in FILE "
    "(Matrix\n"
    "Market, .mtx or .mtx.gz), or, without FILE, the two triangles of an incomplete Cholesky factor of a "
    "3-D\n"
    "Poisson problem. The exit status is 1 if a solution is wrong.\n"
    "\n"
    "  --policy NAME        how to solve (default: automatic on the GPU, host_parallel on the host), or "
    "fastest:\n"
    "                       that policy which is it in a short trial\n"
    "  --device | --host    solve on the GPU or on the host only (default: on the GPU if there is one)\n"
    "  --part lower|upper   triangle of the matrix in FILE (default: lower)\n"
    "  --grid N             the Poisson problem has N x N x N unknowns (default: 128 on the GPU, 64 on the "
    "host)\n"
    "  --rhs K              right-hand sides (default: 1)\n"
    "  --repeat R           timed solves, of which the median counts (default: 20)\n"
    "  --progress           say what is being done, also if stderr is not a terminal\n"
    "  --help               this text\n"
    "\n"
    "Policies of this build: ";

enum class side { any, host, device };

inline constexpr const char* fastest = "fastest";

struct solve_options {
  std::string file;
  std::string policy;  ///< a name, `fastest`, or empty: the default
  side where = side::any;
  sptrsv::uplo part = sptrsv::uplo::lower;
  std::int64_t grid = 0;  ///< 0: the default
  std::int64_t rhs = 1;
  int repeat = 20;
  bool progress = false;
  bool help = false;
};

/// Throws usage_error.
inline solve_options parse_solve_options(argument_list arguments) {
  solve_options made;
  while (!arguments.empty()) {
    const std::string argument = arguments.take();
    if (argument == "--help" || argument == "-h") {
      made.help = true;
    } else if (argument == "--policy") {
      made.policy = arguments.value_of(argument);
      if (made.policy != fastest && !has_policy(made.policy)) {
        throw usage_error("this build has no policy '" + made.policy + "', it has " + policy_names());
      }
    } else if (argument == "--device") {
      made.where = side::device;
    } else if (argument == "--host") {
      made.where = side::host;
    } else if (argument == "--part") {
      const std::string part = arguments.value_of(argument);
      if (part != "lower" && part != "upper") {
        throw usage_error("--part is lower or upper, not '" + part + "'");
      }
      made.part = part == "lower" ? sptrsv::uplo::lower : sptrsv::uplo::upper;
    } else if (argument == "--grid") {
      made.grid = arguments.number_of(argument, 1, largest_poisson_grid);
    } else if (argument == "--rhs") {
      made.rhs = arguments.number_of(argument, 1, 1 << 16);
    } else if (argument == "--repeat") {
      made.repeat = static_cast<int>(arguments.number_of(argument, 1, 1000000));
    } else if (argument == "--progress") {
      made.progress = true;
    } else if (argument.rfind('-', 0) == 0) {
      throw usage_error("there is no option " + argument);
    } else if (!made.file.empty()) {
      throw usage_error("one file at a time: '" + made.file + "' or '" + argument + "'");
    } else {
      made.file = argument;
    }
  }
  return made;
}

}  // namespace sptrsv_examples
