// SPDX-License-Identifier: Apache-2.0
// The reduced space of schemes that a search tries and that the model chooses from. The space of Table 2 of
// Hu et al. 2024 has about 3e5 schemes; the reduced space has those that can be the best for some system.
#pragma once

#include <algorithm>
#include <vector>

#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail::schemes {

/// Returns the ways to share rows among lanes: the part of a scheme that depends on the lengths of the rows.
inline std::vector<scheme> task_shapes(bool reorder) {
  constexpr int inf = scheme::unlimited;
  std::vector<scheme> made{
      {16, 1, 1, reorder, node_merging::none, 1, 1},        // one warp for each row
      {16, 1, inf, reorder, node_merging::fixed, 32, 1},    // one lane for each row
      {16, 1, 8, reorder, node_merging::average, 32, 8},    // one of these, decided for 32 rows
      {16, 1, 8, reorder, node_merging::threshold, 32, 8},  // long rows are nodes of their own
  };
  if (reorder) {
    made.push_back({16, 4, 1, true, node_merging::none, 1, 1});   // 8 lanes for each row
    made.push_back({16, 8, 1, true, node_merging::none, 1, 1});   // 4 lanes for each row
    made.push_back({16, 32, 0, true, node_merging::none, 1, 1});  // one lane for each row of one level
  } else {
    made.push_back({16, 4, 1, false, node_merging::fixed, 4, 1});
    made.push_back({16, 4, inf, false, node_merging::fixed, 8, 1});
  }
  return made;
}

/// Returns further schemes, whose settings lie between those that are combined with all others.
inline std::vector<scheme> further_schemes() {
  constexpr int inf = scheme::unlimited;
  constexpr auto none = node_merging::none;
  constexpr auto fixed = node_merging::fixed;
  constexpr auto threshold = node_merging::threshold;
  return {{8, 1, 1, false, none, 1, 1},      // one warp for each row
          {32, 32, inf, false, none, 1, 1},  // one lane for each row; lanes do not wait for one another
          {8, 1, 1, true, none, 1, 1},          {32, 32, inf, true, none, 1, 1},
          {2, 1, 1, false, none, 1, 1},         {16, 32, inf, true, none, 1, 1},
          {32, 16, 1, true, none, 1, 1},  // 2 lanes for each row
          {32, 2, inf, false, fixed, 16, 1},    {32, 8, inf, false, fixed, 4, 1},
          {8, 1, 8, false, threshold, 32, 8},   {16, 1, 8, false, threshold, 8, 8},
          {16, 1, 16, false, threshold, 32, 16}};
}

}  // namespace detail::schemes

/// Returns the schemes of the reduced space, without duplicates and in a fixed order: schemes with few
/// settings that are not the defaults come first, so that a search that runs out of time has tried all kinds.
inline std::vector<scheme> reduced_schemes() {
  std::vector<scheme> made;
  const auto add = [&](const scheme& s) {
    if (problem_of(s).empty() && std::find(made.begin(), made.end(), s) == made.end()) {
      made.push_back(s);
    }
  };
  for (const bool reorder : {true, false}) {
    for (const scheme& shape : detail::schemes::task_shapes(reorder)) {
      for (const int active_warps : {4, 16, 32}) {
        scheme s = shape;
        s.active_warps = active_warps;
        add(s);
        s.warps = warp_scheduling::round_robin;
        if (reorder || active_warps == 16) {
          add(s);
        }
      }
      scheme s = shape;
      s.signal = hand_off::fenced;  // as published
      add(s);
      s = shape;
      s.grouping = node_grouping::balance;
      add(s);
      s.warps = warp_scheduling::balance;
      add(s);
      if (reorder) {
        s.warps = warp_scheduling::locality;
        add(s);
        s = shape;
        s.active_warps = 32;
        s.buffered = true;
        add(s);
        s.buffered = false;
        s.alpha_level = 4;
        add(s);
        s.alpha_level = 0;
        add(s);
      }
    }
  }
  for (const scheme& s : detail::schemes::further_schemes()) {
    add(s);
  }
  const auto specials = [](const scheme& s) {
    const scheme plain;
    return int{s.active_warps != plain.active_warps} + int{s.warps != plain.warps} +
           int{s.grouping != plain.grouping} + int{s.alpha_level != plain.alpha_level} +
           int{s.signal != plain.signal} + int{s.buffered};
  };
  std::stable_sort(made.begin(), made.end(),
                   [&](const scheme& a, const scheme& b) { return specials(a) < specials(b); });
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI
