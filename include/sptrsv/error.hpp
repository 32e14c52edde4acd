// Errors: what can go wrong, the exception that says so, and the precondition macro.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace sptrsv {

/// What went wrong; `error::what()` says it in a sentence, `error::row()` says where.
enum class errc {
  invalid_argument,      ///< an argument that no other code names
  not_square,            ///< the matrix has not as many columns as rows
  offsets_not_monotone,  ///< row (column) offsets do not start at 0, decrease, or miss the entry count
  index_out_of_range,    ///< a column (row) index is negative or not below the dimension
  duplicate_entry,       ///< the triangle holds one entry twice
  missing_diagonal,      ///< no diagonal entry in a row of a non-unit triangle
  size_mismatch,         ///< b, x or the values have not the size of the system
  too_many_rhs,          ///< more right-hand sides than `system_options::max_rhs`
  wrong_memory_space,    ///< a host pointer where a device pointer is needed, or the reverse
  unsupported,           ///< a combination that the policy refuses
  out_of_memory,         ///< a memory resource could not serve a request
  parse_error,           ///< malformed input text; see `parse_error`
  io_error,              ///< a file could not be opened, read or written
  cuda_error             ///< a call of the CUDA runtime failed
};

/// The exception of this library.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message, std::optional<std::int64_t> row = std::nullopt)
      : std::runtime_error(message), code_(code), row_(row) {}

  [[nodiscard]] errc code() const noexcept { return code_; }

  /// The first offending row of the matrix (a column for CSC input), counted from 0, where there is one.
  [[nodiscard]] std::optional<std::int64_t> row() const noexcept { return row_; }

 private:
  errc code_;
  std::optional<std::int64_t> row_;
};

/// Malformed text; lines are counted from 1.
class parse_error : public error {
 public:
  parse_error(const std::string& message, std::int64_t line)
      : error(errc::parse_error, "line " + std::to_string(line) + ": " + message), line_(line) {}

  [[nodiscard]] std::int64_t line() const noexcept { return line_; }

 private:
  std::int64_t line_;
};

}  // namespace sptrsv

/// Throws `sptrsv::error(code, message)` unless `condition` holds; `message` is evaluated only then.
#define SPTRSV_EXPECTS(condition, code, message) \
  do {                                           \
    if (!(condition)) {                          \
      throw ::sptrsv::error(code, message);      \
    }                                            \
  } while (false)
