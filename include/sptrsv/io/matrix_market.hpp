// SPDX-License-Identifier: Apache-2.0
// Reads and writes matrices and vectors in the Matrix Market formats, plain or compressed with gzip.
//
// Gzip needs zlib: define SPTRSV_WITH_ZLIB in every translation unit and link zlib (the CMake target does
// both if CMake finds zlib).
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <utility>

#include "sptrsv/error.hpp"
#include "sptrsv/io/detail/byte_streams.hpp"
#include "sptrsv/io/detail/matrix_market_entry_parser.hpp"
#include "sptrsv/io/detail/matrix_market_formatter.hpp"
#include "sptrsv/io/detail/matrix_market_header_parser.hpp"
#include "sptrsv/io/detail/matrix_market_text.hpp"
#include "sptrsv/io/matrix_market_types.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail {

/// Opens a text, which is decompressed if need be. `name` is empty for a stream.
inline matrix_market_text open_matrix_market(byte_source raw, const std::string& name) {
  return {unpacked(std::move(raw), name.empty() ? "the input" : "'" + name + "'"), name};
}

template <class Value, class Index>
coordinate_matrix<Value, Index> read_matrix_market(matrix_market_text text, matrix_market_header* header,
                                                   const matrix_market_options& options) {
  expect_matrix_market_value<Value>();
  const matrix_market_header parsed = matrix_market_header_parser(text).parse();
  if (header != nullptr) {
    *header = parsed;
  }
  return matrix_market_entry_parser<Value, Index>(text, parsed, options).parse();
}

}  // namespace detail

/// Reads a file up to its end. Each value of an array file is an entry, also a zero; a vector has one column.
///
/// Values of integer files are converted; values of pattern files are 1; real values that are read into a
/// complex type have no imaginary part. Numbers are rounded correctly to `Value`; a number that is too small
/// for it becomes zero. The reader tolerates more than the format allows: blank lines and comments anywhere
/// after the banner, also at the end of a line, a byte order mark of UTF-8, lines that end with CR or CRLF,
/// tabs, Ctrl-Z and null characters after the last entry, a leading '+', Fortran's exponents ('1D+03'), inf
/// and nan, "double" for "real", and "hermitian" for a file that is not complex (it means "symmetric"). The
/// size line is not trusted: memory is allocated for entries that are in the file.
///
/// @tparam Value float, double, or std::complex of one of them.
/// @tparam Index signed integer type of the indices.
/// @param stream the text, plain or compressed with gzip.
/// @param header if not null, it is set as soon as the header is read.
/// @param options options of the reader.
/// @throws parse_error, which names the line, if the text is malformed or if a value is too large for
/// `Value`.
/// @throws error errc::unsupported if the values are complex and `Value` is real, if the dimensions do not
///   fit `Index`, or if the input is compressed and the build has no zlib, or in another way than by gzip;
///   errc::io_error if the input cannot
///   be read or its compressed data is damaged.
template <class Value, class Index = std::int32_t>
coordinate_matrix<Value, Index> read_matrix_market(std::istream& stream,
                                                   matrix_market_header* header = nullptr,
                                                   const matrix_market_options& options = {}) {
  return detail::read_matrix_market<Value, Index>(detail::open_matrix_market(detail::source_of(stream), ""),
                                                  header, options);
}

/// Reads the file `path`; otherwise as the overload for streams. The file is decompressed if it starts with
/// the magic bytes of gzip, whatever its name.
template <class Value, class Index = std::int32_t>
coordinate_matrix<Value, Index> read_matrix_market(const std::string& path,
                                                   matrix_market_header* header = nullptr,
                                                   const matrix_market_options& options = {}) {
  return detail::read_matrix_market<Value, Index>(detail::open_matrix_market(detail::source_of(path), path),
                                                  header, options);
}

/// Reads the banner and the size line only. The position of the stream is unspecified afterwards. Throws as
/// read_matrix_market.
inline matrix_market_header read_matrix_market_header(std::istream& stream) {
  auto text = detail::open_matrix_market(detail::source_of(stream), "");
  return detail::matrix_market_header_parser(text).parse();
}

/// Reads the banner and the size line of the file `path`, plain or compressed. Throws as read_matrix_market.
inline matrix_market_header read_matrix_market_header(const std::string& path) {
  auto text = detail::open_matrix_market(detail::source_of(path), path);
  return detail::matrix_market_header_parser(text).parse();
}

/// Writes a matrix as a coordinate file. Numbers have the shortest decimal text that reads back as the same
/// value; of a NaN, only the sign is kept. The order of the entries is kept.
///
/// @param stream where the text is written.
/// @param matrix the matrix. With a symmetry other than `general`, entries above the diagonal are left out:
///   the matrix has either none of them, or all, each the mirror of one below, as the reader adds them.
/// @param symmetry the symmetry. `hermitian` is written as "symmetric" if values have no imaginary part.
/// @throws error errc::size_mismatch, errc::index_out_of_range, errc::not_square or errc::invalid_argument,
///   with the row, if the matrix is not valid or does not have this symmetry; nothing is written then.
///   errc::io_error if writing fails, which may leave a part of the text.
template <class Value, class Index>
void write_matrix_market(std::ostream& stream, const coordinate_matrix<Value, Index>& matrix,
                         mm_symmetry symmetry = mm_symmetry::general) {
  const detail::matrix_market_formatter<Value, Index> formatter(matrix, symmetry);
  formatter.write(detail::sink_of(stream));
}

/// Writes a matrix to the file `path`, which is replaced; otherwise as the overload for streams. The file is
/// compressed with gzip if its name ends in ".gz". Throws `error` with errc::unsupported for such a name in a
/// build without zlib.
template <class Value, class Index>
void write_matrix_market(const std::string& path, const coordinate_matrix<Value, Index>& matrix,
                         mm_symmetry symmetry = mm_symmetry::general) {
  const detail::matrix_market_formatter<Value, Index> formatter(matrix, symmetry);
  formatter.write(detail::sink_of(path));
}

/// Writes a dense matrix in host memory, or a vector, as an array file. Numbers are written as in coordinate
/// files. Throws `error` with errc::io_error if writing fails.
template <class Value>
void write_matrix_market(std::ostream& stream, dense_view<const Value> matrix) {
  detail::write_matrix_market_array(detail::sink_of(stream), matrix);
}

/// Writes a dense matrix in host memory, or a vector, to the file `path`; otherwise as the overloads above.
template <class Value>
void write_matrix_market(const std::string& path, dense_view<const Value> matrix) {
  detail::write_matrix_market_array(detail::sink_of(path), matrix);
}

}  // namespace sptrsv::SPTRSV_ABI
