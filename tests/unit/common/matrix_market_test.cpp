#include "common/matrix_market/matrix_market.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <locale>
#include <random>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace std::string_literals;
using sptrsv::errc;
using sptrsv_common::coordinate_matrix;
using sptrsv_common::mm_field;
using sptrsv_common::mm_format;
using sptrsv_common::mm_symmetry;

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";
const std::string real_symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string pattern_general = "%%MatrixMarket matrix coordinate pattern general\n";

template <class Value = double, class Index = std::int32_t>
coordinate_matrix<Value, Index> read_text(const std::string& text,
                                          sptrsv_common::matrix_market_header* header = nullptr,
                                          const sptrsv_common::matrix_market_options& options = {}) {
  std::istringstream stream(text);
  return sptrsv_common::read_matrix_market<Value, Index>(stream, header, options);
}

template <class Value, class Index>
std::string write_text(const coordinate_matrix<Value, Index>& matrix,
                       mm_symmetry symmetry = mm_symmetry::general) {
  std::ostringstream stream;
  sptrsv_common::write_matrix_market(stream, matrix, symmetry);
  return stream.str();
}

template <class Function>
errc code_of(Function&& function) {
  try {
    function();
  } catch (const sptrsv::error& failure) {
    return failure.code();
  }
  throw std::logic_error("no sptrsv::error was thrown");
}

template <class Value>
bool same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Value)) == 0);
}

// A file for one test and process (ctest runs many at once), which the destructor removes.
class temporary_file {
 public:
  explicit temporary_file(const std::string& suffix)
      : path_(testing::TempDir() + "sptrsv_matrix_market_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + suffix) {}
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void assign(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

 private:
  std::string path_;
};

// ---- numbers

template <class Real>
void expect_parsed_as(const std::string& text, Real expected) {
  const auto number = sptrsv_common::detail::parse_real<Real>(text);
  ASSERT_NE(number.status, sptrsv_common::detail::number_status::malformed) << text;
  EXPECT_EQ(std::memcmp(&number.value, &expected, sizeof(Real)), 0) << text << " " << number.value;
  EXPECT_EQ(number.status == sptrsv_common::detail::number_status::overflow, std::isinf(expected)) << text;
}

void expect_parsed_as_c_does(const std::string& text) {
  expect_parsed_as<double>(text, std::strtod(text.c_str(), nullptr));
  expect_parsed_as<float>(text, std::strtof(text.c_str(), nullptr));
}

TEST(MatrixMarketNumber, AgreesWithTheCLibraryOnHardCases) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "0.0",
                           "-0e99999999999",
                           "1",
                           "-1.",
                           ".5",
                           "+.5e1",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "9007199254740991",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740993e-1",
                           "16777217",
                           "16777217e-1",
                           "1.00000017881393421514957253748434595763683319091796875001",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.5e-324",
                           "1e-400",
                           "-1e-400",
                           "1e-46",
                           "1.4e-45",
                           "1e39",
                           "3.4028235e38",
                           "3.4028236e38",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "-1e309",
                           "1e99999999999999999999",
                           "1e-99999999999999999999",
                           "0.000000000000000000000000000000000001",
                           "123456789012345678901234567890",
                           "00000000000000000000001.50",
                           "12345678901234567890.",
                           "18446744073709551617",
                           "184467440737095516.17",
                           "8.5899345920000005e9",
                           "7.0064923216240854e-46"}) {
    expect_parsed_as_c_does(text);
  }
}

TEST(MatrixMarketNumber, AgreesWithTheCLibraryOnLongDigits) {
  expect_parsed_as_c_does("0." + std::string(400, '0') + "1e400");
  expect_parsed_as_c_does("0." + std::string(400, '0') + "1e-400");
  expect_parsed_as_c_does("1" + std::string(400, '0') + "e-400");
  expect_parsed_as_c_does("1" + std::string(400, '0'));
  expect_parsed_as_c_does("9007199254740993." + std::string(300, '0') + "1");
}

TEST(MatrixMarketNumber, AgreesWithTheCLibraryOnRandomText) {
  std::mt19937_64 random(7);
  for (int k = 0; k < 50000; ++k) {
    std::string text = random() % 2 ? "-" : "";
    text += std::to_string(random() >> (random() % 64));
    text.insert(text.size() - random() % (text.size() - (text[0] == '-')), random() % 3 ? "." : "");
    if (random() % 2) {
      text += (random() % 2 ? "e" : "E-") + std::to_string(random() % (random() % 4 ? 25 : 330));
    }
    expect_parsed_as_c_does(text);
  }
}

TEST(MatrixMarketNumber, ReadsFortranExponents) {
  expect_parsed_as<double>("1.0D+03", 1000);
  expect_parsed_as<double>("-2.5d-01", -0.25);
  expect_parsed_as<double>("12345678901234567D280", 12345678901234567e280);
  expect_parsed_as<float>("+1.17D-38", 1.17e-38F);
}

TEST(MatrixMarketNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"",    "+",   "-",   ".", "-.", "e5", ".e5",   "1e", "1e+", "1d-",
                           "+-1", "--1", "-+1", "x", "i",  "na", "+-inf", " 1", "1 ",  "1d1d1"}) {
    EXPECT_EQ(sptrsv_common::detail::parse_real<double>(text).status,
              sptrsv_common::detail::number_status::malformed)
        << text;
  }
}

TEST(MatrixMarketNumber, ReadsNonFiniteValues) {
  const auto matrix = read_text(real_general +
                                "1 1 7\n1 1 inf\n1 1 -Inf\n1 1 +INFINITY\n1 1 nan\n1 1 -NaN\n"
                                "1 1 nan(12)\n1 1 iNf\n");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(matrix.values[0], inf);
  EXPECT_EQ(matrix.values[1], -inf);
  EXPECT_EQ(matrix.values[2], inf);
  EXPECT_TRUE(std::isnan(matrix.values[3]) && !std::signbit(matrix.values[3]));
  EXPECT_TRUE(std::isnan(matrix.values[4]) && std::signbit(matrix.values[4]));
  EXPECT_TRUE(std::isnan(matrix.values[5]));
  EXPECT_EQ(matrix.values[6], inf);
}

