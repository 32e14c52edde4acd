// SPDX-License-Identifier: Apache-2.0
// Lists of entries of C that one PE sends to another, in a form that takes little memory.
#pragma once

#include <cstdint>
#include <vector>

namespace sptrsv::detail::distributed {

/// Consecutive entries of a row or of a column of C.
template <class Index>
struct entry_run {
  Index row;  ///< of the first entry, as `column`
  Index column;
  Index columns;  ///< of entries of a row; 1 if they are those of a column
  Index rows;     ///< of entries of a column; 1 if they are those of a row
};

/// Appends an entry. Entries of supernodes mostly prolong the last run.
template <class Index>
void append_entry(std::vector<entry_run<Index>>& runs, Index row, Index column) {
  if (!runs.empty()) {
    entry_run<Index>& last = runs.back();
    if (row == last.row && last.rows == 1 && column == last.column + last.columns) {
      ++last.columns;
      return;
    }
    if (column == last.column && last.columns == 1 && row == last.row + last.rows) {
      ++last.rows;
      return;
    }
  }
  runs.push_back({row, column, 1, 1});
}

/// Calls use(row, column) for the entries in the order in which they were appended.
template <class Index, class Use>
void for_entries_of(const std::vector<entry_run<Index>>& runs, const Use& use) {
  for (const entry_run<Index>& run : runs) {
    for (Index i = 0; i < run.rows; ++i) {
      for (Index j = 0; j < run.columns; ++j) {
        use(static_cast<Index>(run.row + i), static_cast<Index>(run.column + j));
      }
    }
  }
}

}  // namespace sptrsv::detail::distributed
