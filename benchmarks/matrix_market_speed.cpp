// matrix_market_speed: measures how fast Matrix Market files are read, in MB (10^6 bytes) of the file per
// second on one core. The best of three reads counts, so the file is in the page cache. `--help` lists the
// arguments.

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/matrix_market/matrix_market.hpp"

namespace {

/// Returns a matrix with random rows, columns and values. The values have all their digits, as in a file that
/// a program wrote.
sptrsv_common::coordinate_matrix<double> random_matrix() {
  constexpr std::int32_t dimension = 1'000'000;
  constexpr int entries = 3'000'000;
  std::mt19937_64 random(1);
  sptrsv_common::coordinate_matrix<double> matrix;
  matrix.rows = dimension;
  matrix.cols = dimension;
  for (int k = 0; k < entries; ++k) {
    matrix.row_indices.push_back(static_cast<std::int32_t>(random() % dimension));
    matrix.column_indices.push_back(static_cast<std::int32_t>(random() % dimension));
    matrix.values.push_back(static_cast<double>(random() >> 11) / 9007199254740992.0 - 0.5);
  }
  return matrix;
}

/// Reads a file and returns its number of entries.
template <class Value>
std::size_t read(const std::string& path) {
  sptrsv_common::matrix_market_options options;
  options.expand_symmetry = false;
  return sptrsv_common::read_matrix_market<Value>(path, nullptr, options).values.size();
}

/// Measures a file and prints its line.
void measure(const std::string& path) {
  const bool is_complex =
      sptrsv_common::read_matrix_market_header(path).field == sptrsv_common::mm_field::complex;
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

/// Measures a file of about 100 MB that it writes to the directory and removes.
void measure_generated(const std::filesystem::path& directory) {
  const auto path = directory / "matrix_market_speed.mtx";
  sptrsv_common::write_matrix_market(path.string(), random_matrix());
  measure(path.string());
  std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments("matrix_market_speed",
                                        "Measures how fast Matrix Market files are read on one core.");
  std::vector<std::string> paths;
  arguments.add_positionals(
      "PATH", paths, true,
      "Files to read, or directories. In a directory the program writes a file of about "
      "100 MB, reads it and removes it.");
  return arguments.run(argc, argv, [&] {
    for (const std::string& path : paths) {
      if (std::filesystem::is_directory(path)) {
        measure_generated(path);
      } else {
        measure(path);
      }
    }
    return 0;
  });
}