// ---- reading

struct malformed_text {
  std::string text;
  std::int64_t line;
  std::string message;  // a part of it
};

void expect_parse_errors(const std::vector<malformed_text>& cases) {
  for (const auto& [text, line, message] : cases) {
    try {
      read_text(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const sptrsv::parse_error& failure) {
      EXPECT_EQ(failure.line(), line) << text;
      EXPECT_NE(std::string(failure.what()).find(message), std::string::npos)
          << text << "\n  says: " << failure.what() << "\n  without: " << message;
    }
  }
}

TEST(MatrixMarketReader, ReadsARealGeneralFile) {
  sptrsv_common::matrix_market_header header;
  const auto matrix = read_text(real_general + "% a comment\n3 4 3\n1 1 1.5\n3 4 -2e3\n2 1 7\n", &header);
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.cols, 4);
  EXPECT_EQ(matrix.row_indices, (std::vector<std::int32_t>{0, 2, 1}));
  EXPECT_EQ(matrix.column_indices, (std::vector<std::int32_t>{0, 3, 0}));
  EXPECT_EQ(matrix.values, (std::vector<double>{1.5, -2000, 7}));
  EXPECT_EQ(header.field, mm_field::real);
  EXPECT_EQ(header.symmetry, mm_symmetry::general);
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.cols, 4);
  EXPECT_EQ(header.entries, 3);
}

TEST(MatrixMarketReader, ToleratesWhatFilesContain) {
  const std::string expected = write_text(read_text(real_general + "2 2 2\n1 1 1000\n2 2 0.5\n"));
  for (const std::string& text : {
           "%%matrixmarket MATRIX Coordinate REAL General\n2 2 2\n1 1 1000\n2 2 0.5\n"s,
           "%%MatrixMarket matrix coordinate double general\n2 2 2\n1 1 1000\n2 2 0.5\n"s,
           "%%MatrixMarket\tmatrix  coordinate real general \r\n2 2 2\r\n1 1 1000\r\n2 2 0.5\r\n"s,
           real_general +
               "%\n%x\n\n  \n 2\t2  2 \n\n% between\n\t1\t1\t1.0D+03\t\n \t% x\n\r\n+2 +2 +.5\n%\n\n  "s,
           real_general + "%\r\n\r\n2 2 2\n1 1 1e3\n2 2 5.E-1"s,
           real_general + "002 2 2\n01 1 1000\n2 00000000000000000000002 0.5\r"s,
       }) {
    EXPECT_EQ(write_text(read_text(text)), expected) << text;
  }
}

TEST(MatrixMarketReader, ReadsWhatToolsWriteAroundTheText) {
  const std::string expected = write_text(read_text(real_general + "2 2 2\n1 1 1000\n2 2 0.5\n"));
  const std::string plain = real_general + "%\n2 2 2\n1 1 1000\n\n2 2 0.5\n";
  std::string with_cr = plain;
  std::replace(with_cr.begin(), with_cr.end(), '\n', '\r');
  for (const std::string& text :
       {"\xEF\xBB\xBF" + plain, "  " + plain, with_cr, with_cr.substr(0, with_cr.size() - 1), plain + "\x1a",
        plain + "\x1a\n\n", plain + std::string(512, '\0'), plain + "\n% end of the file"s + "\n\0\n"s,
        "%%MatrixMarket matrix coordinate real general % by a tool\n2 2 2 % sizes\n1 1 1000 % pivot\n"
        "2 2 0.5\t%\n"s}) {
    EXPECT_EQ(write_text(read_text(text)), expected) << text;
  }
}

TEST(MatrixMarketReader, CountsLinesThatEndInCr) {
  expect_parse_errors({{"%%MatrixMarket matrix coordinate real general\r%\r1 1 1\r1 1 x\r", 4, "'x'"}});
}

