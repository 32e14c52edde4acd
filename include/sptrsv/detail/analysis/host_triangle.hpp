// SPDX-License-Identifier: Apache-2.0
// The analysis on the host: validation, and the triangle in the order of substitution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Calls visit(row, column, source) for every stored entry of the triangle, in storage order. `row` and
/// `column` are substitution indices with column <= row; `source` is the index of its value.
template <class Index, class Offset, class Visit>
void for_each_triangle_entry(const pattern_view<Index, Offset>& a, const triangle_form& form, Visit visit) {
  const auto last = static_cast<Index>(a.size - 1);
  simt::host_context ctx;
  for (std::int64_t m = 0; m < a.size; ++m) {
    for (Offset e = a.offsets[m]; e < a.offsets[m + 1]; ++e) {
      const auto at = triangle_entry_of(form, last, static_cast<Index>(m), a.indices[e]);
      if (at.column <= at.row) {
        visit(at.row, at.column, a.value_index(ctx, m, e));
      }
    }
  }
}

/// Throws for the first row (column) of the storage with a fault. The faults are checked in this order: wrong
/// offsets, indices out of range, entries of the triangle that are stored twice, missing diagonal entries.
template <class Index, class Offset>
void validate_on_host(const pattern_view<Index, Offset>& a, const triangle_form& form) {
  validate_storage_on_host(a, a.size);
  std::vector<Index> seen_by(at(a.size), Index{-1});  // by minor index: its last major index
  std::vector<char> has_diagonal(at(a.size), form.unit ? 1 : 0);
  for_each_triangle_entry(a, form, [&](Index substitution_index, Index column, Offset) {
    if (substitution_index == column && form.unit) {
      return;  // stored diagonal entries are ignored if the diagonal is unit
    }
    const auto major = static_cast<Index>(form.stored_major(a.size, substitution_index, column));
    Index& seen = seen_by[at(form.stored_major(a.size, column, substitution_index))];
    if (seen == major) {
      throw_pattern_fault(pattern_fault::duplicate, major, a.by_columns);
    }
    seen = major;
    if (substitution_index == column) {
      has_diagonal[at(major)] = 1;
    }
  });
  const auto missing = std::find(has_diagonal.begin(), has_diagonal.end(), 0);
  if (missing != has_diagonal.end()) {
    throw_pattern_fault(pattern_fault::diagonal, missing - has_diagonal.begin(), a.by_columns);
  }
}

/// The strictly lower triangle of the system by rows, in the order of substitution.
template <class Index, class Offset>
struct host_triangle {
  std::vector<Offset> row_offsets;  ///< by row, size + 1
  std::vector<Index> columns;       ///< by entry: its column
  std::vector<Offset> sources;      ///< by entry: its index in the stored matrix
  /// By row: index of the diagonal entry in the stored matrix; empty if the diagonal is unit.
  std::vector<Offset> diagonal_sources;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(row_offsets.size()) - 1; }
  [[nodiscard]] std::int64_t length(Index row) const {
    return static_cast<std::int64_t>(row_offsets[at(row) + 1] - row_offsets[at(row)]);
  }
  [[nodiscard]] std::int64_t longest_row() const {
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < size(); ++row) {
      longest = std::max(longest, length(static_cast<Index>(row)));
    }
    return longest;
  }
  /// Returns the number of entries of the longest column.
  [[nodiscard]] std::int64_t longest_column() const {
    std::vector<std::int64_t> lengths(at(size()), 0);
    std::int64_t longest = 0;
    for (const Index column : columns) {
      longest = std::max(longest, ++lengths[at(column)]);
    }
    return longest;
  }
};

/// Builds the triangle of a valid pattern (validate_on_host). The entries of a row stand in the order in
/// which host_serial subtracts them: as stored, or with ascending columns if the system is transposed.
template <class Index, class Offset>
host_triangle<Index, Offset> build_in_serial_order(const pattern_view<Index, Offset>& a,
                                                   const triangle_form& form) {
  const auto size = at(a.size);
  host_triangle<Index, Offset> t;
  t.row_offsets.assign(size + 1, Offset{0});
  t.diagonal_sources.assign(form.unit ? 0 : size, Offset{0});
  for_each_triangle_entry(a, form, [&](Index row, Index column, Offset e) {
    if (column < row) {
      ++t.row_offsets[at(row) + 1];
    } else if (!form.unit) {
      t.diagonal_sources[at(row)] = e;
    }
  });
  std::partial_sum(t.row_offsets.begin(), t.row_offsets.end(), t.row_offsets.begin());
  t.columns.resize(at(t.row_offsets[size]));
  t.sources.resize(t.columns.size());
  // Columns of a transposed, reversed system come in descending order: its rows are filled from the end.
  const bool from_end = form.transposed && form.reversed;
  std::vector<Offset> cursor(t.row_offsets.begin() + (from_end ? 1 : 0),
                             t.row_offsets.end() - (from_end ? 0 : 1));
  for_each_triangle_entry(a, form, [&](Index row, Index column, Offset e) {
    if (column < row) {
      Offset& next = cursor[at(row)];
      const auto to = at(from_end ? --next : next++);
      t.columns[to] = column;
      t.sources[to] = e;
    }
  });
  return t;
}

