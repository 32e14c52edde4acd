// The measuring loop: all candidates of a system in turn, in an order that is shuffled for each round, so
// that whatever drifts (clocks, temperature, neighbours) meets all of them alike.
//
// Google Benchmark's own loop does not do that: its random interleaving shuffles the repetitions of all
// registered benchmarks at once, so that those of one policy may all come early, it wants every system in
// memory from start to end, shows nothing before all is done, and keeps no samples for percentiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "candidate.hpp"
#include "statistics.hpp"

namespace sptrsv_benchmarks {

/// How much is measured; all times in milliseconds.
struct effort {
  double measurement = 60;  ///< what one kind of measurement of a candidate may take, all rounds together
  double system = 4000;     ///< what all rounds of a system may take; then there are fewer rounds
  double analysis = 500;    ///< after this much of it no analysis is repeated
  double small = 2;         ///< solves that are faster are measured alone, in batches and as graphs, too
  int analyses = 3;
  int max_rounds = 9;
  int least_rounds = 3;
  int max_in_batch = 100;
};

class measurement {
 public:
  using report = std::function<void(const std::string&)>;

  /// `rounds`: 0 for as many as the effort allows.
  measurement(candidate_list& candidates, int rounds, bool cold, const effort& limits,
              std::mt19937& shuffling)
      : candidates_(candidates), rounds_(rounds), cold_(cold), limits_(limits), shuffling_(shuffling) {}

  void run(const report& progress) {
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
    for (int round = 0; round < rounds; ++round) {
      progress("round " + std::to_string(round + 1) + " of " + std::to_string(rounds));
      for_each_shuffled([&](candidate& c) { measure(c, rounds); });
    }
    progress("checking");
    for_each([](candidate& c) { c.start_last_check(); });
    for_each([](candidate& c) { finish(c); });
  }

 private:
  struct plan {
    double solve_ms = 0;
    bool graph = false;
  };

  static bool is_active(const candidate& c) { return c.row.status == row_status::ok; }
  [[nodiscard]] bool is_on_host() const {
    return std::any_of(candidates_.begin(), candidates_.end(), [](const auto& c) {
      return dynamic_cast<const host_machine*>(&c->where()) != nullptr;
    });
  }

  /// A candidate that throws is out, the others go on.
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
    for (int k = 0; k < limits_.analyses; ++k) {
      for_each_shuffled([&](candidate& c) {
        auto& times = c.row.analysis;
        double spent = 0;
        for (const double t : times) {
          spent += t;
        }
        if (times.empty() || spent < limits_.analysis) {
          c.discard();
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
      c.row.kernels = info.kernels;
      c.row.solver_bytes = info.solver_bytes;
      c.row.workspace_bytes = info.workspace_bytes;
    });
  }

  void make_plans() {
    plans_.assign(candidates_.size(), {});
    for_each([&](candidate& c) {
      plan& p = plan_of(c);
      const auto solve = [&] { c.solve(); };
      p.solve_ms = std::min(c.where().batch(solve, 1), c.where().batch(solve, 1));
      p.graph = p.solve_ms < limits_.small && record(c);
    });
  }
  /// A solver that cannot be captured is measured without.
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
      round += p.solve_ms * (cold_ ? 4 : 3);  // two to warm up, one warm, one cold
    }
    return std::clamp(static_cast<int>(limits_.system / std::max(round, 1e-6)), limits_.least_rounds,
                      limits_.max_rounds);
  }
  /// Calls of `ms` milliseconds in each of `rounds`.
  [[nodiscard]] int calls(double ms, int rounds, int most) const {
    return std::clamp(static_cast<int>(limits_.measurement / (rounds * std::max(ms, 1e-6))), 1, most);
  }

  void measure(candidate& c, int rounds) {
    const plan& p = plan_of(c);
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
      std::snprintf(text, sizeof(text), "the backward error is %.3g, what it should stay under is %.3g",
                    quality.error, quality.bound);
      c.row.message = text;
    }
  }

  candidate_list& candidates_;
  std::vector<plan> plans_;
  int rounds_;
  bool cold_;
  effort limits_;
  std::mt19937& shuffling_;
};

}  // namespace sptrsv_benchmarks
