// A run of the benchmark with one type of values and one type of indices. Other threads prepare systems
// ahead; the systems are measured one after the other.
#pragma once

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "candidate.hpp"
#include "measure.hpp"
#include "record.hpp"

namespace sptrsv_benchmarks {

/// One triangle of a matrix.
struct bench_case {
  common::matrix_source source;
  sptrsv::uplo part;
};

/// Returns the triangles to measure: those of the options for each matrix.
inline std::vector<bench_case> cases_of(const bench_options& options,
                                        const std::vector<common::matrix_source>& sources) {
  std::vector<bench_case> cases;
  for (const common::matrix_source& source : sources) {
    for (const sptrsv::uplo part : options.parts) {
      cases.push_back({source, part});
    }
  }
  return cases;
}

/// The run. `run()` measures all cases.
template <class Value, class Index>
class bench_run {
  using system = bench_system<Value, Index>;
  using prepared = std::future<std::shared_ptr<const system>>;

 public:
  /// `forms`: names of the forms to measure.
  bench_run(const bench_options& options, std::vector<std::string> forms, std::vector<bench_case> cases,
            machines& available, run_record& record)
      : options_(options),
        forms_(std::move(forms)),
        cases_(std::move(cases)),
        machines_(available),
        record_(record),
        // No system is prepared ahead if policies of the host are measured: other threads would disturb them.
        systems_ahead_(any_on_host(forms_) ? 0
                                           : std::clamp(std::thread::hardware_concurrency() / 4, 1u, 3u)) {
    limits_.measurement = options.budget;
    limits_.whole = options.system_limit;
  }

  void run() {
    record_.show("loading kernels");
    load_kernels();
    for (const bench_case& now : cases_) {
      if (record_.is_over()) {
        return;
      }
      record_.show(now.source.name + ": preparing");
      while (ahead_.size() <= systems_ahead_ && next_ < cases_.size()) {
        prepare(cases_[next_++]);
      }
      prepared made = std::move(ahead_.front());
      ahead_.pop_front();
      try {
        const auto current = made.get();
        for (const std::int64_t rhs : options_.rhs) {
          measure(current, rhs);
        }
      } catch (const std::exception& e) {
        record_.add_failure(now.source.name, e.what());
      }
      record_.finish_system();
    }
  }

 private:
  /// Analyses and solves a tiny system with each form, so that no later measurement loads its kernels.
  void load_kernels() {
    const common::generator tiny{"tiny", "", "", [] { return common::dense_band(256, 3); }, {}};
    const auto made = std::make_shared<const system>(
        make_bench_system<Value, Index>({tiny.name, "", &tiny}, sptrsv::uplo::lower, options_));
    for (const std::int64_t rhs : options_.rhs) {
      for (const auto& c : make_candidates<Value, Index>(machines_, made, rhs, options_, forms_)) {
        try {
          c->where().elapsed([&] {
            c->analyze();
            c->solve();
          });
        } catch (const std::exception&) {  // the measurements report it
        }
      }
    }
  }
  void prepare(const bench_case& next) {
    ahead_.push_back(std::async(systems_ahead_ > 0 ? std::launch::async : std::launch::deferred, [=] {
      return std::make_shared<const system>(
          make_bench_system<Value, Index>(next.source, next.part, options_));
    }));
  }

  void measure(const std::shared_ptr<const system>& current, std::int64_t rhs) {
    candidate_list candidates = make_candidates<Value, Index>(machines_, current, rhs, options_, forms_);
    measurement(candidates, options_.repetitions, options_.cold, limits_, shuffling_)
        .run([&](const std::string& what) { record_.show(current->description.label() + ": " + what); });
    const auto baseline = std::find_if(candidates.begin(), candidates.end(),
                                       [](const auto& c) { return c->policy() == c->row.baseline; });
    const result_row* const other = baseline == candidates.end() ? nullptr : &(*baseline)->row;
    std::vector<result_row> rows;
    for (const auto& c : candidates) {
      c->row.compare_with(other);
      rows.push_back(c->row);
    }
    record_.add(rows);
  }

  bench_options options_;
  std::vector<std::string> forms_;
  std::vector<bench_case> cases_;
  machines& machines_;
  run_record& record_;
  std::size_t systems_ahead_;
  effort limits_;
  std::mt19937 shuffling_{1};
  std::size_t next_ = 0;
  std::deque<prepared> ahead_;  // declared last: its destructor waits for threads that read the members above
};

}  // namespace sptrsv_benchmarks
