// SPDX-License-Identifier: Apache-2.0
// Reads and writes matrices and vectors in the Matrix Market formats, plain or compressed with gzip.
//
// Gzip needs zlib: define SPTRSV_WITH_ZLIB in every translation unit and link zlib (the CMake target does
// both if CMake finds zlib).
#pragma once

#include <cstdint>
#include <istream>
#include <string>

#include "common/matrix_market/byte_streams.hpp"
#include "common/matrix_market/matrix_market_entry_parser.hpp"
#include "common/matrix_market/matrix_market_formatter.hpp"
#include "common/matrix_market/matrix_market_header_parser.hpp"
#include "common/matrix_market/matrix_market_text.hpp"
#include "common/matrix_market/matrix_market_types.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_common {

namespace detail {

/// Opens a text, which is decompressed if need be.
inline matrix_market_text open_matrix_market(std::istream& stream) {
  return {unpacked(source_of(stream), "the input"), ""};
}
inline matrix_market_text open_matrix_market(const std::string& path) {
  return {unpacked(source_of(path), "'" + path + "'"), path};
}

}  // namespace detail

/// Reads a text up to its end. Each value of an array file is an entry, also a zero; a vector has one column.
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
/// @param input a stream, or the name of a file: the text, plain or compressed with gzip, which it is if it
///   starts with the magic bytes of gzip.
/// @param header if not null, it is set as soon as the header is read.
/// @param options options of the reader.
/// @throws parse_error, which names the line, if the text is malformed or if a value is too large for
/// `Value`.
/// @throws error errc::unsupported if the values are complex and `Value` is real, if the dimensions do not
///   fit `Index`, or if the input is compressed and the build has no zlib, or in another way than by gzip;
///   errc::io_error if the input cannot
///   be read or its compressed data is damaged.
template <class Value, class Index = std::int32_t, class Input>
coordinate_matrix<Value, Index> read_matrix_market(Input&& input, matrix_market_header* header = nullptr,
                                                   const matrix_market_options& options = {}) {
  detail::expect_matrix_market_value<Value>();
  auto text = detail::open_matrix_market(input);
  const matrix_market_header parsed = detail::matrix_market_header_parser(text).parse();
  if (header != nullptr) {
    *header = parsed;
  }
  return detail::matrix_market_entry_parser<Value, Index>(text, parsed, options).parse();
}

/// Reads the banner and the size line only, of a stream or a file. The position of the stream is unspecified
/// afterwards. Throws as read_matrix_market.
template <class Input>
matrix_market_header read_matrix_market_header(Input&& input) {
  auto text = detail::open_matrix_market(input);
  return detail::matrix_market_header_parser(text).parse();
}

/// Writes a matrix as a coordinate file. Numbers have the shortest decimal text that reads back as the same
/// value; of a NaN, only the sign is kept. The order of the entries is kept.
///
/// @param output a stream, or the name of a file, which is replaced. The file is compressed with gzip if its
///   name ends in ".gz".
/// @param matrix the matrix. With a symmetry other than `general`, entries above the diagonal are left out:
///   the matrix has either none of them, or all, each the mirror of one below, as the reader adds them.
/// @param symmetry the symmetry. `hermitian` is written as "symmetric" if values have no imaginary part.
/// @throws error errc::size_mismatch, errc::index_out_of_range, errc::not_square or errc::invalid_argument,
///   with the row, if the matrix is not valid or does not have this symmetry; nothing is written then.
///   errc::io_error if writing fails, which may leave a part of the text. errc::unsupported for a name that
///   ends in ".gz" in a build without zlib.
template <class Output, class Value, class Index>
void write_matrix_market(Output&& output, const coordinate_matrix<Value, Index>& matrix,
                         mm_symmetry symmetry = mm_symmetry::general) {
  const detail::matrix_market_formatter<Value, Index> formatter(matrix, symmetry);
  formatter.write(detail::sink_of(output));
}

/// Writes a dense matrix in host memory, or a vector, as an array file; otherwise as the overload for sparse
/// matrices. Throws `error` with errc::io_error if writing fails.
template <class Output, class Value>
void write_matrix_market(Output&& output, sptrsv::dense_view<const Value> matrix) {
  detail::write_matrix_market_array(detail::sink_of(output), matrix);
}

}  // namespace sptrsv_common
