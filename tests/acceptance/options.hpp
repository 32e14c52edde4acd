// The command line of the acceptance program, and the files that it works on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/policies/policy_forms.hpp"
#include "common/systems/matrix_source.hpp"

namespace sptrsv_acceptance {

namespace common = sptrsv_common;

struct options {
  std::string directory;
  std::vector<std::string> forms;  ///< names
  std::int64_t repeat_bits = 1000;
  std::int64_t repeat_on = 5;
  bool only_repeats = false;
  std::int64_t busy_streams = 0;
  std::int64_t busy_processes = -1;  ///< -1: the trial of host_parallel is not wanted
  std::int64_t below_rows = INT64_MAX;
};

/// Returns the names of the forms that the names on the command line select. Without names these are the
/// default forms of the GPU, or host_parallel without a GPU. Throws usage_error.
inline std::vector<std::string> choose_forms(std::vector<std::string> names) {
  if (names.empty() && !common::has_gpu()) {
    names = {"host_parallel"};
  }
  std::vector<common::form_entry> known;
  common::for_each_form<double, std::int32_t>(
      [&](const auto& form) { known.push_back(common::entry_of(form)); });
  return common::choose_forms(known, names, common::has_gpu());
}

/// Adds the options of the acceptance program to a command line. Reading the command line sets `target`.
inline void add_options(common::command_line& to, options& target) {
  to.add_positional("DIRECTORY", target.directory, false,
                    "Directory with Matrix Market files (.mtx, .mtx.gz).");

  to.begin_group("Tests");
  to.add_value("-p,--policies", "NAME,...",
               "Forms of policies to test, or all. Default: the default form of each policy of the GPU, or "
               "host_parallel without a GPU.",
               [&target](const std::string& names) { target.forms = common::split_list(names); });
  to.add_flag("--small", "Test only systems with fewer than 6000 rows.",
              [&target] { target.below_rows = 6000; });

  to.begin_group("Repeated solves");
  to.add_integer("-r,--repeat-bits", target.repeat_bits, 0, 1000000000, "N",
                 "Repeated solves of each of these matrices with each policy. Default: 1000.");
  to.add_integer("--repeat-on", target.repeat_on, 0, 1000000, "K",
                 "Number of matrices for the repeated solves, spread over the sizes. Default: 5.");
  to.add_flag("--only-repeats", target.only_repeats, "Run only the repeated solves.");
  to.add_integer("--busy-streams", target.busy_streams, 0, 1000, "N",
                 "During the repeated solves, N other streams solve and copy without a pause. Default: 0.");

  to.begin_group("Background load");
  to.add_integer("--busy-processes", target.busy_processes, 0, 1000, "N",
                 "Instead of the tests, print the time of host_parallel as a multiple of that of one worker, "
                 "beside 0 to N busy processes. Takes no DIRECTORY.");

  to.add_footer(
      "Exit status: 0 if all tests pass, 1 if one fails or an error occurs, 2 for an error in the command "
      "line.");
}

/// Completes and checks the options. Throws usage_error.
inline void complete(options& given) {
  if (given.directory.empty() != (given.busy_processes >= 0)) {
    throw common::usage_error("give either a DIRECTORY or --busy-processes");
  }
  if (given.busy_streams > 0 && !common::has_gpu()) {
    throw common::usage_error("--busy-streams needs a GPU");
  }
  given.forms = choose_forms(given.forms);
}

/// Returns the paths of the Matrix Market files of a directory, sorted by size.
inline std::vector<std::string> matrix_files(const std::string& directory) {
  std::vector<std::pair<std::uintmax_t, std::string>> found;
  for (const common::matrix_source& file : common::files_of(directory)) {
    found.emplace_back(std::filesystem::file_size(file.path), file.path);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (const auto& [size, path] : found) {
    paths.push_back(path);
  }
  return paths;
}

/// Returns at most `count` elements of `all`, evenly spread and including the last one.
inline std::vector<std::string> spread(const std::vector<std::string>& all, std::int64_t count) {
  const std::int64_t last = static_cast<std::int64_t>(all.size()) - 1;
  const std::int64_t taken = std::min(count, last + 1);
  std::vector<std::string> chosen;
  for (std::int64_t k = 0; k < taken; ++k) {
    chosen.push_back(all[static_cast<std::size_t>(taken == 1 ? last : k * last / (taken - 1))]);
  }
  return chosen;
}

}  // namespace sptrsv_acceptance
