// SPDX-License-Identifier: Apache-2.0
// The host side of the hybrid path: the first levels by row_per_thread, the rest by the partitioned path.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/sync/double_buffer.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::hybrid {

/// Two launches, which share the tickets and the double buffer of a workspace: the first one has the first
/// solve indices (see launch_share).
template <class First, class Rest, class Scalar, class Executor>
class path {
 public:
  static constexpr const char* name = "hybrid";
  using workspace = typename Rest::workspace;

  path(First&& first, Rest&& rest) : first_(std::move(first)), rest_(std::move(rest)) {
    first_.share({0, blocks(), rest_.solve_size()});
    rest_.share({first_.blocks(), blocks(), 0});
  }

  void update_values(const Scalar* values, const Executor& on) {
    first_.update_values(values, on);
    rest_.update_values(values, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return workspace(solve_size(), rest_.buffer_columns(), on, resource);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    first_.solve(alpha, b, x, scratch, on);
    rest_.solve(alpha, b, x, scratch, on);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks(), on);
  }

  /// Synchronises.
  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return first_.is_zero_pivot(substitution_index, scratch, on) ||
           rest_.is_zero_pivot(substitution_index, scratch, on);
  }

  void describe(solver_info& info) const {
    first_.describe(info);
    rest_.describe(info);
    info.workspace_bytes = workspace::bytes(solve_size(), rest_.buffer_columns());
  }

 private:
  /// Returns the number of blocks of both launches.
  [[nodiscard]] std::uint32_t blocks() const { return first_.blocks() + rest_.blocks(); }
  [[nodiscard]] std::int64_t solve_size() const { return first_.solve_size() + rest_.solve_size(); }

  First first_;
  Rest rest_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::hybrid
