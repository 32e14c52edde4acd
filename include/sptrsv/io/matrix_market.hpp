// Reads and writes sparse matrices in the Matrix Market coordinate format, plain or compressed with gzip.
//
// Gzip needs zlib: define SPTRSV_WITH_ZLIB in every translation unit and link zlib (the CMake target does so
// where it finds zlib).
#pragma once

#include <complex>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/error.hpp"
#include "sptrsv/io/detail/byte_sink.hpp"
#include "sptrsv/io/detail/byte_source.hpp"
#include "sptrsv/io/detail/matrix_market_entry_parser.hpp"
#include "sptrsv/io/detail/matrix_market_formatter.hpp"
#include "sptrsv/io/detail/matrix_market_header_parser.hpp"
#include "sptrsv/io/detail/matrix_market_text.hpp"
#include "sptrsv/io/matrix_market_types.hpp"

namespace sptrsv {

namespace detail {

template <class Value>
inline constexpr bool is_matrix_market_value =
    std::is_same_v<Value, float> || std::is_same_v<Value, double> ||
    std::is_same_v<Value, std::complex<float>> || std::is_same_v<Value, std::complex<double>>;

template <class Value, class Index>
coordinate_matrix<Value, Index> read_matrix_market(std::unique_ptr<byte_source> raw, const std::string& name,
                                                   matrix_market_header* header,
                                                   const matrix_market_options& options) {
  static_assert(is_matrix_market_value<Value>, "Value is float, double or std::complex of one of them");
  const auto source = unpacked(std::move(raw), name.empty() ? "the input" : "'" + name + "'");
  matrix_market_text text(*source, name);
  const matrix_market_header parsed = matrix_market_header_parser(text).parse();
  if (header != nullptr) {
    *header = parsed;
  }
  return matrix_market_entry_parser<Value, Index>(text, parsed, options).parse();
}

inline matrix_market_header read_matrix_market_header(std::unique_ptr<byte_source> raw,
                                                      const std::string& name) {
  const auto source = unpacked(std::move(raw), name.empty() ? "the input" : "'" + name + "'");
  matrix_market_text text(*source, name);
  return matrix_market_header_parser(text).parse();
}

}  // namespace detail

/// Reads a coordinate file up to its end. `header`, if not null, is set as soon as the header is read.
///
/// Values: those of integer files are converted, those of pattern files are 1, real ones read into a complex
/// type have no imaginary part. Numbers are rounded correctly to `Value`; what is too small for it becomes
/// zero. Beyond the format, this is tolerated: blank lines and comments anywhere after the banner, CRLF,
/// tabs, a leading '+', Fortran's exponents ('1D+03'), inf and nan, "double" for "real", and "hermitian" for
/// a file that is not complex (it means "symmetric").
///
/// Throws `parse_error`, which names the line, if the text is malformed, a value too large for `Value`, or
/// the format not "coordinate"; `error` with the code `unsupported` if the values are complex but `Value` is
/// real, if the dimensions do not fit `Index`, or if the input is compressed in a build without zlib; with
/// `io_error` if the input cannot be read or its compressed stream is damaged. Memory is allocated for what
/// is read, whatever the size line claims.
template <class Value, class Index = std::int32_t>
coordinate_matrix<Value, Index> read_matrix_market(std::istream& stream,
                                                   matrix_market_header* header = nullptr,
                                                   const matrix_market_options& options = {}) {
  return detail::read_matrix_market<Value, Index>(std::make_unique<detail::stream_source>(stream), "", header,
                                                  options);
}

/// The same from a file. It is unpacked if it starts with the magic bytes of gzip, whatever its name.
template <class Value, class Index = std::int32_t>
coordinate_matrix<Value, Index> read_matrix_market(const std::string& path,
                                                   matrix_market_header* header = nullptr,
                                                   const matrix_market_options& options = {}) {
  return detail::read_matrix_market<Value, Index>(std::make_unique<detail::file_source>(path), path, header,
                                                  options);
}

/// Reads the banner and the size line only. It reads ahead: the position of the stream is unspecified then.
/// Throws as `read_matrix_market`.
inline matrix_market_header read_matrix_market_header(std::istream& stream) {
  return detail::read_matrix_market_header(std::make_unique<detail::stream_source>(stream), "");
}

/// The same from a file, plain or compressed.
inline matrix_market_header read_matrix_market_header(const std::string& path) {
  return detail::read_matrix_market_header(std::make_unique<detail::file_source>(path), path);
}

/// Writes the shortest decimal text that reads back as the same values (of a NaN, only the sign survives).
/// The order of the entries is kept.
///
/// With a symmetry other than `general`, entries above the diagonal are left out. The matrix holds either
/// none of them or all: each the mirror of one below, as the reader makes them. Without imaginary parts,
/// `hermitian` is written as "symmetric".
///
/// Throws `error`: size_mismatch, index_out_of_range, not_square or invalid_argument if the matrix is not
/// valid or has not this symmetry (with the row); io_error if writing fails, which may leave a part of the
/// text behind.
template <class Value, class Index>
void write_matrix_market(std::ostream& stream, const coordinate_matrix<Value, Index>& matrix,
                         mm_symmetry symmetry = mm_symmetry::general) {
  static_assert(detail::is_matrix_market_value<Value>,
                "Value is float, double or std::complex of one of them");
  detail::matrix_market_formatter<Value, Index> formatter(matrix, symmetry);
  formatter.check();
  detail::stream_sink sink(stream);
  formatter.write(sink);
}

/// The same to a file, which is replaced; compressed with gzip if its name ends in ".gz". Throws, besides,
/// `error` with the code `unsupported` for such a name in a build without zlib.
template <class Value, class Index>
void write_matrix_market(const std::string& path, const coordinate_matrix<Value, Index>& matrix,
                         mm_symmetry symmetry = mm_symmetry::general) {
  static_assert(detail::is_matrix_market_value<Value>,
                "Value is float, double or std::complex of one of them");
  detail::matrix_market_formatter<Value, Index> formatter(matrix, symmetry);
  formatter.check();
  const auto sink = detail::open_sink(path);
  formatter.write(*sink);
}

}  // namespace sptrsv
