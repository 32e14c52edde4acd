// SPDX-License-Identifier: Apache-2.0
// The orders in which host_parallel solves rows.
//
// Natural order has the best locality, but a core waits for every row that needs the row before it. In level
// order consecutive rows are independent, so that a core works on many rows at once, but rows that are near
// in memory are solved at different times. A window is a run of consecutive rows that the L1 cache holds;
// level order inside each window has both advantages:
//
//   rows       0 .. 4095            4096 .. 8191         ...
//   windows    | window 0         | window 1           | ...
//   solved as  step 0, step 1 ..  | step k, step k+1 ..| ...     a step: rows of a window that are
//   independent
//
// The rows of a step are sorted by length, because the branch at the end of a row is predicted if the row is
// as long as the row before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"

namespace sptrsv::detail {

/// An order in which rows may be solved.
template <class Index>
struct host_order {
  std::int64_t window = 0;            ///< rows of a window, at most
  std::vector<Index> window_offsets;  ///< by window: its first row; number of windows + 1
  std::vector<Index> rows;            ///< by solve index: the row
  bool by_length = false;             ///< whether the rows of a step are sorted by length
  /// By row: its step. Rows of a step do not need each other. Empty for natural order.
  std::vector<Index> steps;
};

/// Returns natural order: one window.
template <class Index>
host_order<Index> natural_order(std::int64_t size) {
  host_order<Index> order;
  order.window = size;
  order.window_offsets = {0, static_cast<Index>(size)};
  order.rows.resize(static_cast<std::size_t>(size));
  std::iota(order.rows.begin(), order.rows.end(), Index{0});
  return order;
}

/// Sorts rows by a key in [0, keys) with a stable counting sort.
template <class Index>
class row_sorter {
 public:
  template <class Key>
  void sort(Index* rows, std::size_t count, std::size_t keys, Key key) {
    starts_.assign(keys + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
      ++starts_[key(rows[i]) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    unsorted_.assign(rows, rows + count);
    for (const Index row : unsorted_) {
      rows[starts_[key(row)]++] = row;
    }
  }

  /// Sorts rows of a triangle by length. Long rows count as equally long: they end rarely.
  template <class Offset>
  void sort_by_length(Index* rows, std::size_t count, const host_triangle<Index, Offset>& t) {
    constexpr std::int64_t max_length = 63;
    sort(rows, count, max_length + 1, [&](Index row) { return at(std::min(t.length(row), max_length)); });
  }

 private:
  std::vector<Index> unsorted_;
  std::vector<std::size_t> starts_;
};

/// Returns the end of the window that starts with row `first`: a row that does not need the row before it,
/// for example the first point of a grid line. A window that starts inside a line could not be started before
/// the window before it is nearly finished. If there is no such row in the second half, the window has
/// `window` rows.
template <class Index, class Offset>
std::size_t end_of_window(const host_triangle<Index, Offset>& t, std::size_t first, std::size_t window) {
  const std::size_t size = at(t.size());
  if (size - first <= window) {
    return size;
  }
  for (std::size_t row = first + window; row > first + window / 2; --row) {
    const auto begin = t.columns.begin() + static_cast<std::ptrdiff_t>(t.row_offsets[row]);
    const auto end = t.columns.begin() + static_cast<std::ptrdiff_t>(t.row_offsets[row + 1]);
    if (std::find(begin, end, static_cast<Index>(row - 1)) == end) {
      return row;
    }
  }
  return first + window;
}

/// Returns level order inside windows of at most `window` rows (>= 1). With one window of all rows the steps
/// are the levels of the triangle. Linear time.
///
/// @param by_length sort the rows of a step by length; otherwise they ascend.
template <class Index, class Offset>
host_order<Index> window_order(const host_triangle<Index, Offset>& t, std::int64_t window, bool by_length) {
  const std::size_t size = at(t.size());
  host_order<Index> order;
  order.window = window;
  order.window_offsets = {0};
  order.by_length = by_length;
  order.rows.resize(size);
  std::iota(order.rows.begin(), order.rows.end(), Index{0});
  order.steps.resize(size);
  row_sorter<Index> sorter;
  Index first_step = 0;
  for (std::size_t first = 0; first < size;) {
    const std::size_t end = end_of_window(t, first, static_cast<std::size_t>(window));
    const Index next_step = find_levels(t.row_offsets, t.columns, first, end, first_step, order.steps);
    Index* const rows = order.rows.data() + first;
    if (by_length) {
      sorter.sort_by_length(rows, end - first, t);
    }
    sorter.sort(rows, end - first, static_cast<std::size_t>(next_step - first_step),
                [&](Index row) { return static_cast<std::size_t>(order.steps[at(row)] - first_step); });
    order.window_offsets.push_back(static_cast<Index>(end));
    first_step = next_step;
    first = end;
  }
  return order;
}

}  // namespace sptrsv::detail
