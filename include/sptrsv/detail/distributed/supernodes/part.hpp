// SPDX-License-Identifier: Apache-2.0
// What a PE hands in: checked, and brought into the form of C.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/check_space.hpp"
#include "sptrsv/detail/distributed/supernodes/supernodes_structure.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/policy/distributed.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The rows that a PE has handed in.
struct row_range {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t size;  ///< rows and columns of the whole matrix, as the PE says
};

/// How a PE's rows stand for entries of C. C is that of a direction, see structure.
template <class Scalar, class Index, class Offset>
struct system_part {
  using part_type = row_part<Scalar, Index, Offset>;

  triangle_form form;
  row_map map{};
  bool backward = false;

  /// Checks the part of a PE. `ranges`: by PE.
  void check(const part_type& part, const std::vector<row_range>& ranges) const {
    SPTRSV_EXPECTS(part.size <= max_count<Index>, errc::unsupported, "the matrix has ", part.size,
                   " rows, too many for the index type");
    for (std::size_t pe = 0; pe < ranges.size(); ++pe) {
      SPTRSV_EXPECTS(ranges[pe].size == part.size, errc::size_mismatch, "PE ", pe,
                     " has another number of rows of the whole matrix");
      SPTRSV_EXPECTS(ranges[pe].rows >= 0 &&
                         map.first_row[pe + 1] == ranges[pe].first_row + ranges[pe].rows &&
                         (pe > 0 || ranges[0].first_row == 0),
                     errc::size_mismatch, "the rows of PE ", pe, " do not follow those of the PE before it");
    }
    const auto check_array = [](const void* p, std::int64_t size, const char* array) {
      check_space<host_executor>(p, size, array, "the analysis of a part");
    };
    check_array(part.row_offsets, part.rows, "the array of offsets");
    const std::int64_t entries = part.rows > 0 ? part.row_offsets[part.rows] : 0;
    check_array(part.column_indices, entries, "the array of indices");
    check_array(part.values, entries, "the array of values");
    validate_storage_on_host(
        pattern_view<Index, Offset>{part.rows, entries, part.row_offsets, part.column_indices, false},
        part.size, part.first_row);
    check_rows(part);
  }

  /// Finds the fundamental supernodes for the direction whose columns have the structure of a complete
  /// factor, or fewer supernodes; see supernodal::factor. Collective.
  template <class Team>
  fundamental_lists<Index> find_supernodes(Team& team, const part_type& part) {
    const auto turn = [&](bool in_backward) {
      backward = in_backward;
      map.mirrored = form.reversed != backward;
    };
    const auto find = [&](bool in_backward) {
      turn(in_backward);
      const auto entries = [&](const auto& use) { for_entries(part, use); };
      return find_fundamental(team, map, distribute_columns<Index>(team, map, entries));
    };
    auto found = find(form.reversed);
    if (!found.of.is_nested()) {
      auto other = find(!form.reversed);
      if (other.of.is_nested() || other.of.count() < found.of.count()) {
        return other;
      }
      turn(form.reversed);
    }
    return found;
  }

  /// Calls use(row, column, e) for each entry of C, which is entry e of the part. The rows of each column
  /// ascend.
  template <class Use>
  void for_entries(const part_type& part, const Use& use) const {
    for (std::int64_t k = 0; k < part.rows; ++k) {
      const std::int64_t i = map.mirrored ? part.rows - 1 - k : k;
      const auto row = static_cast<Index>(part.first_row + i);
      const Offset begin = part.row_offsets[i];
      const Offset count = part.row_offsets[i + 1] - begin;
      for (Offset n = 0; n < count; ++n) {
        const Offset e = begin + (map.mirrored ? count - 1 - n : n);
        const Index column = part.column_indices[e];
        if (!is_entry(row, column)) {
          continue;
        }
        const Index last = std::max(row, column);
        const Index first = std::min(row, column);
        if (map.mirrored) {
          use(static_cast<Index>(part.size - 1 - first), static_cast<Index>(part.size - 1 - last), e);
        } else {
          use(last, first, e);
        }
      }
    }
  }

 private:
  /// Checks that no row has an entry of the triangle twice, and that each has its diagonal entry.
  void check_rows(const part_type& part) const {
    std::vector<std::int64_t> seen_by(at(part.size), -1);  // by column: the last row with an entry there
    for (std::int64_t i = 0; i < part.rows; ++i) {
      const std::int64_t row = part.first_row + i;
      for (Offset e = part.row_offsets[i]; e < part.row_offsets[i + 1]; ++e) {
        const Index column = part.column_indices[e];
        if (is_entry(row, column) && std::exchange(seen_by[at(column)], row) == row) {
          throw_pattern_fault(pattern_fault::duplicate, row, false);
        }
      }
      if (!form.unit && seen_by[at(row)] != row) {
        throw_pattern_fault(pattern_fault::diagonal, row, false);
      }
    }
  }

  /// Returns whether an entry of the matrix is one of the system.
  [[nodiscard]] bool is_entry(std::int64_t row, std::int64_t column) const {
    return row == column ? !form.unit : (column < row) != (form.transposed != form.reversed);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
