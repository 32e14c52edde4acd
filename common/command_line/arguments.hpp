// Reads the values of command-line options. Does not need CLI11. The messages of the errors begin with a
// verb: command_line.hpp puts the name of the option before them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sptrsv_common {

/// A command line that a program cannot carry out; `what()` is one sentence. Programs end with exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Splits "a,b" into "a" and "b".
inline std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

/// Joins names to "a, b, c".
inline std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

/// Returns the integer that `text` holds. Throws usage_error if it is not an integer in [low, high].
inline std::int64_t parse_integer(const std::string& text, std::int64_t low, std::int64_t high) {
  char* end = nullptr;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < low || number > high) {
    throw usage_error("takes an integer from " + std::to_string(low) + " to " + std::to_string(high) +
                      ", not '" + text + "'");
  }
  return number;
}

/// The words that an option takes, each with the value that it stands for.
template <class T>
using choices = std::vector<std::pair<std::string, T>>;

/// Returns choices whose words are their own values.
inline choices<std::string> words(const std::vector<std::string>& names) {
  choices<std::string> made;
  for (const std::string& name : names) {
    made.emplace_back(name, name);
  }
  return made;
}

/// Joins the words of choices with `separator`, the last two with `last_separator`.
template <class T>
std::string joined_words(const choices<T>& from, const char* separator, const char* last_separator) {
  std::string text;
  for (std::size_t k = 0; k < from.size(); ++k) {
    text += (k == 0 ? "" : k + 1 == from.size() ? last_separator : separator) + from[k].first;
  }
  return text;
}

/// Returns the value that the word `text` stands for. Throws usage_error if there is no such word.
template <class T>
T parse_choice(const std::string& text, const choices<T>& from) {
  for (const auto& [word, value] : from) {
    if (word == text) {
      return value;
    }
  }
  throw usage_error("takes " + joined_words(from, ", ", " or ") + ", not '" + text + "'");
}

/// Returns the values of a list of different words, for example "a,b".
template <class T>
std::vector<T> parse_choices(const std::string& text, const choices<T>& from) {
  std::vector<T> made;
  const std::vector<std::string> items = split_list(text);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto before = items.begin() + static_cast<std::ptrdiff_t>(k);
    if (std::find(items.begin(), before, items[k]) != before) {
      throw usage_error("names " + items[k] + " twice");
    }
    made.push_back(parse_choice(items[k], from));
  }
  return made;
}

}  // namespace sptrsv_common
