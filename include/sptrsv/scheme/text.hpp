// SPDX-License-Identifier: Apache-2.0
// Schemes as text, `nw=16 ng=4 sw_rnnz=2 trans=reorder+merge_avg(32,4) ...`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sptrsv/detail/base/name_table.hpp"
#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail::schemes {

/// Calls visit(name, member) for all settings, in order. The member of `trans` is the scheme itself.
template <class Scheme, class Visit>
void for_each_setting(Scheme& s, Visit visit) {
  visit("nw", s.active_warps);
  visit("ng", s.sub_warps);
  visit("sw_rnnz", s.together_above);
  visit("trans", s);
  visit("group", s.grouping);
  visit("warps", s.warps);
  visit("alpha_level", s.alpha_level);
  visit("signal", s.signal);
  visit("buffered", s.buffered);
  visit("early_division", s.early_division);
}

inline constexpr auto merging_names =
    names_in_order(node_merging{}, "none", "merge_fixed", "merge_avg", "merge_thresh");
constexpr auto names_of(node_grouping v) { return names_in_order(v, "rg_sequential", "rg_balance"); }
constexpr auto names_of(warp_scheduling v) {
  return names_in_order(v, "ws_hardware", "ws_rr", "ws_balance", "ws_locality");
}
constexpr auto names_of(hand_off v) { return names_in_order(v, "value", "fenced"); }
constexpr auto names_of(bool) { return switch_names; }

inline std::string text_of(int v) { return v == scheme::unlimited ? "inf" : std::to_string(v); }
template <class Choice>
std::string text_of(Choice v) {
  return std::string(names_of(v).of(v));
}
/// Returns the value of `trans`.
inline std::string text_of(const scheme& s) {
  std::string trans = s.reorder ? "reorder" : "";
  if (s.merge != node_merging::none) {
    trans += (trans.empty() ? "" : "+") + std::string(merging_names.of(s.merge)) + "(" +
             std::to_string(s.merge_rows);
    trans += s.merge == node_merging::fixed ? ")" : "," + std::to_string(s.merge_entries) + ")";
  }
  return trans.empty() ? "none" : trans;
}

// These functions set a member from a text, and return what the text must be instead, as name_table::set.

/// Reads a number; `inf` is scheme::unlimited.
inline std::string set_member(int& member, std::string_view text) {
  if (text == "inf") {
    member = scheme::unlimited;
    return {};
  }
  return read_number(text, member) ? "" : "an integer or inf";
}
/// Reads the setting `trans`: `none`, `reorder`, a merging, or `reorder+` and a merging.
inline std::string set_member(scheme& s, std::string_view text) {
  s.reorder = text.substr(0, 8) == "reorder+" || text == "reorder";
  s.merge = node_merging::none;
  if (text == "none" || text == "reorder") {
    return {};
  }
  const std::string_view merging = text.substr(s.reorder ? 8 : 0);
  const std::size_t open = merging.find('(');
  const std::size_t close = merging.size() - 1;
  const std::size_t comma = std::min(merging.find(','), close);
  const bool by_entries = comma != close;
  const bool is_read =
      open != std::string_view::npos && merging.back() == ')' && comma >= open &&
      merging_names.find(merging.substr(0, open), s.merge) && s.merge != node_merging::none &&
      by_entries != (s.merge == node_merging::fixed) &&
      set_member(s.merge_rows, merging.substr(open + 1, comma - open - 1)).empty() &&
      (!by_entries || set_member(s.merge_entries, merging.substr(comma + 1, close - comma - 1)).empty());
  return is_read ? "" : "none, reorder, merge_fixed(rb), merge_avg(rb,thresh) or merge_thresh(rb,thresh)";
}
template <class Choice>
std::string set_member(Choice& member, std::string_view text) {
  return names_of(member).set(member, text);
}

/// Returns the scheme that `settings` name; see parse_scheme.
inline scheme scheme_of(const std::vector<std::string>& settings) {
  scheme made;
  const std::string problem = set_members(
      settings, [&](const auto& visit) { for_each_setting(made, visit); },
      [](auto& member, std::string_view text) { return set_member(member, text); });
  SPTRSV_EXPECTS(problem.empty(), errc::parse_error, "a scheme ", problem);
  check_scheme(made);
  return made;
}

}  // namespace detail::schemes

/// Returns all settings as `name=value`, separated by blanks.
inline std::string to_string(const scheme& s) {
  std::string text;
  detail::schemes::for_each_setting(s, [&](const char* name, const auto& member) {
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + detail::schemes::text_of(member);
  });
  return text;
}

/// Returns the scheme in a text as to_string returns it; settings may be in any order, and missing settings
/// have their defaults. Throws `error` with errc::parse_error, or with errc::invalid_argument if the settings
/// are not a valid scheme.
inline scheme parse_scheme(std::string_view text) {
  return detail::schemes::scheme_of(detail::words_of(std::string(text)));
}

}  // namespace sptrsv::SPTRSV_ABI
