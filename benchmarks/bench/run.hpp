// A run of the benchmark: prepares systems ahead on other threads, measures one after the other, shows and
// writes the results.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "candidate.hpp"
#include "examples/support/progress.hpp"
#include "measure.hpp"
#include "terminal.hpp"

namespace sptrsv_benchmarks {

template <class Value, class Index>
class bench_run {
  using system = bench_system<Value, Index>;
  using prepared = std::future<std::shared_ptr<const system>>;

 public:
  bench_run(const bench_options& options, std::vector<matrix_source> sources, machines& available,
            environment where)
      : options_(options),
        sources_(std::move(sources)),
        machines_(available),
        environment_(std::move(where)),
        progress_(options.progress || support::stderr_is_terminal()) {}

  /// The exit status of the program.
  int run() {
    print_heading(baseline_name(machines_.has_gpu()));
    write_json();
    std::size_t done = 0;
    for (; done < sources_.size() && !is_over(); ++done) {
      show(done, "preparing");
      while (ahead_.size() <= systems_ahead() && next_ < sources_.size()) {
        prepare(sources_[next_++]);
      }
      prepared now = std::move(ahead_.front());
      ahead_.pop_front();
      try {
        const auto current = now.get();
        for (const std::int64_t rhs : options_.rhs) {
          measure(done, current, rhs);
        }
      } catch (const std::exception& e) {
        progress_.clear();
        std::printf("%-26s FAILED: %s\n", sources_[done].name.c_str(), e.what());
        failed_ = true;
      }
      write_json();
    }
    progress_.clear();
    if (done < sources_.size()) {
      std::printf("the time limit left out %zu of %zu matrices, from %s on\n", sources_.size() - done,
                  sources_.size(), sources_[done].name.c_str());
    }
    std::printf("\n");
    print_totals(rows_, environment_);
    std::printf("total time: %.0f s\n", seconds());
    return failed_ ? 1 : 0;
  }

 private:
  /// None where the host is what is measured: it must be quiet then.
  [[nodiscard]] std::size_t systems_ahead() const {
    bool on_host = false;
    for_each_bench_policy([&](const auto& policy) {
      on_host = on_host || (support::runs_on_host<std::decay_t<decltype(policy)>> &&
                            is_chosen(policy, options_.policies, machines_.has_gpu()));
    });
    return on_host ? 0 : std::clamp(std::thread::hardware_concurrency() / 4, 1u, 3u);
  }
  void prepare(const matrix_source& source) {
    ahead_.push_back(std::async(systems_ahead() > 0 ? std::launch::async : std::launch::deferred, [=] {
      return std::make_shared<const system>(make_bench_system<Value, Index>(source, options_));
    }));
  }

  void measure(std::size_t done, const std::shared_ptr<const system>& current, std::int64_t rhs) {
    candidate_list candidates = make_candidates<Value, Index>(machines_, current, rhs, options_.policies);
    measurement(candidates, options_.repetitions, options_.cold, shuffling_)
        .run([&](const std::string& what) { show(done, what); });
    const auto baseline = std::find_if(candidates.begin(), candidates.end(),
                                       [](const auto& c) { return c->policy() == c->row.baseline; });
    const result_row* const other = baseline == candidates.end() ? nullptr : &(*baseline)->row;
    progress_.clear();
    for (const auto& c : candidates) {
      c->row.compare_with(other);
      print_row(c->row, environment_, c == candidates.front());
      failed_ = failed_ || c->row.status == row_status::wrong || c->row.status == row_status::failed;
      rows_.push_back(c->row);
    }
    std::fflush(stdout);
  }

  /// After each system: a run that is interrupted leaves what it has.
  void write_json() const {
    if (options_.json.empty()) {
      return;
    }
    std::vector<json_text> rows;
    for (const result_row& row : rows_) {
      rows.push_back(row.json(environment_));
    }
    std::ofstream out(options_.json);
    out << "{\"context\": " << to_json(environment_.json()) << ",\n\"rows\": " << to_json(rows, ",\n")
        << "}\n";
    out.close();
    SPTRSV_EXPECTS(out.good(), sptrsv::errc::io_error, "cannot write '" + options_.json + "'");
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] bool is_over() const { return options_.time_limit > 0 && seconds() > options_.time_limit; }
  void show(std::size_t done, const std::string& what) {
    std::string left;
    if (done > 0) {
      const double estimate =
          seconds() / static_cast<double>(done) * static_cast<double>(sources_.size() - done);
      left = ", about " + std::to_string(static_cast<int>(estimate)) + " s left";
    }
    progress_.begin("[" + std::to_string(done + 1) + "/" + std::to_string(sources_.size()) + left + "] " +
                    sources_[done].name + ": " + what);
  }

  bench_options options_;
  std::vector<matrix_source> sources_;
  machines& machines_;
  environment environment_;
  support::progress_line progress_;
  std::mt19937 shuffling_{1};
  std::size_t next_ = 0;
  std::vector<result_row> rows_;
  bool failed_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::deque<prepared> ahead_;  // last: waits for threads that use the others
};

}  // namespace sptrsv_benchmarks
