// The Matrix Market reader on damaged text: for any bytes it returns a matrix that agrees with its header or
// throws sptrsv::error. To be built with the address and undefined-behaviour sanitizers.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/io/matrix_market.hpp"

namespace {

using namespace std::string_literals;
using sptrsv::mm_symmetry;

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = {
      "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 4\n1 1 1.5\n3 4 -2e3\n2 1 7\n1 4 "
      ".25\n",
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 1 -1.25e-3\n3 3 1e+100\n3 2 "
      "12345678.5\n",
      "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 -1\n3 1 2.5\n3 3 0\n",
      "%%MatrixMarket matrix coordinate real hermitian\n2 2 2\n2 1 0.1\n2 2 3\n",
      "%%MatrixMarket matrix coordinate complex general\n2 3 3\n1 1 1 -1\n2 3 0.5 1e5\n1 2 0 0\n",
      "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 1 -3\n2 2 5 0\n",
      "%%MatrixMarket matrix coordinate complex skew-symmetric\n3 3 2\n2 1 1 2\n3 2 4 -5\n",
      "%%MatrixMarket matrix coordinate pattern general\n4 4 5\n1 1\n2 2\n3 3\n4 4\n4 1\n",
      "%%MatrixMarket matrix coordinate pattern symmetric\n%\n%\n9 9 3\n9 9\n9 1\n5 5\n",
      "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 12\n2 1 -7\n2 2 "
      "123456789012345678901234\n",
      "%%matrixmarket MATRIX coordinate double General\r\n% x\r\n\r\n2 2 2\r\n1\t1\t+1.0D+03\r\n\r\n2 2 "
      "nan\r\n",
      "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 inf\n1 2 -nan\n2 1 "
      "9007199254740993.00000000001\n"
      "2 2 4.9406564584124654e-324\n",
      "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
  };
  return texts;
}

// std::uniform_int_distribution differs between standard libraries.
std::size_t below(std::mt19937& random, std::size_t bound) { return bound == 0 ? 0 : random() % bound; }

void mutate(std::string& text, std::mt19937& random) {
  static const std::string likely = "0123456789+-.eEdD%\n\r\t \0\x80\xff:/iInN"s;
  const std::size_t body = random() % 4 == 0 ? 0 : std::min(text.find('\n') + 1, text.size());
  const std::size_t at = body + below(random, text.size() - body);
  const std::size_t length = 1 + below(random, random() % 4 == 0 ? 40 : 4);
  switch (random() % 8) {
    case 0:  // flip a bit
      if (at < text.size()) {
        text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
      }
      break;
    case 1:  // replace or insert a likely character
      text.replace(at, random() % 2, 1, likely[below(random, likely.size())]);
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:  // repeat a piece
      text.insert(at, text.substr(below(random, text.size()), length));
      break;
    case 4: {  // splice with the end of another text
      const std::string& other = seeds()[below(random, seeds().size())];
      text = text.substr(0, at) + other.substr(below(random, other.size()));
      break;
    }
    case 5:
      text.resize(at);
      break;
    case 6:  // a number that is too large, or nearly
      text.insert(at, random() % 2 ? "9223372036854775807" : "99999999999");
      break;
    default:  // exchange two bytes
      if (at < text.size()) {
        std::swap(text[at], text[below(random, text.size())]);
      }
  }
}

std::int64_t count_lines(const std::string& text) {
  const bool unfinished = !text.empty() && text.back() != '\n';
  return std::count(text.begin(), text.end(), '\n') + (unfinished ? 1 : 0);
}

template <class Value, class Index>
void expect_consistent(const sptrsv::coordinate_matrix<Value, Index>& matrix,
                       const sptrsv::matrix_market_header& header, bool expanded) {
  EXPECT_EQ(matrix.rows, header.rows);
  EXPECT_EQ(matrix.cols, header.cols);
  ASSERT_EQ(matrix.row_indices.size(), matrix.values.size());
  ASSERT_EQ(matrix.column_indices.size(), matrix.values.size());
  std::int64_t stored = 0;
  for (std::size_t k = 0; k < matrix.values.size(); ++k) {
    EXPECT_TRUE(0 <= matrix.row_indices[k] && matrix.row_indices[k] < matrix.rows);
    EXPECT_TRUE(0 <= matrix.column_indices[k] && matrix.column_indices[k] < matrix.cols);
    stored += header.symmetry == mm_symmetry::general || matrix.row_indices[k] >= matrix.column_indices[k];
  }
  EXPECT_EQ(stored, header.entries);
  if (header.symmetry != mm_symmetry::general) {
    EXPECT_EQ(matrix.rows, matrix.cols);
    if (!expanded) {
      EXPECT_EQ(static_cast<std::int64_t>(matrix.values.size()), header.entries);
    }
  }
  std::ostringstream text;  // the writer refuses a matrix without the symmetry
  EXPECT_NO_THROW(sptrsv::write_matrix_market(text, matrix, header.symmetry));
}

