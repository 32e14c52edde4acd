// The command line of sptrsv_bench.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/arguments.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_benchmarks {

namespace support = sptrsv_examples;

inline constexpr const char* usage =
    "usage: sptrsv_bench [OPTIONS]\n"
    "\n"
    "Measures policies side by side on triangular systems, and checks what they compute. The exit status is "
    "1\n"
    "if a solution is wrong or a policy fails.\n"
    "\n"
    "  --matrices DIR      one triangle of each .mtx file of a directory\n"
    "  --generated WHICH   all, small, grids (of Li and Zhang), none, or names (--list); default: all with a "
    "GPU,\n"
    "                      else small\n"
    "  --policies A,B,...  names (--list), or all; default: each policy of the GPU if there is one, else of "
    "the\n"
    "                      host, in its default form\n"
    "  --value T[,T...]    f64 (default), f32 or c128\n"
    "  --index TYPE        i32 (default) or i64 (with f64)\n"
    "  --part P[,P]        lower (default) or upper: of a file this triangle, generated ones are transposed\n"
    "  --operation OP      none (default) or transpose\n"
    "  --storage S         csr (default), csc, or own: by columns for the policies that work on columns\n"
    "  --rhs K[,K...]      right-hand sides of a solve (default: 1)\n"
    "  --repetitions R     rounds of measurements (default: 9, fewer where a solve takes long)\n"
    "  --budget MS         what one kind of measurement of a policy may take in all rounds (default: 15)\n"
    "  --warm              do not measure with a cold cache\n"
    "  --cold              measure with a cold cache, too (the default)\n"
    "  --time-limit S      begin no further system after S seconds\n"
    "  --json FILE         write the results there, after each system\n"
    "  --study NAME        the options of a study of a paper, which `benchmarks/python study` makes tables "
    "of:\n"
    "                      li_zhang (Li and Zhang 2020), liu (Liu et al. 2016, with --matrices) or "
    "lu_niu_liu\n"
    "                      (Lu, Niu and Liu 2020); options after it change it\n"
    "  --progress          say what is being done, also if stderr is not a terminal\n"
    "  --list              name the generated matrices and the policies\n"
    "  --help              this text\n";

struct bench_options {
  std::string directory;
  std::string generated;              ///< empty: the default
  std::vector<std::string> policies;  ///< empty: the default
  std::vector<std::string> values{"f64"};
  std::string index = "i32";
  std::vector<sptrsv::uplo> parts{sptrsv::uplo::lower};
  sptrsv::op operation = sptrsv::op::none;
  std::string storage = "csr";
  std::vector<std::int64_t> rhs{1};
  int repetitions = 0;  ///< 0: the default
  double budget = 15;   ///< milliseconds
  bool cold = true;
  double time_limit = 0;  ///< seconds; 0: none
  std::string json;
  bool progress = false;
  bool list = false;
  bool help = false;
  std::string command;

  [[nodiscard]] std::int64_t max_rhs() const { return *std::max_element(rhs.begin(), rhs.end()); }
};

/// "a,b" -> a and b.
inline std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// `text`, the value of `option`, which is one of `choices`.
inline std::string check_choice(const std::string& text, const std::string& option,
                                const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    std::string names;
    for (const std::string& choice : choices) {
      names += (names.empty() ? "" : choice == choices.back() ? " or " : ", ") + choice;
    }
    throw support::usage_error(option + " is " + names + ", not '" + text + "'");
  }
  return text;
}

/// Takes the value of `option`, one of `choices`.
inline std::string take_choice(support::argument_list& arguments, const std::string& option,
                               const std::vector<std::string>& choices) {
  return check_choice(arguments.value_of(option), option, choices);
}

/// Takes the value of `option`, a list of different ones of `choices`.
inline std::vector<std::string> take_choices(support::argument_list& arguments, const std::string& option,
                                             const std::vector<std::string>& choices) {
  std::vector<std::string> taken;
  for (const std::string& text : split_list(arguments.value_of(option))) {
    if (std::find(taken.begin(), taken.end(), text) != taken.end()) {
      throw support::usage_error(option + " names " + text + " twice");
    }
    taken.push_back(check_choice(text, option, choices));
  }
  return taken;
}

