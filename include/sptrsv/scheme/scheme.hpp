// A scheme: how policy::scheme cuts a system into tasks, puts them on the GPU, and solves them. The settings
// and their names are those of Hu, Sun, Li and Sun, AG-SpTRSV: An Automatic Framework to Optimize Sparse
// Triangular Solve on GPUs, ACM TACO 21(4), 2024, Table 2; the last three are choices of its section 4.2.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "sptrsv/error.hpp"

namespace sptrsv {

/// Neighbouring rows become one node of the computation graph, `merge_rows` (rb) of them at most (section
/// 4.3).
enum class node_merging {
  none,
  fixed,     ///< merge_fixed: every rb rows
  average,   ///< merge_avg: every rb rows that have at most `merge_entries` entries on average
  threshold  ///< merge_thresh: up to rb rows of at most `merge_entries` entries each
};

/// Which nodes of a level share a warp (section 4.4).
enum class node_grouping {
  sequential,  ///< rg_sequential: neighbours
  balance      ///< rg_balance: nodes of about as many entries
};

/// Which warp solves which nodes (section 4.4).
enum class warp_scheduling {
  hardware,     ///< a warp for each group of nodes, blocks as the hardware starts them
  round_robin,  ///< ws_rr
  balance,      ///< ws_balance: the warp with the fewest entries so far
  locality      ///< ws_locality: a warp in the block of a group that this one needs
};

/// How a component of x is handed on.
enum class hand_off {
  value,  ///< it is its own flag
  fenced  ///< value, fence, flag: as published
};

/// Entries are those of the row with its diagonal.
struct scheme {
  static constexpr int unlimited = std::numeric_limits<int>::max();

  int active_warps = 16;   ///< nw, on each multiprocessor: 2, 4, 8, 16 or 32
  int sub_warps = 1;       ///< ng, in each warp: 1, 2, 4, ..., 32
  int together_above = 1;  ///< sw_rnnz: a sub-warp solves a node's rows one by one, all lanes together, if
                           ///< they have more entries on average; else each lane one
  bool reorder = true;     ///< rows stand in level order before they are merged
  node_merging merge = node_merging::none;
  int merge_rows = 32;     ///< rb: 1, 2, 4, ..., 32
  int merge_entries = 32;  ///< thresh: 1, 2, 4, ..., 32
  node_grouping grouping = node_grouping::sequential;
  warp_scheduling warps = warp_scheduling::hardware;
  int alpha_level = unlimited;  ///< a level of more groups than this many times the device's warps is a
                                ///< launch of its own, whose rows wait for nothing; 0: each level
  hand_off signal = hand_off::value;
  bool buffered = false;       ///< entries go through shared memory (collaborative read)
  bool early_division = true;  ///< the reciprocal pivot before the wait

  [[nodiscard]] auto tie() const {
    // What the merging does not look at does not make schemes different.
    const bool merges = merge != node_merging::none;
    const bool by_entries = merges && merge != node_merging::fixed;
    return std::make_tuple(active_warps, sub_warps, together_above, reorder, merge, merges ? merge_rows : 0,
                           by_entries ? merge_entries : 0, grouping, warps, alpha_level, signal, buffered,
                           early_division);
  }
  friend bool operator==(const scheme& a, const scheme& b) { return a.tie() == b.tie(); }
  friend bool operator!=(const scheme& a, const scheme& b) { return !(a == b); }
  friend bool operator<(const scheme& a, const scheme& b) { return a.tie() < b.tie(); }
};

namespace detail::schemes {

template <class Enum, std::size_t Count>
struct name_table {
  std::array<std::pair<Enum, std::string_view>, Count> names;

  [[nodiscard]] std::string_view of(Enum value) const {
    for (const auto& [known, name] : names) {
      if (known == value) {
        return name;
      }
    }
    return "?";
  }
  [[nodiscard]] bool find(std::string_view text, Enum& value) const {
    for (const auto& [known, name] : names) {
      if (name == text) {
        value = known;
        return true;
      }
    }
    return false;
  }
};

inline constexpr name_table<node_merging, 4> merging_names{{{{node_merging::none, "none"},
                                                             {node_merging::fixed, "merge_fixed"},
                                                             {node_merging::average, "merge_avg"},
                                                             {node_merging::threshold, "merge_thresh"}}}};
inline constexpr name_table<node_grouping, 2> grouping_names{
    {{{node_grouping::sequential, "rg_sequential"}, {node_grouping::balance, "rg_balance"}}}};
inline constexpr name_table<warp_scheduling, 4> warps_names{{{{warp_scheduling::hardware, "ws_hardware"},
                                                              {warp_scheduling::round_robin, "ws_rr"},
                                                              {warp_scheduling::balance, "ws_balance"},
                                                              {warp_scheduling::locality, "ws_locality"}}}};
inline constexpr name_table<hand_off, 2> signal_names{
    {{{hand_off::value, "value"}, {hand_off::fenced, "fenced"}}}};
inline constexpr name_table<bool, 2> switch_names{{{{true, "yes"}, {false, "no"}}}};

constexpr bool is_power_of_two(int v) { return v > 0 && (v & (v - 1)) == 0; }

}  // namespace detail::schemes

/// Why `s` is not a scheme; empty if it is one.
inline std::string problem_of(const scheme& s) {
  using detail::schemes::is_power_of_two;
  const auto in_32 = [](int v) { return is_power_of_two(v) && v <= 32; };
  const auto says = [](const char* name, int v, const std::string& wanted) {
    return std::string(name) + "=" + std::to_string(v) + " is not " + wanted;
  };
  if (!in_32(s.active_warps) || s.active_warps == 1) {
    return says("nw", s.active_warps, "2, 4, 8, 16 or 32");
  }
  if (!in_32(s.sub_warps)) {
    return says("ng", s.sub_warps, "a power of two up to 32");
  }
  if (s.together_above != 0 && s.together_above != scheme::unlimited &&
      (!is_power_of_two(s.together_above) || s.together_above > 32 / s.sub_warps)) {
    return says("sw_rnnz", s.together_above, "0, inf or a power of two up to 32 / ng");
  }
  if (s.merge != node_merging::none && !in_32(s.merge_rows)) {
    return says("rb", s.merge_rows, "a power of two up to 32");
  }
  if ((s.merge == node_merging::average || s.merge == node_merging::threshold) && !in_32(s.merge_entries)) {
    return says("thresh", s.merge_entries, "a power of two up to 32");
  }
  return s.alpha_level < 0 ? says("alpha_level", s.alpha_level, "0 or more") : std::string();
}

/// Throws `errc::invalid_argument` with the reason unless `s` is a scheme.
inline void check_scheme(const scheme& s) {
  const std::string problem = problem_of(s);
  SPTRSV_EXPECTS(problem.empty(), errc::invalid_argument, "not a scheme: " + problem);
}

}  // namespace sptrsv
