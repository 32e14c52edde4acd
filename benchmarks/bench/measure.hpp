// The measuring loop. Each round measures all candidates of a system in a random order, so that a drift of
// the machine (clocks, temperature, other programs) affects all candidates alike.
//
// The loop of Google Benchmark does not fit: its random interleaving shuffles the repetitions of all
// registered benchmarks together, so all repetitions of one policy may come early; it needs every system in
// memory from start to end, prints nothing before the end, and keeps no samples for percentiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "candidate.hpp"
#include "common/measurement/statistics.hpp"

namespace sptrsv_benchmarks {

/// The amount of measurements; all times in milliseconds.
struct effort {
  double measurement = 60;  ///< limit of one kind of measurement of a candidate in all rounds
  double system = 4000;     ///< limit of all rounds of a system; it reduces the number of rounds
  double analysis = 500;    ///< limit after which no analysis of a candidate is repeated
  double small = 2;         ///< faster solves are also measured alone, in batches and as graphs
  /// Limit of everything that is measured of a system; 0: none. Analyses are repeated in its first third,
  /// rounds after the first one follow while there is time, and a policy whose first solve takes a twentieth
  /// of it keeps the time of that solve.
  double whole = 0;
  int analyses = 4;
  int max_rounds = 9;
  int min_rounds = 3;
  int max_in_batch = 100;
};

/// The measurement of the candidates of a system.
class measurement {
 public:
  using report = std::function<void(const std::string&)>;

  /// `rounds`: 0 for as many rounds as the effort allows.
  measurement(candidate_list& candidates, int rounds, bool cold, const effort& limits,
              std::mt19937& shuffling)
      : candidates_(candidates), rounds_(rounds), cold_(cold), limits_(limits), shuffling_(shuffling) {}

  void run(const report& progress) {
    start_ = clock::now();
    progress("analysing");
    analyze();
    progress("checking");
    for_each([](candidate& c) { c.start_check(); });
    for (const auto& c : candidates_) {
      if (is_active(*c) && is_on_host()) {
        c->await_check();
      }
    }
    make_plans();
    const int rounds = rounds_ > 0 ? rounds_ : affordable_rounds();
    double longest = 0;
    for (int round = 0; round < rounds && (round == 0 || has_time(1, longest)); ++round) {
      const double before = spent();
      progress("round " + std::to_string(round + 1) + " of " + std::to_string(rounds));
      for_each_shuffled([&](candidate& c) { measure(c, rounds); });
      longest = std::max(longest, spent() - before);
    }
    progress("checking");
    for_each([](candidate& c) { c.start_last_check(); });
    for_each([](candidate& c) { finish(c); });
  }

 private:
  using clock = std::chrono::steady_clock;
  struct plan {
    double solve_ms = 0;
    bool graph = false;
    bool is_complete = false;  ///< one solve has taken so long that no other follows
  };

  /// Returns the milliseconds since the start of the measurement.
  [[nodiscard]] double spent() const {
    return std::chrono::duration<double, std::milli>(clock::now() - start_).count();
  }
  /// Returns whether a share of the time for the system lets one start what takes `needed` milliseconds.
  [[nodiscard]] bool has_time(double share, double needed = 0) const {
    return limits_.whole <= 0 || spent() + needed < share * limits_.whole;
  }

  static bool is_active(const candidate& c) { return c.row.status == row_status::ok; }
  [[nodiscard]] bool is_on_host() const {
    return std::any_of(candidates_.begin(), candidates_.end(), [](const auto& c) {
      return dynamic_cast<const host_machine*>(&c->where()) != nullptr;
    });
  }

  /// Runs a step of a candidate. A candidate that throws is not measured further; the others are.
  template <class Step>
  static void guarded(candidate& c, Step step) {
    const auto stop = [&](row_status status, const std::string& message) {
      c.row.status = status;
      c.row.message = message;
      c.row.analysis.clear();
      c.row.warm = c.row.cold = {};
    };
    try {
      step(c);
    } catch (const sptrsv::error& e) {
      const bool refused = e.code() == sptrsv::errc::unsupported;
      stop(refused ? row_status::unsupported : row_status::failed, e.what());
    } catch (const std::exception& e) {
      stop(row_status::failed, e.what());
    }
  }
  template <class Step>
  void for_each(Step step) {
    for (const auto& c : candidates_) {
      if (is_active(*c)) {
        guarded(*c, step);
      }
    }
  }
  template <class Step>
  void for_each_shuffled(Step step) {
    std::vector<candidate*> order;
    for (const auto& c : candidates_) {
      order.push_back(c.get());
    }
    std::shuffle(order.begin(), order.end(), shuffling_);
    for (candidate* const c : order) {
      if (is_active(*c)) {
        guarded(*c, step);
      }
    }
  }

