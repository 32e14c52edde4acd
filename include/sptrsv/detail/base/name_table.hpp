// SPDX-License-Identifier: Apache-2.0
// The values of an enumeration by name, and numbers, in texts that a user writes.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

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

}  // namespace sptrsv::SPTRSV_ABI::detail