TEST(MatrixMarketReader, ReadsArrayFilesByColumns) {
  sptrsv_common::matrix_market_header header;
  const auto matrix =
      read_text("%%MatrixMarket matrix array real general\n%\n2 3\n1\n2\n\n0\n-4e1\n% x\n5\n6\n", &header);
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.cols, 3);
  EXPECT_EQ(matrix.row_indices, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(matrix.column_indices, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(matrix.values, (std::vector<double>{1, 2, 0, -40, 5, 6}));
  EXPECT_EQ(header.format, mm_format::array);
  EXPECT_EQ(header.entries, 6);
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real general\n0 3\n", &header).values.size(), 0U);
  EXPECT_EQ(
      read_text<std::complex<double>>("%%MatrixMarket matrix array complex general\n1 1\n3 -4\n").values,
      (std::vector<std::complex<double>>{{3, -4}}));
}

TEST(MatrixMarketReader, ReadsVectors) {
  for (const std::string banner : {"%%MatrixMarket vector array real general\n3\n",
                                   "%%MatrixMarket matrix array unsigned-integer general\n%\n3 1\n"}) {
    const auto vector = read_text(banner + "1\n2\n3\n");
    EXPECT_EQ(vector.rows, 3);
    EXPECT_EQ(vector.cols, 1);
    EXPECT_EQ(vector.values, (std::vector<double>{1, 2, 3}));
  }
}

TEST(MatrixMarketReader, ReadsTheStoredTriangleOfSymmetricArrayFiles) {
  const auto text = [](const std::string& symmetry) {
    return "%%MatrixMarket matrix array real " + symmetry + "\n3 3\n";
  };
  const auto symmetric = read_text(text("symmetric") + "1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(symmetric.row_indices, (std::vector<std::int32_t>{0, 1, 0, 2, 0, 1, 2, 1, 2}));
  EXPECT_EQ(symmetric.column_indices, (std::vector<std::int32_t>{0, 0, 1, 0, 2, 1, 1, 2, 2}));
  EXPECT_EQ(symmetric.values, (std::vector<double>{1, 2, 2, 3, 3, 4, 5, 5, 6}));
  const auto skew = read_text(text("skew-symmetric") + "1\n2\n3\n");
  EXPECT_EQ(skew.row_indices, (std::vector<std::int32_t>{1, 0, 2, 0, 2, 1}));
  EXPECT_EQ(skew.column_indices, (std::vector<std::int32_t>{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(skew.values, (std::vector<double>{1, -1, 2, -2, 3, -3}));
}

TEST(MatrixMarketReader, NamesWhatTheInputIsInstead) {
  const auto message_of = [](const std::string& text) -> std::string {
    const temporary_file file(".mtx");
    file.assign(text);
    try {
      sptrsv_common::read_matrix_market<double>(file.path());
    } catch (const sptrsv::error& failure) {
      EXPECT_NE(std::string(failure.what()).find(file.path()), std::string::npos) << failure.what();
      return failure.what();
    }
    return "accepted";
  };
  std::string tar =
      "matrix/matrix.mtx" + std::string(240, '\0') + "ustar" + std::string(300, '\0') + real_general;
  for (const auto& [text, part] :
       std::vector<std::pair<std::string, std::string>>{{"\xFD" + "7zXZ\0rest"s, "xz -d"},
                                                        {"BZh91AY&SY", "bzip2 -d"},
                                                        {"\x28\xB5\x2F\xFDrest", "zstd -d"},
                                                        {"PK\x03\x04rest", "unzip"},
                                                        {tar, "tar archive"},
                                                        {"\xFF\xFE%\0%\0"s, "UTF-8"},
                                                        {"\xFE\xFF\0%\0%"s, "UTF-8"}}) {
    EXPECT_NE(message_of(text).find(part), std::string::npos) << message_of(text);
  }
}

TEST(MatrixMarketReader, ReadsIntegerFiles) {
  const std::string text =
      "%%MatrixMarket matrix coordinate integer general\n1 1 4\n1 1 +12\n1 1 -3\n1 1 9007199254740993\n"
      "1 1 100000000000000000000\n";
  EXPECT_EQ(read_text("%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 7\n").values,
            (std::vector<double>{7}));
  EXPECT_EQ(read_text(text).values, (std::vector<double>{12, -3, 9007199254740992, 1e20}));
  EXPECT_EQ(read_text<std::complex<float>>(text).values[1], std::complex<float>(-3));
}

TEST(MatrixMarketReader, GivesPatternEntriesTheValueOne) {
  const std::string text = pattern_general + "2 2 2\n1 2\n2 1\n";
  EXPECT_EQ(read_text<float>(text).values, (std::vector<float>{1, 1}));
  EXPECT_EQ(read_text<std::complex<double>>(text).values, (std::vector<std::complex<double>>{1, 1}));
}

TEST(MatrixMarketReader, ReadsComplexFiles) {
  const std::string text = "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 1 -2\n1 2 3.5 4\n";
  EXPECT_EQ(read_text<std::complex<double>>(text).values,
            (std::vector<std::complex<double>>{{1, -2}, {3.5, 4}}));
  EXPECT_EQ(code_of([&] { read_text<double>(text); }), errc::unsupported);
  EXPECT_EQ(read_text<std::complex<double>>(real_general + "1 1 1\n1 1 5\n").values[0], 5.0);
}

TEST(MatrixMarketReader, MirrorsEntriesDirectlyAfterTheirOrigin) {
  const std::string body = "2 2 2\n2 1 3\n2 2 0\n";
  for (const auto& [symmetry, upper] : std::vector<std::pair<std::string, double>>{
           {"symmetric", 3}, {"skew-symmetric", -3}, {"hermitian", 3}}) {
    const std::string text = "%%MatrixMarket matrix coordinate real " + symmetry + "\n" + body;
    const auto full = read_text(text);
    EXPECT_EQ(full.row_indices, (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(full.column_indices, (std::vector<std::int32_t>{0, 1, 1}));
    EXPECT_EQ(full.values, (std::vector<double>{3, upper, 0}));
    sptrsv_common::matrix_market_options stored;
    stored.expand_symmetry = false;
    EXPECT_EQ(read_text(text, nullptr, stored).values, (std::vector<double>{3, 0}));
  }
}

TEST(MatrixMarketReader, MirrorsComplexEntries) {
  for (const auto& [symmetry, upper] : std::vector<std::pair<std::string, std::complex<double>>>{
           {"symmetric", {3, 4}}, {"skew-symmetric", {-3, -4}}, {"hermitian", {3, -4}}}) {
    const auto full = read_text<std::complex<double>>("%%MatrixMarket matrix coordinate complex " + symmetry +
                                                      "\n2 2 1\n2 1 3 4\n");
    EXPECT_EQ(full.values, (std::vector<std::complex<double>>{{3, 4}, upper}));
  }
}

TEST(MatrixMarketReader, AcceptsANanOnASymmetricDiagonal) {
  EXPECT_TRUE(std::isnan(read_text(real_symmetric + "1 1 1\n1 1 nan\n").values[0]));
}

TEST(MatrixMarketReader, ReadsEmptyMatrices) {
  EXPECT_EQ(read_text(real_general + "0 0 0\n").rows, 0);
  EXPECT_EQ(read_text(real_general + "5 7 0").cols, 7);
  EXPECT_EQ(read_text(real_symmetric + "2 2 0\n\n%\n").values.size(), 0U);
}

TEST(MatrixMarketReader, ReadsTextOfManyBlocks) {
  coordinate_matrix<double, std::int64_t> matrix;
  matrix.rows = matrix.cols = 5'000'000'000;
  std::mt19937_64 random(3);
  for (int k = 0; k < 60000; ++k) {
    matrix.row_indices.push_back(static_cast<std::int64_t>(random() % 5'000'000'000));
    matrix.column_indices.push_back(static_cast<std::int64_t>(random() % 5'000'000'000));
    matrix.values.push_back(std::ldexp(static_cast<double>(random()), -70));
  }
  const std::string text = write_text(matrix);
  ASSERT_GT(text.size(), 5 * sptrsv_common::detail::matrix_market_text::block_bytes);
  const auto copy = read_text<double, std::int64_t>(text);
  EXPECT_EQ(copy.row_indices, matrix.row_indices);
  EXPECT_EQ(copy.column_indices, matrix.column_indices);
  EXPECT_TRUE(same_bits(copy.values, matrix.values));
  EXPECT_EQ(code_of([&] { read_text<double, std::int32_t>(text); }), errc::unsupported);
}

TEST(MatrixMarketReader, CountsLinesAcrossBlocks) {
  const std::string line = "%" + std::string(1000, 'x') + "\n";
  std::string text = real_general;
  for (int k = 0; k < 1000; ++k) {
    text += line;
  }
  try {
    read_text(text + "1 1 1\n1 2 0\n");
    FAIL();
  } catch (const sptrsv::parse_error& failure) {
    EXPECT_EQ(failure.line(), 1003);
  }
}

TEST(MatrixMarketReader, BoundsTheLengthOfALine) {
  constexpr std::size_t limit = sptrsv_common::detail::matrix_market_text::block_bytes;
  const auto with_comment = [](std::size_t length) {
    return real_general + std::string(length, '%') + "\n1 1 1\n1 1 4\n";
  };
  EXPECT_EQ(read_text(with_comment(limit - 1)).values[0], 4);
  try {
    read_text(with_comment(limit));
    FAIL();
  } catch (const sptrsv::parse_error& failure) {
    EXPECT_EQ(failure.line(), 2);
  }
}

// A stream that gives a few bytes at a time.
class dribbling_buffer : public std::streambuf {
 public:
  explicit dribbling_buffer(std::string text) : text_(std::move(text)) {}

 protected:
  int_type underflow() override {
    const std::size_t count = std::min<std::size_t>(7, text_.size() - given_);
    if (count == 0) {
      return traits_type::eof();
    }
    setg(&text_[given_], &text_[given_], &text_[given_] + count);
    given_ += count;
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string text_;
  std::size_t given_ = 0;
};

TEST(MatrixMarketReader, ReadsStreamsThatDribbleAndStreamsThatThrow) {
  dribbling_buffer buffer(real_general + "2 2 2\n1 1 123456789\n2 2 0.5\n");
  std::istream stream(&buffer);
  stream.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
  EXPECT_EQ(sptrsv_common::read_matrix_market<double>(stream).values, (std::vector<double>{123456789, 0.5}));
}

TEST(MatrixMarketReader, DoesNotTrustTheSizeLine) {
  const std::string text =
      real_general + "9223372036854775807 9223372036854775807 9223372036854775807\n1 1 1\n";
  const auto read = [](const std::string& t) { read_text<double, std::int64_t>(t); };
  EXPECT_EQ(code_of([&] { read(text); }), errc::parse_error);
  const temporary_file file(".mtx");
  file.assign(text);
  EXPECT_EQ(code_of([&] { sptrsv_common::read_matrix_market<double, std::int64_t>(file.path()); }),
            errc::parse_error);
}

TEST(MatrixMarketReader, ReservesNoMoreThanTheFileCanHold) {
  const temporary_file file(".mtx");
  file.assign(pattern_general + "9 9 3\n1 1\n2 2\n9 9\n");
  EXPECT_EQ(sptrsv_common::read_matrix_market<double>(file.path()).values.capacity(), 3U);
}

TEST(MatrixMarketReader, ReportsProgress) {
  std::string text = pattern_general + "9 9 300000\n";
  for (int k = 0; k < 300000; ++k) {
    text += "9 9\n";
  }
  std::vector<std::int64_t> reports;
  sptrsv_common::matrix_market_options options;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 300000);
    reports.push_back(done);
  };
  read_text(text, nullptr, options);
  EXPECT_EQ(reports, (std::vector<std::int64_t>{1 << 18, 300000}));
  options.progress = [](std::int64_t, std::int64_t) { throw std::runtime_error("cancelled"); };
  EXPECT_THROW(read_text(text, nullptr, options), std::runtime_error);
}

TEST(MatrixMarketReader, ReadsTheHeaderAlone) {
  const std::string text =
      "%%MatrixMarket matrix coordinate complex hermitian\n%\n5000000000 5000000000 9\nrubbish";
  std::istringstream stream(text);
  const temporary_file file(".mtx");
  file.assign(text);
  for (const auto& header : {sptrsv_common::read_matrix_market_header(stream),
                             sptrsv_common::read_matrix_market_header(file.path())}) {
    EXPECT_EQ(header.field, mm_field::complex);
    EXPECT_EQ(header.symmetry, mm_symmetry::hermitian);
    EXPECT_EQ(header.rows, 5'000'000'000);
    EXPECT_EQ(header.entries, 9);
  }
}

TEST(MatrixMarketReader, NamesTheFileAndTheLine) {
  const temporary_file file(".mtx");
  file.assign(real_general + "1 1 1\n1 1 x\n");
  try {
    sptrsv_common::read_matrix_market<double>(file.path());
    FAIL();
  } catch (const sptrsv::parse_error& failure) {
    EXPECT_EQ(failure.what(), "line 3: value 'x' is not a number (in '" + file.path() + "')");
  }
}

TEST(MatrixMarketReader, SaysWhenTheInputCannotBeRead) {
  EXPECT_EQ(code_of([] { sptrsv_common::read_matrix_market<double>(testing::TempDir() + "no/such/file"); }),
            errc::io_error);
  EXPECT_EQ(code_of([] { sptrsv_common::read_matrix_market<double>(testing::TempDir()); }), errc::io_error);
  std::ifstream closed;
  closed.setstate(std::ios::failbit);
  EXPECT_EQ(code_of([&] { sptrsv_common::read_matrix_market<double>(closed); }), errc::io_error);
}

// ---- malformed text

TEST(MatrixMarketErrors, Banner) {
  const std::string start = "%%MatrixMarket ";
  expect_parse_errors({
      {"", 1, "starts with '%%MatrixMarket'"},
      {"\n", 1, "starts with '%%MatrixMarket'"},
      {"%MatrixMarket matrix coordinate real general\n1 1 0\n", 1, "starts with"},
      {"1 1 0\n", 1, "starts with"},
      {start, 1, "banner ends before the object"},
      {start + "vector coordinate real general\n", 1,
       "format 'coordinate' is not supported; supported: array"},
      {start + "tensor array real general\n", 1,
       "object 'tensor' is not supported; supported: matrix, vector"},
      {start + "matrix dense real general\n2 2\n", 1, "format 'dense' is not supported"},
      {start + "matrix array pattern general\n2 2\n", 1, "a pattern has no values, so it cannot be an array"},
      {start + "vector array real symmetric\n1\n", 2, "a vector cannot be symmetric"},
      {start + "matrix coordinate\r\n", 1, "banner ends before the field"},
      {start + "matrix coordinate quaternion general\n", 1,
       "field 'quaternion' is not supported; supported: real"},
      {start + "matrix coordinate real\n1 1 0\n", 1, "banner ends before the symmetry"},
      {start + "matrix coordinate real lower\n", 1, "symmetry 'lower' is not supported"},
      {start + "matrix coordinate real general x\n", 1, "unexpected 'x'"},
      {start + "matrix coordinate r\0al general\n"s, 1, "field 'r?al'"},
      {start + "matrix coordinate " + std::string(99, 'r') + " general\n", 1, "rrr...'"},
      {start + "matrix coordinate pattern skew-symmetric\n1 1 0\n", 1, "cannot be skew-symmetric"},
  });
}

TEST(MatrixMarketErrors, SizeLine) {
  expect_parse_errors({
      {real_general, 2, "ends before the size line"},
      {real_general + "% only\n\n%\n", 5, "ends before the size line"},
      {real_general + "2\n", 2, "ends before the number of columns"},
      {real_general + "%\n2 2\r\n", 3, "ends before the number of entries"},
      {real_general + "2 2 1 1\n", 2, "unexpected '1'"},
      {"%%MatrixMarket matrix array real general\n2 2 4\n", 2, "unexpected '4'"},
      {"%%MatrixMarket matrix array real general\n4294967296 4294967296\n", 2, "does not fit 64 bits"},
      {real_general + "-2 2 1\n", 2, "number of rows '-2' is negative"},
      {real_general + "2 -2 1\n", 2, "number of columns '-2' is negative"},
      {real_general + "2 2 -99999999999999999999\n", 2, "is negative"},
      {real_general + "2 2 9223372036854775808\n", 2, "'9223372036854775808' does not fit 64 bits"},
      {real_general + "99999999999999999999999999 2 1\n", 2, "does not fit 64 bits"},
      {real_general + "2 2 1.5\n", 2, "number of entries '1.5' is not an integer"},
      {real_general + "2 two 1\n", 2, "number of columns 'two' is not an integer"},
      {real_general + "2 + 1\n", 2, "'+' is not an integer"},
      {real_symmetric + "2 3 1\n", 2, "2 x 3 is not square"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 3 0\n", 2, "not square"},
      {"%%MatrixMarket matrix coordinate real hermitian\n3 2 0\n", 2, "not square"},
  });
}

TEST(MatrixMarketErrors, Indices) {
  const std::string start = real_general + "2 3 1\n";
  expect_parse_errors({
      {start + "0 1 1\n", 3, "row index 0 is out of range 1..2"},
      {start + "3 1 1\n", 3, "row index 3 is out of range 1..2"},
      {start + "-1 1 1\n", 3, "row index -1 is out of range 1..2"},
      {start + "1 0 1\n", 3, "column index 0 is out of range 1..3"},
      {start + "%\n\n1 4 1\n", 5, "column index 4 is out of range 1..3"},
      {start + "1 99999999999999999999 1\n", 3, "column index '99999999999999999999' is out of range 1..3"},
      {start + "1 18446744073709551617 1\n", 3, "is out of range 1..3"},
      {start + "1 4294967297 1\n", 3, "is out of range 1..3"},
      {start + "1.0 1 1\n", 3, "row index '1.0' is not an integer"},
      {start + "a 1 1\n", 3, "row index 'a' is not an integer"},
      {start + "1\n", 3, "column index is missing"},
      {start + "1\r1 1\n", 3, "column index is missing"},
      {real_general + "0 0 1\n1 1 1\n", 3, "row index 1 is out of range 1..0"},
  });
}

TEST(MatrixMarketErrors, Values) {
  const std::string start = real_general + "2 2 1\n";
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n";
  expect_parse_errors({
      {start + "1 1\n", 3, "value is missing"},
      {start + "1 1 \r\n", 3, "value is missing"},
      {start + "1 1 x\n", 3, "value 'x' is not a number"},
      {start + "1 1 1,5\n", 3, "value '1,5' is not a number"},
      {start + "1 1 1e\n", 3, "value '1e' is not a number"},
      {start + "1 1 0x10\n", 3, "'0x10' is not a number"},
      {start + "1 1 infinite\n", 3, "'infinite' is not a number"},
      {start + "1 1 1e400\n", 3, "value '1e400' is too large"},
      {start + "1 1 1\0\n"s, 3, "value '1?' is not a number"},
      {start + "1 1 1 2\n", 3, "unexpected '2' at the end of the line"},
      {start + "1 1 1 c % d\n", 3, "unexpected 'c' at the end of the line"},
      {integer + "1 1 1.5\n", 3, "value '1.5' is not an integer"},
      {integer + "1 1\n", 3, "value is missing"},
      {integer + "1 1 nan\n", 3, "value 'nan' is not an integer"},
      {pattern_general + "2 2 1\n1 1 1\n", 3, "unexpected '1' at the end of the line"},
  });
  EXPECT_EQ(code_of([&] { read_text<float>(start + "1 1 1e39\n"); }), errc::parse_error);
  EXPECT_EQ(
      code_of([&] {
        read_text<std::complex<double>>("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n");
      }),
      errc::parse_error);
}

TEST(MatrixMarketErrors, NumberOfEntries) {
  expect_parse_errors({
      {real_general + "2 2 3\n1 1 1\n2 2 2\n", 5, "the file ends after 2 of 3 entries"},
      {real_general + "2 2 2\n1 1 1", 4, "the file ends after 1 of 2 entries"},
      {real_general + "2 2 1\n1 1 1\n\n2 2 2\n", 5, "goes on after its 1 entries"},
      {real_general + "2 2 0\n% fine\njunk\n", 4, "goes on after its 0 entries"},
      {real_general + "2 2 1\n1 1 1\n\0 2\n"s, 4, "goes on after its 1 entries"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", 6, "the file ends after 3 of 4 entries"},
  });
}

TEST(MatrixMarketErrors, Symmetry) {
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
  expect_parse_errors({
      {real_symmetric + "2 2 2\n2 1 1\n1 2 1\n", 4, "entry (1, 2) is above the diagonal"},
      {skew + "2 2 1\n1 2 1\n", 3, "entry (1, 2) is above the diagonal"},
      {skew + "2 2 1\n2 2 1\n", 3, "diagonal entry 2 of a skew-symmetric matrix is not zero"},
      {skew + "2 2 1\n2 2 nan\n", 3, "diagonal entry 2 of a skew-symmetric matrix is not zero"},
  });
  expect_parse_errors({{"%%MatrixMarket matrix array real hermitian\n1 2\n1\n", 2, "not square"}});
  const std::string hermitian = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n1 1 2 ";
  EXPECT_EQ(read_text<std::complex<double>>(hermitian + "0\n").values[0], 2.0);
  EXPECT_EQ(code_of([&] { read_text<std::complex<double>>(hermitian + "1e-300\n"); }), errc::parse_error);
}

// ---- writing, and reading again

template <class Value, class Index>
struct types {
  using value_type = Value;
  using index_type = Index;
};

template <class Real>
Real random_real(std::mt19937_64& random) {
  for (;;) {
    const std::uint64_t bits = random();
    Real value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value)) {  // only the sign of a NaN survives
      return random() % 8 == 0 ? static_cast<Real>(random() % 100) : value;
    }
  }
}

template <class Value>
Value random_value(std::mt19937_64& random) {
  if constexpr (sptrsv::detail::is_complex_v<Value>) {
    const auto real = random_real<typename Value::value_type>(random);
    return {real, random_real<typename Value::value_type>(random)};
  } else {
    return random_real<Value>(random);
  }
}

template <class Types>
class MatrixMarketRoundTrip : public testing::Test {
 public:
  using value_type = typename Types::value_type;
  using index_type = typename Types::index_type;
  using matrix_type = coordinate_matrix<value_type, index_type>;

  // As the reader returns it: each mirrored entry follows its origin.
  static matrix_type random_matrix(mm_symmetry symmetry) {
    std::mt19937_64 random(11);
    matrix_type matrix;
    matrix.rows = 40;
    matrix.cols = symmetry == mm_symmetry::general ? 50 : 40;
    for (int k = 0; k < 500; ++k) {
      auto row = static_cast<index_type>(random() % 40);
      auto column = static_cast<index_type>(random() % static_cast<std::uint64_t>(matrix.cols));
      value_type value = random_value<value_type>(random);
      if (symmetry != mm_symmetry::general && row < column) {
        std::swap(row, column);
      }
      if (row == column && symmetry == mm_symmetry::skew_symmetric) {
        value = 0;
      } else if (row == column && symmetry == mm_symmetry::hermitian) {
        value = std::real(value);
      }
      append(matrix, row, column, value);
      if (symmetry != mm_symmetry::general && row != column) {
        append(matrix, column, row, sptrsv_common::detail::mirrored(value, symmetry));
      }
    }
    return matrix;
  }

  static void append(matrix_type& matrix, index_type row, index_type column, value_type value) {
    matrix.row_indices.push_back(row);
    matrix.column_indices.push_back(column);
    matrix.values.push_back(value);
  }

  static void expect_same(const matrix_type& a, const matrix_type& b) {
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.cols, b.cols);
    EXPECT_EQ(a.row_indices, b.row_indices);
    EXPECT_EQ(a.column_indices, b.column_indices);
    EXPECT_TRUE(same_bits(a.values, b.values));
  }
};

using all_types =
    testing::Types<types<float, std::int32_t>, types<double, std::int32_t>, types<double, std::int64_t>,
                   types<std::complex<float>, std::int32_t>, types<std::complex<double>, std::int64_t>>;
TYPED_TEST_SUITE(MatrixMarketRoundTrip, all_types, );

TYPED_TEST(MatrixMarketRoundTrip, IsExactForEverySymmetry) {
  using Value = typename TestFixture::value_type;
  using Index = typename TestFixture::index_type;
  for (const auto symmetry :
       {mm_symmetry::general, mm_symmetry::symmetric, mm_symmetry::skew_symmetric, mm_symmetry::hermitian}) {
    const auto matrix = TestFixture::random_matrix(symmetry);
    const std::string text = write_text(matrix, symmetry);
    this->expect_same(read_text<Value, Index>(text), matrix);
    sptrsv_common::matrix_market_options stored;
    stored.expand_symmetry = false;
    const auto lower = read_text<Value, Index>(text, nullptr, stored);
    EXPECT_EQ(write_text(lower, symmetry), text);
  }
}

TYPED_TEST(MatrixMarketRoundTrip, IsExactForFiles) {
  using Value = typename TestFixture::value_type;
  using Index = typename TestFixture::index_type;
  const auto matrix = TestFixture::random_matrix(mm_symmetry::general);
  const temporary_file file(".mtx");
  sptrsv_common::write_matrix_market(file.path(), matrix);
  this->expect_same(sptrsv_common::read_matrix_market<Value, Index>(file.path()), matrix);
}

coordinate_matrix<double> small_matrix() { return {2, 2, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 2.5, -3, -3}}; }

/// A file that is cut before its last entry has too few entries.
TEST(MatrixMarketReader, RefusesEveryTruncationBeforeTheLastEntry) {
  const std::vector<std::string> texts = {
      real_general + "% a comment\n3 4 4\n1 1 1.5\n3 4 -2e3\n2 1 7\n1 4 .25\n",
      real_symmetric + "3 3 4\n1 1 4\n2 1 -1.25e-3\n3 3 1e+100\n3 2 12345678.5\n",
      pattern_general + "4 4 5\n1 1\n2 2\n3 3\n4 4\n4 1\n",
      "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 1 -3\n2 2 5 0\n",
      "%%matrixmarket MATRIX coordinate double General\r\n% x\r\n\r\n2 2 2\r\n1\t1\t+1.0D+03\r\n\r\n2 2 "
      "nan\r\n",
      real_general + "0 0 0\n"};
  for (const std::string& text : texts) {
    EXPECT_NO_THROW(read_text<std::complex<double>>(text)) << text;
    const std::size_t last_line = text.rfind('\n', text.size() - 2) + 1;
    for (std::size_t length = 0; length <= last_line; ++length) {
      EXPECT_THROW(read_text<std::complex<double>>(text.substr(0, length)), sptrsv::error)
          << testing::PrintToString(text.substr(0, length));
    }
  }
}

TEST(MatrixMarketWriter, WritesShortText) {
  EXPECT_EQ(write_text(small_matrix()), real_general + "2 2 4\n1 1 1\n2 2 2.5\n2 1 -3\n1 2 -3\n");
  EXPECT_EQ(write_text(small_matrix(), mm_symmetry::symmetric),
            real_symmetric + "2 2 3\n1 1 1\n2 2 2.5\n2 1 -3\n");
  EXPECT_EQ(write_text(small_matrix(), mm_symmetry::hermitian),
            write_text(small_matrix(), mm_symmetry::symmetric));
  EXPECT_EQ(write_text(coordinate_matrix<float>{1, 1, {0}, {0}, {0.1F}}), real_general + "1 1 1\n1 1 0.1\n");
  EXPECT_EQ(write_text(coordinate_matrix<std::complex<double>>{1, 1, {0}, {0}, {{0.5, -1}}},
                       mm_symmetry::symmetric),
            "%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 0.5 -1\n");
}

TEST(MatrixMarketWriter, WritesVectorsAsArrayFiles) {
  const std::vector<double> columns{1, 2.5, -3, 4};
  std::ostringstream stream;
  sptrsv_common::write_matrix_market(stream, sptrsv::dense_view<const double>(columns));
  EXPECT_EQ(stream.str(), "%%MatrixMarket matrix array real general\n4 1\n1\n2.5\n-3\n4\n");
  stream.str("");
  sptrsv_common::write_matrix_market(stream,
                                     sptrsv::dense_view<const double>::row_major(columns.data(), 2, 2, 2));
  EXPECT_EQ(stream.str(), "%%MatrixMarket matrix array real general\n2 2\n1\n-3\n2.5\n4\n");

  const std::vector<std::complex<float>> values{{1, -2}, {0.1F, 0}};
  const temporary_file file(".mtx");
  sptrsv_common::write_matrix_market(file.path(), sptrsv::dense_view<const std::complex<float>>(values));
  EXPECT_EQ(file.bytes(), "%%MatrixMarket matrix array complex general\n2 1\n1 -2\n0.1 0\n");
  EXPECT_EQ(sptrsv_common::read_matrix_market<std::complex<float>>(file.path()).values, values);
}

TEST(MatrixMarketWriter, DoesNotUseTheLocale) {
  struct comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::stringstream stream;
  stream.imbue(std::locale(std::locale::classic(), new comma));
  const coordinate_matrix<double> matrix{4000, 4000, {3999}, {1234}, {1234567.5}};
  sptrsv_common::write_matrix_market(stream, matrix);
  EXPECT_EQ(stream.str(), real_general + "4000 4000 1\n4000 1235 1234567.5\n");
  EXPECT_EQ(sptrsv_common::read_matrix_market<double>(stream).values, matrix.values);
}

TEST(MatrixMarketWriter, RefusesWhatHasNotTheSymmetry) {
  const auto code_for = [](const coordinate_matrix<double>& matrix, mm_symmetry symmetry) {
    return code_of([&] { write_text(matrix, symmetry); });
  };
  auto matrix = small_matrix();
  EXPECT_EQ(code_for(matrix, mm_symmetry::skew_symmetric), errc::invalid_argument);
  matrix.values[3] = 3;
  EXPECT_EQ(code_for(matrix, mm_symmetry::symmetric), errc::invalid_argument);
  EXPECT_EQ(code_for({2, 2, {0}, {1}, {1}}, mm_symmetry::symmetric), errc::invalid_argument);
  EXPECT_EQ(code_for({3, 3, {1, 2, 0}, {0, 0, 1}, {1, 1, 1}}, mm_symmetry::symmetric),
            errc::invalid_argument);
  EXPECT_EQ(code_for({3, 3, {1, 0}, {0, 2}, {1, 1}}, mm_symmetry::symmetric), errc::invalid_argument);
  EXPECT_EQ(code_for({2, 3, {}, {}, {}}, mm_symmetry::symmetric), errc::not_square);
  EXPECT_EQ(
      code_of([] {
        write_text(coordinate_matrix<std::complex<double>>{1, 1, {0}, {0}, {{1, 1}}}, mm_symmetry::hermitian);
      }),
      errc::invalid_argument);
}

TEST(MatrixMarketWriter, RefusesInvalidMatrices) {
  const auto code_for = [](const coordinate_matrix<double>& matrix) {
    return code_of([&] { write_text(matrix); });
  };
  EXPECT_EQ(code_for({2, 2, {0}, {0}, {}}), errc::size_mismatch);
  EXPECT_EQ(code_for({2, 2, {0}, {0, 1}, {1}}), errc::size_mismatch);
  EXPECT_EQ(code_for({-1, 2, {}, {}, {}}), errc::invalid_argument);
  EXPECT_EQ(code_for({2, 2, {2}, {0}, {1}}), errc::index_out_of_range);
  EXPECT_EQ(code_for({2, 2, {0}, {-1}, {1}}), errc::index_out_of_range);
}

TEST(MatrixMarketWriter, SaysWhenTheOutputCannotBeWritten) {
  EXPECT_EQ(code_of([] {
              sptrsv_common::write_matrix_market(testing::TempDir() + "no/such/file", small_matrix());
            }),
            errc::io_error);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  EXPECT_EQ(code_of([&] { sptrsv_common::write_matrix_market(broken, small_matrix()); }), errc::io_error);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_EQ(code_of([] { sptrsv_common::write_matrix_market("/dev/full"s, small_matrix()); }),
              errc::io_error);
  }
}

// ---- gzip

#ifdef SPTRSV_WITH_ZLIB

std::string gzip(const std::string& text) {
  const temporary_file file("_bytes.gz");
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return file.bytes();
}

TEST(MatrixMarketGzip, WritesByNameAndReadsByContent) {
  const temporary_file packed(".mtx.gz");
  sptrsv_common::write_matrix_market(packed.path(), small_matrix());
  EXPECT_EQ(packed.bytes().substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(sptrsv_common::read_matrix_market<double>(packed.path()).values, small_matrix().values);

  const temporary_file plain_name(".mtx");
  plain_name.assign(packed.bytes());
  EXPECT_EQ(sptrsv_common::read_matrix_market<double>(plain_name.path()).values, small_matrix().values);
  EXPECT_EQ(sptrsv_common::read_matrix_market_header(plain_name.path()).entries, 4);
  EXPECT_EQ(read_text(packed.bytes()).values, small_matrix().values);

  const temporary_file plain_text("_plain.gz");
  plain_text.assign(write_text(small_matrix()));
  EXPECT_EQ(sptrsv_common::read_matrix_market<double>(plain_text.path()).values, small_matrix().values);
}

TEST(MatrixMarketGzip, ReadsLargeFilesOfSeveralMembers) {
  coordinate_matrix<double> matrix;
  matrix.rows = matrix.cols = 100000;
  for (int k = 0; k < 100000; ++k) {
    matrix.row_indices.push_back(k);
    matrix.column_indices.push_back(99999 - k);
    matrix.values.push_back(std::sqrt(k));
  }
  const std::string text = write_text(matrix);
  ASSERT_GT(text.size(), 4 * sptrsv_common::detail::matrix_market_text::block_bytes);
  const std::size_t cut = text.size() / 3;
  const auto copy = read_text(gzip(text.substr(0, cut)) + gzip("") + gzip(text.substr(cut)));
  EXPECT_EQ(copy.row_indices, matrix.row_indices);
  EXPECT_TRUE(same_bits(copy.values, matrix.values));
}

TEST(MatrixMarketGzip, RefusesDamagedStreams) {
  const std::string packed = gzip(write_text(small_matrix()));
  for (std::size_t length = 2; length < packed.size(); ++length) {
    EXPECT_EQ(code_of([&] { read_text(packed.substr(0, length)); }), errc::io_error) << length;
  }
  EXPECT_EQ(code_of([&] { read_text(packed + "x"); }), errc::io_error);
  std::string wrong_checksum = packed;
  wrong_checksum[packed.size() - 5] ^= 1;
  EXPECT_EQ(code_of([&] { read_text(wrong_checksum); }), errc::io_error);
  std::string wrong_method = packed;
  wrong_method[2] = 7;
  EXPECT_EQ(code_of([&] { read_text(wrong_method); }), errc::io_error);
}

TEST(MatrixMarketGzip, NamesTheDamagedFile) {
  const std::string packed = gzip(write_text(small_matrix()));
  const temporary_file file(".mtx.gz");
  std::string wrong_method = packed;
  wrong_method[2] = 7;
  for (const std::string& bytes : {packed.substr(0, packed.size() / 2), packed + "x", wrong_method}) {
    file.assign(bytes);
    try {
      sptrsv_common::read_matrix_market<double>(file.path());
      FAIL();
    } catch (const sptrsv::error& failure) {
      EXPECT_NE(std::string(failure.what()).find(file.path()), std::string::npos) << failure.what();
    }
  }
}

TEST(MatrixMarketGzip, SaysWhenTheOutputCannotBeWritten) {
  EXPECT_EQ(
      code_of([] { sptrsv_common::write_matrix_market(testing::TempDir() + "no/such.gz", small_matrix()); }),
      errc::io_error);
}

#else

TEST(MatrixMarketGzip, IsRefusedWithoutZlib) {
  EXPECT_EQ(code_of([] { read_text("\x1f\x8b\x08"); }), errc::unsupported);
  EXPECT_EQ(code_of([] { sptrsv_common::write_matrix_market(testing::TempDir() + "a.gz", small_matrix()); }),
            errc::unsupported);
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "a.gz"));
}

#endif

}  // namespace
