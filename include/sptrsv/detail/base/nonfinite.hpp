// SPDX-License-Identifier: Apache-2.0
// How a solve reports the first component of x that is not finite.
#pragma once

#include <cstdint>

namespace sptrsv::detail {

/// Substitution index that stands for "every component is finite": larger than every index, so that
/// atomic_min replaces it.
inline constexpr std::int64_t all_finite = INT64_MAX;

/// Returns the index as the interface reports it: -1 if every component is finite.
inline std::int64_t reported_index(std::int64_t first_nonfinite) {
  return first_nonfinite == all_finite ? -1 : first_nonfinite;
}

}  // namespace sptrsv::detail