/// Builds the triangle of a valid pattern (validate_on_host), with ascending columns.
template <class Index, class Offset>
host_triangle<Index, Offset> build_on_host(const pattern_view<Index, Offset>& a, const triangle_form& form) {
  host_triangle<Index, Offset> t = build_in_serial_order(a, form);
  std::vector<std::pair<Index, Offset>> row;
  for (std::size_t r = 0; r + 1 < t.row_offsets.size(); ++r) {
    const auto first = at(t.row_offsets[r]);
    const auto end = at(t.row_offsets[r + 1]);
    const auto columns = t.columns.begin();
    if (std::is_sorted(columns + t.row_offsets[r], columns + t.row_offsets[r + 1])) {
      continue;
    }
    row.clear();
    for (std::size_t e = first; e < end; ++e) {
      row.emplace_back(t.columns[e], t.sources[e]);
    }
    std::sort(row.begin(), row.end());
    for (std::size_t e = first; e < end; ++e) {
      t.columns[e] = row[e - first].first;
      t.sources[e] = row[e - first].second;
    }
  }
  return t;
}

/// Rows in level order: level l holds rows[level_offsets[l]] ... rows[level_offsets[l + 1] - 1], ascending.
template <class Index>
struct host_levels {
  std::vector<Index> level_of_row;   ///< by row, counted from 0
  std::vector<Index> level_offsets;  ///< by level, count + 1
  std::vector<Index> rows;           ///< by solve index: the row

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(level_offsets.size()) - 1; }
};

/// Writes the levels of the rows [first, end), which start at `first_level`; rows before `first` have smaller
/// levels. Returns one more than the largest level. Linear time. The arrays are of any types with operator[].
///
/// `OfBlocks`: whether a row may have the level of a row of the same 32 rows that it needs: then the levels
/// are those that would be left if these rows did not need each other.
template <bool OfBlocks = false, class Offsets, class Columns, class Index, class Levels>
Index find_levels(const Offsets& row_offsets, const Columns& columns, std::size_t first, std::size_t end,
                  Index first_level, Levels& level_of_row) {
  Index count = first_level;
  for (std::size_t r = first; r < end; ++r) {
    Index level = first_level;
    for (auto e = static_cast<std::size_t>(row_offsets[r]); e < static_cast<std::size_t>(row_offsets[r + 1]);
         ++e) {
      const auto column = static_cast<std::size_t>(columns[e]);
      const bool is_below = !OfBlocks || column < r / 32 * 32;
      level = std::max(level, static_cast<Index>(level_of_row[column] + (is_below ? 1 : 0)));
    }
    level_of_row[r] = level;
    count = std::max(count, static_cast<Index>(level + 1));
  }
  return count;
}

/// Writes the level of each row to `level_of_row` and returns the number of levels. Linear time.
template <class Index, class Offset>
std::int64_t find_levels(const std::vector<Offset>& row_offsets, const std::vector<Index>& columns,
                         std::vector<Index>& level_of_row) {
  level_of_row.assign(row_offsets.size() - 1, Index{0});
  return find_levels(row_offsets, columns, 0, level_of_row.size(), Index{0}, level_of_row);
}

/// Returns the levels of a triangle. Linear time.
template <class Index, class Offset>
host_levels<Index> levels_on_host(const std::vector<Offset>& row_offsets, const std::vector<Index>& columns) {
  host_levels<Index> levels;
  const std::int64_t count = find_levels(row_offsets, columns, levels.level_of_row);
  levels.rows = group_entries<Index>(levels.level_of_row.data(), levels.level_of_row.size(), count,
                                     levels.level_offsets);
  return levels;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
