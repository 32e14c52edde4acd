// Fuzzes the Matrix Market reader. For any bytes it returns a matrix that agrees with its header and that the
// writer and the reader preserve, or it throws sptrsv::error. Compressed with gzip, a text gives the same.
//
// The first byte of an input selects the types, whether symmetric files are expanded, and whether the text is
// read compressed, too. The rest is the text, which may itself be a gzip file.
#include <zlib.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/matrix_market/matrix_market.hpp"

namespace {

using sptrsv::fuzz::check;
using sptrsv_common::mm_symmetry;

/// What the reader returned or threw.
template <class Value, class Index>
struct outcome {
  std::optional<sptrsv_common::coordinate_matrix<Value, Index>> matrix;
  sptrsv_common::matrix_market_header header;
  std::string message;               ///< of the exception
  std::optional<std::int64_t> line;  ///< of a parse_error
};

/// Other exceptions than sptrsv::error end the process.
template <class Value, class Index>
outcome<Value, Index> read(const std::string& text, bool expand) {
  outcome<Value, Index> made;
  std::istringstream stream(text);
  sptrsv_common::matrix_market_options options;
  options.expand_symmetry = expand;
  try {
    made.matrix = sptrsv_common::read_matrix_market<Value, Index>(stream, &made.header, options);
  } catch (const sptrsv::parse_error& failure) {
    made.message = failure.what();
    made.line = failure.line();
  } catch (const sptrsv::error& failure) {
    made.message = failure.what();
  }
  return made;
}

template <class Value>
bool same_value(const Value& a, const Value& b) {
  if constexpr (std::is_floating_point_v<Value>) {
    return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
  } else {
    return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag());
  }
}

template <class Value, class Index>
bool same_matrix(const sptrsv_common::coordinate_matrix<Value, Index>& a,
                 const sptrsv_common::coordinate_matrix<Value, Index>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_indices == b.row_indices &&
         a.column_indices == b.column_indices &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_value<Value>);
}

template <class Value, class Index>
void check_consistent(const outcome<Value, Index>& read_matrix, bool expanded) {
  const auto& matrix = *read_matrix.matrix;
  const auto& header = read_matrix.header;
  check(matrix.rows == header.rows && matrix.cols == header.cols, "the matrix has the size of the header");
  check(matrix.row_indices.size() == matrix.values.size(), "each entry has a row");
  check(matrix.column_indices.size() == matrix.values.size(), "each entry has a column");
  std::int64_t stored = 0;
  for (std::size_t k = 0; k < matrix.values.size(); ++k) {
    check(0 <= matrix.row_indices[k] && matrix.row_indices[k] < matrix.rows, "rows are in range");
    check(0 <= matrix.column_indices[k] && matrix.column_indices[k] < matrix.cols, "columns are in range");
    stored +=
        header.symmetry == mm_symmetry::general || matrix.row_indices[k] >= matrix.column_indices[k] ? 1 : 0;
  }
  check(stored == header.entries, "the matrix has the entries of the header");
  check(header.symmetry == mm_symmetry::general || matrix.rows == matrix.cols, "symmetric: square");
  check(expanded || static_cast<std::int64_t>(matrix.values.size()) == header.entries, "not expanded");
}

/// Writes the matrix, which the writer refuses if it does not have the symmetry, and reads it again.
template <class Value, class Index>
void check_written(const outcome<Value, Index>& first, bool expand) {
  std::ostringstream text;
  sptrsv_common::write_matrix_market(text, *first.matrix, first.header.symmetry);
  const auto again = read<Value, Index>(text.str(), expand);
  check(again.matrix.has_value(), "what the writer writes can be read");
  check(same_matrix(*again.matrix, *first.matrix), "the writer and the reader preserve the matrix");
}

std::string gzip(const std::string& text) {
  z_stream zlib{};
  check(deflateInit2(&zlib, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  std::string packed(deflateBound(&zlib, static_cast<uLong>(text.size())), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  check(deflate(&zlib, Z_FINISH) == Z_STREAM_END, "zlib compresses");
  packed.resize(zlib.total_out);
  deflateEnd(&zlib);
  return packed;
}

bool is_gzip(const std::string& text) { return text.compare(0, 2, "\x1f\x8b") == 0; }

// The reader refuses these, but does not look for them in what gzip has compressed.
bool is_other_archive(const std::string& text) {
  return text.compare(0, 5,
                      "\xFD"
                      "7zXZ") == 0 ||
         text.compare(0, 3, "BZh") == 0 || text.compare(0, 4, "\x28\xB5\x2F\xFD") == 0 ||
         text.compare(0, 4, "PK\x03\x04") == 0;
}

template <class Value, class Index>
void check_text(const std::string& text, bool expand, bool compress) {
  const auto plain = read<Value, Index>(text, expand);
  if (plain.matrix.has_value()) {
    check_consistent(plain, expand);
    check_written(plain, expand);
  }
  if (plain.line.has_value()) {
    check(*plain.line >= 1, "lines count from 1");
    // A text whose first block holds no '\n' may have lines that end with '\r'.
    const auto lines = std::count(text.begin(), text.end(), text.find('\n') == text.npos ? '\r' : '\n') + 1;
    check(is_gzip(text) || *plain.line <= lines + 1, "an error names a line of the text");
  }
  if (compress && !is_gzip(text) && !is_other_archive(text)) {
    // Two members, which the reader joins.
    const std::string packed = gzip(text.substr(0, text.size() / 2)) + gzip(text.substr(text.size() / 2));
    const auto unpacked = read<Value, Index>(packed, expand);
    check(unpacked.message == plain.message, "a compressed text gives the same error");
    check(unpacked.matrix.has_value() == plain.matrix.has_value(), "a compressed text is a matrix, too");
    check(!plain.matrix.has_value() || same_matrix(*unpacked.matrix, *plain.matrix),
          "a compressed text gives the same matrix");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const unsigned choice = data[0];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool expand = (choice & 4u) == 0;
  const bool compress = (choice & 8u) != 0;
  switch (choice % 4) {
    case 0:
      check_text<double, std::int32_t>(text, expand, compress);
      break;
    case 1:
      check_text<std::complex<double>, std::int64_t>(text, expand, compress);
      break;
    case 2:
      check_text<std::complex<float>, std::int32_t>(text, expand, compress);
      break;
    default:
      check_text<float, std::int64_t>(text, expand, compress);
  }
  return 0;
}
