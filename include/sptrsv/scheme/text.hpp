// SPDX-License-Identifier: Apache-2.0
// Schemes as text, `nw=16 ng=4 sw_rnnz=2 trans=reorder+merge_avg(32,4) ...`, and as JSON objects with the
// same names.
#pragma once

#include <charconv>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv {

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

constexpr const auto& names_of(node_grouping) { return grouping_names; }
constexpr const auto& names_of(warp_scheduling) { return warps_names; }
constexpr const auto& names_of(hand_off) { return signal_names; }
constexpr const auto& names_of(bool) { return switch_names; }

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

/// Throws the error for a text that is not a scheme.
[[noreturn]] inline void refuse(const std::string& what) {
  throw error(errc::parse_error, "a scheme cannot have " + what);
}

/// Returns the number in a text; `inf` is scheme::unlimited.
inline int number_of(std::string_view name, std::string_view text) {
  int value = scheme::unlimited;
  if (text != "inf") {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) {
      refuse(std::string(name) + "=" + std::string(text) + " is not a number");
    }
  }
  return value;
}

/// Sets what the setting `trans` says.
inline void set_transformation(scheme& s, std::string_view text) {
  s.reorder = text.substr(0, 7) == "reorder";
  s.merge = node_merging::none;
  std::string_view rest = s.reorder ? text.substr(7) : text;
  if (s.reorder && !rest.empty() && rest.front() == '+') {
    rest.remove_prefix(1);
  }
  if (rest.empty() || (!s.reorder && rest == "none")) {
    if (text != "reorder" && text != "none") {
      refuse("trans=" + std::string(text));
    }
    return;
  }
  const std::size_t open = rest.find('(');
  const std::size_t comma = rest.find(',');
  const bool by_entries = comma != std::string_view::npos;
  if (open == std::string_view::npos || rest.back() != ')' || (by_entries && comma < open) ||
      !merging_names.find(rest.substr(0, open), s.merge) || s.merge == node_merging::none ||
      by_entries == (s.merge == node_merging::fixed) || (s.reorder && text.substr(0, 8) != "reorder+")) {
    refuse("trans=" + std::string(text));
  }
  const std::size_t close = rest.size() - 1;
  const std::size_t end_of_rows = by_entries ? comma : close;
  s.merge_rows = number_of("rb", rest.substr(open + 1, end_of_rows - open - 1));
  if (by_entries) {
    s.merge_entries = number_of("thresh", rest.substr(comma + 1, close - comma - 1));
  }
}

inline void set_member(int& member, std::string_view name, std::string_view text) {
  member = number_of(name, text);
}
inline void set_member(scheme& s, std::string_view, std::string_view text) { set_transformation(s, text); }
template <class Choice>
void set_member(Choice& member, std::string_view name, std::string_view text) {
  if (!names_of(member).find(text, member)) {
    refuse(std::string(name) + "=" + std::string(text));
  }
}

/// Sets one setting.
inline void set(scheme& s, std::string_view name, std::string_view text) {
  bool is_known = false;
  for_each_setting(s, [&](std::string_view known, auto& member) {
    if (name == known) {
      is_known = true;
      set_member(member, name, text);
    }
  });
  if (!is_known) {
    refuse("a setting '" + std::string(name) + "'");
  }
}

/// What both notations share: each name may occur once, and missing settings have their defaults.
class reader {
 public:
  void take(std::string_view name, std::string_view text) {
    if (!seen_.emplace(name).second) {
      refuse(std::string(name) + " twice");
    }
    set(made_, name, text);
  }
  [[nodiscard]] scheme finish() const {
    check_scheme(made_);
    return made_;
  }

 private:
  scheme made_;
  std::set<std::string> seen_;
};

}  // namespace detail::schemes

/// Returns all settings as `name=value`, separated by blanks.
inline std::string to_string(const scheme& s) {
  std::string text;
  detail::schemes::for_each_setting(s, [&](const char* name, const auto& member) {
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + detail::schemes::text_of(member);
  });
  return text;
}

/// Returns a JSON object with the same names; `inf` is a string.
inline std::string to_json(const scheme& s) {
  std::string text;
  detail::schemes::for_each_setting(s, [&](const char* name, const auto& member) {
    const std::string value = detail::schemes::text_of(member);
    const bool is_number = std::is_same_v<std::decay_t<decltype(member)>, int> && value != "inf";
    text += std::string(text.empty() ? "{" : ", ") + "\"" + name +
            "\": " + (is_number ? value : "\"" + value + "\"");
  });
  return text + "}";
}

/// Returns the scheme in a text as to_string returns it; settings may be in any order, and missing settings
/// have their defaults. Throws `error` with errc::parse_error, or with errc::invalid_argument if the settings
/// are not a valid scheme.
inline scheme parse_scheme(std::string_view text) {
  detail::schemes::reader read;
  constexpr std::string_view blanks = " \t\r\n";
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;
       at = text.find_first_not_of(blanks, at)) {
    const std::size_t end = text.find_first_of(blanks, at);
    const std::string_view setting = text.substr(at, end == std::string_view::npos ? end : end - at);
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos) {
      detail::schemes::refuse("'" + std::string(setting) + "' is not name=value");
    }
    read.take(setting.substr(0, equals), setting.substr(equals + 1));
    at += setting.size();
  }
  return read.finish();
}

/// Returns the scheme in a JSON object as to_json returns it: a flat object of numbers and strings without
/// escapes. Throws as parse_scheme.
inline scheme parse_scheme_json(std::string_view text) {
  detail::schemes::reader read;
  std::size_t at = 0;
  const auto peek = [&] {
    at = text.find_first_not_of(" \t\r\n", at);
    at = at == std::string_view::npos ? text.size() : at;
    return at < text.size() ? text[at] : '\0';
  };
  const auto expect = [&](char wanted) {
    if (peek() != wanted) {
      detail::schemes::refuse(std::string("this JSON: '") + wanted + "' is missing at " + std::to_string(at));
    }
    ++at;
  };
  const auto string = [&] {
    expect('"');
    const std::size_t end = text.find('"', at);
    if (end == std::string_view::npos) {
      detail::schemes::refuse("an unterminated string");
    }
    const std::string_view found = text.substr(at, end - at);
    at = end + 1;
    return found;
  };
  expect('{');
  for (bool more = peek() != '}'; more;) {
    const std::string_view name = string();
    expect(':');
    if (peek() == '"') {
      read.take(name, string());
    } else {
      const std::size_t end = text.find_first_of(",} \t\r\n", at);
      const std::size_t length = (end == std::string_view::npos ? text.size() : end) - at;
      read.take(name, text.substr(at, length));
      at += length;
    }
    more = peek() == ',';
    at += more ? 1 : 0;
  }
  expect('}');
  if (peek() != '\0') {
    detail::schemes::refuse("text after its JSON object");
  }
  return read.finish();
}

}  // namespace sptrsv
