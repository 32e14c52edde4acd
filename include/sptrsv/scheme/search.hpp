// SPDX-License-Identifier: Apache-2.0
// Selection by search: schemes are measured on the system itself, and the best is kept (Hu et al. 2024,
// section 4.5).
//
// The search is a successive halving: all schemes are timed with few solves, and in each further round the
// faster ones with more solves, until the rounds or the time are over. It begins with the schemes that the
// model finds likeliest, so that a search that runs out of time has tried these.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/papers/scheme/model.hpp"
#include "sptrsv/policy/scheme.hpp"
#include "sptrsv/scheme/plan.hpp"
#include "sptrsv/scheme/space.hpp"

namespace sptrsv::SPTRSV_ABI {

/// The measurement of a scheme on the system.
struct scheme_measurement {
  scheme tried;  ///< the scheme
  /// Time of a solve in milliseconds, in the last round of the scheme; infinite if it was not measured.
  double milliseconds = std::numeric_limits<double>::infinity();
  double analysis_milliseconds = 0;  ///< time of the analysis in milliseconds
  int solves = 0;                    ///< number of solves that were timed
  std::string refused;               ///< why the scheme was not measured; empty if it was
};

/// Settings of a search.
struct scheme_search {
  std::vector<scheme> space = reduced_schemes();  ///< the schemes to try
  /// Only this many schemes of the space are tried, the likeliest by the model; 0: all.
  std::size_t likeliest = 0;
  /// Time limit. A measurement that has begun is completed, and the first scheme is measured in any case.
  double seconds = 10;
  int rounds = 3;  ///< number of rounds
  /// Returns the current time in seconds; the origin does not matter.
  std::function<double()> clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
};

/// Result of a search.
struct scheme_search_result {
  scheme_plan plan;                          ///< the best scheme
  std::vector<scheme_measurement> measured;  ///< all schemes, the fastest first, refused ones last
  bool complete = false;                     ///< whether the time was sufficient for all measurements
  double seconds = 0;                        ///< time of the search
};

namespace detail::schemes {

/// A search on a system. The first round times each scheme with two solves after one that is not timed; each
/// further round times the fastest quarter with four times as many solves.
template <class Tuning, class View, class Stream>
class searcher {
  using executor = executor_t<Stream>;
  using value = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<View>().values)>>;

 public:
  searcher(const View& a, const system_options& options, const scheme_search& how, Stream stream,
           memory_resource& resource)
      : a_(a), options_(options), how_(how), stream_(stream), resource_(resource) {
    const triangle_form form(options, pattern_of(a).by_columns);
    const auto t = build_on_device(pattern_of(a), form, on_, resource);
    features_ = features_of(t, levels_on_device(t, on_, resource), on_, resource);
  }

  scheme_search_result run() {
    scheme_search_result result;
    std::vector<scheme_measurement> all;
    for (const scheme& s : likeliest_first(features_, how_.space)) {
      all.emplace_back();
      all.back().tried = s;
    }
    if (how_.likeliest > 0 && how_.likeliest < all.size()) {
      all.resize(how_.likeliest);
    }
    std::size_t count = all.size();
    int solves = 2;
    result.complete = true;
    for (int round = 1; round <= how_.rounds && count > 0; ++round) {
      result.complete = measure_first(all, count, solves, round) && result.complete;
      std::stable_sort(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.milliseconds < b.milliseconds; });
      count = std::max<std::size_t>(count / 4, 1);
      solves *= 4;
    }
    SPTRSV_EXPECTS(!all.empty() && all.front().solves > 0, errc::unsupported,
                   "no scheme of the search can solve the system" +
                       (all.empty() ? std::string() : ": " + all.front().refused));
    result.seconds = now();
    result.plan.use = all.front().tried;
    result.plan.milliseconds = all.front().milliseconds;
    result.measured = std::move(all);
    return result;
  }

 private:
  [[nodiscard]] double now() const { return how_.clock() - started_; }

  /// Measures the first `count` schemes. Returns whether the time was sufficient for all.
  bool measure_first(std::vector<scheme_measurement>& all, std::size_t count, int solves, int round) {
    for (std::size_t i = 0; i < count; ++i) {
      if (now() >= how_.seconds && !(round == 1 && i == 0)) {
        for (; i < count && round == 1; ++i) {
          all[i].refused = "the time limit was reached";
        }
        return false;
      }
      measure(all[i], solves);
    }
    return true;
  }

