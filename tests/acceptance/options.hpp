// The command line of the acceptance program, and the files that it works on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/arguments.hpp"
#include "examples/support/policy_forms.hpp"

namespace sptrsv_acceptance {

inline constexpr const char* usage =
    "usage: sptrsv_acceptance DIRECTORY [OPTIONS]\n"
    "\n"
    "Solves the lower triangle, and its transpose as an upper one, of every Matrix Market file (.mtx, "
    ".mtx.gz)\n"
    "in DIRECTORY, in float, double and complex<double>, with each policy, and checks the backward errors.\n"
    "Then it solves some of them many times and checks that every bit is the same, or, with policies that do "
    "not\n"
    "promise that, that the backward error stays within its bound.\n"
    "\n"
    "  --policies A,B    forms of policies to run, or all of them (default: each policy of the GPU in its "
    "default\n"
    "                    form, host_parallel without a GPU)\n"
    "  --repeat-bits N   repeated solves per matrix and policy (default 1000)\n"
    "  --repeat-on K     matrices that are solved repeatedly, spread over the sizes (default 5)\n"
    "  --only-repeats    nothing but the repeated solves\n"
    "  --busy-streams N  during the repeated solves, N other streams solve and copy without a pause (default "
    "0)\n"
    "  --small           only systems with fewer than 6000 rows\n"
    "  --help            this text\n";

struct options {
  std::string directory;
  std::vector<std::string> forms;
  std::int64_t repeat_bits = 1000;
  std::int64_t repeat_on = 5;
  bool only_repeats = false;
  std::int64_t busy_streams = 0;
  std::int64_t below_rows = INT64_MAX;
  bool help = false;
};

inline std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

/// The forms that a list of names means; empty: those that run by default. Throws usage_error.
inline std::vector<std::string> choose_forms(const std::vector<std::string>& names) {
  const bool has_gpu = sptrsv_examples::has_gpu();
  std::vector<std::string> known;
  std::vector<std::string> chosen;
  sptrsv_examples::for_each_form<double, std::int32_t>([&](const auto& form) {
    const auto entry = sptrsv_examples::entry_of(form);
    known.push_back(entry.name);
    const bool is_default = has_gpu ? entry.is_default : entry.name == "host_parallel";
    if (entry.on_host != has_gpu && (is_default || !names.empty())) {
      chosen.push_back(entry.name);
    }
  });
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    return chosen;
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list;
      for (const std::string& one : known) {
        list += (list.empty() ? "" : ", ") + one;
      }
      throw sptrsv_examples::usage_error("this build has no policy '" + name + "', it has " + list);
    }
  }
  return names;
}

/// Throws usage_error.
inline options parse_options(sptrsv_examples::argument_list arguments) {
  using sptrsv_examples::usage_error;
  options made;
  std::vector<std::string> named;
  while (!arguments.empty()) {
    const std::string argument = arguments.take();
    if (argument == "--help") {
      made.help = true;
    } else if (argument == "--policies") {
      named = split(arguments.value_of(argument));
    } else if (argument == "--repeat-bits") {
      made.repeat_bits = arguments.number_of(argument, 0, 1000000000);
    } else if (argument == "--repeat-on") {
      made.repeat_on = arguments.number_of(argument, 0, 1000000);
    } else if (argument == "--only-repeats") {
      made.only_repeats = true;
    } else if (argument == "--busy-streams") {
      made.busy_streams = arguments.number_of(argument, 0, 1000);
    } else if (argument == "--small") {
      made.below_rows = 6000;
    } else if (argument.rfind("-", 0) == 0 || !made.directory.empty()) {
      throw usage_error("cannot use the argument '" + argument + "'");
    } else {
      made.directory = argument;
    }
  }
  if (made.directory.empty() && !made.help) {
    throw usage_error("no directory given");
  }
  if (made.busy_streams > 0 && !sptrsv_examples::has_gpu()) {
    throw usage_error("--busy-streams needs a GPU");
  }
  made.forms = choose_forms(named);
  return made;
}

/// The Matrix Market files of a directory, small ones first.
inline std::vector<std::string> matrix_files(const std::string& directory) {
  const auto ends_with = [](const std::string& name, const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  std::vector<std::pair<std::uintmax_t, std::string>> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && (ends_with(path, ".mtx") || ends_with(path, ".mtx.gz"))) {
      found.emplace_back(entry.file_size(), path);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (const auto& [size, path] : found) {
    paths.push_back(path);
  }
  return paths;
}

/// At most `count` of `all`, evenly spread, the last one included.
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
