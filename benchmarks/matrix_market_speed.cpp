// How fast Matrix Market files are read, in MB (10^6 bytes) of the file per second on one core.
//
//   matrix_market_speed FILE...    reads these files
//   matrix_market_speed DIRECTORY  writes a file of about 100 MB there, reads it and removes it
//
// The best of three reads counts, so the file is in the page cache.

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "sptrsv/io/matrix_market.hpp"

namespace {

// Random rows and columns, values with all their digits: what a dump of doubles looks like.
sptrsv::coordinate_matrix<double> random_matrix() {
  constexpr std::int32_t dimension = 1'000'000;
  constexpr int entries = 3'000'000;
  std::mt19937_64 random(1);
  sptrsv::coordinate_matrix<double> matrix;
  matrix.rows = dimension;
  matrix.cols = dimension;
  for (int k = 0; k < entries; ++k) {
    matrix.row_indices.push_back(static_cast<std::int32_t>(random() % dimension));
    matrix.column_indices.push_back(static_cast<std::int32_t>(random() % dimension));
    matrix.values.push_back(static_cast<double>(random() >> 11) / 9007199254740992.0 - 0.5);
  }
  return matrix;
}

template <class Value>
std::size_t read(const std::string& path) {
  sptrsv::matrix_market_options options;
  options.expand_symmetry = false;
  return sptrsv::read_matrix_market<Value>(path, nullptr, options).values.size();
}

void measure(const std::string& path) {
  const bool is_complex = sptrsv::read_matrix_market_header(path).field == sptrsv::mm_field::complex;
  double seconds = std::numeric_limits<double>::infinity();
  std::size_t entries = 0;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    entries = is_complex ? read<std::complex<double>>(path) : read<double>(path);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    seconds = std::min(seconds, elapsed.count());
  }
  const auto megabytes = static_cast<double>(std::filesystem::file_size(path)) * 1e-6;
  std::printf("%8.1f MB %10zu entries %8.4f s %7.1f MB/s  %s\n", megabytes, entries, seconds,
              megabytes / seconds, path.c_str());
}

void measure_generated(const std::filesystem::path& directory) {
  const auto path = directory / "matrix_market_speed.mtx";
  sptrsv::write_matrix_market(path.string(), random_matrix());
  measure(path.string());
  std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE... | DIRECTORY\n", argv[0]);
    return 2;
  }
  try {
    for (int k = 1; k < argc; ++k) {
      if (std::filesystem::is_directory(argv[k])) {
        measure_generated(argv[k]);
      } else {
        measure(argv[k]);
      }
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", argv[0], failure.what());
    return 1;
  }
  return 0;
}
