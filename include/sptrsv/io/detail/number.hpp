// SPDX-License-Identifier: Apache-2.0
// Parsers of numbers that do not depend on the locale. The text must end with a character that no number has,
// such as '\n'.
#pragma once

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace sptrsv::detail {

/// Result of parsing a number; overflow: the number is too large for its type.
enum class number_status { ok, malformed, overflow };

/// A parsed number.
template <class Number>
struct parsed_number {
  Number value{};
  const char* end = nullptr;  ///< one past the number; undefined if it is malformed
  number_status status = number_status::malformed;
};

inline bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

/// Parses `[+-]digits`.
inline parsed_number<std::int64_t> parse_integer(const char* text) noexcept {
  const bool negative = *text == '-';
  text += negative || *text == '+' ? 1 : 0;
  const char* const first = text;
  std::uint64_t magnitude = 0;
  bool overflow = false;
  for (; is_digit(*text); ++text) {
    overflow = overflow || magnitude > std::numeric_limits<std::int64_t>::max() / 10;
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(*text - '0');
  }
  overflow = overflow || magnitude > std::numeric_limits<std::int64_t>::max();
  if (text == first) {
    return {};
  }
  if (overflow) {
    return {0, text, number_status::overflow};
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return {negative ? -value : value, text, number_status::ok};
}

/// The parts of `[+-]digits.digits[eEdD][+-]digits`: the value is `mantissa * 10^exponent` without the sign.
struct decimal_parts {
  std::uint64_t mantissa = 0;  ///< the digits as an integer; wrong if there are more than 19
  std::int64_t digits = 0;     ///< number of digits, leading zeros included; 0: malformed
  std::int64_t exponent = 0;   ///< decimal exponent of the mantissa
  const char* end = nullptr;   ///< one past the number
  bool fortran = false;        ///< whether 'd' or 'D' marks the exponent
};

/// Splits an unsigned decimal number into its parts.
inline decimal_parts scan_decimal(const char* text) noexcept {
  decimal_parts parts;
  const auto take_digits = [&] {
    const char* const first = text;
    for (; is_digit(*text); ++text) {
      parts.mantissa = parts.mantissa * 10 + static_cast<std::uint64_t>(*text - '0');
    }
    return text - first;
  };
  parts.digits = take_digits();
  if (*text == '.') {
    ++text;
    const std::int64_t decimals = take_digits();
    parts.digits += decimals;
    parts.exponent = -decimals;
  }
  const char mark = static_cast<char>(*text | 0x20);  // lower case
  if (mark == 'e' || mark == 'd') {
    parts.fortran = mark == 'd';
    ++text;
    const bool negative = *text == '-';
    text += negative || *text == '+' ? 1 : 0;
    if (!is_digit(*text)) {
      return {};
    }
    std::int64_t exponent = 0;
    for (; is_digit(*text); ++text) {
      exponent = exponent < 1'000'000'000 ? exponent * 10 + (*text - '0') : exponent;
    }
    parts.exponent += negative ? -exponent : exponent;
  }
  parts.end = text;
  return parts;
}

/// Powers of ten that `Real` holds exactly. The product or quotient of an integer up to `mantissa_limit` and
/// such a power is rounded once, hence correctly (Clinger, "How to read floating point numbers accurately",
/// 1990).
template <class Real>
struct exact_decimal;

template <>
struct exact_decimal<double> {
  static constexpr std::uint64_t mantissa_limit = std::uint64_t{1} << 53;
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  static constexpr std::int64_t max_exponent = 22;
};

template <>
struct exact_decimal<float> {
  static constexpr std::uint64_t mantissa_limit = std::uint64_t{1} << 24;
  static constexpr float powers[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F, 1e8F, 1e9F, 1e10F};
  static constexpr std::int64_t max_exponent = 10;
};

/// Returns whether a decimal number that is not zero is less than 1. `text`: without the sign.
inline bool is_below_one(const char* text, const decimal_parts& parts) noexcept {
  std::int64_t leading_zeros = 0;
  for (; *text == '0' || *text == '.'; ++text) {
    leading_zeros += *text == '0' ? 1 : 0;
  }
  return parts.digits - leading_zeros + parts.exponent <= 0;
}

/// Parses a number with `std::from_chars`, for all numbers that `parse_real` does not compute itself.
template <class Real>
parsed_number<Real> parse_real_slowly(const char* text, const decimal_parts& parts, bool negative) {
  Real value{};
  std::from_chars_result read{};
  if (parts.fortran) {
    std::string copy(text, parts.end);
    copy[copy.find_first_of("dD")] = 'e';
    read = std::from_chars(copy.data(), copy.data() + copy.size(), value);
  } else {
    read = std::from_chars(text, parts.end, value);
  }
  if (read.ec == std::errc::invalid_argument) {
    return {};
  }
  if (read.ec == std::errc::result_out_of_range) {
    value = is_below_one(text, parts) ? Real{0} : std::numeric_limits<Real>::infinity();
  }
  return {negative ? -value : value, parts.end,
          std::isinf(value) ? number_status::overflow : number_status::ok};
}

/// Parses inf, infinity, nan or nan(...), in upper or lower case.
template <class Real>
parsed_number<Real> parse_non_finite(const char* text, bool negative) {
  const char first = static_cast<char>(*text | 0x20);
  if (first != 'i' && first != 'n') {
    return {};
  }
  const char* end = text;
  while (*end > ' ') {
    ++end;
  }
  Real value{};
  const std::from_chars_result read = std::from_chars(text, end, value);
  if (read.ec != std::errc{}) {
    return {};
  }
  return {negative ? -value : value, read.ptr, number_status::ok};
}

/// Parses a decimal number (also with Fortran's 'D' exponent), inf or nan, and rounds it correctly to `Real`.
/// A number that is too small becomes zero; a number that is too large gives `overflow`.
template <class Real>
parsed_number<Real> parse_real(const char* text) {
  using exact = exact_decimal<Real>;
  const bool negative = *text == '-';
  text += negative || *text == '+' ? 1 : 0;
  const decimal_parts parts = scan_decimal(text);
  if (parts.digits == 0) {
    return parse_non_finite<Real>(text, negative);
  }
  constexpr bool rounds_once = FLT_EVAL_METHOD == 0;
  if (!rounds_once || parts.digits > 19 || parts.mantissa > exact::mantissa_limit ||
      parts.exponent > exact::max_exponent || parts.exponent < -exact::max_exponent) {
    return parse_real_slowly<Real>(text, parts, negative);
  }
  const auto mantissa = static_cast<Real>(parts.mantissa);
  const Real value = parts.exponent < 0 ? mantissa / exact::powers[-parts.exponent]
                                        : mantissa * exact::powers[parts.exponent];
  return {negative ? -value : value, parts.end, number_status::ok};
}

}  // namespace sptrsv::detail
