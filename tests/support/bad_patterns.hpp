// Patterns that analyze must refuse, and patterns that look wrong but are valid.
#pragma once

#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

struct pattern_case {
  std::string name;
  raw_matrix a;
  system_options options;
  std::optional<errc> code;  ///< empty: analyze must accept it
  std::int64_t row = -1;     ///< -1: the exception names no row
  std::string words;         ///< what the message must mention
};

inline raw_matrix as_csc(raw_matrix a) {
  a.by_columns = true;
  return a;
}

inline std::vector<pattern_case> bad_shapes() {
  const raw_matrix good = raw_matrix::of({{0}, {0, 1}, {1, 2}});
  const system_options lower{};
  std::vector<pattern_case> cases;
  const auto add = [&](const std::string& name, const raw_matrix& a, errc code, std::int64_t row,
                       const std::string& words) {
    cases.push_back({name, a, lower, code, row, words});
  };
  raw_matrix a = good;
  a.columns = 4;
  add("more columns than rows", a, errc::not_square, -1, "3 x 4");
  a = good;
  a.columns = 2;
  add("fewer columns than rows", a, errc::not_square, -1, "3 x 2");
  a = good;
  a.rows = a.columns = -3;
  add("a negative dimension", a, errc::invalid_argument, -1, "negative");
  a = good;
  a.entries = -1;
  add("a negative number of entries", a, errc::invalid_argument, -1, "negative");
  a = good;
  a.offsets = {1, 1, 3, 5};
  add("offsets that do not start at 0", a, errc::offsets_not_monotone, 0, "row 0");
  a.offsets = {-1, 1, 3, 5};
  add("a negative first offset", a, errc::offsets_not_monotone, 0, "row 0");
  a.offsets = {1, 2, 4, 6};
  add("offsets that count from 1", a, errc::offsets_not_monotone, 0, "count from 1");
  a.indices = {1, 1, 2, 2, 3};
  add("offsets and indices that count from 1", a, errc::offsets_not_monotone, 0, "count from 1");
  a = good;
  a.offsets = {0, 3, 1, 5};
  add("offsets that decrease", a, errc::offsets_not_monotone, 1, "row 1");
  a.offsets = {0, 1, 3, 4};
  add("offsets that end early", a, errc::offsets_not_monotone, 2, "row 2");
  a.offsets = {0, 1, 3, 6};
  add("offsets that end late", a, errc::offsets_not_monotone, 2, "row 2");
  a.offsets = {0, 1, 1000000, 5};
  add("an offset far beyond the entries", a, errc::offsets_not_monotone, 2, "row 2");
  a.offsets = {0, -7, 3, 5};
  add("a negative offset", a, errc::offsets_not_monotone, 0, "row 0");
  a = good;
  a.indices = {0, 0, -1, 1, 2};
  add("a negative index", a, errc::index_out_of_range, 1, "row 1");
  a.indices = {0, 0, 1, 3, 2};
  add("an index equal to the dimension", a, errc::index_out_of_range, 2, "row 2");
  a.indices = {1, 1, 2, 2, 3};
  add("indices that count from 1", a, errc::index_out_of_range, 2, "count from 1");
  a.indices = {2000000000, 0, 1, 1, 2};
  add("an index far too large", a, errc::index_out_of_range, 0, "row 0");
  a.by_columns = true;
  add("an index far too large, CSC", a, errc::index_out_of_range, 0, "column 0");
  a = raw_matrix{};
  a.entries = 2;
  a.offsets = {0};
  a.indices = {0, 0};
  add("entries in a matrix without rows", a, errc::offsets_not_monotone, -1, "size 0");

  system_options none = lower;
  for (const std::int64_t count : {0, -1}) {
    none.max_rhs = count;
    cases.push_back({"max_rhs below 1", good, none, errc::invalid_argument, -1, "max_rhs"});
  }
  return cases;
}

