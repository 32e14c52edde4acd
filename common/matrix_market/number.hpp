// SPDX-License-Identifier: Apache-2.0
// Parsers of numbers that do not depend on the locale. They take a whole word.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace sptrsv_common::detail {

/// Result of parsing a number; overflow: the number is too large for its type.
enum class number_status { ok, malformed, overflow };

/// A parsed number.
template <class Number>
struct parsed_number {
  Number value{};  ///< after an overflow, the largest number with the sign of the text
  number_status status = number_status::malformed;
};

/// Parses `[+-]digits`.
inline parsed_number<std::int64_t> parse_integer(std::string_view word) noexcept {
  const bool has_plus = word.substr(0, 1) == "+" && word.substr(1, 1) != "-";
  const char* const end = word.data() + word.size();
  std::int64_t value = 0;
  const auto read = std::from_chars(word.data() + (has_plus ? 1 : 0), end, value);
  if (read.ec == std::errc::invalid_argument || read.ptr != end) {
    return {};
  }
  if (read.ec == std::errc::result_out_of_range) {
    using limits = std::numeric_limits<std::int64_t>;
    return {word.front() == '-' ? limits::min() : limits::max(), number_status::overflow};
  }
  return {value, number_status::ok};
}

/// Returns whether a decimal number that is not zero is less than 1. `number`: without the sign.
inline bool is_below_one(std::string_view number) {
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const auto point = static_cast<std::int64_t>(std::min(number.find('.'), mark));
  const auto first = static_cast<std::int64_t>(number.find_first_of("123456789"));
  const std::int64_t digits = point - first + (first > point ? 1 : 0);  // before the point, without zeros
  return parse_integer(number.substr(std::min(mark + 1, number.size()))).value <= -digits;
}

/// Parses a decimal number (also with Fortran's 'D' exponent), inf or nan, and rounds it correctly to `Real`.
/// A number that is too small becomes zero; a number that is too large gives `overflow`.
template <class Real>
parsed_number<Real> parse_real(std::string_view word) {
  const bool negative = word.substr(0, 1) == "-";
  const std::string_view number = word.substr(negative || word.substr(0, 1) == "+" ? 1 : 0);
  const char* const end = number.data() + number.size();
  Real value{};
  const auto read = std::from_chars(number.data(), end, value);
  if (number.substr(0, 1) == "-" || read.ec == std::errc::invalid_argument) {
    return {};
  }
  if (read.ptr != end) {
    if (*read.ptr != 'd' && *read.ptr != 'D') {
      return {};
    }
    std::string copy(word);
    copy[static_cast<std::size_t>(read.ptr - word.data())] = 'e';
    return parse_real<Real>(copy);
  }
  const bool is_outside = read.ec == std::errc::result_out_of_range;
  if (is_outside) {
    value = is_below_one(number) ? Real{0} : std::numeric_limits<Real>::infinity();
  }
  return {negative ? -value : value,
          is_outside && std::isinf(value) ? number_status::overflow : number_status::ok};
}

}  // namespace sptrsv_common::detail
