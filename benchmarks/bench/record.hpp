// The results of a run over all types: on the terminal, in the file of results, and the progress.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/terminal/progress.hpp"
#include "options.hpp"
#include "terminal.hpp"

namespace sptrsv_benchmarks {

/// The results so far.
class run_record {
 public:
  /// `systems`: number of systems to measure.
  run_record(const bench_options& options, environment where, const std::string& baseline,
             std::size_t systems)
      : options_(options),
        environment_(std::move(where)),
        systems_(systems),
        progress_(options.progress || common::stderr_is_terminal()) {
    print_environment(environment_);
    print_heading(baseline);
    write_json();
  }

  /// Adds and prints the rows of one system.
  void add(const std::vector<result_row>& rows) {
    progress_.clear();
    for (const result_row& row : rows) {
      print_row(row, environment_, &row == rows.data());
      failed_ = failed_ || row.status == row_status::wrong || row.status == row_status::failed;
      rows_.push_back(row);
    }
    std::fflush(stdout);
  }
  void add_failure(const std::string& matrix, const std::string& what) {
    progress_.clear();
    std::printf("%-34s FAILED: %s\n", matrix.c_str(), what.c_str());
    failed_ = true;
  }
  /// Counts a finished system and writes the file, so that an interrupted run leaves its results.
  void finish_system() {
    ++done_;
    write_json();
  }

  /// Returns whether the time limit has passed.
  [[nodiscard]] bool is_over() const { return options_.time_limit > 0 && seconds() > options_.time_limit; }
  /// Shows what the program does now, with an estimate of the remaining time.
  void show(const std::string& what) {
    std::string left;
    if (done_ > 0) {
      const double estimate = seconds() / static_cast<double>(done_) * static_cast<double>(systems_ - done_);
      left = ", about " + std::to_string(static_cast<int>(estimate)) + " s left";
    }
    progress_.begin("[" + std::to_string(done_ + 1) + "/" + std::to_string(systems_) + left + "] " + what);
  }

  /// Prints the totals. Returns the exit status of the program.
  int finish() {
    progress_.clear();
    if (done_ < systems_) {
      std::printf("time limit: %zu of %zu systems were not measured\n", systems_ - done_, systems_);
    }
    std::printf("\n");
    print_totals(rows_, environment_);
    std::printf("total time: %.0f s\n", seconds());
    return failed_ ? 1 : 0;
  }

 private:
  void write_json() const {
    if (options_.json.empty()) {
      return;
    }
    write_results(options_.json, environment_, rows_);
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  bench_options options_;
  environment environment_;
  std::size_t systems_;
  common::progress_line progress_;
  std::size_t done_ = 0;
  std::vector<result_row> rows_;
  bool failed_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sptrsv_benchmarks