/// Returns duplicate entries and missing diagonals, in all forms: `part` and `operation` decide which entries
/// count.
inline std::vector<pattern_case> bad_entries() {
  std::vector<pattern_case> cases;
  const auto add = [&](const std::string& name, const raw_matrix& a, const system_options& options,
                       std::optional<errc> code, std::int64_t row = -1, const std::string& words = "") {
    cases.push_back({name, a, options, code, row, words});
  };
  const raw_matrix twice = raw_matrix::of({{0}, {0, 1}, {1, 1, 2}, {3}, {0, 0, 4}});
  const raw_matrix twice_apart = raw_matrix::of({{0}, {0, 1}, {1, 0, 2, 1}, {3}, {0, 3, 0, 4}});
  const raw_matrix twice_diagonal = raw_matrix::of({{0}, {0, 1}, {2, 1, 2}, {3}, {0, 4}});
  const raw_matrix twice_outside = raw_matrix::of({{0, 3, 3}, {0, 4, 1, 4}, {1, 2}, {3}, {4}});
  const raw_matrix no_diagonal = raw_matrix::of({{0}, {0, 1}, {1, 0}, {3}, {0, 1}});
  const raw_matrix empty_rows = raw_matrix::of({{0}, {}, {2}, {}, {4}});
  for (const op operation : {op::none, op::transpose, op::conj_transpose}) {
    for (const bool by_columns : {false, true}) {
      const std::string major = by_columns ? "column " : "row ";
      const auto stored = [&](raw_matrix a) {
        a.by_columns = by_columns;
        return a;
      };
      // Read by columns, the same arrays are the transposed matrix: its upper triangle holds the entries.
      const system_options entries_in{by_columns ? uplo::upper : uplo::lower, diag::non_unit, operation, 1};
      const system_options entries_out{by_columns ? uplo::lower : uplo::upper, diag::non_unit, operation, 1};
      system_options unit_in = entries_in;
      unit_in.diagonal = diag::unit;
      add("an entry twice", stored(twice), entries_in, errc::duplicate_entry, 2, major + "2");
      add("an entry twice, apart", stored(twice_apart), entries_in, errc::duplicate_entry, 2, major + "2");
      add("an entry twice, unit", stored(twice_apart), unit_in, errc::duplicate_entry, 2, major + "2");
      add("a pivot twice", stored(twice_diagonal), entries_in, errc::duplicate_entry, 2, major + "2");
      add("a pivot twice that is ignored", stored(twice_diagonal), unit_in, std::nullopt);
      add("twice outside the triangle", stored(twice_outside), entries_in, std::nullopt);
      add("twice in the other triangle", stored(twice_outside), entries_out, errc::duplicate_entry, 0,
          major + "0");
      add("a pivot left out", stored(no_diagonal), entries_in, errc::missing_diagonal, 2, major + "2");
      add("a pivot left out, other triangle", stored(no_diagonal), entries_out, errc::missing_diagonal, 2,
          major + "2");
      add("a pivot left out that is not needed", stored(no_diagonal), unit_in, std::nullopt);
      add("empty rows", stored(empty_rows), entries_in, errc::missing_diagonal, 1, major + "1");
      add("empty rows, unit", stored(empty_rows), unit_in, std::nullopt);
    }
  }
  return cases;
}

/// Returns a valid matrix with a few random mistakes.
inline raw_matrix damaged_matrix(random_source& source) {
  const std::int64_t size = 3 + source.below(60);
  std::vector<std::vector<std::int64_t>> minors(static_cast<std::size_t>(size));
  for (std::int64_t m = 0; m < size; ++m) {
    auto& of_major = minors[static_cast<std::size_t>(m)];
    for (std::int64_t minor = 0; minor < size; ++minor) {
      if (minor == m || source.below(size) < 4) {
        of_major.push_back(minor);
      }
    }
    if (source.coin()) {
      source.shuffle(of_major);
    }
  }
  raw_matrix a = raw_matrix::of(minors);
  a.by_columns = source.coin();
  const auto some_entry = [&] { return static_cast<std::size_t>(source.below(a.entries)); };
  for (std::int64_t accidents = 1 + source.below(3); accidents > 0; --accidents) {
    const auto m = static_cast<std::size_t>(source.below(size));
    switch (source.below(12)) {
      case 0:
        a.offsets[m] += source.coin() ? 1 : -1;
        break;
      case 1:
        a.indices[some_entry()] = source.coin() ? -1 : size;
        break;
      case 2:
      case 3:
      case 4:  // a pivot may go, or an entry come twice
        a.indices[static_cast<std::size_t>(a.offsets[m] < a.entries ? std::max<std::int64_t>(a.offsets[m], 0)
                                                                    : 0)] = source.below(size);
        break;
      default:
        a.indices[some_entry()] = source.below(size);
    }
  }
  return a;
}

}  // namespace sptrsv::testing
