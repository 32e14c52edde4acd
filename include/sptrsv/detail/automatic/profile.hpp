// SPDX-License-Identifier: Apache-2.0
// Computes the profile of a system, on the device or on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sptrsv/cost_model.hpp"
#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/automatic/supernodes.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/host/executor.hpp"

namespace sptrsv::detail::automatic {

/// Sets entries, levels, and the longest row and column. Throws the errors that the candidates' analyses
/// would throw for this pattern. Synchronises.
template <class Index, class Offset, class Executor>
void add_lengths_and_levels(system_profile& to, const pattern_view<Index, Offset>& a,
                            const triangle_form& form, const Executor& on, memory_resource& resource) {
  const device_triangle<Index, Offset> triangle = build_on_device(a, form, on, resource);
  to.entries = triangle.entries() + a.size;
  to.longest_row = triangle.longest_row;
  if (a.size > 0) {
    to.levels = levels_of_rows(triangle, on, resource).count;
    to.longest_column =
        count_in_degrees<Index, Offset>(a.size, nullptr, triangle.columns, 0, on, resource).longest;
  }
}

/// Sets the lengths and the number of levels of a system in host memory.
template <class Index, class Offset>
void add_lengths_and_levels(system_profile& to, const pattern_view<Index, Offset>& a,
                            const triangle_form& form, const host_executor&, memory_resource&) {
  validate_on_host(a, form);
  const host_triangle<Index, Offset> triangle = build_on_host(a, form);
  to.entries = static_cast<std::int64_t>(triangle.columns.size()) + a.size;
  to.longest_row = triangle.longest_row();
  to.levels = levels_on_host<Index>(triangle.row_offsets, triangle.columns).count();
  to.longest_column = triangle.longest_column();
}

/// Adds what a sample tells of a complete factor with wide supernodes: their width, and an estimate of the
/// levels. The columns on the longest path of the tree are nearly dense among themselves and hold many of the
/// entries, so the path has about sqrt(entries) columns. A tree without leaves is one path.
template <class Index, class Offset, class Executor>
void add_supernodes(system_profile& to, const pattern_view<Index, Offset>& a, const triangle_form& form,
                    const Executor& on, memory_resource& resource) {
  constexpr std::int64_t min_row_entries = 16;
  constexpr double wide = 16;
  constexpr double few_leaves = 0.002;
  if (a.size == 0 || a.entries < min_row_entries * a.size) {
    return;
  }
  const supernode_sample found = sample_supernodes(a, form, on, resource);
  if (found.columns >= wide) {
    to.supernode_columns = found.columns;
    to.levels = found.leaves < few_leaves
                    ? a.size
                    : std::min(a.size, static_cast<std::int64_t>(std::sqrt(static_cast<double>(a.entries))));
  }
}

/// Returns what is known of a system without an analysis: the entries are those of the stored matrix, there
/// are no longest row and column, and no levels unless it is a complete factor with wide supernodes.
template <class Scalar, class Index, class Offset, class Executor>
system_profile quick_profile(const pattern_view<Index, Offset>& a, const triangle_form& form,
                             std::int64_t max_rhs, const Executor& on, memory_resource& resource) {
  system_profile profile;
  profile.rows = a.size;
  profile.entries = a.entries;
  profile.rhs = max_rhs;
  profile.value_bytes = sizeof(Scalar);
  profile.index_bytes = sizeof(Index);
  profile.offset_bytes = sizeof(Offset);
  if constexpr (!std::is_same_v<Executor, host_executor>) {
    add_supernodes(profile, a, form, on, resource);
  }
  return profile;
}

}  // namespace sptrsv::detail::automatic
