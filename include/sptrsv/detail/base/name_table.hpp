// SPDX-License-Identifier: Apache-2.0
// Settings that a user writes as text, `name=value`: the values of an enumeration by name, and numbers.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The names of the values of an enumeration.
template <class Enum, std::size_t Count>
struct name_table {
  std::array<std::pair<Enum, std::string_view>, Count> names;

  [[nodiscard]] std::string_view of(Enum value) const {
    for (const auto& [known, name] : names) {
      if (known == value) {
        return name;
      }
    }
    return "?";
  }
  [[nodiscard]] bool find(std::string_view text, Enum& value) const {
    for (const auto& [known, name] : names) {
      if (name == text) {
        value = known;
        return true;
      }
    }
    return false;
  }
  /// Sets `value` to that with a name. Returns what the text must be instead; empty if it was set.
  [[nodiscard]] std::string set(Enum& value, std::string_view text) const {
    std::string wanted;
    for (const auto& [known, name] : names) {
      wanted += (wanted.empty() ? "one of " : ", ") + std::string(name);
    }
    return find(text, value) ? std::string() : wanted;
  }
};

/// Returns the names of an enumeration whose values count from 0, in their order.
template <class Enum, class... Names>
constexpr name_table<Enum, sizeof...(Names)> names_in_order(Enum, Names... names) {
  int next = 0;
  return {{{{static_cast<Enum>(next++), names}...}}};
}

/// Reads a number that is the whole text, whatever the locale. `base`: of an integer. Returns whether it is
/// one; otherwise `value` may have changed.
template <class Number, class... Base>
bool read_number(std::string_view text, Number& value, Base... base) {
  const char* const last = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), last, value, base...);
  return read.ec == std::errc() && read.ptr == last;
}

inline constexpr name_table<bool, 2> switch_names{{{{true, "yes"}, {false, "no"}}}};

/// Returns the words of a text, which blanks separate.
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Sets the members that `settings` name. Returns what is wrong with them, for a message; empty if nothing
/// is.
///
/// @param for_each calls its argument with (name, member) for all members.
/// @param set sets a member from a text, and returns what the text must be instead, as name_table::set.
template <class ForEach, class Set>
std::string set_members(const std::vector<std::string>& settings, const ForEach& for_each, const Set& set) {
  std::set<std::string> seen;
  for (const std::string& setting : settings) {
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string option = setting.substr(0, equals);
    const std::string value = setting.substr(std::min(equals + 1, setting.size()));
    std::string options;
    std::string wanted;
    bool found = false;
    for_each([&](const char* name, auto& member) {
      options += (options.empty() ? "" : ", ") + std::string(name);
      if (option == name) {
        found = true;
        wanted = set(member, value);
      }
    });
    if (!found) {
      return "has no option '" + option + "'; it has " + (options.empty() ? "none" : options);
    }
    if (!wanted.empty()) {
      return "cannot have '" + setting + "': " + option + " is " + wanted;
    }
    if (!seen.insert(option).second) {
      return "has the option " + option + " twice";
    }
  }
  return {};
}

}  // namespace sptrsv::SPTRSV_ABI::detail
