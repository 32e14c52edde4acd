// The acceptance trial of the GPU policies: its options, its modes, and the counts that a mode prints.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sptrsv_trial {

/// Exit status of a trial in which work on the GPU did not end.
inline constexpr int exit_hang = 3;

struct trial_options {
  std::uint64_t seed = 1;     ///< of the first round of each mode; round k has the seed `seed` + k
  std::int64_t rounds = 0;    ///< rounds of each mode; 0: until `seconds` are over
  std::int64_t seconds = 20;  ///< time of each mode; a round that has begun is completed
  std::int64_t limit = 60;    ///< seconds after which work counts as a hang
  std::int64_t large_entries = 2200000000;  ///< entries of the large system
  std::vector<std::string> policies;        ///< names of forms, with or without the types; empty: all
};

/// What a mode has done. The components are those of x that were compared with a reference, or whose residual
/// was computed.
struct mode_result {
  std::int64_t cases = 0;
  std::int64_t solves = 0;
  std::int64_t components = 0;
  std::int64_t failures = 0;
};

/// The data that are needed to repeat a case.
struct case_id {
  std::uint64_t seed;
  std::string policy;  ///< with its types; empty: none in particular
  std::string system;  ///< in words
};

/// Counts and reports for one mode. Several threads may call its functions at the same time.
class mode_log {
 public:
  explicit mode_log(std::string mode) : mode_(std::move(mode)) {}

  void count_case() { ++cases_; }
  void count_solve(std::size_t components) {
    ++solves_;
    components_ += static_cast<std::int64_t>(components);
  }
  /// Counts a failure. Prints the first ones with the command that repeats the round.
  void fail(const case_id& id, const std::string& what) {
    if (++failures_ > printed_failures) {
      return;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string policies = id.policy.empty() ? "" : " --policies " + id.policy;
    std::printf("FAILED %s: %s: %s: %s\n  to repeat: sptrsv_trial %s --seed %llu --rounds 1%s\n",
                mode_.c_str(), id.policy.c_str(), id.system.c_str(), what.c_str(), mode_.c_str(),
                static_cast<unsigned long long>(id.seed), policies.c_str());
    std::fflush(stdout);
  }
  void expect(bool holds, const case_id& id, const std::string& what) {
    if (!holds) {
      fail(id, what);
    }
  }
  /// Prints a line that is no failure.
  void note(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::printf("%s: %s\n", mode_.c_str(), text.c_str());
    std::fflush(stdout);
  }
  [[nodiscard]] mode_result result() const { return {cases_, solves_, components_, failures_}; }

 private:
  static constexpr std::int64_t printed_failures = 20;

  std::string mode_;
  std::mutex mutex_;
  std::atomic<std::int64_t> cases_{0};
  std::atomic<std::int64_t> solves_{0};
  std::atomic<std::int64_t> components_{0};
  std::atomic<std::int64_t> failures_{0};
};

/// The time that a mode may take.
class deadline {
 public:
  explicit deadline(std::int64_t seconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}
  [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

/// Calls `run(seed)` for the rounds that the options ask for, at least once.
template <class Run>
void for_each_round(const trial_options& options, Run run) {
  const deadline until(options.seconds);
  for (std::uint64_t round = 0;; ++round) {
    run(options.seed + round);
    const bool enough =
        options.rounds > 0 ? round + 1 >= static_cast<std::uint64_t>(options.rounds) : until.is_over();
    if (enough) {
      return;
    }
  }
}

mode_result run_load(const trial_options& options);
mode_result run_process(const trial_options& options);
mode_result run_bits(const trial_options& options);
mode_result run_malformed(const trial_options& options);
mode_result run_values(const trial_options& options);
mode_result run_large(const trial_options& options);
mode_result run_sanitize(const trial_options& options);

}  // namespace sptrsv_trial
