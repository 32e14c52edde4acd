// SPDX-License-Identifier: Apache-2.0
// A scheme: how policy::scheme divides a system into tasks, assigns them to warps, and solves them. The
// settings and their names are those of Hu, Sun, Li and Sun, AG-SpTRSV: An Automatic Framework to Optimize
// Sparse Triangular Solve on GPUs, ACM TACO 21(4), 2024, Table 2; the last three settings are choices of
// section 4.2.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Which consecutive rows are merged to one node of the computation graph (section 4.3).
enum class node_merging {
  none,      ///< each row is a node
  fixed,     ///< merge_fixed: every `merge_rows` rows
  average,   ///< merge_avg: every `merge_rows` rows that have at most `merge_entries` entries on average
  threshold  ///< merge_thresh: up to `merge_rows` rows that have at most `merge_entries` entries each
};

/// Which nodes of a level form a group, which one warp solves (section 4.4).
enum class node_grouping {
  sequential,  ///< rg_sequential: consecutive nodes
  balance      ///< rg_balance: nodes of about the same number of entries
};

/// Which warp solves which groups of nodes (section 4.4).
enum class warp_scheduling {
  hardware,     ///< one warp for each group, in the order in which the hardware starts the blocks
  round_robin,  ///< ws_rr: groups are dealt to the warps in turn
  balance,      ///< ws_balance: each group goes to the warp with the fewest entries so far
  locality      ///< ws_locality: each group goes to a warp in the block of a group that it depends on
};

/// How a component of x is handed on to the rows that need it.
enum class hand_off {
  value,  ///< the component is its own flag
  fenced  ///< component, memory fence, flag: as published
};

/// The settings of policy::scheme. Numbers of entries of a row include its diagonal.
struct scheme {
  /// Value of `together_above` and `alpha_level` for no limit.
  static constexpr int unlimited = std::numeric_limits<int>::max();

  int active_warps = 16;  ///< nw: warps on each multiprocessor: 2, 4, 8, 16 or 32
  int sub_warps = 1;      ///< ng: sub-warps in each warp: 1, 2, 4, 8, 16 or 32
  /// sw_rnnz: if the rows of a node have more entries than this on average, all lanes of a sub-warp solve
  /// them together, one row after the other; otherwise each lane solves one row. 0, a power of two up to 32 /
  /// sub_warps, or unlimited.
  int together_above = 1;
  bool reorder = true;                      ///< whether rows are in level order before they are merged
  node_merging merge = node_merging::none;  ///< which rows are merged
  int merge_rows = 32;                      ///< rb: rows of a node, at most: 1, 2, 4, 8, 16 or 32
  int merge_entries = 32;                   ///< thresh: entries of a row, see node_merging: 1, 2, 4, ..., 32
  node_grouping grouping = node_grouping::sequential;  ///< which nodes form a group
  warp_scheduling warps = warp_scheduling::hardware;   ///< which warp solves which groups
  /// A level with more groups than this many times the warps of the device has a launch of its own, whose
  /// rows wait for nothing; 0: each level has one.
  int alpha_level = unlimited;
  hand_off signal = hand_off::value;  ///< how components are handed on
  bool buffered = false;              ///< whether entries are read through shared memory (collaborative read)
  bool early_division = true;         ///< whether the reciprocal of the pivot is computed before the wait

  /// Returns the settings as a std::tuple, for comparisons: those that the merging does not use are 0.
  [[nodiscard]] auto tie() const {
    const bool merges = merge != node_merging::none;
    const bool by_entries = merges && merge != node_merging::fixed;
    return std::make_tuple(active_warps, sub_warps, together_above, reorder, merge, merges ? merge_rows : 0,
                           by_entries ? merge_entries : 0, grouping, warps, alpha_level, signal, buffered,
                           early_division);
  }
  /// Returns whether two schemes do the same.
  friend bool operator==(const scheme& a, const scheme& b) { return a.tie() == b.tie(); }
  /// Returns whether two schemes differ.
  friend bool operator!=(const scheme& a, const scheme& b) { return !(a == b); }
  /// Orders schemes, for sets and maps.
  friend bool operator<(const scheme& a, const scheme& b) { return a.tie() < b.tie(); }
};

/// Returns why the settings `s` are not a valid scheme, naming the setting; empty if they are one.
inline std::string problem_of(const scheme& s) {
  const auto in_32 = [](int v) { return v > 0 && v <= 32 && (v & (v - 1)) == 0; };  // a power of two
  const bool by_entries = s.merge == node_merging::average || s.merge == node_merging::threshold;
  std::string problem;  // the first one
  const auto expect = [&](bool holds, const char* name, int v, const char* wanted) {
    if (!holds && problem.empty()) {
      problem = std::string(name) + "=" + std::to_string(v) + " is not " + wanted;
    }
  };
  expect(in_32(s.active_warps) && s.active_warps != 1, "nw", s.active_warps, "2, 4, 8, 16 or 32");
  expect(in_32(s.sub_warps), "ng", s.sub_warps, "a power of two up to 32");
  expect(s.together_above == 0 || s.together_above == scheme::unlimited ||
             (in_32(s.together_above) && s.together_above <= 32 / std::max(s.sub_warps, 1)),
         "sw_rnnz", s.together_above, "0, inf or a power of two up to 32 / ng");
  expect(s.merge == node_merging::none || in_32(s.merge_rows), "rb", s.merge_rows, "a power of two up to 32");
  expect(!by_entries || in_32(s.merge_entries), "thresh", s.merge_entries, "a power of two up to 32");
  expect(s.alpha_level >= 0, "alpha_level", s.alpha_level, "0 or more");
  return problem;
}

/// Throws `error` with errc::invalid_argument and the reason if the settings `s` are not a valid scheme.
inline void check_scheme(const scheme& s) {
  const std::string problem = problem_of(s);
  SPTRSV_EXPECTS(problem.empty(), errc::invalid_argument, "not a scheme: " + problem);
}

}  // namespace sptrsv::SPTRSV_ABI