/// Returns whether the text was accepted. Other exceptions than sptrsv::error fail the test.
template <class Value, class Index>
bool read_and_check(const std::string& text, bool expand, bool compressed = false) {
  std::istringstream stream(text);
  sptrsv::matrix_market_header header;
  sptrsv::matrix_market_options options;
  options.expand_symmetry = expand;
  try {
    const auto matrix = sptrsv::read_matrix_market<Value, Index>(stream, &header, options);
    expect_consistent(matrix, header, expand);
    return true;
  } catch (const sptrsv::parse_error& failure) {
    EXPECT_GE(failure.line(), 1);
    if (!compressed) {
      EXPECT_LE(failure.line(), count_lines(text) + 1);
    }
  } catch (const sptrsv::error&) {  // unsupported, io_error
  }
  return false;
}

bool read_and_check_as(std::size_t type, const std::string& text) {
  switch (type % 4) {
    case 0:
      return read_and_check<double, std::int32_t>(text, true);
    case 1:
      return read_and_check<std::complex<double>, std::int64_t>(text, true);
    case 2:
      return read_and_check<std::complex<float>, std::int32_t>(text, false);
    default:
      return read_and_check<float, std::int64_t>(text, false);
  }
}

TEST(MatrixMarketMutation, SeedsAreValid) {
  for (const std::string& text : seeds()) {
    EXPECT_TRUE((read_and_check<std::complex<double>, std::int32_t>(text, true))) << text;
  }
}

TEST(MatrixMarketMutation, GivesAConsistentMatrixOrAnError) {
  constexpr int iterations = 4000;
  std::mt19937 random(20240607);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (const std::string& seed : seeds()) {
    for (int k = 0; k < iterations; ++k) {
      std::string text = seed;
      do {
        mutate(text, random);
      } while (random() % 3 == 0);
      ++(read_and_check_as(random(), text) ? accepted : refused);
      if (HasFailure()) {
        FAIL() << "seed:\n" << seed << "mutation:\n" << testing::PrintToString(text);
      }
    }
  }
  EXPECT_GT(accepted, 1000U);  // the mutations are not all of one kind
  EXPECT_GT(refused, 1000U);
}

TEST(MatrixMarketMutation, SeesEveryTruncationBeforeTheLastEntry) {
  for (const std::string& seed : seeds()) {
    const std::size_t last_line = seed.rfind('\n', seed.size() - 2) + 1;
    for (std::size_t length = 0; length < seed.size(); ++length) {
      const std::string text = seed.substr(0, length);
      const bool accepted = read_and_check<std::complex<double>, std::int32_t>(text, true);
      EXPECT_FALSE(accepted && length <= last_line) << testing::PrintToString(text);
    }
  }
}

#ifdef SPTRSV_WITH_ZLIB

std::string gzip(const std::string& text) {
  z_stream zlib{};
  deflateInit2(&zlib, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&zlib, static_cast<uLong>(text.size())), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  deflate(&zlib, Z_FINISH);
  packed.resize(zlib.total_out);
  deflateEnd(&zlib);
  return packed;
}

TEST(MatrixMarketMutation, GivesAConsistentMatrixOrAnErrorForDamagedGzip) {
  constexpr int iterations = 400;
  std::mt19937 random(42);
  for (const std::string& seed : seeds()) {
    const std::string packed = gzip(seed);
    EXPECT_TRUE((read_and_check<std::complex<double>, std::int32_t>(packed, true, true)));
    for (int k = 0; k < iterations; ++k) {
      std::string bytes = packed;
      mutate(bytes, random);
      read_and_check<std::complex<double>, std::int32_t>(bytes, true, true);
      if (HasFailure()) {
        FAIL() << testing::PrintToString(bytes);
      }
    }
  }
}

#endif

}  // namespace
