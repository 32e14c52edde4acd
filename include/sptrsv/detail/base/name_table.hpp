// SPDX-License-Identifier: Apache-2.0
// The names of the values of an enumeration, for texts that a user writes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace sptrsv::detail {

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

inline constexpr name_table<bool, 2> switch_names{{{{true, "yes"}, {false, "no"}}}};

}  // namespace sptrsv::detail
