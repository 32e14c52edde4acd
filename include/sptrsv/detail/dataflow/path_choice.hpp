// SPDX-License-Identifier: Apache-2.0
// The choice among the paths of a system: a pure function of predicted times, with the words that explain it.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sptrsv/detail/base/engine.hpp"
#include "sptrsv/detail/dataflow/prepare.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// Predicted times of a solve with max_rhs right-hand sides, in nanoseconds. Infinite: the path cannot solve
/// the system, or its time was not predicted.
struct path_times {
  static constexpr double never = std::numeric_limits<double>::infinity();
  double row_per_thread = never;
  double partitioned = never;
  double single_block = never;
  double hybrid = never;
  /// Time of a single partition. If levels are narrow, single_block and natural_blocks are compared with it.
  double one_partition = never;
  double natural_blocks = never;

  /// Returns the best time of one path for all levels.
  [[nodiscard]] double single_path(const time_limits& limits) const {
    return std::min({partitioned, row_per_thread, limits.nanoseconds});
  }
};

/// Chooses the path. `Path`: policy::dataflow_path, or another enumeration with the same names.
template <class Path>
struct path_choice {
  Path wanted;  ///< automatic: times decide
  time_limits limits;
  double hybrid_gain;  ///< see dataflow_tuning
  double single_block_gain;
  double partitioned_gain;
  double natural_blocks_gain;

  /// Returns the time that a single_block path must not exceed.
  [[nodiscard]] double single_block_limit(const path_times& t) const {
    return wanted == Path::single_block ? path_times::never
                                        : std::min(single_block_gain * t.one_partition, limits.nanoseconds);
  }
  /// Returns the time that a natural_blocks path must not exceed: that of single_block, and a share of the
  /// best time of other paths where this was predicted, else of a single partition.
  [[nodiscard]] double natural_blocks_limit(const path_times& t) const {
    if (wanted == Path::natural_blocks) {
      return path_times::never;
    }
    const double others = t.single_path(limits);
    return std::min(t.single_block, others < path_times::never ? natural_blocks_gain * others
                                                               : single_block_gain * t.one_partition);
  }
  /// Returns the time that a hybrid path must beat: unless asked for, a share of the best single path's.
  [[nodiscard]] double hybrid_limit(const path_times& t) const {
    return wanted == Path::hybrid ? path_times::never : hybrid_gain * t.single_path(limits);
  }
  /// Returns whether neither path meets its limit. A system that must not take the row_per_thread path is not
  /// wanted where this path would be the faster one.
  [[nodiscard]] bool is_too_slow(const path_times& t) const {
    if (!limits.any()) {
      return false;
    }
    return limits.row_per_thread > 0
               ? t.partitioned >= limits.nanoseconds && t.row_per_thread >= limits.row_per_thread
               : t.partitioned >= std::min(limits.nanoseconds, t.row_per_thread);
  }
  [[nodiscard]] bool prefers_partitioned(const path_times& t) const {
    return limits.any() ? t.row_per_thread >= limits.row_per_thread
                        : partitioned_gain * t.partitioned < t.row_per_thread;
  }

  /// Returns the path that is taken; nothing if the wanted path cannot solve the system, or none meets its
  /// limit.
  [[nodiscard]] std::optional<Path> operator()(const path_times& t) const {
    if (wanted == Path::row_per_thread) {
      return Path::row_per_thread;
    }
    if (t.natural_blocks < path_times::never && t.natural_blocks <= natural_blocks_limit(t)) {
      return Path::natural_blocks;
    }
    if (wanted == Path::natural_blocks) {
      return {};
    }
    if (t.single_block < path_times::never && t.single_block <= single_block_limit(t)) {
      return Path::single_block;
    }
    if (wanted == Path::single_block) {
      return {};
    }
    if (t.hybrid < hybrid_limit(t)) {
      return Path::hybrid;
    }
    if (is_too_slow(t)) {
      return {};
    }
    if (t.partitioned < path_times::never && (wanted == Path::partitioned || prefers_partitioned(t))) {
      return Path::partitioned;
    }
    return wanted == Path::partitioned ? std::nullopt : std::optional<Path>(Path::row_per_thread);
  }

  /// Returns the predictions that led to a path, for solver_info.
  [[nodiscard]] std::vector<predicted_time> predictions(Path taken, const path_times& t) const {
    std::vector<predicted_time> made;
    const auto add = [&](const char* name, double nanoseconds) {
      if (nanoseconds < path_times::never) {
        made.push_back({name, nanoseconds});
      }
    };
    if (taken == Path::single_block || taken == Path::natural_blocks) {
      add(taken == Path::single_block ? "single_block" : "natural_blocks",
          taken == Path::single_block ? t.single_block : t.natural_blocks);
      if (wanted == Path::automatic) {
        add("partitioned", std::min(t.one_partition, t.partitioned));
      }
    } else if (taken == Path::hybrid) {
      add("hybrid", t.hybrid);
      made.push_back({"single path", t.single_path(limits)});
    } else {
      add("partitioned", t.partitioned);
      add("row_per_thread", t.row_per_thread);
    }
    return made;
  }
  /// Returns the sentence that explains a path. `reasons`: the predictions, or others.
  [[nodiscard]] std::string text(const std::string& taken, const std::vector<predicted_time>& reasons) const {
    return taken +
           (wanted == Path::automatic ? ", by the predicted time of a solve: "
                                      : ", as asked for; predicted: ") +
           to_text(reasons);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
