// SPDX-License-Identifier: Apache-2.0
// Errors: their codes, the exceptions, and the macro that checks a precondition.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Code of an error. `error::what()` is a sentence about it, `error::row()` the row of the matrix.
enum class errc {
  invalid_argument,      ///< an invalid argument that has no code of its own
  not_square,            ///< the numbers of rows and columns of the matrix differ
  offsets_not_monotone,  ///< row (column) offsets do not start at 0, decrease, or do not end at the entry
                         ///< count; also where they count from 1
  index_out_of_range,    ///< a column (row) index is negative or not less than the dimension
  duplicate_entry,       ///< the triangle has an entry twice
  missing_diagonal,      ///< a row of a triangle with diag::non_unit has no diagonal entry
  size_mismatch,         ///< the size of b, x or the values does not match the system, or the sizes of the
                         ///< arrays of a matrix do not match each other
  too_many_rhs,          ///< more right-hand sides than `system_options::max_rhs`
  wrong_memory_space,    ///< a host pointer where a device pointer is needed, the reverse, or memory
                         ///< of another GPU than the current one
  unsupported,           ///< a combination that the policy, the format or the build does not support
  out_of_memory,         ///< a memory resource could not serve a request
  parse_error,           ///< malformed input text; see the class parse_error
  io_error,              ///< a file could not be opened, read or written
  cuda_error,            ///< a call of the CUDA runtime failed
  peer_failed            ///< another PE of a distributed solve has failed, ended or not come in time
};

/// The exception of this library.
class error : public std::runtime_error {
 public:
  /// Constructs an error with a code, a message and, if the error concerns one, a row of the matrix.
  error(errc code, const std::string& message, std::optional<std::int64_t> row = std::nullopt)
      : std::runtime_error(message), code_(code), row_(row) {}

  /// Returns the code.
  [[nodiscard]] errc code() const noexcept { return code_; }

  /// Returns the first offending row of the matrix (column, for CSC), counted from 0; empty if the error
  /// concerns no row.
  [[nodiscard]] std::optional<std::int64_t> row() const noexcept { return row_; }

 private:
  errc code_;
  std::optional<std::int64_t> row_;
};

/// The exception for malformed text, with the code errc::parse_error.
class parse_error : public error {
 public:
  /// Constructs an error for a line of the text, counted from 1; what() names the line.
  parse_error(const std::string& message, std::int64_t line)
      : error(errc::parse_error, "line " + std::to_string(line) + ": " + message), line_(line) {}

  /// Returns the line, counted from 1.
  [[nodiscard]] std::int64_t line() const noexcept { return line_; }

 private:
  std::int64_t line_;
};

namespace detail {

/// Returns texts and numbers as one text.
template <class... Parts>
std::string text_from(const Parts&... parts) {
  std::string joined;
  const auto append = [&](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      joined += std::to_string(part);
    } else {
      joined += part;
    }
  };
  (append(parts), ...);
  return joined;
}

/// Throws `sptrsv::error` with a row, and with a message that is given as texts and numbers, if `condition`
/// is false.
template <class... Parts>
void expect_of_row(bool condition, errc code, std::int64_t row, const Parts&... parts) {
  if (!condition) {
    throw error(code, text_from(parts...), row);
  }
}

}  // namespace detail
}  // namespace sptrsv::SPTRSV_ABI

/// Throws `sptrsv::error` with a code and a message, which is given as texts and numbers, if `condition` is
/// false. The message is evaluated only in this case.
#define SPTRSV_EXPECTS(condition, code, ...)                                 \
  do {                                                                       \
    if (!(condition)) {                                                      \
      throw ::sptrsv::error(code, ::sptrsv::detail::text_from(__VA_ARGS__)); \
    }                                                                        \
  } while (false)