  void analyze() {
    for (int k = 0; k < limits_.analyses && (k == 0 || has_time(1.0 / 3)); ++k) {
      for_each_shuffled([&](candidate& c) {
        auto& times = c.row.analysis;
        double spent = 0;
        for (const double t : times) {
          spent += t;
        }
        if (times.empty() || spent < limits_.analysis) {
          c.discard();
          if (times.empty()) {
            c.where().release_memory();
          }
          times.push_back(c.where().elapsed([&] { c.analyze(); }));
        }
      });
    }
    for_each([](candidate& c) {
      c.update_values();
      for (int k = 0; k < 5; ++k) {
        c.row.update.push_back(c.where().batch([&] { c.update_values(); }, 5));
      }
      const sptrsv::solver_info info = c.info();
      c.row.path = info.path;
      c.row.plan = info.plan;
      c.row.predictions = info.predictions;
      c.row.kernels.clear();
      c.row.kernel_levels.clear();
      c.row.kernel_partitions.clear();
      for (const sptrsv::kernel_info& kernel : info.kernels) {
        c.row.kernels.push_back(kernel.text);
        c.row.kernel_levels.push_back(kernel.levels);
        c.row.kernel_partitions.push_back(kernel.partitions);
      }
      c.row.solver_bytes = info.solver_bytes;
      c.row.workspace_bytes = info.workspace_bytes;
    });
  }

  void make_plans() {
    plans_.assign(candidates_.size(), {});
    for_each([&](candidate& c) {
      plan& p = plan_of(c);
      const auto solve = [&] { c.solve(); };
      p.solve_ms = c.where().batch(solve, 1);
      if (limits_.whole > 0 && p.solve_ms > limits_.whole / 20) {
        p.is_complete = true;
        c.row.warm.single = {p.solve_ms};
        return;
      }
      p.solve_ms = std::min(p.solve_ms, c.where().batch(solve, 1));
      p.graph = p.solve_ms < limits_.small && record(c);
    });
  }
  /// Captures a solve. A solver that cannot be captured is measured without a graph.
  static bool record(candidate& c) {
    try {
      return c.record();
    } catch (const sptrsv::error& e) {
      c.row.message = std::string("not captured: ") + e.what();
      return false;
    }
  }
  plan& plan_of(const candidate& c) {
    const auto at = std::find_if(candidates_.begin(), candidates_.end(),
                                 [&](const auto& other) { return other.get() == &c; });
    return plans_[static_cast<std::size_t>(at - candidates_.begin())];
  }

  [[nodiscard]] int affordable_rounds() const {
    double round = 0;
    for (const plan& p : plans_) {
      round += p.is_complete ? 0 : p.solve_ms * (cold_ ? 4 : 3);  // two solves to warm up, one warm, one cold
    }
    return std::clamp(static_cast<int>(limits_.system / std::max(round, 1e-6)), limits_.min_rounds,
                      limits_.max_rounds);
  }
  /// Returns the number of calls of `ms` milliseconds in each of `rounds` rounds.
  [[nodiscard]] int calls(double ms, int rounds, int max_calls) const {
    return std::clamp(static_cast<int>(limits_.measurement / (rounds * std::max(ms, 1e-6))), 1, max_calls);
  }

  void measure(candidate& c, int rounds) {
    const plan& p = plan_of(c);
    if (p.is_complete) {
      return;
    }
    machine& where = c.where();
    const auto solve = [&] { c.solve(); };
    const auto replay = [&] { c.replay(); };
    const int batch = calls(p.solve_ms, rounds, limits_.max_in_batch);
    const int singles = std::min(batch, 10);
    where.each_warm(solve, singles, c.row.warm.single);
    if (p.solve_ms < limits_.small) {
      where.each_alone(solve, singles, c.row.warm.alone);
      c.row.warm.batch.push_back(where.batch(solve, batch));
    }
    if (p.graph) {
      replay();
      c.row.warm.graph.push_back(where.batch(replay, batch));
    }
    if (cold_) {
      constexpr double flush_ms = 0.1;
      const int colds = calls(p.solve_ms + flush_ms, rounds, 5);
      where.each_cold(solve, colds, c.row.cold.single);
      if (p.graph) {
        where.each_cold(replay, colds, c.row.cold.graph);
      }
    }
  }

  static void finish(candidate& c) {
    const auto quality = c.finish_checks();
    c.row.backward_error = quality.error;
    c.row.error_bound = quality.bound;
    if (!quality.ok()) {
      c.row.status = row_status::wrong;
      char text[128];
      std::snprintf(text, sizeof(text), "the backward error is %.3g, its bound is %.3g", quality.error,
                    quality.bound);
      c.row.message = text;
    }
  }

  candidate_list& candidates_;
  std::vector<plan> plans_;
  int rounds_;
  bool cold_;
  effort limits_;
  std::mt19937& shuffling_;
  clock::time_point start_;
};

}  // namespace sptrsv_benchmarks
