// The pattern of a triangle by columns on the host, and the in-degrees of its unknowns. Counterpart of
// device_columns.hpp on one core.
#pragma once

#include <cstddef>
#include <vector>

namespace sptrsv::detail {

/// The strictly lower triangle by columns, rows ascending.
template <class Index, class Offset>
struct host_columns {
  std::vector<Offset> column_offsets;  ///< by column, size + 1
  std::vector<Index> rows;             ///< by entry: its row
};

/// Transposes the pattern of a triangle that is stored by rows. A counting sort, linear time.
template <class Index, class Offset>
host_columns<Index, Offset> columns_on_host(const std::vector<Offset>& row_offsets,
                                            const std::vector<Index>& columns) {
  const std::size_t size = row_offsets.size() - 1;
  host_columns<Index, Offset> made;
  made.column_offsets.assign(size + 1, Offset{0});
  made.rows.resize(columns.size());
  for (const Index column : columns) {
    ++made.column_offsets[static_cast<std::size_t>(column) + 1];
  }
  for (std::size_t c = 0; c < size; ++c) {
    made.column_offsets[c + 1] += made.column_offsets[c];
  }
  std::vector<Offset> cursor(made.column_offsets.begin(), made.column_offsets.end() - 1);
  for (std::size_t r = 0; r < size; ++r) {
    for (Offset e = row_offsets[r]; e < row_offsets[r + 1]; ++e) {
      const auto column = static_cast<std::size_t>(columns[static_cast<std::size_t>(e)]);
      made.rows[static_cast<std::size_t>(cursor[column]++)] = static_cast<Index>(r);
    }
  }
  return made;
}

/// Returns the number of entries of each row, that is, of the unknowns that the row waits for.
template <class Index, class Offset>
std::vector<Index> in_degrees_on_host(const host_columns<Index, Offset>& c) {
  std::vector<Index> degrees(c.column_offsets.size() - 1, Index{0});
  for (const Index row : c.rows) {
    ++degrees[static_cast<std::size_t>(row)];
  }
  return degrees;
}

}  // namespace sptrsv::detail