  void measure(scheme_measurement& m, int solves) {
    constexpr double launch_milliseconds = 1.5e-3;  // at least
    constexpr double least_milliseconds = 0.3;  // of a measurement, unless this takes more than 100 solves
    const double rows = m.tried.merge == node_merging::none ? 1 : m.tried.merge_rows;
    if (m.tried.alpha_level == 0 && features_.levels / rows * launch_milliseconds > best_) {
      m.refused = "one launch for each level takes longer than the best scheme";
      return;
    }
    try {
      const double begin = how_.clock();
      auto solver = analyze(policy::basic_scheme<Tuning>{m.tried}, a_, options_, stream_, &resource_);
      on_.synchronize();
      m.analysis_milliseconds = (how_.clock() - begin) * 1e3;
      const auto b = dense_view<const value>::column_major(b_.data(), a_.rows, options_.max_rhs, a_.rows);
      const auto x = dense_view<value>::column_major(x_.data(), a_.rows, options_.max_rhs, a_.rows);
      const auto milliseconds_of = [&](int count) {  // of `count` solves
        const double first = how_.clock();
        for (int i = 0; i < count; ++i) {
          solver.solve(b, x, stream_);
        }
        on_.synchronize();
        return (how_.clock() - first) * 1e3;
      };
      const double once = milliseconds_of(1);
      // A scheme whose first solve takes ten times as long as the best one needs no second solve.
      if (once > 10 * best_) {
        m.milliseconds = std::min(m.milliseconds, once);
        m.solves += 1;
        return;
      }
      solves = std::max(solves, static_cast<int>(std::min(100.0, least_milliseconds / once)));
      // This time replaces that of an earlier round with fewer solves.
      m.milliseconds = milliseconds_of(solves) / solves;
      m.solves = solves;
      best_ = std::min(best_, m.milliseconds);
    } catch (const error& e) {
      if (e.code() != errc::unsupported && e.code() != errc::out_of_memory) {
        throw;
      }
      m.refused = e.what();
    }
  }

  View a_;
  system_options options_;
  const scheme_search& how_;
  Stream stream_;
  memory_resource& resource_;
  executor on_{stream_};
  buffer<value> b_ = make_zeros<value>(a_.rows * options_.max_rhs, on_, resource_);
  buffer<value> x_{b_.size(), resource_, on_.stream()};
  double started_ = how_.clock();
  system_features features_;
  double best_ = std::numeric_limits<double>::infinity();  ///< milliseconds of the best scheme so far
};

}  // namespace detail::schemes

/// Returns the best scheme of `how.space` for a system, by measurements with `options.max_rhs` right-hand
/// sides of zeros. Synchronises `stream`.
///
/// @param a csr_view, csc_view or owning matrix in device memory.
/// @param options the system and the number of right-hand sides.
/// @param how the settings of the search.
/// @param stream the stream of all work.
/// @param resource source of device memory; null: the default of the stream's device.
/// @tparam Tuning scheme_tuning, or a struct derived from it.
/// @throws error as analyze for an invalid matrix; errc::unsupported if no scheme can solve the system.
template <class Tuning = experimental::scheme_tuning, class Matrix, class Stream = stream_handle>
scheme_search_result search_schemes(const Matrix& a, const system_options& options = {},
                                    const scheme_search& how = {}, Stream stream = {},
                                    memory_resource* resource = nullptr) {
  const auto view = detail::view_of(a);
  memory_resource& from = detail::resource_or_default(resource, detail::executor_t<Stream>(stream));
  auto result = detail::schemes::searcher<Tuning, std::decay_t<decltype(view)>, Stream>(view, options, how,
                                                                                        stream, from)
                    .run();
  result.plan.key = scheme_key_of(a, options, stream, &from);
  return result;
}

/// Returns the plan in the file `path` if the file exists; otherwise searches, and writes the plan to this
/// file. So a program searches once for a system. Parameters are those of search_schemes. Throws as
/// load_scheme_plan if the file is damaged or a plan for another system or GPU, and as search_schemes and
/// save_scheme_plan.
template <class Tuning = experimental::scheme_tuning, class Matrix, class Stream = stream_handle>
scheme_plan tuned_scheme(const std::string& path, const Matrix& a, const system_options& options = {},
                         const scheme_search& how = {}, Stream stream = {},
                         memory_resource* resource = nullptr) {
  if (std::ifstream(path).good()) {
    return load_scheme_plan(path, scheme_key_of(a, options, stream, resource));
  }
  scheme_plan found = search_schemes<Tuning>(a, options, how, stream, resource).plan;
  save_scheme_plan(path, found);
  return found;
}

}  // namespace sptrsv::SPTRSV_ABI
