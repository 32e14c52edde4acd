// SPDX-License-Identifier: Apache-2.0
// The columns that two rows of a matrix share.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sptrsv::detail::incomplete {

/// Calls visit(slot, p) for each column that a row shares with another one, ascending. The row has the
/// ascending columns column_of(slot) for the slots first ... last - 1, and slot_of(column) is the slot of a
/// column, or negative. The other row has the ascending columns column_at(p) for p in [0, length); none of
/// them is the column of another slot. A much longer row is searched and not read: so a full row that all
/// rows need does not take quadratic time.
template <class ColumnOf, class SlotOf, class ColumnAt, class Visit>
void for_each_shared_column(std::int64_t first, std::int64_t last, const ColumnOf& column_of,
                            const SlotOf& slot_of, std::int64_t length, const ColumnAt& column_at,
                            const Visit& visit) {
  constexpr std::int64_t much_longer = 16;  // a search takes about so many steps
  if (length <= much_longer * (last - first)) {
    for (std::int64_t p = 0; p < length; ++p) {
      if (const std::int64_t slot = slot_of(column_at(p)); slot >= 0) {
        visit(slot, p);
      }
    }
    return;
  }
  std::int64_t begin = 0;
  for (std::int64_t slot = first; slot < last && begin < length; ++slot) {
    const std::int64_t wanted = column_of(slot);
    for (std::int64_t end = length; begin < end;) {
      const std::int64_t middle = begin + (end - begin) / 2;
      column_at(middle) < wanted ? begin = middle + 1 : end = middle;
    }
    if (begin < length && column_at(begin) == wanted) {
      visit(slot, begin);
    }
  }
}

}  // namespace sptrsv::detail::incomplete