/// Sets what a study of a paper needs.
inline void set_study(bench_options& options, const std::string& name) {
  options.values = {"f64", "f32"};
  options.storage = "own";
  options.cold = false;
  if (name == "li_zhang") {
    options.generated = "grids";
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
  } else if (name == "lu_niu_liu") {
    options.generated =
        "laplace5_1024x1024,laplace7_128x128x128,laplace27_128x128x128,random_2000000_6,random_400000_24,"
        "power_law_both,kkt_two_levels,kronecker_18";
    // column_block and row_block choose one triangle or four: then they are as recursive_block, or as here.
    options.policies = {"cusparse",           "sync_free_column",      "sync_free_fused",
                        "recursive_block",    "recursive_block_paper", "column_block_4",
                        "column_block_16",    "column_block_64",       "row_block_4",
                        "row_block_16",       "row_block_64",          "recursive_block_4",
                        "recursive_block_16", "recursive_block_64"};
    options.repetitions = 3;
    options.budget = 10;
    options.time_limit = 90;
  } else {
    options.generated = "none";
    options.policies = {"cusparse", "level_set", "sync_free_column", "sync_free_column_global"};
  }
}

/// Throws support::usage_error.
inline bench_options parse_options(int argc, char** argv) {
  bench_options made;
  for (int k = 0; k < argc; ++k) {
    made.command += (k > 0 ? " " : "") + std::string(argv[k]);
  }
  support::argument_list arguments(argc, argv);
  while (!arguments.empty()) {
    const std::string option = arguments.take();
    if (option == "--help" || option == "-h") {
      made.help = true;
    } else if (option == "--list") {
      made.list = true;
    } else if (option == "--matrices") {
      made.directory = arguments.value_of(option);
    } else if (option == "--generated") {
      made.generated = arguments.value_of(option);
    } else if (option == "--policies") {
      made.policies = split_list(arguments.value_of(option));
    } else if (option == "--value") {
      made.values = take_choices(arguments, option, {"f32", "f64", "c128"});
    } else if (option == "--index") {
      made.index = take_choice(arguments, option, {"i32", "i64"});
    } else if (option == "--part") {
      made.parts.clear();
      for (const std::string& part : take_choices(arguments, option, {"lower", "upper"})) {
        made.parts.push_back(part == "lower" ? sptrsv::uplo::lower : sptrsv::uplo::upper);
      }
    } else if (option == "--operation") {
      made.operation = take_choice(arguments, option, {"none", "transpose"}) == "none"
                           ? sptrsv::op::none
                           : sptrsv::op::transpose;
    } else if (option == "--storage") {
      made.storage = take_choice(arguments, option, {"csr", "csc", "own"});
    } else if (option == "--study") {
      set_study(made, take_choice(arguments, option, {"li_zhang", "liu", "lu_niu_liu"}));
    } else if (option == "--rhs") {
      made.rhs.clear();
      for (const std::string& number : split_list(arguments.value_of(option))) {
        char name[] = "sptrsv_bench";
        std::string copy = number;
        char* one[] = {name, copy.data()};
        made.rhs.push_back(support::argument_list(2, one).number_of(option, 1, 1 << 16));
      }
    } else if (option == "--repetitions") {
      made.repetitions = static_cast<int>(arguments.number_of(option, 1, 10000));
    } else if (option == "--budget") {
      made.budget = static_cast<double>(arguments.number_of(option, 1, 1000000));
    } else if (option == "--warm") {
      made.cold = false;
    } else if (option == "--cold") {
      made.cold = true;
    } else if (option == "--time-limit") {
      made.time_limit = static_cast<double>(arguments.number_of(option, 1, 1000000));
    } else if (option == "--json") {
      made.json = arguments.value_of(option);
    } else if (option == "--progress") {
      made.progress = true;
    } else {
      throw support::usage_error("there is no option " + option);
    }
  }
  return made;
}

}  // namespace sptrsv_benchmarks
