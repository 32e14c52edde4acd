// The command line of a program: options, help text, version and exit status. Reads it with CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/arguments.hpp"
#include "sptrsv/version.hpp"

namespace sptrsv_common {

/// Exit status of a program that needs a GPU and finds none. CTest reports such a run as skipped.
inline constexpr int exit_no_gpu = 77;

/// Returns the version of the library, for example "1.2.3".
inline std::string version_text() {
  return std::to_string(sptrsv::version_major) + "." + std::to_string(sptrsv::version_minor) + "." +
         std::to_string(sptrsv::version_patch);
}

/// Breaks a text into lines of at most `width` characters; the lines that it has stay.
inline std::string wrapped(const std::string& text, std::size_t width) {
  std::string made;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    made += made.empty() ? "" : "\n";
    std::size_t length = 0;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const bool fits = length + 1 + word.size() <= width;
      made += length == 0 ? "" : fits ? " " : "\n";
      length = length == 0 || !fits ? word.size() : length + 1 + word.size();
      made += word;
    }
  }
  return made;
}

/// The options of a program. Options are read in the order in which they are given: a later one overrides
/// what an earlier one has set. All errors of the command line end the program with exit status 2.
class command_line {
 public:
  /// `name`: of the program. `description`: what the program does, in sentences.
  command_line(const std::string& name, const std::string& description)
      : name_(name), app_(wrapped(description, line_width) + "\n", name) {
    app_.formatter(std::make_shared<help_formatter>());
    app_.set_help_flag("-h,--help", "Print this text.");
    app_.set_version_flag("--version", name + " (sptrsv " + version_text() + ")", "Print the version.");
    app_.get_help_ptr()->group(general);
    app_.get_version_ptr()->group(general);
  }

  /// Begins a group of options with a title of its own in the help text.
  void begin_group(const std::string& title) { group_ = title; }

  /// Adds a text at the end of the help text.
  void add_footer(const std::string& text) { app_.footer(wrapped(text, line_width)); }

  /// Adds an option without a value that calls `set`. `names`: for example "-l,--list".
  void add_flag(const std::string& names, const std::string& description, const std::function<void()>& set) {
    app_.add_flag_function(
            names, [set](std::int64_t) { set(); }, description)
        ->disable_flag_override()
        ->group(group_)
        ->trigger_on_parse();
  }
  /// Adds an option without a value that sets `target` to true.
  void add_flag(const std::string& names, bool& target, const std::string& description) {
    add_flag(names, description, [&target] { target = true; });
  }

  /// Adds an option with a value, which is given to `take`. `take` may throw usage_error. `placeholder`
  /// stands for the value in the help text.
  void add_value(const std::string& names, const std::string& placeholder, const std::string& description,
                 const std::function<void(const std::string&)>& take) {
    const std::string name = names.substr(names.find("--"));
    app_.add_option_function<std::string>(
            names,
            [name, take](const std::string& text) {
              try {
                take(text);
              } catch (const usage_error& e) {
                throw usage_error(name + " " + e.what());
              }
            },
            description)
        ->option_text(placeholder)
        ->type_name("value")  // CLI11 names it in the message for a missing value
        ->group(group_)
        ->take_last()
        ->trigger_on_parse();
  }
  /// Adds an option that takes a text.
  void add_text(const std::string& names, std::string& target, const std::string& placeholder,
                const std::string& description) {
    add_value(names, placeholder, description, [&target](const std::string& text) { target = text; });
  }
  /// Adds an option that takes an integer in [low, high].
  template <class Number>
  void add_integer(const std::string& names, Number& target, std::int64_t low, std::int64_t high,
                   const std::string& placeholder, const std::string& description) {
    add_value(names, placeholder, description, [&target, low, high](const std::string& text) {
      target = static_cast<Number>(parse_integer(text, low, high));
    });
  }
  /// Adds an option that takes a list of integers in [low, high].
  void add_integers(const std::string& names, std::vector<std::int64_t>& target, std::int64_t low,
                    std::int64_t high, const std::string& placeholder, const std::string& description) {
    add_value(names, placeholder, description, [&target, low, high](const std::string& text) {
      target.clear();
      for (const std::string& item : split_list(text)) {
        target.push_back(parse_integer(item, low, high));
      }
    });
  }
  /// Adds an option that takes one of several words.
  template <class T>
  void add_choice(const std::string& names, T& target, const choices<T>& from,
                  const std::string& description) {
    add_value(names, joined_words(from, "|", "|"), description,
              [&target, from](const std::string& text) { target = parse_choice(text, from); });
  }
  /// Adds an option that takes a list of different words.
  template <class T>
  void add_choices(const std::string& names, std::vector<T>& target, const choices<T>& from,
                   const std::string& description) {
    add_value(names, joined_words(from, "|", "|") + ",...", description,
              [&target, from](const std::string& text) { target = parse_choices(text, from); });
  }
  /// Adds an argument without a name.
  void add_positional(const std::string& name, std::string& target, bool required,
                      const std::string& description) {
    app_.add_option(name, target, description)->option_text(" ")->required(required);
  }
  /// Adds one or more arguments without a name; none, too, if they are not `required`.
  void add_positionals(const std::string& name, std::vector<std::string>& target, bool required,
                       const std::string& description) {
    app_.add_option(name, target, description)->option_text(" ")->required(required);
  }

  /// Reads the arguments of main(), calls `body` and returns the exit status of the program: the status that
  /// `body` returns, 2 for an error in the command line, 1 for any other exception, 0 after --help and
  /// --version.
  int run(int argc, char** argv, const std::function<int()>& body) {
    try {
      app_.parse(argc, argv);
      return body();
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() == 0) {
        return app_.exit(e);  // prints the help text or the version
      }
      const std::string what = e.what();  // "--name: 1 required value missing" is hard to read
      const bool is_missing = what.find("value missing") != std::string::npos;
      return report_usage(is_missing ? what.substr(0, what.find(':')) + " needs a value" : what);
    } catch (const usage_error& e) {
      return report_usage(e.what());
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "%s: the host has not enough memory\n", name_.c_str());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", name_.c_str(), e.what());
    }
    return 1;
  }

 private:
  static constexpr std::size_t line_width = 100;
  static constexpr std::size_t name_width = 32;
  static constexpr const char* general = "General";

  /// Breaks descriptions into lines, separates the groups by one empty line, and puts the general options
  /// last.
  class help_formatter : public CLI::Formatter {
   public:
    help_formatter() {
      column_width(name_width);
      label("Positionals", "Arguments");
    }
    std::string make_option_desc(const CLI::Option* option) const override {
      return wrapped(CLI::Formatter::make_option_desc(option), line_width - name_width);
    }
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
      std::vector<std::string> groups = app->get_groups();
      std::stable_partition(groups.begin(), groups.end(), [](const std::string& g) { return g != general; });
      std::string text = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
      for (const std::string& group : groups) {
        const auto options = app->get_options(
            [&](const CLI::Option* o) { return o->get_group() == group && o->nonpositional(); });
        text += options.empty() ? "" : make_group(group, false, options);
      }
      return text + "\n" + make_footer(app);
    }
  };

  [[nodiscard]] int report_usage(const std::string& what) const {
    std::fprintf(stderr, "%s: %s (see %s --help)\n", name_.c_str(), what.c_str(), name_.c_str());
    return 2;
  }

  std::string name_;
  CLI::App app_;
  std::string group_ = "Options";
};

}  // namespace sptrsv_common
